"""Ratios of times as dots with their quartiles on one logarithmic axis, each with the bar that it should keep."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from rfstudy.report.comparisons import Comparison, comparisons, threads_of
from rfstudy.report.context import Context
from rfstudy.report.style import TEXT_WIDTH, Picture, style

#: The keys of an entry of this kind beside those of all.
SCHEMA = {}


COLOUR = "#0072B2"

#: Faces of the dots by verdict; a ratio without a verdict has that of the rest.
FACES = {"kept": COLOUR, "missed": "white"}
NO_VERDICT = "#BBBBBB"


def draw(context: Context, spec: dict) -> Picture:
    """One row per comparison: a dot at the median ratio, a line between its quartiles, an upright stroke at its bar."""
    frame = context.rows
    found = comparisons(frame)
    with style():
        figure, axes = plt.subplots(figsize=(TEXT_WIDTH, 0.9 + 0.2 * len(found)), layout="constrained")
        for row, each in enumerate(found):
            ratio = each.ratio
            axes.plot([ratio.value, each.at_most], [row, row], color="#CCCCCC", linewidth=0.8, zorder=1)
            axes.plot([ratio.lower, ratio.upper], [row, row], color=COLOUR, linewidth=2.2, zorder=2)
            axes.plot(each.at_most, row, marker="|", color="black", markersize=9, markeredgewidth=1.2, zorder=3)
            face = FACES.get(each.verdict, NO_VERDICT)
            axes.plot(ratio.value, row, marker="o", color=COLOUR, markerfacecolor=face, markersize=5, zorder=4)
        axes.axvline(1.0, color="#888888", linewidth=0.6, zorder=0)
        axes.set_yticks(range(len(found)), [_label(each) for each in found])
        axes.set_ylim(len(found) - 0.5, -0.5)
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_xlabel("ratio of times with its quartiles (filled: within its bar; grey: no verdict)")
        axes.grid(axis="y", visible=False)
    return Picture(figure, [note for note in [threads_of(frame)] if note])


def _label(each: Comparison) -> str:
    place = f" (d = {each.d})" if each.d else ""
    return f"{each.what}{place}  /  {each.against}"
