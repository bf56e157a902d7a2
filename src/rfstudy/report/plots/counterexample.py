"""A counter-example to "a better approximation means a lower risk" as vectors: what the proof of the survey's
Proposition 1 compares, and how near and how good both approximations are.

On the left, for two training points, the vectors E w and epsilon of each approximation and their difference, whose
product with the labels is T; on the right the distances and errors of both, each over the larger of the two.
"""

from __future__ import annotations

import numpy as np
from matplotlib.lines import Line2D

from rfstudy.metrics import fact_of
from rfstudy.report.aggregate import select, settings_of
from rfstudy.report.context import Context
from rfstudy.report.notes import not_drawn
from rfstudy.report.panels import finished, grid, nothing
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
    found = {name.rpartition("/")[2]: array for name, array in context.arrays.items()}
    if not len(rows) or not found:
        tried = len(select(context.rows, metric="counter_example_pct"))
        return nothing(width, not_drawn({"none found" if tried else "not run": ["counter-example"]}))
    figure, ((vectors, bars),) = grid(width, 1, 2, HEIGHT)
    _draw_vectors(vectors, found)
    vectors.set_title("(a) what the labels see")
    _draw_bars(bars, rows)
    bars.set_title("(b) nearer, and worse")
    handles = [
        Line2D([], [], color=colour, linewidth=3, solid_capstyle="butt", label=f"{name}, the {variant} kernel matrix")
        for variant, (name, colour) in NAMES.items()
    ]
    return finished(figure, handles, _notes(context, rows))


def _draw_vectors(ax, found: dict) -> None:
    """Draw E w and epsilon (thin), their difference (thick) and its projection on the labels (dotted)."""
    y = found["labels"]
    ends = [np.zeros(2)]
    _arrow(ax, y, "black", 0.8, "$y$", ends, above=True)
    for variant, (name, colour) in NAMES.items():
        number = name[-1]
        moved, epsilon = found[f"displaced-{variant}"], found[f"epsilon-{variant}"]
        _arrow(ax, moved, colour, 0.7, f"$E_{number}w$", ends, above=moved[1] < 0, beside=False)
        _arrow(ax, epsilon, colour, 0.7, rf"$\tilde{{\epsilon}}_{number}$", ends, above=epsilon[1] >= 0, dashed=True)
        residual = moved - epsilon
        _arrow(ax, residual, colour, 1.6, rf"$E_{number}w - \tilde{{\epsilon}}_{number}$", ends, above=residual[1] >= 0)
        foot = y * (residual @ y) / (y @ y)
        ax.plot(*np.array([residual, foot]).T, color=colour, linestyle="dotted", linewidth=0.8)
        ax.plot(*foot, marker="o", color=colour, markersize=3)
    # arrows do not widen an axis
    ax.scatter(*np.transpose(ends), s=0)
    ax.margins(0.15)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set(xlabel="first training point", ylabel="second training point")


def _arrow(ax, end, colour, width, label, ends, *, above: bool, beside: bool = True, dashed: bool = False) -> None:
    """Draw a vector with its label above or below the tip, moved outwards unless ``beside`` is false; skip zero."""
    if not np.any(end):
        return
    ends.append(end)
    style = ARROW | {"color": colour, "linewidth": width, "linestyle": (0, (3, 1.5)) if dashed else "solid"}
    ax.annotate("", end, (0.0, 0.0), arrowprops=style)
    away = (1 if end[0] >= 0 else -1) * beside
    ax.annotate(label, end, xytext=(3 * away, 2 if above else -2), textcoords="offset points", color=colour, fontsize=7,
                ha={-1: "right", 0: "center", 1: "left"}[away], va="bottom" if above else "top")  # fmt: skip


def _draw_bars(ax, rows) -> None:
    """Draw each quantity of both, over the larger of the two, with its fraction."""
    for i, metric in enumerate(COMPARED):
        own = {variant: select(rows, metric=metric, variant=variant) for variant in NAMES}
        largest = max(abs(row["value"].iloc[0]) for row in own.values()) or 1.0
        for side, (variant, row) in zip((-0.5, 0.5), own.items(), strict=True):
            height = row["value"].iloc[0] / largest
            ax.bar(i + side * BAR, height, BAR, color=NAMES[variant][1])
            ax.annotate(settings_of(row)[0]["exact"], (i + side * BAR, height), xytext=(0, 1.5), ha="center",
                        va="bottom", textcoords="offset points", fontsize=SMALLEST)  # fmt: skip
    ax.set_xticks(range(len(COMPARED)), COMPARED.values())
    ax.set_ylim(0, 1.18)
    ax.set_ylabel("over the larger")
    ax.grid(axis="x", visible=False)


def _notes(context: Context, rows) -> list[str]:
    """Return the counter-example in fractions, and among how many pairs it was found."""
    told = {variant: settings_of(select(rows, variant=variant))[0] for variant in NAMES}
    shared = told["nearer"]
    notes = [
        f"Exact kernel: K = {_matrix(shared['gram'])} on the training points, k(x, X) = {_vector(shared['cross'])} at "
        f"the new point x; y = {_vector(shared['labels'])}, target {shared['target']} at x, "
        f"n lambda = {shared['shift']}. In (a) w = (K + n lambda I)^-1 k(X, x), and a dot is the projection of a thick "
        "vector on y, T over |y|."
    ]
    for variant, (name, _) in NAMES.items():
        *feature, new = told[variant]["feature"]
        own = {s["metric"]: settings_of(rows.loc[[i]])[0]["exact"] for i, s in select(rows, variant=variant).iterrows()}
        words = ", ".join(f"{fact_of(metric).label} {own[metric]}" for metric in COMPARED)
        notes.append(
            f"{name} has one feature more, {_vector(feature)} and {new} at x: its kernel matrix is "
            f"{_matrix(told[variant]['approximate_gram'])}; {words}."
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
