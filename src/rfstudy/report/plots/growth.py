"""Figures of how times and requirements grow: over the columns, and over the rows."""

import itertools

import numpy as np
import pandas as pd

from rfstudy.report import panels as plot
from rfstudy.report.aggregate import by_cell, method_order, select, settings_of
from rfstudy.report.estimates import crossing
from rfstudy.report.notes import absence, explained, machine_busy_where
from rfstudy.report.plot_styles import PlotStyle, plot_style
from rfstudy.report.style import Picture, drawn_as
from rfstudy.report.tables.growth import BOUNDS, CONFIDENCE, WHOLE, features_needed, stated_bounds
from rfstudy.report.tables.times import threads_of
from rfstudy.report.times import ROUND, TOO_WIDE, ratios

# --- crossover --------------------------------------------------------------------------------------------------------
# Time per row against the number of columns: where a fast transform overtakes the product with a dense matrix.
#
# A column per kernel shows microseconds per row at s = d, and below the same times over those of a dense reference: a
# structured map pays where its line falls below 1. A ring marks the place. Lines are medians over the rounds and bands
# quartiles.


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
    entries, remarks = [], plot.not_drawn(missing)
    for panel, (upper, lower) in zip(there, axes.T, strict=True):
        rows = select(frame, kernel=panel["kernel"])
        styles = styles_of(rows, panel["methods"], context.styles)
        times, by_round = cells_of(rows, panel["reference"])
        for ax, cells in ((upper, times), (lower, by_round)):
            plot.draw_lines(ax, cells, styles, band=True)
            plot.log_axis(ax.yaxis)
            plot.doublings_axis(ax, times["x"].unique(), times["d"].unique())
        lower.axhline(1.0, color="black", linewidth=0.6, zorder=1)
        places = crossings(select(by_round, line=panel["methods"]), panel["reference"])
        for method, place in places.items():
            if not isinstance(place, str):
                ring = {"marker": "o", "markersize": 6.5, "markerfacecolor": "none", "linestyle": "none", "zorder": 4}
                lower.plot(place, 1.0, color=styles[method].colour, **ring)
        dense = styles[panel["reference"]].label
        remarks += _in_words(places, styles, panel["label"], dense)
        upper.set(title=panel["label"], ylabel="microseconds per row")
        lower.set(xlabel="columns d = number of features s", ylabel=f"time / {dense}'s")
        entries += styles.values()
    frame = select(frame, kernel=[panel["kernel"] for panel in there])
    disturbed = machine_busy_where(frame, context, "d")
    remarks += [threads_of(frame), f"Other work ran at the same time: {disturbed}." if disturbed else ""]
    return Picture(figure, entries, list(filter(None, remarks)))


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
    place, ends = ["line", "d"], ["lower", "mean", "upper"]
    rows = rows.assign(line=rows["method"] + rows["variant"])
    dense = select(rows, line=reference)
    rows = rows[rows["d"].isin(dense["d"])]
    times = by_cell(rows.assign(value=1e6 * rows["value"] / rows["n_train"]), place, quartiles=True).sort_values(place)
    by_round = ratios(rows, dense, ["d"], place)[["low", "value", "high"]]
    by_round = by_round.set_axis(ends, axis="columns").sort_index().reset_index()
    by_round["too_noisy"] = by_round["upper"] - by_round["lower"] > TOO_WIDE * by_round["mean"]
    return times.assign(x=times["d"].astype(float)), by_round.assign(x=by_round["d"].astype(float))


def crossings(cells: pd.DataFrame, reference: str) -> dict[str, float | str]:
    """Return by line the dimension from which it is faster than the reference, or why there is none."""
    found = {}
    for line, own in cells[cells["line"] != reference].groupby("line", sort=False):
        dimensions = own["x"].to_numpy()
        place = crossing(dimensions, -np.log(own["mean"].to_numpy()))
        after = np.searchsorted(dimensions, place)
        noisy = own["too_noisy"].iloc[max(0, after - 1) : after + 1].any()
        found[line] = "too noisy" if noisy else max(place, dimensions[0]) if np.isfinite(place) else "nowhere"
    return found


def _in_words(places: dict[str, float | str], styles: dict[str, PlotStyle], label: str, dense: str) -> list[str]:
    """Return a sentence on the crossings, to two digits, because measured times are no more precise."""
    words = [
        f"{styles[line].label} {place}"
        if isinstance(place, str)
        else f"{styles[line].label} from d = {np.format_float_positional(place, 2, fractional=False, trim='-')}"
        for line, place in places.items()
    ]
    return [f"{label}, faster than {dense}: {', '.join(words)}."] if words else []


# --- required ---------------------------------------------------------------------------------------------------------
# The features that ridge regression needs against the number of rows: a panel per decay of the eigenvalues.
#
# A hollow triangle at the largest size says that it was not enough; a caret at the end of an interval says that the
# interval is open. A stated bound has no constant: it passes through the first requirement of its method, so that only
# its slope says anything.


#: Inches of a row of panels.
REQUIRED_HEIGHT = 1.15

#: The style of a bound, in the colour of its method.
BOUND = {"linewidth": 3.0, "alpha": 0.3, "solid_capstyle": "butt", "zorder": 1}


def required(context, *, paper, width, published, methods, panels) -> Picture:
    """Return the figure: a row of panels per method, a column per decay.

    Parameters
    ----------
    context : its rows are tidy rows of an experiment of the kind "requirement"
    panels : ``decay`` and ``label``
    methods : their order
    published : the table of the stated bounds
    """
    needed = features_needed(context.rows)
    styles = {pair: plot_style(pair[0], context.styles, pair[1]) for pair in method_order(needed, methods)}
    there = [panel for panel in panels if (needed["decay"] == panel["decay"]).any()]
    why = "not run" if len(needed) else absence(context.rows).split(":")[0]
    missing = {panel["decay"]: why for panel in panels if panel not in there}
    if not there:
        return plot.nothing(width, missing)
    stated = stated_bounds(select(context.published, paper=paper, experiment=published))
    rows = list(dict.fromkeys(method for method, _ in styles))
    figure, axes = plot.grid(width, len(rows), len(there), REQUIRED_HEIGHT)
    sizes, drawn = sorted(set(needed["n"])), {}
    for (method, panel), ax in zip(itertools.product(rows, there), axes.flat, strict=True):
        own = select(needed, decay=panel["decay"], method=method)
        text = stated.get((panel["decay"], method), "")
        first = select(own, variant=WHOLE).dropna(subset="s").sort_values("n")
        if text in BOUNDS and len(first):
            n = np.geomspace(first["n"].iloc[0], sizes[-1], 33)
            bound = BOUNDS[text](n)
            colour = plot_style(method, context.styles).colour
            ax.plot(n, bound * first["s"].iloc[0] / bound[0], color=colour, **BOUND)
            drawn.setdefault(panel["decay"], []).append(f"{text} ({context.label(method)})")
        for variant in (variant for each, variant in styles if each == method):
            _draw_line(ax, select(own, variant=variant).sort_values("n"), styles[method, variant])
        ax.set_yscale("log", base=2)
        ax.yaxis.set_major_formatter("{x:g}")
        plot.doublings_axis(ax, [float(n) for n in sizes], [f"{n:,}" for n in sizes])
        ax.set(xlabel="training rows n", ylabel=f"s, {context.label(method)}")
    low, high = np.transpose([ax.get_ylim() for ax in axes.flat])
    for ax in axes.flat:
        ax.set_ylim(low.min(), high.max())
        ax.label_outer()
    for panel, ax in zip(there, axes[0], strict=True):
        ax.set_title(panel["label"])
    entries = [*styles.values(), *([{"color": "black", "label": "stated bound"} | BOUND] if drawn else [])]
    return Picture(figure, entries, _notes(context.rows, drawn) + plot.not_drawn(missing))


def _draw_line(ax, own: pd.DataFrame, each: PlotStyle) -> None:
    """Draw the requirements of a method with their intervals.

    Triangles mark sizes that were not enough, carets open ends of intervals.
    """
    n = own["n"].to_numpy(dtype=float)
    s, lower, upper, largest = own[["s", "lower", "upper", "largest"]].to_numpy(dtype=float).T
    ax.plot(n, s, **drawn_as(each))
    missed, known, is_open = np.isnan(s), ~np.isnan(lower), np.isinf(upper)
    hollow = {"markerfacecolor": "none", "linestyle": "none", "color": each.colour}
    ax.plot(n[missed], largest[missed], marker="^", markersize=5, **hollow)
    ends = np.minimum(lower, largest)[known], np.minimum(upper, largest)[known]
    ax.vlines(n[known], *ends, color=each.colour, linewidth=0.6, zorder=1.5)
    ax.plot(n[is_open], largest[is_open], marker=6, markersize=3, **hollow)


def _notes(frame: pd.DataFrame, drawn: dict[str, list[str]]) -> list[str]:
    """Return the notes.

    Notes
    -----
    Upright lines: {confidence:g} % intervals; open triangle: the largest s was not enough.

    Smallest s from which on the mean risk of ridge regression is within {percent:g} % of that of the exact kernel;
    {repeats} repeats of {draws} draws.

    An interval goes from the first size from which on none is shown to be too small to the first from which on all are
    shown to be enough (Student's t on the excess of the risk over the repeats).
    """
    rows = select(frame, metric="risk", status="ok")
    first, repeats = settings_of(rows)[0], rows["repeat"].nunique()
    remarks = explained(_notes, percent=100 * first["tolerance"], repeats=repeats, confidence=100 * CONFIDENCE, **first)
    if drawn:
        texts = "; ".join(f"{decay} {', '.join(of_decay)}" for decay, of_decay in drawn.items())
        remarks.append(f"Stated bounds have no constants: each passes through its method's first point; {texts}.")
    return remarks
