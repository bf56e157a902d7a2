"""The features that reach the best printed number of every size, against that size: one panel a data set.

On the dotted diagonal ours need as many features as were printed, below it fewer. An open triangle at the largest size
that was run says that it was not enough.
"""

from __future__ import annotations

from string import ascii_lowercase

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from rfstudy.report.aggregate import of_quantity, select
from rfstudy.report.context import Context
from rfstudy.report.layout import Panel, laid_out, side_by_side
from rfstudy.report.notes import dataset_name, notes
from rfstudy.report.plot_styles import plot_style
from rfstudy.report.reached import Need, Reached, needs
from rfstudy.report.style import REFERENCE, Picture, drawn_as, handle

#: Keys of an entry of this kind, beside those of all entries.
REQUIRED = ("width", "published", "datasets", "sizes", "quantity", "baseline")

#: Inches of a panel, panels side by side, and how the best of the others is drawn.
PANEL_HEIGHT, ACROSS = 1.5, 4
OTHER = {"color": "#D55E00", "marker": "s", "linestyle": "dashed", "markersize": 4}


def draw(context: Context, spec: dict) -> Picture:
    """The figure of one specification of kind "reach"; of ``spec`` what ``reached.needs`` takes, and ``width``."""
    found = [need for need in needs(context, spec) if need.baseline or need.other]
    shown = of_quantity(select(context.rows, dataset=spec["datasets"]), spec["quantity"])
    panels = []
    for dataset in dict.fromkeys(need.dataset for need in found):
        own = [need for need in found if need.dataset == dataset]
        name = dataset_name(context.tasks, dataset, spec["paper"], select(shown, dataset=dataset))
        title = f"({ascii_lowercase[len(panels)]}) {name}"
        first = len(panels) % ACROSS == 0
        panels.append(Panel(lambda ax, own=own, first=first: _panel(ax, own, context, spec, first), title))
    legend = [
        handle(plot_style(spec["baseline"], context.styles)),
        Line2D([], [], label="best of the others", **OTHER),
        Line2D([], [], label="as many as printed", **REFERENCE),
    ]
    told = ["Open triangle: not reached at the largest size that was run."] if panels else []
    rows = side_by_side(panels, ACROSS, PANEL_HEIGHT)
    return laid_out(spec["width"], rows, legend if panels else [], [*told, *notes(shown, spec, context)])


def _panel(ax, own: list[Need], context: Context, spec: dict, first: bool) -> None:
    x = np.arange(len(own))
    sizes = spec["sizes"]
    ax.plot(x, [sizes.index(need.size) for need in own], **REFERENCE)
    baseline = drawn_as(plot_style(spec["baseline"], context.styles))
    for drawn, each in ((baseline, [n.baseline for n in own]), (OTHER, [n.other for n in own])):
        _line(ax, each, sizes, drawn)
    ax.set_xticks(x, [need.size for need in own], rotation=90)
    ax.set_yticks(range(len(sizes)), sizes if first else [""] * len(sizes))
    ax.set_ylim(-0.6, len(sizes) - 0.4)
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlabel("printed s")
    if first:
        ax.set_ylabel("features needed")


def _line(ax, found: list[Reached | None], sizes: list[str], drawn: dict) -> None:
    places = [(i, sizes.index(each.size)) for i, each in enumerate(found) if each and each.size in sizes]
    if places:
        ax.plot(*np.array(places).T, **drawn)
    missed = [i for i, each in enumerate(found) if each and not each.size]
    hollow = {"marker": "^", "linestyle": "none", "markerfacecolor": "none", "color": drawn["color"]}
    ax.plot(missed, [len(sizes) - 1] * len(missed), **hollow)
