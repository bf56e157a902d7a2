"""Ratios of times as dots with their quartiles on one logarithmic axis, each with the largest that it may be."""

import pandas as pd

from rfstudy.report.context import Context
from rfstudy.report.notes import absence
from rfstudy.report.panels import grid, log_axis, nothing
from rfstudy.report.style import Picture
from rfstudy.report.tables.ratios import comparisons, threads_of

#: Faces of the dots by verdict; a ratio without a verdict is grey.
COLOUR = "#0072B2"
FACES = {"kept": COLOUR, "missed": "white"}
NO_VERDICT = "#BBBBBB"

#: Inches of a row.
ROW = 0.17


def draw(context: Context, *, width: str) -> Picture:
    """Return the figure: a dot at the median ratio, a line between its quartiles, an upright stroke at its bar."""
    found = comparisons(context.rows)
    if not len(found):
        return nothing(width, {"all": absence(context.rows)})
    figure, ((ax,),) = grid(width, 1, 1, ROW * len(found) + 0.4)
    quartiles = found[["lower quartile", "upper quartile"]].to_numpy()
    for row, (value, bar, verdict) in enumerate(zip(found["ratio"], found["at most"], found["verdict"], strict=True)):
        ax.plot([value, bar], [row, row], color="#CCCCCC", linewidth=0.8, zorder=1)
        ax.plot(quartiles[row], [row, row], color=COLOUR, linewidth=2.2, zorder=2)
        ax.plot(bar, row, marker="|", color="black", markersize=9, markeredgewidth=1.2, zorder=3)
        face = FACES.get(verdict, NO_VERDICT)
        ax.plot(value, row, marker="o", color=COLOUR, markerfacecolor=face, markersize=5, zorder=4)
    ax.axvline(1.0, color="#888888", linewidth=0.6, zorder=0)
    dimensions = [f" (d = {d})" if pd.notna(d) else "" for d in found["d"]]
    ax.set_yticks(range(len(found)), found["what"] + dimensions + "  /  " + found["against"])
    ax.set_ylim(len(found) - 0.5, -0.5)
    log_axis(ax.xaxis)
    ax.set_xlabel("ratio of times with its quartiles")
    ax.grid(axis="y", visible=False)
    remarks = ["Stroke: the largest ratio allowed. Filled: within it; hollow: beyond it; grey: no verdict."]
    return Picture(figure, notes=[*remarks, *filter(None, [threads_of(context.rows)])])
