"""Figures of how times and requirements grow: over the columns, and over the rows."""

import numpy as np
import pandas as pd

from rfstudy.report import panels as plot
from rfstudy.report.aggregate import by_cell, select
from rfstudy.report.estimates import crossing
from rfstudy.report.notes import machine_busy_where
from rfstudy.report.plot_styles import PlotStyle, plot_style
from rfstudy.report.style import Picture
from rfstudy.report.tables.times import threads_of
from rfstudy.report.times import ROUND, TOO_WIDE, ratios, summarise

# --- crossover --------------------------------------------------------------------------------------------------------
# Time per row against the number of columns: where a fast transform overtakes the product with a dense matrix.
#
# A column per kernel shows microseconds per row at s = d, and below the same times over the times of a dense reference:
# a structured map pays where its line falls below 1. A ring marks the place. Lines are medians over the rounds and
# bands quartiles.


#: Inches of a panel.
HEIGHT = 1.5

#: Markers of scikit-learn's transformers.
PEER_MARKERS = ("x", "+", "1", "2")


def crossover(context, *, width, panels) -> Picture:
    """Return the figure.

    Parameters
    ----------
    context : its rows are tidy rows by rounds of the metric ``time_transform_s``, the time of ``n_train`` rows; a row
        without a method is scikit-learn's, named by its variant
    panels : a kernel each: ``kernel``, ``label``, ``reference`` (the method that the others are divided by) and
        ``methods`` (their order)
    """
    frame = select(context.rows, axis=ROUND, metric="time_transform_s", status="ok")
    there = [panel for panel in panels if len(select(frame, kernel=panel["kernel"], method=panel["reference"]))]
    missing = {panel["label"]: "not run" for panel in panels if panel not in there}
    if not there:
        return plot.nothing(width, missing)
    figure, axes = plot.grid(width, 2, len(there), HEIGHT)
    entries, remarks, drawn = [], plot.not_drawn(missing), []
    markers = dict(zip(sorted(set(select(frame, method="")["variant"])), PEER_MARKERS, strict=False))
    for panel, (upper, lower) in zip(there, axes.T, strict=True):
        rows = select(frame, kernel=panel["kernel"])
        styles = styles_of(rows, panel["methods"], context.styles, markers)
        times, by_round = cells_of(rows, panel["reference"])
        for ax, cells in ((upper, times), (lower, by_round)):
            plot.draw_lines(ax, cells, styles, band=True)
            plot.log_axis(ax.yaxis)
            plot.doublings_axis(ax, times["x"].unique(), times["d"].unique())
        lower.axhline(1.0, color="black", linewidth=0.6, zorder=1)
        places = crossings(select(by_round, line=panel["methods"]), panel["reference"])
        for method, (place, _) in places.items():
            if place:
                ring = {"marker": "o", "markersize": 6.5, "markerfacecolor": "none", "linestyle": "none", "zorder": 4}
                lower.plot(place, 1.0, color=styles[method].colour, **ring)
        dense = context.label(panel["reference"])
        words = ", ".join(f"{styles[method].label} {where}" for method, (_, where) in places.items())
        remarks += [f"{panel['label']}, faster than {dense}: {words}."] if words else []
        upper.set(title=panel["label"], ylabel="microseconds per row")
        lower.set(xlabel="columns d = number of features s", ylabel=f"time / {dense}'s")
        entries += styles.values()
        drawn.append(by_round.assign(against=panel["reference"]))
    frame = select(frame, kernel=[panel["kernel"] for panel in there])
    disturbed = machine_busy_where(frame, context, "d")
    remarks += [threads_of(frame), f"Other work ran at the same time: {disturbed}." if disturbed else ""]
    cells = summarise(frame.assign(value=1e6 * frame["value"] / frame["n_train"])).assign(unit="microseconds per row")
    cells = pd.concat([cells, *drawn], ignore_index=True).drop(columns=["line", "x", "too_noisy"])
    return Picture(figure, entries, list(filter(None, remarks)), cells=cells)


def styles_of(rows: pd.DataFrame, methods: list[str], registry: dict, markers: dict[str, str]) -> dict[str, PlotStyle]:
    """Return the plot styles of the methods that were timed, then of scikit-learn's transformers, in grey."""
    timed = set(rows["method"] + rows["variant"])
    own = {method: plot_style(method, registry) for method in methods if method in timed}
    return own | {
        peer: PlotStyle(f"{peer} (scikit-learn)", "#777777", marker, "dashed")
        for peer, marker in markers.items()
        if peer in timed
    }


def cells_of(rows: pd.DataFrame, reference: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return medians and quartiles over the rounds by line and dimension: of microseconds per row, and of ratios.

    Dimensions without the reference are left out; ``too_noisy`` ratios give no crossing.
    """
    place, ends = ["line", "d", "kernel", "method", "variant", "metric"], ["lower", "mean", "upper"]
    rows = rows.assign(line=rows["method"] + rows["variant"])
    dense = select(rows, line=reference)
    rows = rows[rows["d"].isin(dense["d"])]
    times = by_cell(rows.assign(value=1e6 * rows["value"] / rows["n_train"]), place, quartiles=True).sort_values(place)
    by_round = ratios(rows, dense, ["d"], place)[["low", "value", "high"]]
    by_round = by_round.set_axis(ends, axis="columns").sort_index().reset_index()
    by_round["too_noisy"] = by_round["upper"] - by_round["lower"] > TOO_WIDE * by_round["mean"]
    return times.assign(x=times["d"].astype(float)), by_round.assign(x=by_round["d"].astype(float))


def crossings(cells: pd.DataFrame, reference: str) -> dict[str, tuple[float | None, str]]:
    """Return by line the dimension from which it is faster than the reference, if there is one, and this in words.

    The words have two digits, because measured times are no more precise.
    """
    found = {}
    for line, own in cells[cells["line"] != reference].groupby("line", sort=False):
        dimensions = own["x"].to_numpy()
        place = crossing(dimensions, -np.log(own["mean"].to_numpy()))
        after = np.searchsorted(dimensions, place)
        if own["too_noisy"].iloc[max(0, after - 1) : after + 1].any():
            found[line] = None, "too noisy"
        elif not np.isfinite(place):
            found[line] = None, "nowhere"
        else:
            place = max(place, dimensions[0])
            found[line] = place, f"from d = {np.format_float_positional(place, 2, fractional=False, trim='-')}"
    return found
