"""Ratios of times as dots with their quartiles on one logarithmic axis, each with the bar that it should keep."""

from __future__ import annotations

import pandas as pd
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from rfstudy.report.comparisons import comparisons, threads_of
from rfstudy.report.context import Context
from rfstudy.report.layout import Panel, Row, laid_out
from rfstudy.report.notes import absence, not_drawn
from rfstudy.report.style import Picture

#: Keys of an entry of this kind, beside those of all entries.
REQUIRED = ("width",)


COLOUR = "#0072B2"

#: Faces of the dots by verdict; a ratio without a verdict has that of the rest.
FACES = {"kept": COLOUR, "missed": "white"}
NO_VERDICT = "#BBBBBB"

#: Inches that a comparison takes.
LINE = 0.17


def draw(context: Context, spec: dict) -> Picture:
    """One row per comparison: a dot at the median ratio, a line between its quartiles, an upright stroke at its bar."""
    found = comparisons(context.rows)
    rows = [Row([Panel(lambda ax: _panel(ax, found))], LINE * (len(found) + 1))] if len(found) else []
    told = [] if len(found) else not_drawn({absence(context.rows): ["all"]})
    return laid_out(spec["width"], rows, [], [*told, *filter(None, [threads_of(context.rows)])])


def _panel(ax, found: pd.DataFrame) -> None:
    quartiles = found[["lower quartile", "upper quartile"]].to_numpy()
    for row, (value, bar, verdict) in enumerate(zip(found["ratio"], found["at most"], found["verdict"], strict=True)):
        ax.plot([value, bar], [row, row], color="#CCCCCC", linewidth=0.8, zorder=1)
        ax.plot(quartiles[row], [row, row], color=COLOUR, linewidth=2.2, zorder=2)
        ax.plot(bar, row, marker="|", color="black", markersize=9, markeredgewidth=1.2, zorder=3)
        face = FACES.get(verdict, NO_VERDICT)
        ax.plot(value, row, marker="o", color=COLOUR, markerfacecolor=face, markersize=5, zorder=4)
    ax.axvline(1.0, color="#888888", linewidth=0.6, zorder=0)
    ax.set_yticks(range(len(found)), [_label(each) for each in found.itertuples()])
    ax.set_ylim(len(found) - 0.5, -0.5)
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("ratio of times with its quartiles (filled: within its bar; grey: no verdict)")
    ax.grid(axis="y", visible=False)


def _label(each) -> str:
    place = f" (d = {each.d})" if pd.notna(each.d) else ""
    return f"{each.what}{place}  /  {each.against}"
