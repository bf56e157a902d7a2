"""Printed numbers beside the measured ones: the one join of data/reference with the rows of the experiments.

``config/scorecard.yaml`` says which experiment has the numbers of a printed table under each protocol, and which rows
they are; here they meet, cell by cell, and ``scorecard`` judges them. Every table and picture that sets printed numbers
beside ours goes this way.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from rfstudy.metrics import fact_of
from rfstudy.report.aggregate import by_repeat, facts_of, select, settings_of
from rfstudy.report.cells import absent
from rfstudy.report.context import Context
from rfstudy.report.derived import undefined
from rfstudy.report.notes import absence, comparability, quantity, stand_in_of
from rfstudy.report.plot_styles import plot_style
from rfstudy.report.published import printed_text
from rfstudy.report.scorecard import VERDICTS, Number, Score, half_unit, quotient, score
from rfstudy.report.times import ROUND, Ratio, by_rounds, ratio
from rfstudy.report.typeset import Cell

#: What a verdict rests on, as columns.
JUDGED = ("difference", "margin", "standard error", "in standard errors")


class Place(NamedTuple):
    """A printed cell: where it stands and what it is of."""

    table: str
    dataset: str
    kernel: str
    size: str
    method: str
    metric: str


class Compared(NamedTuple):
    """A printed number beside ours under one protocol, or beside none.

    ``published`` is None for a number that is lost and ``ours`` where there is none, for which ``why`` gives the
    reason; ``rows`` are the measured ones of the cell. A number that is divided by that of a method has it in ``over``;
    ``learner`` is the one of ours, "" where the map alone has the number.
    """

    place: Place
    printed: dict
    over: str
    learner: str
    protocol: str
    experiment: str
    published: Number | None
    ours: Number | Ratio | None
    rows: pd.DataFrame
    why: str
    score: Score


def printed_cells(published: pd.DataFrame, paper: str, table: str, kernel: str | None = None) -> dict[Place, dict]:
    """The rows (as dicts, ``settings`` parsed) of the printed numbers of a table, lost ones among them, by place."""
    rows = select(published, paper=paper, experiment=table, kernel=kernel)
    cells = {}
    for row, settings in zip(rows.to_dict("records"), settings_of(rows), strict=True):
        if "text" in settings:
            continue
        columns = ("experiment", "dataset", "kernel", "n_features_label", "method", "metric")
        cells[Place(*(row[column] for column in columns))] = row | {"settings": settings}
    return cells


class Quantity(NamedTuple):
    """The measured rows of one quantity of a data set in an experiment: by size and method, and why they may not be set
    against a printed number ("" if they may), with what stood in for the data."""

    cells: dict[tuple[str, str], pd.DataFrame]
    nothing: pd.DataFrame
    incomparable: str
    stand_in: str

    def cell(self, size: str, method: str) -> pd.DataFrame:
        """The rows of a size and method; of a stand-in that was run at one size only, whatever it is, those."""
        sizes = {each for each, _ in self.cells}
        return self.cells.get((*sizes, method) if self.stand_in and len(sizes) == 1 else (size, method), self.nothing)


def measured_as(printed: str, measured: set[str], tasks: dict) -> str:
    """The data set that stands beside the printed numbers of one: the same, or where that is none of those that were
    measured the one that the registry has ``in_place_of`` it.
    """
    others = [each for each in sorted(measured) if tasks.get(each, {}).get("in_place_of") == printed]
    return printed if printed in measured or not others else others[0]


class Measured:
    """The rows of one report by quantity, for many look-ups."""

    #: What a cell is made from; the fewer columns there are, the quicker a frame is cut.
    COLUMNS = (
        "run", "dataset", "stand_in", "method", "n_features_label", "axis", "at", "repeat", "n_train", "n_test",
        "value", "status", "settings",
    )  # fmt: skip

    def __init__(self, rows: pd.DataFrame, tasks: dict):
        self.rows, self.tasks = rows, tasks
        self._found: dict[tuple, Quantity] = {}
        self._datasets: dict[str, set[str]] = {}

    def dataset(self, experiment: str, printed: str) -> str:
        """The data set of an experiment that stands beside the printed numbers of one (``measured_as``)."""
        if experiment not in self._datasets:
            self._datasets[experiment] = set(select(self.rows, experiment=experiment)["dataset"])
        return measured_as(printed, self._datasets[experiment], self.tasks)

    def quantity(self, experiment: str, dataset: str, metric: str, of: dict, kernel: str) -> Quantity:
        """The rows of a metric, and of the ``learner`` and ``split`` that an entry of the mapping says; of the methods
        that it names under ``variants`` those of a variant, of an experiment with several kernels those of one."""
        what = {"experiment": experiment, "dataset": self.dataset(experiment, dataset), "metric": metric}
        what |= {"learner": of.get("learner"), "split": of.get("split")}
        variants = of.get("variants", {})
        key = (*what.values(), kernel, *variants.items())
        if key not in self._found:
            rows = select(self.rows, **what, axis=["", ROUND])
            if rows["kernel"].nunique() > 1:
                rows = select(rows, kernel=kernel)
            wanted = np.array([variants.get(method, "") for method in rows["method"]], dtype=object)
            rows = rows[rows["variant"].to_numpy() == wanted][list(self.COLUMNS)]
            cells = dict(iter(rows.groupby(["n_features_label", "method"], sort=False)))
            incomparable = comparability(rows, self.tasks) or undefined(metric, what["dataset"], self.tasks)
            self._found[key] = Quantity(cells, rows.iloc[:0], incomparable, stand_in_of(rows))
        return self._found[key]

    def data(self, experiment: str, dataset: str) -> pd.DataFrame:
        """The facts about a data set of an experiment; only where there are none its rows, which may be capped."""
        rows = select(self.rows, experiment=experiment, dataset=dataset)
        facts = facts_of(rows)
        return facts if len(facts) else rows


def compared(context: Context, spec: dict, table: str | None = None, of: dict | None = None) -> list[Compared]:
    """Every printed result of a paper beside ours, once for each learner and each of the specification's experiments
    that has it.

    Of ``spec``: ``paper``, ``experiments`` and ``scorecard``, what ``config/scorecard.yaml`` has for the paper. Where
    they are given, only the numbers of a ``table``, and of a quantity (``of``: its ``metric``, and the ``learner`` if
    it names one).
    """
    measured = Measured(context.rows, context.tasks)
    found = []
    for entry in spec["scorecard"]["numbers"]:
        if table not in (None, entry["table"]):
            continue
        cells = printed_cells(context.published, spec["paper"], entry["table"], entry.get("kernel"))
        protocols = {p: name for p, name in entry.get("experiments", {}).items() if name in spec["experiments"]}
        if "not_run" in entry:
            protocols = {"": ""}
        for (protocol, name), (place, printed) in itertools.product(protocols.items(), cells.items()):
            ours = entry["metrics"].get(place.metric)
            if ours is None or place.method == ours.get("over", ()) or (of and not _is_of(of, place.metric, ours)):
                continue
            found.append(_compared(place, printed, cells, entry, protocol, name, measured))
    return found


def _is_of(of: dict, metric: str, ours: dict) -> bool:
    """Whether a metric with what an entry of the mapping says of ours is a quantity."""
    return of["metric"] == metric and of.get("learner") in (None, ours.get("learner"))


def _compared(place, printed, cells, entry, protocol, name, measured: Measured) -> Compared:
    """One printed number beside ours under one protocol."""
    ours_is = entry["metrics"][place.metric]
    over = ours_is.get("over", "")
    theirs = published_number(printed, entry.get("repeats"))
    if over:
        divisor = cells.get(place._replace(method=over))
        of_divisor = published_number(divisor, entry.get("repeats")) if divisor else None
        theirs = quotient(theirs, of_divisor) if theirs and of_divisor else None
    shared = {"place": place, "printed": printed, "over": over, "learner": ours_is.get("learner", "")}
    shared |= {"protocol": protocol, "experiment": name}
    if not name:
        lost = Score(None, None, None, "not run")
        return Compared(**shared, published=theirs, ours=None, rows=measured.rows[:0], why=entry["not_run"], score=lost)
    if "column" in ours_is:
        rows = measured.data(name, place.dataset)
        values = rows[ours_is["column"]].dropna()
        ours, incomparable = Number(float(values.max())) if len(values) else None, ""
        stand_in = stand_in_of(rows)
    else:
        of = measured.quantity(name, place.dataset, place.metric, ours_is, place.kernel)
        rows = of.cell(place.size, place.method)
        ours = our_number(rows, of.cell(place.size, over) if over else None)
        incomparable, stand_in = of.incomparable, of.stand_in
    # of a stand-in not even the distance to a printed number means anything
    judged = judge(place.metric, None if stand_in else theirs, ours, not incomparable)
    return Compared(**shared, published=theirs, ours=ours, rows=rows, why="" if ours else absence(rows), score=judged)


def judge(metric: str, theirs: Number | None, ours: Number | Ratio | None, comparable: bool) -> Score:
    """The verdict on one cell; a ratio by rounds has the standard error of its median."""
    if not isinstance(ours, Ratio):
        return score(metric, theirs, ours, comparable)
    number = Number(ours.value, repeats=ours.rounds or None, error=ours.error)
    return score(metric, theirs, number, comparable and not ours.contended, ours.too_noisy)


def published_number(printed: dict, repeats: int | None = None) -> Number | None:
    """A printed number with its spread; None where it is lost.

    ``repeats`` are those of the paper, for a spread that does not say over how many it is.
    """
    if printed["status"] != "ok":
        return None
    kind, spread = printed["spread_kind"], printed["spread"]
    runs = re.search(r"over (\d+) runs", kind)
    known = spread == spread
    return Number(
        printed["value"],
        std=spread if known and kind.startswith("std") else None,
        repeats=int(runs[1]) if runs else repeats,
        error=spread if known and kind == "standard error" else None,
        rounding=half_unit(printed["settings"]["printed"]),
    )


def our_number(rows: pd.DataFrame, over: pd.DataFrame | None = None) -> Number | Ratio | None:
    """Mean and standard deviation over repeats of a cell or of its ratio to another; of times by rounds the ratio."""
    if over is not None and any(len(by_rounds(each)) for each in (rows, over)):
        return ratio(rows, over)
    values = by_repeat(rows)
    if over is not None:
        values = (values / by_repeat(over)).dropna()
    if not len(values):
        return None
    return Number(float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else None, len(values))


def our_cell(ours: Number | Ratio, decimals: int = 2) -> Cell:
    """Our number with its spread, or its quartiles over the rounds."""
    if isinstance(ours, Ratio):
        remark = "contended" if ours.contended else ""
        quartiles = "" if ours.lower is None else f"[{ours.lower:.{decimals}f}, {ours.upper:.{decimals}f}]"
        text = " ".join(filter(None, (f"{ours.value:.{decimals}f}", quartiles, remark)))
        told = {"": ours.value, "lower_quartile": ours.lower, "upper_quartile": ours.upper, "remark": remark}
        return Cell(text, told)
    text = f"{ours.value:.{decimals}f}" + ("" if ours.std is None else f" ± {ours.std:.{decimals}f}")
    return Cell(text, {"": ours.value, "std": ours.std, "remark": ""})


def printed_as(each: Compared) -> Cell:
    """The printed number as it stands there, or the ratio that it is compared by."""
    if not each.over:
        return printed_text(each.printed)
    if each.published is None:
        return absent("lost")
    return Cell(f"{each.published.value:.2f}", {"": each.published.value, "remark": ""})


def judgement(each: Compared) -> dict:
    """What the verdict on a cell rests on and the verdict, by the names of the columns."""
    numbers = (each.score.difference, each.score.margin, each.score.error, each.score.in_errors)
    decimals = (2, 2, 3, 1) if fact_of(each.place.metric).is_percentage or each.over else (4, 4, 4, 1)
    rounded = [None if value is None else round(value, n) for value, n in zip(numbers, decimals, strict=True)]
    return dict(zip(JUDGED, rounded, strict=True)) | {"verdict": each.score.verdict}


def quantity_in_words(each: Compared, styles: dict) -> str:
    """What a number is of: "ridge accuracy", "generation time over that of RFF"."""
    label = quantity(each.place.metric, each.learner)
    return f"{label} over that of {plot_style(each.over, styles).label}" if each.over else label


def counts(cells: list[Compared], lead: str) -> str:
    """How often every verdict was given: "Verdicts, 4 printed cells: reproduced 3, better 1."."""
    verdicts = [each.score.verdict for each in cells]
    words = ", ".join(f"{word} {verdicts.count(word)}" for word in VERDICTS if word in verdicts)
    return f"{lead}, {len(verdicts)} printed cell{'s' if len(verdicts) > 1 else ''}: {words}."


def counts_by_confidence(cells: list[Compared]) -> list[str]:
    """The counts of all cells and, where they differ in how sure the printed number is, of each kind."""
    kinds = dict.fromkeys(each.printed["confidence"] for each in cells)
    of_kinds = {kind: [each for each in cells if each.printed["confidence"] == kind] for kind in kinds}
    told = [counts(of_kind, kind.capitalize()) for kind, of_kind in of_kinds.items()] if len(kinds) > 1 else []
    return [counts(cells, "Verdicts"), *told]


def unmatched(published: pd.DataFrame, paper: str, mapping: dict) -> Iterator[tuple[str, str]]:
    """(table, metric) of the printed numbers of a paper that no entry of the mapping has, or more than one."""
    numbers = select(published, paper=paper)
    numbers = numbers[["text" not in s for s in settings_of(numbers)]]
    scored = [(entry["table"], metric) for entry in mapping["numbers"] for metric in entry["metrics"]]
    for place in dict.fromkeys(zip(numbers["experiment"], numbers["metric"], strict=True)):
        left = [
            entry
            for entry in mapping.get("not_scored", [])
            if entry["table"] == place[0] and place[1] in entry.get("metrics", place[1:])
        ]
        if len(left) + (place in scored) != 1:
            yield place
