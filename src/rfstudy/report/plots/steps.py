"""The chart of an ablation: one panel a data set, the steps from left to right, one line a method, controls apart.

A method that a step does not concern keeps its level: its line goes on pale and without markers.
"""

from __future__ import annotations

import textwrap
from string import ascii_lowercase

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from rfstudy.report.aggregate import by_repeat, of_quantity, select
from rfstudy.report.context import Context
from rfstudy.report.looks import Look, look
from rfstudy.report.notes import absence, dataset_name, notes
from rfstudy.report.steps import course
from rfstudy.report.style import TEXT_WIDTH, Picture, drawn_as, handle, style

#: The keys of an entry of this kind beside those of all.
SCHEMA = {
    "properties": {
        "datasets": {"$ref": "#/$defs/names"},
        "methods": {"$ref": "#/$defs/names"},
        "sizes": {"$ref": "#/$defs/one_size"},
        "repeats": {"$ref": "#/$defs/repeats"},
        "quantity": {"$ref": "#/$defs/quantity"},
        "steps": {"$ref": "#/$defs/steps_in_words"},
        "controls": {"$ref": "#/$defs/controls"},
    },
    "required": ["datasets", "methods", "sizes", "repeats", "quantity", "steps", "controls"],
}


#: Inches: margins, the gap between panels, and from top to bottom a line of the legend, title, panel, line of notes.
LEFT, RIGHT, BETWEEN = 0.42, 0.06, 0.42
LEGEND, TITLE, PANEL, NOTE_LINE, PAD = 0.22, 0.24, 1.45, 0.115, 0.06

#: Panels side by side.
ACROSS = 2

#: Width in inches of a character of a note and of a tick label; the tick labels stand upright below the last panels.
NOTE_CHARACTER, TICK_CHARACTER = 0.043, 0.045
NOTE_SIZE, TICK_SIZE = 6.5, 7.0

#: Methods are spread over this share of a step, so that their error bars do not hide one another.
DODGE = 0.36


def draw(context: Context, spec: dict) -> Picture:
    """The figure of one specification of kind "steps".

    Parameters
    ----------
    context : its rows are tidy rows of the specification's experiment
    spec : ``datasets`` (panels), ``methods`` (lines, in the order of the legend), ``sizes`` (the one that is shown),
        ``quantity``, ``steps`` (variant -> label, in order), ``controls`` (entries with ``method``, ``variant`` and
        ``label``), ``paper``, ``repeats``

    Returns
    -------
    Picture as wide as a text block
    """
    frame = of_quantity(
        select(context.rows, dataset=spec["datasets"], n_features_label=spec["sizes"]), spec["quantity"]
    )
    ticks = [*spec["steps"].values(), *(control["label"] for control in spec["controls"])]
    told = notes(frame, spec, context)
    remarks = textwrap.wrap(" ".join(told), int(TEXT_WIDTH / NOTE_CHARACTER))
    across = min(ACROSS, len(spec["datasets"]))
    down = -(-len(spec["datasets"]) // across)
    below = 0.1 + TICK_CHARACTER * max(map(len, ticks))
    height = LEGEND + down * (TITLE + PANEL) + below + NOTE_LINE * len(remarks) + 2 * PAD
    width = (TEXT_WIDTH - LEFT - RIGHT - (across - 1) * BETWEEN) / across
    with style():
        figure = Figure(figsize=(TEXT_WIDTH, height))
        _legend(figure, [look(method, context.looks) for method in spec["methods"]])
        for position, dataset in enumerate(spec["datasets"]):
            row, column = divmod(position, across)
            rows = select(frame, dataset=dataset)
            left = LEFT + column * (width + BETWEEN)
            bottom = height - LEGEND - (row + 1) * (TITLE + PANEL)
            ax = figure.add_axes((left / TEXT_WIDTH, bottom / height, width / TEXT_WIDTH, PANEL / height))
            ax.set_title(
                f"({ascii_lowercase[position]}) {dataset_name(context.tasks, dataset, spec['paper'], rows)}", pad=3
            )
            _panel(ax, rows, spec, context.looks)
            last = position + across >= len(spec["datasets"])
            ax.set_xticks(range(len(ticks)), ticks if last else [""] * len(ticks), rotation=90, fontsize=TICK_SIZE)
            if column == 0:
                ax.set_ylabel("accuracy (%)")
        x, y = PAD / TEXT_WIDTH, PAD / height
        figure.text(x, y, "\n".join(remarks), fontsize=NOTE_SIZE, va="bottom", linespacing=1.15)
    return Picture(figure, told)


def _legend(figure: Figure, looks: list[Look]) -> None:
    figure.legend(
        handles=[handle(each) for each in looks],
        loc="upper center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=len(looks),
        handlelength=2.3,
        handletextpad=0.4,
        columnspacing=1.2,
    )


def _panel(ax, rows: pd.DataFrame, spec: dict, looks: dict) -> None:
    """The steps as lines and, right of a rule, the controls as single markers."""
    reached = course(rows, spec["steps"], spec["methods"])
    n_steps, n_methods = len(reached), len(spec["methods"])
    ax.set_xlim(-0.6, n_steps + len(spec["controls"]) - 0.4)
    if not (rows["status"] == "ok").any():
        ax.set_yticks([])
        text = "\n".join(textwrap.wrap(textwrap.shorten(absence(rows), 120, placeholder=" ..."), 40))
        ax.text(0.5, 0.5, text, ha="center", va="center", color="#555555", transform=ax.transAxes)
        return
    for position, method in enumerate(spec["methods"]):
        drawn = drawn_as(look(method, looks))
        x = np.arange(n_steps) + DODGE * ((position + 0.5) / n_methods - 0.5)
        cells = [each[method] for each in reached]
        mean = np.array([cell.values.mean() for cell in cells])
        own = np.array([not cell.carried for cell in cells])
        spread = np.nan_to_num([cell.values.std(ddof=1) for cell in cells])
        ax.errorbar(x[own], mean[own], yerr=spread[own], elinewidth=0.6, capsize=1.0, capthick=0.6, **drawn)
        if not own.all():
            # from the last own point on, so that the pale line hangs together with the other one
            start = max(int(np.argmin(own)) - 1, 0)
            ax.plot(x[start:], mean[start:], color=drawn["color"], linestyle=drawn["linestyle"], alpha=0.35, zorder=1)
    for position, control in enumerate(spec["controls"]):
        values = by_repeat(select(rows, method=control["method"], variant=control["variant"]))
        if len(values):
            drawn = drawn_as(look(control["method"], looks, control["variant"])) | {"linestyle": "none"}
            spread = np.nan_to_num(values.std(ddof=1))
            ax.errorbar(n_steps + position, values.mean(), yerr=spread, elinewidth=0.6, capsize=1.0, **drawn)
    if spec["controls"]:
        ax.axvline(n_steps - 0.5, color="#888888", linewidth=0.6, linestyle="dashed")
    ax.yaxis.set_major_locator(MaxNLocator(6))
