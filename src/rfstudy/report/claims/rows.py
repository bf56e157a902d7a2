"""The rows that a claim is tested on: selection, the samples of methods at each point, and names for the evidence."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
import pandas as pd

from rfstudy.report.aggregate import select, settings_of
from rfstudy.report.catalogue import as_list
from rfstudy.report.chance import majority_pct
from rfstudy.report.claims.points import Part, Point
from rfstudy.report.claims.samples import Sample, Side, side, sides
from rfstudy.report.compare import overlap_of
from rfstudy.report.context import Context
from rfstudy.report.notes import LEARNER_NAMES, absence, comparability
from rfstudy.report.times import COSTS, ROUND, machine_busy, shortest

#: Columns of the size of a map.
SIZE = ("n_features", "n_features_label")

#: Columns that identify the coordinates of a comparison.
PLACE = ("experiment", "dataset", "kernel", "learner", "n_train", "d", *SIZE, "axis", "at", "direction")

#: Columns that the repeats of a sample share.
OF_SPLIT = ("experiment", "dataset", "stand_in", "learner", "metric", "n_train", "n_test", "split")

#: Other columns that are read from the rows of a sample.
OF_SAMPLE = (
    *OF_SPLIT, *SIZE, "method", "variant", "axis", "at", "value", "spread", "run", "unit", "status", "settings",
    "machine_busy",
)  # fmt: skip

#: Values that identify a measurement of the paper's own data.
USABLE = {"status": "ok", "stand_in": ""}

#: Columns of the coordinates that head a group of points in the evidence.
HEADS = ("experiment", "kernel", "learner")

#: Metrics of predictions, which depend on the rows and labels.
PREDICTIONS = ("accuracy_pct", "error_pct")

#: Points of accuracy above the share of the larger class up to which nothing was learned.
NOTHING = 0.5

#: Names of axes in the evidence.
AXES = {"distance": "z", "penalty": "lambda"}


@dataclass(frozen=True)
class Rows:
    """Measured rows of the experiments of a claim.

    Parameters
    ----------
    all : rows of all experiments of the claim, with times summed as in the papers
    frame : the selected rows
    context : of the report: labels of methods and data sets, and how the data were split
    paper : the paper whose names of the data sets are used
    datasets : the selected data sets, in the order of the evidence; none if the experiments generate their data
    set_aside : data sets that must not decide -> reason
    overlaps : known overlaps of the training sets (a cache)
    """

    all: pd.DataFrame
    frame: pd.DataFrame
    context: Context
    paper: str
    datasets: tuple[str, ...] = ()
    set_aside: dict = field(default_factory=dict)
    overlaps: dict = field(default_factory=dict)

    def of(self, datasets=None, sizes=None, where: str = "", set_aside: dict | None = None, **columns) -> Self:
        """Return the rows of data sets, of sizes (by their labels) and of values of other ``columns``.

        Parameters
        ----------
        where : condition for ``DataFrame.query``; ``share`` is the size over the largest of the data set
        set_aside : data sets that must not decide -> reason
        """
        datasets = None if datasets is None else tuple(as_list(datasets))
        frame = select(self.frame, dataset=datasets, n_features_label=sizes, **columns)
        if where:
            frame = select(frame, **USABLE)
            asked = frame.astype({"n_features": float, "d": float, "at": float})  # NaN meets no condition, NA raises
            largest = asked.groupby(["experiment", "dataset"])["n_features"].transform("max")
            asked["share"] = asked["n_features"] / largest
            frame = frame[asked.eval(where).to_numpy(dtype=bool)]
        datasets, set_aside = datasets or self.datasets, self.set_aside | (set_aside or {})
        return replace(self, frame=frame, datasets=datasets, set_aside=set_aside)

    def usable(self, **columns) -> pd.DataFrame:
        """Return the selected rows that are ok and of the paper's own data, with the wanted values of columns."""
        return select(self.frame, **USABLE, **columns)

    def places(self, metric: str, *compared, by_repeat: bool = False) -> Iterator[tuple[dict, list[Sample]]]:
        """Yield the coordinates at which all sides were measured, by column, with a sample of each side.

        A side of several methods is the one with the lowest or highest mean there, and needs all of them. With
        ``by_repeat`` every repeat has coordinates of its own. ``ValueError`` if two rows are the same measurement.
        """
        of = sides(*compared)
        fixed = set(SIZE if any(each.size for each in of) else ())
        fixed |= set(("axis", "at") if any(each.at is not None for each in of) else ())
        columns = [column for column in PLACE if column not in fixed] + ["repeat"] * by_repeat
        names = list(dict.fromkeys([*columns, *OF_SAMPLE]))
        table = self.measured(metric, *of)[names].astype(object)
        cells: dict[tuple, dict[tuple, list[dict]]] = {}
        # many times as quick as to_dict of pandas
        for values in table.where(table.notna(), None).itertuples(index=False, name=None):
            row = dict(zip(names, values, strict=True))
            found = cells.setdefault(tuple(row[column] for column in columns), {})
            found.setdefault((row["method"], row["variant"]), []).append(row)
        for place, found in cells.items():
            samples = [self._sample_of(one, found, metric) for one in of]
            if all(sample is not None for sample in samples):
                yield dict(zip(columns, place, strict=True)), samples

    def by_place(self, metric: str, *compared, key: tuple[str, ...]) -> dict[tuple, tuple[dict, list[Sample]]]:
        """Return the yield of ``places``, by the values of some columns of the coordinates."""
        return {tuple(each[0][column] for column in key): each for each in self.places(metric, *compared)}

    def _sample_of(self, one: Side, found: dict, metric: str) -> Sample | None:
        """Return the sample of a side, from the rows of methods at one point; None if one of its methods is missing."""
        samples = []
        for who in one.methods + one.also:
            if rows := [row for row in found.get(who, ()) if one.takes(row, metric)]:
                samples.append(self.sample(who, rows))
            elif who in one.methods:
                return None
        return one.pick(samples, key=lambda each: each.mean) if one.pick else samples[0]

    def measured(self, metric: str, *compared) -> pd.DataFrame:
        """Return the usable rows of sides, by data set and size, with ``direction`` and ``unit``: the repeat or round.

        Costs are the shortest of their rounds. If several metrics are compared, the rows of a map alone are repeated
        for every learner.
        """
        of = sides(*compared)
        metrics = {each.metric or metric for each in of}
        frame = shortest(self.frame) if metrics & set(COSTS) else self.frame
        rows = of_sides(select(frame, **USABLE, metric=metrics), of)
        rows = _for_every_learner(rows) if len(metrics) > 1 else rows
        rounds = rows["axis"].eq(ROUND)
        order = {dataset: position for position, dataset in enumerate(self.datasets)}
        return rows.assign(
            direction=[each.get("direction", "") for each in settings_of(rows)],
            unit=rows["repeat"].astype(object).mask(rounds, rows["at"]),
            at=rows["at"].mask(rounds),
            machine_busy=machine_busy(rows),
            position=rows["dataset"].map(lambda dataset: order.get(dataset, len(order))),
        ).sort_values(["position", "n_features"], kind="stable")

    def sample(self, who: tuple[str, str], rows: list[dict]) -> Sample:
        """Return the sample of a method, from its rows of one metric at one point."""
        axis = rows[0]["axis"]
        values = {(row["run"], row["unit"]) if axis == ROUND else row["unit"]: float(row["value"]) for row in rows}
        if len(values) < len(rows):
            raise ValueError(f"{len(rows) - len(values)} rows repeat a measurement of {rows[0]['metric']}, of {who[0]}")
        if axis == "distance":
            return Sample(who, values, "pooled", math.hypot(*(row["spread"] for row in rows)) / len(rows))
        if axis == ROUND:
            return Sample(who, values, "rounds", machine_busy=any(row["machine_busy"] for row in rows))
        split = tuple(rows[0][column] for column in OF_SPLIT)
        if split not in self.overlaps:
            self.overlaps[split] = overlap_of(pd.DataFrame(rows[:1]), self.context)
        return Sample(who, values, overlap=self.overlaps[split])

    def part(self, points, metric: str = "", *compared, in_errors: bool = False) -> Part:
        """Return the points as a part of the claim.

        The part has their coordinates in words, the data sets that are missing, and the reasons of points that must not
        decide.

        Parameters
        ----------
        metric, compared : quantities that were compared
            Data sets with other rows or labels than the paper's in these are set aside, as in the tables of published
            numbers. So are scores on data sets on which none of the methods learned anything
        """
        reasons = self._reasons(metric, sides(*compared)) | self.set_aside
        points = [replace(each, reason=each.reason or reasons.get(each.where.get("dataset"), "")) for each in points]
        run = {name for each in points for name in each.where.get("datasets", [each.where.get("dataset")])}
        return Part(
            self._named(points),
            datasets=tuple(self.dataset(each) for each in self.datasets if each in run),
            missing={self.dataset(each): self._why_not_run(each) for each in self.datasets if each not in run},
            in_errors=in_errors,
        )

    def _why_not_run(self, dataset: str) -> str:
        own = select(self.all, dataset=[dataset])
        if len(own) and (own["stand_in"] != "").all():
            return "a stand-in"
        return "" if not len(own) or (own["status"] == "ok").any() else absence(own)

    def _reasons(self, metric: str, of: list[Side]) -> dict[str, str]:
        """Return the data sets that must not decide, and why."""
        rows, found = of_sides(self.usable(), of) if of else self.usable(), {}
        if metric in PREDICTIONS:
            found = dict.fromkeys(unlearned(self.all, rows, self.context.tasks), "nothing was learned")
        # times may be capped where accuracies are not
        metrics = {each.metric or metric for each in of}
        compared = rows[rows["metric"].isin(metrics)] if any(metrics) else rows
        for dataset, of_dataset in compared.groupby("dataset", sort=False):
            if comparability(of_dataset, self.context.tasks):
                found[dataset] = "not comparable"
        return found

    def _named(self, points: list[Point]) -> list[Point]:
        """Return the points with their coordinates in words.

        The data set and the values that vary within it head a group. The values that vary otherwise distinguish the
        points.
        """
        columns = ["side", SIZE[1]] if self.datasets else ["side", SIZE[1], "d", "n_train", "direction", "at", "repeat"]
        by_dataset: dict[str, list[dict]] = {}
        for each in points:
            by_dataset.setdefault(each.where.get("dataset", ""), []).append(each.where)
        heads = [column for column in HEADS if any(_differ(column, wheres) for wheres in by_dataset.values())]
        varying = [column for column in columns if _differ(column, [each.where for each in points])]
        varying = varying or [SIZE[1] if self.datasets else "d"]
        found = []
        for each in points:
            dataset = self.dataset(each.where["dataset"]) if self.datasets and "dataset" in each.where else ""
            also = [LEARNER_NAMES.get(each.where[column], str(each.where[column])) for column in heads]
            place = ", ".join(filter(None, (_in_words(column, each.where) for column in varying)))
            found.append(replace(each, place=place, group=" ".join(filter(None, (dataset, *also)))))
        return found

    def dataset(self, dataset: str) -> str:
        """Return the name of a data set in the paper."""
        return self.context.name(dataset, self.paper)

    def name(self, one: Side | str) -> str:
        """Return a side in words: "SLS-RFF", "lowest of LS-RFF and SLS-RFF", "highest of 7 others"."""
        one = side(one)
        names = [self.context.label(*who) for who in one.methods + one.also]
        if one.pick and len(names) > 1:
            several = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) < 4 else f"{len(names)} others"
            return f"{'lowest' if one.pick is min else 'highest'} of {several}"
        return " at ".join(filter(None, (*names, one.size, "" if one.at is None else f"{one.at:g}")))


def of_sides(frame: pd.DataFrame, of: list[Side]) -> pd.DataFrame:
    """Return the rows of the methods of sides."""
    methods = {who for each in of for who in each.methods + each.also}
    keep = [who in methods for who in zip(frame["method"].tolist(), frame["variant"].tolist(), strict=True)]
    return frame[np.array(keep, dtype=bool)]


def unlearned(frame: pd.DataFrame, rows: pd.DataFrame, tasks: dict) -> set[str]:
    """Return the data sets on which no method learned anything.

    On these, no accuracy in ``rows`` is, in the mean at any size, over half a point above the share of the larger of
    two classes, a fact of the data in ``frame``.
    """
    place = ["experiment", "dataset", "method", "variant", "n_features", "learner"]
    means = select(rows, metric="accuracy_pct").groupby(place, dropna=False)["value"].mean()
    found = set()
    for (experiment, dataset), most in means.groupby(level=place[:2]).max().items():
        share = majority_pct(select(frame, experiment=experiment), dataset, tasks)
        found |= {dataset} if share is not None and most <= share + NOTHING else set()
    return found


def _for_every_learner(rows: pd.DataFrame) -> pd.DataFrame:
    learners, alone = sorted(set(rows["learner"]) - {""}), rows["learner"] == ""
    copies = [rows[alone].assign(learner=learner) for learner in learners]
    return pd.concat([rows[~alone], *copies]) if learners else rows


def _differ(column: str, wheres: list[dict]) -> bool:
    return len({str(where.get(column)) for where in wheres}) > 1


def _in_words(column: str, where: dict) -> str:
    value = where.get(column)
    if value is None or isinstance(value, str) or pd.isna(value):
        return value or ""
    name = {"n_train": "n", "at": AXES.get(where.get("axis"), "at")}.get(column, column)
    return f"{name} = {value:,g}"
