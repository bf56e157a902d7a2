"""The features that reach the best published number of every size, against that size: a panel per data set.

On the dotted diagonal ours need as many features as the paper, below it fewer. An open triangle at the largest size
says that it was not enough.
"""

import numpy as np

from rfstudy.report.aggregate import of_quantity, select
from rfstudy.report.context import Context
from rfstudy.report.panels import set_titles, side_by_side, titles_of
from rfstudy.report.plot_styles import PlotStyle, plot_style
from rfstudy.report.style import REFERENCE, Picture, drawn_as
from rfstudy.report.tables.reached import needs

#: Inches of a panel, panels in a row, and the plot style of the best of the other methods.
HEIGHT, ACROSS = 1.7, 4
OTHER = PlotStyle("best of the others", "#D55E00", "s", "dashed")


def draw(
    context: Context,
    *,
    paper: str,
    width: str,
    published: str,
    datasets: list[str],
    sizes: list[str],
    quantity: dict,
    baseline: str,
) -> Picture:
    """Return the figure of ``reached.needs``."""
    about = {"paper": paper, "published": published, "datasets": datasets, "sizes": sizes, "quantity": quantity}
    found = [need for need in needs(context, about | {"baseline": baseline}) if need.baseline or need.other]
    shown = of_quantity(select(context.rows, dataset=datasets), quantity)
    there = list(dict.fromkeys(need.dataset for need in found))
    figure, axes = side_by_side(width, len(there), ACROSS, HEIGHT)
    style = plot_style(baseline, context.styles)
    set_titles(axes, titles_of(there, shown, paper, context).values())
    for dataset, ax in zip(there, axes, strict=True):
        own = [need for need in found if need.dataset == dataset]
        x = np.arange(len(own))
        ax.plot(x, [sizes.index(need.size) for need in own], **REFERENCE)
        for each, reached in ((style, [need.baseline for need in own]), (OTHER, [need.other for need in own])):
            met = [(i, sizes.index(point.size)) for i, point in enumerate(reached) if point and point.size in sizes]
            missed = [i for i, point in enumerate(reached) if point and not point.size]
            ax.plot(*np.array(met).reshape(-1, 2).T, **drawn_as(each))
            ax.plot(missed, [len(sizes) - 1] * len(missed), marker="^", linestyle="none", markerfacecolor="none",
                    color=each.colour)  # fmt: skip
        ax.set_xticks(x, [need.size for need in own], rotation=90)
        ax.set_yticks(range(len(sizes)), sizes)
        ax.set_ylim(-0.6, len(sizes) - 0.4)
        ax.set_xlabel("published s")
    if axes:
        axes[0].set_ylabel("features needed")
    entries = [style, OTHER, {"label": "as many as published"} | REFERENCE]
    return Picture(figure, entries, ["Open triangle: not reached at the largest size."], shown)
