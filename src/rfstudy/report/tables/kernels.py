"""Accuracies of support vector machines on exact kernels, and of the map beside them, by data set, kernel and width."""

from __future__ import annotations

import pandas as pd

from rfstudy.report.aggregate import select
from rfstudy.report.cells import absent, by_place, dataset_cell, mean_and_std, method_cell, most_repeats
from rfstudy.report.context import Context
from rfstudy.report.notes import notes
from rfstudy.report.times import summarise
from rfstudy.report.typeset import Cell, Table

#: The two scores of a machine: heading, metric and split.
SCORES = (("test", "accuracy_pct", "test"), ("training", "train_accuracy_pct", "train"))


def make(
    context: Context,
    *,
    paper: str,
    datasets: list[str],
    methods: list[str],
    kernels: dict[str, str],
) -> Table:
    """One row a data set and machine: kernels by name and multiple of the median distance, then maps."""
    metrics = [metric for _, metric, _ in SCORES]
    frame = select(context.rows, dataset=datasets, metric=metrics)
    cells = summarise(frame)
    full = most_repeats(cells)
    rows = []
    for dataset in datasets:
        own = select(cells, dataset=dataset)
        name = dataset_cell(context, dataset, paper, select(frame, dataset=dataset))
        if not len(own):
            rows.append({"data set": name, "machine": absent("not run")})
        exact = select(own, learner="kernel_svm")
        for kernel, label in kernels.items():
            for width, machine in select(exact, kernel=kernel).groupby("at", dropna=False):
                rows.append({"data set": name, "machine": _machine(label, kernel, width), **_scores(machine, full)})
        for method in methods:
            for size, machine in select(own, method=method).groupby("n_features_label", sort=False):
                told = method_cell(context, method)
                rows.append(
                    {"data set": name, "machine": Cell(f"{told.text}, s = {size}", told.values)}
                    | _scores(machine, full)
                )
    return Table(pd.DataFrame(rows), notes(frame, {"paper": paper}, context))


def _machine(label: str, kernel: str, width: float) -> Cell:
    """A kernel, and at how many times the median distance."""
    at = "" if pd.isna(width) else f", {width:.3g} x median"
    return Cell(f"{label}{at}", {"": label, "id": kernel, "variant": "" if pd.isna(width) else f"{width:g}"})


def _scores(machine: pd.DataFrame, full: int) -> dict[str, Cell]:
    found = by_place(machine, "metric", "split")
    return {heading: mean_and_std(found.get((metric, split)), metric, full) for heading, metric, split in SCORES}
