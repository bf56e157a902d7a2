"""The tests that several claims share: functions of the rows of a claim that return a part of its test.

Values are means over repeats (medians over rounds), as in the tests of the reference data. A side is a method
("slsrff", or "slsrff/identity" for a variant) or a ``Side``; several ``of`` are one comparison each. Differences are
printed so that more is better for the method that the claim is about; ratios are the first over the second. Bounds are
``above``, ``at_least``, ``below``, ``at_most`` or ``between``: numbers, or functions of the place.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np

from rfstudy.metrics import fact_of, lower_is_better
from rfstudy.report import estimates
from rfstudy.report.claims.bounds import (
    Bounds,
    absolute,
    agreeing,
    bounded,
    bounds,
    flipped,
    point,
    signed,
    with_interval,
)
from rfstudy.report.claims.points import Part, Point, number
from rfstudy.report.claims.rows import SIZE, Rows
from rfstudy.report.claims.samples import (
    Sample,
    Side,
    difference,
    quotient,
    rank_correlation,
    side,
    single,
    spread_of,
)
from rfstudy.report.compare import Estimate, is_effect
from rfstudy.report.estimates import SIGMAS, largest_half


def better(metric: str) -> float:
    """1 if a high value is good, -1 if a low one is."""
    return -1.0 if lower_is_better(metric) else 1.0


def sides(*given) -> list[Side]:
    """Sides that are given one by one, in sequences, or as None, as a list."""
    groups = [[each] if isinstance(each, str | Side) else each or [] for each in given]
    return [side(each) for group in groups for each in group]


def estimated(rows: Rows, metric: str, of, minus=None, over=None, by_repeat: bool = False) -> Iterator[tuple]:
    """Yield the value of each side ``of``, its difference ``minus`` another, or its ratio ``over`` another, at every
    place: the columns of the place, the estimate, the samples, the names of the sides, and the value in words. Times
    are compared round by round."""
    for one in sides(of):
        own = one.metric or metric
        if over is not None:
            other = side(over)
            what = f"{rows.name(one, own)}/{rows.name(other, own)}"
            if one.metric and other.metric:
                what = f"{rows.name(one)}, {fact_of(one.metric).label}/{fact_of(other.metric).label}"
            for where, samples in rows.places(metric, one, other, by_repeat=by_repeat):
                estimate = quotient(*samples, fact_of(own).unit == "s")
                if estimate is not None:
                    yield where, estimate, samples, what, number(estimate.value)
        elif minus is not None:
            what = f"{rows.name(one, own)} minus {rows.name(minus, own)}"
            for where, samples in rows.places(metric, one, minus, by_repeat=by_repeat):
                estimate = difference(*samples)
                yield where, estimate, samples, what, signed(estimate.value, own)
        else:
            for where, samples in rows.places(metric, one, by_repeat=by_repeat):
                estimate = single(*samples)
                yield where, estimate, samples, rows.name(one, own), number(estimate.value)


def along_sizes(found) -> list[list]:
    """What ``places`` or ``estimated`` yield, grouped by the place without its size, and by the names of the sides."""
    groups: dict[tuple, list] = {}
    for each in found:
        groups.setdefault((*each[3:4], *map(str, without_size(each[0]).values())), []).append(each)
    return list(groups.values())


def without_size(where: dict) -> dict:
    """A place without its size."""
    return {column: value for column, value in where.items() if column not in SIZE}


def keeps_bound(
    rows: Rows, metric: str, of, *, minus=None, over=None, size_alone: bool = False, by_repeat: bool = False,
    errors: float = 0.0, significant: bool = False, **limits,
) -> Part:  # fmt: skip
    """A value of each side ``of``, its difference ``minus`` another or its ratio ``over`` another keeps its bounds.

    Parameters
    ----------
    size_alone : the absolute value keeps them
    by_repeat : at every repeat, not in the mean
    errors, significant : see ``bounded``
    """
    neutral = 1.0 if over is not None else 0.0 if minus is not None else None
    points = []
    for where, estimate, _, what, text in estimated(rows, metric, of, minus, over, by_repeat):
        what = what if neutral is not None else f"{what} {fact_of(metric).label}"
        if size_alone:
            estimate = absolute(estimate)
            text = number(estimate.value) if minus is None else signed(estimate.value, metric)
        options = {"neutral": neutral, "errors": errors, "significant": significant}
        points.append(bounded(where, estimate, bounds(where, **limits), what, text, **options))
    return rows.part(points, metric, sides(of, minus, over))


def better_than(
    rows: Rows, metric: str, of, over, *, errors: float = 0.0, deviations: float = 0.0, effect: bool = False
) -> Part:
    """Each side ``of`` is better than the side ``over``.

    Parameters
    ----------
    errors, deviations : by more than so many standard errors, or pooled standard deviations
    effect : the difference has to pass the paired test and to exceed the smallest effect of the metric
    """
    points, sign = [], better(metric)
    for one in sides(of):
        first, second = (one, over) if sign > 0 else (over, one)  # the gain is printed
        for where, estimate, samples, what, text in estimated(rows, metric, first, minus=second):
            bound = errors * estimate.error if errors else deviations * spread_of(*samples) if deviations else 0.0
            found = bounded(where, estimate, Bounds(low=bound, is_open=True), what, text, neutral=0.0)
            points.append(_as_effect(found, estimate, metric) if effect else found)
    return rows.part(points, metric, sides(of, over), in_errors=bool(errors))


def _as_effect(found: Point, gain: Estimate, metric: str) -> Point:
    """The point of a gain that counts as an effect only; one that is large enough and has no test must not decide."""
    untested = found.holds and gain.value > fact_of(metric).smallest_effect and math.isnan(gain.p)
    reason = found.reason or ("too few repeats" if untested else "")
    holds = bool(found.holds) and (untested or is_effect(gain, metric))
    return replace(found, holds=holds, text=with_interval(gain, metric), reason=reason)


def no_difference(
    rows: Rows, metric: str, of, over=None, *, value: float = 0.0, errors: float = 0.0, deviations: float = 0.0,
) -> Part:  # fmt: skip
    """Each side ``of`` does not differ from the side ``over``, or from a value.

    Parameters
    ----------
    deviations : by more than so many pooled standard deviations, nor by more than the practical margin of the metric;
        the whole interval has to lie within
    errors : by more than so many standard errors: a test of the statistic itself, which asks for no interval
    """
    points = []
    for where, estimate, samples, what, _ in estimated(rows, metric, of, minus=over):
        estimate = estimate._replace(**{end: getattr(estimate, end) - value for end in ("value", "low", "high")})
        what, text = what if over else f"{what} {fact_of(metric).label}", with_interval(estimate, metric)
        if errors:
            margin = errors * estimate.error
            inside = abs(estimate.value) <= margin
            differs = estimate.low > 0 or estimate.high < 0
            opposite = not inside and differs and abs(estimate.value) > fact_of(metric).smallest_effect
            points.append(point(where, estimate, margin, inside, what, text, opposite=opposite))
        else:
            margin = deviations * spread_of(*samples)
            practical = fact_of(metric).margin(samples[-1].mean)
            points.append(agreeing(where, estimate, Bounds(-margin, margin), what, text, practical))
    return rows.part(points, metric, sides(of, over), in_errors=bool(errors))


def all_alike(rows: Rows, metric: str, among, *, margin: float | None = None, deviations: float = 0.0) -> Part:
    """The methods ``among`` differ by less than a margin, or by so many pooled standard deviations and no more than the
    practical margin of the metric."""
    points = []
    for where, samples in rows.places(metric, *among):
        points.append(range_of(where, samples, metric, margin, "range over the methods", deviations))
    return rows.part(points, metric, among)


def range_of(where: dict, samples: list[Sample], metric: str, margin, what: str, deviations: float = 0.0) -> Point:
    """The point of a range of samples: the largest mean minus the smallest. The upper end of its interval is the
    largest of all pairs, and missing if one of them has none."""
    order = sorted(samples, key=lambda each: each.mean)
    high = float(np.max([difference(two, one).high for one, two in combinations(order, 2)]))
    estimate = difference(order[-1], order[0])._replace(high=high)
    text = f"{estimate.value:.2f}" + (f" [to {high:.2f}]" if math.isfinite(high) else "")
    practical = math.inf if margin is not None else fact_of(metric).margin(order[0].mean)
    margin = deviations * spread_of(order[-1], order[0]) if margin is None else margin
    return agreeing(where, estimate, Bounds(high=margin, is_open=True), what, text, practical)


def is_best(rows: Rows, metric: str, best, among, *, deviations: float = 0.0) -> Part:
    """One of the methods ``best`` is better than all others ``among``, by more than so many pooled standard
    deviations."""
    best = sides(best)
    others = [each for each in sides(among) if each not in best]
    points, sign = [], better(metric)
    for where, samples in rows.places(metric, *best, *others):
        first, rival = (
            max(group, key=lambda each: sign * each.mean) for group in (samples[: len(best)], samples[len(best) :])
        )
        estimate = flipped(difference(first, rival), sign)
        winner = first if estimate.value >= 0 else rival
        text = f"{rows.name(_side_of(winner))} by {number(abs(estimate.value))}"
        within = Bounds(low=deviations * spread_of(first, rival) if deviations else 0.0, is_open=True)
        points.append(bounded(where, estimate, within, "lowest" if sign < 0 else "highest", text, neutral=0.0))
    return rows.part(points, metric, among)


def none_stands_out(rows: Rows, metric: str, among, *, over: str, is_open: bool = False) -> Part:
    """The best of the methods ``among`` is not better than their "median" or the "second" (``over``) by two pooled
    standard deviations, nor by the practical margin of the metric. With ``is_open`` not by exactly two either."""
    points, sign = [], better(metric)
    for where, samples in rows.places(metric, *among):
        order = sorted(samples, key=lambda each: -sign * each.mean)
        best, reference = order[0], order[1 if over == "second" else len(order) // 2]
        estimate, spread = flipped(difference(best, reference), sign), spread_of(best, reference)
        unit = f"{number(estimate.value / spread)} sd" if spread > 0 else number(estimate.value)
        text = f"{rows.name(_side_of(best))} by {unit}"
        within, practical = Bounds(high=2 * spread, is_open=is_open), fact_of(metric).margin(reference.mean)
        points.append(agreeing(where, estimate, within, f"best over the {over}", text, practical))
    return rows.part(points, metric, among)


def _side_of(sample: Sample) -> Side:
    return Side((sample.who,))


def falls_by_step(rows: Rows, metric: str, of, *, over=None, errors: float = 0.0) -> Part:
    """A value of each side ``of``, or its ratio ``over`` another, falls from each size to the next; with ``errors`` it
    does not rise by more than so many standard errors of the step."""
    points = []
    for steps in along_sizes(estimated(rows, metric, of, over=over)):
        for (_, before, *_), (where, after, _, what, _) in pairwise(steps):
            known = [each.error for each in (before, after) if math.isfinite(each.error)]
            change, slack = before.value - after.value, errors * math.hypot(*known)
            step = Estimate(change, reason=before.reason or after.reason)
            holds, opposite = change >= -slack if errors else change > 0, after.low > before.high
            points.append(point(where, step, -slack, holds, f"{what}, step", number(-change), opposite=opposite))
    return rows.part(points, metric, sides(of, over))


def changes(
    rows: Rows, metric: str, of, *, start, end, over=None, minus=None, falls: bool = False, floor: float = -math.inf,
    by: float = 0.0,
) -> Part:  # fmt: skip
    """A quantity of each side ``of`` rises (or ``falls``) from the sizes ``start`` to the sizes ``end``.

    Their means count, of ratios the geometric ones. "first" and "last" are the smallest and the largest size.

    Parameters
    ----------
    floor : a start below it counts as it: a gap that stays a loss has not grown
    by : the smallest change
    """
    points = [
        found
        for of_place in along_sizes(estimated(rows, metric, of, minus, over))
        for found in _change(of_place, metric, start, end, over is not None, -1.0 if falls else 1.0, floor, by)
    ]
    return rows.part(points, metric, sides(of, minus, over))


def _change(found: list[tuple], metric, start, end, is_ratio: bool, sign: float, floor, by) -> list[Point]:
    by_size = {where["n_features_label"]: estimate for where, estimate, *_ in found}
    labels = list(by_size)
    named = {"first": labels[:1], "last": labels[-1:]}
    first, last = (named.get(each, [each]) if isinstance(each, str) else list(each) for each in (start, end))
    if not set(first + last) <= set(labels) or set(first) & set(last):
        return []
    values = [np.array([by_size[size].value for size in group]) for group in (first, last)]
    before, after = (float(np.exp(np.mean(np.log(each))) if is_ratio else np.mean(each)) for each in values)
    reason = next((reason for size in first + last if (reason := by_size[size].reason)), "")
    opposite = False
    if len(first) == len(last) == 1:
        low, high = by_size[first[0]], by_size[last[0]]
        opposite = high.high < max(low.low, floor) if sign > 0 else high.low > low.high
    text = [number(each) if is_ratio else signed(each, metric) for each in (before, after)]
    text = f"{'+'.join(first)} {text[0]} to {'+'.join(last)} {text[1]}"
    change, (where, _, _, what, _) = Estimate(sign * (after - max(before, floor)), reason=reason), found[0]
    holds = change.value > by
    return [point(without_size(where), change, by, holds, what, text, opposite=bool(opposite))]


def fits_power(
    rows: Rows, metric: str, of, along: str, *, by: str = "", held: str = "", half: bool = False,
    neutral: float | None = None, errors: float = 0.0, **limits,
) -> Part:  # fmt: skip
    """The power with which each side ``of`` grows along a column keeps its bounds, by least squares on logarithms.

    Parameters
    ----------
    by : a column; one fit for each of its values
    held : a column; only the rows with the value that has the most of ``along`` count
    half : only the larger half of ``along`` counts, where an asymptotic power shows
    neutral, errors : see ``bounded``
    """
    points, symbol = [], "s" if along == "n_features" else "n"
    for one in sides(of):
        frame, what = rows.measured(metric, [one]), f"{rows.name(one)}, {fact_of(metric).label}, power of {symbol}"
        for value, cell in frame.groupby(by) if by else [(None, frame)]:
            cell = with_most(cell, held, along)
            cell, where = cell[cell["value"] > 0], {by: value} if by else {}
            found = fitted(cell[along], cell["value"], "" if by else symbol, half)
            if found:
                power, text = found
                within = bounds(where, **limits)
                points.append(bounded(where, power, within, what, text, neutral=neutral, errors=errors))
    return rows.part(points, metric, sides(of), always=(by,) if by else ())


def with_most(frame, held: str, along: str):
    """The rows with the one value of a column that has the most values of another; all without a column."""
    return frame[frame[held] == frame.groupby(held)[along].nunique().idxmax()] if held and len(frame) else frame


def fitted(x, y, symbol: str = "", half: bool = False) -> tuple[Estimate, str] | None:
    """The power with which y (n,) grows with x (n,), both positive, with the interval of ``SIGMAS`` errors; and in
    words, with the range of x if it has a symbol. None if they are too few. With ``half``, only the larger half of x
    counts."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    keep = np.isin(x, largest_half(x)) if half and len(x) else slice(None)
    x, y = x[keep], y[keep]
    power = estimates.power_law(x, y)
    if power is None:
        return None
    spread = SIGMAS * power.error
    text = f"{power} for {symbol} = {x.min():g} to {x.max():g}" if symbol else str(power)
    return power._replace(low=power.value - spread, high=power.value + spread), text


def correlates_with_size(rows: Rows, metric: str, of, *, sign: float) -> Part:
    """The rank correlation of a metric of each side ``of`` with the number of features is positive or negative."""
    points = []
    for one in sides(of):
        for found in along_sizes(rows.places(metric, one)):
            if len(found) < 3:
                continue
            estimate = rank_correlation(range(len(found)), [sample.mean for _, (sample,) in found], sign)
            text, what = f"{sign * estimate.value:+.2f}", f"rank correlation of {fact_of(metric).label} with s"
            where = without_size(found[0][0]) | {"side": rows.name(one)}
            made = bounded(where, estimate, Bounds(low=0.0, is_open=True), what, text, neutral=0.0)
            points.append(replace(made, value=sign * estimate.value))
    return rows.part(points, metric, sides(of))
