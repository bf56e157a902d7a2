"""The ten forms of a claim: each a sentence with blanks, which an entry of ``config/claims/<paper>.yaml`` fills in.

A form is a function of the rows, the entry's test and the names; it returns points (``points.py``). Before it stands
the literal schema of its keys, by its name in capitals; ``with`` names keys that several forms share (``entries.py``).
Values are means over repeats (medians over rounds), as in the tests of the
reference data; ``significant: true`` asks for the whole interval beyond the border, and a claim of no difference
(``within``, ``none_stands_out``) holds only where the whole interval is within its margin, and within the practical one
of the metric where its margin is so many standard deviations. Differences are told so that more is better for the
method that the claim is about; ratios are the first over the second.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd

from rfstudy.metrics import fact_of, lower_is_better
from rfstudy.report import estimates
from rfstudy.report.claims.borders import (
    agrees,
    apart,
    as_effect,
    bounds_of,
    flipped,
    judged,
    point,
    size_of,
    unbreakable,
)
from rfstudy.report.claims.compared import (
    BORDERS,
    LEVEL,
    SIZE,
    Estimate,
    Found,
    Names,
    Sample,
    Side,
    difference,
    fisher,
    interval,
    of_methods,
    places,
    pooled_deviation,
    positive,
    quotient,
    rows_of,
    side,
    sides,
    single,
    spearman,
)
from rfstudy.report.claims.points import Point, number
from rfstudy.report.claims.words import signed
from rfstudy.report.compare import holm
from rfstudy.report.estimates import SIGMAS, largest_half
from rfstudy.report.notes import LEARNER_NAMES


def better(metric: str) -> float:
    """1 where a high value is good, -1 where a low one is."""
    return -1.0 if lower_is_better(metric) else 1.0


def found_for(rows: pd.DataFrame, test: dict, names: Names, wanted: list[Side]) -> Iterator[Found]:
    """The places of a test at which all of its sides were measured."""
    return places(rows_of(rows, test, wanted), wanted, test, names)


def is_time(metric: str) -> bool:
    """Whether a metric is a time."""
    return fact_of(metric).unit == "s"


def practical_margin(test: dict, reference: Sample) -> float:
    """The practical margin of the metric at a value that others are compared with, for a test whose margin is so many
    standard deviations; infinite for any other."""
    in_deviations = any(isinstance(test.get(kind), dict) and "pooled_sd" in test[kind] for kind in BORDERS)
    return fact_of(test["metric"]).margin(reference.mean) if in_deviations else math.inf


# best_is

BEST_IS = {
    "with": ["metric"],
    "properties": {
        "best": {"$ref": "#/$defs/sides"},
        "among": {"$ref": "#/$defs/sides"},
        "by": {"$ref": "#/$defs/bound"},
    },
    "required": ["best", "among"],
}


def best_is(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """One of the methods ``best`` is better than every other of ``among`` at every place, by more than ``by``."""
    own, among = sides(test["best"]), sides(test["among"])
    others = [each for each in among if each not in own]
    found, sign = [], better(test["metric"])
    for where, samples in found_for(rows, test, names, own + others):
        first = max(samples[: len(own)], key=lambda each: sign * each.mean)
        rival = max(samples[len(own) :], key=lambda each: sign * each.mean)
        estimate = flipped(difference(first, rival), sign)
        winner = max(samples, key=lambda each: sign * each.mean)
        bounds = bounds_of({"above": test.get("by", 0)}, where, {"pooled_sd": pooled_deviation(first, rival)})
        what = "lowest" if sign < 0 else "highest"
        told = f"{names.method(winner.who)} by {number(abs(estimate.value))}"
        found.append(point(where, estimate, what, told, judged(test, estimate, bounds, 0.0)))
    return found


# none_stands_out

NONE_STANDS_OUT = {
    "with": ["metric", "bounds"],
    "properties": {"among": {"$ref": "#/$defs/sides"}, "against": {"enum": ["second", "median"]}},
    "required": ["among", "against"],
}


def none_stands_out(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """The best of ``among`` is not better than the ``second`` or the ``median`` of them by a margin, at any place."""
    found, sign = [], better(test["metric"])
    for where, samples in found_for(rows, test, names, sides(test["among"])):
        order = sorted(samples, key=lambda each: -sign * each.mean)
        best, reference = order[0], order[1 if test["against"] == "second" else len(order) // 2]
        estimate = flipped(difference(best, reference), sign)
        deviation = pooled_deviation(best, reference)
        bounds = bounds_of(test, where, {"pooled_sd": deviation})
        verdict = agrees(estimate, bounds, practical_margin(test, reference))
        in_deviations = f"{names.method(best.who)} by {number(estimate.value / deviation)} sd" if deviation > 0 else ""
        told = in_deviations or f"{names.method(best.who)} by {number(estimate.value)}"
        found.append(point(where, estimate, f"best over the {test['against']}", told, verdict))
    return found


# beats

BEATS = {
    "with": ["metric", "errors"],
    "properties": {
        "of": {"$ref": "#/$defs/sides"},
        "over": {"$ref": "#/$defs/side"},
        "by": {"$ref": "#/$defs/bound"},
        "effect": {"const": True},
    },
    "required": ["of", "over"],
}


def beats(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """Each of the sides ``of`` is better than the side ``over``, by more than ``by`` (0).

    Where an ``effect`` is asked for, the difference has to pass the paired test and to exceed the smallest effect of
    the metric.
    """
    found, sign = [], better(test["metric"])
    for one in sides(test["of"]):
        other = side(test["over"])
        gains = (one, other) if sign > 0 else (other, one)  # what is told is the gain
        what = " minus ".join(names.side(each, test["metric"]) for each in gains)
        for where, (first, second) in found_for(rows, test, names, [one, other]):
            estimate = flipped(difference(first, second), sign)
            scales = {"standard_errors": estimate.error, "pooled_sd": pooled_deviation(first, second)}
            bounds = bounds_of({"above": test.get("by", 0)}, where, scales)
            told, verdict = signed(estimate.value, test["metric"]), judged(test, estimate, bounds, 0.0)
            if test.get("effect"):
                told = _with_interval(estimate, test["metric"])
                verdict = as_effect(verdict, estimate, fact_of(test["metric"]).smallest_effect)
            found.append(point(where, estimate, what, told, verdict))
    return found


# within

WITHIN = {
    "with": ["metric", "bounds"],
    "properties": {
        "of": {"$ref": "#/$defs/sides"},
        "over": {"$ref": "#/$defs/side"},
        "value": {"type": "number"},
        "among": {"$ref": "#/$defs/sides"},
        "along": {"enum": ["sizes"]},
        "mean_over": {"enum": ["sizes"]},
        "worse_by": {"type": "number", "exclusiveMinimum": 0},
    },
}


def within(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """No difference worth the name, by a margin: of each side ``of`` to the side ``over`` or to a ``value`` (0), of all
    sides ``among`` to each other, or of each side ``of`` to itself along the sizes (``along: sizes``).

    ``worse_by`` bounds the loss alone, and ``mean_over: sizes`` takes the mean over the sizes first; ``between`` bounds
    the ratio in place of the difference. Where the margin is a number of standard errors, the test is the one of the
    statistic and asks for no interval.
    """
    if "between" in test:
        return _same_ratios(rows, test, names)
    if "among" in test:
        return _ranges(rows, test, names, sides(test["among"]))
    if test.get("along") == "sizes":
        return [each for own in sides(test["of"]) for each in _range_along(rows, test, names, own)]
    if test.get("mean_over") == "sizes":
        return [each for own in sides(test["of"]) for each in _mean_differences(rows, test, names, own)]
    found = []
    for one in sides(test["of"]):
        other = [side(test["over"])] if "over" in test else []
        what = names.side(one, test["metric"]) + (f" minus {names.side(other[0], test['metric'])}" if other else "")
        what = what if other else f"{what} {fact_of(test['metric']).label}"
        for where, samples in found_for(rows, test, names, [one, *other]):
            estimate = difference(*samples) if other else _from(single(samples[0]), test.get("value", 0.0))
            scales = {"standard_errors": estimate.error, "pooled_sd": pooled_deviation(*samples) if other else 0.0}
            practical = practical_margin(test, samples[-1])
            found.append(_no_difference(where, estimate, what, test, scales, practical))
    return found


def _same_ratios(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """The points of a claim of no difference whose margin is a ratio to each side."""
    return [
        point(where, estimate, what, _ratio_told(estimate), agrees(estimate, bounds_of(test, where)))
        for one in sides(test["of"])
        for where, estimate, what in _quotients(rows, test, names, one, side(test["over"]))
    ]


def _ratio_told(estimate: Estimate) -> str:
    if not math.isfinite(estimate.low + estimate.high):
        return number(estimate.value)
    return f"{number(estimate.value)} [{number(estimate.low)}, {number(estimate.high)}]"


def _from(estimate: Estimate, value: float) -> Estimate:
    return estimate._replace(value=estimate.value - value, low=estimate.low - value, high=estimate.high - value)


def _no_difference(
    where: dict, estimate: Estimate, what: str, test: dict, scales: dict, practical: float = math.inf
) -> Point:
    """A point about a signed difference whose size, or whose loss alone, has a bound."""
    sign = better(test["metric"]) if "worse_by" in test else 1.0
    if "worse_by" in test:
        estimate = flipped(estimate, sign)
        verdict = agrees(estimate, [("above", -test["worse_by"])])
    else:
        bounds = bounds_of(test, where, scales)
        both = [*bounds, *(({"below": "above", "at_most": "at_least"}[kind], -bound) for kind, bound in bounds)]
        if any(isinstance(test.get(kind), dict) and "standard_errors" in test[kind] for kind in BORDERS):
            inside = all(BORDERS[kind](estimate.value, bound) for kind, bound in both)
            is_one = estimate.low > 0 or estimate.high < 0  # a difference at all, and one that is told as an effect
            is_one = is_one and abs(estimate.value) > fact_of(test["metric"]).smallest_effect
            verdict = {"margin": bounds[0][1], "holds": inside, "opposite": not inside and is_one}
        else:
            verdict = agrees(estimate, both, practical)
    return point(where, estimate, what, _with_interval(estimate, test["metric"]), verdict)


def _with_interval(estimate: Estimate, metric: str) -> str:
    text = signed(estimate.value, metric)
    if not math.isfinite(estimate.low + estimate.high):
        return text
    return f"{text} [{signed(estimate.low, metric)}, {signed(estimate.high, metric)}]"


def _range_of(samples: list[Sample]) -> Estimate:
    """Largest mean minus smallest; the upper end of its interval is the largest of all pairs: all are within."""
    order = sorted(samples, key=lambda each: each.mean)
    value = difference(order[-1], order[0])
    pairs = [difference(b, a) for i, a in enumerate(order) for b in order[i + 1 :]]
    # missing where one pair has no interval
    high = float(np.max([each.high for each in pairs]))
    return value._replace(high=high)


def _ranges(rows: pd.DataFrame, test: dict, names: Names, among: list[Side]) -> list[Point]:
    found = []
    for where, samples in found_for(rows, test, names, among):
        estimate = _range_of(samples)
        order = sorted(samples, key=lambda each: each.mean)
        bounds = bounds_of(test, where, {"pooled_sd": pooled_deviation(order[-1], order[0])})
        verdict = agrees(estimate, bounds, practical_margin(test, order[0]))
        found.append(point(where, estimate, "range over the methods", _range_told(estimate), verdict))
    return found


def _range_told(estimate: Estimate) -> str:
    end = f" [to {estimate.high:.2f}]" if math.isfinite(estimate.high) else ""
    return f"{estimate.value:.2f}{end}"


def _range_along(rows: pd.DataFrame, test: dict, names: Names, own: Side) -> list[Point]:
    found = []
    for where, samples in along_sizes(rows, test, names, [own]):
        if len(samples) > 1:
            estimate = _range_of([each for (each,) in samples.values()])
            verdict = agrees(estimate, bounds_of(test, where))
            found.append(point(where, estimate, f"range over s of {names.side(own)}", _range_told(estimate), verdict))
    return found


def along_sizes(rows, test: dict, names: Names, wanted: list[Side]) -> list[tuple[dict, dict[str, list[Sample]]]]:
    """Per place but its size: samples of the sides by the label of the size, in order."""
    groups: dict[tuple, tuple[dict, dict]] = {}
    for where, samples in found_for(rows, test, names, wanted):
        rest = {column: value for column, value in where.items() if column not in SIZE}
        key = tuple(str(value) for value in rest.values())
        groups.setdefault(key, (rest, {}))[1][where["n_features_label"]] = samples
    return list(groups.values())


def _mean_differences(rows: pd.DataFrame, test: dict, names: Names, own: Side) -> list[Point]:
    """The mean over the sizes of the differences of two sides; its interval is that of the repeats with all sizes."""
    found, other = [], side(test["over"])
    what = f"{names.side(own, test['metric'])} minus {names.side(other, test['metric'])}, mean over s"
    for where, samples in along_sizes(rows, test, names, [own, other]):
        value = float(np.mean([one.mean - two.mean for one, two in samples.values()]))
        pairs = list(samples.values())
        complete = set.intersection(*(set(one.values) & set(two.values) for one, two in pairs))
        by_repeat = [
            np.mean([one.values[unit] - two.values[unit] for one, two in pairs]) for unit in sorted(complete, key=str)
        ]
        low, high = interval(by_repeat, pairs[0][0].overlap)
        shift = value - float(np.mean(by_repeat)) if by_repeat else math.nan
        estimate = Estimate(value, low + shift, high + shift)
        found.append(_no_difference(where, estimate, what, test, {}))
    return found


# threshold

THRESHOLD = {
    "with": ["metric", "bounds", "errors", "each"],
    "properties": {
        "of": {"$ref": "#/$defs/sides"},
        "minus": {"$ref": "#/$defs/side"},
        "absolute": {"type": "boolean"},
        "largest": {"type": "array", "items": {"type": "string"}, "minItems": 1},
    },
    "required": ["of"],
}


def threshold(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """A value of each side ``of``, or its difference ``minus`` another, keeps its bounds at every place; its size alone
    where ``absolute`` is said.

    ``largest`` has formulas of the place, all of which the value keeps whatever it is of: where a bound is no smaller
    than one of them nothing can break it, and the point says nothing.
    """
    found = []
    for one in sides(test["of"]):
        other = [side(test["minus"])] if "minus" in test else []
        metric = dict(one.columns).get("metric") or test["metric"]
        what = names.side(one, metric) + (f" minus {names.side(other[0], metric)}" if other else "")
        what = what if other else f"{what} {fact_of(metric).label}"
        for where, samples in found_for(rows, test, names, [one, *other]):
            estimate = difference(*samples) if other else single(samples[0])
            neutral = 0.0 if other else None
            estimate = size_of(estimate) if test.get("absolute") else estimate
            bounds = bounds_of(test, where, {"standard_errors": estimate.error})
            verdict = judged(test, estimate, bounds, neutral)
            if unbreakable(test.get("largest", []), where, bounds):
                verdict["aside"] = "nothing could break the bound"
            told = signed(estimate.value, metric) if other else number(estimate.value)
            found.append(point(where, estimate, what, told, verdict))
    return found


# ratio

RATIO = {
    "with": ["any_metric", "bounds", "errors", "each"],
    "properties": {
        "of": {"$ref": "#/$defs/sides"},
        "over": {"$ref": "#/$defs/side"},
        "size": {"enum": ["last"]},
    },
    "required": ["of", "over"],
}


def ratio(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """The value of each side ``of`` over that of the side ``over`` keeps its bounds; times as ratios by round.

    ``size: last`` is about the largest size of every data set only.
    """
    found = []
    for one in sides(test["of"]):
        for where, estimate, what in _quotients(rows, test, names, one, side(test["over"])):
            verdict = judged(test, estimate, bounds_of(test, where), 1.0)
            found.append(point(where, estimate, what, number(estimate.value), verdict))
    return _last(found) if test.get("size") == "last" else found


def _quotients(rows, test: dict, names: Names, one: Side, other: Side) -> Iterator[tuple[dict, Estimate, str]]:
    metrics = [dict(each.columns).get("metric") for each in (one, other)]
    metric = test.get("metric") or metrics[0]
    own, under = names.side(one, metric), names.side(other, metric)
    what = f"{own}/{under}"
    if all(metrics):
        what = f"{own}, {'/'.join(fact_of(each).label for each in metrics)}"
    for where, (first, second) in found_for(rows, test, names, [one, other]):
        estimate = quotient(first, second, is_time(metric))
        if estimate is not None:
            yield where, estimate, what


def _last(points: list[Point]) -> list[Point]:
    """The points at the largest size of their group and place."""
    kept = {(each.what, _rest(each.where)): each for each in points}
    return list(kept.values())


def _rest(where: dict) -> tuple:
    return tuple(str(value) for column, value in where.items() if column not in SIZE)


# monotone

MONOTONE = {
    "with": ["metric"],
    "properties": {
        "of": {"$ref": "#/$defs/sides"},
        "over": {"$ref": "#/$defs/side"},
        "minus": {"$ref": "#/$defs/side"},
        "direction": {"enum": ["rising", "falling"]},
        "from": {"$ref": "#/$defs/labels"},
        "to": {"$ref": "#/$defs/labels"},
        "floor": {"type": "number"},
        "by": {"type": "number", "exclusiveMinimum": 0},
        "tolerance": {"type": "number", "exclusiveMinimum": 0},
    },
    "required": ["of", "direction"],
    "dependentRequired": {"from": ["to"], "to": ["from"], "by": ["from"]},
}


def monotone(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """A quantity of each side ``of`` (over or minus another) rises or falls along the sizes.

    Step by step, up to ``tolerance`` standard errors of a step; or from the sizes ``from`` to the sizes ``to``, of
    which the means count (of ratios the geometric ones; "first" and "last" are the smallest and largest size). Not
    rising from below ``floor`` to below it: a gap that stays a loss has not grown; nor by less than ``by``.
    """
    found = []
    for one in sides(test["of"]):
        groups: dict[tuple, list[tuple[dict, Estimate]]] = {}
        heading = ""
        for where, estimate, heading in _walked(rows, test, names, one):  # noqa: B007
            groups.setdefault(_rest(where), []).append((where, estimate))
        for of_group in groups.values():
            found += _steps(of_group, test, heading) if "from" not in test else _ends(of_group, test, heading)
    return found


def _walked(rows, test: dict, names: Names, one: Side) -> Iterator[tuple[dict, Estimate, str]]:
    if "over" in test:
        yield from _quotients(rows, test, names, one, side(test["over"]))
        return
    other = [side(test["minus"])] if "minus" in test else []
    what = names.side(one, test["metric"]) + (f" minus {names.side(other[0], test['metric'])}" if other else "")
    for where, samples in found_for(rows, test, names, [one, *other]):
        yield where, (difference(*samples) if other else single(samples[0])), what


def _steps(walked: list[tuple[dict, Estimate]], test: dict, what: str) -> list[Point]:
    sign = 1.0 if test["direction"] == "rising" else -1.0
    found = []
    for (_, before), (where, after) in pairwise(walked):
        errors = [each.error if math.isfinite(each.error) else 0.0 for each in (before, after)]
        slack = test.get("tolerance", 0.0) * math.hypot(*errors)
        change = sign * (after.value - before.value)
        aside = before.aside or after.aside
        verdict = {"margin": -slack, "holds": change >= -slack if "tolerance" in test else change > 0}
        verdict["opposite"] = apart(before, after, sign)
        step = Estimate(change, aside=aside)
        found.append(point(where, step, f"{what}, step", number(sign * change), verdict))
    return found


def _ends(walked: list[tuple[dict, Estimate]], test: dict, what: str) -> list[Point]:
    by_size = {where["n_features_label"]: (where, estimate) for where, estimate in walked}
    sizes = list(by_size)
    ends = {"first": sizes[:1], "last": sizes[-1:]}
    wanted = ([test[end]] if isinstance(test[end], str) else test[end] for end in ("from", "to"))
    first, last = ([size for each in of for size in ends.get(each, [each])] for of in wanted)
    if not set(first + last) <= set(sizes) or set(first) & set(last):
        return []
    mean = _geometric if "over" in test else lambda values: float(np.mean(values))
    before, after = (mean([by_size[size][1].value for size in of]) for of in (first, last))
    sign = 1.0 if test["direction"] == "rising" else -1.0
    start = max(before, test["floor"]) if "floor" in test else before
    aside = next((by_size[size][1].aside for size in first + last if by_size[size][1].aside), "")
    estimate = Estimate(sign * (after - start), aside=aside)
    metric = test["metric"]
    tell = number if "over" in test else (lambda value: signed(value, metric))
    told = f"{'+'.join(first)} {tell(before)} to {'+'.join(last)} {tell(after)}"
    where = {column: value for column, value in by_size[last[-1]][0].items() if column not in SIZE}
    opposite = False
    if len(first) == len(last) == 1:
        base = by_size[first[0]][1]
        base = base._replace(low=max(base.low, test["floor"])) if "floor" in test else base
        opposite = apart(base, by_size[last[0]][1], sign)
    least = test.get("by", 0.0)
    verdict = {"margin": least, "holds": estimate.value > least, "opposite": opposite}
    return [point(where, estimate, what, told, verdict)]


def _geometric(values) -> float:
    return float(np.exp(np.mean(np.log(values))))


# power_law

POWER_LAW = {
    "with": ["metric", "bounds", "errors"],
    "properties": {
        "of": {"$ref": "#/$defs/sides"},
        "minus": {"$ref": "#/$defs/side"},
        "along": {"enum": ["n_features", "n_train", "at"]},
        "by": {"enum": ["d", "n_features", "n_train"]},
        "where_one": {"enum": ["d", "n_features", "n_train"]},
        "largest_half": {"type": "boolean"},
    },
    "required": ["of", "along"],
}


def power_law(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """The power with which each side ``of`` (``minus`` another) grows along a column keeps its bounds.

    By least squares on the logarithms; ``where_one`` is held at its one value with the most to compare, ``by`` asks for
    a fit at each value of a column, ``largest_half`` is about the larger half of ``along``, where an asymptotic power
    shows. ``tolerance`` counts standard errors of the power. A difference that is not above zero there grows with no
    power: the claim fails.
    """
    found, along = [], test["along"]
    for one in sides(test["of"]):
        other = [side(test["minus"])] if "minus" in test else []
        what = names.side(one) + (f" minus {names.side(other[0])}" if other else "")
        what = f"{what}, {fact_of(test['metric']).label}, power of {'s' if along == 'n_features' else 'n'}"
        own = rows_of(rows, test, [one, *other])
        for value, cell in own.groupby(test["by"]) if "by" in test else [(None, own)]:
            if "where_one" in test and len(cell):
                cell = cell[cell[test["where_one"]] == cell.groupby(test["where_one"])[along].nunique().idxmax()]
            parts = [of_methods(cell, each.methods) for each in (one, *other)]
            x, y = _to_fit(parts, along, test.get("largest_half", False))
            where = {test["by"]: value} if "by" in test else {}
            none = [a for a, b in zip(x, y, strict=True) if b <= 0]
            if other and none:
                told = f"not above zero at {along_name(along)} = {', '.join(f'{each:g}' for each in none)}"
                lost = {"margin": bounds_of(test, where)[0][1], "holds": False, "opposite": len(none) == len(x)}
                found.append(point(where, Estimate(min(y)), what, told, lost))
                continue
            power = estimates.power_law(x, y)
            if power is None:
                continue
            spread = SIGMAS * power.error
            estimate = Estimate(power.exponent, power.exponent - spread, power.exponent + spread, power.error)
            told = f"{power} for {along_name(along)} = {min(x):g} to {max(x):g}" if "by" not in test else str(power)
            found.append(point(where, estimate, what, told, judged(test, estimate, bounds_of(test, where), None)))
    return found


def along_name(column: str) -> str:
    """What a column that is walked is called in the papers."""
    return {"n_features": "s", "n_train": "n"}.get(column, column)


def _to_fit(parts: list[pd.DataFrame], along: str, half: bool) -> tuple[list[float], list[float]]:
    """What is fitted: the positive values of one side, or the differences of the means of two."""
    if len(parts) == 1:
        rows = parts[0]
        rows = rows[rows["value"] > 0]
        x, y = rows[along].astype(float).tolist(), rows["value"].astype(float).tolist()
    else:
        one, two = (part.groupby(along)["value"].mean() for part in parts)
        differences = (one - two).dropna()
        x, y = [float(each) for each in differences.index], differences.tolist()
    kept = set(largest_half(x)) if half and x else set(x)
    pairs = [(a, b) for a, b in zip(x, y, strict=True) if a in kept]
    return [a for a, _ in pairs], [b for _, b in pairs]


# crosses

CROSSES = {
    "with": ["metric"],
    "properties": {
        "of": {"$ref": "#/$defs/sides"},
        "against": {"$ref": "#/$defs/side"},
        "near_best": {"type": "number", "exclusiveMinimum": 0},
    },
    "required": ["of", "against"],
}


def crosses(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """Where along the sizes a curve gets somewhere.

    With ``near_best``: the size from which a curve is within that many points of its own best, no larger for each side
    ``of`` than for the side ``against``. Both are known to an interval, of the differences from the best; where the two
    overlap there is no power. A curve that still gains at the last size gets there at that or later, and two that are
    there from the first size on at that or earlier: where that leaves open which comes first, the grid cuts them off.

    Without: the curve of ``of`` is worse than that of ``against`` at the first size and better at the last, and crosses
    it once.
    """
    found, sign = [], better(test["metric"])
    other = side(test["against"])
    for one in sides(test["of"]):
        what = f"{names.side(one, test['metric'])}/{names.side(other, test['metric'])}"
        for where, samples in along_sizes(rows, test, names, [one, other]):
            sizes, curves = list(samples), [[each[i] for each in samples.values()] for i in (0, 1)]
            if "near_best" in test:
                found.append(_first_near_best(where, what, sizes, curves, test))
            else:
                ahead = [sign * (own.mean - theirs.mean) for own, theirs in samples.values()]
                found.append(_crossing(where, what, sizes, np.array(ahead)))
    return found


def _first_near_best(where: dict, what: str, sizes: list[str], curves: list[list[Sample]], test: dict) -> Point:
    (own_first, own_last), (first, last) = (_near_best(curve, test) for curve in curves)
    rising = [_still_rises(curve, test["metric"]) for curve in curves]
    holds = True if own_last <= first else False if own_first > last else None
    # of a rising curve it is known that it gets there no earlier
    cut_off = any(rising) if holds is None else rising[0] if holds else rising[1]
    estimate = Estimate(float(last - own_last), aside="cut off by the grid" if cut_off or not own_last + last else "")
    reached = zip(((own_first, own_last), (first, last)), rising, strict=True)
    told = "/".join(_reached(sizes, *between, rises) for between, rises in reached)
    return point(where, estimate, what, told, {"margin": 0.0, "holds": holds})


def _near_best(curve: list[Sample], test: dict) -> tuple[int, int]:
    """The first size at which a curve may be near its best, and the first at which it is for sure: its best is above it
    by less than the margin at the lower end of the interval, and at both. Without an interval only the best is near."""
    sign, margin = better(test["metric"]), test["near_best"]
    best = max(curve, key=lambda each: sign * each.mean)
    behind = [flipped(difference(best, each), sign) if each is not best else Estimate(0.0, 0.0, 0.0) for each in curve]
    # rounding of means and ends is no part of a distance from the best
    may_be = [not round(each.low, 9) > margin for each in behind]
    is_near = [bool(round(each.high, 9) <= margin) for each in behind]
    return may_be.index(True), is_near.index(True)


def _reached(sizes: list[str], first: int, last: int, rises: bool) -> str:
    """Between which sizes a curve gets there: "32d", "32d to 64d", "64d or later"."""
    told = sizes[first] if first == last else f"{sizes[first]} to {sizes[last]}"
    return f"{told} or later" if rises else told


def _still_rises(curve: list[Sample], metric: str) -> bool:
    """Whether the last step of a curve is a gain over the smallest effect, so that its best may lie beyond the grid."""
    if len(curve) < 2:
        return True
    return better(metric) * (curve[-1].mean - curve[-2].mean) > fact_of(metric).smallest_effect


def _crossing(where: dict, what: str, sizes: list[str], ahead: np.ndarray) -> Point:
    signs = np.sign(ahead)
    changes = int((signs[1:] != signs[:-1]).sum())
    at = sizes[int((ahead > 0).argmax())] if (ahead > 0).any() else "nowhere"
    holds = bool(signs[0] < 0 < signs[-1]) and changes == 1
    estimate = Estimate(float(ahead[-1]), aside="" if len(sizes) > 1 else "cut off by the grid")
    return point(where, estimate, what, f"ahead from {at}", {"margin": 0.0, "holds": holds})


# correlates

CORRELATES = {
    "with": ["any_metric"],
    "properties": {
        "of": {"$ref": "#/$defs/sides"},
        "among": {"$ref": "#/$defs/sides"},
        "between": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    "metric": {"$ref": "#/$defs/metric"},
                    "learner": {"type": "string"},
                    "split": {"type": "string"},
                },
                "required": ["metric"],
            },
            "minItems": 2,
            "maxItems": 2,
        },
        "sign": {"enum": ["positive", "negative", "not_positive"]},
        "below": {"type": "number"},
    },
    "required": ["sign"],
}


def correlates(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """The rank correlation of a metric of each side ``of`` with the size, or of two metrics (``between``) over the
    methods ``among`` at every place, is of the stated ``sign``.

    ``not_positive`` is a claim of none: it fails where the correlation is significantly positive (one-sided at 5 %,
    with Holm's correction over the sizes of one data set and kernel) and holds where the upper end of its 95 % interval
    (Fisher's) is under ``below``. An accuracy counts as its error.
    """
    if "between" in test:
        return _over_methods(rows, test, names)
    found, sign = [], 1.0 if test["sign"] == "positive" else -1.0
    for one in sides(test["of"]):
        for where, samples in along_sizes(rows, test, names, [one]):
            if len(samples) < 3:
                continue
            rho = spearman(range(len(samples)), [each.mean for (each,) in samples.values()])
            low, high = fisher(rho, len(samples))
            estimate = flipped(Estimate(rho, low, high), sign)
            verdict = judged({}, estimate, [("above", 0.0)], 0.0)
            what = f"rank correlation of {fact_of(test['metric']).label} with s"
            told = point(where | {"side": names.side(one)}, estimate, what, f"{rho:+.2f}", verdict)
            found.append(replace(told, difference=rho))
    return found


def _over_methods(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    samples = []
    for quantity in test["between"]:
        of_place = {}
        for where, found in _of_metric(rows, test, names, quantity):
            of_place[tuple(str(where[column]) for column in ("experiment", "dataset", "kernel", *SIZE))] = where, found
        samples.append(of_place)
    signs = [-1.0 if fact_of(quantity["metric"]).better == "high" else 1.0 for quantity in test["between"]]
    what = f"rank correlation of {' and '.join(_error_of(quantity) for quantity in test['between'])}"
    found, families = [], []
    for place in samples[0]:
        if place not in samples[1]:
            continue
        (where, first), (_, second) = (of_place[place] for of_place in samples)
        values = [[s * each.mean for each in of] for s, of in zip(signs, (first, second), strict=True)]
        rho = spearman(*values)
        if not math.isnan(rho):
            low, high = fisher(rho, len(first))
            verdict = {"margin": test["below"], "holds": True if high < test["below"] else None}
            found.append(point(where, Estimate(rho, low, high), what, f"{rho:+.2f}", verdict))
            families.append((place[:3], positive(rho, len(first))))
    for family in dict.fromkeys(name for name, _ in families):
        own = [i for i, (name, _) in enumerate(families) if name == family]
        for i, adjusted in zip(own, holm([families[i][1] for i in own]), strict=True):
            if adjusted < LEVEL:
                found[i] = replace(found[i], holds=False, opposite=True)
    return found


def _error_of(quantity: dict) -> str:
    """A metric in words, an accuracy as the error that it counts as: "ridge error"."""
    label = "error" if fact_of(quantity["metric"]).better == "high" else fact_of(quantity["metric"]).label
    return " ".join(filter(None, (LEARNER_NAMES.get(quantity.get("learner", ""), quantity.get("learner")), label)))


def _of_metric(rows, test: dict, names: Names, quantity: dict) -> Iterator[Found]:
    own = test | quantity | {"select": test.get("select", {}) | {k: v for k, v in quantity.items() if k != "metric"}}
    return found_for(rows, own, names, sides(test["among"]))
