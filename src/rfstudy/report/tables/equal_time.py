"""What plain features reach in the time that a method takes to choose its own: errors at equal time."""

import pandas as pd

from rfstudy.metrics import fact_of
from rfstudy.report.aggregate import select
from rfstudy.report.cells import absent, dataset_cell, difference_cell, three_digits
from rfstudy.report.compare import family, note_on_tests, overlap_of, paired
from rfstudy.report.context import Context
from rfstudy.report.error_and_time import at_time, curve
from rfstudy.report.notes import absence
from rfstudy.report.typeset import Cell, Table


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
