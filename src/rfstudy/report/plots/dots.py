"""Means of named cells as dots: one line of the picture a row, one marker a column, error bars of one deviation."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from rfstudy.metrics import fact_of
from rfstudy.report.aggregate import by_repeat
from rfstudy.report.context import Context
from rfstudy.report.crossed import crossed
from rfstudy.report.layout import Panel, Row, laid_out
from rfstudy.report.notes import not_drawn, notes
from rfstudy.report.scales import limits, span_of
from rfstudy.report.style import Picture

#: Keys of an entry of this kind, beside those of all entries.
REQUIRED = ("width", "quantity", "lines", "columns")
OPTIONAL = ("repeats",)

#: Colours that stay apart under the common colour-vision deficiencies (Okabe and Ito 2008), and markers.
COLOURS = ("#000000", "#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

#: Inches that a row takes; columns are spread over this share of it, so that their bars do not hide one another.
LINE, DODGE = 0.3, 0.6


def draw(context: Context, spec: dict) -> Picture:
    """The figure of one specification of kind "dots": ``quantity``, ``lines`` and ``columns`` as in ``crossed``."""
    found = {place: rows for place, rows in crossed(context, spec).items() if len(rows)}
    cells = {place: values for place, rows in found.items() if len(values := by_repeat(rows))}
    rows = [line["label"] for line in spec["lines"] if any(place[0] == line["label"] for place in cells)]
    columns = [column["label"] for column in spec["columns"]]
    missing = [line["label"] for line in spec["lines"] if line["label"] not in rows]
    shown = pd.concat([context.rows.iloc[:0], *found.values()])
    remarks = [
        "Bars: one standard deviation over the repeats.",
        *(not_drawn({"not run": missing}) if missing else []),
        *notes(shown[~shown.index.duplicated()], spec, context),
    ]
    if not rows:
        return laid_out(spec["width"], [], [], remarks)
    ends = [values.mean() + side * _spread(values) for values in cells.values() for side in (-1, 1)]

    def panel(ax):
        for j, column in enumerate(columns):
            there = [(i, cells[row, column]) for i, row in enumerate(rows) if (row, column) in cells]
            if not there:
                continue
            y = np.array([i for i, _ in there]) + DODGE * ((j + 0.5) / len(columns) - 0.5)
            mean, spread = np.array([(values.mean(), _spread(values)) for _, values in there]).T
            ax.errorbar(mean, y, xerr=spread, linestyle="none", elinewidth=0.6, **_looks(j))
        ax.set_yticks(range(len(rows)), rows)
        ax.set_ylim(len(rows) - 0.5, -0.5)
        ax.set_xlim(limits(span_of(ends, log=False), log=False))
        ax.xaxis.set_major_locator(MaxNLocator(6))
        ax.grid(axis="x", linewidth=0.3)
        fact = fact_of(spec["quantity"]["metric"])
        ax.set_xlabel(f"{fact.label} ({fact.unit})" if fact.unit else fact.label)

    legend = [Line2D([], [], label=column, linestyle="none", **_looks(j)) for j, column in enumerate(columns)]
    return laid_out(spec["width"], [Row([Panel(panel)], LINE * len(rows) + 0.2)], legend, remarks)


def _spread(values) -> float:
    return float(np.nan_to_num(values.std(ddof=1)))


def _looks(position: int) -> dict:
    colour = COLOURS[position % len(COLOURS)]
    return {"color": colour, "marker": MARKERS[position % len(MARKERS)], "markersize": 4}
