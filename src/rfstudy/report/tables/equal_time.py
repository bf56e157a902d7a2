"""What plain features reach in the time that a method takes to choose its own: errors at equal time."""

from __future__ import annotations

import pandas as pd

from rfstudy.metrics import fact_of
from rfstudy.report.aggregate import select
from rfstudy.report.cells import absent, dataset_cell, difference_cell, three_digits
from rfstudy.report.compare import family, note_on_tests, overlap_of, paired
from rfstudy.report.context import Context
from rfstudy.report.error_and_time import Timed, at_time, curve
from rfstudy.report.notes import absence, notes
from rfstudy.report.plot_styles import plot_style
from rfstudy.report.published import printed_name
from rfstudy.report.typeset import Cell, Table

#: Keys of an entry of this kind, beside those of all entries.
REQUIRED = ("datasets", "methods", "baselines", "quantity", "times")
OPTIONAL = ("repeats",)


def make(context: Context, spec: dict) -> Table:
    """One row a data set and size of the method: its error and time, those of the baseline at as many features, and at
    as much time.

    The curve of the baseline is read between two of its sizes; a time beyond its last one is not read.
    """
    (method,), (baseline,) = spec["methods"], spec["baselines"]
    labels = [plot_style(each, context.styles).label for each in (method, baseline)]
    metric, frame = spec["quantity"]["metric"], select(context.rows, dataset=spec["datasets"])
    rows, tests, overlaps = [], {}, {}
    for dataset in spec["datasets"]:
        own = select(frame, dataset=dataset)
        name = dataset_cell(context, dataset, spec["paper"], own)
        points, others = (curve(own, each, spec["quantity"], spec["times"][each]) for each in (method, baseline))
        found = _read(points, others)
        if not found:
            errors = select(own, metric=metric, learner=spec["quantity"].get("learner"))
            why = "not timed" if (errors["status"] == "ok").any() else absence(errors).split(":")[0]
            rows.append({"data set": name, "M": absent(why)})
            continue
        errors = select(own, metric=metric, learner=spec["quantity"].get("learner"), method=[method, baseline], axis="")
        overlap = overlap_of(errors, context)
        overlaps[printed_name(context.tasks, dataset, spec["paper"])] = overlap
        of_dataset = family(
            {(place, what): paired(point.errors, values, overlap) for place, (point, values_of, _) in enumerate(found)
             for what, values in values_of.items()}
        )  # fmt: skip
        tests |= {(dataset, *key): test for key, test in of_dataset.items()}
        for place, (point, values_of, features) in enumerate(found):
            tested = {what: of_dataset.get((place, what)) for what in ("features", "time")}
            rows.append({"data set": name} | _row(point, values_of, features, tested, others, labels))
    remarks = [
        f"Time: {fact_of(spec['times'][method]).label} of {labels[0]}, {fact_of(spec['times'][baseline]).label} of "
        f"{labels[1]}; median of the rounds. At equal time the error of {labels[1]} is read off the line between its "
        "two neighbouring sizes, in the logarithm of the time. In brackets Holm's p-value.",
        note_on_tests(overlaps, "all comparisons of a data set", [metric]),
    ]
    shown = select(frame, method=[method, baseline], variant="", metric=[metric, *spec["times"].values()])
    shown = select(shown, learner=["", spec["quantity"].get("learner", "")])
    return Table(spec["name"], pd.DataFrame(rows), spec["caption"], remarks + notes(shown, spec, context))


def _read(points: list[Timed], others: list[Timed]) -> list[tuple[Timed, dict, float | None]]:
    """For every size of the method the errors by repeat of the baseline at as many features and at equal time, and the
    features that it has there."""
    by_label = {point.label: point for point in others}
    found = []
    for point in points if others else []:
        same, read = by_label.get(point.label), at_time(others, point.time)
        values = {"features": same and same.errors, "time": read and read.errors}
        found.append(
            (point, {what: of for what, of in values.items() if of is not None}, read.n_features if read else None)
        )
    return found


def _row(point: Timed, values: dict, features: float | None, tested: dict, others: list[Timed], labels) -> dict:
    own, other = labels
    beyond = f"beyond {other} at {max(others, key=lambda each: each.time).label}"
    before = point.time < min(each.time for each in others)
    at = Cell("", {"": None}) if features is None else Cell(f"{features:.0f}", {"": features})
    return {
        "M": point.label,
        f"time of {own} (s)": three_digits(point.time),
        f"error of {own}": round(point.error, 2),
        f"error of {other} at M": _mean(values.get("features")),
        f"{own} minus {other} at M": difference_cell(tested["features"]),
        f"M of {other} at equal time": at if features is not None else ("below its first" if before else beyond),
        f"error of {other} at equal time": _mean(values.get("time")),
        f"{own} minus {other} at equal time": difference_cell(tested["time"]),
    }


def _mean(values) -> float | None:
    return None if values is None else round(float(values.mean()), 2)
