"""The features that reach the best printed number of every size, by one method and by the best of the others."""

from __future__ import annotations

import pandas as pd

from rfstudy.report.aggregate import of_quantity, select
from rfstudy.report.cells import absent, dataset_cell, method_cell
from rfstudy.report.context import Context
from rfstudy.report.notes import notes
from rfstudy.report.plot_styles import plot_style
from rfstudy.report.reached import Reached, needs
from rfstudy.report.typeset import Cell, Table

#: Keys of an entry of this kind, beside those of all entries.
REQUIRED = ("published", "datasets", "sizes", "quantity", "baseline")

NOTE = (
    "Printed: the best number at a size, and whose it is. Reached: the smallest size of ours whose mean over the "
    "repeats is no lower, with that mean; where none is, the mean at the largest size that was run."
)


def make(context: Context, spec: dict) -> Table:
    """One row a data set and printed size; of ``spec`` what ``needs`` takes."""
    shown = of_quantity(select(context.rows, dataset=spec["datasets"]), spec["quantity"])
    baseline = plot_style(spec["baseline"], context.styles).label
    rows = []
    for need in needs(context, spec):
        rows.append(
            {
                "data set": dataset_cell(context, need.dataset, spec["paper"], select(shown, dataset=need.dataset)),
                "s": need.size,
                "printed": need.printed,
                "of": method_cell(context, need.method),
                f"reached by {baseline}": _cell(need.baseline),
                "by the best other": _cell(need.other),
                "which is": method_cell(context, need.other.method, need.other.variant) if need.other else "",
            }
        )
    return Table(spec["name"], pd.DataFrame(rows), spec["caption"], [NOTE, *notes(shown, spec, context)])


def _cell(found: Reached | None) -> Cell:
    if found is None:
        return absent("not run", "size", "mean")
    where = found.size or "not reached"
    values = {"": found.n_features if found.size else None, "size": found.size, "mean": found.mean}
    return Cell(f"{where} ({found.mean:.2f})", values | {"remark": "" if found.size else where})
