"""How methods rank over data sets, and which of them the data sets tell apart.

The unit is the data set: methods are ranked on each, and the ranks are averaged (Demšar, Statistical comparisons of
classifiers over multiple data sets, Journal of Machine Learning Research 7, 2006). Friedman's test says whether the
methods differ at all. Two of them are compared by Wilcoxon's signed-rank test on the data sets, which does not depend
on who else is ranked (Benavoli, Corani and Mangili, Should we really use post-hoc tests based on mean-ranks?, ibid. 17,
2016), with Holm's correction over all pairs. Nemenyi's distance of mean ranks is shown as well, since few
data sets leave the pairs no p-value that passes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd

from rfstudy.metrics import fact_of, lower_is_better
from rfstudy.report.aggregate import of_quantity, pairs_of, select
from rfstudy.report.compare import LEVEL, holm

#: Data sets that a test needs; under them Friedman's distribution is a poor guide.
MIN_DATASETS = 5


class Ranking(NamedTuple):
    """Methods over the data sets on which all of them have a score."""

    ranks: pd.Series  # mean rank by method, the best (1) first
    datasets: tuple[str, ...]  # what the ranks are over
    left_out: tuple[str, ...]  # data sets on which some method has no score
    chi_square: float  # Friedman's statistic and p-value; missing under ``MIN_DATASETS`` data sets or three methods
    p_value: float
    pairs: dict[frozenset[str], float]  # p-value of two methods, Holm's; empty where there is no test

    def differ(self, one: str, other: str) -> bool:
        """Whether the test of a pair passes at ``LEVEL``."""
        return self.pairs.get(frozenset((one, other)), 1.0) < LEVEL

    @property
    def alike(self) -> list[tuple[str, ...]]:
        """The longest runs of methods, two or more neighbours by rank, of which no two differ; none without a test."""
        methods, runs, end = list(self.ranks.index) if self.pairs else [], [], 0
        for first in range(len(methods)):
            last = first
            while last + 1 < len(methods) and not any(
                self.differ(methods[last + 1], each) for each in methods[first : last + 1]
            ):
                last += 1
            if last > first and last + 1 > end:
                runs.append(tuple(methods[first : last + 1]))
                end = last + 1
        return runs


def ranked_rows(frame: pd.DataFrame, spec: dict, sizes: Iterable[str]) -> pd.DataFrame:
    """The rows that methods are ranked by: of the data sets, methods and criteria of a specification, at some sizes."""
    return select(
        frame,
        dataset=spec["datasets"],
        method=spec["methods"],
        variant="",
        metric={criterion["metric"] for criterion in spec["criteria"]},
        n_features_label=sizes,
    )


def complete_scores(rows: pd.DataFrame, metric: str, sizes: list[str]) -> pd.DataFrame:
    """Scores of one quantity on one data set: repeats in rows, methods with their variants in columns.

    A score is the mean over the sizes, of the logarithm unless the quantity is a percentage. It is missing in repeats
    in which some size is not ok.
    """
    ok = select(rows, status="ok")
    if not fact_of(metric).is_percentage:
        if (ok["value"] <= 0).any():
            raise ValueError(f"{metric} must be positive to be compared on a logarithmic scale")
        ok = ok.assign(value=np.log(ok["value"]))
    means = ok.groupby(["repeat", "method", "variant"])["value"].agg(["mean", "size"])
    complete = means["mean"].where(means["size"] == len(sizes)).unstack(["method", "variant"])
    return complete.reindex(columns=pd.MultiIndex.from_tuples(pairs_of(rows), names=["method", "variant"]))


def scores(frame: pd.DataFrame, quantity: dict, methods: list[str], sizes: list[str]) -> pd.DataFrame:
    """Scores of methods (columns) on data sets (rows), without those that have none.

    A score is the mean over the repeats of ``complete_scores``, so that a difference of two is a difference in points
    or the logarithm of a ratio.
    """
    rows = select(of_quantity(frame, quantity), method=methods, variant="", n_features_label=sizes)
    # the mean of each method by itself: one over all columns rounds differently, and equal scores must stay ties
    found = {
        dataset: complete_scores(own, quantity["metric"], sizes)
        .apply(lambda of: of.dropna().mean())
        .droplevel("variant")
        for dataset, own in rows.groupby("dataset", sort=False)
    }
    table = pd.DataFrame(found, dtype=float).T
    return table.reindex(columns=methods).dropna(axis="columns", how="all").dropna(how="all")


def ranking(table: pd.DataFrame, metric: str) -> Ranking:
    """Rank methods by their scores (data sets by methods), on the data sets on which none is missing."""
    complete = table.dropna()
    ranks = complete.rank(axis=1, ascending=lower_is_better(metric)).mean().sort_values(kind="stable")
    left_out = tuple(dataset for dataset in table.index if dataset not in complete.index)
    tested = len(complete) >= MIN_DATASETS and len(ranks) >= 3
    chi_square, p_value = friedman(complete) if tested else (np.nan, np.nan)
    pairs = pairwise(complete) if tested else {}
    return Ranking(ranks, tuple(complete.index), left_out, chi_square, p_value, pairs)


def friedman(table: pd.DataFrame) -> tuple[float, float]:
    """Friedman's chi-square, corrected for ties, of methods (columns) over data sets (rows), and its p-value."""
    from scipy.stats import friedmanchisquare

    if (table.nunique(axis=1) == 1).all():  # no rank differs
        return 0.0, 1.0
    return tuple(map(float, friedmanchisquare(*(table[method] for method in table))))


def pairwise(table: pd.DataFrame) -> dict[frozenset[str], float]:
    """Holm's p-values of Wilcoxon's two-sided signed-rank test of every pair of methods (columns)."""
    from scipy.stats import wilcoxon

    pairs = list(itertools.combinations(table, 2))
    p_values = [
        1.0 if (table[one] == table[other]).all() else float(wilcoxon(table[one], table[other]).pvalue)
        for one, other in pairs
    ]
    return dict(zip(map(frozenset, pairs), holm(p_values).tolist(), strict=True))


def smallest_p_value(n_datasets: int, n_methods: int) -> float:
    """The smallest p-value that Holm's correction leaves of a pair: all data sets agree, 2 in 2^n, times the pairs.

    >>> smallest_p_value(8, 9)
    0.28125
    """
    return min(1.0, 2.0 ** (1 - n_datasets) * n_methods * (n_methods - 1) / 2)


def datasets_needed(n_methods: int) -> int:
    """The number of data sets from which on a pair of so many methods can differ at all.

    >>> datasets_needed(9)
    11
    """
    return next(n for n in itertools.count(MIN_DATASETS) if smallest_p_value(n, n_methods) < LEVEL)


def critical_difference(n_datasets: int, n_methods: int) -> float:
    """The difference of mean ranks from which on Nemenyi's test tells two methods apart at ``LEVEL`` (Demšar 2006)."""
    from scipy.stats import studentized_range

    quantile = studentized_range.ppf(1 - LEVEL, n_methods, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets)))
