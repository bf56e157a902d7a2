"""Published numbers with ours below them: a row per kernel, quantity and source, a column per method."""

import pandas as pd

from rfstudy.metrics import fact_of
from rfstudy.report.cells import absent, method_columns
from rfstudy.report.context import Context
from rfstudy.report.scorecard import our_cell, printed_cell, quantity_in_words
from rfstudy.report.scorecard import scorecard as compared
from rfstudy.report.typeset import Cell, Table

#: The cell of the method that all others are divided by.
ONE = Cell("1", {"": 1.0})

#: What else a missing number lacks.
QUARTILES = ("std", "lower_quartile", "upper_quartile")

#: Which published numbers ``config/scorecard.yaml`` gives this kind: those of the paper.
SCORED = "paper"

OURS_NOTE = (
    "Ours: mean ± standard deviation where there are repeats; of times the median over rounds and its quartiles."
)


def make(
    context: Context,
    *,
    paper: str,
    experiments: list[str],
    scorecard: dict,
    published: str,
    methods: list[str],
    kernels: dict[str, str],
) -> Table:
    """Return every published number of a table and ours; ``kernels`` are ids with their names in the table."""
    cells = compared(context, {"paper": paper, "experiments": experiments, "scorecard": scorecard}, published)
    found = {(cell.kernel, cell.metric, cell.method): cell for cell in cells.itertuples()}
    quantities = {cell.metric: quantity_in_words(cell, context.styles) for cell in found.values()}
    rows = []
    for kernel, name in kernels.items():
        for metric, words in quantities.items():
            own = {method: found.get((kernel, metric, method)) for method in methods}
            if not any(own.values()):
                continue  # of a kernel that these experiments do not have
            # who is divided by the method that has no number of its own has measured that method, too
            measured = any(cell and pd.notna(cell.value) for cell in own.values())
            units = ONE, ONE if measured else absent("not run", *QUARTILES)
            for source, text, unit in zip(("published", "ours"), (printed_cell, _ours), units, strict=True):
                texts = {context.label(method): text(cell) if cell else unit for method, cell in own.items()}
                rows.append({"kernel": name, "quantity": words, "source": source} | texts)
    shown = context.rows.loc[sorted({row for index in cells["rows"] for row in index})]
    others = sorted(set(shown["n_features_label"]) - set(cells["size"]))
    remarks = [OURS_NOTE, *([f"Ours at s = {', '.join(others)}."] if others else [])]
    return Table(pd.DataFrame(rows), remarks, method_columns(context, methods), shown=shown)


def _ours(cell) -> Cell:
    """Return our number, or why there is none."""
    if pd.isna(cell.value):
        return absent(cell.reason, *QUARTILES)
    return our_cell(cell, 2 if cell.over or fact_of(cell.metric).is_percentage else 4)
