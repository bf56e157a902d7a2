"""Tables as LaTeX: the size of the type, upright or turned, on one page or several, in one part or in several.

No LaTeX is run here: whether a table fits is told from the number of its characters and from widths and heights that
were measured. The packages that a table needs stand in its first line.
"""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from string import ascii_lowercase
from typing import NamedTuple

#: Points: width and height of the text of a page (A4 with margins of 25 mm), and the width of one of two columns.
PAGE, COLUMN = (455, 700), 240

#: LaTeX's sizes from large to small. In points: the height of a line, the width of a character in the mean (Computer
#: Modern is wider the smaller it is; measured on the tables themselves) and the space on each side of a column. What
#: fits in none of them is divided: smaller type is not read.
SIZES = {
    "normalsize": (12, 4.7, 6),
    "small": (11, 4.35, 5),
    "footnotesize": (9.5, 4.0, 4),
}

#: Share of the height of a page that a table takes at most unbroken: rules and the space between groups take the rest.
UNBROKEN = 0.85

#: The size of the notes.
OF_NOTES = "footnotesize"

#: Characters from which a text is a paragraph: LaTeX breaks the lines of a column that has such cells. Where nothing
#: fits otherwise, shorter texts are paragraphs, too.
PARAGRAPHS = (60, 40)

#: What a table is made of, and the package that it comes from; booktabs is always needed.
PACKAGES = {r"\arraybackslash": "array", r"\begin{longtable}": "longtable", r"\begin{landscape}": "pdflscape"}

_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", "±": r"$\pm$", "≥": r"$\geq$", "≤": r"$\leq$", "•": r"\textbullet{}",
}  # fmt: skip


class Part(NamedTuple):
    """What stands in one tabular: its title, the names of the columns and the cells by row; which columns are numbers,
    and which must not be broken into lines.

    Where an empty cell of the first column repeats the one above, the first column becomes headings of groups of rows.
    """

    title: str
    names: list[str]
    rows: list[list[str]]
    numeric: list[bool]
    whole: list[bool]

    @property
    def grouped(self) -> bool:
        """Whether the first column is the headings of groups of rows."""
        return len(self.names) > 1 and any(not row[0] for row in self.rows)


class Type(NamedTuple):
    """How the parts of a table are set: the size, on turned pages or not, and from how many characters on a text is
    a paragraph."""

    size: str
    turned: bool
    longest: int


@dataclass(frozen=True)
class Layout:
    """How one part is set: broken over pages or not, LaTeX's column types, the width in points, and whether it fits."""

    long: bool
    columns: str
    width: float
    fits: bool


def tables(name: str, caption: str, notes: list[str], ways: Iterable[list[Part]]) -> str:
    """LaTeX of a table: the first of the ways to divide it into parts in which all of them fit a page.

    The type is the largest in which all parts fit an upright page, else a turned one; a part that is longer than a page
    is a ``longtable``. Where nothing fits, the last way is taken as it is. The notes stand below the last part.
    """
    for parts in ways:
        kind = _type(parts)
        if kind:
            break
    else:
        kind = Type(list(SIZES)[-1], True, PARAGRAPHS[-1])
    lines = []
    for position, part in enumerate(parts):
        letter = ascii_lowercase[position] if len(parts) > 1 else ""
        # parts are one table: they share its number
        lines += [r"\addtocounter{table}{-1}"] if position else []
        lines += _part(part, kind, name, caption, letter, notes if position == len(parts) - 1 else [])
    if kind.turned:
        lines = [r"\begin{landscape}", *lines, r"\end{landscape}"]
    text = "\n".join(lines) + "\n"
    needed = ["booktabs", *(package for command, package in PACKAGES.items() if command in text)]
    return f"% needs: {', '.join(needed)}\n{text}"


def _type(parts: list[Part]) -> Type | None:
    """The largest type in which all parts fit, upright before turned; None where there is none."""
    for longest, turned, size in itertools.product(PARAGRAPHS, (False, True), SIZES):
        kind = Type(size, turned, longest)
        if all(_layout(part, kind, []).fits for part in parts):
            return kind
    return None


def _part(part: Part, kind: Type, name: str, caption: str, letter: str, notes: list[str]) -> list[str]:
    """The lines of one part, with booktabs rules, and the notes below it."""
    if letter:
        caption = f"{caption} ({letter}) {part.title}."
    layout = _layout(part, kind, [caption, *notes])
    skip = int(part.grouped)
    n_columns = len(part.names) - skip
    body = []
    for row in part.rows:
        if body and (row[0] if skip else "p{" in layout.columns):
            body.append(r"\addlinespace")
        if skip and row[0]:
            body.append(rf"\multicolumn{{{n_columns}}}{{@{{}}l}}{{\emph{{{escape(row[0])}}}}} \\*")
        body.append(_row(row[skip:]))
    label = f"tab:{name}" + (f"-{letter}" if letter not in ("", "a") else "")
    title = rf"\caption{{{escape(caption)}}}\label{{{label}}}"
    heads = zip(_heads(part), part.numeric[skip:], strict=True)
    head = [r"\toprule", " & ".join(_head(*each) for each in heads) + r" \\", r"\midrule"]
    below = [escape(note) + r"\par" for note in notes]
    below = [r"\par\medskip", rf"{{\{OF_NOTES}", *below, "}"] if below else []
    size = [rf"\{kind.size}", rf"\setlength{{\tabcolsep}}{{{SIZES[kind.size][2]}pt}}"]
    if layout.long:
        head = [*head, r"\endfirsthead", *head, r"\endhead", r"\bottomrule", r"\endfoot"]
        lines = [rf"\begin{{longtable}}{{{layout.columns}}}", title + r"\\", *head, *body, r"\end{longtable}"]
        return [r"\begingroup", *size, r"\setlength{\LTcapwidth}{\linewidth}", *lines, r"\endgroup", *below]
    environment = "table" if layout.width <= COLUMN or kind.turned else "table*"
    lines = [rf"\begin{{tabular}}{{{layout.columns}}}", *head, *body, r"\bottomrule", r"\end{tabular}"]
    return [rf"\begin{{{environment}}}", r"\centering", title, *size, *lines, *below, rf"\end{{{environment}}}"]


def _layout(part: Part, kind: Type, beside: list[str]) -> Layout:
    """The layout of a part in a type, between the texts ``beside``.

    Numbers are set flush right, texts flush left; texts longer than a line are paragraphs, which share what the other
    columns leave of the width of the page.
    """
    skip = int(part.grouped)
    heads, rows = _heads(part), [row[skip:] for row in part.rows]
    lengths = [max(map(_length, [*head, *(row[i] for row in rows)])) for i, head in enumerate(heads)]
    whole = part.whole[skip:]
    paragraphs = [i for i, length in enumerate(lengths) if length > kind.longest and not whole[i]]
    short = sum(length for i, length in enumerate(lengths) if i not in paragraphs)
    (baseline, character, space), (line, height) = SIZES[kind.size], PAGE[::-1] if kind.turned else PAGE
    least = character * kind.longest / 2  # a paragraph has at least half the width that makes it one
    taken = character * short + 2 * space * len(lengths)
    share = max(least, (line - taken) / max(1, len(paragraphs)))
    n_lines = max(map(len, heads)) + sum(
        max([1, *(math.ceil(character * _length(row[i]) / share) for i in paragraphs)]) for row in rows
    )
    below, of_note, _ = SIZES[OF_NOTES]
    taller = sum(below * math.ceil(of_note * _length(each) / line) for each in beside)
    paragraph = rf">{{\raggedright\arraybackslash}}p{{{share / line:.2f}\linewidth}}"
    numeric = part.numeric[skip:]
    return Layout(
        long=baseline * n_lines + taller > UNBROKEN * height,
        columns="".join(paragraph if i in paragraphs else "r" if right else "l" for i, right in enumerate(numeric)),
        width=line if paragraphs else taken,
        fits=taken + len(paragraphs) * least <= line,
    )


def _length(text: str) -> float:
    """Length of a text in characters of mean width: capital letters and signs of operations are half as wide again."""
    return len(text) + 0.5 * sum(character.isupper() or character in "+±=<>" for character in text)


def _heads(part: Part) -> list[list[str]]:
    """The names of the columns in lines that are no longer than their cells or than the longest word."""
    return [_stacked(name, [row[i] for row in part.rows]) for i, name in enumerate(part.names) if i or not part.grouped]


def _stacked(name: str, cells: list[str]) -> list[str]:
    return textwrap.wrap(name, max([1, *map(len, [*cells, *name.split()])]), break_on_hyphens=False) or [""]


def _head(lines: list[str], right: bool) -> str:
    stacked = r" \\ ".join(map(escape, lines))
    return rf"\shortstack[{'r' if right else 'l'}]{{{stacked}}}" if len(lines) > 1 else stacked


def _row(cells: list[str]) -> str:
    """A row of cells. A bracket or star at its beginning would be an argument of the command in front of it."""
    line = " & ".join(map(escape, cells))
    return ("{}" if line.startswith(("[", "*")) else "") + line + r" \\"


def escape(text: str) -> str:
    """Text with LaTeX's special characters made printable."""
    return "".join(_LATEX.get(character, character) for character in text)
