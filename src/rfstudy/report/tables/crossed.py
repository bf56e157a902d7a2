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

#: Keys of an entry of this kind, beside those of all entries.
REQUIRED = ("heading", "quantity", "lines", "columns")
OPTIONAL = ("tests", "repeats")


def make(context: Context, spec: dict) -> Table:
    """One row a row of ``spec``: means with their deviations over the repeats, then the differences that are tested.

    Of ``spec``: ``heading`` of the rows, ``quantity``, ``lines``, ``columns`` and ``tests`` (``crossed``).
    """
    cells = crossed(context, spec)
    tests, overlaps = tests_between(cells, spec, context)
    means = {place: summarise(rows).iloc[0].to_dict() for place, rows in cells.items() if len(rows)}
    full = max((int(cell["n"]) for cell in means.values()), default=0)
    table = []
    for row in spec["lines"]:
        label = row["label"]
        line = {spec["heading"]: Cell(label, {"": label})}
        for column in spec["columns"]:
            place = (label, column["label"])
            metric = cells[place]["metric"].iloc[0] if len(cells[place]) else spec["quantity"]["metric"]
            line[column["label"]] = mean_and_std(means.get(place), metric, full)
        for pair in spec.get("tests", []):
            test = tests.get((label, pair["column"], pair["against"]))
            line[_difference(pair)] = difference_cell(test)
        table.append(line)
    shown = pd.concat([context.rows.iloc[:0], *cells.values()])
    shown = shown[~shown.index.duplicated()]
    remarks = [f"{fact_of(spec['quantity']['metric']).label}: mean ± standard deviation over {full} repeats."]
    if tests:
        of_family = "all differences of a data set; in brackets Holm's p-value"
        remarks.append(note_on_tests(overlaps, of_family, [spec["quantity"]["metric"]]))
    unfold = {column["label"]: {"column": column["label"]} for column in spec["columns"]}
    unfold |= {_difference(pair): {"column": _difference(pair)} for pair in spec.get("tests", [])}
    remarks += notes(shown, spec, context)
    return Table(spec["name"], pd.DataFrame(table), spec["caption"], remarks, unfold)


def tests_between(cells: dict, spec: dict, context: Context) -> tuple[dict, dict[str, float]]:
    """The tests between columns that ``tests`` of ``spec`` names, by row and the two columns, as one family for each
    data set; and the largest overlap of the repeats of each row."""
    by_dataset, overlaps = {}, {}
    for row in spec["lines"]:
        for pair in spec.get("tests", []):
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
