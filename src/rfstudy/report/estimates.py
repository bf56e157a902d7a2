"""Statements from rows with standard errors: pooled estimates, signs of differences, and fitted powers."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd

from rfstudy.report.aggregate import select, settings_of
from rfstudy.report.compare import Estimate

#: Standard errors from which a difference counts. The claims of the papers are tested at many points at once.
SIGMAS = 4.0

#: Columns that identify a pooled estimate of a pair of points.
POINT = ["method", "variant", "direction", "d", "n_features", "distance"]


def pooled(frame: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return the mean over repeats of a metric of pairs of points, and its standard error from the values of the
    repeats.

    The columns are ``POINT``, ``value`` and ``error``. There is one row per map, direction, dimension, size
    and distance.
    """
    rows = select(frame, metric=metric, axis="distance", status="ok")
    directions = [s["direction"] for s in settings_of(rows)]
    rows = rows.assign(direction=directions, distance=rows["at"], square=rows["spread"] ** 2)
    cells = rows.groupby(POINT, sort=False).agg(value=("value", "mean"), square=("square", "sum"), n=("value", "size"))
    return cells.assign(error=np.sqrt(cells["square"]) / cells["n"]).reset_index()[[*POINT, "value", "error"]]


class SignCounts(NamedTuple):
    """Counts of points at which a quantity is lower than, not different from, or higher than another."""

    lower: int
    even: int
    higher: int

    def __str__(self) -> str:
        return f"{self.lower} / {self.even} / {self.higher}"


def tally(differences, errors) -> SignCounts:
    """Count differences (n,) that are below or above zero by more than ``SIGMAS`` of their standard errors (n,)."""
    differences, bounds = np.asarray(differences, dtype=float), SIGMAS * np.asarray(errors, dtype=float)
    lower, higher = int((differences < -bounds).sum()), int((differences > bounds).sum())
    return SignCounts(lower, len(differences) - lower - higher, higher)


def lower_variance_verdict(counts: SignCounts, claim: str) -> str:
    """Return whether measured ratios support a claim about them: "Yes" (lower), "No" (not lower) or "The same".

    "Yes" holds if the variance is lower at every point and fails if it is at none; "No" the other way round; "The
    same" holds if no point differs and fails if all do. Anything between is partly true, and anything else no claim.
    """
    lower, even, higher = counts
    differing = {"Yes": even + higher, "No": lower, "The same": lower + higher}
    if claim not in differing:
        return "no claim"
    return {0: "holds", sum(counts): "fails"}.get(differing[claim], "partly") if any(counts) else "not run"


def power_law(x, y) -> Estimate | None:
    """Return the exponent a of y = c x^a by least squares on the logarithms of x and y, shape (n,).

    Points with y = 0, such as times below the resolution of the clock, have no logarithm and are left out. None if
    there are fewer than three points or only one x: the error is then unknown.

    >>> x = np.array([1.0, 2, 4, 8])
    >>> fit = power_law(x, 5 * x**-1.5)
    >>> round(fit.value, 6), abs(fit.error) < 1e-7  # a difference of rounded sums of squares: the root of the precision
    (-1.5, True)
    >>> print(power_law(x, np.ones(4)))
    0.00 ± 0.00
    >>> round(power_law(x, [0.0, 2.0, 4.0, 8.0]).value, 6)
    1.0
    >>> [power_law(*points) for points in ((x[:2], x[:2]), ([3, 3, 3], [1, 2, 3]), (x, np.zeros(4)))]
    [None, None, None]
    """
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    x, y = x[y > 0], y[y > 0]
    if len(x) < 3 or len(set(x)) < 2:
        return None
    # the same as scipy.stats.linregress, whose import takes as long as a table
    of_x, of_both, _, of_y = np.cov(np.log(x), np.log(y), bias=True).flat
    correlation = min(1.0, max(-1.0, of_both / np.sqrt(of_x * of_y))) if of_y else 0.0
    error = np.sqrt((1.0 - correlation**2) * of_y / of_x / (len(x) - 2))
    return Estimate(float(of_both / of_x), error=float(error), n=len(x))


def growth(frame: pd.DataFrame, metric: str, over: str) -> Estimate | None:
    """Return the power with which a metric of one map grows over ``n_features`` or ``d``, where only that varies."""
    along = varying(frame, metric, over, held="d" if over == "n_features" else "n_features")
    return power_law(along[over], along["value"])


def varying(frame: pd.DataFrame, metric: str, over: str, held: str) -> pd.DataFrame:
    """Return the rows of a metric with the value of the column ``held`` that has the most values of ``over``."""
    rows = select(frame, metric=metric, status="ok")
    if not len(rows):
        return rows
    most = rows.groupby(held)[over].nunique().idxmax()
    return rows[rows[held] == most]


def largest_half(values) -> np.ndarray:
    """Return the larger half of the distinct values, rounded up and at least three: where an asymptotic power shows.

    >>> largest_half([8, 1, 2, 4, 16, 8]), largest_half([1, 2, 4, 8]), largest_half(range(7))
    (array([ 4,  8, 16]), array([2, 4, 8]), array([3, 4, 5, 6]))
    """
    values = np.unique(np.asarray(values))
    return values[-max(3, -(-len(values) // 2)) :]


def crossing(x, gaps) -> float:
    """Return the x, on straight lines in its logarithm, from which on gaps stay above zero: infinite if the last one is
    not, and 0 if all are. ``x``, which rises, and ``gaps`` have shape (n,).

    >>> crossing([1000, 4000, 16000], [-0.2, -0.1, 0.1])
    8000.0
    >>> x = np.array([16.0, 64.0, 256.0, 1024.0])
    >>> crossing(x, np.log(x / 100.0))  # between two measurements a power law is a straight line in logarithms
    100.0
    >>> [crossing(x, -np.log(ratios)) for ratios in ([0.5, 2.0, 2.0, 0.5], [0.5, 0.5, 0.5, 1.0], [0.9] * 4)]
    [512.0, inf, 0.0]
    """
    if gaps[-1] <= 0:
        return np.inf
    for (low, before), (high, after) in reversed(list(pairwise(zip(x, gaps, strict=True)))):
        if before <= 0:
            return round(float(low * (high / low) ** (-before / (after - before))), 6)
    return 0.0
