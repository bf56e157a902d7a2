"""How many features reach the best published number at each size: by one method and by the best of the others.

Ours reach a number at the smallest size whose mean over the repeats is no lower.
"""

from typing import NamedTuple

import pandas as pd

from rfstudy.report.aggregate import of_quantity, select, summarise
from rfstudy.report.context import Context
from rfstudy.report.published import numbers


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
