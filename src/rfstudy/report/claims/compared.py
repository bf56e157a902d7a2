"""From tidy rows to what the forms of claims compare: samples of methods at places, and estimates with intervals.

A *side* of a comparison is a method (``slsrff``), a variant of one (``slsrff/identity``), or the ``least`` or ``most``
of several, which is settled at every place by their means. A *sample* is what was measured of a method at a place, by
repeat or, for times, by round. An *estimate* is a difference or ratio of two samples with its interval:

* repeats are paired, and the interval is that of the t distribution at 95 %. Where they are random splits of the same
  rows, their training sets overlap and the variance of a score is corrected (Nadeau and Bengio, 2003: factor
  1/R + n_test/n_train in place of 1/R). Under five repeats there is none,
* rounds are paired within one record, and the range of their ratios takes its place, which holds the median with 94 %
  for five rounds and more for more,
* values that have a standard error of their own (draws of a map) are pooled over repeats, and it is ``SIGMAS`` errors
  to each side.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

from rfstudy.metrics import fact_of
from rfstudy.report.aggregate import select, settings_of
from rfstudy.report.compare import LEVEL, MIN_REPEATS, overlap_of
from rfstudy.report.compare import paired as paired_test
from rfstudy.report.context import Context
from rfstudy.report.estimates import SIGMAS
from rfstudy.report.plot_styles import plot_style
from rfstudy.report.published import printed_name
from rfstudy.report.times import COSTS, ROUND, TOO_WIDE, contended, shortest

#: What tells two places apart; a side that names its size or metric is at no other.
PLACE = [
    "experiment", "dataset", "kernel", "learner", "n_train", "d", "n_features", "n_features_label", "axis", "at",
    "direction",
]  # fmt: skip

#: What a sample needs of a row, beside its place.
OF_SAMPLES = [
    "experiment", "dataset", "stand_in", "status", "learner", "metric", "n_train", "n_test", "split", "settings",
    "unit", "value", "spread", "kind", "contended", "run",
]  # fmt: skip

#: Columns that say how many rows a score is about.
SPLIT = ("n_train", "n_test", "split")

#: Columns that sides may fix, each to a value of its own.
FIXED = ("n_features_label", "at")

#: Columns of the size of a map.
SIZE = ["n_features", "n_features_label"]

#: Accuracies up to so many points above the share of the larger class show that nothing was learned.
NOTHING = 0.5


class Side(NamedTuple):
    """Methods with their variants; ``pick`` is "least" or "most" where several are one side, ``also`` those that count
    where they were measured; ``columns`` it fixes."""

    methods: tuple[tuple[str, str], ...]
    pick: str = ""
    columns: tuple[tuple[str, str], ...] = ()
    also: tuple[tuple[str, str], ...] = ()

    @property
    def all(self) -> tuple[tuple[str, str], ...]:
        """The methods that it needs and those that count too."""
        return self.methods + self.also


class Sample(NamedTuple):
    """What was measured of one method at one place, by unit (repeat or round)."""

    who: tuple[str, str]
    values: dict  # unit -> value
    kind: str  # repeats | rounds | pooled
    error: float = math.nan  # of the mean, where the values have errors of their own
    contended: bool = False
    overlap: float = 0.0  # n_test / n_train where repeats share training rows
    records: frozenset = frozenset()  # the runs that it is of

    @property
    def mean(self) -> float:
        """The mean over repeats, or the median over rounds."""
        values = list(self.values.values())
        return float(np.median(values) if self.kind == "rounds" else np.mean(values))

    @property
    def std(self) -> float:
        """Standard deviation over repeats."""
        return deviation(list(self.values.values()))


class Estimate(NamedTuple):
    """A value with its interval (missing ends where there is none) and standard error, and why it cannot speak."""

    value: float
    low: float = math.nan
    high: float = math.nan
    error: float = math.nan
    aside: str = ""


class Found(NamedTuple):
    """One place with the samples of the sides that were asked for there; ``where`` has the columns of the place."""

    where: dict
    samples: list[Sample]


@dataclass(frozen=True)
class Names:
    """The context of a report, which knows what methods and data sets are called and how the data were split, and the
    paper whose names they are."""

    context: Context
    paper: str
    overlaps: dict = field(default_factory=dict)  # what was found of how repeats overlap

    def method(self, who: tuple[str, str]) -> str:
        """The label of a method and its variant."""
        return plot_style(who[0], self.context.styles, who[1]).label

    def side(self, side: Side, metric: str = "") -> str:
        """A side in words: "SLS-RFF", "worse of LS-RFF and SLS-RFF", "lowest of 7 maps"."""
        names = [self.method(who) for who in side.all]
        fixed = [value for column, value in side.columns if column in ("n_features_label", "at")]
        if not side.pick or len(names) == 1:
            return " ".join([*names, *(f"at {value}" for value in fixed)])
        fact = fact_of(metric)
        if len(names) > 3:
            return f"{'least' if side.pick == 'least' else 'most'} of {len(names)} others"
        if fact.unit == "s":
            word = "quicker" if side.pick == "least" else "slower"
        elif fact.better:
            word = "better" if (side.pick == "least") == (fact.better == "low") else "worse"
        else:
            word = "lower" if side.pick == "least" else "higher"
        return f"{word} of {', '.join(names[:-1])} and {names[-1]}"

    def dataset(self, dataset: str) -> str:
        """What the paper calls a data set."""
        return printed_name(self.context.tasks, dataset, self.paper)


def side(told) -> Side:
    """One side as an entry tells it: a method, the ``least`` or ``most`` of methods (and ``also`` of some that need not
    have been measured), or a method with ``columns``.
    """
    if isinstance(told, str):
        method, _, variant = told.partition("/")
        return Side(((method, variant),))
    for pick in ("least", "most"):
        if pick in told:
            named = (tuple(side(each).methods[0] for each in told.get(key, [])) for key in (pick, "also"))
            return Side(next(named), pick, also=next(named))
    columns = {"size": "n_features_label", "metric": "metric", "at": "at"}
    fixed = tuple((columns[key], value) for key, value in told.items() if key in columns)
    return Side(side(told["method"]).methods, "", fixed)


def sides(told) -> list[Side]:
    """Sides that are compared one after the other."""
    return [side(each) for each in (told if isinstance(told, list) else [told])]


def chosen(frame: pd.DataFrame, wanted: dict) -> pd.DataFrame:
    """The rows that a claim is about: those that an entry's ``select`` names, ok and of the paper's own data."""
    wanted = dict(wanted)
    keep = frame["status"].eq("ok").to_numpy() & frame["stand_in"].eq("").to_numpy()
    if "share" in wanted:
        largest = frame[keep].groupby(["experiment", "dataset"])["n_features"].max()
        of_rows = pd.MultiIndex.from_frame(frame[["experiment", "dataset"]])
        frame = frame.assign(share=(frame["n_features"] / largest.reindex(of_rows).to_numpy()).astype("float64"))
    settings = wanted.pop("settings", {})
    for column, value in wanted.items():
        keep &= _matches(frame, column, value)
    rows = frame[keep]
    if settings:
        told = settings_of(rows)
        keep = [all(each.get(key) == value for key, value in settings.items()) for each in told]
        rows = rows[np.array(keep, dtype=bool)]
    return rows


def _matches(frame: pd.DataFrame, column: str, wanted) -> np.ndarray:
    if column == "multiple":
        values = (frame["n_features"] / frame["d"]).astype("float64")
    else:
        values = frame["n_features_label" if column == "sizes" else column]
    if not isinstance(wanted, dict):
        return values.isin(wanted if isinstance(wanted, list) else [wanted]).to_numpy(dtype=bool)
    values = values.astype("float64").to_numpy()
    keep = np.isfinite(values)
    for border, bound in wanted.items():
        keep &= BORDERS[border](values, bound)
    return keep


#: What a value has to be beside a bound.
BORDERS = {
    "above": lambda value, bound: value > bound,
    "at_least": lambda value, bound: value >= bound,
    "below": lambda value, bound: value < bound,
    "at_most": lambda value, bound: value <= bound,
}


def rows_of(frame: pd.DataFrame, test: dict, wanted: list[Side]) -> pd.DataFrame:
    """The rows of a test's sides, with ``unit``, ``direction`` and ``kind``; times by rounds where there are rounds."""
    metrics = {value for each in wanted for column, value in each.columns if column == "metric"}
    if metrics & set(COSTS) or test.get("metric") in COSTS:
        frame = shortest(frame)
    rows = chosen(frame, test.get("select", {}))
    rows = select(rows, metric=sorted(metrics | ({test["metric"]} if "metric" in test else set())))
    rows = of_methods(rows, {who for each in wanted for who in each.all})
    rows = beside_learners(rows) if len(metrics) > 1 else rows
    rounds, pooled = rows["axis"].eq(ROUND), rows["axis"].eq("distance")
    told = settings_of(rows) if pooled.any() else [{}] * len(rows)
    rows = rows.assign(
        kind=np.select([rounds, pooled], ["rounds", "pooled"], "repeats"),
        direction=[each.get("direction", "") for each in told],
        unit=[(run, at) if is_round else repeat for is_round, run, at, repeat in
              zip(rounds, rows["run"], rows["at"], rows["repeat"], strict=True)],
        contended=contended(rows) if rounds.any() else False,
        axis=rows["axis"].mask(rounds, ""),
        at=rows["at"].mask(rounds),
    )  # fmt: skip
    return in_order(rows, test)


def beside_learners(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows, those of a map alone once for every learner: what a map takes stands beside what each of them does."""
    learners = sorted(set(rows["learner"]) - {""})
    alone = rows["learner"] == ""
    if not learners or not alone.any():
        return rows
    return pd.concat([rows[~alone], *(rows[alone].assign(learner=learner) for learner in learners)])


def of_methods(rows: pd.DataFrame, methods) -> pd.DataFrame:
    """The rows of methods, each with its variant."""
    keep = [who in methods for who in zip(rows["method"], rows["variant"], strict=True)]
    return rows[np.array(keep, dtype=bool)]


def in_order(rows: pd.DataFrame, test: dict) -> pd.DataFrame:
    """The rows by data set, in the order of the entry, and size."""
    listed = test.get("select", {}).get("dataset", [])
    listed = [listed] if isinstance(listed, str) else listed
    order = {dataset: position for position, dataset in enumerate(listed)}
    position = rows["dataset"].map(lambda dataset: order.get(dataset, len(order)))
    return rows.assign(position=position).sort_values(["position", "n_features"], kind="stable")


def places(rows: pd.DataFrame, wanted: list[Side], test: dict, names: Names) -> Iterator[Found]:
    """Every place at which all of the sides were measured, in order, with a sample of each.

    A side of several methods is the one of them with the least or largest mean there, and needs all of them.
    ``ValueError`` if two rows claim to be the same measurement.
    """
    fixed = {column for each in wanted for column, _ in each.columns}
    columns = [column for column in PLACE if column not in fixed]
    if "n_features_label" in fixed:
        columns = [column for column in columns if column not in SIZE]
    if "at" in fixed:
        columns = [column for column in columns if column != "axis"]
    columns += ["repeat"] if test.get("each") == "repeat" else []
    cells: dict[tuple, dict[tuple, list[dict]]] = {}
    of_rows = ["method", "variant", "metric", *FIXED, *OF_SAMPLES]
    asked = list(dict.fromkeys([*columns, *of_rows]))
    table = rows[asked].astype(object)
    for values in table.where(table.notna(), None).to_numpy():
        row = dict(zip(asked, values, strict=True))
        own = ((row["method"], row["variant"]), row["metric"], *(row[each] for each in FIXED if each in fixed))
        cells.setdefault(tuple(row[column] for column in columns), {}).setdefault(own, []).append(row)
    for where, cell in cells.items():
        place = dict(zip(columns, where, strict=True))
        found = [_sample_of(cell, each, test, names, place, fixed) for each in wanted]
        if all(sample is not None for sample in found):
            yield Found(place, found)


def _sample_of(
    cell: dict[tuple, list[dict]], wanted: Side, test: dict, names: Names, place: dict, fixed: set[str]
) -> Sample | None:
    columns = dict(wanted.columns)
    if isinstance(columns.get("at"), str):
        columns["at"] = formula(columns["at"], place)
    there = (columns.get("metric", test.get("metric")), *(columns.get(each) for each in FIXED if each in fixed))
    own = {who: rows for who in wanted.all if (rows := cell.get((who, *there)))}
    if not all(who in own for who in wanted.methods):
        return None
    samples = [sample(who, rows, names) for who, rows in own.items()]
    if not wanted.pick:
        return samples[0]
    return (min if wanted.pick == "least" else max)(samples, key=lambda each: each.mean)


def sample(who: tuple[str, str], rows: list[dict], names: Names) -> Sample:
    """The sample of one method: its rows of one place and metric."""
    values = {row["unit"]: float(row["value"]) for row in rows}
    first = rows[0]
    if len(values) < len(rows):
        raise ValueError(f"{len(rows) - len(values)} rows repeat a measurement of {first['metric']}, of {who[0]}")
    if first["kind"] == "pooled":
        error = math.sqrt(sum(row["spread"] ** 2 for row in rows)) / len(rows)
        return Sample(who, values, "pooled", error)
    if first["kind"] == "rounds":
        return Sample(who, values, "rounds", contended=any(row["contended"] for row in rows))
    # all cells of a quantity were split alike
    alike = tuple(first[column] for column in ("experiment", "dataset", "stand_in", "learner", "metric", *SPLIT))
    if alike not in names.overlaps:
        names.overlaps[alike] = overlap_of(pd.DataFrame(rows), names.context)
    records = frozenset(row["run"] for row in rows)
    return Sample(who, values, "repeats", overlap=names.overlaps[alike], records=records)


def formula(text: str, where: dict) -> float:
    """The value of a formula of the columns of a place: ``6 * at / sqrt(d)``."""
    known = {name: float(value) for name, value in where.items() if isinstance(value, int | float | np.number)}
    return float(pd.eval(text, local_dict=known, global_dict={}, engine="python"))


def deviation(values) -> float:
    """Standard deviation (ddof = 1), missing for a single value."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else math.nan


def paired(one: Sample, other: Sample) -> tuple[np.ndarray, np.ndarray]:
    """The values of two samples at the units that both have."""
    units = [unit for unit in one.values if unit in other.values]
    return np.array([one.values[unit] for unit in units]), np.array([other.values[unit] for unit in units])


def interval(values, overlap: float = 0.0) -> tuple[float, float]:
    """The interval of a mean of paired differences (n,), missing under ``MIN_REPEATS`` of them."""
    return paired_test(values, 0.0, overlap)[1:3]


def single(own: Sample) -> Estimate:
    """The mean of one sample."""
    if own.kind == "pooled":
        return _around(own.mean, own.error)
    values = list(own.values.values())
    if own.kind == "rounds":
        return Estimate(own.mean, *_range(values))
    return Estimate(own.mean, *interval(values, own.overlap), error=_error(values, own.overlap))


def difference(one: Sample, other: Sample) -> Estimate:
    """The first mean minus the second; the interval is that of the units that both have."""
    value = one.mean - other.mean
    if one.kind == "pooled":
        return _around(value, math.hypot(one.error, other.error))
    first, second = paired(one, other)
    pairs = first - second
    if not len(pairs):
        return Estimate(value)
    if one.kind == "rounds":
        return Estimate(value, *_range(pairs))
    low, high = interval(pairs, one.overlap)
    # the means are over all repeats of each, the interval over those of both
    shift = value - float(pairs.mean())
    return Estimate(value, low + shift, high + shift, error=_error(pairs, one.overlap))


def quotient(one: Sample, other: Sample, is_time: bool) -> Estimate | None:
    """The first over the second.

    By rounds the median of the ratios within one record, set aside where other work ran beside one or their quartiles
    are too far apart; None where the two share no round. Otherwise the ratio of the means, with the interval of
    the logarithms of the paired ratios. Times by repeat have no interval, for they were not taken in turns, and are set
    aside where none of one record is there to compare.
    """
    first, second = paired(one, other)
    if one.kind == "rounds":
        if not len(first):
            return None
        ratios = first / second
        lower, value, upper = (float(np.quantile(ratios, share)) for share in (0.25, 0.5, 0.75))
        noisy = "too noisy" if upper - lower > TOO_WIDE * value else ""
        aside = "contended" if one.contended or other.contended else noisy
        return Estimate(value, *_range(ratios), aside=aside)
    value = one.mean / other.mean
    if is_time:
        return Estimate(value, aside="" if one.records & other.records else "timed apart")
    if len(first) < MIN_REPEATS or (first <= 0).any() or (second <= 0).any():
        return Estimate(value)
    logarithms = np.log(first / second)
    low, high = interval(logarithms, one.overlap)
    shift = math.log(value) - float(logarithms.mean())
    return Estimate(value, math.exp(low + shift), math.exp(high + shift))


def _range(values) -> tuple[float, float]:
    """The range of rounds, missing under ``MIN_REPEATS`` of them."""
    return (float(np.min(values)), float(np.max(values))) if len(values) >= MIN_REPEATS else (math.nan, math.nan)


def _around(value: float, error: float) -> Estimate:
    return Estimate(value, value - SIGMAS * error, value + SIGMAS * error, error)


def _error(values, overlap: float) -> float:
    return deviation(values) * math.sqrt(1 / len(values) + overlap)


def pooled_deviation(one: Sample, other: Sample) -> float:
    """The root mean square of two standard deviations over repeats."""
    return math.sqrt((one.std**2 + other.std**2) / 2)


def spearman(x, y) -> float:
    """Rank correlation of x and y, both (n,); missing where one of them does not vary."""
    ranks = [pd.Series(np.asarray(each, dtype=float)).rank().to_numpy() for each in (x, y)]
    if any(np.ptp(each) == 0 for each in ranks):
        return math.nan
    return float(np.corrcoef(*ranks)[0, 1])


def fisher(rho: float, n: int) -> tuple[float, float]:
    """The 95 % interval of a rank correlation of n pairs, by Fisher's transformation (variance 1.06 / (n - 3))."""
    if n < 5 or math.isnan(rho):
        return math.nan, math.nan
    half = -ndtri(LEVEL / 2) * math.sqrt(1.06 / (n - 3))
    z = _transformed(rho)
    return math.tanh(z - half), math.tanh(z + half)


def positive(rho: float, n: int) -> float:
    """The one-sided p-value of a rank correlation of n pairs against none or a negative one."""
    return 1.0 if n < 5 else float(ndtr(-_transformed(rho) / math.sqrt(1.06 / (n - 3))))


def _transformed(rho: float) -> float:
    return math.atanh(max(-1 + 1e-12, min(1 - 1e-12, rho)))


def unlearned(frame: pd.DataFrame, rows: pd.DataFrame) -> set[tuple[str, str]]:
    """(experiment, data set) of accuracies (``rows``) none of which is, in the mean at any size, over half a point
    above the share of the larger class.

    That share is told by how often two rows agree by chance, a fact of the data: p^2 + (1 - p)^2 for two classes.
    """
    accuracies = select(rows, metric=["accuracy_pct"])
    if not len(accuracies):
        return set()
    facts = select(frame, metric="fact_neighbours_agree_by_chance", status="ok")
    chance = facts.groupby(["experiment", "dataset"])["value"].mean()
    found = set()
    for place, cell in accuracies.groupby(["experiment", "dataset"]):
        if chance.get(place, 0.0) < 0.5:  # more than two classes, or not known
            continue
        majority = 50.0 * (1.0 + math.sqrt(2.0 * chance[place] - 1.0))
        means = cell.groupby(["method", "variant", "n_features", "learner"], dropna=False)["value"].mean()
        if means.max() <= majority + NOTHING:
            found.add(place)
    return found
