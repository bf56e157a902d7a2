"""Printed against ours: every number of a paper that can be compared, a panel a quantity and protocol.

The line is where the two are equal, the band around it the practical margin; colour and marker are the verdict. What
was not run has no panel.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.lines import Line2D

from rfstudy.metrics import FACTS, fact_of
from rfstudy.report.context import Context
from rfstudy.report.layout import Panel, laid_out, side_by_side
from rfstudy.report.matching import Compared, compared, counts, quantity_in_words
from rfstudy.report.scales import Span, set_both
from rfstudy.report.scorecard import ERRORS, VERDICTS
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
    cells = compared(context, spec)
    panels: dict[tuple[str, str], list[Compared]] = {}
    for each in cells:
        if each.score.difference is not None:
            panels.setdefault((_panel_of(each, context.styles), each.protocol), []).append(each)
    quantities = sorted(dict.fromkeys(quantity for quantity, _ in panels), key=lambda quantity: quantity == COUNTS)
    protocols = list(dict.fromkeys(protocol for _, protocol in panels))
    drawn = [
        _panel(panels.get((quantity, protocol)), quantity, protocol)
        for quantity in quantities
        for protocol in protocols
    ]
    across = len(protocols) * (2 if len(quantities) > MOST else 1)
    rows = side_by_side(drawn, across, PANEL)
    legend = [
        Line2D([], [], linestyle="none", label=verdict, **_drawn(verdict))
        for verdict in MARKS
        if any(each.score.verdict == verdict for of_panel in panels.values() for each in of_panel)
    ]
    return laid_out(spec["width"], rows, legend, _notes(cells))


def _panel(cells: list[Compared] | None, quantity: str, protocol: str) -> Panel | None:
    if not cells:
        return None
    return Panel(lambda ax: _draw_panel(ax, cells), f"{quantity}, {protocol}")


def _panel_of(each: Compared, styles: dict) -> str:
    """What a panel is of, with its unit; all counts share one."""
    fact = FACTS[each.place.metric]
    if fact.tolerance is None:
        return COUNTS
    return quantity_in_words(each, styles) + (f" ({fact.unit})" if fact.unit and not each.over else "")


def _drawn(verdict: str) -> dict:
    mark = MARKS[verdict]
    face = "none" if mark.hollow else mark.colour
    return {"color": mark.colour, "marker": mark.marker, "markerfacecolor": face, "markeredgewidth": 0.7}


def _draw_panel(ax, cells: list[Compared]) -> None:
    """One panel: equal axes, the line of equality with its band, and the numbers with three standard errors."""
    metric = cells[0].place.metric
    x = np.array([each.published.value for each in cells])
    y = np.array([each.ours.value for each in cells])
    errors = np.array([ERRORS * (each.score.error or 0.0) for each in cells])
    is_log = not fact_of(metric).is_percentage
    ends = np.concatenate([x, y, y - errors, y + errors])
    low, high = _limits(ends[ends > 0] if is_log else ends, is_log)
    set_both(ax, Span(low, high), log=is_log)
    ax.set(xlabel="printed", ylabel="ours")
    line = np.geomspace(low, high, 200) if is_log else np.linspace(low, high, 200)
    margin = np.array([FACTS[metric].margin(value) for value in line])
    ax.fill_between(line, line - margin, line + margin, color="#DDDDDD", linewidth=0, zorder=0)
    ax.plot(line, line, color="#555555", linewidth=0.6, zorder=1)
    verdicts = [each.score.verdict for each in cells]
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
    told = "\n".join(f"{verdicts.count(word)} {word}" for word in VERDICTS if word in verdicts)
    is_above = np.mean(y > x) > 0.5
    place = {"x": 0.97, "y": 0.03, "ha": "right", "va": "bottom"} if is_above else {"x": 0.03, "y": 0.97, "va": "top"}
    ax.text(**place, s=told, transform=ax.transAxes, fontsize=SMALL, linespacing=1.1)


def _limits(values: np.ndarray, is_log: bool) -> tuple[float, float]:
    """Ends of both axes: all values, those of the bars among them, with a margin of 6 % of their range."""
    low, high = (np.log(values) if is_log else values).min(), (np.log(values) if is_log else values).max()
    pad = 0.06 * (high - low) or 0.5
    ends = np.array([low - pad, high + pad])
    return tuple(np.exp(ends) if is_log else ends)


def _notes(cells: list[Compared]) -> list[str]:
    """What the picture shows and what it does not."""
    shown = [each for each in cells if each.score.difference is not None]
    hidden = [each for each in cells if each.score.difference is None]
    told = []
    if shown:
        told.append(f"Line: equal; band: the practical margin; bars: {ERRORS:g} standard errors of the difference.")
        told.append(counts(shown, "Shown"))
    told += [counts(hidden, "Not shown, for there is nothing to compare")] if hidden else []
    return told
