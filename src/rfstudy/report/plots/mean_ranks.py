"""Mean ranks of methods over data sets against the number of features: one panel a criterion, one line a method."""

from __future__ import annotations

from functools import partial

import pandas as pd

from rfstudy.report.context import Context
from rfstudy.report.layout import Panel, laid_out, side_by_side
from rfstudy.report.notes import not_drawn, notes
from rfstudy.report.plot_styles import plot_style
from rfstudy.report.ranks import ranked_rows, ranking, scores
from rfstudy.report.style import Picture, drawn_as, handle

#: Keys of an entry of this kind, beside those of all entries.
REQUIRED = ("width", "datasets", "methods", "sizes", "repeats", "criteria")

#: Inches, and panels side by side.
PANEL_HEIGHT, ACROSS = 1.7, 3


def draw(context: Context, spec: dict) -> Picture:
    """The figure of one specification of kind "mean_ranks".

    Parameters
    ----------
    context : its rows are tidy rows of the specification's experiments
    spec : ``datasets``, ``methods`` (lines), ``sizes`` (places on the axis), ``criteria`` (panels), ``width``,
        ``paper``, ``repeats``

    Returns
    -------
    Picture of the width that the specification states, with a panel for each criterion by which two maps are ranked
    """
    frame = ranked_rows(context.rows, spec, spec["sizes"])
    panels, absent, counts, drawn = [], [], [], set()
    for criterion in spec["criteria"]:
        by_size = {
            size: ranking(scores(frame, criterion, spec["methods"], [size]), criterion["metric"])
            for size in spec["sizes"]
        }
        by_size = {size: each for size, each in by_size.items() if each.datasets and len(each.ranks) > 1}
        if not by_size:
            absent.append(criterion["label"])
            continue
        ranks = pd.DataFrame({size: each.ranks for size, each in by_size.items()}).reindex(spec["methods"])
        drawn |= set(ranks.dropna(how="all").index)
        counts.append(f"{criterion['label']} {', '.join(str(len(each.datasets)) for each in by_size.values())}")
        panels.append(Panel(partial(_panel, ranks=ranks, styles=context.styles), criterion["label"]))
    told = ["Mean ranks over the data sets on which every map has a value; 1 is best."] if panels else []
    told += [f"Data sets by size: {'; '.join(counts)}."] if panels else []
    told += not_drawn({"not run": absent} if absent else {})
    legend = [handle(plot_style(method, context.styles)) for method in spec["methods"] if method in drawn]
    rows = side_by_side(panels, ACROSS, PANEL_HEIGHT)
    return laid_out(spec["width"], rows, legend, told + notes(frame, spec, context))


def _panel(ax, ranks: pd.DataFrame, styles: dict) -> None:
    """Ranks by method (rows) and size (columns), the best on top."""
    for method, own in ranks.iterrows():
        ax.plot(range(len(own)), own.to_numpy(), **drawn_as(plot_style(method, styles)))
    ax.set_xticks(range(ranks.shape[1]), ranks.columns)
    ax.set_yticks(range(1, len(ranks) + 1))
    ax.set_ylim(len(ranks) + 0.3, 0.7)
    ax.set(xlabel="number of features s", ylabel="mean rank")
