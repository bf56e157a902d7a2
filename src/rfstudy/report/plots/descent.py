"""Errors against the number of features over that of the training rows: a row of panels per data set.

Lines are medians over the repeats and bands their quartiles: where features are as many as rows, the error has hardly
a finite variance, and a mean would be that of its largest values. A line is a map (by colour) with a learner (by the
pattern). Upright lines mark where a map has as many columns as there are rows.
"""

import pandas as pd
from matplotlib.ticker import MaxNLocator

from rfstudy.report.aggregate import of_quantity, select
from rfstudy.report.context import Context
from rfstudy.report.panels import by_dataset, draw_lines, log_axis, styles_of, titles_of, without_panel
from rfstudy.report.style import Picture

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
    metrics = [panel["metric"] for panel in panels]
    shown = select(context.rows, dataset=datasets, metric=metrics, learner=["", *learners])
    ok = select(shown, status="ok")
    maps, remarks = styles_of(ok, methods, context)
    maps = {line: each._replace(marker="") for line, each in maps.items()}
    patterns = dict(zip(learners, PATTERNS, strict=False))
    styles = {
        f"{line}/{learner}": each._replace(linestyle=patterns.get(learner, PATTERNS[0]))
        for line, each in maps.items()
        for learner in ("", *learners)
    }
    found = {
        (dataset, position): rows
        for dataset in datasets
        for position, panel in enumerate(panels)
        if len(rows := of_quantity(select(ok, dataset=dataset), panel))
    }
    titles = titles_of(datasets, ok, paper, context)
    figure, axes = by_dataset(width, HEIGHT, list(found), titles, "$s/n$")
    for place, ax in axes.items():
        _draw_panel(ax, found[place], panels[place[1]], styles, maps)
    entries = [*maps.values()]
    if len(learners) > 1:
        entries += [{"color": "#777777", "linestyle": patterns[each], "label": learners[each]} for each in learners]
    entries.append({"color": "black", "label": "columns = $n$"} | THRESHOLD)
    remarks = ["Lines and bands: medians and quartiles over the repeats.", *remarks]
    remarks += without_panel(shown, datasets, paper, context)
    return Picture(figure, entries, remarks, shown)


def quartiles(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the median and the quartiles over the repeats of every line, as ``draw_lines`` takes them."""
    rows = rows.assign(line=rows["method"] + "/" + rows["variant"] + "/" + rows["learner"], x=rows["at"])
    along = rows.groupby(["line", "x"])["value"].quantile([0.25, 0.5, 0.75]).unstack()
    return along.set_axis(["lower", "mean", "upper"], axis="columns").reset_index()


def _draw_panel(ax, rows: pd.DataFrame, panel: dict, styles: dict, maps: dict) -> None:
    for line, own in rows.groupby(rows["method"] + "/" + rows["variant"], sort=False):
        # where columns are as many as rows: s/n over columns/n
        for place in (own["n_features"] / own["n_columns"]).unique() if line in maps else ():
            ax.axvline(place, color=maps[line].colour, **THRESHOLD)
    draw_lines(ax, quartiles(rows), styles, band=True)
    log_axis(ax.xaxis)
    if panel["scale"] == "log":
        log_axis(ax.yaxis)
    else:
        ax.yaxis.set_major_locator(MaxNLocator(5))
    ax.set_ylabel(panel["label"])
