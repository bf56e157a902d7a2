"""One quantity of the estimate of a kernel value, by map, direction and dimension."""

import pandas as pd

from rfstudy.report.aggregate import methods_shown, select
from rfstudy.report.cells import absent, method_cell, with_error
from rfstudy.report.context import Context
from rfstudy.report.estimates import pooled
from rfstudy.report.notes import notes_on_draws
from rfstudy.report.typeset import Cell, Table


def make(context: Context, *, methods: list[str], quantity: dict) -> Table:
    """Return one quantity of the estimate of a kernel value by map, direction and dimension, a column per distance."""
    frame, metric = context.rows, quantity["metric"]
    points = pooled(frame, metric)
    distances = {f"z = {z:g}": {"distance": z, "metric": metric} for z in sorted(set(points["distance"]))}
    rows = []
    for method, variant in methods_shown(frame, methods):
        name, ours = method_cell(context, method, variant), select(points, method=method, variant=variant)
        if not len(ours):
            rows.append({"map": name, "direction": absent("not run")})
        for (direction, d, s), group in ours.groupby(["direction", "d", "n_features"]):
            place = {"map": name, "direction": Cell(direction, {"": direction, "remark": ""}), "d": d, "s": s}
            rows.append(place | {f"z = {p.distance:g}": with_error(p.value, p.error) for p in group.itertuples()})
    remarks = [
        "z: distance of the two points in length scales. axis: they differ in the first coordinate only.",
        "The distances of a row share their draws.",
        *notes_on_draws(frame),
    ]
    columns = ["map", "direction", *(("d", "s") if distances else ()), *distances]
    return Table(pd.DataFrame(rows, columns=columns), remarks, distances, shown=frame)
