"""Accuracies, and times where they are asked for, in the form of the paper: published and measured.

A published number that is ``reconstructed`` in data/reference is marked, one that is ``lost`` is shown as that. Times
are shown as they were measured.
"""

import pandas as pd

from rfstudy.metrics import lower_is_better
from rfstudy.report.aggregate import of_quantity, select
from rfstudy.report.cells import by_place, cell_text, dataset_cell, method_columns, most_repeats, overlaps_by_name
from rfstudy.report.compare import differences, note_on_tests
from rfstudy.report.context import Context
from rfstudy.report.published import numbers, printed_text
from rfstudy.report.times import summarise
from rfstudy.report.typeset import Cell, Table

#: The mark of measured numbers that are significantly better than those of all baselines.
BULLET = "•"

MARKS_NOTE = "*: deduced from a damaged source, see data/reference/README.md; lost: not legible there."

TIMES_NOTE = "Times are seconds on the machine of the row and are not comparable between rows."


def make(
    context: Context,
    *,
    paper: str,
    published: str,
    datasets: list[str],
    methods: list[str],
    baselines: list[str],
    sizes: list[str],
    quantity: dict,
    time: dict | None = None,
) -> Table:
    """Return "mean ± std (mean ± std)" of every method by data set and size: published and measured.

    The sizes of a data set are those that are published or measured for it. ``quantity`` is the number before the
    brackets, ``time`` the one in them (none without it). A bullet means that each method outside ``baselines`` has an
    effect over each of them.
    """
    quantities = [quantity, *([time] if time else [])]
    metrics = [each["metric"] for each in quantities]
    frame = select(context.rows, dataset=datasets, n_features_label=sizes, variant="")
    accuracy, *times = (select(of_quantity(frame, each), method=methods) for each in quantities)
    shown = pd.concat([accuracy, *times])
    cells = summarise(shown)
    full, at = most_repeats(cells), by_place(cells, "dataset", "n_features_label", "method", "metric")
    printed = {
        (number.dataset, number.size, number.method, number.metric): number
        for number in numbers(context.published, paper, published).itertuples()
    }
    others = [method for method in methods if method not in baselines]
    tests = differences(accuracy, baselines, "n_features_label", context)
    sign = -1.0 if lower_is_better(metrics[0]) else 1.0
    wins = tests[tests["effect"] & (sign * tests["value"] > 0)].groupby(["dataset", "n_features_label"]).size()
    marked = set(wins.index[wins == len(others) * len(baselines)])
    rows = []
    for dataset in datasets:
        run = set(select(accuracy, dataset=dataset)["n_features_label"])
        run |= {
            size for of, size, method, metric in printed if (of, metric) == (dataset, metrics[0]) and method in methods
        }
        name = dataset_cell(context, dataset, paper, select(frame, dataset=dataset))
        for size in (size for size in sizes if size in run):
            row = {"data set": name, "s": size}
            theirs, ours = row | {"source": "published"}, row | {"source": "measured"}
            for method in methods:
                places = [(dataset, size, method, metric) for metric in metrics]
                is_marked = (dataset, size) in marked and method in others
                theirs[context.label(method)] = _together(metrics, [printed_text(printed.get(p)) for p in places])
                ours[context.label(method)] = _together(
                    metrics, [cell_text(at.get(p), full) for p in places], is_marked
                )
            rows += [theirs, ours]
    better, than = (" and ".join(map(context.label, group)) for group in (others, baselines))
    remarks = [
        f"{BULLET}: {better} are each more accurate than each of {than}. Measured cells with it: {len(marked)}.",
        note_on_tests(
            overlaps_by_name(tests, paper, context), "all pairs of methods and all sizes of a data set", metrics[:1]
        ),
        " ".join([MARKS_NOTE, *([TIMES_NOTE] if time is not None else [])]),
    ]
    return Table(pd.DataFrame(rows), remarks, method_columns(context, methods), shown=shown)


def _together(metrics: list[str], cells: list[Cell], marked: bool = False) -> Cell:
    """Return quantities in one cell, the second in brackets; what is missing of both is said once."""
    before, *inside = dict.fromkeys(cell.text for cell in cells)
    text = f"{before} ({inside[0]})" if inside else before
    values = {
        f"{metric} {what}".rstrip(): value
        for metric, cell in zip(metrics, cells, strict=True)
        for what, value in cell.values.items()
    }
    return Cell(f"{BULLET} {text}" if marked else text, values | {"better than all baselines": "yes" if marked else ""})
