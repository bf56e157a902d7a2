"""Published against measured: every number of a paper that can be compared, a panel per quantity and protocol.

The line is where the two are equal, the band around it the practical margin; colour and marker are the verdict.
"""

import textwrap

import numpy as np
import pandas as pd

from rfstudy.metrics import FACTS, fact_of
from rfstudy.report.compare import ERRORS
from rfstudy.report.context import Context
from rfstudy.report.panels import log_axis, side_by_side
from rfstudy.report.plot_styles import PlotStyle
from rfstudy.report.scorecard import counts, quantity_in_words
from rfstudy.report.scorecard import scorecard as compared
from rfstudy.report.style import Picture, drawn_as

#: Which published numbers of the scorecard are shown: those of the paper.
SCORED = "paper"

#: Inches of a panel, characters of a line of its title, and from how many quantities on two of them are in one row.
HEIGHT, TITLE, MOST = 1.95, 28, 4

#: All counts of rows and columns share one panel.
COUNTS = "rows and columns of the data"

#: Plot styles of the verdicts.
STYLES = {
    "reproduced": PlotStyle("reproduced", "#0072B2", "o", "none"),
    "better": PlotStyle("better", "#009E73", "^", "none"),
    "worse": PlotStyle("worse", "#D55E00", "v", "none"),
    "too noisy": PlotStyle("too noisy", "#999999", "s", "none", hollow=True),
    "not comparable": PlotStyle("not comparable", "#000000", "x", "none"),
}


def draw(context: Context, *, paper: str, width: str, experiments: list[str], scorecard: dict) -> Picture:
    """Return the figure: quantities from top to bottom, protocols side by side; of many quantities two in a row."""
    cells = compared(context, {"paper": paper, "experiments": experiments, "scorecard": scorecard})
    cells["panel"] = [panel_of(cell, context.styles) for cell in cells.itertuples()]
    is_shown = cells["difference"].notna()
    shown, hidden = cells[is_shown], cells[~is_shown]
    panels = dict(iter(shown.groupby(["panel", "protocol"])))
    quantities = sorted(shown["panel"].unique(), key=lambda quantity: quantity == COUNTS)
    protocols = list(shown["protocol"].unique())
    places = [(quantity, protocol) for quantity in quantities for protocol in protocols]
    figure, axes = side_by_side(width, len(places), len(protocols) * (2 if len(quantities) > MOST else 1), HEIGHT)
    for place, ax in zip(places, axes, strict=True):
        if place in panels:
            _draw_panel(ax, panels[place])
            ax.set_title(textwrap.fill(", ".join(place), TITLE))
        else:
            ax.remove()
    remarks = [f"Line: equal; band: the practical margin; bars: {ERRORS:g} standard errors of the difference."]
    remarks += [counts(shown, "Shown")] if len(shown) else []
    remarks += [counts(hidden, "Not shown, for there is nothing to compare")] if len(hidden) else []
    verdicts = set(shown["verdict"])
    return Picture(figure, [STYLES[verdict] for verdict in STYLES if verdict in verdicts], remarks)


def panel_of(cell, styles: dict) -> str:
    """Return the quantity of a panel, with its unit; all counts share one."""
    fact = FACTS[cell.metric]
    if fact.tolerance is None:
        return COUNTS
    return quantity_in_words(cell, styles) + (f" ({fact.unit})" if fact.unit and not cell.over else "")


def _draw_panel(ax, cells: pd.DataFrame) -> None:
    """Draw one panel: equal axes, the line of equality with its band, and the numbers with their error bars."""
    metric = cells["metric"].iloc[0]
    x, y = cells["published"].to_numpy(), cells["value"].to_numpy()
    errors = ERRORS * cells["standard_error"].fillna(0.0).to_numpy()
    is_log = not fact_of(metric).is_percentage
    low, high = limits(np.concatenate([x, y, y - errors, y + errors]), is_log)
    line = np.geomspace(low, high, 200) if is_log else np.linspace(low, high, 200)
    margin = np.array([FACTS[metric].margin(value) for value in line])
    ax.fill_between(line, line - margin, line + margin, color="#DDDDDD", linewidth=0, zorder=0)
    ax.plot(line, line, color="#555555", linewidth=0.6, zorder=1)
    for verdict in reversed(STYLES):  # what a reader must not miss is drawn last
        own = (cells["verdict"] == verdict).to_numpy()
        if own.any():
            ax.errorbar(x[own], y[own], yerr=errors[own], elinewidth=0.5, zorder=2, **drawn_as(STYLES[verdict]))
    ax.set(xlim=(low, high), ylim=(low, high), xlabel="published", ylabel="ours")
    if is_log:
        log_axis(ax.xaxis)
        log_axis(ax.yaxis)


def limits(values: np.ndarray, is_log: bool) -> tuple[float, float]:
    """Return the ends of both axes: all values (on a logarithmic axis the positive ones) with a margin of 6 %."""
    values = np.log(values[values > 0]) if is_log else values
    pad = 0.06 * (values.max() - values.min()) or 0.5
    ends = np.array([values.min() - pad, values.max() + pad])
    return tuple(np.exp(ends) if is_log else ends)
