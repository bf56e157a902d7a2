"""Tables as CSV, Markdown, LaTeX and HTML, from one data frame.

Markdown, LaTeX and HTML are for people: a cell reads "82.31 ± 0.40". CSV is for machines: one number per cell, with
spread, count, p-value and remark in columns of their own. A ``Cell`` holds both.
"""

import numbers
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from html import escape as escaped
from pathlib import Path
from string import ascii_lowercase

import numpy as np
import pandas as pd
from pandas.io.formats.style import Styler

from rfstudy.files import write_text

#: Digits of a number in a CSV file: more than any measurement has, fewer than rounding disturbs.
DIGITS = 10

#: LaTeX: characters per line of an upright page (A4, margins of 25 mm).
UPRIGHT = 104

#: LaTeX: characters per line of a turned page, which has smaller type.
TURNED = 175

#: LaTeX: characters between columns.
GAP = 2.5

#: LaTeX: number of characters from which a text breaks its lines.
PARAGRAPH = 40

#: LaTeX: least width of a column of such texts, in characters.
NARROWEST = 20.0

NEEDS = "% needs: booktabs, longtable, pdflscape, xltabular"

#: LaTeX: the last character that every engine can set; later ones that are not in ``_LATEX`` need Unicode fonts.
LAST_LATIN = "\u017f"

_LATEX = str.maketrans({
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", "±": r"$\pm$", "≥": r"$\geq$", "≤": r"$\leq$", "•": r"\textbullet{}",
})  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """The text of a cell for people, and its numbers and texts by name ("std", "remark") for machines.

    The name "" holds the number, or the name, that the cell is about. A cell that lists several things has a dict
    for each. The best of several cells is bold.
    """

    text: str
    values: dict | tuple[dict, ...]
    is_best: bool = False

    def __str__(self) -> str:
        return self.text

    @property
    def records(self) -> list[dict]:
        """Return the values, one dict for each thing in the cell."""
        return [self.values] if isinstance(self.values, dict) else list(self.values)


@dataclass(frozen=True)
class Table:
    """A data frame of cells (text, int, float, ``Cell`` or missing) with its notes, name and caption.

    Parameters
    ----------
    frame, notes : cells, and sentences below them
    unfold : columns that become rows of the CSV file: column -> further columns of the CSV file and their values, e.g.
        ``{"2d": {"size": "2d"}}``
    parts : title -> columns of the parts for people; columns that are in no part are in all of them
    hidden : columns for machines only
    shown : the measured rows that the table shows; ``tables.make`` adds the notes on them
    name, caption : stem of its files, and title; ``tables.make`` takes them from the entry in ``config/figures``
    """

    frame: pd.DataFrame
    notes: list[str] = field(default_factory=list)
    unfold: dict[str, dict] = field(default_factory=dict)
    parts: dict[str, list[str]] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()
    shown: pd.DataFrame | None = None
    name: str = ""
    caption: str = ""

    @property
    def keys(self) -> list[str]:
        """Return the columns that name the subject of a row."""
        others = {column for columns in self.parts.values() for column in columns} or set(self.unfold)
        return [column for column in self.frame.columns if column not in (others or set(self.frame.columns[2:]))]


def write(table: Table, out_dir, names: list[str]) -> None:
    """Write a table to ``out_dir`` under each of the names; the ending is the format, .txt holds caption and notes."""
    formats: dict[str, Callable[[Table], str]] = {
        ".csv": csv, ".md": markdown, ".tex": latex, ".txt": lambda table: description(table.caption, table.notes),
    }  # fmt: skip
    for path in (Path(out_dir) / name for name in names):
        write_text(formats[path.suffix](table), path, sync=False)


def description(caption: str, notes: list[str]) -> str:
    """Return caption and notes as a text, a paragraph each."""
    return "\n\n".join([caption, *notes]) + "\n"


# --- for machines -----------------------------------------------------------------------------------------------------


def csv(table: Table) -> str:
    """Return the table as CSV, one number per cell; missing cells are empty."""
    return one_number_per_cell(table).map(_digits).to_csv(index=False, lineterminator="\n")


def one_number_per_cell(table: Table) -> pd.DataFrame:
    """Return the table with each number and remark in a column of its own.

    The columns of the frame come first, in order, each followed by the further values of its cells (``s_error``,
    ``s_remark``). Cells of unfolded columns follow in rows: their names, then ``value``, ``std``, ``n``, ``remark``.
    A text in a column of numbers ("not run") is a remark.
    """
    frame = table.frame
    folded = [column for column in frame.columns if column not in table.unfold]
    numeric = {name for name in folded if not all(isinstance(cell, str) or _missing(cell) for cell in frame[name])}
    rows = []
    for cells in (dict(zip(frame.columns, row, strict=True)) for row in frame.itertuples(index=False, name=None)):
        shared = {}
        for column in folded:
            (record,) = _records(cells[column], column in numeric)
            shared |= {(column, key): value for key, value in record.items()}
        unfolded = [
            {("", key): value for key, value in names.items()} | {(None, key): value for key, value in record.items()}
            for column, names in table.unfold.items()
            if not _missing(cells[column])
            for record in _records(cells[column], True)
        ]
        empty = all(_missing(cells[column]) for column in table.unfold)
        rows += [shared | record for record in (unfolded or [{}] * empty)]
    order = {column: position for position, column in enumerate([*folded, "", None])}
    found = dict.fromkeys(key for row in rows for key in row) or [(column, "") for column in folded]
    columns = sorted(found, key=lambda key: (order[key[0]], key[1] != "", key[1] == "remark"))
    values = [[row.get(column) for column in columns] for row in rows]
    return pd.DataFrame(values, columns=[_name(*column) for column in columns], dtype=object)


def _records(cell, number: bool) -> list[dict]:
    """Return the values of a cell; a text in place of a ``number`` is a remark."""
    if isinstance(cell, Cell):
        return cell.records
    if _missing(cell):
        return [{"": None}]
    return [{"remark": cell}] if number and isinstance(cell, str) else [{"": cell}]


def _missing(cell) -> bool:
    return pd.isna(cell) or cell == ""


def _name(column: str | None, key: str) -> str:
    """Return the name of a column of a CSV file: lower case, words joined by underscores."""
    words = f"{column} {key}" if column else key or "value"
    return re.sub(r"[^a-z0-9]+", "_", words.lower().replace("ö", "oe")).strip("_")


def _digits(value) -> str:
    if isinstance(value, str):
        return value
    if pd.isna(value):
        return ""
    return str(int(value)) if isinstance(value, numbers.Integral) else f"{value + 0.0:.{DIGITS}g}"


# --- for people -------------------------------------------------------------------------------------------------------


def text(cell) -> str:
    """Return the text of a cell for people."""
    if isinstance(cell, str | Cell):
        return str(cell)
    if pd.isna(cell):
        return ""
    return f"{int(cell):,}" if float(cell).is_integer() else f"{cell:.4g}"


def with_best(rows: list[dict], columns, lower: bool, key: str = "") -> list[dict]:
    """Return rows of cells in which the best number of some columns is bold, if there are several numbers.

    ``key`` names the compared values of a cell; ``lower`` values may be better.
    """
    found = {
        (row, column): value
        for row, cells in enumerate(rows)
        for column in columns
        if isinstance(cell := cells.get(column), Cell) and not _missing(value := cell.records[0].get(key))
    }
    if len(found) > 1:
        row, column = (min if lower else max)(found, key=found.get)
        rows[row][column] = replace(rows[row][column], is_best=True)
    return rows


def in_words(frame: pd.DataFrame, plain=str, bold: tuple[str, str] = ("", "")) -> pd.DataFrame:
    """Return cells and headings as texts of a format, the best cells in ``bold``.

    A cell of the first column that repeats the one above is empty.
    """

    def words(cell) -> str:
        return plain(text(cell)).join(bold if isinstance(cell, Cell) and cell.is_best else ("", ""))

    texts = frame.astype(object).map(words).rename(columns=lambda name: plain(str(name)))
    first = texts.iloc[:, 0]
    return texts.assign(**{texts.columns[0]: first.mask(first == first.shift(), "")})


def in_parts(table: Table) -> list[tuple[str, pd.DataFrame]]:
    """Return title and frame of every part for people; rows that are empty in a part are left out of it."""
    parts = []
    for title, columns in ((title, columns) for title, columns in table.parts.items() if columns):
        shown = (table.frame[columns].astype(object).map(text) != "").any(axis=1)
        parts.append((title, table.frame.loc[shown, [*table.keys, *columns]]))
    return parts or [("", table.frame.drop(columns=list(table.hidden)))]


def _numeric(frame: pd.DataFrame) -> list[bool]:
    """Return which columns hold only numbers, perhaps with their spread; they are set flush right."""

    def is_text(cell) -> bool:
        found = [(key, value) for record in _records(cell, False) for key, value in record.items()]
        return not found or any(key != "remark" and isinstance(value, str) for key, value in found)

    return [not any(map(is_text, frame[column])) for column in frame.columns]


def markdown(table: Table) -> str:
    """Return caption, parts with their titles, and notes."""
    blocks = [f"**{table.caption}**"]
    for title, content in _tabulated(table, "pipe", lambda text: text.replace("|", r"\|"), ("**", "**")):
        blocks += [f"*{title}*", content] if title else [content]
    return "\n\n".join([*blocks, "\n".join(f"- {note}" for note in table.notes)]).rstrip("\n") + "\n"


def html(table: Table) -> str:
    """Return the parts with their titles, as HTML."""
    return "\n".join(
        content.replace("<table>", f"<table><caption>{escaped(title)}</caption>" if title else "<table>", 1)
        for title, content in _tabulated(table, "unsafehtml", escaped, ("<b>", "</b>"))
    )


def _tabulated(table: Table, form: str, plain: Callable, bold: tuple[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the titles of the parts, with the parts in a format of tabulate's."""
    for title, frame in in_parts(table):
        aligned = ["right" if right else "left" for right in _numeric(frame)] if len(frame) else None
        texts = in_words(frame, plain, bold)
        yield title, texts.to_markdown(index=False, disable_numparse=True, colalign=aligned, tablefmt=form)


def latex(table: Table) -> str:
    """Return the table for LaTeX; its parts share a number, and the notes follow the last one.

    Pages are turned where an upright one is too narrow. If a turned one is too narrow as well, the columns share its
    width.
    """
    parts = in_parts(table)
    widths = [_widths(frame) for _, frame in parts]
    turned = any(each.sum() > UPRIGHT for each in widths)
    lines = [r"\begingroup", r"\footnotesize" if turned else r"\small", r"\setlength{\LTcapwidth}{\linewidth}"]
    for position, ((title, frame), width, letter) in enumerate(zip(parts, widths, ascii_lowercase, strict=False)):
        caption = f"{table.caption} ({letter}) {title}." if len(parts) > 1 else table.caption
        is_shared = width.eq(NARROWEST) | ((width.sum() > TURNED) & ~width.index.isin(table.keys))
        # columns of more text get more of the width, by the square root
        amount = frame.loc[:, is_shared.to_numpy()].astype(object).map(text).map(len).sum() ** 0.5
        shares = (amount / amount.mean()).map(r">{{\hsize={:.2f}\hsize\raggedright\arraybackslash}}X".format)
        plain = np.where(_numeric(frame), "r", "l")
        types = "".join(shares.get(column, own) for column, own in zip(frame, plain, strict=True))
        content = Styler(in_words(frame, escape, (r"\textbf{", "}"))).hide(axis="index").to_latex(
            environment="longtable", hrules=True, column_format=types, caption=escape(caption),
            label=f"tab:{table.name}" + f"-{letter}" * (position > 0),
        )  # fmt: skip
        if "X" in types:
            content = content.replace(r"\begin{longtable}", r"\begin{xltabular}{\linewidth}")
            content = content.replace(r"\end{longtable}", r"\end{xltabular}")
        lines += [r"\addtocounter{table}{-1}"] * (position > 0) + [content.rstrip("\n")]
    lines += [*(escape(note) + r"\par" for note in table.notes), r"\endgroup"]
    lines = [r"\begin{landscape}", *lines, r"\end{landscape}"] if turned else lines
    content = "\n".join(lines) + "\n"
    foreign = "".join(sorted({character for character in content if character > LAST_LATIN}))
    needs = f"{NEEDS}; XeLaTeX or LuaLaTeX, with a font that has {foreign}" if foreign else NEEDS
    return f"{needs}\n{content}"


def _widths(frame: pd.DataFrame) -> pd.Series:
    """Return the characters that each column needs, with its heading and the space next to it.

    A column of long texts needs ``NARROWEST``, because it breaks its lines.
    """
    longest = frame.astype(object).map(text).map(len).max()
    return longest.clip(lower=[len(str(name)) for name in frame]).add(GAP).mask(longest > PARAGRAPH, NARROWEST)


def escape(text: str) -> str:
    """Return a text for LaTeX: escape its special characters, and a start that would be an option of the row before."""
    return ("{}" if text.startswith(("[", "*")) else "") + text.translate(_LATEX)
