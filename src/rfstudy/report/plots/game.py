"""A game of learned features against the number of features found: a row of panels per data set.

The panels show the accuracy on the features, the margin objective, and the duality gap with the bounds on it. Variants
of the method are lines of the first two; the last is about the method itself. Means over the repeats with their
standard deviations.
"""

import itertools

from rfstudy.report.aggregate import select
from rfstudy.report.context import Context
from rfstudy.report.panels import by_dataset, draw_lines, log_axis, styles_of, titles_of, without_panel
from rfstudy.report.plot_styles import PlotStyle
from rfstudy.report.style import Picture
from rfstudy.report.times import summarise

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
    frame = select(context.rows, axis="iteration", status="ok", dataset=datasets, metric=[*PANELS, *BOUNDS])
    cells = summarise(frame).sort_values("n_features")
    cells = cells.assign(line=cells["method"] + "/" + cells["variant"], x=cells["n_features"].astype(float))
    styles, remarks = styles_of(frame, methods, context)
    styles = {line: style_of(each, labels, line.split("/")[1]) for line, each in styles.items()}
    # the method itself is drawn above its variants
    order = dict(sorted(styles.items(), key=lambda pair: pair[0].endswith("/")))
    titles = titles_of(datasets, frame, paper, context)
    places = list(itertools.product(frame["dataset"].unique(), range(len(PANELS))))
    figure, axes = by_dataset(width, HEIGHT, places, titles, "features found $m$")
    for (dataset, position), ax in axes.items():
        metric, (label, scale) = list(PANELS.items())[position]
        own = select(cells, dataset=dataset)
        if metric == "duality_gap":
            own = select(own, variant="")
            for bound, drawn in BOUNDS.items():
                ax.plot(*select(own, metric=bound)[["x", "mean"]].to_numpy().T, linewidth=1.0, zorder=1.5, **drawn)
        draw_lines(ax, select(own, metric=metric), order)
        log_axis(ax.xaxis)
        if scale == "log":
            log_axis(ax.yaxis)
        ax.set_ylabel(label)
    remarks += without_panel(context.rows, datasets, paper, context)
    return Picture(figure, [*styles.values(), *BOUNDS.values()], remarks, frame)


def style_of(own: PlotStyle, labels: dict[str, str], variant: str) -> PlotStyle:
    """Return the plot style of a method, or of a variant with the label and colour of its place among ``labels``."""
    if variant not in labels:
        return own
    position = list(labels).index(variant)
    return own._replace(label=labels[variant], colour=COLOURS[position], marker=MARKERS[position])
