"""The features that reach the best published number of every size, by one method and by the best of the others.

Ours reach a number at the smallest size whose mean over the repeats is no lower.
"""

from typing import NamedTuple

import pandas as pd

from rfstudy.report.aggregate import of_quantity, select, summarise
from rfstudy.report.cells import absent, dataset_cell, method_cell
from rfstudy.report.context import Context
from rfstudy.report.published import numbers
from rfstudy.report.typeset import Cell, Table


class Reached(NamedTuple):
    """Where a method's mean reaches a number: its size, features and mean; ``size`` is "" where it nowhere does, with
    the largest size that was run in ``n_features`` and its mean."""

    method: str
    variant: str
    size: str
    n_features: int
    mean: float


class Need(NamedTuple):
    """The best published number at a size of a data set, its method, and where ours reach it: the baseline, and the
    other method that needs the fewest features (of several the most accurate); None without rows."""

    dataset: str
    size: str
    printed: float
    method: str
    baseline: Reached | None
    other: Reached | None


def needs(context: Context, spec: dict) -> list[Need]:
    """Return a ``Need`` per data set and published size, in the order of ``spec``.

    Of ``spec``: ``published`` (the table of its ``paper``), ``datasets``, ``sizes``, ``quantity``, ``baseline``.
    """
    printed = numbers(context.published, spec["paper"], spec["published"])
    printed = select(printed, metric=spec["quantity"]["metric"], dataset=spec["datasets"], size=spec["sizes"])
    printed = printed.sort_values("published", ascending=False, kind="stable").dropna(subset="published")
    best = printed.drop_duplicates(["dataset", "size"]).set_index(["dataset", "size"])
    cells = summarise(of_quantity(select(context.rows, axis=""), spec["quantity"]))
    cells = cells[cells["n"] > 0].sort_values("n_features")
    found = []
    places = pd.MultiIndex.from_product([spec["datasets"], spec["sizes"]])
    for dataset, size in places.intersection(best.index, sort=False):
        number = best.loc[(dataset, size)]
        curves = select(cells, dataset=dataset).groupby(["method", "variant"])
        reached = {who: _reached(curve, number["published"]) for who, curve in curves}
        baseline = reached.pop((spec["baseline"], ""), None)
        fewest = min(reached.values(), key=_order, default=None)
        found.append(Need(dataset, size, float(number["published"]), number["method"], baseline, fewest))
    return found


def _order(at: Reached) -> tuple:
    """Sorts by the number of features, then by the mean, and last those that never reach the number."""
    return not at.size, at.n_features if at.size else 0, -at.mean


def _reached(curve: pd.DataFrame, number: float) -> Reached:
    """Return where the means of one method (rows of ``summarise`` by size) reach a number first."""
    there = curve[curve["mean"] >= number]
    at = there.iloc[0] if len(there) else curve.iloc[-1]
    size = at["n_features_label"] if len(there) else ""
    return Reached(at["method"], at["variant"], size, int(at["n_features"]), float(at["mean"]))


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
