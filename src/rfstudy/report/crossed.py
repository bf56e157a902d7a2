"""Cells that an entry names by rows and columns: what a table or a picture sets side by side, of several experiments.

A row and a column each select tidy rows (by experiment, variant, learner, size, place on an axis, ...); a cell has what
both select.
"""

import pandas as pd

from rfstudy.report.aggregate import select
from rfstudy.report.context import Context

#: What a cell selects unless its row or column says otherwise.
PLAIN = {"variant": "", "axis": ""}


def crossed(context: Context, spec: dict) -> dict[tuple[str, str], pd.DataFrame]:
    """Return the tidy rows of every cell, by the labels of its row and column.

    Of ``spec``: ``quantity``, ``lines`` and ``columns`` (a ``label`` each, and values of columns of the tidy table).
    """
    return {
        (row["label"], column["label"]): select(context.rows, **wanted(spec["quantity"], row, column))
        for row in spec["lines"]
        for column in spec["columns"]
    }


def wanted(quantity: dict, row: dict, column: dict) -> dict:
    """Return the keywords of ``select`` for a cell; texts of a column may use those of its row: "{variant}-longer"."""
    filled = {key: value.format(**row) if isinstance(value, str) else value for key, value in column.items()}
    named = PLAIN | {key: value for key, value in (quantity | row | filled).items() if key != "label"}
    if not named["axis"]:
        named.pop("at", None)  # a column without an axis is compared with every position of one that has it
    return {key: value if isinstance(value, str | list) else [value] for key, value in named.items()}
