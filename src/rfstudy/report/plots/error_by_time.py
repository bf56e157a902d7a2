"""Error against time: a panel per data set, a line per method through its sizes, from few features to many."""

import pandas as pd

from rfstudy.report.aggregate import select
from rfstudy.report.context import Context
from rfstudy.report.notes import absence
from rfstudy.report.panels import (
    draw_lines,
    first_lines,
    log_axis,
    not_drawn,
    set_titles,
    side_by_side,
    titles_of,
    with_unit,
)
from rfstudy.report.published import printed_name
from rfstudy.report.style import Picture
from rfstudy.report.tables.equal_time import Timed, curve

#: Inches of a panel, and panels in a row.
HEIGHT, ACROSS = 1.5, 4


def draw(
    context: Context,
    *,
    paper: str,
    width: str,
    datasets: list[str],
    methods: list[str],
    quantity: dict,
    times: dict[str, str],
) -> Picture:
    """Return the figure, with a panel for every data set that has errors and times.

    Parameters
    ----------
    context : its rows are tidy rows of the experiments
    quantity : the error
    times : the metric of the time that counts for a method, by method
    """
    styles, more = first_lines({method: (method, "") for method in methods}, context)
    found, absent = {}, {}
    for dataset in datasets:
        rows = select(context.rows, dataset=dataset)
        cells = points([(method, curve(rows, method, quantity, times[method])) for method in styles])
        if len(cells):
            found[dataset] = cells
            continue
        own = select(rows, metric=quantity["metric"], learner=quantity.get("learner"))
        why = "not timed" if (own["status"] == "ok").any() else absence(own).split(":")[0]
        absent[printed_name(context.tasks, dataset, paper)] = why
    figure, axes = side_by_side(width, len(found), ACROSS, HEIGHT)
    set_titles(axes, titles_of(found, context.rows, paper, context).values())
    for cells, ax in zip(found.values(), axes, strict=True):
        draw_lines(ax, cells, styles)
        log_axis(ax.xaxis)
        ax.set(xlabel="time (s)", ylabel=with_unit(quantity["metric"]))
    metrics = [quantity["metric"], *times.values()]
    shown = select(context.rows, dataset=datasets, method=methods, variant="", metric=metrics)
    shown = select(shown, learner=["", quantity.get("learner", "")])
    remarks = ["Bars: one standard error of the error, the quartiles of the time.", *not_drawn(absent), *more]
    return Picture(figure, styles.values(), remarks, shown)


def points(curves: list[tuple[str, list[Timed]]]) -> pd.DataFrame:
    """Return errors and times of methods with the ends of their bars, as ``draw_lines`` takes them."""
    return pd.DataFrame(
        {
            "line": method,
            "x": each.time,
            "left": each.seconds.quantile(0.25),
            "right": each.seconds.quantile(0.75),
            "mean": each.error,
            "lower": each.error - each.standard_error,
            "upper": each.error + each.standard_error,
            "machine_busy": each.machine_busy,
        }
        for method, own in curves
        for each in own
    )
