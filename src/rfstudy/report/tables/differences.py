"""Every method against others in points, size by size, with paired tests: which differences are effects."""

import itertools

import pandas as pd

from rfstudy.report.aggregate import method_order, of_quantity, select
from rfstudy.report.cells import dataset_cell, difference_cell, method_cell, overlaps_by_name
from rfstudy.report.compare import differences, note_on_tests
from rfstudy.report.context import Context
from rfstudy.report.typeset import Cell, Table


def make(
    context: Context,
    *,
    paper: str,
    datasets: list[str],
    methods: list[str],
    baselines: list[str],
    sizes: list[str],
    quantity: dict,
) -> Table:
    """Return mean differences of a percentage over the repeats and Holm's p-values by data set, method and baseline.

    Each method is compared with each of the ``baselines``; a column per size. All tests of a data set are one family.
    """
    metric = quantity["metric"]
    frame = of_quantity(select(context.rows, dataset=datasets, n_features_label=sizes), quantity)
    tests = differences(frame, baselines, "n_features_label", context)
    rows, effects = [], []
    for dataset in datasets:
        ours, own = select(frame, dataset=dataset), select(tests, dataset=dataset)
        name = dataset_cell(context, dataset, paper, ours)
        if not len(ours):
            rows.append({"data set": name, "method": "", "minus": "", **dict.fromkeys(sizes, "not run")})
            continue
        above, below = (int((own["effect"] & (sign * own["value"] > 0)).sum()) for sign in (1, -1))
        effects.append(f"{context.name(dataset, paper)}: {above} of {len(own)} above, {below} below")
        cells = {(t.method, t.variant, t.minus, t.n_features_label): difference_cell(t) for t in own.itertuples()}
        for pair, minus in itertools.product(method_order(ours, methods), baselines):
            texts = {size: cells.get((*pair, minus, size), "") for size in sizes}
            if any(texts.values()):
                label = context.label(minus)
                who = {"method": method_cell(context, *pair), "minus": Cell(label, {"": label, "id": minus})}
                rows.append({"data set": name} | who | texts)
    remarks = ["Mean difference in points over the repeats; in brackets Holm's p-value."]
    if effects:
        overlaps = overlaps_by_name(tests, paper, context)
        remarks.append(note_on_tests(overlaps, "all differences of a data set", [metric]))
        remarks.append(f"Effects: {'; '.join(effects)}.")
    table = pd.DataFrame(rows, columns=["data set", "method", "minus", *sizes])
    return Table(table, remarks, {size: {"size": size, "metric": metric} for size in sizes}, shown=frame)
