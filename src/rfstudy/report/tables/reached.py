"""The features that reach the best published number of every size, by one method and by the best of the others."""

import pandas as pd

from rfstudy.report.aggregate import of_quantity, select
from rfstudy.report.cells import absent, dataset_cell, method_cell
from rfstudy.report.context import Context
from rfstudy.report.reached import Reached, needs
from rfstudy.report.typeset import Cell, Table

NOTE = (
    "Printed: the best number at a size, and whose it is. Reached: the smallest size of ours whose mean over the "
    "repeats is no lower, with that mean; where none is, the mean at the largest size that was run."
)


def make(
    context: Context,
    *,
    paper: str,
    published: str,
    datasets: list[str],
    sizes: list[str],
    quantity: dict,
    baseline: str,
) -> Table:
    """Return a row per data set and published size: the features that reach the published number."""
    about = {"paper": paper, "published": published, "datasets": datasets, "sizes": sizes}
    shown = of_quantity(select(context.rows, dataset=datasets), quantity)
    rows = [
        {
            "data set": dataset_cell(context, need.dataset, paper, select(shown, dataset=need.dataset)),
            "s": need.size,
            "printed": need.printed,
            "of": method_cell(context, need.method),
            f"reached by {context.label(baseline)}": _cell(need.baseline),
            "by the best other": _cell(need.other),
            "which is": method_cell(context, need.other.method, need.other.variant) if need.other else "",
        }
        for need in needs(context, about | {"quantity": quantity, "baseline": baseline})
    ]
    return Table(pd.DataFrame(rows), [NOTE], shown=shown)


def _cell(found: Reached | None) -> Cell:
    if found is None:
        return absent("not run", "size", "mean")
    where = found.size or "not reached"
    values = {"": found.n_features if found.size else None, "size": found.size, "mean": found.mean}
    return Cell(f"{where} ({found.mean:.2f})", values | {"remark": "" if found.size else where})
