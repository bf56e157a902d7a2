"""A data set on the sphere and the harmonics that a game chose most often for it, as globes seen from one side
(Bullins, Zhang and Zhang, ICLR 2018, Figure 1 (c)).
"""

from string import ascii_lowercase

import numpy as np

from rfstudy.report.aggregate import select
from rfstudy.report.context import Context
from rfstudy.report.panels import WIDTHS, grid, nothing
from rfstudy.report.plots.plane import CLASSES, entries_of_classes, kept_of
from rfstudy.report.style import Picture

#: Where the sphere is seen from: longitude and latitude in degrees.
SEEN_FROM = (20.0, 25.0)

#: Pixels along a side of a globe.
PIXELS = 400


def draw(context: Context, *, width: str, method: str, dataset: str) -> Picture:
    """Return a globe with the data and one for each of the harmonics that were kept."""
    found = kept_of(context, dataset, method)
    if not found:
        return nothing(width, {"the sphere": "not run"})
    n_waves = min(len(found["pairs"]), len(found["waves"]))
    figure, ((points, *globes),) = grid(width, 1, 1 + n_waves, WIDTHS[width] / (1 + n_waves))
    _draw_points(points, found)
    points.set_title("(a) data")
    chosen = zip(ascii_lowercase[1:], found["pairs"], found["counts"], found["waves"], globes, strict=False)
    for letter, (degree, order), count, wave, ax in chosen:
        _draw_wave(ax, wave)
        ax.set_title(f"({letter}) $Y_{{{order},{degree}}}$, {count} of {found['counts'].sum()}")
    rows = select(context.rows, dataset=dataset, method=method, variant="")
    remarks = [
        f"The {n_waves} harmonics (order, degree) that were chosen in most rounds, of {len(found['pairs'])} in all: "
        f"their real parts from blue (negative) to red, seen from {SEEN_FROM[1]:g} degrees north."
    ]
    return Picture(figure, entries_of_classes(found["y"]), remarks, rows)


def seen() -> np.ndarray:
    """Return the rotation (3, 3) from the sphere to the eye: the rows are right, up and towards it."""
    longitude, latitude = np.radians(SEEN_FROM)
    right = np.array([-np.sin(longitude), np.cos(longitude), 0.0])
    towards = np.array([np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)])
    return np.stack([right, np.cross(towards, right), towards])


def on_globe(wave: np.ndarray) -> np.ndarray:
    """Return the visible side of a function on the sphere as a picture (PIXELS, PIXELS) from bottom to top.

    ``wave`` has a row per latitude from the north pole and a column per longitude from 0.
    Outside the globe it is missing.
    """
    ticks = np.linspace(-1.0, 1.0, PIXELS)
    right, up = np.meshgrid(ticks, ticks)
    depth = np.sqrt(np.clip(1.0 - right**2 - up**2, 0.0, None))
    x, y, z = np.tensordot(seen().T, np.stack([right, up, depth]), axes=1)
    latitudes, longitudes = wave.shape
    i = np.rint(np.arccos(np.clip(z, -1, 1)) / np.pi * (latitudes - 1)).astype(int)
    j = np.rint(np.arctan2(y, x) / (2 * np.pi) * longitudes).astype(int) % longitudes
    return np.where(right**2 + up**2 <= 1.0, wave[i, j], np.nan)


def _draw_points(ax, found: dict) -> None:
    across, upwards, depth = seen() @ found["X"].T.astype(float)
    for colour, label in zip(CLASSES, np.unique(found["y"]), strict=True):
        own = (found["y"] == label) & (depth > 0)
        ax.scatter(across[own], upwards[own], s=3.0, c=colour, linewidths=0, rasterized=True)
    _draw_globe(ax)


def _draw_wave(ax, wave: np.ndarray) -> None:
    largest = np.abs(wave).max()
    ax.imshow(on_globe(wave), origin="lower", extent=(-1, 1, -1, 1), cmap="RdBu_r", vmin=-largest, vmax=largest)
    _draw_globe(ax)


def _draw_globe(ax) -> None:
    turn = np.linspace(0, 2 * np.pi, 181)
    ax.plot(np.cos(turn), np.sin(turn), color="black", linewidth=0.6)
    ax.set(xlim=(-1.02, 1.02), ylim=(-1.02, 1.02), xticks=[], yticks=[])
    ax.set_aspect("equal")
    ax.grid(False)
    for spine in ax.spines.values():
        spine.set_visible(False)
