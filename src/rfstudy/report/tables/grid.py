"""Means with their spread, by data set, method, size and metric."""

from __future__ import annotations

import pandas as pd

from rfstudy.report.aggregate import method_order, methods_shown, of_quantity, select
from rfstudy.report.cells import absent, by_place, cell_text, dataset_cell, method_cell, most_repeats
from rfstudy.report.context import Context
from rfstudy.report.notes import absence, notes
from rfstudy.report.plot_styles import plot_style
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
    repeats: int | None = None,
) -> Table:
    """Return mean and standard deviation over repeats, for times by rounds the median and the quartiles.

    Metrics are columns where there are several (``says``, with headings), else ``sizes`` where they are named, else
    methods. The ``axis`` is what the rows swept, ``label`` the heading of the sizes.
    """
    metrics = says or {quantity["metric"]: ""}
    by = "metric" if says else "size" if sizes else "method"
    frame = select(context.rows, dataset=datasets, n_features_label=sizes, axis=[axis] if axis else ["", ROUND])
    shown = select(frame, metric=list(says)) if says else of_quantity(frame, quantity)
    cells = summarise(shown)
    full, at = most_repeats(cells), by_place(cells, "dataset", "method", "variant", "n_features_label", "metric")
    rows = []
    for dataset in datasets:
        ours = select(shown, dataset=dataset)
        own = select(cells, dataset=dataset).sort_values("n_features", kind="stable")
        labels = sizes or [str(size) for size in own["n_features_label"].unique()]
        lines = _lines(context, by, method_order(ours, methods), labels, metrics, label)
        if by == "method" and not own["n"].gt(0).any():
            lines = [({label: absent(absence(ours).split(":")[0])}, {})]
        elif by == "size" and not len(ours):
            lines = [({"method": "", **dict.fromkeys(sizes, "not run")}, {})]
        name = dataset_cell(context, dataset, paper, ours)
        for keys, columns in lines:
            found = {heading: at.get((dataset, *place)) for heading, place in columns.items()}
            if by != "metric" or any(cell and cell["n"] for cell in found.values()):
                values = {heading: cell_text(cell, columns[heading][-1], full) for heading, cell in found.items()}
                rows.append({"data set": name} | keys | values)
    unfold = _unfold(context, by, methods_shown(shown, methods), sizes, next(iter(metrics)))
    headings = {"metric": ["method", label, *metrics.values()], "size": ["method", *unfold], "method": [label, *unfold]}
    remarks = [f"Mean ± standard deviation over {full} repeats."] if full > 1 else []
    remarks += notes(shown, {"paper": paper, "repeats": repeats}, context)
    return Table(pd.DataFrame(rows, columns=["data set", *headings[by]]), remarks, unfold)


def _lines(context: Context, by: str, pairs: list, sizes: list[str], metrics: dict, label: str) -> list[tuple]:
    """Return the rows of a data set: their first cells, and for every other column method, variant, size and metric."""
    metric = next(iter(metrics))
    if by == "method":
        labels = {pair: plot_style(pair[0], context.styles, pair[1]).label for pair in pairs}
        return [
            ({label: Cell(size, {"": size, "remark": ""})}, {labels[pair]: (*pair, size, metric) for pair in pairs})
            for size in sizes
        ]
    cells = {pair: {"method": method_cell(context, *pair)} for pair in pairs}
    if by == "size":
        return [(cells[pair], {size: (*pair, size, metric) for size in sizes}) for pair in pairs]
    return [
        (cells[pair] | {label: size}, {heading: (*pair, size, metric) for metric, heading in metrics.items()})
        for pair in pairs
        for size in sizes
    ]


def _unfold(context: Context, by: str, pairs: list, sizes: list[str] | None, metric: str) -> dict[str, dict]:
    """Return the columns that are rows of the CSV file."""
    if by == "metric":
        return {}
    if by == "size":
        return {size: {"size": size, "metric": metric} for size in sizes}
    labels = {pair: plot_style(pair[0], context.styles, pair[1]).label for pair in pairs}
    return {
        text: {"method": text, "method_id": method, "method_variant": variant, "metric": metric}
        for (method, variant), text in labels.items()
    }
