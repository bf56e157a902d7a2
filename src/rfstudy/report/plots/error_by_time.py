"""Error against time: one panel a data set, one line a method through its sizes, from few features to many.

The paper on EERF holds its method against plain features at equal time in this way: what a choice of features costs
stands on the axis beside what it gains.
"""

from __future__ import annotations

from functools import partial
from string import ascii_lowercase

import numpy as np

from rfstudy.metrics import fact_of
from rfstudy.report.aggregate import select
from rfstudy.report.context import Context
from rfstudy.report.error_and_time import Timed, curve
from rfstudy.report.layout import Panel, laid_out, side_by_side
from rfstudy.report.notes import absence, dataset_name, not_drawn, notes
from rfstudy.report.plot_styles import plot_style
from rfstudy.report.published import printed_name
from rfstudy.report.scales import limits, plain, set_upright, span_of, ticks_of
from rfstudy.report.style import Picture, drawn_as, handle

#: Keys of an entry of this kind, beside those of all entries.
REQUIRED = ("width", "datasets", "methods", "quantity", "times")
OPTIONAL = ("repeats",)

#: Inches, and panels side by side.
PANEL_HEIGHT, ACROSS = 1.35, 4

#: Ticks of the axis of the time, at most.
TICKS = 4


def draw(context: Context, spec: dict) -> Picture:
    """The figure of one specification of kind "error_by_time".

    Parameters
    ----------
    context : its rows are tidy rows of the specification's experiments
    spec : ``datasets`` (panels), ``methods`` (lines), ``quantity`` (the error), ``times`` (by method the time that is
        its own), ``width``, ``paper``, ``repeats``

    Returns
    -------
    Picture of the width that the specification states, with a panel for each data set with errors and times
    """
    panels, absent = [], {}
    for letter, dataset in zip(ascii_lowercase, spec["datasets"], strict=False):
        rows = select(context.rows, dataset=dataset)
        curves = {m: curve(rows, m, spec["quantity"], spec["times"][m]) for m in spec["methods"]}
        curves = {method: points for method, points in curves.items() if points}
        if not curves:
            own = select(rows, metric=spec["quantity"]["metric"], learner=spec["quantity"].get("learner"))
            why = "not timed" if (own["status"] == "ok").any() else absence(own).split(":")[0]
            absent.setdefault(why, []).append(printed_name(context.tasks, dataset, spec["paper"]))
            continue
        title = f"({letter}) {dataset_name(context.tasks, dataset, spec['paper'], rows)}"
        panels.append(Panel(partial(_panel, curves=curves, spec=spec, styles=context.styles), title))
    rows = side_by_side(panels, ACROSS, PANEL_HEIGHT)
    legend = [handle(plot_style(method, context.styles)) for method in spec["methods"]] if panels else []
    told = ["Bars: one standard error of the error, the quartiles of the time."] if panels else []
    metrics = [spec["quantity"]["metric"], *spec["times"].values()]
    shown = select(context.rows, dataset=spec["datasets"], method=spec["methods"], variant="", metric=metrics)
    shown = select(shown, learner=["", spec["quantity"].get("learner", "")])
    told += [*not_drawn(absent), *notes(shown, spec, context)]
    return laid_out(spec["width"], rows, legend, told)


def _panel(ax, curves: dict[str, list[Timed]], spec: dict, styles: dict) -> None:
    ends = []
    for method, points in curves.items():
        error, half = (np.array([getattr(point, name) for point in points]) for name in ("error", "standard_error"))
        time = np.array([point.time for point in points])
        quartiles = np.array([point.seconds.quantile([0.25, 0.75]).to_numpy() for point in points]).T
        bars = np.abs(quartiles - time)
        ax.errorbar(time, error, yerr=half, xerr=bars, elinewidth=0.6, **drawn_as(plot_style(method, styles)))
        ends += [(quartiles, np.concatenate([error - half, error + half]))]
        beside = [i for i, point in enumerate(points) if point.machine_busy]
        if beside:
            ax.plot(time[beside], error[beside], marker="x", color="black", markersize=5.0, linestyle="none", zorder=4)
    along = limits(span_of(np.concatenate([times.ravel() for times, _ in ends]), log=True), log=True)
    set_upright(ax, limits(span_of(np.concatenate([errors for _, errors in ends]), log=False), log=False), log=False)
    ax.set_xscale("log")
    ax.set_xlim(along)
    ticks = ticks_of(along, TICKS, log=True)
    ax.set_xticks(ticks, [plain(value) for value in ticks])
    ax.minorticks_off()
    ax.set_xlabel("time (s)")
    fact = fact_of(spec["quantity"]["metric"])
    ax.set_ylabel(f"{fact.label} ({fact.unit})" if fact.unit else fact.label)
