"""A table as CSV, Markdown and LaTeX, from one data frame.

Markdown and LaTeX are for people: "82.31 ± 0.40" in one cell, with caption, notes and thousands separators. CSV is for
machines: the same cells with one number each, the spread, the count, the p-value and the remark in columns of their
own. A ``Cell`` holds both, so that neither is made from the other.
"""

from __future__ import annotations

import csv as comma_separated
import io
import math
import numbers
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from rfstudy.files import write_atomically
from rfstudy.report import latex as tex

#: Digits of a number in a CSV file: more than any measurement has, fewer than rounding disturbs.
DIGITS = 10


@dataclass(frozen=True)
class Cell:
    """What people read in a cell, and what it tells machines: numbers and texts by what they are ("std", "remark").

    The key "" is the number, or the name, that the cell is about. A cell that tells several things has a dict for each.
    """

    text: str
    values: dict | tuple[dict, ...]

    def __str__(self) -> str:
        return self.text

    @property
    def records(self) -> list[dict]:
        """What it tells, one dict a thing."""
        return [self.values] if isinstance(self.values, dict) else list(self.values)


@dataclass(frozen=True)
class Table:
    """A data frame of cells (text, int, float, ``Cell`` or missing) with its name and what is said above and below it.

    A cell of the first column that repeats the one above is left empty in Markdown; where there are such cells, LaTeX
    has the first column as headings of groups of rows.

    Parameters
    ----------
    name, frame, caption, notes : stem of its files, cells, and texts
    unfold : columns of which a CSV file has one row a cell in place of one column each: column -> what its cells have
        in common (columns of the CSV file and their values), e.g. ``{"2d": {"size": "2d"}}``
    parts : title -> columns of the parts that it may be divided into; all have the columns that stand in none of them
    divided : whether these parts are tables of their own in any case; else LaTeX divides where there is no room
    names : column -> its name in the CSV file, where that is another
    """

    name: str
    frame: pd.DataFrame
    caption: str
    notes: list[str] = field(default_factory=list)
    unfold: dict[str, dict] = field(default_factory=dict)
    parts: dict[str, list[str]] = field(default_factory=dict)
    divided: bool = False
    names: dict[str, str] = field(default_factory=dict)

    @property
    def keys(self) -> list[str]:
        """The columns that say what a row is about: they stand in every part."""
        apart = {column for columns in self.parts.values() for column in columns} or set(self.unfold)
        named = [column for column in self.frame.columns if column not in apart]
        return named if apart else named[:2] if _grouped(self.frame) else named[:1]


def write(table: Table, out_dir, names: list[str]) -> list[Path]:
    """Write a table to ``out_dir`` under each of the names; the ending is the format, .txt what is said of it."""
    formats = {".csv": csv, ".md": markdown, ".tex": latex, ".txt": lambda table: told(table.caption, table.notes)}
    written = []
    for name in names:
        path = Path(out_dir) / name
        content = formats[path.suffix](table)
        write_atomically(path, lambda temporary, content=content: Path(temporary).write_text(content, encoding="utf-8"))
        written.append(path)
    return written


def told(caption: str, notes: list[str]) -> str:
    """Caption and notes as a text, a paragraph each."""
    return "\n\n".join([caption, *notes]) + "\n"


def csv(table: Table) -> str:
    """Header and rows of ``one_number_a_cell``; missing cells are empty."""
    frame = one_number_a_cell(table)
    stream = io.StringIO()
    writer = comma_separated.writer(stream, lineterminator="\n")
    writer.writerow(frame.columns)
    writer.writerows([_plain(value) for value in row] for row in frame.itertuples(index=False, name=None))
    return stream.getvalue()


def one_number_a_cell(table: Table) -> pd.DataFrame:
    """The table for machines: what its cells tell, each number in a column of its own.

    The columns of the frame come first, in order, each followed by what else its cells tell (``s_error``,
    ``s_remark``); then the names that unfolded columns have in place of their headings, and what their cells tell
    (``value``, ``std``, ``n``, ``remark``). A text in a column of numbers ("not run") is a remark.
    """
    frame = table.frame
    folded = [column for column in frame.columns if column not in table.unfold]
    with_numbers = [
        column for column in folded if not all(isinstance(cell, str) or _missing(cell) for cell in frame[column])
    ]
    rows = []
    for cells in (dict(zip(frame.columns, row, strict=True)) for row in frame.itertuples(index=False, name=None)):
        shared = {}
        for column in folded:
            (record,) = _records(cells[column], column in with_numbers)
            shared |= {(column, key): value for key, value in record.items()}
        unfolded = [
            {("", key): value for key, value in names.items()} | {(None, key): value for key, value in record.items()}
            for column, names in table.unfold.items()
            if isinstance(cells[column], Cell) or not _missing(cells[column])
            for record in _records(cells[column], True)
        ]
        empty = all(not isinstance(cells[column], Cell) and _missing(cells[column]) for column in table.unfold)
        rows += [shared | record for record in (unfolded or [{}] * empty)]
    order = {column: position for position, column in enumerate([*folded, "", None])}
    found = dict.fromkeys(key for row in rows for key in row) or [(column, "") for column in folded]
    columns = sorted(found, key=lambda key: (order[key[0]], key[1] != "", key[1] == "remark"))
    told = [[row.get(column) for column in columns] for row in rows]
    return pd.DataFrame(told, columns=[_name(*column, table.names) for column in columns], dtype=object)


def _records(cell, number: bool) -> list[dict]:
    """What a cell tells; of a plain one the value, or the remark that stands in place of a ``number``."""
    if isinstance(cell, Cell):
        return cell.records
    if _missing(cell):
        return [{"": None}]
    return [{"remark": cell}] if number and isinstance(cell, str) else [{"": cell}]


def _missing(cell) -> bool:
    return not isinstance(cell, Cell) and (cell == "" if isinstance(cell, str) else bool(pd.isna(cell)))


def _name(column: str | None, key: str, names: dict) -> str:
    """The name of a column of a CSV file: lower case, words joined by underscores."""
    words = f"{names.get(column, column)} {key}" if column else key or "value"
    return re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_")


def _plain(value) -> str:
    if isinstance(value, str):
        return value
    if pd.isna(value):
        return ""
    whole = math.isfinite(value) and float(value).is_integer() and abs(value) < 10**DIGITS
    return str(int(value)) if whole or isinstance(value, numbers.Integral) else f"{value:.{DIGITS}g}"


def markdown(table: Table) -> str:
    """Caption, table with pipes, notes as a list; the parts of a divided table one below the other."""
    lines = [f"**{table.caption}**", ""]
    for part in _parts(table) if table.divided else [_part(table.frame)]:
        lines += [f"*{part.title}*", ""] if part.title else []
        rules = ["---:" if numeric else "---" for numeric in part.numeric]
        rows = [[text.replace("|", r"\|") for text in row] for row in (part.names, rules, *part.rows)]
        lines += [*(f"| {' | '.join(row)} |" for row in rows), ""]
    lines += [f"- {note}" for note in table.notes]
    return "\n".join(lines).rstrip("\n") + "\n"


def latex(table: Table) -> str:
    """The table as ``latex.tables`` sets it: whole where that fits, else in its parts, else in ever narrower ones."""
    return tex.tables(table.name, table.caption, table.notes, _ways(table))


def _ways(table: Table) -> Iterator[list[tex.Part]]:
    """The ways to divide a table: not at all, into its parts, and these into ever more pieces of whole columns."""
    if not table.divided:
        yield [_part(table.frame)]
    if table.parts:
        yield _parts(table)
    keys = table.keys
    rest = [column for column in table.frame.columns if column not in keys]
    parts = table.parts or {"": rest}
    for pieces in range(2, max([1, *map(len, parts.values())]) + 1):
        found = []
        for title, columns in parts.items():
            size = math.ceil(len(columns) / pieces)
            for piece in (columns[start : start + size] for start in range(0, len(columns), size)):
                ends = " to ".join(dict.fromkeys(map(str, (piece[0], piece[-1]))))
                found.append(_part(table.frame, [*keys, *piece], f"{title}, {ends}" if title else ends))
        yield found


def _parts(table: Table) -> list[tex.Part]:
    """The parts of a table; rows that are empty in a part are left out of it."""
    found = []
    for title, columns in table.parts.items():
        told = [any(text(cell) for cell in row) for row in table.frame[columns].itertuples(index=False, name=None)]
        found.append(_part(table.frame[told], [*table.keys, *columns], title))
    return found


def _part(frame: pd.DataFrame, columns: list[str] | None = None, title: str = "") -> tex.Part:
    """Some columns of a frame as texts, repeated ones of the first column left out."""
    frame = frame if columns is None else frame[columns]
    rows = [[text(cell) for cell in row] for row in frame.itertuples(index=False, name=None)]
    repeats = [position > 0 and row[0] == rows[position - 1][0] for position, row in enumerate(rows)]
    rows = [["", *row[1:]] if repeated else row for row, repeated in zip(rows, repeats, strict=True)]
    numeric = [all(not isinstance(cell, str | Cell) for cell in frame.iloc[:, i]) for i in range(frame.shape[1])]
    whole = [any(isinstance(cell, Cell) and "±" in cell.text for cell in frame[column]) for column in frame.columns]
    return tex.Part(title, list(map(str, frame.columns)), rows, numeric, whole)


def _grouped(frame: pd.DataFrame) -> bool:
    return _part(frame).grouped


def text(cell) -> str:
    """A cell as people read it."""
    if isinstance(cell, str | Cell):
        return str(cell)
    if pd.isna(cell):
        return ""
    return f"{int(cell):,}" if float(cell).is_integer() else f"{cell:.4g}"
