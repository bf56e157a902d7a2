"""Means of named cells, rows by columns, with the differences between columns and their tests."""

from __future__ import annotations

import pandas as pd

from rfstudy.metrics import fact_of
from rfstudy.report.aggregate import by_repeat, summarise
from rfstudy.report.cells import difference_cell, mean_and_std
from rfstudy.report.compare import family, note_on_tests, overlap_of, paired
from rfstudy.report.context import Context
from rfstudy.report.crossed import crossed
from rfstudy.report.notes import notes
from rfstudy.report.typeset import Cell, Table


def make(
    context: Context,
    *,
    paper: str,
    heading: str,
    quantity: dict,
    lines: list[dict],
    columns: list[dict],
    tests: list[dict] | None = None,
    repeats: int | None = None,
) -> Table:
    """Return a row per line: means with their deviations over the repeats, then the differences that are tested.

    ``heading`` is that of the rows; ``quantity``, ``lines`` and ``columns`` select the cells (``crossed``).
    """
    cells = crossed(context, {"quantity": quantity, "lines": lines, "columns": columns})
    pairs = tests or []
    tested, overlaps = tests_between(cells, lines, pairs, context)
    means = {place: summarise(rows).iloc[0].to_dict() for place, rows in cells.items() if len(rows)}
    full = max((int(cell["n"]) for cell in means.values()), default=0)
    table = []
    for row in lines:
        label = row["label"]
        line = {heading: Cell(label, {"": label})}
        for column in columns:
            place = (label, column["label"])
            metric = cells[place]["metric"].iloc[0] if len(cells[place]) else quantity["metric"]
            line[column["label"]] = mean_and_std(means.get(place), metric, full)
        for pair in pairs:
            test = tested.get((label, pair["column"], pair["against"]))
            line[_difference(pair)] = difference_cell(test)
        table.append(line)
    shown = pd.concat([context.rows.iloc[:0], *cells.values()])
    shown = shown[~shown.index.duplicated()]
    remarks = [f"{fact_of(quantity['metric']).label}: mean ± standard deviation over {full} repeats."]
    if tested:
        of_family = "all differences of a data set; in brackets Holm's p-value"
        remarks.append(note_on_tests(overlaps, of_family, [quantity["metric"]]))
    unfold = {column["label"]: {"column": column["label"]} for column in columns}
    unfold |= {_difference(pair): {"column": _difference(pair)} for pair in pairs}
    remarks += notes(shown, {"paper": paper, "repeats": repeats}, context)
    return Table(pd.DataFrame(table), remarks, unfold)


def tests_between(cells: dict, lines: list[dict], pairs: list[dict], context: Context) -> tuple[dict, dict[str, float]]:
    """Return the tests between pairs of columns, by row and the two columns, as one family for each data set; and the
    largest overlap of the repeats of each row."""
    by_dataset, overlaps = {}, {}
    for row in lines:
        for pair in pairs:
            place = (row["label"], pair["column"], pair["against"])
            one, other = (cells[row["label"], column] for column in place[1:])
            if len(one) and len(other):
                overlap = max(overlap_of(one, context), overlap_of(other, context))
                overlaps[row["label"]] = max(overlap, overlaps.get(row["label"], 0.0))
                test = paired(by_repeat(one), by_repeat(other), overlap)
                by_dataset.setdefault(one["dataset"].iloc[0], {})[place] = test
    return {place: test for tests in by_dataset.values() for place, test in family(tests).items()}, overlaps


def _difference(pair: dict) -> str:
    return f"{pair['column']} minus {pair['against']}"
