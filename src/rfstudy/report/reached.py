"""How many features reach the best printed numbers: of every printed size, by one method and by the best of the others.

A printed size has its best number, whichever method it is of. Ours reach it at the smallest size whose mean over the
repeats is no lower; sizes beyond the largest that was run say that none did.
"""

from __future__ import annotations

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
    """The best printed number at a size of a data set, the method that it is of, and who of ours reaches it where: the
    baseline, and the other that does with the fewest features (of several the most accurate); None without rows."""

    dataset: str
    size: str
    printed: float
    method: str
    baseline: Reached | None
    other: Reached | None


def needs(context: Context, spec: dict) -> list[Need]:
    """One a data set and printed size, in the order of ``spec``: ``published`` (of its ``paper``), ``datasets``,
    ``sizes``, ``quantity`` and the ``baseline``."""
    metric = spec["quantity"]["metric"]
    printed = select(numbers(context.published, spec["paper"], spec["published"]), metric=metric)
    printed = printed.dropna(subset="published")
    cells = summarise(of_quantity(select(context.rows, axis=""), spec["quantity"]))
    cells = cells[cells["n"] > 0]
    found = []
    for dataset in spec["datasets"]:
        own = select(cells, dataset=dataset)
        for size in spec["sizes"]:
            of_cell = select(printed, dataset=dataset, size=size)
            if not len(of_cell):
                continue
            best = of_cell.loc[of_cell["published"].idxmax()]
            curves = {pair: reached(curve, best["published"]) for pair, curve in own.groupby(["method", "variant"])}
            baseline = curves.pop((spec["baseline"], ""), None)
            other = min(curves.values(), key=_fewest, default=None)
            found.append(Need(dataset, size, float(best["published"]), best["method"], baseline, other))
    return found


def reached(curve: pd.DataFrame, number: float) -> Reached:
    """Where the means of one method (rows of ``summarise``) reach a number first."""
    curve = curve.sort_values("n_features")
    there = curve[curve["mean"] >= number]
    at = (there if len(there) else curve.iloc[::-1]).iloc[0]
    size = at["n_features_label"] if len(there) else ""
    return Reached(at["method"], at["variant"], size, int(at["n_features"]), float(at["mean"]))


def _fewest(each: Reached) -> tuple:
    """What puts the one that reaches a number with the fewest features first, and after them who never does."""
    return not each.size, each.n_features if each.size else 0, -each.mean
