"""Pages of HTML for Snakemake's own report: a table or a picture, with its caption and notes.

A page loads no other files.
"""

import base64
import html
from pathlib import Path

from rfstudy.files import write_text

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; color: #1a1a1a; background: #fff; margin: 1.5em; }
h1 { font-size: 1.15em; margin: 0 0 0.8em; }
img { max-width: 100%; height: auto; display: block; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; border-top: 2px solid; border-bottom: 2px solid; font-size: 13px; margin-top: 1em; }
table caption { text-align: left; font-weight: 600; padding: 0.5em 0; }
thead { border-bottom: 1px solid; position: sticky; top: 0; background: #fff; }
th, td { padding: 0.2em 0.7em; text-align: left; vertical-align: top; font-variant-numeric: tabular-nums; }
.caption { max-width: 60em; font-weight: 600; }
nav a { margin-right: 0.8em; }
.notes, .files { max-width: 60em; color: #444; }
"""


def write(source: Path, content: str, folder) -> None:
    """Write ``<folder>/<name>.html``, the page of the output whose files are ``source`` with their endings.

    ``content`` is its table or picture, as HTML; caption and notes come from the file ``.txt``.
    """
    name = f"{source.parent.name}/{source.name}"
    paragraphs = source.with_name(f"{source.name}.txt").read_text(encoding="utf-8").split("\n\n")
    caption, *notes = (html.escape(" ".join(each.split())) for each in paragraphs)
    files = sorted(path.name for path in source.parent.glob(f"{source.name}.*") if path.stem == source.name)
    links = [f'<a href="../../{source.parent.name}/{each}">{each.rpartition(".")[2].upper()}</a>' for each in files]
    page = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{html.escape(name)}</title>
<style>{STYLE}</style>
</head>
<body>
<nav><a href="../../index.html">All tables and figures</a> {" ".join(links)}</nav>
<script>if (!location.pathname.includes("/pages/")) document.querySelector("nav").remove()</script>
<h1>{html.escape(name)}</h1>
<p class="caption">{caption}</p>
<div class="wide">{content}</div>
<ul class="notes">{"".join(f"<li>{note}</li>" for note in notes)}</ul>
<p class="files">Files in {html.escape(source.parent.as_posix())}: {html.escape(", ".join(files))}</p>
</body>
</html>
"""
    write_text(page, Path(folder) / f"{source.name}.html", sync=False)


def picture(source: Path) -> str:
    """Return the PNG of an output as HTML."""
    content = base64.b64encode(source.with_name(f"{source.name}.png").read_bytes()).decode("ascii")
    return f'<img src="data:image/png;base64,{content}" alt="{html.escape(source.name)}">'
