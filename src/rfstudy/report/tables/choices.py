"""Ways of choosing features beside each other, along an axis that says from how many: what each is worth."""

from __future__ import annotations

import pandas as pd

from rfstudy.report.aggregate import method_order, select, summarise
from rfstudy.report.cells import by_place, dataset_cell, difference_cell, mean_and_std, method_cell
from rfstudy.report.compare import family, note_on_tests, overlap_of, paired
from rfstudy.report.context import Context
from rfstudy.report.notes import notes
from rfstudy.report.plot_styles import plot_style
from rfstudy.report.published import printed_name
from rfstudy.report.typeset import Table

#: Keys of an entry of this kind, beside those of all entries.
REQUIRED = ("datasets", "methods", "repeats", "axis", "label", "says")


def make(context: Context, spec: dict) -> Table:
    """One row a data set, place on the axis and way: the metrics of ``says``, and the change of the first from what the
    first method has.
    """
    metric, own = next(iter(spec["says"])), (spec["methods"][0], "")
    shown = select(context.rows, axis=spec["axis"], dataset=spec["datasets"], metric=list(spec["says"]))
    cells = summarise(shown)
    full = int(cells["n"].max()) if len(cells) else 0
    at = by_place(cells, "dataset", "at", "method", "variant", "metric")
    rows, overlaps = [], {}
    for dataset in spec["datasets"]:
        ours = select(shown, dataset=dataset, metric=metric)
        name = dataset_cell(context, dataset, spec["paper"], ours)
        if not len(ours):
            rows.append({"data set": name, spec["label"]: "not run"})
            continue
        overlap = overlaps[printed_name(context.tasks, dataset, spec["paper"])] = overlap_of(ours, context)
        ways = method_order(ours, spec["methods"])
        tests = _against(ours, own, ways, overlap)
        for place in sorted(ours["at"].unique()):
            for way in ways:
                row = {"data set": name, spec["label"]: f"{place:g}", "choice": method_cell(context, *way)}
                for key, heading in spec["says"].items():
                    row[heading] = mean_and_std(at.get((dataset, place, *way, key)), key, full)
                row["change"] = difference_cell(tests.get((place, way)))
                rows.append(row)
    frame = pd.DataFrame(rows, columns=["data set", spec["label"], "choice", *spec["says"].values(), "change"])
    remarks = [
        f"Mean ± standard deviation over {full} repeats. Change: of the first quantity, against "
        f"{plot_style(own[0], context.styles).label}; in brackets Holm's p-value.",
        note_on_tests(overlaps, "all places and ways of a data set", [metric]),
    ]
    return Table(spec["name"], frame, spec["caption"], remarks + notes(shown, spec, context))


def _against(rows: pd.DataFrame, own: tuple[str, str], ways: list, overlap: float) -> dict:
    """By place and way the change from the method's own choice, as one family."""
    values = {
        where: cell.set_index("repeat")["value"].astype(float)
        for where, cell in rows[rows["status"] == "ok"].groupby(["at", "method", "variant"])
    }
    tests = {
        (place, (method, variant)): paired(of, values[place, *own], overlap)
        for (place, method, variant), of in values.items()
        if (method, variant) in ways and (method, variant) != own and (place, *own) in values
    }
    return family(tests)
