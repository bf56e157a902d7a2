"""What plain features reach in the time that a method takes to choose its own: errors at equal time."""

from __future__ import annotations

import pandas as pd

from rfstudy.metrics import fact_of
from rfstudy.report.aggregate import select
from rfstudy.report.cells import absent, dataset_cell, difference_cell, three_digits
from rfstudy.report.compare import family, note_on_tests, overlap_of, paired
from rfstudy.report.context import Context
from rfstudy.report.error_and_time import at_time, curve
from rfstudy.report.notes import absence, notes
from rfstudy.report.plot_styles import plot_style
from rfstudy.report.published import printed_name
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
    repeats: int | None = None,
) -> Table:
    """One row a data set and size of the method: its error and time, those of the baseline at as many features, and at
    as much time.

    The curve of the baseline is read between two of its sizes; a time beyond its last one is not read.
    """
    (method,), (baseline,) = methods, baselines
    label, other = (plot_style(each, context.styles).label for each in (method, baseline))
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
        overlaps[printed_name(context.tasks, dataset, paper)] = overlap
        at_features = {point.label: point.errors for point in others}
        at_times = {point.label: at_time(others, point.time) for point in points}
        against = {
            **{(label, "features"): errors for label, errors in at_features.items()},
            **{(label, "time"): read.errors for label, read in at_times.items() if read},
        }
        tests = family(
            {
                (point.label, what): paired(point.errors, against[point.label, what], overlap)
                for point in points
                for what in ("features", "time")
                if (point.label, what) in against
            }
        )
        for point in points:
            read, same = at_times[point.label], at_features.get(point.label)
            before = point.time < min(each.time for each in others)
            features = Cell(f"{read.n_features:.0f}", {"": read.n_features}) if read else None
            beyond = f"beyond {other} at {max(others, key=lambda each: each.time).label}"
            missed = "below its first" if before else beyond
            rows.append(
                {
                    "data set": name,
                    "M": point.label,
                    f"time of {label} (s)": three_digits(point.time),
                    f"error of {label}": round(point.error, 2),
                    f"error of {other} at M": _mean(same),
                    f"{label} minus {other} at M": difference_cell(tests.get((point.label, "features"))),
                    f"M of {other} at equal time": features or missed,
                    f"error of {other} at equal time": _mean(read and read.errors),
                    f"{label} minus {other} at equal time": difference_cell(tests.get((point.label, "time"))),
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
    return Table(pd.DataFrame(rows), remarks + notes(shown, {"paper": paper, "repeats": repeats}, context))


def _mean(values) -> float | None:
    return None if values is None else round(float(values.mean()), 2)
