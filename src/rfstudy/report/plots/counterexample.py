"""A counter-example to "a better approximation means a lower risk" as vectors: what the proof of the survey's
Proposition 1 compares, and how near and how good both approximations are.

On the left, for two training points, the vectors E w and epsilon of each approximation and their difference, whose
product with the labels is T; on the right the distances and errors of both, each over the larger of the two.
"""

import numpy as np
import pandas as pd

from rfstudy.metrics import fact_of
from rfstudy.report.aggregate import select, settings_of
from rfstudy.report.context import Context
from rfstudy.report.panels import grid, nothing
from rfstudy.report.style import SMALLEST, Picture

#: The approximations, the nearer first, with the names that the proposition has for them and their colours.
NAMES = {"nearer": ("A1", "#D55E00"), "farther": ("A2", "#0072B2")}

#: What is compared, in the order of the bars: metrics with what they are in the proof.
COMPARED = {
    "kernel_distance": r"$\|E\|$",
    "cross_kernel_distance_squared": r"$\|\tilde{\epsilon}\|^2$",
    "alignment_with_labels": "$T$",
    "prediction_deviation": r"$|\tilde{f} - f|$",
    "excess_risk": "excess risk",
}

#: Inches of the panels, and the share of a group that a bar takes.
HEIGHT, BAR = 2.1, 0.38

#: How an arrow is drawn.
ARROW = {"arrowstyle": "-|>", "shrinkA": 0, "shrinkB": 0, "mutation_scale": 6}


def draw(context: Context, *, width: str) -> Picture:
    """Return the figure of an experiment of the kind "counterexample" with two training points."""
    rows = select(context.rows, metric=list(COMPARED), status="ok")
    rows = rows.assign(exact=[settings["exact"] for settings in settings_of(rows)])
    found = {name.rpartition("/")[2]: array for name, array in context.arrays.items()}
    if not len(rows) or not found:
        tried = len(select(context.rows, metric="counter_example_pct"))
        return nothing(width, {"counter-example": "none found" if tried else "not run"})
    figure, ((vectors, bars),) = grid(width, 1, 2, HEIGHT)
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
                    ha="left" if right else "right", va="bottom" if up else "top")  # fmt: skip
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
    ax.set_ylim(0, 1.18)
    ax.set_ylabel("over the larger")
    ax.grid(axis="x", visible=False)


def _notes(context: Context, rows) -> list[str]:
    """Return the counter-example in fractions, and among how many pairs it was found."""
    settings = {variant: settings_of(select(rows, variant=variant))[0] for variant in NAMES}
    shared = settings["nearer"]
    notes = [
        f"Exact kernel: K = {_matrix(shared['gram'])} on the training points, k(x, X) = {_vector(shared['cross'])} at "
        f"the new point x; y = {_vector(shared['labels'])}, target {shared['target']} at x, "
        f"n lambda = {shared['shift']}. In (a) w = (K + n lambda I)^-1 k(X, x), and a dot is the projection of a thick "
        "vector on y, T over |y|."
    ]
    for variant, (name, _) in NAMES.items():
        *feature, new = settings[variant]["feature"]
        own = select(rows, variant=variant).set_index("metric")["exact"]
        words = ", ".join(f"{fact_of(metric).label} {own[metric]}" for metric in COMPARED)
        notes.append(
            f"{name} has one feature more, {_vector(feature)} and {new} at x: its kernel matrix is "
            f"{_matrix(settings[variant]['approximate_gram'])}; {words}."
        )
    (search,) = settings_of(select(context.rows, metric="counter_example_pct"))
    notes.append(
        f"Found among {search['pairs']:,} pairs that keep the assumptions of the proof; {search['counter_examples']:,} "
        "of them are counter-examples, and this one has the largest difference of the risks."
    )
    return notes


def _vector(entries: list[str]) -> str:
    return f"({', '.join(entries)})"


def _matrix(rows: list[list[str]]) -> str:
    return f"({'; '.join(', '.join(row) for row in rows)})"
