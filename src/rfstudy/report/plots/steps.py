"""The chart of an ablation: one panel a data set, the steps from top to bottom, one line a method, controls below.

A method that a step does not concern keeps its level: its line goes on pale and without markers. A control that decides
what the steps mean is a line through the whole panel.
"""

from __future__ import annotations

from functools import partial
from string import ascii_lowercase

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from rfstudy.metrics import fact_of
from rfstudy.report.aggregate import by_repeat, of_quantity, select
from rfstudy.report.chance import LABEL, chance_of, notes_on_chance
from rfstudy.report.context import Context
from rfstudy.report.layout import Panel, laid_out, side_by_side
from rfstudy.report.notes import absence, dataset_name, not_drawn, notes
from rfstudy.report.plot_styles import plot_style
from rfstudy.report.published import printed_name
from rfstudy.report.scales import Span, limits, reaches, span_of, united
from rfstudy.report.steps import course
from rfstudy.report.style import REFERENCE, Picture, drawn_as, handle

#: Keys of an entry of this kind, beside those of all entries.
REQUIRED = ("width", "datasets", "methods", "repeats", "quantity", "steps")
OPTIONAL = ("sizes", "controls")

#: Inches that a step takes, and panels side by side.
LINE, ACROSS = 0.17, 4

#: Methods are spread over this share of a step, so that their error bars do not hide one another.
DODGE = 0.5


def draw(context: Context, spec: dict) -> Picture:
    """The figure of one specification of kind "steps".

    Parameters
    ----------
    context : its rows are tidy rows of the specification's experiment
    spec : ``datasets`` (panels), ``methods`` (lines, in the order of the legend), ``sizes`` (the one that is shown),
        ``quantity``, ``steps`` (variant -> label, in order), ``controls`` (entries with ``method``, ``variant`` and
        ``label``, and ``line`` where it runs through the panel), ``width``, ``paper``, ``repeats``

    Returns
    -------
    Picture of the width that the specification states, with a panel for each data set that has a value
    """
    frame = of_quantity(
        select(context.rows, dataset=spec["datasets"], n_features_label=spec.get("sizes")), spec["quantity"]
    )
    panels, absent, by_chance, reached = [], {}, {}, False
    for letter, dataset in zip(ascii_lowercase, spec["datasets"], strict=False):
        rows = select(frame, dataset=dataset)
        if not (rows["status"] == "ok").any():
            why = absence(rows).split(":")[0]
            absent.setdefault(why, []).append(printed_name(context.tasks, dataset, spec["paper"]))
            continue
        title = f"({letter}) {dataset_name(context.tasks, dataset, spec['paper'], rows)}"
        first = len(panels) % ACROSS == 0
        chance = chance_of(rows, spec["quantity"], context)
        span = _span(rows, spec)
        if chance is not None:
            by_chance[printed_name(context.tasks, dataset, spec["paper"])] = chance
            chance = chance if reaches(span, chance, log=False) else None
        reached = reached or chance is not None
        draw_panel = partial(_panel, spec=spec, styles=context.styles, first=first, chance=chance, span=span)
        panels.append(Panel(partial(draw_panel, rows=rows), title))
    told = not_drawn(absent) + notes_on_chance(by_chance, drawn=reached)
    through = [control["label"] for control in spec.get("controls", []) if control.get("line")]
    if panels and through:
        told.append(f"Dashed upright line with a band: {', '.join(through)}, mean and standard deviation.")
    if panels:
        told.append("A pale line: the step does not concern the method.")
    height = LINE * (len(spec["steps"]) + len(spec.get("controls", [])) + 0.2)
    rows = side_by_side(panels, ACROSS, height)
    legend = [handle(plot_style(method, context.styles)) for method in spec["methods"]] if panels else []
    legend += [Line2D([], [], label=LABEL, **REFERENCE)] if reached else []
    return laid_out(spec["width"], rows, legend, told + notes(frame, spec, context))


def _span(rows: pd.DataFrame, spec: dict) -> Span:
    """What the axis of a panel has to show: all means with their error bars."""
    cells = [each.values for at in course(rows, spec["steps"], spec["methods"]) for each in at.values()]
    cells += [_of_control(rows, control) for control in spec.get("controls", [])]
    return span_of([end for cell in cells if len(cell) for end in _ends(cell)], log=False)


def _ends(values: pd.Series) -> tuple[float, float]:
    """Mean minus and plus one standard deviation."""
    spread = np.nan_to_num(values.std(ddof=1))
    return values.mean() - spread, values.mean() + spread


def _of_control(rows: pd.DataFrame, control: dict) -> pd.Series:
    return by_repeat(select(rows, method=control["method"], variant=control["variant"]))


def _panel(ax, rows: pd.DataFrame, spec: dict, styles: dict, first: bool, chance: float | None, span: Span) -> None:
    """The steps as lines and, below a rule, the controls as single markers."""
    reached = course(rows, spec["steps"], spec["methods"])
    n_steps, n_methods = len(reached), len(spec["methods"])
    for position, method in enumerate(spec["methods"]):
        drawn = drawn_as(plot_style(method, styles))
        y = np.arange(n_steps) + DODGE * ((position + 0.5) / n_methods - 0.5)
        cells = [each[method] for each in reached]
        mean = np.array([cell.values.mean() for cell in cells])
        own = np.array([not cell.carried for cell in cells])
        spread = np.nan_to_num([cell.values.std(ddof=1) for cell in cells])
        ax.errorbar(mean[own], y[own], xerr=spread[own], elinewidth=0.6, **drawn)
        if not own.all():
            # from the last own point on, so that the pale line hangs together with the other one
            start = max(int(np.argmin(own)) - 1, 0)
            ax.plot(mean[start:], y[start:], color=drawn["color"], linestyle=drawn["linestyle"], alpha=0.35, zorder=1)
    for position, control in enumerate(spec.get("controls", [])):
        values = _of_control(rows, control)
        if not len(values):
            continue
        drawn = drawn_as(plot_style(control["method"], styles, control["variant"])) | {"linestyle": "none"}
        mean, spread = values.mean(), np.nan_to_num(values.std(ddof=1))
        ax.errorbar(mean, n_steps + position, xerr=spread, elinewidth=0.6, **drawn)
        if control.get("line"):
            ax.axvspan(mean - spread, mean + spread, color=drawn["color"], alpha=0.12, linewidth=0, zorder=0.4)
            ax.axvline(mean, color=drawn["color"], linestyle="dashed", linewidth=0.8, zorder=0.5)
    ticks = [*spec["steps"].values(), *(control["label"] for control in spec.get("controls", []))]
    ax.set_yticks(range(len(ticks)), ticks if first else [""] * len(ticks))
    ax.set_ylim(len(ticks) - 0.4, -0.6)
    if chance is not None:
        ax.axvline(chance, **REFERENCE)
        span = united([span, Span(chance, chance)])
    ax.set_xlim(limits(span, log=False))
    ax.xaxis.set_major_locator(MaxNLocator(4, min_n_ticks=2))
    fact = fact_of(spec["quantity"]["metric"])
    ax.set_xlabel(f"{fact.label} ({fact.unit})" if fact.unit else fact.label)
    if spec.get("controls", []):
        ax.axhline(n_steps - 0.5, color="#888888", linewidth=0.6)
