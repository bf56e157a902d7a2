"""Figures made of panels: lines with error bars or bands, one legend above all panels and two lines of notes below."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from rfstudy.report.aggregate import select
from rfstudy.report.context import Context
from rfstudy.report.notes import absence, not_drawn
from rfstudy.report.plot_styles import PlotStyle
from rfstudy.report.published import printed_name
from rfstudy.report.style import SMALLEST, Picture, drawn_as

#: Inches that a figure is wide in print: one of two columns, and the text of a page.
WIDTHS = {"column": 3.5, "page": 7.16}

#: Inches of a line of the legend and of the notes, of an entry of the legend without its label, and of a character.
LEGEND_LINE, NOTE_LINE, HANDLE, CHARACTER = 0.16, 0.12, 0.42, 0.055

#: Characters of a line of the title of one of four panels.
TITLE = 28

#: Lines of notes under a figure, and characters of an inch of them.
NOTE_LINES, PER_INCH = 2, 25

#: The text of a figure without panels.
NOTHING = "No measurements to show."

#: A linear axis is cut where one line makes it more than so many times as long as the others need.
FLATTENED = 3.0


def grid(width: str, n_rows: int, n_columns: int, height: float) -> tuple[Figure, np.ndarray]:
    """Return a figure of a width ("column" or "page") and its axes in rows, each row so many inches high."""
    figure = Figure(figsize=(WIDTHS[width], n_rows * height), layout="constrained")
    return figure, figure.subplots(n_rows, n_columns, squeeze=False)


def side_by_side(width: str, n: int, most: int, height: float) -> tuple[Figure, list[Axes]]:
    """Return a figure and n axes, up to ``most`` in a row."""
    columns = max(1, min(most, n))
    figure, axes = grid(width, max(1, -(-n // columns)), columns, height)
    for ax in axes.flat[n:]:
        ax.remove()
    return figure, list(axes.flat[:n])


def nothing(width: str, notes: list[str]) -> Picture:
    """Return the picture of a figure that no measurements are there for."""
    return finished(Figure(figsize=(WIDTHS[width], 1.0), layout="constrained"), [], notes)


def set_title(ax: Axes, letter: str, name: str) -> None:
    """Give one of four panels in a row its letter and name, in lines that are not wider than the panel."""
    ax.set_title(textwrap.fill(f"({letter}) {name}", TITLE), loc="left")


def finished(figure: Figure, handles: Sequence[Line2D], notes: list[str]) -> Picture:
    """Return the picture of a figure whose panels are drawn, with its legend and the notes that fit in two lines."""
    width, height = figure.get_size_inches()
    if not figure.axes:
        figure.text(0.5, 0.5, NOTHING, ha="center", va="center")
        handles, height = [], 4 * NOTE_LINE
    if handles:
        widths = [HANDLE + CHARACTER * length(handle.get_label()) for handle in handles]
        lines = next(
            lines
            for lines in range(1, len(widths) + 1)
            if sum(max(widths[i : i + lines]) for i in range(0, len(widths), lines)) <= width or lines == len(widths)
        )
        figure.legend(handles=handles, loc="outside upper center", ncols=-(-len(handles) // lines))
        height += LEGEND_LINE * lines
    shown = first_notes(notes, int(PER_INCH * width))
    if shown:
        figure.supxlabel("\n".join(shown), x=0.01, ha="left", fontsize=SMALLEST, parse_math=False)
        height += NOTE_LINE * len(shown)
    figure.set_size_inches(width, height)
    return Picture(figure, notes)


def length(text: str) -> int:
    """Return how many characters wide a text is, perhaps with mathematics in it."""
    return len(re.sub(r"\\[a-zA-Z]+", "m", text)) - len(re.findall(r"[${}^_]", text))


def first_notes(notes: list[str], characters: int) -> list[str]:
    """Return the lines of the notes that fit under a figure, each whole; the others are in its ``.txt`` alone."""
    shown = ""
    for note in notes:
        longer = f"{shown} {note}".strip()
        shown = longer if len(textwrap.wrap(longer, characters)) <= NOTE_LINES else shown
    return textwrap.wrap(shown, characters)


def without_panel(frame: pd.DataFrame, datasets: list[str], paper: str, context: Context) -> list[str]:
    """Return a sentence on the data sets none of whose rows is ok, by the reason."""
    by_reason: dict[str, list[str]] = {}
    for dataset in datasets:
        own = select(frame, dataset=dataset)
        if not (own["status"] == "ok").any():
            name = printed_name(context.tasks, dataset, paper)
            by_reason.setdefault(absence(own).split(":")[0], []).append(name)
    return not_drawn(by_reason)


def draw_lines(
    ax: Axes,
    cells: pd.DataFrame,
    styles: dict[str, PlotStyle],
    *,
    spread: float = 0.0,
    doublings: bool = False,
    band: bool = False,
) -> None:
    """Draw a line with error bars (or a band) for each plot style that has cells.

    Parameters
    ----------
    cells : a row per point: ``line`` (a key of ``styles``), ``x`` (missing for a level line), ``mean``, ``lower`` and
        ``upper``, perhaps ``left`` and ``right`` (ends of horizontal bars) and ``machine_busy`` (marked by a cross)
    spread : share of the smallest step of x over which lines are spread, so that their bars do not hide one another
    doublings : whether x is logarithmic, so that its steps are ratios
    """
    groups = dict(list(cells.sort_values("x", kind="stable").groupby("line", sort=False)))
    present = [line for line in styles if line in groups]
    along = np.unique(cells["x"].dropna().to_numpy(dtype=float))
    steps = np.diff(np.log2(along) if doublings else along)
    step = steps.min() if len(steps) else 1.0
    for position, line in enumerate(present):
        own, drawn = groups[line], drawn_as(styles[line])
        x, mean, lower, upper = own[["x", "mean", "lower", "upper"]].to_numpy(dtype=float).T
        if np.isnan(x).all():
            ax.axhspan(lower[0], upper[0], color=drawn["color"], alpha=0.12, linewidth=0, zorder=0.5)
            ax.axhline(mean[0], color=drawn["color"], linestyle=drawn["linestyle"], linewidth=0.9, zorder=1.5)
            continue
        shift = spread * step * ((position + 0.5) / len(present) - 0.5)
        x = x * 2.0**shift if doublings else x + shift
        if band:
            ax.fill_between(x, lower, upper, color=drawn["color"], alpha=0.2, linewidth=0)
            ax.plot(x, mean, **drawn)
            continue
        across = [x - own["left"], own["right"] - x] if "left" in own else None
        ax.errorbar(x, mean, yerr=[mean - lower, upper - mean], xerr=across, elinewidth=0.6, **drawn)
        busy = own.get("machine_busy", pd.Series(False, own.index)).to_numpy(dtype=bool)
        if busy.any():
            ax.plot(x[busy], mean[busy], marker="x", color="black", markersize=5.0, linestyle="none", zorder=4)


def draw_dots(
    ax: Axes, cells: pd.DataFrame, styles: dict[str, PlotStyle], labels: Sequence[str], spread: float
) -> None:
    """Draw means with horizontal error bars, a row of the panel per label; methods are spread over a share of the row.

    ``cells`` has ``line`` (a key of ``styles``), ``row`` (a position among the labels), ``mean``, ``lower`` and
    ``upper``; paler ones are ``pale``.
    """
    for position, (line, each) in enumerate(styles.items()):
        drawn = drawn_as(each) | {"linestyle": "none"}
        for pale, own in cells[cells["line"] == line].groupby("pale"):
            y = own["row"].to_numpy() + spread * ((position + 0.5) / len(styles) - 0.5)
            mean, lower, upper = own[["mean", "lower", "upper"]].to_numpy(dtype=float).T
            if pale:
                ax.plot(mean, y, **drawn, alpha=0.35)
            else:
                ax.errorbar(mean, y, xerr=[mean - lower, upper - mean], elinewidth=0.6, **drawn)
    ax.set_yticks(range(len(labels)), labels)
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.xaxis.set_major_locator(MaxNLocator(5))


def log_axis(axis) -> None:
    """Make an axis logarithmic, with some two to six ticks whose labels need no exponents; all is drawn before."""
    name = axis.axis_name
    getattr(axis.axes, f"set_{name}scale")("log")
    low, high = axis.get_view_interval()
    decades = np.log10(high / low)
    if decades < 0.9:
        axis.set_major_locator(MaxNLocator(4, min_n_ticks=3))
    else:
        subs = (1.0, 2.0, 5.0) if decades < 2.0 else (1.0, 3.0) if decades < 3.2 else (1.0,)
        axis.set_major_locator(LogLocator(subs=subs, numticks=20 if decades < 3.2 else 4 if name == "x" else 6))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(NullFormatter())
    axis.set_tick_params(which="minor", length=0)


def cut_outlier(ax: Axes, cells: pd.DataFrame, styles: dict[str, PlotStyle], always: Sequence[float] = ()) -> None:
    """Cut an upright axis that one line makes over ``FLATTENED`` times as long, and write its values on the panel.

    ``always`` are values that the axis shows in any case.
    """
    transform = ax.yaxis.get_transform()
    ends = cells[["mean", "lower", "upper"]]
    # the ends of bars that a logarithmic axis cannot show are those of their means
    ends = ends.where(ends > 0).bfill(axis="columns") if ax.get_yscale() == "log" else ends
    spans = pd.DataFrame({"line": cells["line"], "low": transform.transform(ends.min(axis=1)),
                          "high": transform.transform(ends.max(axis=1))})  # fmt: skip
    spans = spans.groupby("line").agg(low=("low", "min"), high=("high", "max"))
    fixed = transform.transform(np.array(always)).tolist()
    for line in spans.index if len(spans) > 2 else []:
        others, own = spans.drop(line), spans.loc[line]
        low, high = min([others["low"].min(), *fixed]), max([others["high"].max(), *fixed])
        if 0 < FLATTENED * (high - low) < max(high, own["high"]) - min(low, own["low"]):
            margin = 0.08 * (high - low)
            ax.set_ylim(transform.inverted().transform([low - margin, high + margin]))
            means = cells.loc[cells["line"] == line, "mean"]
            below = own["low"] < low
            text = f"{styles[line].label} {means.min():.3g} to {means.max():.3g} {'↓' if below else '↑'}"
            y, upright = (0.03, "bottom") if below else (0.97, "top")
            ax.text(0.97, y, text, ha="right", va=upright, fontsize=SMALLEST, color=styles[line].colour,
                    transform=ax.transAxes, bbox={"facecolor": "white", "linewidth": 0, "pad": 1})  # fmt: skip
            return
