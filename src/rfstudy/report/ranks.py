"""Ranks of methods over data sets.

The unit is the data set: methods are ranked on each, and the ranks are averaged. Friedman's test says whether the
methods differ at all. Nemenyi's critical difference says how far two mean ranks must be apart (Demšar, Statistical
comparisons of classifiers over multiple data sets, Journal of Machine Learning Research 7, 2006). With eight data sets,
no p-value of a single pair passes Holm's correction over all pairs, so pairs are not tested one by one.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd

from rfstudy.metrics import fact_of, lower_is_better
from rfstudy.report.aggregate import of_quantity, select
from rfstudy.report.compare import LEVEL

#: Data sets that a test needs; with fewer, Friedman's distribution is a poor guide.
MIN_DATASETS = 5

#: The smallest error of a kernel matrix that a score distinguishes from 0: the rounding of float64 numbers.
ROUNDING = float(np.finfo(np.float64).eps)


class Ranking(NamedTuple):
    """The ranks of methods over the data sets on which all of them have a score."""

    ranks: pd.Series  # mean rank by method, the best (1) first
    datasets: tuple[str, ...]  # that the ranks are averaged over
    p_value: float  # of Friedman's test; missing with fewer than ``MIN_DATASETS`` data sets or three methods


def ranked_rows(frame: pd.DataFrame, datasets, methods, criteria: list[dict], sizes: Iterable[str]) -> pd.DataFrame:
    """Return the rows that methods are ranked by: the rows of data sets, methods and criteria at sizes."""
    metrics = {criterion["metric"] for criterion in criteria}
    return select(frame, dataset=datasets, method=methods, variant="", metric=metrics, n_features_label=sizes)


def complete_scores(rows: pd.DataFrame, metric: str, sizes: list[str]) -> pd.DataFrame:
    """Return scores of one quantity: data sets and repeats in rows, methods with their variants in columns.

    A score is the mean over the sizes. The logarithm is averaged unless the quantity is a percentage. A score is
    missing in repeats in which some size is not ok. Errors of the kernel matrix, which are relative, count as
    ``ROUNDING`` if they are smaller: an exact map is ahead of all others, and two exact maps tie. Raises ``ValueError``
    for any other quantity that is 0, and for negative ones.
    """
    ok = select(rows, status="ok")
    if not fact_of(metric).is_percentage:
        is_relative = metric.startswith("approximation_error")
        if (ok["value"] < 0).any() or (not is_relative and (ok["value"] == 0).any()):
            raise ValueError(f"{metric} must be positive: methods are compared by its logarithm")
        ok = ok.assign(value=np.log(ok["value"].clip(lower=ROUNDING if is_relative else None)))
    means = ok.groupby(["dataset", "repeat", "method", "variant"])["value"].agg(["mean", "size"])
    complete = means["mean"].where(means["size"] == len(sizes)).unstack(["method", "variant"])
    return complete.reindex(columns=pd.MultiIndex.from_frame(rows[["method", "variant"]].drop_duplicates()))


def scores(frame: pd.DataFrame, quantity: dict, methods: list[str], sizes: list[str]) -> pd.DataFrame:
    """Return scores of methods (columns) on data sets (rows), without those that have none.

    A score is the mean over the repeats of ``complete_scores``, so that a difference of two is a difference in points
    or the logarithm of a ratio.
    """
    rows = select(of_quantity(frame, quantity), method=methods, variant="", n_features_label=sizes)
    complete = complete_scores(rows, quantity["metric"], sizes).droplevel("variant", axis="columns")
    # the mean of each method is computed separately: one over all columns rounds differently, and equal scores must
    # stay ties
    table = complete.groupby(level="dataset").agg(lambda scores: scores.dropna().mean())
    return table.reindex(columns=methods).dropna(axis="columns", how="all").dropna(how="all")


def ranking(table: pd.DataFrame, metric: str) -> Ranking:
    """Rank methods by their scores (data sets by methods), on the data sets on which none is missing."""
    complete = table.dropna()
    ranks = complete.rank(axis=1, ascending=lower_is_better(metric)).mean().sort_values(kind="stable")
    return Ranking(ranks, tuple(complete.index), friedman(complete))


def friedman(table: pd.DataFrame) -> float:
    """Return the p-value of Friedman's test of methods (columns) over data sets (rows), corrected for ties."""
    from scipy.stats import friedmanchisquare

    if len(table) < MIN_DATASETS or table.shape[1] < 3:
        return np.nan
    if table.eq(table.iloc[:, 0], axis="index").all(axis=None):  # all ranks are equal
        return 1.0
    return float(friedmanchisquare(*(table[method] for method in table)).pvalue)


def nemenyi(n_datasets: int, n_methods: int) -> float:
    """Return the difference of mean ranks from which Nemenyi's test finds two methods different at ``LEVEL``."""
    from scipy.stats import studentized_range

    quantile = studentized_range.ppf(1 - LEVEL, n_methods, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets)))
