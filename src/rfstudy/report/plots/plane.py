"""What a game of learned features does in the plane: one column a number of features, one row of panels each for the
data weighted by their dual variables, the Fourier potential with the frequencies so far, and the decision of the
machine on their features (Bullins, Zhang and Zhang, ICLR 2018, Figure 1 (a) and (b)).
"""

from __future__ import annotations

from functools import partial
from string import ascii_lowercase

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from rfstudy.report.aggregate import select
from rfstudy.report.context import Context
from rfstudy.report.layout import PAD, WIDTHS, Panel, Row, laid_out
from rfstudy.report.notes import not_drawn, notes
from rfstudy.report.style import Picture

#: Keys of an entry of this kind, beside those of all entries.
REQUIRED = ("width", "method", "dataset", "pictures", "layers")

#: Colours of the two classes, light ones of their sides of a decision, of frequencies so far and of the last ones.
CLASSES = ("#0072B2", "#D55E00")
SIDES = "RdBu_r"
SO_FAR, LAST = "#FF33CC", "#00E5FF"

#: Points^2: the largest marker of a weighted point.
LARGEST = 9.0

#: Inches: margins left and right of a panel, together.
MARGINS = 0.42


def draw(context: Context, spec: dict) -> Picture:
    """The pictures of the first repeat of a game at the numbers of features that were kept; nothing where it was not
    run.
    """
    found = kept_of(context, spec["dataset"], spec["method"])
    shown = [m for m in spec["pictures"] if f"potential-{m}" in found]
    missing = [f"m = {m}" for m in spec["pictures"] if m not in shown]
    told = not_drawn({"not run": missing}) if missing else []
    if not shown:
        return laid_out(spec["width"], [], [], told)
    side = (WIDTHS[spec["width"]] - 2 * PAD) / len(shown) - MARGINS
    letters = iter(ascii_lowercase)
    panels = [
        Row([_panel(kind, found, m, next(letters), m == shown[0]) for m in shown if f"{kind}-{m}" in found], side)
        for kind in spec["layers"]
    ]
    rows = select(context.rows, dataset=spec["dataset"], method=spec["method"], variant="")
    told += [TOLD[kind] for kind in spec["layers"]]
    return laid_out(spec["width"], panels, _handles(found, spec), [*told, *notes(rows, spec, context)])


def kept_of(context: Context, dataset: str, method: str) -> dict[str, np.ndarray]:
    """The arrays of the first repeat of a game, by their names."""
    start = f"{dataset}/{method}/0/"
    return {name.removeprefix(start): array for name, array in context.arrays.items() if name.startswith(start)}


def _panel(kind: str, found: dict, m: int, letter: str, first: bool) -> Panel:
    """One panel; the first of a row has the label of the upright axis."""
    return Panel(partial(DRAWN[kind], found=found, m=m, first=first), f"({letter}) {TITLES[kind]}, $m$ = {m}")


def _handles(found: dict, spec: dict) -> list[Line2D]:
    dot = {"marker": "o", "linestyle": "none", "markeredgewidth": 0, "markersize": 4}
    labels = np.unique(found["y"]).tolist()
    legend = []
    if {"weights", "decision"} & set(spec["layers"]):
        legend += [Line2D([], [], color=colour, label=f"class {label:+d}", **dot)
                   for colour, label in zip(CLASSES, labels, strict=True)]  # fmt: skip
    if "decision" in spec["layers"]:
        legend.append(Line2D([], [], color="black", linewidth=0.9, label="decision boundary"))
        legend.append(Line2D([], [], color="black", linewidth=0.5, linestyle="dashed", label="margin"))
    if "potential" in spec["layers"]:
        legend.append(Line2D([], [], color=SO_FAR, label="frequencies so far", **dot | {"markersize": 3}))
        legend.append(Line2D([], [], color=LAST, label="those of the last round", **dot | {"markersize": 3}))
    return legend


def _weights(ax, found: dict, m: int, first: bool) -> None:
    X, y, weights = found["X"], found["y"], found[f"weights-{m}"]
    for colour, label in zip(CLASSES, np.unique(y), strict=True):
        own = y == label
        areas = LARGEST * np.clip(weights[own], 0.0, None) / weights.max()
        ax.scatter(*X[own].T, s=areas, c=colour, linewidths=0, rasterized=True)
    _square(ax, float(found["extent"]), first, "$x_1$", "$x_2$")


def _potential(ax, found: dict, m: int, first: bool) -> None:
    half = float(found["window"])
    height = np.sqrt(found[f"potential-{m}"])
    ax.imshow(height, origin="lower", extent=(-half, half, -half, half), cmap="viridis", vmin=0.0)
    so_far, last = np.split(found["frequencies"][:m], [max(0, m - int(found["kept"]))])
    for frequencies, colour, area in ((so_far, SO_FAR, 1.5), (last, LAST, 4.0)):
        both = np.concatenate([frequencies, -frequencies])
        ax.scatter(*both.T, s=area, c=colour, linewidths=0, rasterized=True)
    _square(ax, half, first, r"$\omega_1$", r"$\omega_2$")


def _decision(ax, found: dict, m: int, first: bool) -> None:
    half, values = float(found["extent"]), found[f"decision-{m}"]
    ticks = np.linspace(-half, half, len(values))
    ax.imshow(values, origin="lower", extent=(-half, half, -half, half), cmap=SIDES, vmin=-2.0, vmax=2.0)
    ax.contour(ticks, ticks, values, levels=[0.0], colors="black", linewidths=0.9)
    ax.contour(ticks, ticks, values, levels=[-1.0, 1.0], colors="black", linewidths=0.4, linestyles="dashed")
    _square(ax, half, first, "$x_1$", "$x_2$")


def _square(ax, half: float, first: bool, x: str, y: str) -> None:
    ax.set(xlim=(-half, half), ylim=(-half, half), xlabel=x)
    ax.grid(False)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(5, steps=[1, 5, 10]))
    if first:
        ax.set_ylabel(y)


TITLES = {"weights": "dual weights", "potential": "potential", "decision": "decision"}
TOLD = {
    "weights": "Dual weights: the area of a point is its weight over the largest one.",
    "potential": "Potential: its square root, from 0 (dark) to the largest of the panel.",
    "decision": "Decision: from -2 to 2.",
}
DRAWN = {"weights": _weights, "potential": _potential, "decision": _decision}
