"""Samples of methods at a point, and estimates of their values, differences and ratios.

The values of a sample are repeats, rounds of times, or errors of pairs of points that have standard errors themselves:

* repeats are paired, with the interval of ``compare.paired``,
* rounds are paired within one record. The range of their ratios replaces the interval. It covers the median
  with 94 % for five rounds, and with more for more rounds,
* values with standard errors are averaged over the repeats, and the interval is ``SIGMAS`` errors to each side.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

from rfstudy.report.compare import LEVEL, MIN_REPEATS, Estimate, paired
from rfstudy.report.estimates import SIGMAS
from rfstudy.report.times import TOO_WIDE


class Side(NamedTuple):
    """One side of a comparison: a method, or the lowest or highest of several at a point.

    ``methods`` are pairs of method and variant; those in ``also`` count if they were measured. ``metric``, ``size`` and
    ``at`` (a value on the axis) fix the coordinates that the sides do not share.
    """

    methods: tuple[tuple[str, str], ...]
    also: tuple[tuple[str, str], ...] = ()
    pick: Callable | None = None
    metric: str = ""
    size: str = ""
    at: float | None = None

    def takes(self, row: dict, metric: str) -> bool:
        """Return whether a row has the metric of this side, and the size and the place if it fixes them."""
        is_there = self.size in ("", row["n_features_label"]) and self.at in (None, row["at"])
        return is_there and row["metric"] == (self.metric or metric)


def side(method: str | Side, **fixed) -> Side:
    """Return the side of a method ("slsrff", or "slsrff/identity" for a variant), with the coordinates that are fixed
    for it alone."""
    return method if isinstance(method, Side) else Side((_pair(method),), **fixed)


def sides(*compared) -> list[Side]:
    """Return a list of sides from single sides, sequences of sides and None."""
    groups = [[each] if isinstance(each, str | Side) else each or [] for each in compared]
    return [side(each) for group in groups for each in group]


def lowest(*methods: str, also: tuple[str, ...] = ()) -> Side:
    """Return the side of the method with the smallest mean at a point."""
    return Side(tuple(map(_pair, methods)), tuple(map(_pair, also)), min)


def highest(*methods: str, also: tuple[str, ...] = ()) -> Side:
    """Return the side of the method with the largest mean at a point."""
    return Side(tuple(map(_pair, methods)), tuple(map(_pair, also)), max)


def _pair(method: str) -> tuple[str, str]:
    name, _, variant = method.partition("/")
    return name, variant


class Sample(NamedTuple):
    """The measurements of a method at a point, by repeat or round."""

    who: tuple[str, str]
    values: dict  # repeat, or (run, round), to value
    kind: str = "repeats"  # repeats | rounds | pooled
    error: float = math.nan  # of the mean, if the values have errors of their own
    machine_busy: bool = False
    overlap: float = 0.0  # n_test / n_train if the repeats share training rows

    @property
    def mean(self) -> float:
        """Return the mean over repeats, or the median over rounds."""
        values = list(self.values.values())
        return float(np.median(values) if self.kind == "rounds" else np.mean(values))


def difference(one: Sample, other: Sample | None = None) -> Estimate:
    """Return the mean of a sample, or by how much it is above the mean of another.

    The value uses all repeats of each sample; the interval uses the repeats that both have.
    """
    value = one.mean - (other.mean if other else 0.0)
    if one.kind == "pooled":
        error = math.hypot(one.error, other.error if other else 0.0)
        return Estimate(value, value - SIGMAS * error, value + SIGMAS * error, error)
    first, second = _common(one, other or one)
    second = second if other else 0.0
    if one.kind == "rounds":
        return Estimate(value, *_range(first - second))
    return shifted(paired(first, second, one.overlap), value)


def quotient(one: Sample, other: Sample) -> Estimate | None:
    """Return the first mean over the second.

    For rounds, it is the median of the ratios within one record; None if the two share no round. It must not decide if
    other work ran at that time or the quartiles are too far apart. Otherwise it is the ratio of the means, with the
    interval of the logarithms of the paired ratios. It must not decide if a divisor is zero.
    """
    first, second = _common(one, other)
    if not other.mean or (one.kind == "rounds" and not second.all()):
        return Estimate(math.nan, reason="a divisor is zero")
    if one.kind == "rounds":
        if not len(first):
            return None
        ratios = first / second
        lower, value, upper = (float(np.quantile(ratios, share)) for share in (0.25, 0.5, 0.75))
        reason = "" if value > 0 and upper - lower <= TOO_WIDE * value else "too noisy"
        reason = "machine busy" if one.machine_busy or other.machine_busy else reason
        return Estimate(value, *_range(ratios), reason=reason)
    value = one.mean / other.mean
    if len(first) < MIN_REPEATS or (first <= 0).any() or (second <= 0).any():
        return Estimate(value)
    logarithm = shifted(paired(np.log(first), np.log(second), one.overlap), math.log(value))
    return Estimate(value, math.exp(logarithm.low), math.exp(logarithm.high))


def shifted(estimate: Estimate, value: float) -> Estimate:
    """Return the estimate with another value, at the same distances from the ends of its interval."""
    shift = value - estimate.value
    return estimate._replace(value=value, low=estimate.low + shift, high=estimate.high + shift)


def spread_of(*samples: Sample) -> float:
    """Return the root mean square of the standard deviations over the repeats of samples; NaN for a single repeat."""
    return math.sqrt(np.mean([deviation(sample) ** 2 for sample in samples]))


def deviation(sample: Sample) -> float:
    """Return the standard deviation over repeats (ddof = 1); NaN for a single one."""
    return float(np.std(list(sample.values.values()), ddof=1)) if len(sample.values) > 1 else math.nan


def rank_correlation(x, y) -> Estimate:
    """Return Spearman's rank correlation of x and y (n,); NaN if one of the two does not vary.

    It has the 95 % interval of Fisher's transformation (variance 1.06 / (n - 3)) and the one-sided p-value against no
    or a negative correlation, both from five pairs on.
    """
    from scipy.special import ndtr, ndtri

    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return Estimate(math.nan)
    rho, n = float(pd.Series(x).rank().corr(pd.Series(y).rank())), len(x)
    if n < 5:
        return Estimate(rho, p=1.0, n=n)
    error = math.sqrt(1.06 / (n - 3))
    z, half = math.atanh(max(-1 + 1e-12, min(1 - 1e-12, rho))), -ndtri(LEVEL / 2) * error
    return Estimate(rho, math.tanh(z - half), math.tanh(z + half), p=float(ndtr(-z / error)), n=n)


def _common(one: Sample, other: Sample) -> tuple[np.ndarray, np.ndarray]:
    units = [unit for unit in one.values if unit in other.values]
    return np.array([one.values[unit] for unit in units]), np.array([other.values[unit] for unit in units])


def _range(values) -> tuple[float, float]:
    return (float(np.min(values)), float(np.max(values))) if len(values) >= MIN_REPEATS else (math.nan, math.nan)
