"""Means of named cells, rows by columns, with the differences between columns and their tests.

An entry names the cells by rows and columns, perhaps of several experiments. A row and a column each select tidy rows
(by experiment, variant, learner, size, place on an axis, ...); a cell has what both select.
"""

import pandas as pd

from rfstudy.metrics import fact_of
from rfstudy.report.aggregate import by_repeat, select, summarise
from rfstudy.report.cells import difference_cell, mean_and_std
from rfstudy.report.compare import family, note_on_tests, overlap_of, paired
from rfstudy.report.context import Context
from rfstudy.report.typeset import Cell, Table

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


def make(
    context: Context,
    *,
    heading: str,
    quantity: dict,
    lines: list[dict],
    columns: list[dict],
    tests: list[dict] | None = None,
) -> Table:
    """Return a row per line: means with their deviations over the repeats, then the differences that are tested.

    ``heading`` is that of the rows; ``quantity``, ``lines`` and ``columns`` select the cells (``crossed``).
    """
    cells = crossed(context, {"quantity": quantity, "lines": lines, "columns": columns})
    labels, pairs = [column["label"] for column in columns], [(pair["column"], pair["against"]) for pair in tests or []]
    differences = {pair: " minus ".join(pair) for pair in pairs}
    tested, overlaps = tests_between(cells, [line["label"] for line in lines], pairs, context)
    means = {place: summarise(rows).iloc[0].to_dict() for place, rows in cells.items() if len(rows)}
    full = max((int(cell["n"]) for cell in means.values()), default=0)
    table = []
    for line in (line["label"] for line in lines):
        row = {heading: Cell(line, {"": line})} | {
            label: mean_and_std(means.get((line, label)), full) for label in labels
        }
        table.append(row | {name: difference_cell(tested.get((line, *pair))) for pair, name in differences.items()})
    remarks = [f"{fact_of(quantity['metric']).label}: mean ± standard deviation over {full} repeats."]
    if tested:
        of_family = "all differences of a data set; in brackets Holm's p-value"
        remarks.append(note_on_tests(overlaps, of_family, [quantity["metric"]]))
    shown = pd.concat([context.rows.iloc[:0], *cells.values()])
    unfold = {name: {"column": name} for name in (*labels, *differences.values())}
    return Table(pd.DataFrame(table), remarks, unfold, shown=shown[~shown.index.duplicated()])


def tests_between(cells: dict, lines: list[str], pairs: list[tuple], context: Context) -> tuple[dict, dict[str, float]]:
    """Return the tests between pairs of columns, by row and the two columns, as one family for each data set.

    And the largest overlap of the repeats of each row.
    """
    by_dataset, overlaps = {}, {}
    for line in lines:
        for pair in pairs:
            one, other = (cells[line, column] for column in pair)
            if len(one) and len(other):
                overlap = max(overlap_of(one, context), overlap_of(other, context))
                overlaps[line] = max(overlap, overlaps.get(line, 0.0))
                test = paired(by_repeat(one), by_repeat(other), overlap)
                by_dataset.setdefault(one["dataset"].iloc[0], {})[line, *pair] = test
    return {place: test for tests in by_dataset.values() for place, test in family(tests).items()}, overlaps
