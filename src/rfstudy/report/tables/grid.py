"""Means with their spread, by data set, method and size."""

from __future__ import annotations

import pandas as pd

from rfstudy.report.aggregate import (
    method_order,
    of_quantity,
    select,
)
from rfstudy.report.cells import by_place, cell_text, dataset_cell, method_cell, most_repeats
from rfstudy.report.context import Context
from rfstudy.report.notes import notes
from rfstudy.report.times import summarise
from rfstudy.report.typeset import Table

#: The keys of an entry of this kind beside those of all.
SCHEMA = {
    "properties": {
        "datasets": {"$ref": "#/$defs/names"},
        "methods": {"$ref": "#/$defs/names"},
        "sizes": {"$ref": "#/$defs/names"},
        "repeats": {"$ref": "#/$defs/repeats"},
        "quantity": {"$ref": "#/$defs/quantity"},
    },
    "required": ["datasets", "methods", "sizes", "repeats", "quantity"],
}


def make(context: Context, spec: dict) -> Table:
    """Mean and standard deviation over repeats of one quantity, by data set, method and size; of times by rounds the
    median and the quartiles.
    """
    frame = context.rows
    quantity = spec["quantity"]
    shown = of_quantity(select(select(frame, dataset=spec["datasets"]), n_features_label=spec["sizes"]), quantity)
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
