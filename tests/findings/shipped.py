"""The tables of the shipped rows, and how a finding is held against them."""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import report_rows

from rfstudy.report import tables
from rfstudy.report.catalogue import specification
from rfstudy.report.context import Context, read_tables

ROOT = Path(__file__).resolve().parents[2]

#: A difference is told as an effect where its p-value is below the first and it exceeds the second, in points.
LEVEL, SMALLEST = 0.05, 0.1


class Basis(NamedTuple):
    """What a finding rests on: a function of ``table(name)``, which gives a table of the paper as machines read it, and
    of the words of the finding; and the sentences that it reads, each by its first three words.
    """

    check: Callable
    openings: list[str]


class Held(dict):
    """The findings of a paper by lead, each with its ``Basis``."""

    def __init__(self, paper: str):
        super().__init__()
        self.paper = paper

    def by(self, lead: str, *openings: str):
        """Register the decorated function: whoever adds a finding or a sentence adds what it rests on there."""

        def register(check):
            self[lead] = Basis(check, list(openings))
            return check

        return register


def shipped(experiments) -> list[Path]:
    """The files of those experiments that come with the repository; what is not there reads "not run" in a table."""
    files = [ROOT / "data" / "measured" / f"{name}.csv.xz" for name in experiments]
    return [path for path in files if path.exists()]


@cache
def context(*experiments, kernel="") -> Context:
    tables = read_tables(shipped(experiments))
    styles, tasks = report_rows.METHODS, report_rows.REGISTERED
    return Context.of(tables, list(experiments), styles, tasks, report_rows.REFERENCE, kernel)


@cache
def table_of(paper: str, name: str):
    """A table of the shipped rows, as machines read it."""
    spec = specification(report_rows.REPORTS, paper, name)
    return report_rows.as_computed(tables.make(context(*spec["experiments"], kernel=spec.get("kernel", "")), spec))


def told(text: str, pattern: str) -> list[float]:
    """The numbers that a pattern with groups finds in a text, in which a comma parts thousands."""
    found = re.search(pattern, text)
    assert found, f"the finding does not say {pattern!r}"
    return [float(number.replace(",", "")) for number in found.groups()]


def one(table, column="value", **where) -> float:
    """The value of a column in the one row of a table that has the values of others; "" stands for an empty cell."""
    rows = table
    for name, wanted in where.items():
        rows = rows[rows[name].astype(object).fillna("").astype(str) == str(wanted)]
    assert len(rows) == 1, f"{len(rows)} rows with {where}"
    return float(rows[column].iloc[0])


def rounded(value: float, digits: int = 2) -> float:
    return round(value, digits)


def is_effect(rows) -> list[bool]:
    """Whether the differences of a table are told as effects: they pass and exceed a tenth of a point."""
    return list((rows["p_value"] < LEVEL) & (rows["value"].abs() > SMALLEST))
