"""Printed against ours: every number of a paper that can be compared, a panel a quantity and protocol.

The line is where the two are equal, the band around it the practical margin; colour and marker are the verdict. What
was not run has no panel.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from rfstudy.metrics import FACTS, fact_of
from rfstudy.report.compare import CELL_VERDICTS, ERRORS
from rfstudy.report.context import Context
from rfstudy.report.layout import Panel, laid_out, side_by_side
from rfstudy.report.scales import Span, set_both
from rfstudy.report.scorecard import counts, quantity_in_words, scorecard
from rfstudy.report.style import Picture

#: Keys of an entry of this kind, beside those of all entries.
REQUIRED = ("width",)

#: Which printed numbers of the scorecard it is told of: those of its paper.
SCORED = "paper"

#: Inches: the height of a panel.
PANEL = 1.95

#: From how many quantities on two of them stand side by side: more rows than these fill a page.
MOST = 4

#: What all counts of rows and columns share as a panel.
COUNTS = "rows and columns of the data"

#: Points of the smallest texts.
SMALL = 6.5


class Mark(NamedTuple):
    """How a verdict is drawn."""

    colour: str
    marker: str
    hollow: bool = False


#: Colours that every reader tells apart (Okabe and Ito), and markers for whom sees none.
MARKS = {
    "reproduced": Mark("#0072B2", "o"),
    "better": Mark("#009E73", "^"),
    "worse": Mark("#D55E00", "v"),
    "too noisy": Mark("#999999", "s", hollow=True),
    "not comparable": Mark("#000000", "x", hollow=True),
}


def draw(context: Context, spec: dict) -> Picture:
    """The figure of one specification of kind "printed": quantities from top to bottom, protocols side by side;
    of many quantities two a row.

    Parameters
    ----------
    context : rows of all experiments of the specification
    spec : ``paper``, ``experiments``, ``scorecard`` and ``width``
    """
    cells = scorecard(context, spec)
    cells["panel"] = [_panel_of(cell, context.styles) for cell in cells.itertuples()]
    shown = cells[cells["difference"].notna()]
    panels = dict(iter(shown.groupby(["panel", "protocol"])))
    quantities = sorted(shown["panel"].unique(), key=lambda quantity: quantity == COUNTS)
    drawn = [
        _panel(panels.get((quantity, protocol)), quantity, protocol)
        for quantity in quantities
        for protocol in shown["protocol"].unique()
    ]
    across = shown["protocol"].nunique() * (2 if len(quantities) > MOST else 1)
    rows = side_by_side(drawn, across, PANEL)
    legend = [
        Line2D([], [], linestyle="none", label=verdict, **_drawn(verdict))
        for verdict in MARKS
        if verdict in set(shown["verdict"])
    ]
    return laid_out(spec["width"], rows, legend, _notes(cells))


def _panel(cells: pd.DataFrame | None, quantity: str, protocol: str) -> Panel | None:
    if cells is None:
        return None
    return Panel(lambda ax: _draw_panel(ax, cells), f"{quantity}, {protocol}")


def _panel_of(cell, styles: dict) -> str:
    """What a panel is of, with its unit; all counts share one."""
    fact = FACTS[cell.metric]
    if fact.tolerance is None:
        return COUNTS
    return quantity_in_words(cell, styles) + (f" ({fact.unit})" if fact.unit and not cell.over else "")


def _drawn(verdict: str) -> dict:
    mark = MARKS[verdict]
    face = "none" if mark.hollow else mark.colour
    return {"color": mark.colour, "marker": mark.marker, "markerfacecolor": face, "markeredgewidth": 0.7}


def _draw_panel(ax, cells: pd.DataFrame) -> None:
    """One panel: equal axes, the line of equality with its band, and the numbers with three standard errors."""
    metric = cells["metric"].iloc[0]
    x, y = cells["published"].to_numpy(), cells["value"].to_numpy()
    errors = ERRORS * cells["standard_error"].fillna(0.0).to_numpy()
    is_log = not fact_of(metric).is_percentage
    ends = np.concatenate([x, y, y - errors, y + errors])
    low, high = _limits(ends[ends > 0] if is_log else ends, is_log)
    set_both(ax, Span(low, high), log=is_log)
    ax.set(xlabel="printed", ylabel="ours")
    line = np.geomspace(low, high, 200) if is_log else np.linspace(low, high, 200)
    margin = np.array([FACTS[metric].margin(value) for value in line])
    ax.fill_between(line, line - margin, line + margin, color="#DDDDDD", linewidth=0, zorder=0)
    ax.plot(line, line, color="#555555", linewidth=0.6, zorder=1)
    verdicts = list(cells["verdict"])
    # what is drawn last is what a reader must not miss
    for verdict in reversed(MARKS):
        chosen = [i for i, each in enumerate(verdicts) if each == verdict]
        if not chosen:
            continue
        above = errors[chosen]
        below = np.minimum(above, y[chosen] - low / 10) if is_log else above
        ax.errorbar(
            x[chosen], y[chosen], yerr=(below, above), linestyle="none", elinewidth=0.5, label=verdict, zorder=2,
            **_drawn(verdict),
        )  # fmt: skip
    told = "\n".join(f"{verdicts.count(word)} {word}" for word in CELL_VERDICTS if word in verdicts)
    is_above = np.mean(y > x) > 0.5
    place = {"x": 0.97, "y": 0.03, "ha": "right", "va": "bottom"} if is_above else {"x": 0.03, "y": 0.97, "va": "top"}
    ax.text(**place, s=told, transform=ax.transAxes, fontsize=SMALL, linespacing=1.1)


def _limits(values: np.ndarray, is_log: bool) -> tuple[float, float]:
    """Ends of both axes: all values, those of the bars among them, with a margin of 6 % of their range."""
    low, high = (np.log(values) if is_log else values).min(), (np.log(values) if is_log else values).max()
    pad = 0.06 * (high - low) or 0.5
    ends = np.array([low - pad, high + pad])
    return tuple(np.exp(ends) if is_log else ends)


def _notes(cells: pd.DataFrame) -> list[str]:
    """What the picture shows and what it does not."""
    has_difference = cells["difference"].notna()
    shown, hidden = cells[has_difference], cells[~has_difference]
    told = []
    if len(shown):
        told.append(f"Line: equal; band: the practical margin; bars: {ERRORS:g} standard errors of the difference.")
        told.append(counts(shown, "Shown"))
    told += [counts(hidden, "Not shown, for there is nothing to compare")] if len(hidden) else []
    return told
