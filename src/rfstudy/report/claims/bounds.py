"""From an estimate and its bounds to a point: whether the claim holds there, and whether the opposite is shown."""

from __future__ import annotations

import math
import operator
from typing import NamedTuple

from rfstudy.metrics import fact_of
from rfstudy.report.claims.points import Point, number
from rfstudy.report.compare import Estimate


class Bounds(NamedTuple):
    """What a value has to be between; ``is_open`` excludes the ends."""

    low: float = -math.inf
    high: float = math.inf
    is_open: bool = False

    def contain(self, low: float, high: float) -> bool:
        """Whether an interval lies within; an end without a bound does not matter."""
        beyond = operator.gt if self.is_open else operator.ge
        return bool(
            (self.low == -math.inf or beyond(low, self.low)) and (self.high == math.inf or beyond(self.high, high))
        )

    @property
    def margin(self) -> float:
        """The bound that a point prints."""
        return self.low if self.high == math.inf else self.high


def bounds(where: dict, above=None, below=None, at_least=None, at_most=None, between=None) -> Bounds:
    """The bounds at a place. Each is a number or a function of the place; ``between`` are two numbers."""
    if between:
        return Bounds(*map(float, between))
    low, high = (first if second is None else second for first, second in ((above, at_least), (below, at_most)))
    low, high = (bound(where) if callable(bound) else bound for bound in (low, high))
    is_open = above is not None or below is not None
    return Bounds(-math.inf if low is None else float(low), math.inf if high is None else float(high), is_open)


def bounded(
    where: dict, estimate: Estimate, within: Bounds, what: str, text: str, *,
    neutral: float | None = None, errors: float = 0.0, significant: bool = False,
) -> Point:  # fmt: skip
    """The point of a value that has to keep its bounds.

    Parameters
    ----------
    neutral : the value of no difference (0 for differences, 1 for ratios). The opposite of a claim that a difference
        exceeds a bound is a difference on the other side of ``neutral``; without it, an interval beyond the bound
    errors : by how many standard errors of the value the bounds are loosened
    significant : the whole interval has to keep the bounds
    """
    slack = errors * estimate.error if errors and math.isfinite(estimate.error) else 0.0
    ends = (estimate.low, estimate.high) if significant else (estimate.value, estimate.value)
    holds = within._replace(low=within.low - slack, high=within.high + slack).contain(*ends)
    low, high, _ = within
    if neutral is not None and neutral < low:
        low, high = neutral, math.inf
    elif neutral is not None and neutral > high:
        low, high = -math.inf, neutral
    opposite = not holds and bool(estimate.high < low or estimate.low > high)
    reason = "too few repeats" if significant and math.isnan(estimate.low + estimate.high) else ""
    return point(where, estimate, within.margin, holds, what, text, opposite=opposite, reason=reason)


def agreeing(
    where: dict, estimate: Estimate, within: Bounds, what: str, text: str, practical: float = math.inf
) -> Point:
    """The point of a claim of no difference, which holds only if the whole interval keeps the bounds.

    It is open (``holds`` None) if the value keeps the bounds and its interval does not, or has no end. Nor does it hold
    beyond the ``practical`` margin: bounds that grow with the spread of the repeats would call any two methods the same
    given enough noise. A value beyond its bounds that has no interval must not decide: a range over many methods
    exceeds them by chance.
    """
    inside = within.contain(estimate.value, estimate.value)
    sure = within.contain(estimate.low, estimate.high) and Bounds(
        -math.inf if within.low == -math.inf else -practical, math.inf if within.high == math.inf else practical
    ).contain(estimate.low, estimate.high)
    outside = bool(estimate.high < within.low or estimate.low > within.high)
    holds = (True if sure else None) if inside else False
    reason = "too few repeats" if not inside and math.isnan(estimate.low) and math.isnan(estimate.high) else ""
    return point(where, estimate, within.margin, holds, what, text, opposite=outside, reason=reason)


def point(where, estimate: Estimate, margin: float, holds, what: str, text: str, *, opposite=False, reason="") -> Point:
    """A point of an estimate. It must not decide if the estimate has a reason, or the margin is a number of standard
    deviations that a single repeat does not have."""
    reason = estimate.reason or reason or ("a single repeat" if math.isnan(margin) else "")
    return Point(estimate.value, margin, holds, where, what, text, estimate.error, opposite, reason)


def flipped(estimate: Estimate, sign: float) -> Estimate:
    """The estimate of the negative value if ``sign`` is -1."""
    if sign > 0:
        return estimate
    return estimate._replace(value=-estimate.value, low=-estimate.high, high=-estimate.low)


def absolute(estimate: Estimate) -> Estimate:
    """The estimate of the absolute value."""
    ends = sorted((abs(estimate.low), abs(estimate.high)))
    low = 0.0 if estimate.low < 0 < estimate.high else ends[0]
    return estimate._replace(value=abs(estimate.value), low=low, high=ends[1])


def signed(value: float, metric: str) -> str:
    """A difference in words: points of a percentage to two decimals, other values to three digits."""
    if fact_of(metric).is_percentage:
        return f"{value:+.2f}"
    return ("+" if value > 0 else "") + number(value)


def with_interval(estimate: Estimate, metric: str) -> str:
    """A difference in words, with its interval if it has one."""
    text = signed(estimate.value, metric)
    if not math.isfinite(estimate.low + estimate.high):
        return text
    return f"{text} [{signed(estimate.low, metric)}, {signed(estimate.high, metric)}]"
