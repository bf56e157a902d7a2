"""A game of learned features against the number of features found: a row of panels per data set.

The panels show the accuracy on the features, the margin objective, and the duality gap with the bounds on it. Variants
of the method are lines of the first two; the last is about the method itself. Means over the repeats with their
standard deviations.
"""

from __future__ import annotations

from string import ascii_lowercase

import pandas as pd
from matplotlib.lines import Line2D

from rfstudy.report.aggregate import method_order, select
from rfstudy.report.context import Context
from rfstudy.report.notes import dataset_name, notes
from rfstudy.report.panels import draw_lines, finished, grid, log_axis, nothing, without_panel
from rfstudy.report.plot_styles import PlotStyle, plot_style
from rfstudy.report.style import Picture, handle

#: Inches of a row of panels.
HEIGHT = 1.6

#: Metrics of the panels, with their labels and scales.
PANELS = {
    "accuracy_pct": ("test accuracy (%)", "linear"),
    "margin_objective": (r"objective $\max_\alpha F(\alpha, \bar\lambda)$", "log"),
    "duality_gap": ("duality gap", "log"),
}

#: The bounds on the gap: how they are drawn and named.
BOUNDS = {
    "gap_bound": {"color": "#CC3311", "linestyle": "dashed", "label": "published bound, exact search"},
    "gap_bound_mended": {"color": "#888888", "linestyle": "dashdot", "label": "the same, gradient's true length"},
}

#: Colours and markers of variants, in the order of ``labels``.
COLOURS = ("#E69F00", "#CC79A7", "#009E73", "#555555", "#D55E00")
MARKERS = ("v", "D", "^", "s", "P")


def draw(
    context: Context, *, paper: str, width: str, datasets: list[str], methods: list[str], labels: dict[str, str]
) -> Picture:
    """Return the figure; ``labels`` are the names of variants in the legend."""
    frame = select(context.rows, axis="iteration", status="ok", metric=[*PANELS, *BOUNDS])
    styles = {
        f"{method}/{variant}": style_of(plot_style(method, context.styles, variant), labels, variant)
        for method, variant in method_order(frame, methods)
    }
    there = [dataset for dataset in datasets if (frame["dataset"] == dataset).any()]
    remarks = without_panel(context.rows, datasets, paper, context)
    if not there:
        return nothing(width, remarks)
    figure, axes = grid(width, len(there), len(PANELS), HEIGHT)
    for letter, dataset, row in zip(ascii_lowercase, there, axes, strict=False):
        own = select(frame, dataset=dataset)
        for ax, (metric, (label, scale)) in zip(row, PANELS.items(), strict=True):
            cells = means(own, metric)
            if metric == "duality_gap":
                itself = cells["line"].str.endswith("/")
                cells = cells[itself]
                _draw_bounds(ax, own)
            # the method itself is drawn above its variants
            draw_lines(ax, cells, dict(sorted(styles.items(), key=lambda pair: pair[0].endswith("/"))))
            log_axis(ax.xaxis)
            if scale == "log":
                log_axis(ax.yaxis)
            ax.set_ylabel(label)
        row[0].set_title(f"({letter}) {dataset_name(context.tasks, dataset, paper, own)}", loc="left")
    for ax in axes[-1]:
        ax.set_xlabel("features found $m$")
    # variants of both games share an entry
    handles = [handle(each) for each in {each.label: each for each in styles.values()}.values()]
    handles += [Line2D([], [], **drawn) for drawn in BOUNDS.values()]
    return finished(figure, handles, [*remarks, *notes(frame, {"paper": paper}, context)])


def style_of(own: PlotStyle, labels: dict[str, str], variant: str) -> PlotStyle:
    """Return the plot style of a method, or of a variant with the label and colour of its place among ``labels``."""
    if variant not in labels:
        return own
    position = list(labels).index(variant)
    return own._replace(label=labels[variant], colour=COLOURS[position], marker=MARKERS[position])


def means(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return means and standard deviations over the repeats by the number of features, as ``draw_lines`` takes them."""
    own = select(rows, metric=metric)
    own = own.assign(line=own["method"] + "/" + own["variant"], x=own["n_features"].astype(float))
    found = own.groupby(["line", "x"])["value"].agg(["mean", "std"]).astype(float).reset_index()
    spread = found["std"].fillna(0.0)
    return found.assign(lower=found["mean"] - spread, upper=found["mean"] + spread)


def _draw_bounds(ax, rows: pd.DataFrame) -> None:
    for metric, drawn in BOUNDS.items():
        found = means(select(rows, variant=""), metric)
        ax.plot(found["x"], found["mean"], linewidth=1.0, zorder=1.5, **drawn)
