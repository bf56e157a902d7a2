"""Accuracies, and times where they are asked for, in the form of the paper, as printed and as measured.

A printed number that is ``reconstructed`` in data/reference is marked, one that is ``lost`` is shown as that. Times are
shown as they were measured.
"""

from __future__ import annotations

import pandas as pd

from rfstudy.metrics import lower_is_better
from rfstudy.report.aggregate import of_quantity, select
from rfstudy.report.cells import by_place, cell_text, dataset_cell, method_columns, most_repeats, overlaps_by_name
from rfstudy.report.compare import differences, note_on_tests
from rfstudy.report.context import Context
from rfstudy.report.notes import notes
from rfstudy.report.plot_styles import plot_style
from rfstudy.report.published import numbers, printed_text
from rfstudy.report.times import summarise
from rfstudy.report.typeset import Cell, Table

#: What stands before the measured numbers that are significant.
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
    repeats: int,
    quantity: dict,
    time: dict | None = None,
) -> Table:
    """Accuracy and generation time of every method by data set and size, "mean ± std (mean ± std)", as printed and as
    measured; a bullet where the methods that use the data beat the ones that do not.

    The sizes of a data set are those that are printed or measured for it. ``quantity`` is what stands
    before the brackets, ``time`` what stands in them (none without it), ``baselines`` the methods that the others are
    tested against: a bullet means an effect in each of these comparisons.
    """
    frame = select(context.rows, dataset=datasets, n_features_label=sizes, variant="")
    quantities = [quantity, *([time] if time else [])]
    shown = [select(of_quantity(frame, quantity), method=methods) for quantity in quantities]
    accuracy, metrics = shown[0], [quantity["metric"] for quantity in quantities]
    cells = summarise(pd.concat(shown))
    full, at = most_repeats(cells), by_place(cells, "dataset", "n_features_label", "method", "metric")
    printed = {
        (number.dataset, number.size, number.method, number.metric): number
        for number in numbers(context.published, paper, published).itertuples()
    }
    others = [method for method in methods if method not in baselines]
    tests = differences(accuracy, baselines, "n_features_label", context)
    sign = -1.0 if lower_is_better(metrics[0]) else 1.0
    won = tests[tests["effect"] & (sign * tests["value"] > 0)]
    wins = won.groupby(["dataset", "n_features_label"]).size().to_dict()
    rows, bullets = [], 0
    for dataset in datasets:
        of_dataset = select(accuracy, dataset=dataset)
        name = dataset_cell(context, dataset, paper, select(frame, dataset=dataset))
        marked = {size for size in sizes if wins.get((dataset, size)) == len(others) * len(baselines)}
        bullets += len(marked)
        for size in sizes:
            is_printed = any((dataset, size, method, metrics[0]) in printed for method in methods)
            if not is_printed and not len(select(of_dataset, n_features_label=size)):
                continue
            texts = {"published": {}, "measured": {}}
            for method in methods:
                heading = plot_style(method, context.styles).label
                told = [printed_text(printed.get((dataset, size, method, metric))) for metric in metrics]
                texts["published"][heading] = _together(metrics, told)
                told = [cell_text(at.get((dataset, size, method, metric)), metric, full) for metric in metrics]
                texts["measured"][heading] = _together(metrics, told, size in marked and method in others)
            rows += [{"data set": name, "s": size, "source": source, **of} for source, of in texts.items()]
    names = [" and ".join(plot_style(m, context.styles).label for m in group) for group in (others, baselines)]
    remarks = [
        f"{BULLET}: {names[0]} are each more accurate than each of {names[1]}. Measured cells with it: {bullets}.",
        note_on_tests(
            overlaps_by_name(tests, {"paper": paper}, context),
            "all pairs of methods and all sizes of a data set",
            metrics[:1],
        ),
        " ".join([MARKS_NOTE, *([TIMES_NOTE] if time is not None else [])]),
        *notes(pd.concat(shown), {"paper": paper, "repeats": repeats}, context),
    ]
    return Table(pd.DataFrame(rows), remarks, method_columns(context, methods))


def _together(metrics: list[str], cells: list[Cell], marked: bool = False) -> Cell:
    """Quantities in one cell, the second in brackets; what is missing of both is said once."""
    before, *inside = dict.fromkeys(cell.text for cell in cells)
    text = f"{before} ({inside[0]})" if inside else before
    values = {
        f"{metric} {what}".rstrip(): value
        for metric, cell in zip(metrics, cells, strict=True)
        for what, value in cell.values.items()
    }
    return Cell(f"{BULLET} {text}" if marked else text, values | {"better than all baselines": "yes" if marked else ""})
