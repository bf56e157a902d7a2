"""An ablation as dots: a panel per data set, the steps from top to bottom, a marker per method, controls below.

A method that a step does not change keeps its value as a pale marker. A control that decides what the steps mean is a
line through the whole panel.
"""

from __future__ import annotations

from string import ascii_lowercase

import pandas as pd
from matplotlib.lines import Line2D

from rfstudy.metrics import fact_of
from rfstudy.report.aggregate import by_repeat, of_quantity, select
from rfstudy.report.chance import LABEL, chance_of, notes_on_chance
from rfstudy.report.context import Context
from rfstudy.report.notes import dataset_name, notes
from rfstudy.report.panels import draw_dots, finished, set_title, side_by_side, without_panel
from rfstudy.report.plot_styles import plot_style
from rfstudy.report.plots.dots import dot
from rfstudy.report.published import printed_name
from rfstudy.report.steps import course
from rfstudy.report.style import REFERENCE, Picture, drawn_as, handle

#: Inches of a step, panels in a row, and the share of a step that methods are spread over.
ROW, ACROSS, SPREAD = 0.17, 4, 0.5


def draw(
    context: Context,
    *,
    paper: str,
    width: str,
    datasets: list[str],
    methods: list[str],
    quantity: dict,
    steps: dict[str, str],
    repeats: int,
    sizes: list[str] | None = None,
    controls: list[dict] | None = None,
) -> Picture:
    """Return the figure, with a panel for each data set that has a value.

    Parameters
    ----------
    context : its rows are tidy rows of the experiment
    sizes : the one that is shown
    steps : labels by variant, in order
    controls : ``method``, ``variant`` and ``label``, and ``line`` where it runs through the panel
    """
    controls = controls or []
    frame = of_quantity(select(context.rows, dataset=datasets, n_features_label=sizes), quantity)
    there = [dataset for dataset in datasets if len(select(frame, dataset=dataset, status="ok"))]
    styles = {method: plot_style(method, context.styles) for method in methods}
    labels = [*steps.values(), *(control["label"] for control in controls)]
    figure, axes = side_by_side(width, len(there), ACROSS, ROW * (len(labels) + 0.2) + 0.5)
    chances, reached, fact = {}, False, fact_of(quantity["metric"])
    for i, (letter, dataset, ax) in enumerate(zip(ascii_lowercase, there, axes, strict=False)):
        rows = select(frame, dataset=dataset)
        draw_dots(ax, cells_of(rows, list(steps), methods), styles, labels if i % ACROSS == 0 else [""] * len(labels),
                  SPREAD)  # fmt: skip
        for position, control in enumerate(controls, start=len(steps)):
            _draw_control(ax, rows, control, position, context.styles)
        if controls:
            ax.axhline(len(steps) - 0.5, color="#888888", linewidth=0.6)
        chance = chance_of(rows, quantity, context)
        if chance is not None:
            chances[printed_name(context.tasks, dataset, paper)] = chance
            low, high = ax.get_xlim()
            if low - (high - low) <= chance <= high + (high - low):
                ax.axvline(chance, **REFERENCE)
                reached = True
        set_title(ax, letter, dataset_name(context.tasks, dataset, paper, rows))
        ax.set_xlabel(f"{fact.label} ({fact.unit})" if fact.unit else fact.label)
    handles = [handle(each) for each in styles.values()]
    handles += [Line2D([], [], label=LABEL, **REFERENCE)] if reached else []
    through = ", ".join(control["label"] for control in controls if control.get("line"))
    remarks = ["Pale: the step does not change the method."]
    remarks += [f"Dashed line with a band: {through}, mean and standard deviation."] if through else []
    remarks += without_panel(frame, datasets, paper, context) + notes_on_chance(chances, drawn=reached)
    remarks += notes(frame, {"paper": paper, "repeats": repeats, "sizes": sizes or []}, context)
    return finished(figure, handles, remarks)


def cells_of(rows: pd.DataFrame, steps: list[str], methods: list[str]) -> pd.DataFrame:
    """Return the means of all methods at all steps with their deviations, as ``draw_dots`` takes them."""
    return pd.DataFrame(
        {"line": method, "row": row} | dot(each.values, pale=each.carried)
        for row, reached in enumerate(course(rows, steps, methods))
        for method, each in reached.items()
        if len(each.values)
    )


def _draw_control(ax, rows: pd.DataFrame, control: dict, row: int, styles: dict) -> None:
    values = by_repeat(select(rows, method=control["method"], variant=control["variant"]))
    if not len(values):
        return
    drawn = drawn_as(plot_style(control["method"], styles, control["variant"])) | {"linestyle": "none"}
    own = dot(values)
    ax.errorbar(own["mean"], row, xerr=own["upper"] - own["mean"], elinewidth=0.6, **drawn)
    if control.get("line"):
        ax.axvspan(own["lower"], own["upper"], color=drawn["color"], alpha=0.12, linewidth=0, zorder=0.4)
        ax.axvline(own["mean"], color=drawn["color"], linestyle="dashed", linewidth=0.8, zorder=0.5)
