"""Curves: one panel per quantity side by side, one row of panels (or a part of one) per data set, one line per method.

The survey's Figures 9 and 10 look like this: approximation error, generation time and the accuracy of two linear
classifiers against the number of features s, on four data sets. What runs along the axis may be another quantity that
an experiment walks, and rows may be kernels or learners; a method that does not walk it is a level line. Where a panel
is held ``against`` a method it shows what sets the others apart from it, which nine curves on top of each other do not.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from string import ascii_lowercase
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, NullLocator

from rfstudy.metrics import fact_of
from rfstudy.report.against import compared, no_difference
from rfstudy.report.aggregate import method_order, of_quantity, select
from rfstudy.report.chance import LABEL, chance_of, notes_on_chance
from rfstudy.report.context import Context
from rfstudy.report.layout import Panel, Row, labels_apart, laid_out
from rfstudy.report.notes import absence, dataset_name, not_drawn, notes, notes_on_sizes
from rfstudy.report.plot_styles import PlotStyle, plot_style
from rfstudy.report.published import printed_name
from rfstudy.report.scales import (
    STRIP_MARGIN,
    Span,
    beyond,
    limits,
    outlier,
    reaches,
    set_strip,
    set_upright,
    span_of,
    united,
    whisker_ends,
)
from rfstudy.report.style import REFERENCE, Picture, drawn_as, handle
from rfstudy.report.times import ROUND, summarise

#: Keys of an entry of this kind, beside those of all entries.
REQUIRED = ("width", "methods", "panels")
OPTIONAL = ("datasets", "sizes", "repeats", "bars", "abreast", "x", "rows")

#: What runs along the horizontal axis unless an entry says otherwise.
SIZES = {"axis": "n_features", "label": "number of features s", "scale": "log"}

#: Inches.
PANEL_HEIGHT = 1.08

#: Methods are spread over this share of the distance of two values of x, so that their error bars do not hide one
#: another.
DODGE = 0.24

#: Values of x up to which each has a tick of its own.
TICKS_OF_X = 8


class Line(NamedTuple):
    """A method, or a variant of it, and how it is drawn."""

    method: str
    variant: str
    style: PlotStyle


class Place(NamedTuple):
    """One panel: the cells of its lines (by their position among all), what its axis shows of them, the line for which
    that is broken, and what chance alone gives."""

    name: str
    panel: dict
    courses: dict[int, pd.DataFrame]
    shown: Span
    outlier: int | None
    chance: float | None

    @property
    def log(self) -> bool:
        """Whether the upright axis is logarithmic."""
        return self.panel["scale"] == "log"

    @property
    def limits(self) -> Span:
        """The limits of the upright axis."""
        return limits(self.shown, log=self.log)

    @property
    def reached(self) -> bool:
        """Whether the axis shows what chance alone gives."""
        return self.chance is not None and self.shown.low <= self.chance <= self.shown.high


def draw(context: Context, spec: dict) -> Picture:
    """The figure of one specification of kind "curves".

    Parameters
    ----------
    context : its rows are tidy rows of the specification's experiments
    spec : ``panels`` (side by side: ``metric``, ``label``, ``scale`` and, where they matter, ``learner``, ``split`` and
        the method that the others are held ``against``), ``datasets`` (rows of panels, unless ``rows`` says ``by``
        which column of the tidy table they are told apart and gives the ``titles`` of its values), ``x`` (by default
        the sizes, else an ``axis`` that the experiment walks), ``methods`` and ``sizes`` (their order; a method of the
        frame that is not listed is drawn too, after the others, but no level line), ``abreast`` (so many data sets in
        one row of panels), ``bars`` (one standard "deviation", or one standard "error" of the mean), ``width``,
        ``paper``, ``repeats``

    Returns
    -------
    Picture of the width that the specification states, with the panels for which there is something to draw
    """
    x = spec.get("x", SIZES)
    frame = select(context.rows, dataset=spec.get("datasets"), n_features_label=spec.get("sizes"))
    if x["axis"] == SIZES["axis"]:
        frame = select(frame, axis=["", ROUND])
    else:
        # beside those that walk it, what of the listed methods does not in the same experiment
        walked = select(frame, axis=x["axis"])
        level = select(frame, axis="", experiment=walked["experiment"].unique(), method=spec["methods"])
        frame = pd.concat([walked, level])
    shown = pd.concat([of_quantity(frame, panel) for panel in spec["panels"]])
    shown = shown[~shown.index.duplicated()]
    lines = [Line(*pair, plot_style(pair[0], context.styles, pair[1])) for pair in method_order(shown, spec["methods"])]
    grid, titles, absent = [], [], {}
    for letter, (name, title, rows) in zip(ascii_lowercase, _rows(shown, context, spec), strict=False):
        places = []
        for panel in spec["panels"]:
            own = of_quantity(rows, panel)
            places.append(_place(name, panel, own, lines, spec | {"x": x}, context))
            if places[-1] is None:
                absent[name, panel["label"]] = _why_absent(rows, own, panel, context.styles)
        grid.append(places)
        titles.append(f"({letter}) {title}" if _n_rows(spec) > 1 else title)
    there = [place for places in grid for place in places if place]
    legend = [handle(line.style) for line in lines] if there else []
    reached = any(place.reached for place in there)
    if reached:
        legend.append(Line2D([], [], label=LABEL, **REFERENCE))
    told = [
        *_on_pairs(there, context.styles, spec.get("bars", "deviation")),
        *_on_levels(there, lines),
        *_on_breaks(there, lines),
        *_on_bars(there, spec.get("bars", "deviation")),
    ]
    told += notes_on_chance({place.name: place.chance for place in there if place.chance is not None}, drawn=reached)
    told += _absent(absent, spec)
    if x["axis"] == SIZES["axis"]:
        told += notes_on_sizes(shown, spec.get("paper", ""), context.styles, context.tasks)
    rows = _laid(grid, titles, lines, x, spec.get("abreast", 1))
    return laid_out(spec["width"], rows, legend, [*told, *notes(shown, {"paper": ""} | spec, context)])


def _n_rows(spec: dict) -> int:
    return len(spec["rows"]["titles"] if "rows" in spec else spec.get("datasets", [""]))


def _rows(shown: pd.DataFrame, context: Context, spec: dict) -> Iterable[tuple[str, str, pd.DataFrame]]:
    """For every row of panels what it is called in a note, its title, and its rows of the frame."""
    if "rows" in spec:
        for value, title in spec["rows"]["titles"].items():
            yield title, title, select(shown, **{spec["rows"]["by"]: value})
    elif "datasets" in spec:
        for dataset in spec["datasets"]:
            rows = select(shown, dataset=dataset)
            paper = spec["paper"]
            yield printed_name(context.tasks, dataset, paper), dataset_name(context.tasks, dataset, paper, rows), rows
    else:
        yield "", "", shown


def _place(name: str, panel: dict, own: pd.DataFrame, lines: list[Line], spec: dict, context: Context) -> Place | None:
    """One panel from the rows of its quantity; None where none of them has a value to show."""
    x = spec["x"]
    cells = compared(own, panel["against"]) if "against" in panel else summarise(own)
    cells = cells[cells["n"] > 0]
    cells = cells.assign(x=cells["n_features" if x["axis"] == SIZES["axis"] else "at"].astype(float))
    if not cells["x"].notna().any():
        return None
    if spec.get("bars") == "error":
        cells = with_errors(cells, geometric="against" in panel and not fact_of(panel["metric"]).is_percentage)
    twice = cells[cells.duplicated(["method", "variant", "x"])]
    if len(twice):
        where = f"{twice['method'].iloc[0]} at {x['axis']} {twice['x'].iloc[0]:g}"
        raise ValueError(f"{panel['metric']} has more than one value of {where} in a panel: rows must tell them apart")
    log = panel["scale"] == "log"
    groups = dict(list(cells.sort_values("x").groupby(["method", "variant"])))
    courses = {i: groups[line[:2]] for i, line in enumerate(lines) if line[:2] in groups}
    spans = {i: span for i, course in courses.items() if (span := span_of(_ends(course), log=log))}
    if not spans:
        return None
    always = [no_difference(panel["metric"])] if "against" in panel else []
    out = outlier(spans, log=log, always=always)
    rest = [own for i, own in spans.items() if i != out]
    span = united([*rest, *(Span(value, value) for value in always)])
    chance = None if "against" in panel else chance_of(own, panel, context)
    if chance is not None and reaches(span, chance, log=log):
        span = united([span, Span(chance, chance)])
    return Place(name, panel, courses, span, out, chance)


def with_errors(cells: pd.DataFrame, *, geometric: bool = False) -> pd.DataFrame:
    """The cells with bars of one standard error of the mean in place of one deviation (``geometric``: of the
    logarithm); those of times by rounds stay the quartiles."""
    root, by_repeat = np.sqrt(cells["n"].astype(float)), cells["rounds"] == 0
    ends = {}
    for name in ("lower", "upper"):
        mean, end = cells["mean"], cells[name]
        error = mean * (end / mean) ** (1.0 / root) if geometric else mean + (end - mean) / root
        ends[name] = error.where(by_repeat, end)
    return cells.assign(**ends)


def _ends(cells: pd.DataFrame) -> np.ndarray:
    """What an axis has to show of cells: means and both ends of their error bars."""
    return cells[["lower", "mean", "upper"]].to_numpy(dtype=float).ravel()


def _laid(grid: list[list[Place | None]], titles: list[str], lines: list[Line], x: dict, abreast: int = 1) -> list[Row]:
    """The rows and columns of panels in which there is something, ``abreast`` rows of the grid side by side in one; the
    lowest panel of a column names x.
    """
    kept = [j for j, column in enumerate(zip(*grid, strict=True)) if any(column)]
    there = [(title, [places[j] for j in kept]) for title, places in zip(titles, grid, strict=True) if any(places)]
    across = max(1, min(abreast, len(there)))
    there += [("", [None] * len(kept))] * (-len(there) % across)
    folded = [there[start : start + across] for start in range(0, len(there), across)]
    rows = [[place for _, places in parts for place in places] for parts in folded]
    lowest = {j: i for i, row in enumerate(rows) for j, place in enumerate(row) if place}
    return [
        Row(
            [place and _panel(place, lines, x, labelled=lowest[j] == i) for j, place in enumerate(row)],
            PANEL_HEIGHT,
            parts[0][0] if across == 1 else tuple(title for title, _ in parts),
        )
        for i, (row, parts) in enumerate(zip(rows, folded, strict=True))
    ]


def _panel(place: Place, lines: list[Line], x: dict, *, labelled: bool) -> Panel:
    """What draws a panel, with a strip above or below for a line that lies far from all others."""
    strips = _strips(place)

    def main(ax):
        _draw_lines(ax, place, lines, x)
        if "against" in place.panel:
            ax.axhline(no_difference(place.panel["metric"]), color="black", linewidth=0.7, zorder=1.5)
        if place.reached:
            ax.axhline(place.chance, **REFERENCE)
        _label_x(ax, x, labelled and "below" not in strips)

    def beside(ax, side):
        _draw_lines(ax, place, lines, x, side, strips[side])
        _label_x(ax, x, labelled and side == "below")

    return Panel(main, place.panel["label"], **{side: partial(beside, side=side) for side in strips})


def _strips(place: Place) -> dict[str, Span]:
    """Limits of the strips of a broken axis, by the side of the panel: of what the panel cuts off of an outlier, and
    nothing that the panel shows."""
    if place.outlier is None:
        return {}
    values, (low, high) = _ends(place.courses[place.outlier]), place.limits
    spans = {side: span_of(values[beyond(values, place.limits, side)], log=place.log) for side in ("above", "below")}
    strips = {side: limits(span, log=place.log, margin=STRIP_MARGIN) for side, span in spans.items() if span}
    return {
        side: own._replace(low=max(own.low, high)) if side == "above" else own._replace(high=min(own.high, low))
        for side, own in strips.items()
    }


def _label_x(ax, x: dict, labelled: bool) -> None:
    if labelled:
        ax.set_xlabel(x["label"])


def _draw_lines(ax, place: Place, lines: list[Line], x: dict, side: str = "", strip: Span | None = None) -> None:
    """The lines of a panel with their error bars; on the ``strip`` at one side what the panel itself does not show of
    the line for which its axis is broken."""
    step = _x_axis(ax, pd.concat(place.courses.values()), x)
    shown = strip or place.limits
    if strip:
        set_strip(ax, strip, log=place.log)
    else:
        set_upright(ax, place.limits, log=place.log)
    for position, (i, cells) in enumerate(place.courses.items()):
        if strip:
            outside = beyond(cells[["lower", "mean", "upper"]], place.limits, side).any(axis=1)
            # a bar of another line that reaches zero lies below every limit
            cells = cells[outside & (i == place.outlier)]
        if not len(cells):
            continue
        if _is_level(cells):
            _draw_level(ax, cells, lines[i].style)
            continue
        shift = DODGE * step * ((position + 0.5) / len(place.courses) - 0.5)
        at, mean = cells["x"].to_numpy(), cells["mean"].to_numpy(dtype=float)
        at = at * 2.0**shift if x["scale"] == "log" else at + shift
        lower = whisker_ends(cells["lower"], mean, shown.low, log=place.log)
        upper = cells["upper"].to_numpy(dtype=float)
        ax.errorbar(at, mean, yerr=[mean - lower, upper - mean], elinewidth=0.6, **drawn_as(lines[i].style))
        beside = cells["machine_busy"].to_numpy(dtype=bool)
        if beside.any():
            ax.plot(at[beside], mean[beside], marker="x", color="black", markersize=5.0, linestyle="none", zorder=4)


def _is_level(cells: pd.DataFrame) -> bool:
    """Whether a line does not walk the horizontal axis."""
    return bool(cells["x"].isna().all())


def _draw_level(ax, cells: pd.DataFrame, own: PlotStyle) -> None:
    """A line through the whole panel, with a band where the others have error bars."""
    ((lower, mean, upper),) = cells[["lower", "mean", "upper"]].to_numpy(dtype=float)
    ax.axhspan(lower, upper, color=own.colour, alpha=0.12, linewidth=0, zorder=0.5)
    ax.axhline(mean, color=own.colour, linestyle=own.linestyle, linewidth=0.9, zorder=1.5)


def _x_axis(ax, cells: pd.DataFrame, x: dict) -> float:
    """Scale, limits and ticks of the horizontal axis; returns the smallest step of x, in doublings if logarithmic.

    A size is labelled as the paper counts it.
    """
    at = np.unique(cells["x"].dropna())
    log, is_size = x["scale"] == "log", x["axis"] == SIZES["axis"]
    along = np.log2(at) if log else at
    step = float(np.diff(along).min()) if len(at) > 1 else 1.0
    room = 0.5 * DODGE * step + 0.05 * (along[-1] - along[0] or 1.0)
    ends = np.array([along[0] - room, along[-1] + room])
    if log:
        ax.set_xscale("log", base=2 if is_size else 10)
    ax.set_xlim(2.0**ends if log else ends)
    if is_size or len(at) <= TICKS_OF_X:
        labels = dict(zip(cells["x"], cells["n_features_label"], strict=True)) if is_size else {}
        ax.set_xticks(at, labels_apart(ax, at, [labels.get(value, f"{value:g}") for value in at]))
        ax.xaxis.set_minor_locator(NullLocator())
    elif not log:
        ax.xaxis.set_major_locator(MaxNLocator(5))
    return step


def _why_absent(rows: pd.DataFrame, own: pd.DataFrame, panel: dict, styles: dict) -> str:
    """Why a panel has nothing to show; a reason that rows give stands in the other notes."""
    # times are taken apart from everything else: what was run need not have been timed
    if len(rows) and not len(own) and fact_of(panel["metric"]).unit == "s":
        return "not timed"
    if "against" in panel and (own["status"] == "ok").any():
        return f"nothing to compare with {plot_style(panel['against'], styles).label}"
    return absence(own).split(":")[0]


def _absent(absent: dict[tuple[str, str], str], spec: dict) -> list[str]:
    """A sentence on the panels that are not there (by row and label), by the reason; a row without any by its name."""
    labels = [panel["label"] for panel in spec["panels"]]
    by_reason: dict[str, list[str]] = {}
    for name in dict.fromkeys(name for name, _ in absent):
        own = {label: absent[name, label] for label in labels if (name, label) in absent}
        if len(own) == len(labels) and len(set(own.values())) == 1:
            by_reason.setdefault(own[labels[0]], []).append(name or "all")
            continue
        for label, why in own.items():
            by_reason.setdefault(why, []).append(f"{name}: {label}" if name else label)
    return not_drawn(by_reason)


def _on_pairs(places: list[Place], styles: dict, bars: str) -> list[str]:
    """What stands for a difference in panels that are held against a method; ``bars`` are one standard deviation or
    error."""
    held = [place for place in places if "against" in place.panel]
    found = []
    for baseline in dict.fromkeys(place.panel["against"] for place in held):
        own = [place for place in held if place.panel["against"] == baseline]
        rounds = [any((cells["rounds"] > 0).any() for cells in place.courses.values()) for place in own]
        points = [fact_of(place.panel["metric"]).is_percentage for place in own]
        ways = [
            (f"differences in points: mean and standard {bars} over the repeats", any(points)),
            (
                f"ratios: geometric mean and standard {bars} of the logarithm",
                not all(p or r for p, r in zip(points, rounds, strict=True)),
            ),
            ("ratios of times by rounds: median and quartiles", any(rounds)),
        ]
        told = "; ".join(way for way, there in ways if there)
        found.append(f"Each method against {plot_style(baseline, styles).label} of the same repeat; {told}.")
    return found


def _on_levels(places: list[Place], lines: list[Line]) -> list[str]:
    """A sentence on the methods that are level lines."""
    level = {i for place in places for i, cells in place.courses.items() if _is_level(cells)}
    names = ", ".join(line.style.label for i, line in enumerate(lines) if i in level)
    return [f"Level lines with a band: {names}, which what runs along the axis does not concern."] if names else []


def _on_bars(places: list[Place], bars: str) -> list[str]:
    """A sentence on the bars that a logarithmic axis cannot show in full."""
    if not any(place.log and (cells["lower"] <= 0).any() for place in places for cells in place.courses.values()):
        return []
    return [f"A bar that goes to the lower edge of its panel: the standard {bars} is larger than the mean."]


def _on_breaks(places: list[Place], lines: list[Line]) -> list[str]:
    """For which methods axes are broken, and where."""
    found: dict[str, dict[str, list[str]]] = {}
    for place in places:
        if place.outlier is not None:
            of_line = found.setdefault(lines[place.outlier].style.label, {})
            of_line.setdefault(place.panel["label"], []).append(place.name)
    told = []
    for label, by_panel in found.items():
        where = [f"{panel} ({', '.join(names)})" if any(names) else panel for panel, names in by_panel.items()]
        told.append(f"Axis broken for {label}: {'; '.join(where)}.")
    return told
