"""Means of named cells, rows by columns, with the differences between columns and their tests."""

from __future__ import annotations

import pandas as pd

from rfstudy.metrics import fact_of
from rfstudy.report.aggregate import summarise
from rfstudy.report.cells import difference_cell, mean_and_std
from rfstudy.report.compare import note_on_tests
from rfstudy.report.context import Context
from rfstudy.report.crossed import crossed, differences_of, overlaps_of
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
    tests = differences_of(cells, spec, context)
    means = {place: _mean(rows) for place, rows in cells.items()}
    full = max((int(cell["n"]) for cell in means.values() if cell), default=0)
    table = []
    for row in spec["lines"]:
        label = row["label"]
        line = {spec["heading"]: Cell(label, {"": label})}
        for column in spec["columns"]:
            place = (label, column["label"])
            metric = cells[place]["metric"].iloc[0] if len(cells[place]) else spec["quantity"]["metric"]
            line[column["label"]] = mean_and_std(means[place], metric, full)
        for pair in spec.get("tests", []):
            test = tests.get((label, pair["column"], pair["against"]))
            line[_difference(pair)] = difference_cell(test)
        table.append(line)
    shown = pd.concat([context.rows.iloc[:0], *cells.values()])
    shown = shown[~shown.index.duplicated()]
    remarks = [f"{fact_of(spec['quantity']['metric']).label}: mean ± standard deviation over {full} repeats."]
    if tests:
        of_family = "all differences of a data set; in brackets Holm's p-value"
        remarks.append(note_on_tests(overlaps_of(cells, spec, context), of_family, [spec["quantity"]["metric"]]))
    told = {column["label"]: {"column": column["label"]} for column in spec["columns"]}
    told |= {_difference(pair): {"column": _difference(pair)} for pair in spec.get("tests", [])}
    remarks += notes(shown, spec, context)
    return Table(spec["name"], pd.DataFrame(table), spec["caption"], remarks, told)


def _mean(rows: pd.DataFrame) -> dict | None:
    if not len(rows):
        return None
    (cell,) = summarise(rows).to_dict("records")
    return cell


def _difference(pair: dict) -> str:
    return f"{pair['column']} minus {pair['against']}"
