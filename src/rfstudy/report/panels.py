"""Figures made of panels: lines with error bars or bands, one legend above all panels and two lines of notes below."""

import itertools
import re
import textwrap
from collections.abc import Iterable, Sequence
from string import ascii_lowercase

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

from random_features.errors import UserError
from rfstudy.metrics import fact_of
from rfstudy.report.aggregate import method_order, select
from rfstudy.report.chance import LABEL, chance_of, notes_on_chance
from rfstudy.report.context import Context
from rfstudy.report.notes import by_reason, dataset_name, status_of
from rfstudy.report.plot_styles import PlotStyle, plot_style
from rfstudy.report.style import REFERENCE, SMALLEST, Picture, drawn_as

#: Widths of a figure on paper in inches: one of two columns, and the text of a page.
WIDTHS = {"column": 3.5, "page": 7.16}

#: Inches of a line of the legend and of the notes, of an entry of the legend without its label, and of a character.
LEGEND_LINE, NOTE_LINE, HANDLE, CHARACTER = 0.16, 0.12, 0.42, 0.055

#: Characters of a line of the title of one of four panels.
TITLE = 28

#: Lines of notes under a figure, and characters of an inch of them.
NOTE_LINES, PER_INCH = 2, 25

#: An upright axis is cut if some lines make it more than so many times as long as the others need, by its scale.
FLATTENED, DECADES = {"linear": 5.0, "log": 3.0}, 3.0

#: Inches of a panel below which a horizontal axis has fewer ticks.
NARROW = 1.0

#: From where and to where a number is written without a power of ten.
PLAIN = 1e-4, 1e6

#: Digits of the ticks of a logarithmic axis of less than a decade: the first that give it three.
DIGITS = (1.0, 2.0, 5.0), (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)

#: The least length of an axis of percentages, in points: differences below the practical margin look small.
LEAST_POINTS = 2.0


def inches(width: str | Axes) -> float:
    """Return a width in inches. Raise ``UserError`` for axes of a user: the figure fits into none."""
    if isinstance(width, Axes):
        raise UserError("axes take one panel of lines or dots, and this figure has other parts: leave ax=... out")
    return WIDTHS[width]


def grid(width: str | Axes, n_rows: int, n_columns: int, height: float) -> tuple[Figure, np.ndarray]:
    """Return a figure of a width ("column" or "page") and its axes in rows, each row so many inches high.

    In place of a width, axes of a user take a single panel.
    """
    if isinstance(width, Axes):
        if n_rows * n_columns != 1:
            raise UserError(f"axes take one panel, and these are {n_rows * n_columns}: choose datasets and panels")
        return width.figure, np.array([[width]])
    figure = Figure(figsize=(WIDTHS[width], n_rows * height), layout="constrained")
    return figure, figure.subplots(n_rows, n_columns, squeeze=False)


def side_by_side(width: str, n: int, most: int, height: float) -> tuple[Figure, list[Axes]]:
    """Return a figure and n axes, up to ``most`` in a row."""
    columns = max(1, min(most, n))
    figure, axes = grid(width, max(1, -(-n // columns)), columns, height)
    for ax in axes.flat[n:]:
        ax.remove()
    return figure, list(axes.flat[:n])


def nothing(width: str, reasons: dict[str, str]) -> Picture:
    """Return a picture without panels, which is not written, with the reason of each of its parts."""
    return Picture(side_by_side(width, 0, 1, 1.0)[0], notes=not_drawn(reasons))


def by_dataset(
    width: str, height: float, places: Sequence[tuple[str, int]], titles: dict[str, str], x: list[str], per_row: int = 1
) -> tuple[Figure, dict[tuple[str, int], Axes]]:
    """Return a figure with a row of panels per data set, and its axes by place.

    Parameters
    ----------
    places : data set and position of every panel that there is
    titles : by data set, in the order of the rows; a letter goes before them if there are several
    x : by position, the label below the lowest panel of a column
    per_row : data sets in one row of the figure
    """
    there = [dataset for dataset in titles if any(dataset == each for each, _ in places)]
    columns = sorted({column for _, column in places})
    figure, axes = side_by_side(width, len(there) * len(columns), min(per_row, len(there)) * len(columns), height)
    axes = dict(zip(itertools.product(there, columns), axes, strict=True))
    for place in axes.keys() - set(places):
        axes.pop(place).remove()
    first = {dataset: ax for (dataset, _), ax in reversed(axes.items())}
    for letter, dataset in zip(ascii_lowercase, there, strict=False):
        first[dataset].set_title(f"({letter}) {titles[dataset]}" if len(there) > 1 else titles[dataset], loc="left")
    lowest = {ax.get_subplotspec().colspan.start: (ax, position) for (_, position), ax in axes.items()}
    for ax, position in lowest.values():
        ax.set_xlabel(x[position])
    return figure, axes


def titles_of(datasets: Iterable[str], rows: pd.DataFrame, paper: str, context: Context) -> dict[str, str]:
    """Return by data set its name in a paper with the remark on its rows."""
    return {each: dataset_name(context, each, paper, select(rows, dataset=each)) for each in datasets}


def set_titles(axes: Sequence[Axes], names: Iterable[str]) -> None:
    """Give panels, four in a row, their letters and names, in lines that are not wider than a panel. One panel has no
    letter.
    """
    for letter, ax, name in zip(ascii_lowercase, axes, names, strict=False):
        ax.set_title(textwrap.fill(f"({letter}) {name}" if len(axes) > 1 else name, TITLE), loc="left")


def finished(picture: Picture, width=None) -> Picture:
    """Return a picture with drawn panels, completed by its legend and the notes that fit in two lines.

    ``width`` is as for ``grid``.
    """
    figure, entries, notes, *_ = picture
    entries = [drawn_as(each) if isinstance(each, PlotStyle) else each for each in entries]
    handles = [Line2D([], [], **each) for each in {each["label"]: each for each in entries}.values()]
    if not figure.axes:
        return picture
    if isinstance(width, Axes):  # of a user: only the legend is ours
        width.legend(handles=handles)
        return picture
    across, height = figure.get_size_inches()
    if handles:
        widths = [HANDLE + CHARACTER * length(handle.get_label()) for handle in handles]
        lines = 1
        while lines < len(widths) and sum(max(widths[i : i + lines]) for i in range(0, len(widths), lines)) > across:
            lines += 1
        figure.legend(handles=handles, loc="outside upper center", ncols=-(-len(handles) // lines))
        height += LEGEND_LINE * lines
    if shown := first_notes(notes, int(PER_INCH * across)):
        figure.supxlabel("\n".join(shown), x=0.01, ha="left", fontsize=SMALLEST, parse_math=False)
        height += NOTE_LINE * len(shown)
    figure.set_size_inches(across, height)
    return picture


def length(text: str) -> int:
    """Return how many characters wide a text is; it may contain mathematics."""
    return len(re.sub(r"\\[a-zA-Z]+", "m", text)) - len(re.findall(r"[${}^_]", text))


def first_notes(notes: Iterable[str], characters: int) -> list[str]:
    """Return the lines of the notes that fit under a figure, each note whole; the others are only in its ``.txt``."""
    shown = ""
    for note in notes:
        longer = f"{shown} {note}".strip()
        shown = longer if len(textwrap.wrap(longer, characters)) <= NOTE_LINES else shown
    return textwrap.wrap(shown, characters)


def styles_of(rows: pd.DataFrame, methods: list[str], context: Context) -> dict[str, PlotStyle]:
    """Return the plot styles of the lines "method/variant" of rows, the listed methods first."""
    pairs = method_order(rows, methods)
    return {f"{method}/{variant}": plot_style(method, context.styles, variant) for method, variant in pairs}


def not_drawn(reasons: dict[str, str]) -> list[str]:
    """Return a sentence about missing panels of a figure, by the reason; none if nothing is missing."""
    return [f"Not drawn: {by_reason(reasons.items())}."] if reasons else []


def without_panel(frame: pd.DataFrame, datasets: list[str], paper: str, context: Context) -> list[str]:
    """Return a sentence on the data sets without any ok row, by the reason."""
    ok = set(select(frame, status="ok")["dataset"])
    missing = (dataset for dataset in datasets if dataset not in ok)
    return not_drawn({context.name(d, paper): status_of(select(frame, dataset=d)) for d in missing})


def with_unit(metric: str) -> str:
    """Return the name of a metric along an axis: its label and, in brackets, its unit."""
    fact = fact_of(metric)
    return f"{fact.label} ({fact.unit})" if fact.unit else fact.label


def draw_lines(ax: Axes, cells: pd.DataFrame, styles: dict[str, PlotStyle], *, band: bool = False) -> None:
    """Draw a line with error bars (or a band) for each plot style that has cells.

    Parameters
    ----------
    cells : a row per point: ``line`` (a key of ``styles``), ``x`` (missing for a level line), ``mean``, ``lower`` and
        ``upper``, perhaps ``left`` and ``right`` (ends of horizontal bars) and ``machine_busy`` (marked by a cross)
    """
    groups = dict(list(cells.sort_values("x", kind="stable").groupby("line", sort=False)))
    bars = []
    for line in (line for line in styles if line in groups):
        own, drawn = groups[line], drawn_as(styles[line])
        x, mean, lower, upper = own[["x", "mean", "lower", "upper"]].to_numpy(dtype=float).T
        if ax.get_yscale() == "log":  # a bar that reaches zero is drawn upwards only
            lower = np.where(lower > 0, lower, mean)
        if np.isnan(x).all():
            ax.axhspan(lower[0], upper[0], color=drawn["color"], alpha=0.12, linewidth=0, zorder=0.5)
            ax.axhline(mean[0], color=drawn["color"], linestyle=drawn["linestyle"], linewidth=0.9, zorder=1.5)
            continue
        ax.plot(x, mean, **drawn)
        if band:
            ax.fill_between(x, lower, upper, color=drawn["color"], alpha=0.2, linewidth=0)
            continue
        bars.append(own.assign(x=x, lower=lower, color=drawn["color"]))
        busy = own.get("machine_busy", pd.Series(False, own.index)).to_numpy(dtype=bool)
        if busy.any():
            ax.plot(x[busy], mean[busy], marker="x", color="black", markersize=5.0, linestyle="none", zorder=4)
    if bars:  # all of a panel are one artist: one per line takes longer than the lines themselves
        bars = pd.concat(bars)
        ax.vlines(bars["x"], bars["lower"], bars["upper"], colors=bars["color"], linewidth=0.6)
        if "left" in bars:
            ax.hlines(bars["mean"], bars["left"], bars["right"], colors=bars["color"], linewidth=0.6)


def draw_dots(ax: Axes, cells: pd.DataFrame, styles: dict[str, PlotStyle], n_rows: int, spread: float = 0.0) -> None:
    """Draw means with horizontal error bars, in rows of the panel; lines are spread over a share of the row.

    ``cells`` has ``line`` (a key of ``styles``), ``row`` (0 at the top), ``mean``, ``lower`` and ``upper``; those that
    are ``pale`` have no bars.
    """
    for position, (line, each) in enumerate(styles.items()):
        drawn = drawn_as(each) | {"linestyle": "none"}
        for pale, own in cells[cells["line"] == line].groupby("pale"):
            y = own["row"].to_numpy() + spread * ((position + 0.5) / len(styles) - 0.5)
            mean, lower, upper = own[["mean", "lower", "upper"]].to_numpy(dtype=float).T
            if pale:
                ax.plot(mean, y, **drawn, alpha=0.35)
            else:
                ax.errorbar(mean, y, xerr=[mean - lower, upper - mean], elinewidth=0.6, **drawn)
    ax.set_ylim(n_rows - 0.4, -0.6)
    ax.xaxis.set_major_locator(MaxNLocator(5))


def draw_chances(panels: Iterable[tuple], name: str, paper: str, context: Context) -> tuple[list[dict], list[str]]:
    """Draw the score of naming the more frequent class across an axis ("x" or "y") of panels that stay readable.

    ``panels`` are axes with their data set and quantity. Return the entry of the legend, if there is a line, and the
    note on all scores.
    """
    scores, is_drawn = {}, False
    for ax, dataset, quantity in panels:
        chance = chance_of(dataset, quantity, context)
        if chance is None:
            continue
        scores[dataset] = chance
        low, high = ax.get_xlim() if name == "x" else ax.get_ylim()
        if low - (high - low) <= chance <= high + (high - low):
            line, set_limits = (ax.axvline, ax.set_xlim) if name == "x" else (ax.axhline, ax.set_ylim)
            line(chance, **REFERENCE)
            margin = 0.05 * (high - low)
            set_limits(min(low, chance - margin), max(high, chance + margin))
            is_drawn = True
    entries = [{"label": LABEL} | REFERENCE] if is_drawn else []
    return entries, notes_on_chance(scores, paper, context, drawn=is_drawn)


def doublings_axis(ax: Axes, values: Sequence[float], labels: Sequence[str]) -> None:
    """Make the horizontal axis logarithmic, with a tick for each of the values and none between them."""
    ax.set_xscale("log", base=2)
    ax.set_xticks(values, labels)
    ax.xaxis.set_minor_locator(NullLocator())


def log_axis(axis) -> None:
    """Make an axis logarithmic, with two to six ticks and labels without exponents; call it after drawing."""
    name = axis.axis_name
    getattr(axis.axes, f"set_{name}scale")("log")
    low, high = axis.get_view_interval()
    decades, plain = np.log10(high / low), PLAIN
    if decades < 0.9:
        powers = 10.0 ** np.arange(np.floor(np.log10(low)), np.log10(high))
        ticks = {digits: np.outer(powers, digits) for digits in DIGITS}
        enough = [digits for digits, own in ticks.items() if ((low <= own) & (own <= high)).sum() >= 3]
        is_even = not enough  # a short axis
        axis.set_major_locator(MaxNLocator(4, min_n_ticks=3) if is_even else LogLocator(subs=enough[0], numticks=20))
    else:
        has_powers = low < PLAIN[0] or high >= PLAIN[1]
        plain = (1e-2, 1e4) if has_powers else PLAIN  # one axis has powers for all but the usual numbers
        inches = axis.axes.get_position().width * axis.axes.figure.get_figwidth()
        subs = (1.0, 3.0) if decades < 3.2 and not has_powers else (1.0,)
        if decades < 2.0 and (name == "y" or inches > NARROW):
            subs = (1.0, 2.0, 5.0)
        axis.set_major_locator(LogLocator(subs=subs, numticks=20 if decades < 3.2 else 4 if name == "x" else 6))
    # as many digits as tell the ends of a narrow axis apart
    digits = max(3, 2 + int(np.ceil(-np.log10(max(high / low - 1.0, 1e-6)))))
    axis.set_major_formatter(lambda x, _: brief(x, digits, plain))
    axis.set_minor_locator(NullLocator())


def brief(value: float, digits: int = 3, plain: tuple[float, float] = PLAIN) -> str:
    """Return a number to some digits, with a power of ten if it is very small or large: not ``plain``."""
    if plain[0] <= abs(value) < plain[1] or value == 0:
        return f"{float(f'{value:.{digits}g}'):,.10g}"
    leading, power = f"{value:.1e}".split("e")
    factor = "" if leading == "1.0" else leading.removesuffix(".0") + r" \times "
    return f"${factor}10^{{{int(power)}}}$"


def cut_outliers(ax: Axes, cells: pd.DataFrame, styles: dict[str, PlotStyle], always: Sequence[float] = ()) -> None:
    """Cut an upright axis that some lines make over ``FLATTENED`` times as long, and write their values on the panel.

    Two lines stay. Several are cut only if they make a logarithmic axis ``DECADES`` longer. ``always`` are values that
    the axis always shows.

    >>> (ax := Figure().subplots()).set_yscale("log")
    >>> cells = pd.DataFrame({"line": list("aabbccdd"), "mean": [1e3, 1e4, 0.2, 0.3, 0.1, 0.2, 0.1, 0.25]})
    >>> cells = cells.assign(upper=cells["mean"], lower=[1e3, 1e4, 1e-3, 0.2, 0.1, 0.2, 0.1, 0.25])
    >>> cut_outliers(ax, cells, {line: PlotStyle(line, "black", "o", "solid") for line in "abcd"})
    >>> bool(ax.get_ylim()[1] < 2), [text.get_text() for text in ax.texts]  # b has a long bar, and its means are shown
    (True, ['a 1,000 to 10,000 ↑'])
    """
    transform, lines = ax.yaxis.get_transform(), cells["line"].to_numpy()
    ends = cells[["mean", "lower", "upper"]].to_numpy(dtype=float)
    ends = np.where(ends > 0, ends, np.nan) if ax.get_yscale() == "log" else ends
    spans = {
        line: transform.transform([extreme.reduce(ends[lines == line], axis=None) for extreme in (np.fmin, np.fmax)])
        for line in dict.fromkeys(lines)
    }
    fixed = transform.transform(np.array(always))
    least, most = (extreme.reduce(np.concatenate([fixed, *spans.values()])) for extreme in (np.fmin, np.fmax))
    orders = sorted(spans, key=lambda line: -spans[line][1]), sorted(spans, key=lambda line: spans[line][0])
    for n, order in itertools.product(range(1, len(spans) - 1), orders):
        others = np.concatenate([fixed, *(spans[line] for line in order[n:])])
        low, high = np.fmin.reduce(others), np.fmax.reduce(others)
        saves = n == 1 or (ax.get_yscale() == "log" and most - high + low - least > DECADES)
        if saves and 0 < FLATTENED[ax.get_yscale()] * (high - low) < most - least:
            margin, below = 0.08 * (high - low), low - least > most - high
            room = 0.15 * n * (high - low)  # for the text
            ends = [low - margin - room * below, high + margin + room * (not below)]
            ax.set_ylim(transform.inverted().transform(ends))
            means_of = {line: cells.loc[cells["line"] == line, "mean"] for line in styles if line in order[:n]}
            cut = {line: means for line, means in means_of.items() if not means.between(*ax.get_ylim()).all()}
            for position, (line, means) in enumerate(cut.items()):
                text = f"{styles[line].label} {brief(means.min())} to {brief(means.max())} {'↓' if below else '↑'}"
                y = 0.03 + 0.13 * (len(cut) - 1 - position) if below else 0.97 - 0.13 * position
                ax.text(0.97, y, text, ha="right", va="bottom" if below else "top", fontsize=SMALLEST,
                        color=styles[line].colour, transform=ax.transAxes,
                        bbox={"facecolor": "white", "linewidth": 0, "pad": 0})  # fmt: skip
            return


def cut_row(ax: Axes, cells: pd.DataFrame, always: float) -> None:
    """Cut the axis of ``draw_dots`` that one row makes over ``FLATTENED`` times as long as the others and the value
    ``always`` need, and write the means of this row on the panel.

    >>> (ax := Figure().subplots()).set_xscale("log")
    >>> cells = pd.DataFrame({"row": [0, 1, 2], "mean": [1.1, 0.9, 5e4]})
    >>> cells = cells.assign(lower=[1.0, 0.8, 4e4], upper=[1.2, 1.0, 6e4])
    >>> cut_row(ax, cells, 1.0)
    >>> bool(ax.get_xlim()[1] < 1.5), [text.get_text() for text in ax.texts]
    (True, ['50,000 →'])
    >>> cut_row(near := Figure().subplots(), cells[:2], 1.0)
    >>> len(near.texts)
    0
    """
    transform = ax.xaxis.get_transform()
    low, high = (transform.transform(np.append(cells[name], always)) for name in ("lower", "upper"))
    for row in cells["row"].unique():
        others = np.append(cells["row"] != row, True)
        first, last = low[others].min(), high[others].max()
        if last > first and FLATTENED[ax.get_xscale()] * (last - first) < high.max() - low.min():
            margin, below = 0.08 * (last - first), first - low.min() > high.max() - last
            ax.set_xlim(transform.inverted().transform([first - margin, last + margin]))
            means = cells.loc[cells["row"] == row, "mean"]
            cut = " to ".join(means[~means.between(*ax.get_xlim())].sort_values().map(brief))
            text, x, side = (f"← {cut}", 0.02, "left") if below else (f"{cut} →", 0.98, "right")
            ax.text(x, row, text, ha=side, va="center", fontsize=SMALLEST, transform=ax.get_yaxis_transform(),
                    bbox={"facecolor": "white", "linewidth": 0, "pad": 0})  # fmt: skip
            return


def widen(ax: Axes, name: str = "y") -> None:
    """Make an axis of percentages ("x" or "y") at least ``LEAST_POINTS`` long."""
    low, high = getattr(ax, f"get_{name}lim")()
    missing = LEAST_POINTS - (high - low)
    if missing > 0:
        getattr(ax, f"set_{name}lim")(low - missing / 2, high + missing / 2)


def label_ends(ax: Axes, ends: dict[str, tuple[float, str]]) -> None:
    """Write labels to the right of axes, at the heights of the ends of their lines and not over each other.

    ``ends`` has, by label, the value at the end of the line and the colour.
    """
    transform = ax.transData + ax.transAxes.inverted()
    x = ax.get_xlim()[1]
    heights = {label: transform.transform((x, value))[1] for label, (value, _) in ends.items()}
    labels = sorted(heights, key=heights.get)
    apart = SMALLEST / 72 / ax.get_position().height / ax.figure.get_size_inches()[1]
    steps = apart * np.arange(len(labels))
    lifted = np.maximum.accumulate([heights[label] for label in labels] - steps)
    for label, height in zip(labels, np.minimum(lifted, 1.0 - steps[-1]) + steps, strict=True):
        ax.text(1.02, height, label, color=ends[label][1], fontsize=SMALLEST, va="center", transform=ax.transAxes)
