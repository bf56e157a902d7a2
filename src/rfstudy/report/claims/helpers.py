"""The tests that several claims share: functions of the rows of a claim that return a part of its test.

Values are means over repeats (medians over rounds), as in the tests of the reference data. A side is a method
("slsrff", or "slsrff/identity" for a variant) or a ``Side``. Several sides in ``of`` are one comparison each.
Differences have a sign such that more is better for the method that the claim is about; ratios are the first over the
second. Limits are ``above``, ``at_least``, ``below``, ``at_most`` or ``between``: numbers, or functions of the
coordinates.
"""

import math
import operator
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np

from rfstudy.metrics import fact_of, lower_is_better
from rfstudy.report.catalogue import as_list
from rfstudy.report.claims.points import Part, Point, number
from rfstudy.report.claims.rows import SIZE, Rows
from rfstudy.report.claims.samples import Sample, difference, quotient, rank_correlation, shifted, sides, spread_of
from rfstudy.report.compare import Estimate
from rfstudy.report.estimates import SIGMAS, largest_half, power_law, varying

# --- from an estimate to a point --------------------------------------------------------------------------------------


def point(where, estimate: Estimate, holds, what: str, text: str, *, margin=0.0, opposite=False, reason="") -> Point:
    """Return the point of an estimate.

    It must not decide if the estimate has a reason, or if the margin is a number of standard deviations that a single
    repeat does not have.
    """
    reason = estimate.reason or reason or ("a single repeat" if math.isnan(margin) else "")
    return Point(estimate.value, holds, where, what, text, margin, estimate.error, opposite, reason)


def bounded(
    where: dict, estimate: Estimate, what: str, text: str = "", *, neutral: float | None = None, errors: float = 0.0,
    significant: bool = False, agree: bool = False, practical: float = math.inf, **limits,
) -> Point:  # fmt: skip
    """Return the point of a value that has to keep its limits.

    Parameters
    ----------
    neutral : the value of no difference (0 for differences, 1 for ratios). The opposite of a claim that a difference
        exceeds a bound is a difference on the other side of ``neutral``; without it, an interval beyond the bound
    errors : by how many standard errors of the value the bounds are relaxed
    significant : the whole interval has to keep the bounds
    agree : a claim of no difference, which holds only if the whole interval keeps its limits. It is open (``holds``
        None) if the value keeps them and its interval does not, or has no end. A value beyond its limits without an
        interval must not decide: a range over many methods exceeds them by chance
    practical : the margin beyond which such a claim does not hold either: with enough noise, limits that grow with the
        spread of the repeats would call any two methods the same
    """
    low, high, is_open = _bounds(where, **limits)
    interval = estimate.low, estimate.high
    slack = errors * estimate.error if errors and math.isfinite(estimate.error) else 0.0
    ends = interval if significant else (estimate.value, estimate.value)
    holds = _contain(low - slack, high + slack, is_open, *ends)
    lacks_interval = significant and math.isnan(sum(interval))
    if agree:
        lacks_interval = not holds and all(map(math.isnan, interval))
        narrow = [end if math.isinf(end) else max(-practical, min(end, practical)) for end in (low, high)]
        holds = holds and (_contain(*narrow, is_open, *interval) or None)
    margin = low if high == math.inf else high
    if neutral is not None and not low <= neutral <= high:
        low, high = (neutral, math.inf) if neutral < low else (-math.inf, neutral)
    opposite = not holds and bool(estimate.high < low or estimate.low > high)
    reason = "too few repeats" if lacks_interval else ""
    return point(where, estimate, holds, what, text, margin=margin, opposite=opposite, reason=reason)


def _bounds(where: dict, above=None, below=None, at_least=None, at_most=None, between=None) -> tuple:
    """Return the smallest and the largest value at a point, and whether they are excluded.

    Limits are numbers or functions of the coordinates; ``between`` is a pair of numbers.
    """
    low, high = between or (above if at_least is None else at_least, below if at_most is None else at_most)
    low, high = (bound(where) if callable(bound) else bound for bound in (low, high))
    is_open = above is not None or below is not None
    return -math.inf if low is None else float(low), math.inf if high is None else float(high), is_open


def _contain(smallest: float, largest: float, is_open: bool, low: float, high: float) -> bool:
    """Return whether bounds contain an interval; an end without a bound does not matter."""
    beyond = operator.gt if is_open else operator.ge
    return bool((smallest == -math.inf or beyond(low, smallest)) and (largest == math.inf or beyond(largest, high)))


def signed(value: float, metric: str) -> str:
    """Return a difference in words: points of a percentage to two decimals, other values to three digits."""
    return f"{value:+.2f}" if fact_of(metric).is_percentage else ("+" if value > 0 else "") + number(value)


def with_interval(estimate: Estimate, metric: str) -> str:
    """Return a difference in words, or a ratio (``metric`` is empty), with its interval if it has one."""
    value, low, high = (signed(each, metric) if metric else number(each) for each in estimate[:3])
    return f"{value} [{low}, {high}]" if math.isfinite(estimate.low + estimate.high) else value


# --- what is compared -------------------------------------------------------------------------------------------------


def better(metric: str) -> int:
    """Return 1 if a high value is good, -1 if a low one is."""
    return -1 if lower_is_better(metric) else 1


def estimated(rows: Rows, metric: str, of, minus=None, over=None, by_repeat: bool = False) -> Iterator[tuple]:
    """Yield the value of each side ``of``, its difference ``minus`` another, or its ratio ``over`` another.

    Every item holds the coordinates by column, the estimate, the samples, the names of the sides, and the value in
    words. Times are compared round by round.
    """
    for one in sides(of):
        own, other = fact_of(one.metric or metric), minus or over
        what = f"{rows.name(one)} {own.label}"
        if minus:
            what = f"{rows.name(one)} minus {rows.name(minus)}"
        elif over and one.metric:
            what = f"{rows.name(one)}, {own.label}/{fact_of(over.metric).label}"
        elif over:
            what = f"{rows.name(one)}/{rows.name(over)}"
        for where, samples in rows.places(metric, one, other, by_repeat=by_repeat):
            estimate = quotient(*samples) if over else difference(*samples)
            if estimate is not None:
                text = signed(estimate.value, one.metric or metric) if minus else number(estimate.value)
                yield where, estimate, samples, what, text


def along_sizes(found) -> list[tuple[dict, list]]:
    """Return the results of ``places`` or ``estimated`` by the names of the sides and the coordinates but the size.

    The size comes first.
    """
    groups: dict[tuple, tuple[dict, list]] = {}
    for each in found:
        place = {column: value for column, value in each[0].items() if column not in SIZE}
        groups.setdefault((*each[3:4], *map(str, place.values())), (place, []))[1].append(each)
    return list(groups.values())


# --- tests ------------------------------------------------------------------------------------------------------------


def keeps_bound(rows: Rows, metric: str, of, *, minus=None, over=None, agree=False, by_repeat=False, **bounds) -> Part:
    """Test whether each side ``of``, its difference ``minus`` or its ratio ``over`` another keeps its limits.

    Parameters
    ----------
    agree : a claim of no difference, see ``bounded``
    by_repeat : at every repeat, not in the mean
    bounds : limits, ``errors`` and ``significant``, see ``bounded``
    """
    neutral, points = 1.0 if over else 0.0 if minus else None, []
    for where, estimate, _, what, text in estimated(rows, metric, of, minus, over, by_repeat):
        text = with_interval(estimate, metric if minus else "") if agree else text
        points.append(bounded(where, estimate, what, text, neutral=neutral, agree=agree, **bounds))
    return rows.part(points, metric, of, minus, over)


def better_than(
    rows: Rows, metric: str, of, over, *, errors: float = 0.0, deviations: float = 0.0, effect: bool = False
) -> Part:
    """Test whether each side ``of`` is better than the side ``over``.

    Parameters
    ----------
    errors, deviations : by more than so many standard errors, or pooled standard deviations
    effect : the difference has to pass the paired test and to exceed the smallest effect of the metric
    """
    points = []
    for one in sides(of):
        first, second = (one, over)[:: better(metric)]  # the gain is shown
        for where, gain, samples, what, text in estimated(rows, metric, first, minus=second):
            margin = errors * gain.error if errors else deviations * spread_of(*samples) if deviations else 0.0
            margin = fact_of(metric).smallest_effect if effect else margin
            found = bounded(where, gain, what, text, above=margin, neutral=0.0)
            if effect:
                untested = "too few repeats" if found.holds and math.isnan(gain.low) else ""
                shown, reason = found.holds and not gain.low <= 0, found.reason or untested
                found = replace(found, holds=shown, text=with_interval(gain, metric), reason=reason)
            points.append(found)
    return rows.part(points, metric, of, over, in_errors=bool(errors))


def no_difference(
    rows: Rows, metric: str, of, over=None, *, value: float = 0.0, errors: float = 0.0, deviations: float = 0.0,
) -> Part:  # fmt: skip
    """Test whether each side ``of`` does not differ from the side ``over``, or from a value.

    Parameters
    ----------
    deviations : by more than so many pooled standard deviations, nor by more than the practical margin of the metric;
        the whole interval has to lie within
    errors : by more than so many standard errors: a test of the statistic itself, which asks for no interval
    """
    points, fact = [], fact_of(metric)
    for where, estimate, samples, what, _ in estimated(rows, metric, of, minus=over):
        estimate = shifted(estimate, estimate.value - value)
        text, size = with_interval(estimate, metric), abs(estimate.value)
        if errors:
            margin, differs = errors * estimate.error, estimate.low > 0 or estimate.high < 0
            opposite = differs and size > max(margin, fact.smallest_effect)
            points.append(point(where, estimate, size <= margin, what, text, margin=margin, opposite=opposite))
        else:
            margin = deviations * spread_of(*samples)
            limits = {"between": (-margin, margin), "practical": fact.margin(samples[-1].mean)}
            points.append(bounded(where, estimate, what, text, agree=True, **limits))
    return rows.part(points, metric, of, over, in_errors=bool(errors))


def all_alike(rows: Rows, metric: str, among, *, margin: float | None = None) -> Part:
    """Test whether the methods ``among`` differ by less than a margin.

    Without one, they have to differ by less than two pooled standard deviations and by no more than the practical
    margin of the metric.
    """
    points = [range_of(*place, metric, margin, "range over the methods") for place in rows.places(metric, *among)]
    return rows.part(points, metric, among)


def range_of(where: dict, samples: list[Sample], metric: str, margin: float | None, what: str) -> Point:
    """Return the point of a range of samples: the largest mean minus the smallest.

    The upper end of its interval is the largest of all pairs. It is missing if one of them has none.
    """
    order = sorted(samples, key=lambda each: each.mean)
    high = float(np.max([difference(two, one).high for one, two in combinations(order, 2)]))
    estimate = difference(order[-1], order[0])._replace(high=high)
    text = f"{estimate.value:.2f}" + (f" [to {high:.2f}]" if math.isfinite(high) else "")
    practical = math.inf if margin else fact_of(metric).margin(order[0].mean)
    below = margin or 2 * spread_of(order[-1], order[0])
    return bounded(where, estimate, what, text, agree=True, practical=practical, below=below)


def is_best(rows: Rows, metric: str, best, among, *, deviations: float = 0.0, trials: int = 1) -> Part:
    """Test whether one of the methods ``best`` is better than all others ``among``.

    The difference has to exceed so many pooled standard deviations. Points with fewer ``trials`` must not decide.
    """
    best = sides(best)
    others = [each for each in sides(among) if each not in best]
    points, sign = [], better(metric)
    for where, samples in rows.places(metric, best, others):
        groups = samples[: len(best)], samples[len(best) :]
        first, rival = (max(group, key=lambda each: sign * each.mean) for group in groups)
        gain = difference(*(first, rival)[::sign])
        if len(first.values) < trials:
            gain = gain._replace(reason="a single trial")
        winner = rows.name("/".join((first if gain.value >= 0 else rival).who))
        above = deviations * spread_of(first, rival) if deviations else 0.0
        what, text = "lowest" if sign < 0 else "highest", f"{winner} by {number(abs(gain.value))}"
        points.append(bounded(where, gain, what, text, above=above, neutral=0.0))
    return rows.part(points, metric, among)


def none_stands_out(rows: Rows, metric: str, among, *, over: str, is_open: bool = False) -> Part:
    """Test whether the best of the methods ``among`` is not better than their "median" or the "second" (``over``).

    The limits are two pooled standard deviations and the practical margin of the metric. With ``is_open``, a difference
    of exactly two deviations does not pass either.
    """
    points, sign = [], better(metric)
    for where, samples in rows.places(metric, among):
        order = sorted(samples, key=lambda each: -sign * each.mean)
        best, reference = order[0], order[1 if over == "second" else len(order) // 2]
        gain, spread = difference(*(best, reference)[::sign]), spread_of(best, reference)
        unit = f"{number(gain.value / spread)} sd" if spread > 0 else number(gain.value)
        what, text = f"best over the {over}", f"{rows.name('/'.join(best.who))} by {unit}"
        limits = {"below" if is_open else "at_most": 2 * spread, "practical": fact_of(metric).margin(reference.mean)}
        points.append(bounded(where, gain, what, text, agree=True, **limits))
    return rows.part(points, metric, among)


def changes(
    rows: Rows, metric: str, of, *, start=None, end=None, over=None, minus=None, falls: bool = False,
    floor: float = -math.inf, by: float = 0.0, errors: float = 0.0,
) -> Part:  # fmt: skip
    """Test whether a quantity of each side ``of`` rises (or ``falls``) along the sizes.

    The steps are from the sizes ``start`` to the sizes ``end``, or from each size to the next.

    Means over the sizes are compared, geometric means for ratios. "first" and "last" are the smallest and the largest
    size.

    Parameters
    ----------
    floor : a start below it is replaced by it: a gap that remains a loss has not grown
    by : the smallest change
    errors : the quantity does not change by more than so many standard errors in the other direction
    """
    points, sign = [], -1.0 if falls else 1.0
    for where, found in along_sizes(estimated(rows, metric, of, minus, over)):
        what = found[0][3]
        for first, last in _ends(found, start, end):
            before, after = (_mean([each[1] for each in group], over is not None) for group in (first, last))
            change = Estimate(sign * (after.value - max(before.value, floor)), reason=before.reason or after.reason)
            slack = errors * math.hypot(*(each.error for each in (before, after) if math.isfinite(each.error)))
            holds = change.value >= -slack if errors else change.value > by
            opposite = after.high < max(before.low, floor) if sign > 0 else after.low > before.high
            if start:
                sizes = ["+".join(each[0]["n_features_label"] for each in group) for group in (first, last)]
                values = [number(end.value) if over else signed(end.value, metric) for end in (before, after)]
                place, kind, text = where, "change", f"{sizes[0]} {values[0]} to {sizes[1]} {values[1]}"
            else:
                place, kind, text = last[0][0], "step", number(after.value - before.value)
            points.append(point(place, change, holds, f"{what}, {kind}", text, margin=-slack, opposite=opposite))
    return rows.part(points, metric, of, minus, over)


def _ends(found: list, start, end) -> list[tuple[list, list]]:
    """Return the yield of ``estimated`` at one point, grouped to the pairs of ends that are compared."""
    if start is None:
        return [([one], [two]) for one, two in pairwise(found)]
    by_size = {each[0]["n_features_label"]: each for each in found}
    sizes = list(by_size)
    named = {"first": sizes[:1], "last": sizes[-1:]}
    first, last = (as_list(named.get(each, each)) for each in (start, end))
    known = {*first, *last} <= set(sizes) and not set(first) & set(last)
    return [tuple([by_size[size] for size in group] for group in (first, last))] if known else []


def _mean(group: list[Estimate], is_ratio: bool) -> Estimate:
    """Return the mean of estimates, geometric for ratios; several estimates have no interval."""
    if len(group) == 1:
        return group[0]
    values = np.array([each.value for each in group])
    mean = np.exp(np.mean(np.log(values))) if is_ratio else np.mean(values)
    return Estimate(float(mean), reason=next((each.reason for each in group if each.reason), ""))


def fits_power(rows: Rows, metric: str, of, along: str, *, by="", held="", half=False, **bounds) -> Part:
    """Test whether the power with which each side ``of`` grows along a column keeps its limits.

    The fit is least squares on logarithms.

    Parameters
    ----------
    by : a column; one fit for each of its values
    held : a column; only the rows with the value that has the most of ``along`` count
    half : only the larger half of ``along`` is used, where an asymptotic power shows
    bounds : limits, ``neutral`` and ``errors``, see ``bounded``
    """
    points, symbol = [], "s" if along == "n_features" else "n"
    for one in sides(of):
        frame, what = rows.measured(metric, one), f"{rows.name(one)}, {fact_of(metric).label}, power of {symbol}"
        frame = varying(frame, metric, along, held) if held else frame
        for value, cell in frame.groupby(by) if by else [("", frame)]:
            cell, where = cell[cell["value"] > 0], {by: value} if by else {}
            cell = cell[cell[along].isin(largest_half(cell[along]))] if half and len(cell) else cell
            points += power_between(where, what, cell[along], cell["value"], "" if by else symbol, **bounds)
    return rows.part(points, metric, of)


def power_between(where: dict, what: str, x, y, symbol: str = "", **bounds) -> list[Point]:
    """Return the point of the power with which y (n,) grows with x (n,), both positive; none of too few values.

    The interval is ``SIGMAS`` errors to each side. The words include the range of x if it has a symbol.
    """
    power = power_law(x, y)
    if power is None:
        return []
    spread = SIGMAS * power.error
    text = f"{power} for {symbol} = {min(x):g} to {max(x):g}" if symbol else str(power)
    power = power._replace(low=power.value - spread, high=power.value + spread)
    return [bounded(where, power, what, text, **bounds)]


def correlates_with_size(rows: Rows, metric: str, of, **limits) -> Part:
    """Test whether the rank correlation of a metric of each side ``of`` with the size keeps its limits."""
    points, what = [], f"rank correlation of {fact_of(metric).label} with s"
    for one in sides(of):
        for where, found in along_sizes(rows.places(metric, one)):
            if len(found) >= 3:
                rho = rank_correlation(range(len(found)), [sample.mean for _, (sample,) in found])
                where = where | {"side": rows.name(one)}
                points.append(bounded(where, rho, what, f"{rho.value:+.2f}", neutral=0.0, **limits))
    return rows.part(points, metric, of)
