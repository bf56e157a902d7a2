"""Ways of choosing features, along an axis (from how many candidates): what each is worth."""

import itertools

import pandas as pd

from rfstudy.report.aggregate import method_order, select, summarise
from rfstudy.report.cells import by_place, dataset_cell, difference_cell, mean_and_std, method_cell, overlaps_by_name
from rfstudy.report.compare import differences, note_on_tests
from rfstudy.report.context import Context
from rfstudy.report.typeset import Table


def make(
    context: Context,
    *,
    paper: str,
    datasets: list[str],
    methods: list[str],
    axis: str,
    label: str,
    says: dict[str, str],
) -> Table:
    """Return a row per data set, position on the axis and way of choosing.

    Its columns are the metrics of ``says``, and the change of the first metric from that of the first method.
    """
    metric, baseline = next(iter(says)), methods[0]
    shown = select(context.rows, axis=axis, dataset=datasets, metric=list(says))
    cells = summarise(shown)
    full = int(cells["n"].max()) if len(cells) else 0
    at = by_place(cells, "dataset", "at", "method", "variant", "metric")
    compared = differences(select(shown, metric=metric), [baseline], "at", context)
    tests = {(t.dataset, t.at, t.method, t.variant): difference_cell(t) for t in compared.itertuples()}
    rows = []
    for dataset in datasets:
        ours = select(shown, dataset=dataset, metric=metric)
        name = dataset_cell(context, dataset, paper, ours)
        rows += [{"data set": name, label: "not run"}] if not len(ours) else []
        for place, way in itertools.product(sorted(ours["at"].unique()), method_order(ours, methods)):
            found = {h: mean_and_std(at.get((dataset, place, *way, key)), full) for key, h in says.items()}
            row = {"data set": name, label: f"{place:g}", "choice": method_cell(context, *way)}
            rows.append(row | found | {"change": tests.get((dataset, place, *way), "")})
    overlaps = overlaps_by_name(compared, paper, context)
    remarks = [
        f"Mean ± standard deviation over {full} repeats. Change: of the first quantity, against "
        f"{context.label(baseline)}; in brackets Holm's p-value.",
        note_on_tests(overlaps, "all places and ways of a data set", [metric]),
    ]
    frame = pd.DataFrame(rows, columns=["data set", label, "choice", *says.values(), "change"])
    return Table(frame, remarks, shown=shown)
