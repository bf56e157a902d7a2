"""Time per row against the number of columns: where a fast transform overtakes the product with a dense matrix.

A column per kernel shows microseconds per row at s = d, and below the same times over those of a dense reference: a
structured map pays where its line falls below 1. A ring marks the place. Lines are medians over the rounds and bands
quartiles.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.ticker import NullFormatter, NullLocator

from rfstudy.report.aggregate import select
from rfstudy.report.comparisons import threads_of
from rfstudy.report.context import Context
from rfstudy.report.notes import machine_busy_where
from rfstudy.report.panels import draw_lines, finished, grid, log_axis, not_drawn, nothing
from rfstudy.report.plot_styles import PlotStyle, plot_style
from rfstudy.report.style import Picture
from rfstudy.report.times import TOO_WIDE, by_rounds, ratio

#: Inches of a panel.
HEIGHT = 1.5

#: Markers of scikit-learn's transformers.
PEER_MARKERS = ("x", "+", "1", "2")


def draw(context: Context, *, width: str, panels: list[dict]) -> Picture:
    """Return the figure.

    Parameters
    ----------
    context : its rows are tidy rows by rounds of the metric ``time_transform_s``, the time of ``n_train`` rows; a row
        without a method is scikit-learn's, named by its variant
    panels : a kernel each: ``kernel``, ``label``, ``reference`` (the method that the others are divided by) and
        ``methods`` (their order)
    """
    frame = select(by_rounds(context.rows), metric="time_transform_s", status="ok")
    there = [panel for panel in panels if len(select(frame, kernel=panel["kernel"], method=panel["reference"]))]
    missing = {panel["label"]: "not run" for panel in panels if panel not in there}
    if not there:
        return nothing(width, missing)
    figure, axes = grid(width, 2, len(there), HEIGHT)
    entries, remarks = [], not_drawn(missing)
    for panel, (times, ratios) in zip(there, axes.T, strict=True):
        rows = select(frame, kernel=panel["kernel"])
        styles = styles_of(rows, panel["methods"], context.styles)
        of_times, of_ratios = cells_of(rows, panel["reference"])
        for ax, cells in ((times, of_times), (ratios, of_ratios)):
            draw_lines(ax, cells, styles, band=True)
            log_axis(ax.yaxis)
            ax.set_xscale("log", base=2)
            dimensions = np.unique(of_times["x"])
            ax.set_xticks(dimensions, [f"{d:.0f}" for d in dimensions])
            ax.xaxis.set_minor_locator(NullLocator())
            ax.xaxis.set_minor_formatter(NullFormatter())
        ratios.axhline(1.0, color="black", linewidth=0.6, zorder=1)
        places = crossings(of_ratios[of_ratios["line"].isin(panel["methods"])], panel["reference"])
        for method, place in places.items():
            if not isinstance(place, str):
                ratios.plot(place, 1.0, marker="o", markersize=6.5, markerfacecolor="none", zorder=4, linestyle="none",
                            color=styles[method].colour)  # fmt: skip
        dense = styles[panel["reference"]].label
        remarks.append(_in_words(places, styles, panel["label"], dense))
        times.set_title(panel["label"])
        times.set_ylabel("microseconds per row")
        ratios.set_ylabel(f"time / {dense}'s")
        ratios.set_xlabel("columns d = number of features s")
        entries += styles.values()
    frame = select(frame, kernel=[panel["kernel"] for panel in there])
    disturbed = machine_busy_where(frame, context.styles, "d")
    remarks += [threads_of(frame), f"Other work ran at the same time: {disturbed}." if disturbed else ""]
    return finished(figure, entries, list(filter(None, remarks)))


def styles_of(rows: pd.DataFrame, methods: list[str], registry: dict) -> dict[str, PlotStyle]:
    """Return the plot styles of the methods that were timed, then those of scikit-learn's transformers, in grey."""
    timed = set(rows["method"])
    peers = sorted(set(select(rows, method="")["variant"]))
    own = {method: plot_style(method, registry) for method in methods if method in timed}
    return own | {
        peer: PlotStyle(f"{peer} (scikit-learn)", "#777777", marker, "dashed")
        for peer, marker in zip(peers, PEER_MARKERS, strict=False)
    }


def cells_of(rows: pd.DataFrame, reference: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return medians and quartiles over the rounds by line and dimension: of microseconds per row, and of ratios.

    Dimensions without the reference are left out; ``too_noisy`` ratios give no crossing.
    """
    cells = dict(list(rows.assign(line=rows["method"] + rows["variant"]).groupby(["line", "d"], sort=True)))
    times, ratios = [], []
    for (line, d), cell in cells.items():
        if (reference, d) not in cells:
            continue
        lower, median, upper = 1e6 * (cell["value"] / cell["n_train"]).quantile([0.25, 0.5, 0.75])
        times.append({"line": line, "x": float(d), "lower": lower, "mean": median, "upper": upper})
        by_round = ratio(cell, cells[reference, d])
        ends = {"lower": by_round.low, "mean": by_round.value, "upper": by_round.high}
        ratios.append(
            {"line": line, "x": float(d)}
            | ends
            | {"too_noisy": by_round.high - by_round.low > TOO_WIDE * by_round.value}
        )
    return pd.DataFrame(times), pd.DataFrame(ratios)


def crossings(ratios: pd.DataFrame, reference: str) -> dict[str, float | str]:
    """Return by line the dimension from which on it is faster than the reference, or why there is none."""
    found = {}
    for line, own in ratios[ratios["line"] != reference].groupby("line", sort=False):
        dimensions = own["x"].to_numpy()
        place = crossing(dimensions, own["mean"].to_numpy())
        after = np.searchsorted(dimensions, place or np.inf)
        noisy = own["too_noisy"].iloc[max(0, after - 1) : after + 1].any()
        found[line] = "too noisy" if noisy else place or "nowhere"
    return found


def crossing(dimensions: np.ndarray, ratios: np.ndarray) -> float | None:
    """Return where a ratio of times falls below 1 for good: d on the straight line, in logarithms, between two points.

    Parameters
    ----------
    dimensions, ratios : ndarray of shape (m,), the dimensions rising

    Returns
    -------
    the first dimension if all ratios are below 1; None if the last one is not

    Examples
    --------
    >>> round(crossing(np.array([16.0, 64.0, 256.0]), np.array([4.0, 2.0, 0.5])))
    128
    """
    slower = np.flatnonzero(ratios >= 1.0)
    if not len(slower):
        return float(dimensions[0])
    last = slower[-1]
    if last == len(ratios) - 1:
        return None
    (low, high), (above, below) = np.log(dimensions[last : last + 2]), np.log(ratios[last : last + 2])
    return float(np.exp(low + (high - low) * above / (above - below)))


def _in_words(places: dict[str, float | str], styles: dict[str, PlotStyle], label: str, dense: str) -> str:
    """Return a sentence on the crossings, to two digits: measured times give no more."""
    words = [
        f"{styles[line].label} {place}"
        if isinstance(place, str)
        else f"{styles[line].label} from d = {np.format_float_positional(place, 2, fractional=False, trim='-')}"
        for line, place in places.items()
    ]
    return f"{label}, faster than {dense}: {', '.join(words)}." if words else ""
