"""An ablation as dots: a panel per data set, the steps from top to bottom, a marker per method, controls below.

A method that a step does not change keeps its value as a pale marker. A control that decides what the steps mean is a
line through the whole panel.
"""

import pandas as pd

from rfstudy.report.aggregate import by_repeat, of_quantity, select
from rfstudy.report.chance import LABEL, chance_of, notes_on_chance
from rfstudy.report.context import Context
from rfstudy.report.panels import (
    draw_chance,
    draw_dots,
    first_lines,
    set_titles,
    side_by_side,
    titles_of,
    with_unit,
    without_panel,
)
from rfstudy.report.plot_styles import plot_style
from rfstudy.report.plots.dots import dot
from rfstudy.report.published import printed_name
from rfstudy.report.style import REFERENCE, Picture
from rfstudy.report.tables.ablation import course

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
    ok = set(select(frame, status="ok")["dataset"])
    there = [dataset for dataset in datasets if dataset in ok]
    styles, more = first_lines({method: (method, "") for method in methods}, context)
    of_controls = {
        control["label"]: plot_style(control["method"], context.styles, control["variant"]) for control in controls
    }
    labels = [*steps.values(), *of_controls]
    figure, axes = side_by_side(width, len(there), ACROSS, ROW * (len(labels) + 0.2) + 0.5)
    set_titles(axes, titles_of(there, frame, paper, context).values())
    chances, reached = {}, False
    for position, (dataset, ax) in enumerate(zip(there, axes, strict=True)):
        rows = select(frame, dataset=dataset)
        draw_dots(ax, cells_of(rows, list(steps), list(styles)), styles, len(labels), SPREAD)
        cells = controls_in(rows, controls, len(steps))
        draw_dots(ax, cells, of_controls, len(labels))
        for control in select(cells, through=[True]).to_dict("records"):
            colour = of_controls[control["line"]].colour
            ax.axvspan(control["lower"], control["upper"], color=colour, alpha=0.12, linewidth=0, zorder=0.4)
            ax.axvline(control["mean"], color=colour, linestyle="dashed", linewidth=0.8, zorder=0.5)
        if controls:
            ax.axhline(len(steps) - 0.5, color="#888888", linewidth=0.6)
        chance = chance_of(rows, quantity, context)
        if chance is not None:
            chances[printed_name(context.tasks, dataset, paper)] = chance
            reached |= draw_chance(ax, "x", chance)
        ax.set_yticks(range(len(labels)), labels if position % ACROSS == 0 else [""] * len(labels))
        ax.set_xlabel(with_unit(quantity["metric"]))
    through = ", ".join(control["label"] for control in controls if control.get("line"))
    remarks = ["Pale: the step does not change the method."]
    remarks += [f"Dashed line with a band: {through}, mean and standard deviation."] if through else []
    remarks += more + without_panel(frame, datasets, paper, context) + notes_on_chance(chances, drawn=reached)
    return Picture(figure, [*styles.values(), *([{"label": LABEL} | REFERENCE] if reached else [])], remarks, frame)


def cells_of(rows: pd.DataFrame, steps: list[str], methods: list[str]) -> pd.DataFrame:
    """Return the means of all methods at all steps with their deviations, as ``draw_dots`` takes them."""
    return pd.DataFrame(
        {"line": method, "row": row} | dot(each.values, pale=each.carried)
        for row, reached in enumerate(course(rows, steps, methods))
        for method, each in reached.items()
        if len(each.values)
    )


def controls_in(rows: pd.DataFrame, controls: list[dict], first: int) -> pd.DataFrame:
    """Return the same of the controls, from the row ``first`` on, and whether they are lines through the panel."""
    found = []
    for row, control in enumerate(controls, start=first):
        values = by_repeat(select(rows, method=control["method"], variant=control["variant"]))
        about = {"line": control["label"], "row": row, "through": control.get("line", False)}
        found += [about | dot(values)] if len(values) else []
    return pd.DataFrame(found, columns=["line", "row", "through", "mean", "lower", "upper", "pale"])
