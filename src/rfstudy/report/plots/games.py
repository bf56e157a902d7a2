"""Figures of games of learned features in the plane and on the sphere, and of a counter-example."""

import itertools
from string import ascii_lowercase

import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from rfstudy.metrics import fact_of
from rfstudy.report import panels as plot
from rfstudy.report.aggregate import select, settings_of
from rfstudy.report.context import Context
from rfstudy.report.notes import explained
from rfstudy.report.style import SMALLEST, Picture

# --- plane ------------------------------------------------------------------------------------------------------------
# A game of learned features in the plane: a column of panels per number of features.
#
# Rows show the data weighted by their dual variables, the Fourier potential with the frequencies so far, and the
# decision of the machine on their features (Bullins, Zhang and Zhang, ICLR 2018, Figure 1 (a) and (b)).


#: Colours of the two classes, of their sides of a decision, of the frequencies so far and of the last ones.
CLASSES = ("#0072B2", "#D55E00")
SIDES = "RdBu_r"
SO_FAR, LAST = "#FF33CC", "#00E5FF"

#: Points^2: the largest marker of a weighted point.
LARGEST = 9.0

#: A marker of a legend.
DOT = {"marker": "o", "linestyle": "none", "markeredgewidth": 0, "markersize": 4}


def plane(context, *, width, method, dataset, pictures, layers) -> Picture:
    """Return the figure of the first repeat of a game.

    ``pictures`` are numbers of features; ``layers`` (rows) are "weights", "potential" and "decision".
    """
    found = kept_of(context, dataset, method)
    shown = [m for m in pictures if f"potential-{m}" in found]
    missing = {f"m = {m}": "not run" for m in pictures if m not in shown}
    if not shown:
        return plot.nothing(width, missing)
    figure, axes = plot.grid(width, len(layers), len(shown), plot.inches(width) / len(shown) - 0.2)
    for (layer, m), letter, ax in zip(itertools.product(layers, shown), ascii_lowercase, axes.flat, strict=False):
        title, _, draw_panel = LAYERS[layer]
        draw_panel(ax, found, m)
        ax.set_title(f"({letter}) {title}, $m$ = {m}")
        if len(layers) == 1:
            ax.label_outer()
    remarks = [*plot.not_drawn(missing), *(LAYERS[layer][1] for layer in layers)]
    rows = select(context.rows, dataset=dataset, method=method, variant="")
    return Picture(figure, _entries(found, layers), remarks, rows)


def kept_of(context: Context, dataset: str, method: str) -> dict[str, np.ndarray]:
    """Return the arrays that were kept for the first repeat of a game, by their names."""
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
        ax.scatter(*np.concatenate([frequencies, -frequencies]).T, s=area, c=colour, linewidths=0, rasterized=True)
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


# --- sphere -----------------------------------------------------------------------------------------------------------
# A data set on the sphere and the harmonics that a game chose most often for it, as globes seen from one side (Bullins,
# Zhang and Zhang, ICLR 2018, Figure 1 (c)).


#: Where the sphere is seen from: longitude and latitude in degrees.
SEEN_FROM = (20.0, 25.0)

#: Pixels along a side of a globe.
PIXELS = 400


def sphere(context, *, width, method, dataset) -> Picture:
    """Return a globe with the data and one for each of the harmonics that were kept."""
    found = kept_of(context, dataset, method)
    if not found:
        return plot.nothing(width, {"the sphere": "not run"})
    n_waves = min(len(found["pairs"]), len(found["waves"]))
    figure, ((points, *globes),) = plot.grid(width, 1, 1 + n_waves, plot.inches(width) / (1 + n_waves))
    across, upwards, depth = seen() @ found["X"].T.astype(float)
    for colour, label in zip(CLASSES, np.unique(found["y"]), strict=True):
        own = (found["y"] == label) & (depth > 0)
        points.scatter(across[own], upwards[own], s=3.0, c=colour, linewidths=0, rasterized=True)
    _draw_globe(points)
    points.set_title("(a) data")
    chosen = zip(ascii_lowercase[1:], found["pairs"], found["counts"], found["waves"], globes, strict=False)
    for letter, (degree, order), count, wave, ax in chosen:
        largest = np.abs(wave).max()
        ax.imshow(on_globe(wave), origin="lower", extent=(-1, 1, -1, 1), cmap="RdBu_r", vmin=-largest, vmax=largest)
        _draw_globe(ax)
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


def _draw_globe(ax) -> None:
    turn = np.linspace(0, 2 * np.pi, 181)
    ax.plot(np.cos(turn), np.sin(turn), color="black", linewidth=0.6)
    ax.set(xlim=(-1.02, 1.02), ylim=(-1.02, 1.02), xticks=[], yticks=[], aspect="equal")
    ax.grid(False)
    for spine in ax.spines.values():
        spine.set_visible(False)


# --- counterexample ---------------------------------------------------------------------------------------------------
# A counter-example to "a better approximation means a lower risk" as vectors: what the proof of the survey's
# Proposition 1 compares, and how near and how good both approximations are.
#
# On the left, for two training points, the vectors E w and epsilon of each approximation and their difference, whose
# product with the labels is T; on the right the distances and errors of both, each over the larger of the two.


#: The approximations, the nearer first, with the names that the proposition has for them and their colours.
NAMES = {"nearer": ("A1", "#D55E00"), "farther": ("A2", "#0072B2")}

#: The compared metrics in the order of the bars, with their meanings in the proof.
COMPARED = {
    "kernel_distance": r"$\|E\|$",
    "cross_kernel_distance_squared": r"$\|\tilde{\epsilon}\|^2$",
    "alignment_with_labels": "$T$",
    "prediction_deviation": r"$|\tilde{f} - f|$",
    "excess_risk": "excess risk",
}

#: Inches of the panels, and the share of a group that a bar takes.
VECTORS_HEIGHT, BAR = 2.1, 0.38

#: How an arrow is drawn.
ARROW = {"arrowstyle": "-|>", "shrinkA": 0, "shrinkB": 0, "mutation_scale": 6}


def counterexample(context, *, width) -> Picture:
    """Return the figure of an experiment of the kind "counterexample" with two training points."""
    rows = select(context.rows, metric=list(COMPARED), status="ok")
    rows = rows.assign(exact=[settings["exact"] for settings in settings_of(rows)])
    found = {name.rpartition("/")[2]: array for name, array in context.arrays.items()}
    if not len(rows) or not found:
        tried = len(select(context.rows, metric="counter_example_pct"))
        return plot.nothing(width, {"counter-example": "none found" if tried else "not run"})
    figure, ((vectors, bars),) = plot.grid(width, 1, 2, VECTORS_HEIGHT)
    _draw_vectors(vectors, found)
    vectors.set_title("(a) what the labels see")
    _draw_bars(bars, rows)
    bars.set_title("(b) nearer, and worse")
    entries = [
        {"color": colour, "linewidth": 3, "solid_capstyle": "butt", "label": f"{name}, the {variant} kernel matrix"}
        for variant, (name, colour) in NAMES.items()
    ]
    return Picture(figure, entries, _notes(context, rows))


def _draw_vectors(ax, found: dict) -> None:
    """Draw E w and epsilon (thin), their difference (thick) and its projection on the labels (dotted)."""
    y = found["labels"]
    arrows = [(y, "black", "$y$", {"linewidth": 0.8})]
    for variant, (name, colour) in NAMES.items():
        number = name[-1]
        moved, epsilon = found[f"displaced-{variant}"], found[f"epsilon-{variant}"]
        residual = moved - epsilon
        arrows += [
            (moved, colour, f"$E_{number}w$", {"linewidth": 0.7}),
            (epsilon, colour, rf"$\tilde{{\epsilon}}_{number}$", {"linewidth": 0.7, "linestyle": (0, (3, 1.5))}),
            (residual, colour, rf"$E_{number}w - \tilde{{\epsilon}}_{number}$", {"linewidth": 1.6}),
        ]
        foot = y * (residual @ y) / (y @ y)
        ax.plot(*np.array([residual, foot]).T, color=colour, linestyle="dotted", linewidth=0.8)
        ax.plot(*foot, marker="o", color=colour, markersize=3)
    arrows = [arrow for arrow in arrows if np.any(arrow[0])]
    for end, colour, label, drawn in arrows:
        ax.annotate("", end, (0.0, 0.0), arrowprops=ARROW | {"color": colour} | drawn)
        right, up = end[0] >= 0, end[1] >= 0 and not label.endswith("w$")  # E w lies on its difference from epsilon
        ax.annotate(label, end, xytext=(3 if right else -3, 3 if up else -3), textcoords="offset points", color=colour,
                    ha="left" if right else "right", va="bottom" if up else "top",
                    bbox={"facecolor": "white", "linewidth": 0, "pad": 0.5})  # fmt: skip
    # arrows do not widen an axis
    ax.scatter(*np.transpose([np.zeros(2), *(arrow[0] for arrow in arrows)]), s=0)
    ax.margins(0.15)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set(xlabel="first training point", ylabel="second training point")


def _draw_bars(ax, rows: pd.DataFrame) -> None:
    """Draw each quantity of both, over the larger of the two, with its fraction."""
    table = rows.pivot(index="metric", columns="variant", values=["value", "exact"]).loc[list(COMPARED)]
    heights = table["value"].astype(float)
    heights = heights.div(heights.abs().max(axis="columns").replace(0.0, 1.0), axis="index")
    for side, (variant, (_, colour)) in zip((-0.5, 0.5), NAMES.items(), strict=True):
        bars = ax.bar(np.arange(len(COMPARED)) + side * BAR, heights[variant], BAR, color=colour)
        ax.bar_label(bars, table["exact", variant], padding=1.5, fontsize=SMALLEST)
    ax.set_xticks(range(len(COMPARED)), COMPARED.values())
    ax.set(ylabel="over the larger", ylim=(0, 1.18))
    ax.grid(axis="x", visible=False)


def _notes(context: Context, rows) -> list[str]:
    """Return the counter-example in fractions, and among how many pairs it was found.

    Notes
    -----
    Exact kernel: K = {K} on the training points, k(x, X) = {k} at the new point x; y = {y}, target {target} at x,
    n lambda = {shift}. In (a) w = (K + n lambda I)^-1 k(X, x), and a dot is the projection of a thick vector on y, T
    over |y|.

    Found among {pairs:,} pairs that keep the assumptions of the proof; {counter_examples:,} of them are
    counter-examples, and this one has the largest difference of the risks.
    """
    settings = {variant: settings_of(select(rows, variant=variant))[0] for variant in NAMES}
    shared, (search,) = settings["nearer"], settings_of(select(context.rows, metric="counter_example_pct"))
    shown = {"K": _matrix(shared["gram"]), "k": _vector(shared["cross"]), "y": _vector(shared["labels"])}
    exact, found = explained(_notes, **shared | search | shown)
    both = []
    for variant, (name, _) in NAMES.items():
        *feature, new = settings[variant]["feature"]
        own = select(rows, variant=variant).set_index("metric")["exact"]
        words = ", ".join(f"{fact_of(metric).label} {own[metric]}" for metric in COMPARED)
        both.append(
            f"{name} has one feature more, {_vector(feature)} and {new} at x: its kernel matrix is "
            f"{_matrix(settings[variant]['approximate_gram'])}; {words}."
        )
    return [exact, *both, found]


def _vector(entries: list[str]) -> str:
    return f"({', '.join(entries)})"


def _matrix(rows: list[list[str]]) -> str:
    return f"({'; '.join(', '.join(row) for row in rows)})"
