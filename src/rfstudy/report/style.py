"""How the study looks: one matplotlib style, one look per method, and files that are equal byte for byte.

Fonts are the ones that come with matplotlib, so that a figure does not depend on what a machine has installed; dates
and version strings stay out of the files, so that an unchanged figure is an unchanged file.
"""

from __future__ import annotations

import io
import itertools
import zlib
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import matplotlib.style
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from rfstudy.tidy import write_atomically

#: Width in inches of the text block and of one column of a two-column paper.
TEXT_WIDTH = 7.16
COLUMN_WIDTH = 3.5

STYLE = {
    "font.family": "STIXGeneral",
    "mathtext.fontset": "stix",
    "font.size": 8.0,
    "axes.titlesize": 8.0,
    "axes.labelsize": 7.5,
    "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.0,
    "legend.fontsize": 8.0,
    "axes.linewidth": 0.5,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.4,
    "xtick.major.width": 0.5,
    "ytick.major.width": 0.5,
    "xtick.major.size": 2.0,
    "ytick.major.size": 2.0,
    "xtick.minor.size": 1.2,
    "ytick.minor.size": 1.2,
    "xtick.major.pad": 1.8,
    "ytick.major.pad": 1.8,
    "axes.labelpad": 2.0,
    "lines.linewidth": 0.9,
    "lines.markersize": 3.2,
    "legend.frameon": False,
    "figure.dpi": 100,
    "savefig.dpi": 200,
    "pdf.fonttype": 42,
}

#: What a method without an entry can look like; the id decides.
SPARE_COLOURS = ("#4477AA", "#AA3377", "#228833", "#BB5566", "#66CCEE", "#888888")
SPARE_MARKERS = ("h", "p", "d", "H", ">", "8")
SPARE_LINESTYLES = ("dotted", "dashdot", "dashed")


class Look(NamedTuple):
    """Label, colour, marker and line style (as matplotlib takes it) of one method; ``hollow`` markers are variants."""

    label: str
    colour: str
    marker: str
    linestyle: str | tuple
    hollow: bool = False


def look(method: str, methods: dict, variant: str = "") -> Look:
    """The look of a method throughout the study.

    ``methods`` is the parsed ``methods.yaml``. A method without an entry gets a look that depends on its id
    only and that no entry uses. A variant (a differently configured entry of the same method) keeps colour and
    marker, and is dotted and hollow.
    """
    if method in methods:
        entry = methods[method]
        style = entry.get("linestyle", "solid")
        chosen = Look(entry["label"], entry["colour"], entry["marker"], style if isinstance(style, str) else (0, style))
    else:
        taken = {(entry["colour"], entry["marker"]) for entry in methods.values()}
        spare = list(itertools.product(SPARE_COLOURS, SPARE_MARKERS, SPARE_LINESTYLES))
        spare = [each for each in spare if each[:2] not in taken]
        chosen = Look(method, *spare[zlib.crc32(method.encode()) % len(spare)])
    if variant:
        return chosen._replace(label=f"{chosen.label} ({variant})", linestyle="dotted", hollow=True)
    return chosen


def drawn_as(each: Look) -> dict:
    """A look as keywords of matplotlib's lines."""
    return {
        "color": each.colour,
        "marker": each.marker,
        "linestyle": each.linestyle,
        "markerfacecolor": "white" if each.hollow else each.colour,
        "markeredgewidth": 0.5,
    }


def handle(each: Look) -> Line2D:
    """An entry of a legend."""
    return Line2D([], [], label=each.label, **drawn_as(each))


def style():
    """Context in which figures are made and saved."""
    return mpl.style.context(["default", STYLE])


def save(figure: Figure, out_dir, names: list[str]) -> list[Path]:
    """Write a figure to ``out_dir`` under each of the names (``.pdf``, ``.png``), byte-stable and atomically."""
    no_dates = {
        ".pdf": {"CreationDate": None, "ModDate": None, "Creator": None, "Producer": None},
        ".png": {"Software": None},
    }
    written = []
    for name in names:
        path = Path(out_dir) / name
        content = io.BytesIO()
        with style():
            figure.savefig(content, format=path.suffix[1:], metadata=no_dates[path.suffix])
        write_atomically(path, lambda temporary, content=content: Path(temporary).write_bytes(content.getvalue()))
        written.append(path)
    return written
