"""Curves over the number of features: one row of panels per data set, one panel per quantity, one line per method.

The survey's Figures 9 and 10 look like this: approximation error, generation time and the accuracy of two linear
classifiers against s, on four data sets. A panel without a number says why it has none.
"""

from __future__ import annotations

import textwrap
from string import ascii_lowercase

import matplotlib.ticker
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from rfstudy.metrics import fact_of
from rfstudy.report.aggregate import method_order, of_quantity, select
from rfstudy.report.context import Context
from rfstudy.report.looks import Look, look
from rfstudy.report.notes import absence, dataset_name, notes
from rfstudy.report.style import COLUMN_WIDTH, TEXT_WIDTH, Picture, drawn_as, handle, style
from rfstudy.report.times import summarise

#: The keys of an entry of this kind beside those of all.
SCHEMA = {
    "properties": {
        "datasets": {"$ref": "#/$defs/names"},
        "methods": {"$ref": "#/$defs/names"},
        "sizes": {"$ref": "#/$defs/names"},
        "repeats": {"$ref": "#/$defs/repeats"},
        "panels": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["metric", "label", "scale"],
                "properties": {
                    "metric": {"$ref": "#/$defs/text"},
                    "learner": {"$ref": "#/$defs/text"},
                    "split": {"$ref": "#/$defs/split"},
                    "label": {"$ref": "#/$defs/text"},
                    "scale": {"enum": ["linear", "log"]},
                },
            },
        },
    },
    "required": ["datasets", "methods", "sizes", "repeats", "panels"],
}


#: Lengths in inches; panels are placed by hand, so that those of one column stay aligned whatever their ticks say.
LEFT, RIGHT, BETWEEN = 0.37, 0.06, 0.40
ROW_TITLE, PANEL_TITLE, PANEL, TICKS, AXIS_LABEL = 0.19, 0.15, 1.08, 0.20, 0.14
LEGEND_LINE, NOTE_LINE, PAD = 0.16, 0.115, 0.06

NOTE_SIZE = 6.5
#: Width in inches of a character of a note, of one of the legend, and of a legend entry without its label; generous.
NOTE_CHARACTER, LEGEND_CHARACTER, LEGEND_HANDLE = 0.043, 0.06, 0.46

#: Methods are spread over this share of a doubling of s, so that their error bars do not hide one another.
DODGE = 0.24


def draw(context: Context, spec: dict) -> Picture:
    """The figure of one specification of kind "curves".

    Parameters
    ----------
    context : its rows are tidy rows of the specification's experiment
    spec : ``datasets`` (rows of the grid), ``panels`` (its columns: ``metric``, ``label``, ``scale`` and, where they
        matter, ``learner`` and ``split``), ``methods`` and ``sizes`` (their order; a method of the frame that is not
        listed is drawn too, after the others), ``paper``, ``repeats``

    Returns
    -------
    Picture as wide as a text block, or as a column if it has at most two panels side by side
    """
    frame = select(context.rows, dataset=spec["datasets"], n_features_label=spec["sizes"])
    shown = pd.concat([of_quantity(frame, panel) for panel in spec["panels"]])
    lines = method_order(shown, spec["methods"])
    looks = [look(method, context.looks, variant) for method, variant in lines]
    n_rows, n_columns = len(spec["datasets"]), len(spec["panels"])
    width = COLUMN_WIDTH if n_columns <= 2 else TEXT_WIDTH
    told = notes(shown, spec, context)
    remarks = textwrap.wrap(" ".join(told), int(width / NOTE_CHARACTER))
    legend_columns = _legend_columns([each.label for each in looks], width)
    legend_height = PAD + LEGEND_LINE * -(-len(looks) // legend_columns)
    row_height = ROW_TITLE + PANEL_TITLE + PANEL + TICKS
    height = legend_height + n_rows * row_height + AXIS_LABEL + NOTE_LINE * len(remarks) + 2 * PAD
    panel_width = (width - LEFT - RIGHT - (n_columns - 1) * BETWEEN) / n_columns
    with style():
        figure = Figure(figsize=(width, height))
        _legend(figure, looks, legend_columns, height)
        for i, dataset in enumerate(spec["datasets"]):
            rows = select(shown, dataset=dataset)
            top = height - legend_height - i * row_height
            title = f"({ascii_lowercase[i]}) {dataset_name(context.tasks, dataset, spec['paper'], rows)}"
            figure.text(0.5, (top - 0.04) / height, title, ha="center", va="top", fontsize=8.5)
            bottom = top - ROW_TITLE - PANEL_TITLE - PANEL
            for j, panel in enumerate(spec["panels"]):
                left = LEFT + j * (panel_width + BETWEEN)
                ax = figure.add_axes((left / width, bottom / height, panel_width / width, PANEL / height))
                ax.set_title(panel["label"], fontsize=7.5, pad=2.5)
                _panel(ax, rows, panel, lines, looks)
                if i == n_rows - 1:
                    below = {"ha": "center", "va": "top", "fontsize": 7.5, "transform": ax.transAxes}
                    ax.text(0.5, -TICKS / PANEL, "number of features s", **below)
        figure.text(PAD / width, PAD / height, "\n".join(remarks), fontsize=NOTE_SIZE, va="bottom", linespacing=1.15)
    return Picture(figure, told)


def _legend_columns(labels: list[str], width: float) -> int:
    """The most columns of a legend of these labels that fit; a column is as wide as its longest label."""
    for n in range(len(labels), 1, -1):
        depth = -(-len(labels) // n)
        longest = [max(map(len, labels[i : i + depth])) for i in range(0, len(labels), depth)]
        if sum(LEGEND_HANDLE + LEGEND_CHARACTER * characters for characters in longest) <= width:
            return n
    return 1


def _legend(figure: Figure, looks: list[Look], columns: int, height: float) -> None:
    figure.legend(
        handles=[handle(each) for each in looks],
        loc="upper center",
        bbox_to_anchor=(0.5, 1.0 - 0.3 * PAD / height),
        ncols=columns,
        borderpad=0.2,
        borderaxespad=0.0,
        handlelength=2.3,
        handletextpad=0.4,
        columnspacing=1.2,
        labelspacing=0.35,
    )


def _panel(ax, rows: pd.DataFrame, panel: dict, lines: list[tuple[str, str]], looks: list[Look]) -> None:
    """One quantity on one data set; ``rows`` are those of the data set."""
    own = of_quantity(rows, panel)
    cells = summarise(own)
    cells = cells[cells["n"] > 0]
    if not len(cells):
        ax.set(xticks=[], yticks=[])
        # times are taken apart from everything else: what was run need not have been timed
        not_timed = len(rows) and not len(own) and fact_of(panel["metric"]).unit == "s"
        why = "not timed" if not_timed else absence(own)
        text = "\n".join(textwrap.wrap(textwrap.shorten(why, 100, placeholder=" ..."), 24))
        ax.text(0.5, 0.5, text, ha="center", va="center", color="#555555", transform=ax.transAxes)
        return
    log = panel["scale"] == "log"
    ax.set_xscale("log", base=2)
    if log:
        ax.set_yscale("log")
    for position, ((method, variant), each) in enumerate(zip(lines, looks, strict=True)):
        cell = select(cells, method=method, variant=variant).sort_values("n_features")
        if not len(cell):
            continue
        shift = 2.0 ** (DODGE * ((position + 0.5) / len(lines) - 0.5))
        x, mean = cell["n_features"].to_numpy(dtype=float) * shift, cell["mean"].to_numpy()
        below, above = mean - cell["lower"].to_numpy(), cell["upper"].to_numpy() - mean
        # On a logarithmic axis a bar that reached zero would have no end.
        below = np.minimum(below, 0.9 * mean) if log else below
        ax.errorbar(x, mean, yerr=[below, above], elinewidth=0.6, capsize=1.0, capthick=0.6, **drawn_as(each))
        beside = cell["contended"].to_numpy(dtype=bool)
        if beside.any():
            ax.plot(x[beside], mean[beside], marker="x", color="black", markersize=5.0, linestyle="none", zorder=4)
    _size_axis(ax, cells)
    if log:
        _log_axis(ax)


def _size_axis(ax, cells: pd.DataFrame) -> None:
    """One tick per size, labelled as the paper counts it."""
    sizes = cells[["n_features", "n_features_label"]].drop_duplicates().sort_values("n_features")
    ax.set_xticks(sizes["n_features"].to_numpy(dtype=float), sizes["n_features_label"])
    ax.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())


def _log_axis(ax) -> None:
    """Plain numbers on a logarithmic axis: decades, and 2 and 5 between them where there are few decades."""
    low, high = ax.get_ylim()
    locator = matplotlib.ticker.LogLocator(subs=(1.0, 2.0, 5.0) if np.log10(high / low) < 2.0 else (1.0,))
    ticks = locator.tick_values(low, high)
    if np.sum((ticks >= low) & (ticks <= high)) < 2:  # one label alone gives no scale
        ax.set_ylim(ticks[ticks <= low].max(), ticks[ticks >= high].min())
    ax.yaxis.set_major_locator(locator)
    ax.yaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(_plain))
    ax.yaxis.set_minor_locator(matplotlib.ticker.NullLocator())


def _plain(value: float, _position) -> str:
    exponent = int(np.floor(np.log10(value) + 1e-9))
    if -3 <= exponent <= 3:
        return f"{value:.{max(0, -exponent)}f}"
    digit = round(value / 10.0**exponent)
    return f"$10^{{{exponent}}}$" if digit == 1 else f"${digit}{{\\cdot}}10^{{{exponent}}}$"
