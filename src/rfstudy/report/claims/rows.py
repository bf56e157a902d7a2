"""The rows that a claim is tested on: selection, the samples of methods at each place, and names for the evidence."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from rfstudy.metrics import fact_of
from rfstudy.report.aggregate import select, settings_of
from rfstudy.report.claims.points import Part, Point
from rfstudy.report.claims.samples import Sample, Side, side
from rfstudy.report.compare import overlap_of
from rfstudy.report.context import Context
from rfstudy.report.notes import LEARNER_NAMES, absence, comparability
from rfstudy.report.plot_styles import plot_style
from rfstudy.report.published import printed_name
from rfstudy.report.times import COSTS, ROUND, machine_busy, shortest

#: Columns of the size of a map.
SIZE = ("n_features", "n_features_label")

#: What identifies a place.
PLACE = ("experiment", "dataset", "kernel", "learner", "n_train", "d", *SIZE, "axis", "at", "direction")

#: Columns that the repeats of a sample share.
OF_SPLIT = ("experiment", "dataset", "stand_in", "learner", "metric", "n_train", "n_test", "split")

#: Columns of a measurement.
OF_VALUE = ("status", "settings", "unit", "value", "spread", "kind", "machine_busy", "run")

#: Metrics of predictions: other rows or labels than the paper's change them.
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
    all : rows of all experiments of the claim, times summed as the papers print them
    frame : the selected rows
    context : of the report: labels of methods and data sets, and how the data were split
    paper : whose names of the data sets are printed
    datasets : the selected data sets, in the order of the evidence; none if the experiments make their data
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

    def of(self, datasets=None, sizes=None, where: str = "", set_aside: dict | None = None, **columns) -> Rows:
        """The rows of data sets, of sizes (by their labels) and of values of other ``columns``.

        Parameters
        ----------
        where : condition for ``DataFrame.query``; ``share`` is the size over the largest of the data set
        set_aside : data sets that must not decide -> reason
        """
        datasets = None if datasets is None else listed(datasets)
        frame = select(self.frame, dataset=datasets, n_features_label=sizes, **columns)
        if where:
            frame = usable(frame)
            asked = frame.astype({"n_features": float, "d": float, "at": float})  # NaN meets no condition, NA raises
            asked["share"] = asked["n_features"] / asked.groupby(["experiment", "dataset"])["n_features"].transform(
                "max"
            )
            frame = frame[asked.eval(where).to_numpy(dtype=bool)]
        datasets, set_aside = datasets or self.datasets, self.set_aside | (set_aside or {})
        return replace(self, frame=frame, datasets=datasets, set_aside=set_aside)

    def usable(self, method: str = "", **columns) -> pd.DataFrame:
        """The selected rows that are ok and of the paper's own data; of a method ("slsrff/identity" for a variant)."""
        if method:
            columns |= dict(zip(("method", "variant"), side(method).methods[0], strict=True))
        return usable(self.frame, **columns)

    def places(self, metric: str, *sides: Side | str, by_repeat: bool = False) -> Iterator[tuple[dict, list[Sample]]]:
        """Yield each place at which all sides were measured, as a dict of its columns, with a sample of each side.

        A side of several methods is the one with the lowest or highest mean there, and needs all of them. With
        ``by_repeat`` every repeat is a place. ``ValueError`` if two rows are of the same measurement.
        """
        sides = [side(each) for each in sides]
        fixed = ["size"] if any(each.size for each in sides) else []
        fixed += ["at"] if any(each.at is not None or each.per_feature for each in sides) else []
        dropped = {*(SIZE if "size" in fixed else ()), *(("axis", "at") if "at" in fixed else ())}
        columns = [column for column in PLACE if column not in dropped] + ["repeat"] * by_repeat
        asked = list(dict.fromkeys([*columns, *PLACE, *OF_SPLIT, *OF_VALUE, "method", "variant"]))
        cells: dict[tuple, dict[tuple, list[dict]]] = {}
        table = self.measured(metric, sides)[asked].astype(object)
        for values in table.where(table.notna(), None).to_numpy():
            row = dict(zip(asked, values, strict=True))
            own = self._fixed(row["n_features_label"], row["at"], fixed)
            key = (row["method"], row["variant"]), row["metric"], *own
            cells.setdefault(tuple(row[column] for column in columns), {}).setdefault(key, []).append(row)
        for place, cell in cells.items():
            where = dict(zip(columns, place, strict=True))
            samples = [self._sample_of(cell, each, metric, where, fixed) for each in sides]
            if all(sample is not None for sample in samples):
                yield where, samples

    @staticmethod
    def _fixed(size, at, fixed: list[str]) -> list:
        return [value for name, value in (("size", size), ("at", at)) if name in fixed]

    def _sample_of(self, cell: dict, one: Side, metric: str, where: dict, fixed: list[str]) -> Sample | None:
        at = one.per_feature * where["n_features"] if one.per_feature else one.at
        key = one.metric or metric, *self._fixed(one.size or None, at, fixed)
        own = {who: rows for who in one.methods + one.also if (rows := cell.get((who, *key)))}
        if not all(who in own for who in one.methods):
            return None
        samples = [self.sample(who, rows) for who, rows in own.items()]
        return one.pick(samples, key=lambda each: each.mean) if one.pick else samples[0]

    def measured(self, metric: str, sides: list[Side]) -> pd.DataFrame:
        """The usable rows of sides, by data set and size, with ``unit``, ``kind``, ``direction`` and ``machine_busy``.

        Costs are the shortest of their rounds. If several metrics are compared, the rows of a map alone are repeated
        for every learner.
        """
        metrics = {each.metric or metric for each in sides}
        frame = shortest(self.frame) if metrics & set(COSTS) else self.frame
        rows = of_sides(usable(frame, metric=metrics), sides)
        rows = _for_every_learner(rows) if len(metrics) > 1 else rows
        rounds, pooled = rows["axis"].eq(ROUND), rows["axis"].eq("distance")
        units = zip(rounds, rows["run"], rows["at"], rows["repeat"], strict=True)
        order = {dataset: position for position, dataset in enumerate(self.datasets)}
        return rows.assign(
            kind=np.select([rounds, pooled], ["rounds", "pooled"], "repeats"),
            direction=[each.get("direction", "") for each in settings_of(rows)] if pooled.any() else "",
            unit=[(run, at) if is_round else repeat for is_round, run, at, repeat in units],
            machine_busy=machine_busy(rows) if rounds.any() else False,
            axis=rows["axis"].mask(rounds, ""),
            at=rows["at"].mask(rounds),
            position=rows["dataset"].map(lambda dataset: order.get(dataset, len(order))),
        ).sort_values(["position", "n_features"], kind="stable")

    def sample(self, who: tuple[str, str], rows: list[dict]) -> Sample:
        """The sample of a method: its rows of one place and metric."""
        values = {row["unit"]: float(row["value"]) for row in rows}
        first = rows[0]
        if len(values) < len(rows):
            raise ValueError(f"{len(rows) - len(values)} rows repeat a measurement of {first['metric']}, of {who[0]}")
        if first["kind"] == "pooled":
            error = math.sqrt(sum(row["spread"] ** 2 for row in rows)) / len(rows)
            return Sample(who, values, "pooled", error)
        if first["kind"] == "rounds":
            return Sample(who, values, "rounds", machine_busy=any(row["machine_busy"] for row in rows))
        split = tuple(first[column] for column in OF_SPLIT)
        if split not in self.overlaps:
            self.overlaps[split] = overlap_of(pd.DataFrame(rows), self.context)
        return Sample(who, values, overlap=self.overlaps[split], runs=frozenset(row["run"] for row in rows))

    def part(self, points, metric: str = "", sides=(), always=(), in_errors: bool = False) -> Part:
        """The points as a part of the claim: with their places in words, the data sets that are missing, and the
        reasons of points that must not decide.

        Parameters
        ----------
        metric, sides : what was compared; scores are set aside on data sets with other rows or labels than the paper's,
            and on those on which none of the methods learned anything
        always : columns of the place that are printed even if they do not vary
        """
        reasons = self._reasons([side(each) for each in sides]) if metric in PREDICTIONS else {}
        reasons |= self.set_aside
        points = [each if each.reason else replace(each, reason=reasons.get(each.where.get("dataset"), ""))
                  for each in points]  # fmt: skip
        run = {name for each in points for name in each.where.get("datasets", [each.where.get("dataset")])}
        return Part(
            self._named(points, always),
            datasets=tuple(self.dataset(each) for each in self.datasets if each in run),
            missing={self.dataset(each): self._why_not_run(each) for each in self.datasets if each not in run},
            in_errors=in_errors,
        )

    def _why_not_run(self, dataset: str) -> str:
        own = select(self.all, dataset=[dataset])
        why = "a stand-in" if len(own) and (own["stand_in"] != "").all() else absence(own)
        return "" if ((own["status"] == "ok").any() and why != "a stand-in") or why == "not run" else why

    def _reasons(self, sides: list[Side]) -> dict[str, str]:
        """Data sets on which predictions must not decide, and why."""
        rows = of_sides(self.usable(metric=PREDICTIONS), sides)
        found = {dataset: "nothing was learned" for _, dataset in unlearned(self.all, rows)}
        for dataset, of_dataset in rows.groupby("dataset", sort=False):
            if comparability(of_dataset, self.context.tasks):
                found[dataset] = "not comparable"
        return found

    def _named(self, points: list[Point], always) -> list[Point]:
        """The points with their places in words: the data set and kernel head a group, what varies otherwise tells the
        points apart."""
        wheres = [each.where for each in points]
        columns = ["side", SIZE[1]] if self.datasets else ["side", SIZE[1], "d", "n_train", "direction", "at", "repeat"]
        heads = [column for column in ("experiment", "kernel", "learner") if self._varies(column, wheres)]
        varying = [column for column in columns if len({str(where.get(column)) for where in wheres}) > 1]
        varying = varying or (SIZE[1:] if self.datasets else always)
        found = []
        for each in points:
            dataset = self.dataset(each.where["dataset"]) if self.datasets and "dataset" in each.where else ""
            also = [LEARNER_NAMES.get(each.where[column], str(each.where[column])) for column in heads]
            place = ", ".join(filter(None, (_in_words(column, each.where) for column in varying)))
            found.append(replace(each, place=place, group=" ".join(filter(None, (dataset, *also)))))
        return found

    def _varies(self, column: str, wheres: list[dict]) -> bool:
        """Whether places differ in a column, within one data set if the rows are of data sets."""
        found: dict[str, set[str]] = {}
        for where in wheres:
            found.setdefault(str(where.get("dataset")) if self.datasets else "", set()).add(str(where.get(column)))
        return any(len(values) > 1 for values in found.values())

    def dataset(self, dataset: str) -> str:
        """What the paper calls a data set."""
        return printed_name(self.context.tasks, dataset, self.paper)

    def method(self, method: str) -> str:
        """The label of a method ("slsrff/identity" for a variant)."""
        return self.name(side(method))

    def name(self, one: Side | str, metric: str = "") -> str:
        """A side in words: "SLS-RFF", "worse of LS-RFF and SLS-RFF", "least of 7 others"."""
        one = side(one)
        names = [plot_style(method, self.context.styles, variant).label for method, variant in one.methods + one.also]
        if not one.pick or len(names) == 1:
            at = f"{one.per_feature:g} * n_features" if one.per_feature else "" if one.at is None else f"{one.at:g}"
            return " ".join([*names, *(f"at {each}" for each in (one.size, at) if each)])
        least = one.pick is min
        if len(names) > 3:
            return f"{'least' if least else 'most'} of {len(names)} others"
        fact = fact_of(metric)
        if fact.unit == "s":
            word = "quicker" if least else "slower"
        elif fact.better:
            word = "better" if least == (fact.better == "low") else "worse"
        else:
            word = "lower" if least else "higher"
        return f"{word} of {', '.join(names[:-1])} and {names[-1]}"


def listed(names) -> tuple[str, ...]:
    """One name or several as a tuple."""
    return (names,) if isinstance(names, str) else tuple(names)


def usable(frame: pd.DataFrame, **columns) -> pd.DataFrame:
    """The rows that are ok and of the paper's own data, with the wanted values of columns."""
    return select(frame, status="ok", stand_in="", **columns)


def of_sides(frame: pd.DataFrame, sides: list[Side]) -> pd.DataFrame:
    """The rows of the methods of sides."""
    methods = {who for each in sides for who in each.methods + each.also}
    keep = [who in methods for who in zip(frame["method"], frame["variant"], strict=True)]
    return frame[np.array(keep, dtype=bool)]


def unlearned(frame: pd.DataFrame, rows: pd.DataFrame) -> set[tuple[str, str]]:
    """(experiment, data set) of accuracies (``rows``) none of which is, in the mean at any size, over half a point
    above the share of the larger class.

    That share p follows from how often two rows agree by chance, a fact of the data: p^2 + (1 - p)^2 for two classes.
    """
    facts = select(frame, metric="fact_neighbours_agree_by_chance", status="ok")
    chance = facts.groupby(["experiment", "dataset"])["value"].mean()
    found = set()
    for place, cell in select(rows, metric="accuracy_pct").groupby(["experiment", "dataset"]):
        if chance.get(place, 0.0) < 0.5:  # more than two classes, or not known
            continue
        majority = 50.0 * (1.0 + math.sqrt(2.0 * chance[place] - 1.0))
        means = cell.groupby(["method", "variant", "n_features", "learner"], dropna=False)["value"].mean()
        if means.max() <= majority + NOTHING:
            found.add(place)
    return found


def _for_every_learner(rows: pd.DataFrame) -> pd.DataFrame:
    learners, alone = sorted(set(rows["learner"]) - {""}), rows["learner"] == ""
    copies = [rows[alone].assign(learner=learner) for learner in learners]
    return pd.concat([rows[~alone], *copies]) if learners else rows


def _in_words(column: str, where: dict) -> str:
    value = where.get(column)
    if value is None or value == "" or pd.isna(value):
        return ""
    if column in ("side", "n_features_label", "direction"):
        return str(value)
    return f"{ {'n_train': 'n', 'at': AXES.get(where.get('axis'), 'at')}.get(column, column) } = {value:,g}"
