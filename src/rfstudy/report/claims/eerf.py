"""Tests of claims of Shahrampour et al. (AAAI 2018) that fit no form."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from rfstudy.report.aggregate import select, settings_of
from rfstudy.report.claims.compared import (
    Estimate,
    Names,
    Sample,
    chosen,
    difference,
    places,
    rows_of,
    sample,
    side,
    sides,
    spearman,
)
from rfstudy.report.claims.forms import along_sizes, better
from rfstudy.report.claims.points import Point, number
from rfstudy.report.claims.words import signed
from rfstudy.report.error_and_time import Timed, curve, within
from rfstudy.report.estimates import SIGMAS, power_law

FEWER_FEATURES = {
    "properties": {
        "metric": {"$ref": "#/$defs/metric"},
        "of": {"$ref": "#/$defs/side"},
        "over": {"$ref": "#/$defs/sides"},
    },
    "required": ["metric", "of", "over"],
}


def fewer_features(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """``of`` reaches with no more features what each of ``over`` reaches (claim eerf-05).

    The targets are the errors that a baseline reaches, each at the first size where its mean is that low.
    """
    found, sign = [], better(test["metric"])
    for other in sides(test["over"]):
        what = f"features of {names.side(side(test['of']))}/{names.side(other)} to a target"
        for where, samples in along_sizes(rows, test, names, [side(test["of"]), other]):
            labels = list(samples)
            own, theirs = (np.array([sign * each[i].mean for each in samples.values()]) for i in (0, 1))
            for position in range(len(labels)):
                if position and theirs[position] <= theirs[:position].max():
                    continue  # reached before
                reached = np.flatnonzero(own >= theirs[position])
                first = int(reached[0]) if len(reached) else len(labels)
                told = f"{labels[first] if len(reached) else 'never'}/{labels[position]}"
                place = where | {"n_features_label": labels[position]}
                found.append(Point(float(first - position), 0.0, first <= position, where=place, what=what, told=told))
    return found


GAP_ABOVE = {
    "properties": {
        "metric": {"$ref": "#/$defs/metric"},
        "of": {"$ref": "#/$defs/side"},
        "minus": {"$ref": "#/$defs/side"},
        "on": {"type": "string"},
    },
    "required": ["metric", "of", "minus", "on"],
}


def gap_above(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """The difference ``of`` minus another is larger ``on`` one data set than on each other one (claim eerf-18)."""
    wanted = [side(test["of"]), side(test["minus"])]
    gaps: dict[str, dict[str, float]] = {}
    for where, (first, second) in places(rows_of(rows, test, wanted), wanted, test, names):
        gaps.setdefault(where["learner"], {})[where["dataset"]] = first.mean - second.mean
    found = []
    for learner, of_learner in gaps.items():
        own = of_learner.get(test["on"])
        for dataset, gap in of_learner.items() if own is not None else ():
            if dataset != test["on"]:
                told = f"{signed(own, test['metric'])} against {signed(gap, test['metric'])}"
                where = {"dataset": dataset, "learner": learner}
                what = f"gap on {names.dataset(test['on'])} and here"
                found.append(Point(own - gap, 0.0, own > gap, where=where, what=what, told=told))
    return found


#: Of both tests of curves of errors and times: the error, and by method the time that is its own.
AGAINST_TIME = {
    "properties": {
        "metric": {"$ref": "#/$defs/metric"},
        "of": {"$ref": "#/$defs/method"},
        "over": {"$ref": "#/$defs/method"},
        "times": {"type": "object", "additionalProperties": {"$ref": "#/$defs/metric"}},
    },
    "required": ["metric", "of", "over", "times"],
}


def against_time(rows: pd.DataFrame, test: dict) -> Iterator[tuple[dict, list[float], list[list[Timed]]]]:
    """For every experiment, data set and learner: the budgets, which are the times of the sizes of both methods, and
    both curves."""
    own = chosen(rows, test["select"])
    errors = select(own, metric=test["metric"], split="test")
    for (experiment, dataset, learner), _ in errors.groupby(["experiment", "dataset", "learner"], sort=False):
        here = select(own, experiment=experiment, dataset=dataset)
        quantity = {"metric": test["metric"], "learner": learner, "split": "test"}
        curves = [curve(here, method, quantity, test["times"][method]) for method in (test["of"], test["over"])]
        if all(curves):
            budgets = sorted({point.time for points in curves for point in points})
            yield {"experiment": experiment, "dataset": dataset, "learner": learner}, budgets, curves


AHEAD_IN_TIME = {
    "properties": {
        "metric": {"$ref": "#/$defs/metric"},
        "of": {"$ref": "#/$defs/method"},
        "over": {"$ref": "#/$defs/method"},
        "times": {"type": "object", "additionalProperties": {"$ref": "#/$defs/metric"}},
    },
    "required": ["metric", "of", "over", "times"],
}


def ahead_in_time(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """Within every time the best of the sizes of ``of`` is better than that of ``over`` (claim eerf-14).

    What can be had within a time changes at the times of the sizes; a method that has nothing yet is behind.
    """
    found = []
    for where, budgets, (own, other) in against_time(rows, test):
        for budget in budgets:
            first, second = within(own, budget), within(other, budget)
            if first is None or second is None:
                estimate, told = Estimate(np.nan), f"only {names.method((test['over' if second else 'of'], ''))}"
                holds = second is None
            else:
                estimate = difference(*(_sample(each, test, names, rows, where) for each in (first, second)))
                told, holds = signed(estimate.value, test["metric"]), estimate.value < 0
            found.append(
                Point(
                    estimate.value, 0.0, bool(holds), where=where | {"n_features_label": f"{budget:.3g} s"}, told=told,
                    what="best error within the time, difference", low=estimate.low, high=estimate.high,
                    opposite=bool(estimate.low > 0) or (first is None),
                )
            )  # fmt: skip
    return found


def _sample(timed: Timed, test: dict, names: Names, rows: pd.DataFrame, where: dict) -> Sample:
    """The errors of one size as a sample, which knows how its repeats were split."""
    own = select(rows, metric=test["metric"], split="test", axis="", variant="", n_features_label=timed.label, **where)
    who = next(method for method in (test["of"], test["over"]) if method in set(own["method"]))
    methods = select(own, method=who, status="ok")
    methods = methods.assign(unit=methods["repeat"], kind="repeats")
    found = sample((who, ""), methods.astype(object).to_dict("records"), names)
    return found._replace(values=dict(timed.errors))


CROSSES_IN_TIME = AHEAD_IN_TIME


def crosses_in_time(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """Along the time the best of ``of`` is worse than that of ``over`` at first, better at last, and they cross once
    (claim eerf-15)."""
    found = []
    for where, budgets, (own, other) in against_time(rows, test):
        ahead = []
        for budget in budgets:
            first, second = within(own, budget), within(other, budget)
            if first is None or second is None:
                ahead.append(-1.0 if first is None else 1.0)
            else:
                ahead.append(float(np.sign(second.error - first.error)))
        changes = int(np.count_nonzero(np.diff(ahead)))
        crossing = next((f"{t:.3g} s" for t, sign in zip(budgets, ahead, strict=True) if sign > 0), "never")
        holds = ahead[0] < 0 < ahead[-1] and changes == 1
        told = f"ahead from {crossing}" + (f", {changes} changes" if changes > 1 else "")
        found.append(Point(ahead[-1], 0.0, holds, where=where, told=told, what="best error within the time"))
    return found


RETUNED = {
    "properties": {
        "metric": {"$ref": "#/$defs/metric"},
        "of": {"$ref": "#/$defs/method"},
        "chosen": {"$ref": "#/$defs/method"},
        "option": {"type": "string"},
        "by": {"type": "number"},
    },
    "required": ["metric", "of", "chosen", "option", "by"],
}


def retuned(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """What was chosen of an option at one size costs more than ``by`` standard errors at another (claim eerf-25).

    ``of`` walks the option, and ``chosen`` has in its settings what validation chose of it at every size: so neither
    value is the better one on the test rows by its choice.
    """
    chosen_at = _chosen(rows, test)
    walked = rows_of(rows, test, sides(test["of"]))
    cells: dict[tuple, dict[str, dict[float, Sample]]] = {}
    for where, (own,) in places(walked, sides(test["of"]), test, names):
        key = where["experiment"], where["dataset"], where["learner"]
        cells.setdefault(key, {}).setdefault(where["n_features_label"], {})[where["at"]] = own
    found = []
    for key, by_size in cells.items():
        best = {label: chosen_at.get((*key, label)) for label in by_size}
        where = dict(zip(("experiment", "dataset", "learner"), key, strict=True))
        for label, by_value in by_size.items():
            for other, value in best.items():
                if label == other or best[label] not in by_value or value not in by_value:
                    continue
                loss = difference(by_value[value], by_value[best[label]])
                bound = test["by"] * (loss.error if np.isfinite(loss.error) else 0.0)
                told = f"{signed(loss.value, test['metric'])} with that of {other}"
                found.append(
                    Point(
                        loss.value, bound, loss.value > bound, where=where | {"n_features_label": label}, told=told,
                        what="loss by another size's choice", low=loss.low, high=loss.high, error=loss.error,
                    )
                )  # fmt: skip
    return found


def _chosen(rows: pd.DataFrame, test: dict) -> dict[tuple, float]:
    """What was chosen of the option, by experiment, data set, learner and size; the choices of a size are one."""
    own = chosen(rows, test["select"])
    method, _, variant = test["chosen"].partition("/")
    own = select(own, metric=test["metric"], method=method, variant=variant, split="test")
    found = {}
    for row, settings in zip(own.to_dict("records"), settings_of(own), strict=True):
        value = settings.get("options", settings).get(test["option"])
        if value is not None:
            found[row["experiment"], row["dataset"], row["learner"], row["n_features_label"]] = float(value)
    return found


RISES_TOWARDS_ONE = {
    "properties": {"metric": {"$ref": "#/$defs/metric"}, "of": {"$ref": "#/$defs/method"}, "axis": {"type": "string"}},
    "required": ["metric", "of", "axis"],
}


def rises_towards_one(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """A value rises with its place on an axis, and what it lacks to one falls as a power of it (claim eerf-27).

    One point for the rank correlation, which has to be one, and one for the power, which has to be below zero by its
    errors.
    """
    own = select(rows_of(rows, test, sides(test["of"])), axis=test["axis"])
    found = []
    for dataset, cell in own.groupby("dataset", sort=False):
        means = cell.groupby("at")["value"].mean()
        if len(means) < 3:
            continue
        where, rho = {"dataset": dataset}, spearman(means.index, means)
        ends = f"{number(means.iloc[0])} to {number(means.iloc[-1])}"
        found.append(Point(rho, 1.0, rho > 1 - 1e-9, where=where, what="rank correlation", told=f"{rho:+.2f}, {ends}"))
        lacking = (1.0 - means).where(means < 1.0).dropna()
        power = power_law(lacking.index, lacking)
        if power is not None:
            falls = power.exponent + SIGMAS * power.error < 0
            what = "power of what it lacks to one"
            found.append(Point(power.exponent, 0.0, falls, where=where, what=what, told=str(power)))
    return found
