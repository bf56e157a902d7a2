"""What a game of learned features does in the plane: a column of panels per number of features.

Rows show the data weighted by their dual variables, the Fourier potential with the frequencies so far, and the decision
of the machine on their features (Bullins, Zhang and Zhang, ICLR 2018, Figure 1 (a) and (b)).
"""

import itertools

import numpy as np
from matplotlib.ticker import MaxNLocator

from rfstudy.report.aggregate import select
from rfstudy.report.context import Context
from rfstudy.report.panels import WIDTHS, grid, letters, not_drawn, nothing
from rfstudy.report.style import Picture

#: Colours of the two classes, of their sides of a decision, of the frequencies so far and of the last ones.
CLASSES = ("#0072B2", "#D55E00")
SIDES = "RdBu_r"
SO_FAR, LAST = "#FF33CC", "#00E5FF"

#: Points^2: the largest marker of a weighted point.
LARGEST = 9.0

#: A marker of a legend.
DOT = {"marker": "o", "linestyle": "none", "markeredgewidth": 0, "markersize": 4}


def draw(context: Context, *, width: str, method: str, dataset: str, pictures: list[int], layers: list[str]) -> Picture:
    """Return the figure of the first repeat of a game.

    ``pictures`` are numbers of features; ``layers`` (rows) are "weights", "potential" and "decision".
    """
    found = kept_of(context, dataset, method)
    shown = [m for m in pictures if f"potential-{m}" in found]
    missing = {f"m = {m}": "not run" for m in pictures if m not in shown}
    if not shown:
        return nothing(width, missing)
    remarks = not_drawn(missing)
    figure, axes = grid(width, len(layers), len(shown), WIDTHS[width] / len(shown) - 0.2)
    for (layer, m), letter, ax in zip(itertools.product(layers, shown), letters(), axes.flat, strict=False):
        title, _, draw_panel = LAYERS[layer]
        draw_panel(ax, found, m)
        ax.set_title(f"({letter}) {title}, $m$ = {m}")
        if len(layers) == 1:
            ax.label_outer()
    remarks += [LAYERS[layer][1] for layer in layers]
    rows = select(context.rows, dataset=dataset, method=method, variant="")
    return Picture(figure, _entries(found, layers), remarks, rows)


def kept_of(context: Context, dataset: str, method: str) -> dict[str, np.ndarray]:
    """Return the arrays of the first repeat of a game, by their names."""
    start = f"{dataset}/{method}/0/"
    return {name.removeprefix(start): array for name, array in context.arrays.items() if name.startswith(start)}


def entries_of_classes(labels: np.ndarray) -> list[dict]:
    """Return the entries of a legend for two classes."""
    classes = zip(CLASSES, np.unique(labels).tolist(), strict=True)
    return [DOT | {"color": colour, "label": f"class {label:+d}"} for colour, label in classes]


def _entries(found: dict, layers: list[str]) -> list[dict]:
    entries = entries_of_classes(found["y"]) if {"weights", "decision"} & set(layers) else []
    if "decision" in layers:
        entries.append({"color": "black", "linewidth": 0.9, "label": "decision boundary"})
        entries.append({"color": "black", "linewidth": 0.5, "linestyle": "dashed", "label": "margin"})
    if "potential" in layers:
        entries.append(DOT | {"color": SO_FAR, "label": "frequencies so far"})
        entries.append(DOT | {"color": LAST, "label": "those of the last round"})
    return entries


def _draw_weights(ax, found: dict, m: int) -> None:
    X, y, weights = found["X"], found["y"], found[f"weights-{m}"]
    for colour, label in zip(CLASSES, np.unique(y), strict=True):
        own = y == label
        areas = LARGEST * np.clip(weights[own], 0.0, None) / weights.max()
        ax.scatter(*X[own].T, s=areas, c=colour, linewidths=0, rasterized=True)
    _square(ax, float(found["extent"]), "$x_1$", "$x_2$")


def _draw_potential(ax, found: dict, m: int) -> None:
    half = float(found["window"])
    height = np.sqrt(found[f"potential-{m}"])
    ax.imshow(height, origin="lower", extent=(-half, half, -half, half), cmap="viridis", vmin=0.0)
    so_far, last = np.split(found["frequencies"][:m], [max(0, m - int(found["kept"]))])
    for frequencies, colour, area in ((so_far, SO_FAR, 1.5), (last, LAST, 4.0)):
        both = np.concatenate([frequencies, -frequencies])
        ax.scatter(*both.T, s=area, c=colour, linewidths=0, rasterized=True)
    _square(ax, half, r"$\omega_1$", r"$\omega_2$")


def _draw_decision(ax, found: dict, m: int) -> None:
    half, values = float(found["extent"]), found[f"decision-{m}"]
    ticks = np.linspace(-half, half, len(values))
    ax.imshow(values, origin="lower", extent=(-half, half, -half, half), cmap=SIDES, vmin=-2.0, vmax=2.0)
    ax.contour(ticks, ticks, values, levels=[0.0], colors="black", linewidths=0.9)
    ax.contour(ticks, ticks, values, levels=[-1.0, 1.0], colors="black", linewidths=0.4, linestyles="dashed")
    _square(ax, half, "$x_1$", "$x_2$")


def _square(ax, half: float, x: str, y: str) -> None:
    ax.set(xlim=(-half, half), ylim=(-half, half), xlabel=x, ylabel=y, aspect="equal")
    ax.grid(False)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(5, steps=[1, 5, 10]))


#: By layer its title, its note and what draws it.
LAYERS = {
    "weights": ("dual weights", "Dual weights: the area of a point is its weight over the largest one.", _draw_weights),
    "potential": ("potential", "Potential: its square root, from 0 (dark) to its maximum.", _draw_potential),
    "decision": ("decision", "Decision: from -2 to 2.", _draw_decision),
}
