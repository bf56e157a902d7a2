"""Tests of claims of Shahrampour et al. (AAAI 2018) that fit no form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from rfstudy.report.aggregate import select, settings_of
from rfstudy.report.claims.compared import Names, Sample, chosen, difference, places, rows_of, side, sides, spearman
from rfstudy.report.claims.forms import along_sizes, better
from rfstudy.report.claims.points import Point, number
from rfstudy.report.claims.words import signed
from rfstudy.report.compare import family, is_effect, overlap_of, paired
from rfstudy.report.error_and_time import Timed, curve, within
from rfstudy.report.estimates import SIGMAS, largest_half, power_law

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
        "largest": {"type": "string"},
    },
    "required": ["metric", "of", "minus", "largest"],
}


def gap_above(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """The difference ``of`` minus another is ``largest`` on one data set (claim eerf-18)."""
    wanted = [side(test["of"]), side(test["minus"])]
    gaps: dict[str, dict[str, float]] = {}
    for where, (first, second) in places(rows_of(rows, test, wanted), wanted, test, names):
        gaps.setdefault(where["learner"], {})[where["dataset"]] = first.mean - second.mean
    found = []
    for learner, of_learner in gaps.items():
        own = of_learner.get(test["largest"])
        for dataset, gap in of_learner.items() if own is not None else ():
            if dataset != test["largest"]:
                told = f"{signed(own, test['metric'])} against {signed(gap, test['metric'])}"
                where = {"dataset": dataset, "datasets": [test["largest"], dataset], "learner": learner}
                what = f"gap on {names.dataset(test['largest'])} and here"
                found.append(Point(own - gap, 0.0, own > gap, where=where, what=what, told=told))
    return found


ERROR_IN_TIME = {
    "properties": {
        "metric": {"$ref": "#/$defs/metric"},
        "of": {"$ref": "#/$defs/method"},
        "over": {"$ref": "#/$defs/method"},
        "times": {"type": "object", "additionalProperties": {"$ref": "#/$defs/metric"}},
        "states": {"enum": ["ahead", "crosses once"]},
    },
    "required": ["metric", "of", "over", "times", "states"],
}


def error_in_time(rows: pd.DataFrame, test: dict, names: Names) -> list[Point]:
    """The best error within a time: ``of`` is "ahead" of ``over`` within every time (claim eerf-14), or behind at first
    and ahead at last, and "crosses once" (claim eerf-15).

    What can be had changes at the times of the sizes (``times`` has the metric of each method). A method that has
    nothing yet is behind, which says nothing of who is "ahead": those times are set aside.
    """
    found = []
    for race in _races(rows, test, names):
        best = [[within(points, budget) for points in race.curves] for budget in race.budgets]
        if test["states"] == "ahead":
            pairs = zip(race.budgets, best, strict=True)
            found += [_ahead(race, budget, pair, test, names) for budget, pair in pairs]
        else:
            found.append(_crossing(race, best))
    return found


class Race(NamedTuple):
    """Two methods on one data set with one learner: the times of all their sizes, rising, both curves, and how much
    their repeats overlap."""

    where: dict
    budgets: list[float]
    curves: list[list[Timed]]
    overlap: float


def _races(rows: pd.DataFrame, test: dict, names: Names) -> Iterator[Race]:
    """Wherever both methods of a test have errors and times."""
    own = chosen(rows, test["select"])
    errors = select(own, metric=test["metric"], split="test")
    for place, cell in errors.groupby(["experiment", "dataset", "learner"], sort=False):
        where = dict(zip(("experiment", "dataset", "learner"), place, strict=True))
        here = select(own, experiment=where["experiment"], dataset=where["dataset"])
        quantity = {"metric": test["metric"], "learner": where["learner"], "split": "test"}
        curves = [curve(here, method, quantity, test["times"][method]) for method in (test["of"], test["over"])]
        if all(curves):
            budgets = sorted({point.time for points in curves for point in points})
            yield Race(where, budgets, curves, overlap_of(cell, names.context))


def _ahead(race: Race, budget: float, pair: list[Timed | None], test: dict, names: Names) -> Point:
    place = race.where | {"n_features_label": f"{budget:.3g} s"}
    what = f"{names.method((test['over'], ''))} minus {names.method((test['of'], ''))} within the time"
    own, other = pair
    if own is None or other is None:
        only = names.method((test["over"] if own is None else test["of"], ""))
        difference = -np.inf if own is None else np.inf
        told, aside = f"only {only}", "the other has nothing yet"
        return Point(difference, 0.0, own is not None, where=place, what=what, told=told, aside=aside)
    gap = other.error - own.error
    beside = "contended" if own.contended or other.contended else ""
    low, high = paired(other.errors, own.errors, race.overlap)[1:3]
    return Point(
        gap, 0.0, gap > 0, where=place, what=what, told=signed(gap, test["metric"]), low=low, high=high,
        opposite=bool(high < 0), aside=beside,
    )  # fmt: skip


def _crossing(race: Race, best: list[list[Timed | None]]) -> Point:
    ahead = [
        -1.0 if own is None else 1.0 if other is None else float(np.sign(other.error - own.error))
        for own, other in best
    ]
    changes = int(np.count_nonzero(np.diff(ahead)))
    first = next((f"{t:.3g} s" for t, sign in zip(race.budgets, ahead, strict=True) if sign > 0), "nowhere")
    told = f"ahead from {first}" + (f", {changes} changes" if changes > 1 else "")
    holds = ahead[0] < 0 < ahead[-1] and changes == 1
    contended = any(point is not None and point.contended for pair in best for point in pair)
    aside = "contended" if contended else "" if len(race.budgets) > 1 else "cut off by the grid"
    return Point(ahead[-1], 0.0, holds, where=race.where, what="best error within the time", told=told, aside=aside)


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

    So many pairs of sizes are compared that some differ by as much through chance: a loss has to be told as an effect
    too, with Holm's correction over the pairs of a data set and learner. ``of`` walks the option, and ``chosen`` has in
    its settings what validation chose of it at every size: so neither value is the better one on the test rows by its
    choice.
    """
    chosen_at = _chosen(rows, test)
    walked = rows_of(rows, test, sides(test["of"]))
    cells: dict[tuple, dict[str, dict[float, Sample]]] = {}
    for where, (own,) in places(walked, sides(test["of"]), test, names):
        key = where["experiment"], where["dataset"], where["learner"]
        cells.setdefault(key, {}).setdefault(where["n_features_label"], {})[where["at"]] = own
    found = []
    for key, by_size in cells.items():
        losses, tests = [], {}
        best = {label: chosen_at.get((*key, label)) for label in by_size}
        where = dict(zip(("experiment", "dataset", "learner"), key, strict=True))
        for label, by_value in by_size.items():
            for other, value in best.items():
                if label == other or best[label] not in by_value or value not in by_value:
                    continue
                theirs, own = by_value[value], by_value[best[label]]
                loss = difference(theirs, own)
                bound = test["by"] * (loss.error if np.isfinite(loss.error) else 0.0)
                told = f"{signed(loss.value, test['metric'])} with that of {other}"
                tests[len(losses)] = paired(pd.Series(theirs.values), pd.Series(own.values), own.overlap)
                losses.append(
                    Point(
                        loss.value, bound, loss.value > bound, where=where | {"n_features_label": label}, told=told,
                        what="loss by another size's choice", low=loss.low, high=loss.high, error=loss.error,
                        aside="" if np.isfinite(loss.low) else "too few repeats",
                    )
                )  # fmt: skip
        tests = family(tests)
        found += [
            replace(point, holds=point.holds and is_effect(tests[i], test["metric"])) for i, point in enumerate(losses)
        ]
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

    One point for the rank correlation, which has to be one, and one for the power over the larger half of the places,
    where an asymptotic one shows, which has to be below zero by its errors.
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
        lacking = lacking[lacking.index.isin(largest_half(means.index))]
        power = power_law(lacking.index, lacking)
        if power is not None:
            falls = power.exponent + SIGMAS * power.error < 0
            what = "power of what it lacks to one"
            found.append(Point(power.exponent, 0.0, falls, where=where, what=what, told=str(power)))
    return found
