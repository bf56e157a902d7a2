"""A table as CSV, Markdown and LaTeX, from one data frame.

CSV holds the cells as they are, for machines; Markdown and LaTeX add caption, notes and thousands separators. LaTeX
needs the packages ``booktabs``, ``array``, ``longtable`` (a table that does not fit a page) and ``pdflscape`` (one that
is too wide for an upright page).
"""

from __future__ import annotations

import itertools
import math
import textwrap
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from rfstudy.files import write_atomically

#: Points: width and height of the text of a page (A4 with margins of 25 mm), and the width of one of two columns.
PAGE, COLUMN = (455, 700), 240

#: LaTeX's sizes from large to small. In points: the height of a line, the width of a character in the mean (Computer
#: Modern is wider the smaller it is; measured on the tables themselves) and the space on each side of a column.
SIZES = {
    "normalsize": (12, 4.7, 6),
    "small": (11, 4.35, 5),
    "footnotesize": (9.5, 4.0, 4),
    "scriptsize": (8, 3.75, 3),
    "tiny": (6, 3.2, 2),
}

#: Share of the height of a page that a table takes at most unbroken: rules and the space between groups take the rest.
UNBROKEN = 0.85

#: The size of the notes.
OF_NOTES = "footnotesize"

#: The smallest size on an upright page; what is wider still is turned.
SMALLEST_UPRIGHT = "scriptsize"

#: Characters from which a text is a paragraph: LaTeX breaks the lines of a column that has such cells. Where nothing
#: fits otherwise, shorter texts are paragraphs, too.
PARAGRAPHS = (60, 40)

_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", "±": r"$\pm$", "≥": r"$\geq$", "≤": r"$\leq$", "•": r"\textbullet{}",
}  # fmt: skip


@dataclass(frozen=True)
class Table:
    """A data frame of cells (text, int, float or missing) with its name and what is said above and below it.

    A cell of the first column that repeats the one above is left empty in Markdown; where there are such cells, LaTeX
    has the first column as headings of groups of rows.
    """

    name: str
    frame: pd.DataFrame
    caption: str
    notes: list[str] = field(default_factory=list)


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
    """Header and rows; missing cells are empty, numbers are plain."""
    return table.frame.to_csv(index=False, lineterminator="\n")


def markdown(table: Table) -> str:
    """Caption, table with pipes, notes as a list."""
    rows = [[text.replace("|", r"\|") for text in row] for row in _texts(table)]
    names = [str(column).replace("|", r"\|") for column in table.frame.columns]
    rules = ["---:" if numeric else "---" for numeric in _numeric(table)]
    lines = [f"**{table.caption}**", ""]
    lines += [f"| {' | '.join(row)} |" for row in (names, rules, *rows)]
    lines += [""] + [f"- {note}" for note in table.notes] if table.notes else []
    return "\n".join(lines) + "\n"


def latex(table: Table) -> str:
    """The table with booktabs rules and the notes below it, in the largest size in which it fits an upright page, else
    on a turned page; a ``longtable`` where it is longer than a page.
    """
    names, rows = list(map(str, table.frame.columns)), _texts(table)
    skip = 1 if len(names) > 1 and any(not row[0] for row in rows) else 0
    cells = [row[skip:] for row in rows]
    heads = [_stacked(name, [row[i] for row in cells]) for i, name in enumerate(names[skip:])]
    numeric = _numeric(table)[skip:]
    layout = _layout(heads, cells, numeric, [table.caption, *table.notes])
    body = []
    for row in rows:
        if body and (row[0] if skip else "p{" in layout.columns):
            body.append(r"\addlinespace")
        if skip and row[0]:
            body.append(rf"\multicolumn{{{len(names) - 1}}}{{@{{}}l}}{{\emph{{{escape(row[0])}}}}} \\*")
        body.append(_latex_row(row[skip:]))
    caption = rf"\caption{{{escape(table.caption)}}}\label{{tab:{table.name}}}"
    head = [
        r"\toprule",
        " & ".join(_latex_head(*each) for each in zip(heads, numeric, strict=True)) + r" \\",
        r"\midrule",
    ]
    notes = [escape(note) + r"\par" for note in table.notes]
    notes = [r"\par\medskip", rf"{{\{OF_NOTES}", *notes, "}"] if notes else []
    size = [rf"\{layout.size}", rf"\setlength{{\tabcolsep}}{{{SIZES[layout.size][2]}pt}}"]
    if layout.long:
        head = [*head, r"\endfirsthead", *head, r"\endhead", r"\bottomrule", r"\endfoot"]
        lines = [rf"\begin{{longtable}}{{{layout.columns}}}", caption + r"\\", *head, *body, r"\end{longtable}"]
        lines = [r"\begingroup", *size, r"\setlength{\LTcapwidth}{\linewidth}", *lines, r"\endgroup", *notes]
    else:
        kind = "table" if layout.width <= COLUMN or layout.turned else "table*"
        lines = [rf"\begin{{tabular}}{{{layout.columns}}}", *head, *body, r"\bottomrule", r"\end{tabular}"]
        lines = [rf"\begin{{{kind}}}", r"\centering", caption, *size, *lines, *notes, rf"\end{{{kind}}}"]
    if layout.turned:
        lines = [r"\begin{landscape}", *lines, r"\end{landscape}"]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Layout:
    """How LaTeX sets a table: the name of the size, on a turned page or not, broken over pages or not."""

    size: str
    turned: bool
    long: bool
    columns: str  # LaTeX's column types
    width: float  # points


def _layout(heads: list[list[str]], rows: list[list[str]], numeric: list[bool], beside: list[str]) -> Layout:
    """The layout of a table with these names of columns, line by line, and these rows, between the texts ``beside``.

    Numbers are set flush right, texts flush left; texts longer than a line are paragraphs, which share what the other
    columns leave of the width of the page.
    """
    lengths = [max(map(_length, [*head, *(row[i] for row in rows)])) for i, head in enumerate(heads)]
    upright = list(SIZES)[: list(SIZES).index(SMALLEST_UPRIGHT) + 1]
    pages = [(False, size) for size in upright] + [(True, size) for size in SIZES]
    for longest, (turned, size) in itertools.product(PARAGRAPHS, pages):
        paragraphs = [i for i, length in enumerate(lengths) if length > longest]
        short = sum(length for i, length in enumerate(lengths) if i not in paragraphs)
        (baseline, character, space), (line, height) = SIZES[size], PAGE[::-1] if turned else PAGE
        least = character * longest / 2  # a paragraph has at least half the width that makes it one
        taken = character * short + 2 * space * len(lengths)
        if taken + len(paragraphs) * least <= line:
            break
    share = max(least, (line - taken) / max(1, len(paragraphs)))
    n_lines = max(map(len, heads)) + sum(
        max([1, *(math.ceil(character * _length(row[i]) / share) for i in paragraphs)]) for row in rows
    )
    below, of_note, _ = SIZES[OF_NOTES]
    taller = sum(below * math.ceil(of_note * _length(each) / line) for each in beside)
    paragraph = rf">{{\raggedright\arraybackslash}}p{{{share / line:.2f}\linewidth}}"
    return Layout(
        size,
        turned,
        long=baseline * n_lines + taller > UNBROKEN * height,
        columns="".join(paragraph if i in paragraphs else "r" if right else "l" for i, right in enumerate(numeric)),
        width=line if paragraphs else taken,
    )


def _length(text: str) -> float:
    """Length of a text in characters of mean width: capital letters and signs of operations are half as wide again."""
    return len(text) + 0.5 * sum(character.isupper() or character in "+±=<>" for character in text)


def _stacked(name: str, cells) -> list[str]:
    """The name of a column in lines that are no longer than its cells or than the longest word."""
    return textwrap.wrap(name, max([1, *map(len, [*cells, *name.split()])]), break_on_hyphens=False) or [""]


def _latex_head(lines: list[str], right: bool) -> str:
    stacked = r" \\ ".join(map(escape, lines))
    return rf"\shortstack[{'r' if right else 'l'}]{{{stacked}}}" if len(lines) > 1 else stacked


def escape(text: str) -> str:
    """Text with LaTeX's special characters made printable."""
    return "".join(_LATEX.get(character, character) for character in text)


def _latex_row(cells) -> str:
    return " & ".join(escape(cell) for cell in cells) + r" \\"


def _texts(table: Table) -> list[list[str]]:
    """Cells as they are printed, repeated ones of the first column left out."""
    rows = [[text(cell) for cell in row] for row in table.frame.itertuples(index=False, name=None)]
    repeats = [position > 0 and row[0] == rows[position - 1][0] for position, row in enumerate(rows)]
    return [["", *row[1:]] if repeated else row for row, repeated in zip(rows, repeats, strict=True)]


def text(cell) -> str:
    if isinstance(cell, str):
        return cell
    if pd.isna(cell):
        return ""
    return f"{int(cell):,}" if float(cell).is_integer() else f"{cell:.4g}"


def _numeric(table: Table) -> list[bool]:
    """Which columns hold numbers only; they are set flush right."""
    columns = [table.frame.iloc[:, position] for position in range(table.frame.shape[1])]
    return [all(not isinstance(cell, str) for cell in column) for column in columns]
