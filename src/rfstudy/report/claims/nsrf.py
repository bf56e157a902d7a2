"""Tests of claims of the paper on learned Fourier features that fit no form."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd

from rfstudy.metrics import fact_of
from rfstudy.report import estimates
from rfstudy.report.aggregate import select, settings_of
from rfstudy.report.claims.borders import agrees, judged, point
from rfstudy.report.claims.compared import (
    Estimate,
    Found,
    Names,
    Side,
    chosen,
    deviation,
    difference,
    interval,
    places,
    quotient,
    rows_of,
    side,
    sides,
)
from rfstudy.report.claims.compared import sample as sampled
from rfstudy.report.claims.points import Point, number
from rfstudy.report.claims.words import signed
from rfstudy.report.compare import MIN_REPEATS

SATURATES = {
    "properties": {"kernels": {"$ref": "#/$defs/labels"}, "below": {"type": "number"}},
    "required": ["kernels", "below"],
}


def saturates(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """The machine on an exact kernel, whatever its width, stays below an accuracy: the best of all that were run."""
    own = select(_exact(rows, test), kernel=test["kernels"])
    found = []
    for dataset, cell in own.groupby("dataset", sort=False):
        best = cell.loc[cell["value"].idxmax()]
        place = f" at {best['at']:g} times the median" if best["axis"] else ""
        told = f"{number(best['value'])} ({best['kernel']}{place})"
        verdict = judged(test, Estimate(float(best["value"])), [("below", float(test["below"]))], None)
        found.append(point({"dataset": dataset}, Estimate(float(best["value"])), "best accuracy", told, verdict))
    return found


BEATS_KERNELS = {
    "properties": {"of": {"$ref": "#/$defs/sides"}, "kernels": {"$ref": "#/$defs/labels"}, "by": {"type": "number"}},
    "required": ["of", "kernels", "by"],
}


def beats_kernels(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """A learned map is at least so many points more accurate than the best of the exact kernels at all of their widths,
    on every data set; ``select`` is about the map."""
    exact = select(_exact(rows, {"select": {}}), kernel=test["kernels"])
    found = []
    for one in sides(test["of"]):
        for where, (sample,) in _all(_accuracies(rows, test, names, [one])):
            rivals = select(exact, dataset=where["dataset"])
            if set(rivals["kernel"]) != set(test["kernels"]):
                continue
            best = rivals.loc[rivals["value"].idxmax()]
            estimate = Estimate(sample.mean - float(best["value"]))
            verdict = judged(test, estimate, [("at_least", float(test["by"]))], 0.0)
            told = f"{signed(estimate.value, 'accuracy_pct')} to {best['kernel']} {number(best['value'])}"
            found.append(point(where, estimate, names.side(one), told, verdict))
    return found


KERNELS_TAKE_LONGER = {
    "properties": {"of": {"$ref": "#/$defs/sides"}, "by": {"type": "number"}},
    "required": ["of", "by"],
}

#: What it takes from rows to a model: with a combination of kernels, and with a map that is learned first.
ON_KERNELS, ON_FEATURES = "time_train_s", "time_preprocess_train_s"


def kernels_take_longer(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """To learn a combination of kernels takes more than so many times as long as to learn a map and train on it, by
    round, on every data set.
    """
    found = []
    for one in sides(test["of"]):
        pair = [Side((("", ""),), "", (("metric", ON_KERNELS),)), one._replace(columns=(("metric", ON_FEATURES),))]
        for dataset, cell in rows_of(rows, test, pair).groupby("dataset", sort=False):
            times = [_times(cell, each) for each in pair]
            if not all(times):
                continue
            kernels, features = (sampled(each.methods[0], own, names) for each, own in zip(pair, times, strict=True))
            estimate = quotient(kernels, features, True)
            if estimate is not None:
                verdict = judged(test, estimate, [("above", float(test["by"]))], 1.0)
                what = f"combined kernels/{names.side(one)}, time to learn and train"
                found.append(point({"dataset": dataset}, estimate, what, number(estimate.value), verdict))
    return found


def _times(rows: pd.DataFrame, one: Side) -> list[dict]:
    ((method, _),) = one.methods
    return select(rows, method=method, metric=dict(one.columns)["metric"]).to_dict("records")


def _exact(rows: pd.DataFrame, test: dict) -> pd.DataFrame:
    """Test accuracies of machines on exact kernels."""
    return select(chosen(rows, test["select"]), learner="kernel_svm", metric="accuracy_pct", split="test")


def _accuracies(rows: pd.DataFrame, test: dict, names: Names, wanted: list[Side]) -> dict[str, list[Found]]:
    """The places at which all of the sides have accuracies, by data set and in the order of their sizes."""
    own, found = test | {"metric": "accuracy_pct"}, {}
    for each in places(rows_of(rows, own, wanted), wanted, own, names):
        found.setdefault(each.where["dataset"], []).append(each)
    return found


def _all(by_dataset: dict[str, list[Found]]) -> list[Found]:
    return [each for of_dataset in by_dataset.values() for each in of_dataset]


GAP_SHRINKS = {
    "properties": {"of": {"$ref": "#/$defs/side"}, "over": {"$ref": "#/$defs/side"}},
    "required": ["of", "over"],
}


def gap_shrinks(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """The accuracy gained over others is largest at the smallest size, on every data set."""
    found = []
    for dataset, of_dataset in _accuracies(rows, test, names, [side(test["of"]), side(test["over"])]).items():
        by_size = [(where["n_features_label"], one.mean - other.mean) for where, (one, other) in of_dataset]
        if len(by_size) < 2:
            continue
        (first, gap), rest = by_size[0], by_size[1:]
        lead = gap - max(value for _, value in rest)
        told = ", ".join(f"{label} {signed(value, 'accuracy_pct')}" for label, value in by_size)
        verdict = {"margin": 0.0, "holds": lead > 0, "opposite": False}
        found.append(point({"dataset": dataset}, Estimate(lead), f"gap at {first} over the next", told, verdict))
    return found


KEEPS_RISING = {
    "properties": {"of": {"$ref": "#/$defs/side"}, "dip": {"type": "number", "minimum": 0}},
    "required": ["of", "dip"],
}


def keeps_rising(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """The accuracy does not fall by more than ``dip`` points from one size to the next, on every data set."""
    one, found = side(test["of"]), []
    for dataset, of_dataset in _accuracies(rows, test, names, [one]).items():
        curve = [(where["n_features_label"], sample.mean) for where, (sample,) in of_dataset]
        steps = [after - before for (_, before), (_, after) in pairwise(curve)]
        if steps:
            least = min(steps)
            told = ", ".join(f"{label} {value:.2f}" for label, value in curve)
            verdict = judged(test, Estimate(least), [("at_least", -float(test["dip"]))], None)
            found.append(point({"dataset": dataset}, Estimate(least), names.side(one), told, verdict))
    return found


MEAN_OVER_ALL = {
    "properties": {
        "of": {"$ref": "#/$defs/side"},
        "over": {"$ref": "#/$defs/side"},
        "at_most": {"type": "number"},
    },
    "required": ["of", "over", "at_most"],
}


def mean_over_all(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """The mean difference of two accuracies over all data sets and sizes is within a margin of zero, with the 95 %
    interval over the data sets."""
    pair = [side(test["of"]), side(test["over"])]
    gaps = {
        dataset: [difference(*samples).value for _, samples in of_dataset]
        for dataset, of_dataset in _accuracies(rows, test, names, pair).items()
    }
    if not gaps:
        return []
    means = [float(np.mean(values)) for values in gaps.values()]
    cells = [value for values in gaps.values() for value in values]
    low, high = interval(means)
    shift = float(np.mean(cells)) - float(np.mean(means))
    estimate = Estimate(float(np.mean(cells)), low + shift, high + shift)
    margin = float(test["at_most"])
    verdict = agrees(estimate, [("at_most", margin), ("at_least", -margin)])
    told = f"{signed(estimate.value, 'accuracy_pct')} over {len(cells)} cells"
    what = f"{names.side(pair[0])} minus {names.side(pair[1])}"
    return [point({"datasets": list(gaps)}, estimate, what, told, verdict)]


STEADY = {
    "properties": {
        "of": {"$ref": "#/$defs/side"},
        "over": {"$ref": "#/$defs/side"},
        "below": {"type": "number"},
    },
    "required": ["of", "over", "below"],
}


def steady(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """The standard deviation over the repeats is below a bound and not above that of another method, at every size;
    that of a few repeats is not known well enough to say so."""
    pair, found = [side(test["of"]), side(test["over"])], []
    for where, samples in _all(_accuracies(rows, test, names, pair)):
        spread, other = (deviation(list(each.values.values())) for each in samples)
        verdict = {"margin": float(test["below"]), "holds": spread < test["below"] and spread <= other}
        aside = "too few repeats" if min(len(each.values) for each in samples) < MIN_REPEATS else ""
        told = f"{number(spread)} and {number(other)}"
        what = f"standard deviations of {names.side(pair[0])} and {names.side(pair[1])}"
        found.append(point(where, Estimate(spread, aside=aside), what, told, verdict))
    return found


ALONG_AXIS = {
    "properties": {
        "of": {"$ref": "#/$defs/method"},
        "metric": {"$ref": "#/$defs/metric"},
        "axis": {"type": "string"},
        "early": {"type": "number"},
        "late": {"type": "number"},
        "least_ratio": {"type": "number"},
        "steps": {"enum": ["every", "ends"]},
    },
    "required": ["of", "metric", "axis"],
}


def along_axis(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """A metric of a method rises along an axis, on every data set: at every step or from one end to the other
    (``steps``); or its value at ``early`` is at least ``least_ratio`` times that at ``late``.
    """
    one, found = side(test["of"]), []
    for dataset, cell in _of(rows, test, one).groupby("dataset", sort=False):
        means = cell.groupby("at")["value"].mean().sort_index()
        what = f"{names.side(one)}, {fact_of(test['metric']).label}"
        told = ", ".join(f"{at:g} {number(value)}" for at, value in means.items())
        where = {"dataset": dataset}
        if "least_ratio" in test:
            if not {test["early"], test["late"]} <= set(means.index):
                continue
            estimate = Estimate(float(means[test["early"]] / means[test["late"]]))
            verdict = judged(test, estimate, [("at_least", float(test["least_ratio"]))], 1.0)
        else:
            values = means.to_numpy()
            if len(values) < 2:
                continue
            rises = np.diff(values) if test.get("steps", "every") == "every" else values[-1:] - values[:1]
            estimate = Estimate(float(rises.min()))
            verdict = {"margin": 0.0, "holds": bool((rises > 0).all()), "opposite": bool((rises < 0).all())}
        found.append(point(where, estimate, what, told, verdict))
    return found


RESTARTS_AGREE = {
    "properties": {
        "of": {"$ref": "#/$defs/method"},
        "metric": {"$ref": "#/$defs/metric"},
        "axis": {"type": "string"},
        "place": {"type": "number"},
        "within": {"type": "number"},
    },
    "required": ["of", "metric", "axis", "place", "within"],
}


def restarts_agree(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """The values of the repeats at one place of an axis are within a share of the largest, on every data set."""
    one, found = side(test["of"]), []
    for dataset, cell in _of(rows, test, one).groupby("dataset", sort=False):
        values = cell.loc[cell["at"].eq(test["place"]), "value"]
        if not len(values):
            continue
        spread = float(1.0 - values.min() / values.max())
        aside = "a single repeat" if len(values) < 2 else ""
        verdict = judged(test, Estimate(spread), [("at_most", float(test["within"]))], None)
        what = f"{fact_of(test['metric']).label} of {len(values)} starts, largest minus smallest over largest"
        found.append(point({"dataset": dataset}, Estimate(spread, aside=aside), what, number(spread), verdict))
    return found


def _of(rows: pd.DataFrame, test: dict, one: Side) -> pd.DataFrame:
    """The rows of one method, metric and axis that the test selects."""
    (method, variant), *_ = one.methods
    return select(
        chosen(rows, test["select"]), method=method, variant=variant, metric=test["metric"], axis=test["axis"]
    )


POWER_OF_BOX = {
    "properties": {
        "of": {"$ref": "#/$defs/method"},
        "between": {"type": "array", "items": {"type": "number"}},
        "tolerance": {"type": "number", "exclusiveMinimum": 0},
    },
    "required": ["of", "between"],
}


def power_of_box(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """The duality gap after the same number of rounds grows with the box parameter C by a power between two bounds, up
    to ``tolerance`` standard errors of it; one point a number of features, by least squares on the logarithms over all
    variants of the method.
    """
    own = select(chosen(rows, test["select"]), method=test["of"], metric="duality_gap")
    own = own.assign(C=[settings["options"].get("C", 1.0) for settings in settings_of(own)])
    found = []
    for (dataset, size), cell in own.groupby(["dataset", "n_features_label"], sort=False):
        means = cell.groupby("C")["value"].mean()
        means = means[means > 0]
        power = estimates.power_law(means.index.tolist(), means.tolist())
        if power is None:
            continue
        spread = estimates.SIGMAS * power.error
        estimate = Estimate(power.exponent, power.exponent - spread, power.exponent + spread, power.error)
        bounds = list(zip(("at_least", "at_most"), map(float, test["between"]), strict=True))
        told = f"{power} for C = {means.index.min():g} to {means.index.max():g}"
        where = {"dataset": dataset, "n_features_label": size}
        found.append(point(where, estimate, "power of C", told, judged(test, estimate, bounds, None)))
    return found
