"""Means with their spread, by data set, method, size and metric."""

from itertools import product

import pandas as pd

from rfstudy.report.aggregate import method_order, methods_shown, of_quantity, select
from rfstudy.report.cells import absent, by_place, cell_text, dataset_cell, method_cell, most_repeats
from rfstudy.report.context import Context
from rfstudy.report.notes import absence
from rfstudy.report.times import ROUND, summarise
from rfstudy.report.typeset import Cell, Table


def make(
    context: Context,
    *,
    paper: str,
    datasets: list[str],
    methods: list[str],
    quantity: dict | None = None,
    says: dict[str, str] | None = None,
    sizes: list[str] | None = None,
    axis: str | None = None,
    label: str = "s",
) -> Table:
    """Return mean and standard deviation over repeats, for times by rounds the median and the quartiles.

    Metrics are columns where there are several (``says``, with headings), else ``sizes`` where they are named, else
    methods. The ``axis`` is what the rows swept, ``label`` the heading of the sizes.
    """
    metrics = list(says) if says else [quantity["metric"]]
    frame = select(context.rows, dataset=datasets, n_features_label=sizes, axis=[axis] if axis else ["", ROUND])
    shown = select(frame, metric=metrics) if says else of_quantity(frame, quantity)
    pairs = methods_shown(shown, methods)
    if says:
        across, columns, unfold = "metric", {heading: metric for metric, heading in says.items()}, {}
    elif sizes:
        across, columns = "size", {size: size for size in sizes}
        unfold = {size: {"size": size, "metric": metrics[0]} for size in sizes}
    else:
        across, columns = "pair", {context.label(*pair): pair for pair in pairs}
        unfold = {
            name: {"method": name, "method_id": method, "method_variant": variant, "metric": metrics[0]}
            for name, (method, variant) in columns.items()
        }
    cells = summarise(shown)
    full, at = most_repeats(cells), by_place(cells, "dataset", "method", "variant", "n_features_label", "metric")
    rows = []
    for dataset in datasets:
        ours = select(shown, dataset=dataset)
        own = select(cells, dataset=dataset).sort_values("n_features", kind="stable")
        name = dataset_cell(context, dataset, paper, ours)
        if across == "pair" and not own["n"].gt(0).any():
            rows.append({"data set": name, label: absent(absence(ours).split(":")[0])})
            continue
        if across == "size" and not len(ours):
            rows.append({"data set": name, "method": "", **dict.fromkeys(sizes, "not run")})
            continue
        values = {"pair": method_order(ours, methods), "size": sizes or own["n_features_label"].unique()}
        values["metric"] = metrics
        along = list(values.pop(across))
        for place in (dict(zip(values, each, strict=True)) for each in product(*values.values())):
            places = {heading: place | {across: value} for heading, value in columns.items() if value in along}
            found = {
                heading: at.get((dataset, *of["pair"], of["size"], of["metric"])) for heading, of in places.items()
            }
            if says and not any(cell and cell["n"] for cell in found.values()):
                continue
            row = {"data set": name}
            row |= {"method": method_cell(context, *place["pair"])} if "pair" in place else {}
            row |= {label: Cell(place["size"], {"": place["size"]})} if "size" in place else {}
            rows.append(row | {heading: cell_text(cell, full) for heading, cell in found.items()})
    keys = {"metric": ["method", label], "size": ["method"], "pair": [label]}[across]
    remarks = [f"Mean ± standard deviation over {full} repeats."] if full > 1 else []
    return Table(pd.DataFrame(rows, columns=["data set", *keys, *columns]), remarks, unfold, shown=shown)
