"""Whether an estimate keeps the border of a test, and whether it shows the opposite."""

from __future__ import annotations

import math

from rfstudy.report.claims.compared import BORDERS, Estimate, formula
from rfstudy.report.claims.points import Point


def bounds_of(test: dict, where: dict, scales: dict | None = None) -> list[tuple[str, float]]:
    """The borders of a test at one place, each as its kind and value.

    A bound is a number; a formula of the columns of the place (``6 * at / sqrt(d)``); or so many of a unit that
    ``scales`` has there: ``pooled_sd``, ``standard_errors``.
    """
    if "between" in test:
        return list(zip(("at_least", "at_most"), test["between"], strict=True))
    found = []
    for kind in BORDERS:
        bound = test.get(kind)
        if isinstance(bound, dict):
            ((unit, times),) = bound.items()
            bound = times * scales[unit]
        elif isinstance(bound, str):
            bound = formula(bound, where)
        if bound is not None:
            found.append((kind, float(bound)))
    return found


def judged(test: dict, estimate: Estimate, bounds: list[tuple[str, float]], neutral: float | None) -> dict:
    """``margin``, ``holds`` and ``opposite`` of a value that has to keep its bounds; ``aside`` if nothing can be said.

    ``tolerance`` loosens a bound by so many standard errors of the value; ``significant`` asks for the whole interval.
    ``neutral`` is the value of no difference, 0 for differences, 1 for ratios, or as the test says: a claim that a
    difference is larger than some bound is contradicted only by one on the other side of it.
    """
    holds, opposite = True, False
    neutral = test.get("neutral", neutral)
    slack = test.get("tolerance", 0.0) * (estimate.error if math.isfinite(estimate.error) else 0.0)
    for kind, bound in bounds:
        at_least = kind in ("above", "at_least")
        loosened = bound - slack if at_least else bound + slack
        end = (estimate.low if at_least else estimate.high) if test.get("significant") else estimate.value
        holds = holds and bool(BORDERS[kind](end, loosened))
        beyond = bound if neutral is None else min(bound, neutral) if at_least else max(bound, neutral)
        opposite = opposite or bool(estimate.high < beyond if at_least else estimate.low > beyond)
    if len(bounds) == 2 and neutral is not None:
        # a difference of a stated size: more of it is not its opposite
        low, high = sorted(bound for _, bound in bounds)
        if neutral < low:
            opposite = bool(estimate.high < neutral)
        elif neutral > high:
            opposite = bool(estimate.low > neutral)
    verdict = {"margin": bounds[0][1], "holds": holds, "opposite": opposite and not holds}
    if test.get("significant") and math.isnan(estimate.low + estimate.high):
        verdict["aside"] = "too few repeats"
    return verdict


def agrees(estimate: Estimate, bounds: list[tuple[str, float]], practical: float = math.inf) -> dict:
    """As ``judged``, for a claim of no difference: it holds with its whole interval only, and is open where the value
    keeps the bounds and the interval, or what is known of it, does not.

    Nor does it hold beyond the ``practical`` margin of what is compared: bounds that grow with the spread of the
    repeats would call any two methods the same if only there were noise enough. A value that lies beyond its bounds and
    has no interval cannot speak: a range over many methods does so by chance.
    """
    inside = all(BORDERS[kind](estimate.value, bound) for kind, bound in bounds)
    ends = [estimate.low if kind in ("above", "at_least") else estimate.high for kind, _ in bounds]
    sure = all(
        BORDERS[kind](end, bound) and abs(end) <= practical for (kind, bound), end in zip(bounds, ends, strict=True)
    )
    outside = any(
        estimate.high < bound if kind in ("above", "at_least") else estimate.low > bound for kind, bound in bounds
    )
    verdict = {"margin": bounds[0][1], "holds": (True if sure else None) if inside else False, "opposite": outside}
    if not inside and math.isnan(estimate.low) and math.isnan(estimate.high):
        verdict["aside"] = "too few repeats"
    return verdict


def unbreakable(largest: list[str], where: dict, bounds: list[tuple[str, float]]) -> bool:
    """Whether the upper bounds of a test leave room for all that a value can be at a place: at most the smallest of the
    formulas ``largest``."""
    most = min((formula(each, where) for each in largest), default=math.inf)
    return all(kind in ("below", "at_most") and most <= bound for kind, bound in bounds)


def as_effect(verdict: dict, estimate: Estimate, smallest: float) -> dict:
    """A verdict under which a difference counts only as an effect (``is_effect``): its interval lies above zero and
    itself above the ``smallest`` one. One that is large enough and has no interval cannot speak."""
    large = verdict["holds"] and estimate.value > smallest
    if large and math.isnan(estimate.low):
        return verdict | {"aside": "too few repeats"}
    return verdict | {"holds": large and estimate.low > 0}


def point(where: dict, estimate: Estimate, what: str, told: str, verdict: dict) -> Point:
    """One point; the columns of its place are put into words by ``named``. A margin of standard deviations that are not
    known sets it aside.
    """
    told_aside = verdict.get("aside", "") or ("a single repeat" if math.isnan(verdict["margin"]) else "")
    verdict = verdict | {"aside": estimate.aside or told_aside}
    return Point(
        where=where, difference=estimate.value, what=what, told=told, low=estimate.low, high=estimate.high,
        error=estimate.error, **verdict,
    )  # fmt: skip


def flipped(estimate: Estimate, sign: float) -> Estimate:
    """The estimate of the negative difference for sign -1."""
    if sign > 0:
        return estimate
    return estimate._replace(value=-estimate.value, low=-estimate.high, high=-estimate.low)


def size_of(estimate: Estimate) -> Estimate:
    """The estimate of the absolute value."""
    ends = sorted((abs(estimate.low), abs(estimate.high)))
    low = 0.0 if estimate.low < 0 < estimate.high else ends[0]
    return estimate._replace(value=abs(estimate.value), low=low, high=ends[1])


def apart(before: Estimate, after: Estimate, sign: float) -> bool:
    """Whether the intervals of two estimates, of which the second should be the larger (``sign`` 1) or the smaller one,
    lie apart in the other order."""
    return bool(after.high < before.low if sign > 0 else after.low > before.high)
