"""What plain features reach in the time that a method takes to choose its own: errors at equal time.

An error is a mean over repeats, a time the median over rounds of the same size, data set and learner; a method's time
is the sum of phases that an entry names for it. Two methods are compared at equal time on the curve of one of them:
straight lines between neighbouring sizes, in the logarithm of the time.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd

from rfstudy.metrics import fact_of
from rfstudy.report.aggregate import by_repeat, of_quantity, select
from rfstudy.report.cells import absent, dataset_cell, difference_cell, three_digits
from rfstudy.report.compare import family, note_on_tests, overlap_of, paired
from rfstudy.report.context import Context
from rfstudy.report.notes import absence
from rfstudy.report.times import ROUND, machine_busy
from rfstudy.report.typeset import Cell, Table


class Timed(NamedTuple):
    """One size of a method: its error by repeat, and its seconds over the rounds."""

    label: str
    n_features: int
    errors: pd.Series
    seconds: pd.Series
    machine_busy: bool

    @property
    def error(self) -> float:
        """The mean error."""
        return float(self.errors.mean())

    @property
    def standard_error(self) -> float:
        """Of the mean error; 0 of a single repeat."""
        return float(np.nan_to_num(self.errors.std(ddof=1)) / np.sqrt(len(self.errors)))

    @property
    def time(self) -> float:
        """The median of the seconds."""
        return float(self.seconds.median())


def curve(rows: pd.DataFrame, method: str, quantity: dict, time: str) -> list[Timed]:
    """Return the sizes of a method that were measured and timed, by their number of features.

    ``rows`` are of one experiment and data set; ``quantity`` is the error with its learner, ``time`` a metric.
    """
    own = select(rows, method=method, variant="", status="ok")
    errors = select(of_quantity(own, quantity), axis="")
    rounds = select(own, metric=time, axis=ROUND, learner=["", quantity.get("learner", "")])
    found = []
    for (n_features, label), of_size in errors.groupby(["n_features", "n_features_label"], sort=True):
        timed = select(rounds, n_features_label=label)
        if timed["value"].median() > 0:  # a time of zero is no time: the clock did not resolve it
            is_busy = bool(machine_busy(timed).any())
            found.append(Timed(label, int(n_features), by_repeat(of_size), timed.set_index("at")["value"], is_busy))
    return found


def within(points: list[Timed], seconds: float) -> Timed | None:
    """Return the size with the lowest error among those that take no longer; None where all take longer."""
    quick = [point for point in points if point.time <= seconds]
    return min(quick, key=lambda point: point.error) if quick else None


class Read(NamedTuple):
    """What is read off a curve at a time: errors by repeat, and the number of features in between."""

    errors: pd.Series
    n_features: float


def at_time(points: list[Timed], seconds: float) -> Read | None:
    """Return the curve of a method at a time, by repeat; None where the time is beyond its ends.

    Examples
    --------
    >>> errors = [pd.Series([value]) for value in (8.0, 4.0)]
    >>> points = [Timed(str(s), s, e, pd.Series([t]), False) for s, e, t in zip((10, 40), errors, (1.0, 4.0))]
    >>> read = at_time(points, 2.0)
    >>> float(read.errors[0]), round(read.n_features)
    (6.0, 20)
    """
    order = sorted(points, key=lambda point: point.time)
    for before, after in pairwise(order):
        if before.time <= seconds <= after.time:
            way = np.log(after.time / before.time)
            share = float(np.log(seconds / before.time) / way) if way else 0.0
            errors = (1 - share) * before.errors + share * after.errors
            features = before.n_features * (after.n_features / before.n_features) ** share
            return Read(errors.dropna(), float(features))
    return None


def make(
    context: Context,
    *,
    paper: str,
    datasets: list[str],
    methods: list[str],
    baselines: list[str],
    quantity: dict,
    times: dict[str, str],
) -> Table:
    """Return a row per data set and size of the method: its error and time, and errors of the baseline.

    The baseline is compared at as many features and at as much time. Its curve is read between two of its sizes; a time
    beyond its last one is not read.
    """
    (method,), (baseline,) = methods, baselines
    label, other = context.label(method), context.label(baseline)
    metric, frame = quantity["metric"], select(context.rows, dataset=datasets)
    rows, overlaps = [], {}
    for dataset in datasets:
        own = select(frame, dataset=dataset)
        name = dataset_cell(context, dataset, paper, own)
        points, others = (curve(own, each, quantity, times[each]) for each in (method, baseline))
        errors = select(own, metric=metric, learner=quantity.get("learner"))
        if not points or not others:
            why = "not timed" if (errors["status"] == "ok").any() else absence(errors).split(":")[0]
            rows.append({"data set": name, "M": absent(why)})
            continue
        overlap = overlap_of(select(errors, method=[method, baseline], axis=""), context)
        overlaps[context.name(dataset, paper)] = overlap
        at_times = {point.label: at_time(others, point.time) for point in points}
        against = {("M", each.label): each.errors for each in others}
        against |= {("time", size): read.errors for size, read in at_times.items() if read}
        tests = family(
            {
                (what, point.label): paired(point.errors, against[what, point.label], overlap)
                for point in points
                for what in ("M", "time")
                if (what, point.label) in against
            }
        )
        first, last = (end(others, key=lambda each: each.time) for end in (min, max))
        for point in points:
            size, read = point.label, at_times[point.label]
            beyond = "below its first" if point.time < first.time else f"beyond {other} at {last.label}"
            rows.append(
                {
                    "data set": name,
                    "M": size,
                    f"time of {label} (s)": three_digits(point.time),
                    f"error of {label}": round(point.error, 2),
                    f"error of {other} at M": _mean(against.get(("M", size))),
                    f"{label} minus {other} at M": difference_cell(tests.get(("M", size))),
                    f"M of {other} at equal time": Cell(f"{read.n_features:.0f}", {"": read.n_features})
                    if read
                    else beyond,
                    f"error of {other} at equal time": _mean(against.get(("time", size))),
                    f"{label} minus {other} at equal time": difference_cell(tests.get(("time", size))),
                }
            )
    remarks = [
        f"Time: {fact_of(times[method]).label} of {label}, {fact_of(times[baseline]).label} of "
        f"{other}; median of the rounds. At equal time the error of {other} is read off the line between its "
        "two neighbouring sizes, in the logarithm of the time. In brackets Holm's p-value.",
        note_on_tests(overlaps, "all comparisons of a data set", [metric]),
    ]
    shown = select(frame, method=[method, baseline], variant="", metric=[metric, *times.values()])
    shown = select(shown, learner=["", quantity.get("learner", "")])
    return Table(pd.DataFrame(rows), remarks, shown=shown)


def _mean(values: pd.Series | None) -> float | None:
    return None if values is None else round(float(values.mean()), 2)
