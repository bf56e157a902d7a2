"""The stage ``report``: a page of HTML for every table and figure, with its caption and notes, and a caption in rst.

Snakemake's own report (``snakemake --report``) embeds the pages and shows the captions; nothing of them is loaded from
anywhere else. A table is set from its Markdown, a figure from its PNG; both have their caption and notes from the
``.txt`` beside them.
"""

from __future__ import annotations

import base64
import html
import re
from pathlib import Path

from random_features.errors import UserError
from rfstudy.files import write_atomically

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; color: #1a1a1a; background: #fff; margin: 1.5em; }
h1 { font-size: 1.15em; margin: 0 0 0.8em; }
img { max-width: 100%; height: auto; display: block; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; border-top: 2px solid; border-bottom: 2px solid; font-size: 13px; }
thead { border-bottom: 1px solid; position: sticky; top: 0; background: #fff; }
th, td { padding: 0.2em 0.7em; text-align: left; vertical-align: top; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tbody tr.group { border-top: 1px solid #ccc; }
.caption { max-width: 60em; font-weight: 600; }
.notes, .files { max-width: 60em; color: #444; }
"""

#: The first and the last bytes of a PNG.
PNG_STARTS, PNG_ENDS = b"\x89PNG\r\n\x1a\n", b"IEND\xaeB`\x82"

#: What a cell that is a number looks like, its spread and its thousands separators included.
_NUMBER = re.compile(r"[-+<>≥≤~ ]*\d[\d,.]*([eE][-+]?\d+)?( ?± ?[\d.,eE+-]+)?( ?%)?")


def run(names, drawn, out) -> None:
    """Write ``<out>/<name>.html`` and ``.rst`` for every name (``survey/table-07-text``) in the folder ``drawn``."""
    for name in names:
        source, target = Path(drawn) / name, Path(out) / name
        caption, *notes = paragraphs(written(beside(source, ".txt")))
        for path, content in (
            (target.with_name(f"{target.name}.html"), page(name, source, caption, notes)),
            (target.with_name(f"{target.name}.rst"), rst(caption, notes)),
        ):
            write_atomically(path, lambda temporary, text=content: Path(temporary).write_text(text, encoding="utf-8"))


def beside(source: Path, ending: str) -> Path:
    """The file of an output with an ending; names may have dots."""
    return source.with_name(source.name + ending)


def written(path: Path) -> str:
    """The text of a file of an output; ``UserError`` where there is none."""
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    if not text.strip():
        raise UserError(f"{path} is missing or empty: remove what is left of this output, and it is made again")
    return text


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a text, each on one line: caption first, then the notes."""
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", text) if part.strip()]


def page(name: str, source: Path, caption: str, notes: list[str]) -> str:
    """A page of HTML that needs nothing but itself."""
    figure = beside(source, ".png")
    if figure.exists():
        picture = figure.read_bytes()
        if not (picture.startswith(PNG_STARTS) and picture.endswith(PNG_ENDS)):
            raise UserError(f"{figure} is no whole picture: remove it, and it is drawn again")
        content = base64.b64encode(picture).decode("ascii")
        shown = f'<img src="data:image/png;base64,{content}" alt="{html.escape(caption)}">'
    else:
        markdown = beside(source, ".md")
        shown = tables(written(markdown))
        if not shown:
            raise UserError(f"{markdown} holds no table, or none that is whole: remove it, and it is made again")
    files = sorted(path for path in source.parent.glob(f"{source.name}.*") if path.stem == source.name)
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f"<title>{html.escape(name)}</title>\n<style>{STYLE}</style>\n</head>\n<body>",
            f"<h1>{html.escape(name)}</h1>",
            f'<p class="caption">{html.escape(caption)}</p>',
            f'<div class="wide">{shown}</div>',
            *(['<ul class="notes">', *(f"<li>{html.escape(note)}</li>" for note in notes), "</ul>"] if notes else []),
            f'<p class="files">Files: {html.escape(", ".join(path.as_posix() for path in files))}</p>',
            "</body>\n</html>\n",
        ]
    )


def tables(markdown: str) -> str:
    """The tables of a Markdown text as HTML, each with the title in italics that stands above it, if one does; nothing
    where one of them lacks a line or a cell.
    """
    made = []
    for above, rows in re.findall(r"((?:^(?!\|).*\n)*)((?:^\|.*\n?)+)", markdown, flags=re.MULTILINE):
        lengths = [len(cells(line)) for line in rows.splitlines()]
        if len(lengths) < 2 or len(set(lengths)) > 1 or not lengths[0]:
            return ""
        made += [f"<h2>{html.escape(title)}</h2>" for title in re.findall(r"^\*([^*].*)\*$", above, re.MULTILINE)]
        made.append(table(rows))
    return "\n".join(made)


def table(markdown: str) -> str:
    """The one table of a Markdown text as HTML; a row whose first cell is not empty starts a group.

    >>> print(table("**A caption.**\\n\\n| a | b |\\n| --- | ---: |\\n| x \\\\| y | 1 |\\n"))
    <table>
    <thead><tr><th>a</th><th class="number">b</th></tr></thead>
    <tbody>
    <tr><td>x | y</td><td class="number">1</td></tr>
    </tbody>
    </table>
    """
    head, rules, *rows = [cells(line) for line in markdown.splitlines() if line.startswith("|")]
    right = [rule.endswith(":") for rule in rules]
    numeric = [
        flush or all(map(_NUMBER.fullmatch, column)) if (column := [row[i] for row in rows if row[i]]) else flush
        for i, flush in enumerate(right)
    ]
    grouped = any(not row[0] for row in rows)
    return "\n".join(
        [
            f"<table>\n<thead>{line_of('th', head, numeric)}</thead>\n<tbody>",
            *(line_of("td", row, numeric, ' class="group"' if grouped and row[0] else "") for row in rows),
            "</tbody>\n</table>",
        ]
    )


def cells(line: str) -> list[str]:
    """The cells of a line of a Markdown table; a pipe within a cell has a backslash."""
    return [cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]


def line_of(tag: str, texts: list[str], numeric: list[bool], attribute: str = "") -> str:
    """A row of an HTML table."""
    marks = [' class="number"' if right else "" for right in numeric]
    made = (f"<{tag}{mark}>{html.escape(text)}</{tag}>" for text, mark in zip(texts, marks, strict=True))
    return f"<tr{attribute}>{''.join(made)}</tr>"


def rst(caption: str, notes: list[str]) -> str:
    """Caption and notes as reStructuredText in which nothing but the list of notes is markup.

    The report fills these texts in as templates: braces are escaped as well.

    >>> print(rst("Errors of {n} maps_", ["s*"]), end="")
    \\ Errors of \\{n\\} maps\\_
    <BLANKLINE>
    * \\ s\\*
    """
    plain = [re.sub(r"([\\*`_|<>:{}%#\[\]])", r"\\\1", text) for text in (caption, *notes)]
    # what begins a text may look like the mark of a list or of a comment
    plain = [rf"\ {text}" for text in plain]
    return "\n\n".join([plain[0], *(f"* {text}" for text in plain[1:])]) + "\n"
