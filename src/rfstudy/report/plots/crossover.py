"""Time per row against the number of columns: where a fast transform overtakes the product with a dense matrix.

The survey compares its maps by MATLAB times at small d, where nothing is gained. Here one panel a kernel shows seconds
per row at s = d, and the panel below it the same over the time of a dense reference: a structured map pays where its
line falls below 1, and a ring marks the place.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from rfstudy.report.aggregate import select
from rfstudy.report.comparisons import threads_of
from rfstudy.report.context import Context
from rfstudy.report.layout import Panel, Row, laid_out
from rfstudy.report.notes import machine_busy_where, not_drawn
from rfstudy.report.plot_styles import PlotStyle, plot_style
from rfstudy.report.style import Picture
from rfstudy.report.times import by_rounds, ratio

#: Keys of an entry of this kind, beside those of all entries.
REQUIRED = ("width", "panels")


#: Inches: heights of the panels of the times and of the ratios.
TIMES, RATIOS = 1.9, 0.95

#: What is drawn of the rounds: a line through the medians, a band between the other two.
QUARTILES = (0.25, 0.5, 0.75)

#: How a transformer of scikit-learn is drawn; markers tell two of one panel apart.
PEER = PlotStyle("", "#777777", "x", "dashed")
PEER_MARKERS = ("x", "+", "1", "2")


def draw(context: Context, spec: dict) -> Picture:
    """The figure of one specification of kind "crossover".

    Parameters
    ----------
    context : its rows are tidy rows by rounds of the metric ``time_transform_s``, the time of ``n_train`` rows; a row
        without a method is scikit-learn's, named by its variant
    spec : ``panels``, one a kernel: ``kernel``, ``label``, ``reference`` (the method that the others are held against)
        and ``methods`` (their order); ``width``

    Returns
    -------
    Picture of the width that the specification states
    """
    frame = select(by_rounds(context.rows), metric="time_transform_s", status="ok")
    panels, missing = [], []
    for panel in spec["panels"]:
        found = _courses(select(frame, kernel=panel["kernel"]), panel, context.styles)
        panels += [(panel, found, plot_style(panel["reference"], context.styles).label)] if found else []
        missing += [] if found else [panel["label"]]
    rows = [
        Row([Panel(partial(_times, found=found), panel["label"]) for panel, found, _ in panels], TIMES),
        Row([Panel(partial(_ratios, found=found, over=over)) for _, found, over in panels], RATIOS, joined=True),
    ]
    told = [_told(*panel) for panel in panels]
    told += [*not_drawn({"not run": missing} if missing else {}), threads_of(frame)]
    beside = machine_busy_where(
        frame[frame["kernel"].isin([panel["kernel"] for panel, *_ in panels])], context.styles, "d"
    )
    told += [f"Contended, other work ran beside it: {beside}."] if beside else []
    handles = {each.label: Line2D([], [], label=each.label, **each.drawn) for _, found, _ in panels for each in found}
    return laid_out(spec["width"], rows if panels else [], list(handles.values()), list(filter(None, told)))


class Course(NamedTuple):
    """One line: quartiles (m, 3) of its microseconds per row and of its times over the reference's, at dimensions (m,).

    ``place`` is the dimension from which on it is faster, or a word where there is none; "" of the lines that are not
    asked, the reference itself and those of scikit-learn.
    """

    label: str
    drawn: dict
    dimensions: np.ndarray
    times: np.ndarray
    ratios: np.ndarray
    place: float | str


def _courses(rows, panel: dict, styles: dict) -> list[Course]:
    """The lines of one kernel; none without its reference."""
    reference = _cells(rows, panel["reference"], "")
    found, n_peers = [], 0
    for method, variant in _lines(rows, panel["methods"]) if reference else []:
        each = plot_style(method, styles) if method else PEER._replace(label=f"{variant} (scikit-learn)")
        cells = {d: cell for d, cell in _cells(rows, method, variant).items() if d in reference}
        dimensions = np.array(list(cells))
        times = [1e6 * (cell["value"] / cell["n_train"]).quantile(QUARTILES).to_numpy(float) for cell in cells.values()]
        by_round = [ratio(cell, reference[d]) for d, cell in cells.items()]
        drawn = {
            "color": each.colour,
            "marker": each.marker if method else PEER_MARKERS[n_peers % len(PEER_MARKERS)],
            "linestyle": each.linestyle,
            "markeredgewidth": 0.5 if method else 0.8,
            "zorder": 3 if method == panel["reference"] else 2,
        }
        n_peers += not method
        place = "" if method in ("", panel["reference"]) else _place(dimensions, by_round)
        ratios = np.array([(r.low, r.value, r.high) for r in by_round])
        found.append(Course(each.label, drawn, dimensions, np.array(times), ratios, place))
    return found


def _place(dimensions: np.ndarray, ratios: list) -> float | str:
    """From which dimension on a line is faster, or why that cannot be said."""
    place = crossing(dimensions, np.array([r.value for r in ratios]))
    beside = np.searchsorted(dimensions, place or np.inf)
    noisy = any(r.reason for r in ratios[max(0, beside - 1) : beside + 1])
    return "too noisy to tell" if noisy else place or "nowhere"


def _times(ax, found: list[Course]) -> None:
    for each in found:
        _line(ax, each.dimensions, each.times, **each.drawn)
    _axes(ax, found)
    ax.set_ylabel("microseconds per row")


def _ratios(ax, found: list[Course], over: str) -> None:
    ring = {"marker": "o", "markersize": 6.5, "markerfacecolor": "none", "zorder": 4, "linestyle": "none"}
    for each in found:
        _line(ax, each.dimensions, each.ratios, **each.drawn)
        if not isinstance(each.place, str):
            ax.plot(each.place, 1.0, color=each.drawn["color"], **ring)
    _axes(ax, found)
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
    ax.axhline(1.0, color="black", linewidth=0.6, zorder=1)
    ax.set_xlabel("columns d = number of features s")
    ax.set_ylabel(f"over {over}")


def _line(ax, dimensions: np.ndarray, values: np.ndarray, **drawn) -> None:
    """A line through medians, with a band between the quartiles; values of shape (m, 3)."""
    lower, median, upper = values.T
    ax.fill_between(dimensions, lower, upper, color=drawn["color"], alpha=0.2, linewidth=0)
    ax.plot(dimensions, median, **drawn)


def _told(panel: dict, found: list[Course], reference: str) -> str:
    """The crossings in words, to two digits: measured times give no more. Words in place of one stand as they are."""
    places = [(f"{float(f'{each.place:.2g}'):.0f} ({each.label})") for each in found if not isinstance(each.place, str)]
    parts = [f"from about d = {', '.join(places)}"] if places else []
    for word in ("nowhere", "too noisy to tell"):
        labels = [each.label for each in found if each.place == word]
        parts += [f"{word} ({', '.join(labels)})"] if labels else []
    return f"{panel['label']}, faster than {reference}: {'; '.join(parts)}." if parts else ""


def crossing(dimensions: np.ndarray, ratios: np.ndarray) -> float | None:
    """Where a ratio of times falls below 1 for good: d on the straight line, in logarithms, between two measurements.

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


def _lines(rows, listed: list[str]) -> list[tuple[str, str]]:
    """The listed methods that were measured, then those of scikit-learn."""
    measured = set(rows["method"])
    peers = sorted(set(select(rows, method="")["variant"]))
    return [(method, "") for method in listed if method in measured] + [("", peer) for peer in peers]


def _cells(rows, method: str, variant: str) -> dict:
    """The rounds of a line by dimension, rising."""
    return {float(d): cell for d, cell in select(rows, method=method, variant=variant).groupby("d", sort=True)}


def _axes(ax, found: list[Course]) -> None:
    dimensions = np.unique(np.concatenate([each.dimensions for each in found]))
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    ax.set_xticks(dimensions, [f"{d:.0f}" for d in dimensions])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())
