"""Published means next to ours, cell by cell, with a verdict.

A published number that is lost is compared with nothing. Times are compared only as ratios between methods.
"""

import pandas as pd

from rfstudy.report.aggregate import of_quantity, select
from rfstudy.report.cells import dataset_cell, method_cell
from rfstudy.report.compare import RULE_NOTE
from rfstudy.report.context import Context
from rfstudy.report.scorecard import JUDGED, counts_by_confidence, judgement, our_cell, printed_cell
from rfstudy.report.scorecard import scorecard as compared
from rfstudy.report.times import TOO_WIDE, by_rounds
from rfstudy.report.typeset import Table

#: Which published numbers ``config/scorecard.yaml`` gives this kind: those of its table.
SCORED = "table"

RATIO_NOTE = "Ratios to {name} in the same cell; ours are means over repeats of the ratio in a repeat."

RATIO_BY_ROUND_NOTE = (
    "Ratios to {name} in the same cell; ours are medians over rounds of the ratio in a round, with the quartiles. Too "
    f"noisy as well: these are further apart than {TOO_WIDE:.0%} of the ratio. Busy times are not compared."
)


def make(
    context: Context,
    *,
    paper: str,
    experiments: list[str],
    scorecard: dict,
    published: str,
    datasets: list[str],
    methods: list[str],
    sizes: list[str],
    quantity: dict,
) -> Table:
    """Return a row per published cell of one quantity: published, ours and the verdict, with what it rests on.

    The ``quantity`` is joined and, for times, divided as ``config/scorecard.yaml`` says.
    """
    spec = {"paper": paper, "experiments": experiments, "scorecard": scorecard}
    cells = compared(context, spec, published, quantity)
    places = pd.MultiIndex.from_product([datasets, sizes, methods])
    cells = cells.set_index(["dataset", "size", "method"], drop=False)
    cells = cells.reindex(places.intersection(cells.index, sort=False))
    shown = of_quantity(select(context.rows, dataset=datasets, n_features_label=sizes, variant=""), quantity)
    names = {d: dataset_cell(context, d, paper, select(shown, dataset=d)) for d in datasets}
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
    remarks = [RULE_NOTE, *counts_by_confidence(cells)]
    over = next(filter(None, cells["over"]), "")
    if over:
        note = RATIO_BY_ROUND_NOTE if len(by_rounds(shown)) else RATIO_NOTE
        remarks.insert(0, note.format(name=context.label(over)))
    return Table(pd.DataFrame(rows).astype(dict.fromkeys(JUDGED, float)), remarks, shown=shown)
