"""How the study is drawn: one matplotlib style, the plot style of each method, and files that are equal byte for byte.

Where things stand on a figure is the business of ``layout``.

Fonts are the ones that come with matplotlib, so that a figure does not depend on what a machine has installed; dates
and version strings stay out of the files, so that an unchanged figure is an unchanged file.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import matplotlib.style
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from rfstudy.files import write_atomically
from rfstudy.report.plot_styles import PlotStyle
from rfstudy.report.typeset import description

#: Points: no text is smaller, and a superscript, seven tenths of its text, is that large in a title.
SMALLEST, TITLE = 6.0, 8.6

STYLE = {
    "font.family": "STIXGeneral",
    "mathtext.fontset": "stix",
    "font.size": 8.0,
    "axes.titlesize": TITLE,
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
    # what is measured when a figure is laid out is what is saved
    "figure.dpi": 200,
    "savefig.dpi": 200,
    "pdf.fonttype": 42,
}


#: A line that is no measurement of a method: what it takes nothing to reach.
REFERENCE = {"color": "#777777", "linestyle": (0, (1, 1.2)), "linewidth": 1.0, "zorder": 1.5}


def drawn_as(each: PlotStyle) -> dict:
    """A plot style as keywords of matplotlib's lines."""
    return {
        "color": each.colour,
        "marker": each.marker,
        "linestyle": each.linestyle,
        "markerfacecolor": "white" if each.hollow else each.colour,
        "markeredgewidth": 0.5,
    }


def handle(each: PlotStyle) -> Line2D:
    """An entry of a legend."""
    return Line2D([], [], label=each.label, **drawn_as(each))


def style():
    """Context in which figures are made and saved."""
    return mpl.style.context(["default", STYLE])


class Picture(NamedTuple):
    """A figure and what a reader has to know of it beside its caption."""

    figure: Figure
    notes: list[str]


def save(picture: Picture, caption: str, out_dir, names: list[str]) -> list[Path]:
    """Write a picture to ``out_dir`` under each of the names, byte-stable and atomically.

    ``.pdf`` and ``.png`` have caption and notes in their metadata, ``.txt`` has nothing else.
    """
    words = description(caption, picture.notes)
    metadata = {
        ".pdf": {"CreationDate": None, "ModDate": None, "Creator": None, "Producer": None, "Subject": words},
        ".png": {"Software": None, "Description": words},
    }
    written = []
    for name in names:
        path = Path(out_dir) / name
        content = io.BytesIO(words.encode())
        if path.suffix != ".txt":
            content = io.BytesIO()
            with style():
                picture.figure.savefig(content, format=path.suffix[1:], metadata=metadata[path.suffix])
        write_atomically(path, lambda temporary, content=content: Path(temporary).write_bytes(content.getvalue()))
        written.append(path)
    return written
