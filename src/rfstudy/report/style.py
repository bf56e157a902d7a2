"""The style of the study's figures, and files that are equal byte for byte.

The fonts come with matplotlib, so a figure does not depend on installed fonts. The files contain no dates and no
version strings, so an unchanged figure is an unchanged file.
"""

import io
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import matplotlib.style
import numpy as np
import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.figure import Figure
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from rfstudy.files import write_atomically
from rfstudy.report.plot_styles import PlotStyle
from rfstudy.report.typeset import description

#: Points of the smallest text.
SMALLEST = 6.5

STYLE = {
    "font.family": "STIXGeneral",
    "mathtext.fontset": "stix",
    "font.size": 8.0,
    "axes.titlesize": 8.0,
    "axes.labelsize": 7.5,
    "axes.linewidth": 0.5,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.titlepad": 3.0,
    "axes.titley": 1.0,  # nothing is above the panels: without a search for it
    "axes.labelpad": 2.0,
    "axes.formatter.useoffset": False,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.4,
    "lines.linewidth": 0.9,
    "lines.markersize": 3.2,
    "legend.frameon": False,
    "legend.columnspacing": 1.2,
    "legend.handletextpad": 0.4,
    "legend.labelspacing": 0.3,
    "legend.borderpad": 0.0,
    "figure.constrained_layout.h_pad": 0.03,
    "figure.constrained_layout.w_pad": 0.03,
    "figure.dpi": 200,
    "pdf.fonttype": 42,
}
TICKS = {"labelsize": 7.0, "major.width": 0.5, "major.size": 2.0, "major.pad": 1.8}
STYLE |= {f"{axis}tick.{key}": value for axis in "xy" for key, value in TICKS.items()}

#: A line that is not a measurement of a method, such as the share of the more frequent class.
REFERENCE = {"color": "#777777", "linestyle": (0, (1, 1.2)), "linewidth": 1.0, "zorder": 1.5}

#: A published value: a large hollow marker without a line.
PUBLISHED = {"linestyle": "none", "markersize": 5.5, "markeredgewidth": 0.7, "fillstyle": "none", "clip_on": False}

#: A method of a user among shipped ones.
HIGHLIGHTED = {"linewidth": 2.2, "markersize": 5.5, "zorder": 5}

#: Colours that stay apart under the common colour-vision deficiencies (Okabe and Ito 2008), for what has no method.
COLOURS = ("#000000", "#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


def drawn_as(each: PlotStyle) -> dict:
    """Return a plot style as keyword arguments of matplotlib's lines; markers of variants are half filled."""
    return {
        "label": each.label,
        "color": each.colour,
        "marker": each.marker,
        "linestyle": (0, each.linestyle) if isinstance(each.linestyle, list) else each.linestyle,
        "fillstyle": "bottom" if each.is_variant else "full",
        "markerfacecoloralt": "white",
        "markeredgewidth": 0.5,
    } | (HIGHLIGHTED if each.is_highlighted else {})


def style():
    """Return the context in which figures are drawn and saved."""
    return mpl.style.context(["default", STYLE])


class Picture(NamedTuple):
    """A figure with the entries of its legend, its notes, the measured rows that it shows and, unless these are means
    with one standard deviation (``times.summarise``), the cells that it draws.

    The notes are those that a reader needs in addition to the caption; ``plots.picture`` adds legend and notes. An
    entry is a plot style, or keyword arguments of ``Line2D``; entries with the same label are merged.
    """

    figure: Figure
    entries: Iterable[PlotStyle | dict] = ()
    notes: Iterable[str] = ()
    shown: pd.DataFrame | None = None
    cells: pd.DataFrame | None = None


def save(picture: Picture, rows: pd.DataFrame, caption: str, out_dir, names: list[str]) -> list[Path]:
    """Write a picture to ``out_dir`` under each of the names, atomically and with the same bytes every time.

    ``.pdf`` and ``.png`` have caption and notes in their metadata; ``.txt`` contains only these, ``.csv`` the rows.
    """
    words = description(caption, picture.notes)
    facts = {"CreationDate": None, "ModDate": None, "Creator": None, "Producer": None, "Subject": words}
    with style():
        # both formats share one layout, which takes longer than drawing
        picture.figure.get_layout_engine().execute(picture.figure)
        picture.figure.set_layout_engine("none")
        # savefig would draw twice; a PDF changes the resolution, so it is the last
        (canvas := FigureCanvasAgg(picture.figure)).draw()
        image, pdf = Image.fromarray(np.asarray(canvas.buffer_rgba())), io.BytesIO()
        table = rows.to_csv(index=False, lineterminator="\n", float_format="%.10g")
        contents = {".txt": words.encode(), ".csv": table.encode(), ".png": png(image, Description=words)}
        FigureCanvasPdf(picture.figure).print_pdf(pdf, metadata=facts)
        contents[".pdf"] = pdf.getvalue()
    written = [Path(out_dir) / name for name in names]
    for path in written:
        content = contents[path.suffix]
        write_atomically(path, lambda temporary, content=content: Path(temporary).write_bytes(content), sync=False)
    return written


def png(image: Image.Image, **texts: str) -> bytes:
    """Return an image as PNG with a palette of 256 colours, which is a third as large, and with texts about it."""
    stream, about = io.BytesIO(), PngInfo()
    for name, text in texts.items():
        about.add_text(name, text)
    image = image.convert("RGB").quantize(256, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    image.save(stream, "PNG", pnginfo=about)
    return stream.getvalue()
