"""Printed means beside ours, cell by cell, with a verdict.

A printed number that is lost is compared with nothing. Times are compared only as ratios between methods.
"""

from __future__ import annotations

import pandas as pd

from rfstudy.report.aggregate import of_quantity, select
from rfstudy.report.cells import dataset_cell, method_cell
from rfstudy.report.compare import RULE_NOTE
from rfstudy.report.context import Context
from rfstudy.report.notes import notes
from rfstudy.report.plot_styles import plot_style
from rfstudy.report.published import printed_name
from rfstudy.report.scorecard import JUDGED, counts_by_confidence, judgement, our_cell, printed_cell, scorecard
from rfstudy.report.times import TOO_WIDE, by_rounds
from rfstudy.report.typeset import Table

#: Keys of an entry of this kind, beside those of all entries.
REQUIRED = ("published", "datasets", "methods", "sizes", "repeats", "quantity")
OPTIONAL = ("near",)

#: Which printed numbers of the scorecard it is told of: those of its table.
SCORED = "table"

RATIO_NOTE = "Ratios to {name} in the same cell; ours are means over repeats of the ratio in a repeat."

RATIO_BY_ROUND_NOTE = (
    "Ratios to {name} in the same cell; ours are medians over rounds of the ratio in a round, with the quartiles. Too "
    f"noisy as well: these are further apart than {TOO_WIDE:.0%} of the ratio. Contended times are not compared."
)


def make(context: Context, spec: dict) -> Table:
    """One row per printed cell of one quantity: published, ours and the verdict, with what it rests on.

    Of ``spec``: ``quantity``, joined and, for times, divided as ``config/scorecard.yaml`` says; ``near``, a distance
    within which cells are counted too.
    """
    cells = scorecard(context, spec, spec["published"], spec["quantity"])
    places = pd.MultiIndex.from_product([spec["datasets"], spec["sizes"], spec["methods"]])
    cells = cells.set_index(["dataset", "size", "method"], drop=False)
    cells = cells.reindex(places.intersection(cells.index, sort=False))
    shown = select(context.rows, dataset=spec["datasets"], n_features_label=spec["sizes"], variant="")
    shown = of_quantity(shown, spec["quantity"])
    names = {d: dataset_cell(context, d, spec["paper"], select(shown, dataset=d)) for d in spec["datasets"]}
    rows = [
        {
            "data set": names[cell.dataset],
            "s": cell.size,
            "method": method_cell(context, cell.method),
            "published": printed_cell(cell),
            "confidence": cell.confidence,
            "ours": our_cell(cell),
            **judgement(cell),
        }
        for cell in cells.itertuples()
    ]
    remarks = [RULE_NOTE, *counts_by_confidence(cells), *_near(cells, spec, context)]
    over = next(filter(None, cells["over"]), "")
    if over:
        note = RATIO_BY_ROUND_NOTE if len(by_rounds(shown)) else RATIO_NOTE
        remarks.insert(0, note.format(name=plot_style(over, context.styles).label))
    table = pd.DataFrame(rows).astype(dict.fromkeys(JUDGED, float))
    return Table(spec["name"], table, spec["caption"], remarks + notes(shown, spec, context))


def _near(cells: pd.DataFrame, spec: dict, context: Context) -> list[str]:
    """Of how many cells ours are within the distance ``near`` of the printed number, by data set and method."""
    found = []
    if "near" not in spec:
        return found
    cells = cells[cells["difference"].notna()].assign(near=cells["difference"].abs() <= spec["near"])
    points = f"{spec['near']:g} points"
    is_other = cells["verdict"] == "not comparable"
    for lead, own in (
        ("Within {} of the printed value", cells[~is_other]),
        ("Within {}, but not comparable", cells[is_other]),
    ):
        by_dataset = []
        for dataset, of_dataset in own.reset_index(drop=True).groupby("dataset", sort=False):
            by_method = ", ".join(
                f"{plot_style(method, context.styles).label} {each.sum()} of {len(each)}"
                for method, each in of_dataset.groupby("method", sort=False)["near"]
            )
            by_dataset.append(f"{printed_name(context.tasks, dataset, spec['paper'])}: {by_method}")
        found += [f"{lead.format(points)}: {'; '.join(by_dataset)}."] if by_dataset else []
    return found
