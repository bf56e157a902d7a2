"""Whether a measured number is the printed one: the margin, the standard error and the verdict on one cell.

The rule is one for the whole study, so that a scorecard means the same for every paper. Two means are the same while
they differ by less than the larger of a practical margin (``metrics``) and three standard errors of their difference;
where these are more than twice the margin, numbers that are no further apart are too noisy to be called the same. A
difference beyond three standard errors is one, however large they are. The verdicts are those of ``VERDICTS``; whether
data may be compared with the printed numbers at all is said by ``notes.comparability``.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import NamedTuple

from rfstudy.metrics import FACTS, POINTS, SHARE, lower_is_better

VERDICTS = ("reproduced", "better", "worse", "not run", "not comparable", "too noisy")

#: Standard errors of a difference up to which it is none, and how many margins they may reach.
ERRORS, MARGINS = 3.0, 2.0

RULE_NOTE = (
    f"Reproduced: the difference is under the larger of the margin and {ERRORS:g} standard errors; better, worse: it "
    f"is not, as the metric has it; too noisy: it is, but {ERRORS:g} "
    f"standard errors are more than {MARGINS:g} margins. Margin: "
    f"{POINTS:g} points of accuracy, of an error in percent the smaller of {POINTS:g} points and {SHARE:.0%} of it, "
    f"{SHARE:.0%} of any other value; numbers of rows and columns are the same or not comparable. Standard error of "
    "the difference: both spreads over the square roots of their repeats, ours where none is printed (and the printed "
    "one for a single repeat of ours; with neither it is not known and the cell too noisy), and half a unit of the "
    "last printed digit."
)


class Number(NamedTuple):
    """A mean and how well it is known: the standard deviation over repeats and their number, or a standard error in
    their place (None where it is not known), and by how much printing may have rounded it (half a unit of the last
    digit; 0 for a measured number)."""

    value: float
    std: float | None = None
    repeats: int | None = None
    error: float | None = None
    rounding: float = 0.0


class Score(NamedTuple):
    """Ours minus published, and what it is judged by; None where the two are not set against each other."""

    difference: float | None
    margin: float | None
    error: float | None
    verdict: str

    @property
    def in_errors(self) -> float | None:
        """The difference in standard errors."""
        return self.difference / self.error if self.error else None


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

    Its spread is not known, for the two were measured together. None where the denominator may be zero.
    """
    if under.value - under.rounding <= 0:
        return None
    value = over.value / under.value
    most = (over.value + over.rounding) / (under.value - under.rounding)
    least = (over.value - over.rounding) / (under.value + under.rounding)
    return Number(value, None, over.repeats, rounding=max(most - value, value - least))


def standard_error(published: Number, ours: Number) -> float:
    """The standard error of the difference of two means, with the rounding of the printed one.

    A spread that one of the two lacks is the other's: our spread over the published number of repeats where none is
    printed (over ours where it is not known how many they were), and the printed one for a single repeat of ours.
    """
    theirs = _own_error(published)
    if theirs is None:
        theirs = _error_with(_spread(ours), published.repeats)
        theirs = _own_error(ours) if theirs is None else theirs
    own = _own_error(ours)
    if own is None:
        own = _error_with(_spread(published), ours.repeats)
    return math.sqrt((theirs or 0.0) ** 2 + (own or 0.0) ** 2 + published.rounding**2)


def is_single(published: Number, ours: Number) -> bool:
    """Whether ours is a single repeat and no spread is printed, so that nobody knows how far the next one may fall."""
    return ours.repeats == 1 and _spread(ours) is None and _spread(published) is None


def _own_error(number: Number) -> float | None:
    return number.error if number.error is not None else _error_with(number.std, number.repeats)


def _spread(number: Number) -> float | None:
    """The standard deviation over repeats, also where the standard error is what is known."""
    if number.std is None and number.error is not None and number.repeats:
        return number.error * math.sqrt(number.repeats)
    return number.std


def _error_with(std: float | None, repeats: int | None) -> float | None:
    return None if std is None or not repeats else std / math.sqrt(repeats)


def score(
    metric: str, published: Number | None, ours: Number | None, comparable: bool = True, too_noisy: bool = False
) -> Score:
    """The verdict on one printed number.

    ``published`` is None where the printed number is lost or where nothing may be said of the distance (a stand-in);
    ``ours`` is None where nothing was measured. Numbers that are not comparable, and ours if it is too noisy by itself,
    get their difference and nothing else. A metric without a tolerance counts what is there: if two such numbers are
    not the same, they are of different things. ``KeyError`` for a metric of which nothing is known.
    """
    fact = FACTS[metric]
    if ours is None:
        return Score(None, None, None, "not run")
    if published is None:
        return Score(None, None, None, "not comparable")
    difference = ours.value - published.value
    if not comparable:
        return Score(difference, None, None, "not comparable")
    if fact.tolerance is None:
        return Score(difference, 0.0, None, "not comparable" if difference else "reproduced")
    margin = fact.margin(published.value)
    if is_single(published, ours):
        return Score(difference, margin, None, "too noisy")
    error = standard_error(published, ours)
    if abs(difference) < max(margin, ERRORS * error) or too_noisy:
        noisy = too_noisy or ERRORS * error > MARGINS * margin
        return Score(difference, margin, error, "too noisy" if noisy else "reproduced")
    return Score(difference, margin, error, "better" if (difference < 0) == lower_is_better(metric) else "worse")
