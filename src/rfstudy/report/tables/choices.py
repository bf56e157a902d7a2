"""Ways of choosing features, along an axis (from how many candidates): what each is worth."""

from __future__ import annotations

import pandas as pd

from rfstudy.report.aggregate import method_order, select, summarise
from rfstudy.report.cells import by_place, dataset_cell, difference_cell, mean_and_std, method_cell, overlaps_by_name
from rfstudy.report.compare import differences, note_on_tests
from rfstudy.report.context import Context
from rfstudy.report.notes import notes
from rfstudy.report.plot_styles import plot_style
from rfstudy.report.typeset import Table


def make(
    context: Context,
    *,
    paper: str,
    datasets: list[str],
    methods: list[str],
    repeats: int,
    axis: str,
    label: str,
    says: dict[str, str],
) -> Table:
    """One row per data set, position on the axis and way of choosing: the metrics of ``says``, and the change of the
    first metric from that of the first method.
    """
    metric, own = next(iter(says)), (methods[0], "")
    shown = select(context.rows, axis=axis, dataset=datasets, metric=list(says))
    cells = summarise(shown)
    full = int(cells["n"].max()) if len(cells) else 0
    at = by_place(cells, "dataset", "at", "method", "variant", "metric")
    compared = differences(select(shown, metric=metric), [own[0]], "at", context)
    tests = {(t.dataset, t.at, t.method, t.variant): difference_cell(t) for t in compared.itertuples()}
    rows = []
    for dataset in datasets:
        ours = select(shown, dataset=dataset, metric=metric)
        name = dataset_cell(context, dataset, paper, ours)
        if not len(ours):
            rows.append({"data set": name, label: "not run"})
            continue
        ways = method_order(ours, methods)
        for place in sorted(ours["at"].unique()):
            for way in ways:
                row = {"data set": name, label: f"{place:g}", "choice": method_cell(context, *way)}
                for key, heading in says.items():
                    row[heading] = mean_and_std(at.get((dataset, place, *way, key)), key, full)
                row["change"] = tests.get((dataset, place, *way), "")
                rows.append(row)
    frame = pd.DataFrame(rows, columns=["data set", label, "choice", *says.values(), "change"])
    remarks = [
        f"Mean ± standard deviation over {full} repeats. Change: of the first quantity, against "
        f"{plot_style(own[0], context.styles).label}; in brackets Holm's p-value.",
        note_on_tests(
            overlaps_by_name(compared, {"paper": paper}, context), "all places and ways of a data set", [metric]
        ),
    ]
    return Table(frame, remarks + notes(shown, {"paper": paper, "repeats": repeats}, context))
