"""Tests of claims of the survey that fit no form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from rfstudy.metrics import fact_of
from rfstudy.report.claims.borders import judged, point
from rfstudy.report.claims.compared import (
    Estimate,
    Found,
    Names,
    Sample,
    Side,
    fisher,
    of_methods,
    places,
    quotient,
    rows_of,
    side,
    sides,
    spearman,
)
from rfstudy.report.claims.points import Point, number
from rfstudy.report.notes import LEARNER_NAMES

CHANGING_BEST = {
    "properties": {
        "metric": {"$ref": "#/$defs/metric"},
        "among": {"$ref": "#/$defs/sides"},
        "small": {"$ref": "#/$defs/labels"},
        "large": {"$ref": "#/$defs/labels"},
    },
    "required": ["metric", "among", "small", "large"],
}


def changing_best(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """The methods that are best at the small sizes are not the same as those that are best at the large ones, on most
    data sets, as the reference data count what is printed; and none is best everywhere.

    One point for "most data sets" and one for "everywhere".
    """
    wanted = sides(test["among"])
    sign = -1.0 if fact_of(test["metric"]).better == "low" else 1.0
    best: dict[str, dict[str, str]] = {}
    for where, samples in places(rows_of(rows, test, wanted), wanted, test, names):
        winner = max(samples, key=lambda each: sign * each.mean)
        best.setdefault(where["dataset"], {})[where["n_features_label"]] = names.method(winner.who)
    changed = {}
    for dataset, by_size in best.items():
        small, large = ({by_size[size] for size in test[end] if size in by_size} for end in ("small", "large"))
        if small and large:
            changed[dataset] = small != large, f"{'+'.join(sorted(small))} to {'+'.join(sorted(large))}"
    if not changed:
        return []
    several = len([changes for changes, _ in changed.values() if changes])
    told = ", ".join(f"{names.dataset(dataset)} {text}" for dataset, (_, text) in changed.items())
    winners = {winner for by_size in best.values() for winner in by_size.values()}
    where = {"datasets": list(changed)}
    return [
        Point(several - len(changed) / 2, 0.0, several > len(changed) / 2, where=where,
              told=f"the best changes on {several} of {len(changed)} data sets: {told}"),
        Point(float(len(winners) - 1), 0.0, len(winners) > 1, where=where,
              told=f"best somewhere: {', '.join(sorted(winners))}"),
    ]  # fmt: skip


VARIATION = {
    "properties": {
        "among": {"$ref": "#/$defs/sides"},
        "metric": {"$ref": "#/$defs/metric"},
        "over": {"$ref": "#/$defs/metric"},
        "learner": {"type": "string"},
        "at_least": {"type": "number"},
    },
    "required": ["among", "metric", "over", "at_least"],
}


def variation(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """Over the methods the coefficient of variation of one metric is at least so many times that of another."""
    wanted = sides(test["among"])
    of_metric = []
    for metric, more in ((test["metric"], {}), (test["over"], {"learner": test.get("learner", "")})):
        own = {"metric": metric, "select": test["select"] | {key: value for key, value in more.items() if value}}
        values = {}
        for where, samples in places(rows_of(rows, own, wanted), wanted, own, names):
            means = np.array([each.mean for each in samples])
            values[where["dataset"], where["n_features_label"]] = where, float(means.std(ddof=1) / means.mean())
        of_metric.append(values)
    label = LEARNER_NAMES.get(test.get("learner", ""), "")
    what = f"variation over the methods: {fact_of(test['metric']).label}/{label} {fact_of(test['over']).label}"
    found = []
    for place, (where, own) in of_metric[0].items():
        if place in of_metric[1]:
            other = of_metric[1][place][1]
            value = own / other if other > 0 else np.inf
            found.append(
                Point(value, float(test["at_least"]), bool(value >= test["at_least"]), where=where,
                      what=what, told=number(value))
            )  # fmt: skip
    return found


LARGER_RATIO = {
    "properties": {
        "metric": {"$ref": "#/$defs/metric"},
        "of": {"$ref": "#/$defs/side"},
        "over": {"$ref": "#/$defs/side"},
        "kernels": {"$ref": "#/$defs/labels"},
        "than": {"type": "string"},
    },
    "required": ["metric", "of", "over", "kernels", "than"],
}


def larger_ratio(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """The value of ``of`` over that of ``over`` is larger for each of the ``kernels`` ``than`` for another one."""
    wanted = [side(test["of"]), side(test["over"])]
    what = "/".join(names.side(each, test["metric"]) for each in wanted)
    ratios = {}
    for where, (first, second) in places(rows_of(rows, test, wanted), wanted, test, names):
        if not where["axis"]:
            ratios[where["experiment"], where["dataset"], where["kernel"]] = where, first.mean / second.mean
    found = []
    for (experiment, dataset, kernel), (where, value) in ratios.items():
        if kernel in test["kernels"] and (experiment, dataset, test["than"]) in ratios:
            _, other = ratios[experiment, dataset, test["than"]]
            told = f"{number(value)} and {number(other)} for {test['than']}"
            found.append(Point(value - other, 0.0, bool(value > other), where=where, what=what, told=told))
    return found


AMONG_WORST = {
    "properties": {
        "metric": {"$ref": "#/$defs/metric"},
        "of": {"$ref": "#/$defs/side"},
        "among": {"$ref": "#/$defs/sides"},
        "at_most": {"type": "integer", "minimum": 1},
    },
    "required": ["metric", "of", "among", "at_most"],
}


def among_worst(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """The method ``of`` is one of the ``at_most`` worst of ``among``: so many less one are worse at most."""
    own, wanted = side(test["of"]), sides(test["among"])
    sign = -1.0 if fact_of(test["metric"]).better == "low" else 1.0
    found = []
    for where, samples in places(rows_of(rows, test, wanted), wanted, test, names):
        value = next(each.mean for each in samples if each.who in own.methods)
        rank = 1 + sum(sign * each.mean < sign * value for each in samples)
        told = f"{names.side(own)} is number {rank} from the worst"
        found.append(
            Point(float(test["at_most"] - rank), 0.0, rank <= test["at_most"], where=where,
                  what=fact_of(test["metric"]).label, told=told)
        )  # fmt: skip
    return found


#: Columns that two kernels share which are compared.
SAME_DATA = ("dataset", "n_train", "n_features_label", "axis", "at")

LARGER_WITH = {
    "properties": {
        "among": {"$ref": "#/$defs/sides"},
        "metric": {"$ref": "#/$defs/metric"},
        "kernels": {"type": "array", "minItems": 1, "items": {"type": "string"}},
        "than": {"type": "string"},
    },
    "required": ["among", "metric", "kernels", "than"],
}


def larger_with(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """The metric of each method ``among`` is larger with each of the ``kernels`` than with the kernel ``than``."""
    what = f"{fact_of(test['metric']).label} over that with the {test['than']} kernel"
    found = []
    for one in sides(test["among"]):
        for where, (own,), (other,) in _with_both(rows, test, names, [one]):
            estimate = quotient(own, other, is_time=False)
            verdict = judged({}, estimate, [("above", 1.0)], 1.0)
            found.append(point(where | {"side": names.side(one)}, estimate, what, number(estimate.value), verdict))
    return found


ORDERED_AS_WITH = {
    "properties": {
        "among": {"$ref": "#/$defs/sides"},
        "metric": {"$ref": "#/$defs/metric"},
        "kernels": {"type": "array", "minItems": 1, "items": {"type": "string"}},
        "than": {"type": "string"},
        "above": {"type": "number"},
    },
    "required": ["among", "metric", "kernels", "than", "above"],
}


def ordered_as_with(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """The rank correlation, over the methods ``among``, of their times with each of the ``kernels`` and with the kernel
    ``than`` is ``above`` a bound.

    The times of one kernel are ranked among themselves: they have to be of one record, the two kernels need not.
    """
    what = f"rank correlation of {fact_of(test['metric']).label} with that with the {test['than']} kernel"
    found = []
    for where, own, other in _with_both(rows, test, names, sides(test["among"])):
        rho = spearman(*([each.mean for each in of] for of in (own, other)))
        aside = next(filter(None, map(_timed_apart, (own, other))), "")
        estimate = Estimate(rho, *fisher(rho, len(own)), aside=aside)
        verdict = judged({}, estimate, [("above", test["above"])], 0.0)
        found.append(point(where, estimate, what, f"{rho:+.2f}", verdict))
    return found


def _with_both(rows: pd.DataFrame, test: dict, names: Names, wanted: list[Side]) -> Iterator[tuple]:
    """The places of each of the ``kernels`` at which the kernel ``than`` was run too, on the same data at the same
    size, with the samples of both.
    """

    def found_with(kernel: str) -> dict[tuple, Found]:
        own = test | {"select": test["select"] | {"kernel": kernel}}
        found = places(rows_of(rows, own, wanted), wanted, own, names)
        # the kernels may be those of several experiments
        return {tuple(str(each.where[column]) for column in SAME_DATA): each for each in found}

    reference = found_with(test["than"])
    for kernel in test["kernels"]:
        for place, (where, samples) in found_with(kernel).items():
            if place in reference:
                yield where, samples, reference[place].samples


def _timed_apart(samples: list[Sample]) -> str:
    """Why times cannot be ranked among themselves: not of one record, or other work beside one; else an empty text."""
    records = {run for each in samples if each.kind == "rounds" for run, _round in each.values}
    if len(records) != 1 or any(each.kind != "rounds" for each in samples):
        return "timed apart"
    return "contended" if any(each.contended for each in samples) else ""


class Walk(NamedTuple):
    """Means over the repeats along the features of a map on one data set, from few to many."""

    where: dict
    what: str
    frequencies: np.ndarray  # s/n
    columns: np.ndarray  # of the features, over n
    means: np.ndarray


def walks(rows: pd.DataFrame, test: dict, names: Names) -> Iterator[Walk]:
    """The walks of a metric, one a side ``of`` and data set."""
    wanted = sides(test["of"])
    asked = rows_of(rows, test, wanted)
    for one in wanted:
        what = f"{names.side(one)}, {fact_of(test['metric']).label}"
        for dataset, walked in of_methods(asked, one.methods).groupby("dataset", sort=False):
            steps = walked.groupby("n_features")[["value", "n_columns", "n_train"]].mean().sort_index()
            n = steps["n_train"].to_numpy(dtype=float)
            s, columns = steps.index.to_numpy(dtype=float) / n, steps["n_columns"].to_numpy(dtype=float) / n
            yield Walk({"dataset": dataset}, what, s, columns, steps["value"].to_numpy(dtype=float))


FALLS = {
    "properties": {"metric": {"$ref": "#/$defs/metric"}, "of": {"$ref": "#/$defs/sides"}, "strictly": {"const": True}},
    "required": ["metric", "of"],
}


def falls(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """The mean over the repeats rises at no step along the features; ``strictly``: falls at every step. The largest
    ratio of a mean to the one before, a point a walk.
    """
    found = []
    for walk in walks(rows, test, names):
        ratios = walk.means[1:] / walk.means[:-1]
        if not len(ratios):
            continue
        most, steps = float(ratios.max()), len(ratios)
        wrong = int((ratios >= 1).sum() if test.get("strictly") else (ratios > 1).sum())
        place = f"s/n = {walk.frequencies[int(ratios.argmax()) + 1]:.3g}"
        told = f"at {steps - wrong} of {steps} steps" + (f", times {number(most)} to {place}" if wrong else "")
        found.append(Point(most, 1.0, not wrong, where=walk.where, what=f"{walk.what}, falls", told=told))
    return found


VANISHES = {
    "properties": {
        "metric": {"$ref": "#/$defs/metric"},
        "of": {"$ref": "#/$defs/sides"},
        "below": {"type": "number", "exclusiveMinimum": 0},
    },
    "required": ["metric", "of", "below"],
}


def vanishes(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """With more frequencies than training rows the mean is below so much of its first value, at every size."""
    found = []
    for walk in walks(rows, test, names):
        beyond = walk.means[walk.frequencies > 1]
        if len(beyond):
            share = float(beyond.max() / walk.means[0])
            what = f"{walk.what}, largest at s > n over that at s/n = {walk.frequencies[0]:.3g}"
            found.append(Point(share, test["below"], share < test["below"], where=walk.where, what=what,
                               told=number(share)))  # fmt: skip
    return found


PEAKS = {
    "properties": {
        "metric": {"$ref": "#/$defs/metric"},
        "of": {"$ref": "#/$defs/sides"},
        "counted": {"enum": ["columns", "frequencies"]},
        "between": {"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "number"}},
    },
    "required": ["metric", "of", "counted", "between"],
}


def peaks(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """The largest mean lies where the features, ``counted`` by columns or by frequencies, are between two multiples of
    the training rows.
    """
    low, high = test["between"]
    found = []
    for walk in walks(rows, test, names):
        place = float((walk.columns if test["counted"] == "columns" else walk.frequencies)[walk.means.argmax()])
        what = f"{walk.what}, largest at {test['counted']}/n"
        margin = low if place < low else high
        holds = bool(low <= place <= high)
        found.append(Point(place, margin, holds, where=walk.where, what=what, told=number(place)))
    return found


FALLS_FROM_PEAK = {
    "properties": {"metric": {"$ref": "#/$defs/metric"}, "of": {"$ref": "#/$defs/sides"}},
    "required": ["metric", "of"],
}


def falls_from_peak(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """Where the columns are half and twice the training rows the mean is below its peak, and beyond the peak it falls
    at every step: three points a walk.
    """
    found = []
    for walk in walks(rows, test, names):
        top = int(walk.means.argmax())
        for multiple in (0.5, 2.0):
            there = int(np.abs(np.log(walk.columns / multiple)).argmin())
            share = float(walk.means[there] / walk.means[top])
            what = f"{walk.what}, at columns/n = {walk.columns[there]:.3g} over the peak"
            found.append(Point(share, 1.0, share < 1, where=walk.where, what=what, told=number(share)))
        ratios = walk.means[top + 1 :] / walk.means[top:-1]
        if len(ratios):
            most, falling = float(ratios.max()), int((ratios < 1).sum())
            told = f"at {falling} of {len(ratios)} steps" + (f", times {number(most)} at most" if most >= 1 else "")
            found.append(Point(most, 1.0, most < 1, where=walk.where, what=f"{walk.what}, falls beyond it", told=told))
    return found
