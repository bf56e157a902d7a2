"""A game of learned features in numbers: several quantities of each variant after given numbers of features."""

from __future__ import annotations

import pandas as pd

from rfstudy.report.aggregate import method_order, select, summarise
from rfstudy.report.cells import by_place, dataset_cell, mean_and_std, method_cell
from rfstudy.report.context import Context
from rfstudy.report.notes import notes
from rfstudy.report.typeset import Table

#: Keys of an entry of this kind, beside those of all entries.
REQUIRED = ("datasets", "methods", "sizes", "says")


def make(context: Context, spec: dict) -> Table:
    """One row a data set, variant of a method and number of features: mean and standard deviation over the repeats."""
    wanted = {"dataset": spec["datasets"], "n_features_label": spec["sizes"], "metric": list(spec["says"])}
    shown = select(context.rows, axis="iteration", **wanted)
    cells = summarise(shown)
    full = int(cells["n"].max()) if len(cells) else 0
    at = by_place(cells, "dataset", "method", "variant", "n_features_label", "metric")
    rows = []
    for dataset in spec["datasets"]:
        ours = select(shown, dataset=dataset)
        name = dataset_cell(context, dataset, spec["paper"], ours)
        for method, variant in method_order(ours, spec["methods"]):
            for size in spec["sizes"]:
                place = dataset, method, variant, size
                own = {
                    heading: mean_and_std(at.get((*place, metric)), metric, full)
                    for metric, heading in spec["says"].items()
                }
                if any(cell.values.get("") is not None for cell in own.values()):
                    who = {"data set": name, "method": method_cell(context, method, variant)}
                    rows.append(who | {"m": size} | own)
    remarks = [f"Mean ± standard deviation over {full} repeats."] if full > 1 else []
    frame = pd.DataFrame(rows, columns=["data set", "method", "m", *spec["says"].values()])
    return Table(spec["name"], frame, spec["caption"], remarks + notes(shown, spec | {"sizes": []}, context))
