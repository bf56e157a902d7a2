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

#: Keys of an entry of this kind, beside those of all entries: ``quantity``, or several metrics as ``says``.
REQUIRED = ("datasets", "methods")
OPTIONAL = ("quantity", "says", "sizes", "repeats", "axis", "label")


def make(context: Context, spec: dict) -> Table:
    """Return mean and standard deviation over repeats, for times by rounds the median and the quartiles.

    Metrics are columns where there are several (``says``), else sizes where the entry names them, else methods. The
    ``axis`` is what the rows swept, ``label`` the heading of the sizes.
    """
    frame = select(context.rows, dataset=spec["datasets"], n_features_label=spec.get("sizes"))
    frame = select(frame, axis=[spec["axis"]] if "axis" in spec else ["", ROUND])
    shown = select(frame, metric=list(spec["says"])) if "says" in spec else of_quantity(frame, spec["quantity"])
    cells = summarise(shown)
    full, at = most_repeats(cells), by_place(cells, "dataset", "method", "variant", "n_features_label", "metric")
    unfold, rows = _unfold(context, spec, shown), []
    for dataset in spec["datasets"]:
        ours = select(shown, dataset=dataset)
        pairs = method_order(ours, spec["methods"])
        own = select(cells, dataset=dataset).sort_values("n_features", kind="stable")
        lines = _lines(context, spec, pairs, spec.get("sizes") or own["n_features_label"].unique())
        name = dataset_cell(context, dataset, spec["paper"], ours)
        if not own["n"].gt(0).any() and "sizes" not in spec:
            lines = [({"s": absent(absence(ours).split(":")[0])}, {})]
        elif not len(ours) and "says" not in spec:
            lines = [({"method": "", **dict.fromkeys(spec["sizes"], "not run")}, {})]
        for keys, columns in lines:
            found = {heading: at.get((dataset, *place)) for heading, place in columns.items()}
            if "says" not in spec or any(cell and cell["n"] for cell in found.values()):
                values = {heading: cell_text(cell, columns[heading][-1], full) for heading, cell in found.items()}
                rows.append({"data set": name} | keys | values)
    headings = ["method"] if "sizes" in spec else ["s"]
    headings = ["data set", *headings, *([spec["label"], *spec["says"].values()] if "says" in spec else unfold)]
    remarks = [f"Mean ± standard deviation over {full} repeats."] if full > 1 else []
    table = pd.DataFrame(rows, columns=headings)
    return Table(spec["name"], table, spec["caption"], remarks + notes(shown, spec, context), unfold)


def _lines(context: Context, spec: dict, pairs: list, sizes: list[str]) -> list[tuple[dict, dict[str, tuple]]]:
    """Return the rows of a data set: their first cells, and for every other column method, variant, size and metric."""
    if "says" in spec:
        metrics = {heading: metric for metric, heading in spec["says"].items()}
        return [
            (
                {"method": method_cell(context, *pair), spec["label"]: size},
                {heading: (*pair, size, metric) for heading, metric in metrics.items()},
            )
            for pair in pairs
            for size in sizes
        ]
    metric = spec["quantity"]["metric"]
    if "sizes" in spec:
        of_sizes = [{size: (*pair, size, metric) for size in sizes} for pair in pairs]
        return [({"method": method_cell(context, *pair)}, places) for pair, places in zip(pairs, of_sizes, strict=True)]
    labels = {pair: plot_style(pair[0], context.styles, pair[1]).label for pair in pairs}
    return [
        ({"s": Cell(size, {"": size, "remark": ""})}, {labels[pair]: (*pair, size, metric) for pair in pairs})
        for size in map(str, sizes)
    ]


def _unfold(context: Context, spec: dict, shown: pd.DataFrame) -> dict[str, dict]:
    """Return the columns that are rows of the CSV file."""
    if "says" in spec:
        return {}
    metric = spec["quantity"]["metric"]
    if "sizes" in spec:
        return {size: {"size": size, "metric": metric} for size in spec["sizes"]}
    return {
        plot_style(method, context.styles, variant).label: {
            "method": plot_style(method, context.styles, variant).label,
            "method_id": method,
            "method_variant": variant,
            "metric": metric,
        }
        for method, variant in methods_shown(shown, spec["methods"])
    }
