"""From tidy rows to what is shown: selections, means over repeats, and which methods are best.

Rows whose status is not ok never enter a mean. They are counted beside it, so that whoever shows the mean can show
what is missing from it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import stdtr

from rfstudy import tidy
from rfstudy.metrics import lower_is_better

#: What one mean is taken over repeats of.
CELL = [column for column in tidy.KEY if column != "repeat"]

#: Of ``best_methods``: the level of a family of comparisons, the repeats that a comparison needs, and the length of a
#: list that no longer says which methods are best.
LEVEL = 0.05
MIN_REPEATS = 8
TOO_MANY = 5


def select(frame: pd.DataFrame, **wanted) -> pd.DataFrame:
    """The rows in which every named column has the wanted value, or one of a list of them; None asks for nothing."""
    keep = np.ones(len(frame), dtype=bool)
    for column, value in wanted.items():
        if value is not None:
            keep &= frame[column].isin([value] if isinstance(value, str) else list(value)).to_numpy(dtype=bool)
    return frame[keep]


def of_quantity(frame: pd.DataFrame, quantity: dict) -> pd.DataFrame:
    """The rows of one quantity of a specification: of its ``metric``, and its ``learner`` and ``split`` if named."""
    return select(frame, metric=quantity["metric"], learner=quantity.get("learner"), split=quantity.get("split"))


def measured(results, experiments: list[str]) -> pd.DataFrame:
    """The measured rows of experiments in tidy files (paths).

    Where a data set was measured under several presets, the one with the most values speaks for it: means over
    different protocols would mean nothing.
    """
    frame = pd.concat([tidy.frame([]), *(tidy.read(path) for path in results)], ignore_index=True)
    frame = select(frame, origin="measured", experiment=experiments)
    if frame["preset"].nunique() < 2:
        return frame
    counts = frame.assign(ok=frame["status"] == "ok").groupby(["dataset", "preset"])["ok"].sum()
    largest = counts.groupby(level="dataset").idxmax()
    return frame[[pair in set(largest) for pair in zip(frame["dataset"], frame["preset"], strict=True)]]


def facts_of(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows that say what preprocessing found in the data."""
    return frame[frame["metric"].str.startswith("fact_")]


def settings_of(frame: pd.DataFrame) -> list[dict]:
    """The ``settings`` of every row as a dict; an empty one where there is none."""
    return [json.loads(text) if text else {} for text in frame["settings"]]


def reasons(frame: pd.DataFrame) -> list[str]:
    """Why rows are not ok: their distinct ``reason``, in order of appearance, without the id of their own method."""
    frame = frame[frame["status"] != "ok"]
    told = zip(frame["method"], settings_of(frame), strict=True)
    return list(dict.fromkeys(s["reason"].removeprefix(f"{method}: ") for method, s in told if s.get("reason")))


def summarise(frame: pd.DataFrame) -> pd.DataFrame:
    """Mean and spread over repeats of every cell.

    Returns one row per cell, with the columns of ``CELL`` and

    * ``mean``, ``std`` (ddof = 1; missing for a single repeat) and ``n`` of the repeats that are ok,
    * ``n_failed`` and ``n_skipped``, the repeats that are not.

    ``ValueError`` if two rows claim to be the same measurement: averaging them would count a repeat twice.
    """
    _check_unique(frame)
    ok = frame["status"] == "ok"
    marked = frame.assign(
        value=frame["value"].where(ok), ok=ok, failed=frame["status"] == "failed", skipped=frame["status"] == "skipped"
    )
    cells = marked.groupby(CELL, dropna=False, sort=False).agg(
        mean=("value", "mean"),
        std=("value", "std"),
        n=("ok", "sum"),
        n_failed=("failed", "sum"),
        n_skipped=("skipped", "sum"),
    )
    return cells.reset_index()


def _check_unique(frame: pd.DataFrame) -> None:
    twice = frame[frame.duplicated(list(tidy.KEY))]
    if len(twice):
        first = twice.iloc[0]
        raise ValueError(
            f"{len(twice)} rows repeat a measurement, e.g. {first['metric']} of {first['method']} on {first['dataset']}"
            f" at {first['n_features_label']}, repeat {first['repeat']}"
        )


def method_order(frame: pd.DataFrame, listed: list[str]) -> list[tuple[str, str]]:
    """(method, variant) of every method in the frame: the listed ones in that order, then the others by name."""
    order = {method: position for position, method in enumerate(listed)}
    return sorted(_pairs(frame), key=lambda pair: (order.get(pair[0], len(order)), pair))


def methods_shown(frame: pd.DataFrame, listed: list[str]) -> list[tuple[str, str]]:
    """As ``method_order``; where there are no rows, the listed methods."""
    return method_order(frame, listed) or [(method, "") for method in listed]


def paired_test(a, b) -> tuple[float, float]:
    """Two-sided paired t-test of equal means: mean difference a - b and p-value.

    ``a`` and ``b`` have shape (n,), n >= 2. Where the differences do not vary (two deterministic methods), the
    t statistic has no value: p is 1 if they are all zero, else 0.
    """
    difference = np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)
    mean, n = float(difference.mean()), len(difference)
    deviation = float(difference.std(ddof=1))
    # Rounding of the mean leaves a deviation of a few units in the last place where the differences are equal.
    if deviation <= 8 * np.finfo(np.float64).eps * np.abs(difference).max():
        return mean, float(mean == 0.0)
    return mean, float(2.0 * stdtr(n - 1, -abs(mean) * np.sqrt(n) / deviation))


class Paired(NamedTuple):
    """Mean difference over the repeats that two cells share (missing where they share none), its p-value by
    ``paired_test`` (missing under ``MIN_REPEATS`` repeats) and how many repeats they are."""

    difference: float
    p_value: float
    repeats: int

    def better(self) -> bool:
        """Whether the first of the two is significantly larger, at ``LEVEL``."""
        return self.difference > 0 and self.p_value < LEVEL


def by_repeat(frame: pd.DataFrame) -> pd.Series:
    """The values of one cell that are ok, indexed by repeat; ``ValueError`` if the rows are of several cells."""
    ok = frame[frame["status"] == "ok"]
    if ok["repeat"].duplicated().any():
        raise ValueError("the rows of one cell must differ in their repeat")
    return pd.Series(ok["value"].to_numpy(), index=ok["repeat"].astype(int).to_numpy())


def paired(one: pd.Series, other: pd.Series) -> Paired:
    """One cell against another (values by repeat), repeat by repeat: they share the split."""
    common = one.index.intersection(other.index)
    if not len(common):
        return Paired(np.nan, np.nan, 0)
    difference = float((one[common] - other[common]).mean())
    enough = len(common) >= MIN_REPEATS
    return Paired(difference, paired_test(one[common], other[common])[1] if enough else np.nan, len(common))


def holm(p_values) -> np.ndarray:
    """Holm's step-down adjustment of p-values of shape (m,); reject where the adjusted value is below the level."""
    p_values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p_values, kind="stable")
    stepped = np.maximum.accumulate(p_values[order] * (len(p_values) - np.arange(len(p_values))))
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


@dataclass(frozen=True)
class Best:
    """Outcome of ``best_methods``: ``verdict`` is "listed", "none stands out", "no verdict" or "not run"."""

    verdict: str
    methods: tuple[tuple[str, str], ...] = ()  # (method, variant), best first
    repeats: int = 0
    left_out: dict = field(default_factory=dict)  # (method, variant) -> complete repeats
    adjusted: dict = field(default_factory=dict)  # (method, variant) -> adjusted p-value against the best


def best_methods(frame: pd.DataFrame, metric: str, sizes: list[str]) -> Best:
    """Which methods are best over a group of sizes: the best one and all that are not significantly worse.

    The unit of the test is the repeat: all methods of a repeat see the same split, but the sizes of one repeat share
    that split too and are no independent observations. So a method's score in a repeat is its mean over the sizes of
    the group (of the logarithm for errors and times, so that every size weighs the same), and the method with the
    best mean score is compared with every other by a two-sided paired t-test across repeats at ``LEVEL``, with Holm's
    correction over these comparisons. Two-sided, because the best method is chosen on the same repeats.

    A method takes part with every repeat in which it is ok at all sizes of the group; with fewer than ``MIN_REPEATS``
    it is left out. The comparison is made on the repeats that are complete for all who take part; with too few of
    them, or one method alone, there is no verdict. If ``TOO_MANY`` methods or more are listed, none stands out.

    Parameters
    ----------
    frame : tidy rows of one experiment, data set, kernel, learner and split; ``ValueError`` otherwise
    metric : what is compared
    sizes : labels of the group, e.g. ["2d", "4d"]

    Returns
    -------
    Best
    """
    rows = select(frame, metric=metric, n_features_label=sizes)
    for column in ("experiment", "dataset", "kernel", "learner", "split"):
        if rows[column].nunique() > 1:
            raise ValueError(f"best_methods compares within one {column}, got {sorted(rows[column].unique())}")
    if not len(rows):
        return Best("not run")
    _check_unique(rows)
    complete = _complete_scores(rows, metric, sizes)
    left_out = {pair: len(scores) for pair, scores in complete.items() if len(scores) < MIN_REPEATS}
    takes_part = [pair for pair in complete if pair not in left_out]
    common = sorted(set.intersection(*(set(complete[pair].index) for pair in takes_part))) if takes_part else []
    if len(takes_part) < 2 or len(common) < MIN_REPEATS:
        return Best("no verdict", repeats=len(common), left_out=left_out)

    scores = {pair: complete[pair].loc[common].to_numpy() for pair in takes_part}
    sign = 1.0 if lower_is_better(metric) else -1.0
    best, *others = sorted(takes_part, key=lambda pair: sign * scores[pair].mean())
    p_values = [paired_test(scores[best], scores[other])[1] for other in others]
    adjusted = {pair: float(p) for pair, p in zip(others, holm(p_values), strict=True)}
    listed = (best, *(other for other in others if adjusted[other] >= LEVEL))
    return Best("none stands out" if len(listed) >= TOO_MANY else "listed", listed, len(common), left_out, adjusted)


def _pairs(rows: pd.DataFrame) -> list[tuple[str, str]]:
    return list(dict.fromkeys(zip(rows["method"], rows["variant"], strict=True)))


def _complete_scores(rows: pd.DataFrame, metric: str, sizes: list[str]) -> dict[tuple[str, str], pd.Series]:
    """Per method and variant its scores by repeat: the mean over the sizes (of the logarithm where low is good) of
    the repeats in which every size is ok."""
    ok = rows[rows["status"] == "ok"]
    values = ok["value"]
    if lower_is_better(metric):
        if (values <= 0).any():
            raise ValueError(f"{metric} must be positive to be compared on a logarithmic scale")
        values = np.log(values)
    ok = ok.assign(value=values)
    scores = {}
    for method, variant in _pairs(rows):
        repeats = select(ok, method=method, variant=variant).groupby("repeat")["value"].agg(["mean", "size"])
        scores[method, variant] = repeats.loc[repeats["size"] == len(sizes), "mean"]
    return scores
