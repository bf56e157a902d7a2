"""A data set on the sphere and the harmonics that a game chose most often for it, as globes seen from one side
(Bullins, Zhang and Zhang, ICLR 2018, Figure 1 (c)).
"""

from __future__ import annotations

from functools import partial
from string import ascii_lowercase

import numpy as np
from matplotlib.lines import Line2D

from rfstudy.report.aggregate import select
from rfstudy.report.context import Context
from rfstudy.report.layout import PAD, WIDTHS, Panel, Row, laid_out
from rfstudy.report.notes import not_drawn, notes
from rfstudy.report.plots.plane import CLASSES, kept_of
from rfstudy.report.style import Picture

#: Keys of an entry of this kind, beside those of all entries.
REQUIRED = ("width", "method", "dataset")

#: Where the sphere is seen from: longitude and latitude in degrees.
SEEN_FROM = (20.0, 25.0)

#: Pixels along a side of a globe.
PIXELS = 400

#: Inches left free around a globe.
MARGINS = 0.2


def draw(context: Context, spec: dict) -> Picture:
    """One globe with the data and one for each of the harmonics that were kept; nothing where there was no game."""
    found = kept_of(context, spec["dataset"], spec["method"])
    if not found:
        return laid_out(spec["width"], [], [], not_drawn({"not run": ["the sphere"]}))
    panels = [Panel(partial(_points, found=found), "(a) data")]
    letters = iter(ascii_lowercase[1:])
    for (degree, order), count, wave in zip(found["pairs"], found["counts"], found["waves"], strict=False):
        title = f"({next(letters)}) $Y_{{{order},{degree}}}$, {count} of {found['counts'].sum()}"
        panels.append(Panel(partial(_wave, wave=wave), title))
    side = (WIDTHS[spec["width"]] - 2 * PAD) / len(panels) - MARGINS
    dot = {"marker": "o", "linestyle": "none", "markeredgewidth": 0, "markersize": 4}
    legend = [
        Line2D([], [], color=colour, label=f"class {label:+d}", **dot)
        for colour, label in zip(CLASSES, np.unique(found["y"]).tolist(), strict=True)
    ]
    rows = select(context.rows, dataset=spec["dataset"], method=spec["method"], variant="")
    told = [
        f"Harmonics by order and degree, as the paper names them, the {len(panels) - 1} that were chosen in most "
        f"rounds, their real parts from blue (negative) to red; {len(found['pairs'])} were chosen in all. Seen from "
        f"{SEEN_FROM[1]:g} degrees north."
    ]
    return laid_out(spec["width"], [Row(panels, side)], legend, [*told, *notes(rows, spec, context)])


def seen() -> np.ndarray:
    """The rotation (3, 3) from the sphere to the eye: the rows are right, up and towards it."""
    longitude, latitude = np.radians(SEEN_FROM)
    right = np.array([-np.sin(longitude), np.cos(longitude), 0.0])
    towards = np.array([np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)])
    return np.stack([right, np.cross(towards, right), towards])


def on_globe(wave: np.ndarray) -> np.ndarray:
    """A function on latitudes from the north pole and longitudes from 0, (latitudes, longitudes), as a picture of the
    side that is seen, (PIXELS, PIXELS) from bottom to top; missing beside the globe.
    """
    ticks = np.linspace(-1.0, 1.0, PIXELS)
    right, up = np.meshgrid(ticks, ticks)
    depth = np.sqrt(np.clip(1.0 - right**2 - up**2, 0.0, None))
    x, y, z = np.tensordot(seen().T, np.stack([right, up, depth]), axes=1)
    latitudes, longitudes = wave.shape
    i = np.rint(np.arccos(np.clip(z, -1, 1)) / np.pi * (latitudes - 1)).astype(int)
    j = np.rint(np.arctan2(y, x) / (2 * np.pi) * longitudes).astype(int) % longitudes
    return np.where(right**2 + up**2 <= 1.0, wave[i, j], np.nan)


def _points(ax, found: dict) -> None:
    across, upwards, depth = seen() @ found["X"].T.astype(float)
    for colour, label in zip(CLASSES, np.unique(found["y"]), strict=True):
        own = (found["y"] == label) & (depth > 0)
        ax.scatter(across[own], upwards[own], s=3.0, c=colour, linewidths=0, rasterized=True)
    _globe(ax)


def _wave(ax, wave: np.ndarray) -> None:
    largest = np.abs(wave).max()
    ax.imshow(on_globe(wave), origin="lower", extent=(-1, 1, -1, 1), cmap="RdBu_r", vmin=-largest, vmax=largest)
    _globe(ax)


def _globe(ax) -> None:
    turn = np.linspace(0, 2 * np.pi, 181)
    ax.plot(np.cos(turn), np.sin(turn), color="black", linewidth=0.6)
    ax.set(xlim=(-1.02, 1.02), ylim=(-1.02, 1.02), xticks=[], yticks=[])
    ax.set_aspect("equal")
    ax.grid(False)
    for spine in ax.spines.values():
        spine.set_visible(False)
