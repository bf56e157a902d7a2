"""Printed means beside ours, cell by cell, with a verdict.

A printed number that is lost is compared with nothing. Times are compared only as ratios between methods.
"""

from __future__ import annotations

import itertools

import pandas as pd

from rfstudy.report.aggregate import of_quantity, select
from rfstudy.report.cells import absent, dataset_cell, method_cell
from rfstudy.report.context import Context
from rfstudy.report.matching import JUDGED, compared, counts_by_confidence, judgement, our_cell, printed_as
from rfstudy.report.notes import notes
from rfstudy.report.plot_styles import plot_style
from rfstudy.report.published import printed_name
from rfstudy.report.scorecard import RULE_NOTE
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
    """One row a printed cell of one quantity: published, ours and the verdict of ``scorecard``, with what it rests on.

    Of ``spec``: ``quantity``, which is joined and, for times, divided as ``config/scorecard.yaml`` has it; ``near``, a
    distance within which cells are counted too.
    """
    found = {
        (each.place.dataset, each.place.size, each.place.method): each
        for each in compared(context, spec, spec["published"], spec["quantity"])
    }
    shown = select(context.rows, dataset=spec["datasets"], n_features_label=spec["sizes"], variant="")
    shown = of_quantity(shown, spec["quantity"])
    rows, judged = [], []
    for dataset in spec["datasets"]:
        name = dataset_cell(context, dataset, spec["paper"], select(shown, dataset=dataset))
        for place in itertools.product([dataset], spec["sizes"], spec["methods"]):
            if place not in found:
                continue
            each = found[place]
            label = plot_style(each.place.method, context.styles).label
            rows.append(
                {
                    "data set": name,
                    "s": each.place.size,
                    "method": method_cell(context, each.place.method),
                    "published": printed_as(each),
                    "confidence": each.printed["confidence"],
                    "ours": our_cell(each.ours) if each.ours else absent(each.why, "std"),
                    **judgement(each),
                }
            )
            judged.append((printed_name(context.tasks, dataset, spec["paper"]), label, each))
    remarks = [RULE_NOTE, *counts_by_confidence([each for *_, each in judged]), *_near(judged, spec.get("near"))]
    over = next((each.over for each in found.values() if each.over), "")
    if over:
        note = RATIO_BY_ROUND_NOTE if len(by_rounds(shown)) else RATIO_NOTE
        remarks.insert(0, note.format(name=plot_style(over, context.styles).label))
    table = pd.DataFrame(rows).astype(dict.fromkeys(JUDGED, float))
    return Table(spec["name"], table, spec["caption"], remarks + notes(shown, spec, context))


def _near(judged: list[tuple], near: float | None) -> list[str]:
    """Of how many cells ours are within a distance of the printed number, by data set and method."""
    told = []
    for comparable, lead in ((True, "Within {} of the printed value"), (False, "Within {}, but not comparable")):
        cells = [
            (dataset, method, abs(each.score.difference))
            for dataset, method, each in judged
            if each.score.difference is not None and (each.score.verdict != "not comparable") == comparable
        ]
        if near is None or not cells:
            continue
        by_dataset = []
        for dataset in dict.fromkeys(name for name, *_ in cells):
            by_method = []
            for method in dict.fromkeys(method for name, method, _ in cells if name == dataset):
                distances = [distance for *place, distance in cells if place == [dataset, method]]
                by_method.append(f"{method} {sum(d <= near for d in distances)} of {len(distances)}")
            by_dataset.append(f"{dataset}: {', '.join(by_method)}")
        told.append(f"{lead.format(f'{near:g} points')}: {'; '.join(by_dataset)}.")
    return told
