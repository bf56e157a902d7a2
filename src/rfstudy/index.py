"""The index page of a collection: thumbnails and captions of all its tables and figures, with a search.

The page embeds its thumbnails and links to the page of each output, ``pages/<paper>/<name>.html``.
"""

import base64
import html
import io
import re
from pathlib import Path

import jinja2
from PIL import Image

from random_features.errors import UserError
from rfstudy.files import write_text
from rfstudy.outputs import ARENA, CATEGORIES, CHANGED, PART, SCORECARD, category_of, configured

#: Pixels across and colours of a thumbnail, and rows of the first lines of a table.
WIDTH, COLOURS, ROWS = 480, 32, 7

ROMAN = ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X")

#: The files of an output that the index links.
SHOWN = {"figures": ("pdf", "csv"), "tables": ("csv", "tex")}

#: The start of the note on stand-ins (``notes_on_data``).
STAND_IN = "Not the paper's data"


def run(collection, root=".") -> Path:
    """Write ``<collection>/index.html`` and return its path; ``collection`` is a folder such as ``figures/quick``.

    Raise ``UserError``, and write nothing, for a folder without a page of an output.
    """
    folder = Path(collection)
    *_, reports = configured(Path(root) / "config")
    pages = {paper: [path.stem for path in (folder / "pages" / paper).glob("*.html")] for paper in CATEGORIES}
    drawn = [
        spec | {"name": name}
        for spec in reports
        for name in sorted(pages[spec["paper"]])
        if name == spec["name"] or name.startswith((spec["name"] + CHANGED, spec["name"] + PART))
    ]
    if not drawn:
        raise UserError(
            f"{folder} has no page of a table or a figure, pages/<paper>/<name>.html: name a collection such as "
            "figures/measured, and draw its pages first, by measured_figures or draw_measured_survey; an output that "
            "is drawn alone has none"
        )
    cards = sorted((card(spec, folder) for spec in drawn), key=lambda card: card["order"])
    template = jinja2.Template((Path(root) / "docs" / "index.html.j2").read_text(encoding="utf-8"), autoescape=True)
    parts = sorted({each["part"] for each in cards})
    sections = {part: [each for each in cards if each["part"] == part] for part in parts}
    path = folder / "index.html"
    write_text(template.render(sections=sections, name=folder.name, n=len(cards)), path)
    return path


def card(spec: dict, folder: Path) -> dict:
    """Return what the index shows of an output.

    What was measured comes before what was not run, the paper's data before stand-ins, its numbers before the rest.
    """
    source = folder / spec["paper"] / spec["name"]
    caption, *notes = source.with_name(f"{source.name}.txt").read_text(encoding="utf-8").strip().split("\n\n")
    kind, number, name = title(spec)
    is_stand_in = any(note.startswith(STAND_IN) for note in notes)
    also = f"{kind} {number}" if number else ""  # the paper may write VII for 7
    paper = CATEGORIES[spec["paper"]][2:]
    lines = source.with_name(f"{source.name}.csv").read_text(encoding="utf-8").splitlines()[1:]
    is_unrun = 0 < len(lines) <= 2 * sum("not run" in line for line in lines)
    return {
        "part": category_of(spec),
        "order": (is_unrun, is_stand_in, not number, kind, number),
        "title": name if category_of(spec) == ARENA else f"{paper.split(' (')[0]}: {name}",
        "protocol": spec["protocol"],
        "caption": " ".join([*caption.split(), *(note for note in notes if "published result" in note)]),
        "tags": ["not run"] * is_unrun + ["stand-in data"] * is_stand_in,
        "files": {ending.upper(): f"{spec['paper']}/{spec['name']}.{ending}" for ending in SHOWN[spec["form"]]},
        "wide": category_of(spec) == SCORECARD,
        "link": f"pages/{spec['paper']}/{spec['name']}.html",
        "search": " ".join([paper, spec["paper"], spec["name"], name, also, caption]).lower(),
        "thumbnail": thumbnail(source) if spec["form"] == "figures" else first_rows(folder, spec),
    }


def title(spec: dict) -> tuple[str, int, str]:
    """Return "figure" or "table", its number in the paper (0 for none), and the title of an output.

    >>> title({"paper": "survey", "id": "table-07"})
    ('table', 7, 'Table VII')
    >>> title({"paper": "eerf", "id": "figure-01-differences"})
    ('figure', 1, 'Figure 1, differences')
    >>> title({"paper": "study", "id": "pool-size"})
    ('', 0, 'Pool size')
    """
    found = re.match(r"(?:figure-(?=table))?(figure|table)-0*(\d+)([a-z]?)(?:-(.*))?$", spec["id"])
    if not found:
        return "", 0, spec["id"].removeprefix("figure-").removeprefix("table-").replace("-", " ").capitalize()
    kind, number, letter, rest = found.groups()
    shown = ROMAN[int(number)] if (spec["paper"], kind) == ("survey", "table") else number
    return kind, int(number), f"{kind.capitalize()} {shown}{letter}" + (f", {rest.replace('-', ' ')}" if rest else "")


def thumbnail(source: Path) -> str:
    """Return a small copy of a picture with a palette, as HTML."""
    image, content = Image.open(source.with_name(f"{source.name}.png")).convert("RGB"), io.BytesIO()
    image.thumbnail((WIDTH, WIDTH), Image.Resampling.LANCZOS)
    image.quantize(COLOURS, Image.Quantize.FASTOCTREE).save(content, "PNG", optimize=True)
    data = base64.b64encode(content.getvalue()).decode("ascii")
    return f'<img src="data:image/png;base64,{data}" alt="{html.escape(source.name)}" loading="lazy">'


def first_rows(folder: Path, spec: dict) -> str:
    """Return the first rows of a table, as HTML."""
    page = (folder / "pages" / spec["paper"] / f"{spec['name']}.html").read_text(encoding="utf-8")
    rows = re.findall(r"<tr>.*?</tr>", page, re.DOTALL)[:ROWS]
    short = [re.sub(r"(>[^<]{60})[^<]*<", r"\1…<", " ".join(row.split())) for row in rows]
    return f"<table>{''.join(short)}</table>"
