"""Errors against the number of features over that of the training rows: a row of panels per data set.

Lines are medians over the repeats and bands their quartiles: where features are as many as rows, the error has hardly
a finite variance, and a mean would be that of its largest values. A line is a map (by colour) with a learner (by the
pattern). Upright lines mark where a map has as many columns as there are rows.
"""

from __future__ import annotations

from string import ascii_lowercase

import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from rfstudy.report.aggregate import method_order, of_quantity, select
from rfstudy.report.context import Context
from rfstudy.report.notes import dataset_name, notes
from rfstudy.report.panels import draw_lines, finished, grid, log_axis, nothing, without_panel
from rfstudy.report.plot_styles import plot_style
from rfstudy.report.style import Picture, handle

#: Inches of a row of panels.
HEIGHT = 1.5

#: Patterns of the learners, in the order of the entry, and of the upright lines.
PATTERNS = ("solid", (0, (4, 1.4)), (0, (1, 1)))
THRESHOLD = {"linestyle": (0, (1, 1.2)), "linewidth": 0.8, "zorder": 1}


def draw(
    context: Context,
    *,
    paper: str,
    width: str,
    datasets: list[str],
    methods: list[str],
    learners: dict[str, str],
    panels: list[dict],
) -> Picture:
    """Return the figure.

    Parameters
    ----------
    context : its rows are tidy rows of an experiment of the kind "path"
    panels : the quantities of a row: ``metric``, ``split``, ``label`` and ``scale``
    methods : their order
    learners : their names in the legend, by id
    """
    metrics = list(dict.fromkeys(panel["metric"] for panel in panels))
    shown = select(context.rows, dataset=datasets, metric=metrics, learner=["", *learners])
    ok = select(shown, status="ok")
    maps = {
        pair: plot_style(pair[0], context.styles, pair[1])._replace(marker="") for pair in method_order(ok, methods)
    }
    patterns = dict(zip(learners, PATTERNS, strict=False))
    styles = {
        f"{method}/{variant}/{learner}": each._replace(linestyle=patterns.get(learner, PATTERNS[0]))
        for (method, variant), each in maps.items()
        for learner in ("", *learners)
    }
    there = [dataset for dataset in datasets if (ok["dataset"] == dataset).any()]
    remarks = ["Lines and bands: medians and quartiles over the repeats."]
    remarks += without_panel(shown, datasets, paper, context)
    if not there:
        return nothing(width, remarks)
    figure, axes = grid(width, len(there), len(panels), HEIGHT)
    for letter, dataset, row in zip(ascii_lowercase, there, axes, strict=False):
        own = select(ok, dataset=dataset)
        for panel, ax in zip(panels, row, strict=True):
            _draw_panel(ax, of_quantity(own, panel), panel, styles, maps)
        row[0].set_title(f"({letter}) {dataset_name(context.tasks, dataset, paper, own)}", loc="left")
    for ax in axes[-1]:
        ax.set_xlabel("$s/n$")
    handles = [handle(each) for each in maps.values()]
    if len(learners) > 1:
        handles += [
            Line2D([], [], color="#777777", linestyle=patterns[each], label=learners[each]) for each in learners
        ]
    handles.append(Line2D([], [], color="black", label="columns = $n$", **THRESHOLD))
    return finished(figure, handles, [*remarks, *notes(shown, {"paper": paper}, context)])


def quartiles(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the median and the quartiles over the repeats of every line, as ``draw_lines`` takes them."""
    rows = rows.assign(line=rows["method"] + "/" + rows["variant"] + "/" + rows["learner"], x=rows["at"])
    along = rows.groupby(["line", "x"])["value"].quantile([0.25, 0.5, 0.75]).unstack()
    return along.set_axis(["lower", "mean", "upper"], axis="columns").reset_index()


def _draw_panel(ax, rows: pd.DataFrame, panel: dict, styles: dict, maps: dict) -> None:
    if not len(rows):
        ax.remove()
        return
    for (method, variant), each in maps.items():
        own = select(rows, method=method, variant=variant)
        # where columns are as many as rows: s/n over columns/n
        for place in (own["n_features"] / own["n_columns"]).unique():
            ax.axvline(place, color=each.colour, **THRESHOLD)
    draw_lines(ax, quartiles(rows), styles, band=True)
    log_axis(ax.xaxis)
    if panel["scale"] == "log":
        log_axis(ax.yaxis)
    else:
        ax.yaxis.set_major_locator(MaxNLocator(5))
    ax.set_ylabel(panel["label"])
