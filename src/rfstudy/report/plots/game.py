"""A game of learned features against the number of features found: one row of panels a data set, with the accuracy of
the machine on the features, the margin objective, and the duality gap beside the bounds on it.

Variants of the method are lines of the first two panels; the last is about the method itself. Means over the repeats,
with their standard deviations as bars.
"""

from __future__ import annotations

from functools import partial
from string import ascii_lowercase

import pandas as pd
from matplotlib.lines import Line2D

from rfstudy.report.aggregate import method_order, select
from rfstudy.report.context import Context
from rfstudy.report.layout import Panel, Row, laid_out
from rfstudy.report.notes import absence, dataset_name, not_drawn, notes
from rfstudy.report.plot_styles import PlotStyle, plot_style
from rfstudy.report.scales import limits, set_upright, span_of
from rfstudy.report.style import Picture, drawn_as, handle

#: Keys of an entry of this kind, beside those of all entries.
REQUIRED = ("width", "datasets", "methods", "labels")
OPTIONAL = ("repeats",)

#: Inches.
PANEL_HEIGHT = 1.5

#: Colours of variants, in the order of ``labels``.
COLOURS = ("#E69F00", "#CC79A7", "#009E73", "#555555", "#D55E00")
MARKERS = ("v", "D", "^", "s", "P")

#: The bounds on the gap: how they are drawn and named.
BOUNDS = {
    "gap_bound": ({"color": "#CC3311", "linestyle": "dashed"}, "printed bound, exact search"),
    "gap_bound_mended": ({"color": "#888888", "linestyle": "dashdot"}, "the same, gradient's true length"),
}

#: What is drawn of a game, beside the bounds.
SHOWN = ["accuracy_pct", "margin_objective", "duality_gap", *BOUNDS]

TITLES = ("test accuracy", "margin objective", "duality gap")


def draw(context: Context, spec: dict) -> Picture:
    """The figure of one specification of kind "game"; what was not run is named in a note."""
    frame = select(context.rows, axis="iteration", status="ok", metric=SHOWN)
    lines = [
        (method, variant, style_of(context, spec, method, variant))
        for method, variant in method_order(frame, spec["methods"])
    ]
    rows, missing = [], {}
    letters = iter(ascii_lowercase)
    for dataset in spec["datasets"]:
        own = select(frame, dataset=dataset)
        if not len(own):
            missing.setdefault(absence(select(context.rows, dataset=dataset)), []).append(dataset)
            continue
        there = [line for line in lines if len(select(own, method=line[0], variant=line[1]))]
        draws = (_accuracy, _objective, _gap)
        panels = [
            Panel(partial(each, rows=own, lines=there), f"({next(letters)}) {title}")
            for each, title in zip(draws, TITLES, strict=True)
        ]
        name = dataset_name(context.tasks, dataset, spec["paper"], own)
        rows.append(Row(panels, PANEL_HEIGHT, name if len(spec["datasets"]) > 1 else ""))
    # a variant that both games have is drawn alike in both
    legend = [handle(each) for each in {each.label: each for *_, each in lines}.values()] if rows else []
    if rows:
        legend += [Line2D([], [], label=label, **drawn) for drawn, label in BOUNDS.values()]
    told = not_drawn(missing) if missing else []
    return laid_out(spec["width"], rows, legend, [*told, *notes(frame, {"repeats": None} | spec, context)])


def style_of(context: Context, spec: dict, method: str, variant: str) -> PlotStyle:
    """The plot style of a method, or of a variant, which has the label and colour of its place among ``labels``."""
    own = plot_style(method, context.styles, variant)
    if variant not in spec["labels"]:
        return own
    position = list(spec["labels"]).index(variant)
    label = spec["labels"][variant]
    return own._replace(label=label, colour=COLOURS[position % len(COLOURS)], marker=MARKERS[position % len(MARKERS)])


def course(rows: pd.DataFrame, metric: str, method: str, variant: str) -> pd.DataFrame:
    """Mean and standard deviation over the repeats of a metric, by the number of features."""
    own = select(rows, metric=metric, method=method, variant=variant)
    return own.groupby("n_features")["value"].agg(["mean", "std"]).astype(float)


def _lines(ax, rows, lines, metric: str) -> list[float]:
    """Draw the courses of a metric, that of the method itself above its variants; the values that are drawn, ends of
    bars among them.
    """
    values = []
    for method, variant, each in lines:
        found = course(rows, metric, method, variant)
        bars, order = found["std"].fillna(0.0), {"zorder": 2.2 if variant else 2.5}
        ax.errorbar(found.index.astype(float), found["mean"], bars, elinewidth=0.6, **drawn_as(each) | order)
        values += [*(found["mean"] - bars), *(found["mean"] + bars)]
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.set_xlabel("features found $m$")
    return values


def _upright(ax, values: list[float], *, log: bool) -> None:
    own = span_of(values, log=log)
    if own:
        set_upright(ax, limits(own, log=log), log=log)


def _accuracy(ax, rows, lines) -> None:
    _upright(ax, _lines(ax, rows, lines, "accuracy_pct"), log=False)
    ax.set_ylabel("accuracy (%)")


def _objective(ax, rows, lines) -> None:
    _upright(ax, _lines(ax, rows, lines, "margin_objective"), log=True)
    ax.set_ylabel(r"$\max_\alpha F(\alpha, \bar\lambda)$")


def _gap(ax, rows, lines) -> None:
    itself = [line for line in lines if not line[1]]
    values = _lines(ax, rows, itself, "duality_gap")
    for metric, (drawn, _) in BOUNDS.items():
        for method, variant, _ in itself:
            found = course(rows, metric, method, variant)
            ax.plot(found.index.astype(float), found["mean"], linewidth=1.0, zorder=1.5, **drawn)
            values += found["mean"].tolist()
    _upright(ax, values, log=True)
    ax.set_ylabel("duality gap")
