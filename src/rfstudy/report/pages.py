"""Pages of HTML: an output with its caption and notes, for Snakemake's own report.

A page loads nothing from elsewhere. It shows the Markdown of a table or the PNG of a figure, and the text of the
``.txt`` file next to it.
"""

from __future__ import annotations

import base64
import html
import re
from pathlib import Path

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

#: What a cell that is a number looks like, its spread and its thousands separators included.
_NUMBER = re.compile(r"[-+<>≥≤~ ]*\d[\d,.]*([eE][-+]?\d+)?( ?± ?[\d.,eE+-]+)?( ?%)?")


def write(source: Path, folder) -> None:
    """Write ``<folder>/<name>.html``, the page of the output whose files are ``source`` with their endings."""
    content = page(source)
    path = Path(folder) / f"{source.name}.html"
    write_atomically(path, lambda temporary: Path(temporary).write_text(content, encoding="utf-8"))


def with_ending(source: Path, ending: str) -> Path:
    """The file of an output with this ending; the name of an output may have dots."""
    return source.with_name(source.name + ending)


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a text, each on one line: caption first, then the notes."""
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", text) if part.strip()]


def page(source: Path) -> str:
    """The page of the output whose files are ``source`` with their endings."""
    name = f"{source.parent.name}/{source.name}"
    caption, *notes = paragraphs(with_ending(source, ".txt").read_text(encoding="utf-8"))
    figure = with_ending(source, ".png")
    if figure.exists():
        content = base64.b64encode(figure.read_bytes()).decode("ascii")
        shown = f'<img src="data:image/png;base64,{content}" alt="{html.escape(caption)}">'
    else:
        shown = tables(with_ending(source, ".md").read_text(encoding="utf-8"))
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
    """The tables of a Markdown text as HTML, each under its title where a line in italics precedes it."""
    made = []
    for above, rows in re.findall(r"((?:^(?!\|).*\n)*)((?:^\|.*\n?)+)", markdown, flags=re.MULTILINE):
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
