"""Lines of methods against the number of features, or against another quantity that an experiment varies.

The survey's Figures 9 and 10 look like this: a row of panels per data set, and in a row the approximation error, the
generation time and the accuracy of two linear classifiers. A method that does not vary with the horizontal axis is a
level line. A panel ``against`` a method shows the paired differences from it, which nine overlapping curves do not.
"""

from __future__ import annotations

import itertools
import textwrap
from string import ascii_lowercase

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, NullLocator

from rfstudy.metrics import fact_of
from rfstudy.report.against import compared, no_difference
from rfstudy.report.aggregate import method_order, of_quantity, select
from rfstudy.report.chance import LABEL, chance_of, notes_on_chance
from rfstudy.report.context import Context
from rfstudy.report.notes import absence, dataset_name, not_drawn, notes, notes_on_sizes
from rfstudy.report.panels import cut_outlier, draw_lines, finished, log_axis, side_by_side
from rfstudy.report.plot_styles import PlotStyle, plot_style
from rfstudy.report.published import printed_name
from rfstudy.report.style import REFERENCE, Picture, handle
from rfstudy.report.times import ROUND, summarise

#: The horizontal axis unless an entry has another.
SIZES = {"axis": "n_features", "label": "number of features s", "scale": "log"}

#: Inches of a row of panels, and characters of a label along its side.
HEIGHT, LABEL_WIDTH = 1.3, 22

#: Lines are spread over this share of the distance between two values of x.
SPREAD = 0.24


def draw(
    context: Context,
    *,
    paper: str,
    width: str,
    datasets: list[str],
    methods: list[str],
    panels: list[dict],
    sizes: list[str] | None = None,
    repeats: int | None = None,
    bars: str = "deviation",
    abreast: int = 1,
    x: dict = SIZES,
) -> Picture:
    """Return the figure with a row of panels per data set.

    Parameters
    ----------
    context : its rows are tidy rows of the experiments
    panels : the quantities of a row: ``metric``, ``label``, ``scale`` and, where they matter, ``learner``, ``split``,
        ``kernel`` and the method that the others are compared ``against``
    methods, sizes : their order; a method that is not listed is drawn too, after the others, but not as a level line
    bars : one standard "deviation", or one standard "error" of the mean
    abreast : data sets in one row
    x : the ``axis`` that the experiment varies, its ``label`` and ``scale``
    """
    is_size = x["axis"] == SIZES["axis"]
    rows = _rows(select(context.rows, dataset=datasets, n_features_label=sizes), x["axis"], methods)
    shown = pd.concat([_of_panel(rows, panel) for panel in panels])
    shown = shown[~shown.index.duplicated()]
    styles = {
        f"{method}/{variant}": plot_style(method, context.styles, variant)
        for method, variant in method_order(shown, methods)
    }
    found, absent = {}, {}
    for dataset in datasets:
        for panel in panels:
            own = _of_panel(select(shown, dataset=dataset), panel)
            cells = cells_of(own, panel, is_size=is_size, errors=bars == "error")
            if cells["x"].notna().any():
                found[dataset, panels.index(panel)] = panel, own, cells
            else:
                absent[dataset, panel["label"]] = _why_absent(select(shown, dataset=dataset), own, panel)
    there = [dataset for dataset in datasets if any(dataset == each for each, _ in found)]
    figure, axes = _axes(width, there, sorted({column for _, column in found}), abreast)
    chances, reached = {}, False
    for place, ax in axes.items():
        if place not in found:
            ax.remove()
            continue
        panel, own, cells = found[place]
        _draw_panel(ax, panel, cells, styles, x)
        chance = None if "against" in panel else chance_of(own, panel, context)
        if chance is not None:
            chances[printed_name(context.tasks, place[0], paper)] = chance
            reached |= _draw_chance(ax, chance)
    for letter, dataset in zip(ascii_lowercase, there, strict=False):
        first = next(axes[place] for place in axes if place in found and place[0] == dataset)
        name = dataset_name(context.tasks, dataset, paper, select(shown, dataset=dataset))
        first.set_title(f"({letter}) {name}" if len(datasets) > 1 else name, loc="left")
    for ax in _lowest(axes, found):
        ax.set_xlabel(x["label"])
    handles = [handle(each) for each in styles.values()]
    handles += [Line2D([], [], label=LABEL, **REFERENCE)] if reached else []
    remarks = [*_on_levels(found, styles), *_on_absent(absent, there, paper, context)]
    if is_size:
        remarks += notes_on_sizes(shown, paper, context.styles, context.tasks)
    remarks += notes(shown, {"paper": paper, "repeats": repeats, "sizes": sizes or []}, context)
    return finished(figure, handles, [*remarks, *notes_on_chance(chances, drawn=reached)])


def _rows(frame: pd.DataFrame, axis: str, methods: list[str]) -> pd.DataFrame:
    """Return the rows of an axis, with those of listed methods of the same experiment that do not vary along it."""
    if axis == SIZES["axis"]:
        return select(frame, axis=["", ROUND])
    varied = select(frame, axis=axis)
    level = select(frame, axis="", experiment=varied["experiment"].unique(), method=methods)
    return pd.concat([varied, level])


def _of_panel(rows: pd.DataFrame, panel: dict) -> pd.DataFrame:
    rows = of_quantity(rows, panel)
    return select(rows, kernel=panel["kernel"]) if "kernel" in panel else rows


def cells_of(rows: pd.DataFrame, panel: dict, *, is_size: bool, errors: bool) -> pd.DataFrame:
    """Return the points of a panel with the ends of their error bars, as ``draw_lines`` takes them.

    ``ValueError`` if rows give two points at one place of a line.
    """
    cells = compared(rows, panel["against"]) if "against" in panel else summarise(rows)
    cells = cells[cells["n"] > 0]
    if errors:
        cells = with_errors(cells, geometric="against" in panel and not fact_of(panel["metric"]).is_percentage)
    x = cells["n_features" if is_size else "at"].astype(float)
    cells = cells.assign(x=x, line=cells["method"] + "/" + cells["variant"])
    twice = cells[cells.duplicated(["line", "x"])]
    if len(twice):
        line, x = twice[["line", "x"]].iloc[0]
        raise ValueError(
            f"{panel['metric']} has two values of {line} at {x:g} in one panel: the entry selects too much"
        )
    return cells


def with_errors(cells: pd.DataFrame, *, geometric: bool = False) -> pd.DataFrame:
    """Return cells with bars of one standard error of the mean in place of one deviation.

    ``geometric`` errors are those of the logarithm. Bars of times by rounds stay the quartiles.
    """
    root, by_repeat = np.sqrt(cells["n"].astype(float)), cells["rounds"] == 0
    ends = {}
    for name in ("lower", "upper"):
        mean, end = cells["mean"], cells[name]
        error = mean * (end / mean) ** (1.0 / root) if geometric else mean + (end - mean) / root
        ends[name] = error.where(by_repeat, end)
    return cells.assign(**ends)


def _axes(width: str, datasets: list[str], columns: list[int], abreast: int) -> tuple[Figure, dict[tuple, Axes]]:
    """Return the figure, and its axes by data set and position of the panel, row by row."""
    across = max(1, min(abreast, len(datasets))) * len(columns)
    figure, axes = side_by_side(width, len(datasets) * len(columns), across, HEIGHT)
    return figure, dict(zip(itertools.product(datasets, columns), axes, strict=True))


def _draw_panel(ax, panel: dict, cells: pd.DataFrame, styles: dict[str, PlotStyle], x: dict) -> None:
    logarithmic = x["scale"] == "log"
    draw_lines(ax, cells, styles, spread=SPREAD, doublings=logarithmic)
    always = [no_difference(panel["metric"])] if "against" in panel else []
    for value in always:
        ax.axhline(value, color="black", linewidth=0.7, zorder=1.5)
    ax.set_yscale(panel["scale"])
    if cells["x"].nunique() > 1:
        cut_outlier(ax, cells, styles, always)
    if panel["scale"] == "log":
        log_axis(ax.yaxis)
    else:
        ax.yaxis.set_major_locator(MaxNLocator(5))
    if logarithmic and x["axis"] == SIZES["axis"]:
        ax.set_xscale("log", base=2)
        sizes = cells.drop_duplicates("x").sort_values("x")
        ax.set_xticks(sizes["x"], sizes["n_features_label"])
        ax.xaxis.set_minor_locator(NullLocator())
    elif logarithmic:
        log_axis(ax.xaxis)
    else:
        ax.xaxis.set_major_locator(MaxNLocator(4))
    if cells["x"].nunique() == 1:
        ax.margins(x=1.0)
    ax.set_ylabel(textwrap.fill(panel["label"], LABEL_WIDTH))


def _draw_chance(ax, chance: float) -> bool:
    """Draw the score of naming the more frequent class if the axis stays readable; return whether it is drawn."""
    low, high = ax.get_ylim()
    if not low - (high - low) <= chance <= high + (high - low):
        return False
    ax.axhline(chance, **REFERENCE)
    margin = 0.05 * (high - low)
    ax.set_ylim(min(low, chance - margin), max(high, chance + margin))
    return True


def _lowest(axes: dict, found: dict) -> list:
    """Return the lowest panel of every column of the figure."""
    by_column = {axes[place].get_subplotspec().colspan.start: axes[place] for place in axes if place in found}
    return list(by_column.values())


def _why_absent(rows: pd.DataFrame, own: pd.DataFrame, panel: dict) -> str:
    """Return why a panel has nothing to show; ``rows`` are those of its data set."""
    if len(rows) and not len(own) and fact_of(panel["metric"]).unit == "s":
        return "not timed"
    if "against" in panel and (own["status"] == "ok").any():
        return f"nothing to compare with {panel['against']}"
    return absence(own).split(":")[0]


def _on_absent(absent: dict[tuple[str, str], str], there: list[str], paper: str, context: Context) -> list[str]:
    """Return a sentence on the panels that are not there, by the reason; a data set without any by its name."""
    by_reason: dict[str, dict[str, None]] = {}
    for (dataset, label), why in absent.items():
        name = printed_name(context.tasks, dataset, paper)
        by_reason.setdefault(why, {})[f"{name}: {label}" if dataset in there else name] = None
    return not_drawn({why: list(what) for why, what in by_reason.items()})


def _on_levels(found: dict, styles: dict[str, PlotStyle]) -> list[str]:
    """Return a sentence on the methods that are level lines."""
    level = {line for *_, cells in found.values() for line, own in cells.groupby("line") if own["x"].isna().all()}
    names = ", ".join(styles[line].label for line in styles if line in level)
    return [f"Level lines with a band: {names}, which the horizontal axis does not change."] if names else []
