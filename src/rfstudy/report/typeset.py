"""A table as CSV, Markdown and LaTeX, from one data frame.

CSV holds the cells as they are, for machines; Markdown and LaTeX add caption, notes and thousands separators. LaTeX
needs ``booktabs``, ``graphicx`` for a wide table and ``longtable`` for one that does not fit a page.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from rfstudy.tidy import write_atomically

#: Rows above which a LaTeX table is broken over pages.
ROWS_OF_A_PAGE = 45

#: Columns above which it takes both columns of a two-column page, and is scaled to their width.
COLUMNS_OF_A_COLUMN = 6

#: Characters from which a text is a paragraph: LaTeX breaks the lines of a column that has such cells.
PARAGRAPH = 60

_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", "±": r"$\pm$", "≥": r"$\geq$", "≤": r"$\leq$", "•": r"\textbullet{}",
}  # fmt: skip


@dataclass(frozen=True)
class Table:
    """A data frame of cells (text, int, float or missing) with its name and what is said above and below it.

    A cell of the first column that repeats the one above is left empty in Markdown and LaTeX, and LaTeX sets such
    groups of rows apart.
    """

    name: str
    frame: pd.DataFrame
    caption: str
    notes: list[str] = field(default_factory=list)


def write(table: Table, out_dir, names: list[str]) -> list[Path]:
    """Write a table to ``out_dir`` under each of the names; the ending (.csv, .md, .tex) decides the format."""
    formats = {".csv": csv, ".md": markdown, ".tex": latex}
    written = []
    for name in names:
        path = Path(out_dir) / name
        content = formats[path.suffix](table)
        write_atomically(path, lambda temporary, content=content: Path(temporary).write_text(content, encoding="utf-8"))
        written.append(path)
    return written


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
    """A ``table`` with booktabs rules and the notes below it; a ``longtable`` when it is longer than a page."""
    columns = _alignments(table)
    caption = rf"\caption{{{escape(table.caption)}}}\label{{tab:{table.name}}}"
    head = r"\toprule" + "\n" + _latex_row(map(str, table.frame.columns)) + "\n" + r"\midrule"
    grouped = table.frame.iloc[:, 0].duplicated().any()
    body = []
    for row in _texts(table):
        if grouped and body and row[0]:
            body.append(r"\addlinespace")
        body.append(_latex_row(row))
    notes = "\n".join(escape(note) + r"\par" for note in table.notes)
    below = f"\\par\\medskip\n{{\\footnotesize\n{notes}\n}}\n" if notes else ""
    if len(body) > ROWS_OF_A_PAGE:
        lines = [rf"\begin{{longtable}}{{{columns}}}", caption + r"\\", head, r"\endfirsthead", head, r"\endhead"]
        lines += [r"\bottomrule", r"\endfoot", *body, r"\end{longtable}"]
        return "\n".join(lines) + "\n" + below
    wide = len(table.frame.columns) > COLUMNS_OF_A_COLUMN or "p{" in columns
    kind = "table*" if wide else "table"
    tabular = [rf"\begin{{tabular}}{{{columns}}}", head, *body, r"\bottomrule", r"\end{tabular}"]
    if wide and "p{" not in columns:
        tabular = [r"\resizebox{\textwidth}{!}{%", *tabular[:-1], tabular[-1] + "}"]
    return "\n".join([rf"\begin{{{kind}}}", r"\centering", caption, *tabular]) + "\n" + below + f"\\end{{{kind}}}\n"


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


def _alignments(table: Table) -> str:
    """LaTeX's column types: numbers flush right, texts flush left, and what is longer than a line as paragraphs."""
    lengths = [max((len(str(cell)) for cell in table.frame.iloc[:, i]), default=0) for i in range(table.frame.shape[1])]
    # the paragraphs share what the other columns leave of the width of the page
    long = [length for length in lengths if length > PARAGRAPH]
    share = 0.75 / len(long) if long else 0.0
    paragraph = rf"p{{{share:.2f}\textwidth}}"
    return "".join(
        paragraph if length > PARAGRAPH else "r" if numeric else "l"
        for length, numeric in zip(lengths, _numeric(table), strict=True)
    )


def _numeric(table: Table) -> list[bool]:
    """Which columns hold numbers only; they are set flush right."""
    columns = [table.frame.iloc[:, position] for position in range(table.frame.shape[1])]
    return [all(not isinstance(cell, str) for cell in column) for column in columns]
