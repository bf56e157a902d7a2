"""Whether a measured number is the printed one: the tolerance and the verdict on one cell.

The rule is one for the whole study, so that a scorecard means the same for every paper. The verdicts are those of
``VERDICTS``; whether data may be compared with the printed numbers at all is said by ``notes.comparability``.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import NamedTuple

from rfstudy.metrics import FACTS, lower_is_better

VERDICTS = ("reproduced", "better", "worse", "not run", "not comparable", "too noisy")


class Number(NamedTuple):
    """A mean, its standard deviation over repeats (None where it is not known), and by how much printing may have
    rounded it (half a unit of the last digit; 0 for a measured number)."""

    value: float
    std: float | None = None
    rounding: float = 0.0


class Score(NamedTuple):
    """Ours minus published and what it may be; None where the two are not set against each other."""

    difference: float | None
    tolerance: float | None
    verdict: str


def half_unit(printed: str) -> float:
    """Half a unit of the last printed digit.

    Examples
    --------
    >>> half_unit("68.45"), half_unit("1.9e-2")
    (0.005, 0.0005)
    """
    return 0.5 * 10.0 ** Decimal(printed).as_tuple().exponent


def quotient(over: Number, under: Number) -> Number | None:
    """The quotient of two printed numbers, whose rounding is the farthest that the true one may be away.

    Its standard deviation is not known, for the two were measured together. None where the denominator may be zero.
    """
    if under.value - under.rounding <= 0:
        return None
    value = over.value / under.value
    most = (over.value + over.rounding) / (under.value - under.rounding)
    least = (over.value - over.rounding) / (under.value + under.rounding)
    return Number(value, None, max(most - value, value - least))


def tolerance(metric: str, published: Number, ours: Number) -> float:
    """How far our number may be from the printed one and still be the same.

    Twice the pooled standard deviation, sqrt((a^2 + b^2) / 2), where both spreads are known; else twice ours (nothing
    for a single repeat) plus the rounding of the printed number; never under the ``tolerance`` of the metric in
    ``metrics.FACTS``.
    """
    fact = FACTS[metric]
    floor = fact.tolerance if fact.is_percentage else fact.tolerance * abs(published.value)
    if published.std is not None and ours.std is not None:
        return max(floor, 2.0 * math.sqrt((published.std**2 + ours.std**2) / 2.0))
    return max(floor, 2.0 * (ours.std or 0.0) + published.rounding)


def score(
    metric: str, published: Number | None, ours: Number | None, comparable: bool = True, too_noisy: bool = False
) -> Score:
    """The verdict on one printed number.

    ``published`` is None where the printed number is lost or where nothing may be said of the distance (a stand-in);
    ``ours`` is None where nothing was measured. Numbers that are not comparable, and ours if it is too noisy for a
    verdict, get their difference but no tolerance.
    """
    if ours is None:
        return Score(None, None, "not run")
    if published is None:
        return Score(None, None, "not comparable")
    difference = ours.value - published.value
    if not comparable:
        return Score(difference, None, "not comparable")
    if too_noisy:
        return Score(difference, None, "too noisy")
    bound = tolerance(metric, published, ours)
    if abs(difference) <= bound:
        return Score(difference, bound, "reproduced")
    return Score(difference, bound, "better" if (difference < 0) == lower_is_better(metric) else "worse")
