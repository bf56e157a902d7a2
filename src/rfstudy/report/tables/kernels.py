"""Accuracies of support vector machines on exact kernels and on maps, by data set, kernel and width."""

import pandas as pd

from rfstudy.report.aggregate import select
from rfstudy.report.cells import absent, by_place, dataset_cell, mean_and_std, method_cell, most_repeats
from rfstudy.report.context import Context
from rfstudy.report.times import summarise
from rfstudy.report.typeset import Cell, Table

#: The two scores of a machine: metric and split, with the heading.
SCORES = {("accuracy_pct", "test"): "test", ("train_accuracy_pct", "train"): "training"}


def make(context: Context, *, paper: str, datasets: list[str], methods: list[str], kernels: dict[str, str]) -> Table:
    """Return a row per data set and machine: kernels by name and multiple of the median distance, then maps."""
    frame = select(context.rows, dataset=datasets, metric=[metric for metric, _ in SCORES])
    cells = summarise(frame)
    full, rows = most_repeats(cells), []
    for dataset in datasets:
        own, machines = select(cells, dataset=dataset), []
        for kernel, label in kernels.items():
            exact = select(own, learner="kernel_svm", kernel=kernel)
            machines += [(_machine(label, kernel, width), of) for width, of in exact.groupby("at", dropna=False)]
        for method in methods:
            name = method_cell(context, method)
            by_size = select(own, method=method).groupby("n_features_label", sort=False)
            machines += [(Cell(f"{name}, s = {size}", name.values), of) for size, of in by_size]
        name = dataset_cell(context, dataset, paper, select(frame, dataset=dataset))
        for machine, of in machines or [(absent("not run"), None)]:
            found = by_place(of, "metric", "split") if len(own) else {}
            scores = {SCORES[place]: mean_and_std(found.get(place), full) for place in SCORES if found}
            rows.append({"data set": name, "machine": machine} | scores)
    return Table(pd.DataFrame(rows), shown=frame)


def _machine(label: str, kernel: str, width: float) -> Cell:
    """Return the cell of a kernel, and at how many times the median distance."""
    if pd.isna(width):
        return Cell(label, {"": label, "id": kernel, "variant": ""})
    return Cell(f"{label}, {width:.3g} x median", {"": label, "id": kernel, "variant": f"{width:g}"})
