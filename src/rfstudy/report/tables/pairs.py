"""One quantity of the estimate of a kernel value, by map, direction and dimension."""

from __future__ import annotations

import pandas as pd

from rfstudy.report.aggregate import methods_shown, select
from rfstudy.report.cells import absent, method_cell, with_error
from rfstudy.report.context import Context
from rfstudy.report.estimates import pooled
from rfstudy.report.notes import notes, notes_on_draws
from rfstudy.report.typeset import Cell, Table


def make(
    context: Context,
    *,
    paper: str,
    methods: list[str],
    quantity: dict,
) -> Table:
    """One quantity of the estimate of a kernel value, by map, direction and dimension; one column a distance."""
    frame = context.rows
    metric = quantity["metric"]
    points = pooled(frame, metric)
    distances = {f"z = {z:g}": {"distance": z, "metric": metric} for z in sorted(set(points["distance"]))}
    rows = []
    for method, variant in methods_shown(frame, methods):
        ours = select(points, method=method, variant=variant)
        if not len(ours):
            rows.append({"map": method_cell(context, method, variant), "direction": absent("not run")})
        for (direction, d, s), group in ours.groupby(["direction", "d", "n_features"]):
            cells = {
                f"z = {z:g}": with_error(value, error)
                for z, value, error in zip(group["distance"], group["value"], group["error"], strict=True)
            }
            place = {"direction": Cell(direction, {"": direction, "remark": ""}), "d": d, "s": s}
            rows.append({"map": method_cell(context, method, variant)} | place | cells)
    remarks = [
        "z: distance of the two points in length scales. axis: they differ in the first coordinate only.",
        "The distances of a row share their draws.",
        *notes_on_draws(frame),
    ]
    columns = ["map", "direction", *(("d", "s") if distances else ()), *distances]
    table = pd.DataFrame(rows, columns=columns)
    return Table(table, remarks + notes(frame, {"paper": paper}, context), distances)
