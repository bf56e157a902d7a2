"""Errors against the time that they take: the curve of a method over its sizes, and what it reaches within a time.

An error is a mean over repeats, a time the median over rounds of the same size, data set and learner; a method's time
is the sum of phases that an entry names for it. Two methods are compared at equal time on the curve of one of them:
straight lines between neighbouring sizes, in the logarithm of the time.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd

from rfstudy.report.aggregate import by_repeat, of_quantity, select
from rfstudy.report.times import ROUND, machine_busy


class Timed(NamedTuple):
    """One size of a method: its error by repeat, and its seconds over the rounds."""

    label: str
    n_features: int
    errors: pd.Series
    seconds: pd.Series
    machine_busy: bool

    @property
    def error(self) -> float:
        """The mean error."""
        return float(self.errors.mean())

    @property
    def standard_error(self) -> float:
        """Of the mean error; 0 of a single repeat."""
        return float(np.nan_to_num(self.errors.std(ddof=1)) / np.sqrt(len(self.errors)))

    @property
    def time(self) -> float:
        """The median of the seconds."""
        return float(self.seconds.median())


def curve(rows: pd.DataFrame, method: str, quantity: dict, time: str) -> list[Timed]:
    """Return the sizes of a method that were measured and timed, by their number of features.

    ``rows`` are of one experiment and data set; ``quantity`` is the error with its learner, ``time`` a metric.
    """
    own = select(rows, method=method, variant="", status="ok")
    errors = select(of_quantity(own, quantity), axis="")
    rounds = select(own, metric=time, axis=ROUND, learner=["", quantity.get("learner", "")])
    found = []
    for (n_features, label), of_size in errors.groupby(["n_features", "n_features_label"], sort=True):
        timed = select(rounds, n_features_label=label)
        if timed["value"].median() > 0:  # a time of zero is no time: the clock did not resolve it
            beside = bool(machine_busy(timed).any())
            found.append(Timed(label, int(n_features), by_repeat(of_size), timed.set_index("at")["value"], beside))
    return found


def within(points: list[Timed], seconds: float) -> Timed | None:
    """Return the size with the lowest error among those that take no longer; None where all take longer."""
    quick = [point for point in points if point.time <= seconds]
    return min(quick, key=lambda point: point.error) if quick else None


class Read(NamedTuple):
    """What is read off a curve at a time: errors by repeat, and the number of features in between."""

    errors: pd.Series
    n_features: float


def at_time(points: list[Timed], seconds: float) -> Read | None:
    """Return the curve of a method at a time, by repeat; None where the time is beyond its ends.

    Examples
    --------
    >>> errors = [pd.Series([value]) for value in (8.0, 4.0)]
    >>> points = [Timed(str(s), s, e, pd.Series([t]), False) for s, e, t in zip((10, 40), errors, (1.0, 4.0))]
    >>> read = at_time(points, 2.0)
    >>> float(read.errors[0]), round(read.n_features)
    (6.0, 20)
    """
    order = sorted(points, key=lambda point: point.time)
    for before, after in pairwise(order):
        if before.time <= seconds <= after.time:
            way = np.log(after.time / before.time)
            share = float(np.log(seconds / before.time) / way) if way else 0.0
            errors = (1 - share) * before.errors + share * after.errors
            features = before.n_features * (after.n_features / before.n_features) ** share
            return Read(errors.dropna(), float(features))
    return None
