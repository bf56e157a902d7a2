"""Means with their spread, by data set, method and size."""

from __future__ import annotations

import pandas as pd

from rfstudy.report.aggregate import method_order, methods_shown, of_quantity, select
from rfstudy.report.cells import absent, by_place, cell_text, dataset_cell, method_cell, most_repeats
from rfstudy.report.context import Context
from rfstudy.report.notes import absence, notes
from rfstudy.report.plot_styles import plot_style
from rfstudy.report.times import ROUND, summarise
from rfstudy.report.typeset import Cell, Table

#: Keys of an entry of this kind, beside those of all entries.
REQUIRED = ("datasets", "methods", "repeats", "quantity")
OPTIONAL = ("sizes",)


def make(context: Context, spec: dict) -> Table:
    """Mean and standard deviation over repeats of one quantity, by data set, method and size; of times by rounds the
    median and the quartiles.

    The ``sizes`` are columns; without them each data set has rows of its own sizes, and the methods are columns.
    """
    frame = select(context.rows, axis=["", ROUND])
    quantity = spec["quantity"]
    shown = of_quantity(select(frame, dataset=spec["datasets"], n_features_label=spec.get("sizes")), quantity)
    if "sizes" not in spec:
        return _by_size(shown, context, spec)
    cells = summarise(shown)
    full, at = most_repeats(cells), by_place(cells, "dataset", "method", "variant", "n_features_label")
    rows = []
    for dataset in spec["datasets"]:
        ours = select(shown, dataset=dataset)
        name = dataset_cell(context, dataset, spec["paper"], ours)
        for method, variant in method_order(ours, spec["methods"]):
            row = {"data set": name, "method": method_cell(context, method, variant)}
            for size in spec["sizes"]:
                row[size] = cell_text(at.get((dataset, method, variant, size)), quantity["metric"], full)
            rows.append(row)
        if not len(ours):
            rows.append({"data set": name, "method": "", **dict.fromkeys(spec["sizes"], "not run")})
    remarks = [f"Mean ± standard deviation over {full} repeats."] if full > 1 else []
    unfold = {size: {"size": size, "metric": quantity["metric"]} for size in spec["sizes"]}
    return Table(spec["name"], pd.DataFrame(rows), spec["caption"], remarks + notes(shown, spec, context), unfold)


def _by_size(shown: pd.DataFrame, context: Context, spec: dict) -> Table:
    """The table with a row for every size of a data set, and the methods as columns."""
    metric, cells = spec["quantity"]["metric"], summarise(shown)
    full = most_repeats(cells)
    columns = {
        pair: plot_style(pair[0], context.styles, pair[1]).label for pair in methods_shown(shown, spec["methods"])
    }
    rows = []
    for dataset in spec["datasets"]:
        of_dataset = select(cells, dataset=dataset).sort_values("n_features", kind="stable")
        name = dataset_cell(context, dataset, spec["paper"], select(shown, dataset=dataset))
        if not of_dataset["n"].gt(0).any():
            rows.append({"data set": name, "s": absent(absence(select(shown, dataset=dataset)).split(":")[0])})
            continue
        at = by_place(of_dataset, "n_features_label", "method", "variant")
        run = {place[1:] for place in at}
        for size in of_dataset["n_features_label"].unique():
            own = {
                label: cell_text(at.get((size, *pair)), metric, full) for pair, label in columns.items() if pair in run
            }
            rows.append({"data set": name, "s": Cell(str(size), {"": str(size), "remark": ""})} | own)
    remarks = [f"Mean ± standard deviation over {full} repeats."] if full > 1 else []
    told = {
        label: {"method": label, "method_id": method, "method_variant": variant, "metric": metric}
        for (method, variant), label in columns.items()
    }
    frame = pd.DataFrame(rows, columns=["data set", "s", *told])
    return Table(spec["name"], frame, spec["caption"], remarks + notes(shown, spec, context), told)
