"""Cells that an entry names by rows and columns: what a table or a picture sets side by side, of several experiments.

A row and a column each say which tidy rows they are of (experiment, variant, learner, size, place on an axis, ...); a
cell has what both say. Differences between columns of a row are tested over the repeats.
"""

from __future__ import annotations

import pandas as pd

from rfstudy.report.aggregate import by_repeat, select
from rfstudy.report.compare import Estimate, family, overlap_of, paired
from rfstudy.report.context import Context

#: What a cell is of where neither row nor column says it.
PLAIN = {"variant": "", "axis": ""}


def crossed(context: Context, spec: dict) -> dict[tuple[str, str], pd.DataFrame]:
    """The tidy rows of every cell, by the labels of its row and column.

    Of ``spec``: ``quantity``, ``lines`` and ``columns`` (a ``label`` each, and values of columns of the tidy table).
    """
    return {
        (row["label"], column["label"]): select(context.rows, **wanted(spec["quantity"], row, column))
        for row in spec["lines"]
        for column in spec["columns"]
    }


def wanted(quantity: dict, row: dict, column: dict) -> dict:
    """What ``select`` is asked for a cell; a text of the column may hold what the row says: "{variant}-longer"."""
    filled = {key: value.format(**row) if isinstance(value, str) else value for key, value in column.items()}
    named = PLAIN | {key: value for key, value in (quantity | row | filled).items() if key != "label"}
    if not named["axis"]:
        named.pop("at", None)  # what does not walk stands beside every place of what does
    return {key: value if isinstance(value, str | list) else [value] for key, value in named.items()}


def differences_of(cells: dict[tuple[str, str], pd.DataFrame], spec: dict, context: Context) -> dict[tuple, Estimate]:
    """By row, column and the column that it is held against, for the pairs that ``spec["tests"]`` names: the paired
    difference; Holm's correction is over all of a data set.
    """
    by_dataset: dict[str, dict] = {}
    for row in spec["lines"]:
        for pair in spec.get("tests", []):
            one, other = (cells[row["label"], pair[side]] for side in ("column", "against"))
            if len(one) and len(other):
                place = (row["label"], pair["column"], pair["against"])
                overlap = max(overlap_of(one, context), overlap_of(other, context))
                test = paired(by_repeat(one), by_repeat(other), overlap)
                by_dataset.setdefault(one["dataset"].iloc[0], {})[place] = test
    return {place: test for tests in by_dataset.values() for place, test in family(tests).items()}


def overlaps_of(cells: dict[tuple[str, str], pd.DataFrame], spec: dict, context: Context) -> dict[str, float]:
    """The largest overlap of the repeats of a row that is tested, by its label."""
    columns = {pair["column"] for pair in spec.get("tests", [])}
    found = {}
    for row in spec["lines"]:
        own = [overlap_of(cells[row["label"], name], context) for name in columns if len(cells[row["label"], name])]
        if own:
            found[row["label"]] = max(own)
    return found
