"""The one way to lay out a figure: a legend on top, rows of panels whose axes are aligned, and the notes below.

A picture says what its panels draw; here they get their places. Everything is in inches of the printed page: a figure
is as wide as a column or as the text of a page, panels side by side are equally wide, and margins are as wide as the
labels in them turn out to be. The height follows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.textpath import text_to_path

from rfstudy.report.style import STYLE, TITLE, Picture, style

#: Inches that a figure is wide in print: one of two columns, and the text of a page.
WIDTHS = {"column": 3.5, "page": 7.16}

#: Inches: around the figure, between panels side by side (their labels apart), between rows, and where a row hangs on
#: the one above.
PAD, BETWEEN, ROW_GAP, JOINT = 0.06, 0.09, 0.03, 0.07

#: Inches: lines of the legend, of the titles of rows and panels (and of each further line of these), and of the notes.
LEGEND_LINE, ROW_TITLE, PANEL_TITLE, TITLE_LINE, NOTE_LINE = 0.16, 0.18, 0.17, 0.135, 0.115

#: Inches: a strip of a broken axis and the gap at the break.
STRIP, BREAK = 0.36, 0.05

#: Points.
NOTE_SIZE, EMPTY_SIZE = 6.5, 8.0

#: Of a legend, in sizes of its font: the line, and the spaces between line and label and between columns.
HANDLE, HANDLE_PAD, COLUMN_SPACE = 2.3, 0.4, 1.2

#: Characters are moved to whole pixels on a screen, which makes a line up to so much longer than in print.
HINTED = 1.03

#: Inches between the labels of two horizontal ticks, at least.
LABEL_GAP = 0.06

#: What a figure says that has no panel.
NOTHING = "Nothing to show."

Draw = Callable[[Axes], None]


class Panel(NamedTuple):
    """What draws a panel, scales and limits included; ``above`` and ``below`` draw the strips of a broken axis."""

    draw: Draw
    title: str = ""
    above: Draw | None = None
    below: Draw | None = None

    def parts(self, height: float) -> list[tuple[Draw, float]]:
        """What is drawn from top to bottom, and how much of the panel's height each takes."""
        strips = (self.above is not None) + (self.below is not None)
        main = height - strips * (STRIP + BREAK)
        return [(part, main if part is self.draw else STRIP) for part in (self.above, self.draw, self.below) if part]


class Drawn(NamedTuple):
    """The axes of a panel from top to bottom, and their heights."""

    axes: list[Axes]
    heights: list[float]


class Row(NamedTuple):
    """Panels side by side (None leaves a place free) and their height in inches, strips included.

    Of several titles each is that of an equal part of the row. A row that is ``joined`` shares the horizontal axis with
    the one above, which then shows no labels of it.
    """

    panels: list[Panel | None]
    height: float
    title: str | tuple[str, ...] = ""
    joined: bool = False


def side_by_side(panels: list[Panel | None], most: int, height: float) -> list[Row]:
    """Rows of up to ``most`` panels of a height, the last one filled up with free places."""
    across = min(most, len(panels)) or 1
    rows = [panels[start : start + across] for start in range(0, len(panels), across)]
    return [Row([*row, *[None] * (across - len(row))], height) for row in rows]


def laid_out(width: str, rows: list[Row], legend: list[Line2D], notes: list[str]) -> Picture:
    """The picture of rows of panels.

    Parameters
    ----------
    width : "column" or "page"
    rows : from top to bottom; without any, the figure says in a line that there is nothing to show
    legend : its entries, shared by all panels
    notes : what a reader has to know, printed below and kept beside the figure

    Returns
    -------
    Picture of that width
    """
    inches = WIDTHS[width]
    with style():
        figure = Figure(figsize=(inches, 4.0))
        renderer = FigureCanvasAgg(figure).get_renderer()
        n_columns = max((len(row.panels) for row in rows), default=1)
        drawn = [_drawn(figure, row, inches / n_columns - 0.45) for row in rows]
        for above, row in zip(drawn, rows[1:], strict=False):
            if row.joined:
                for panel in above.values():
                    panel.axes[-1].tick_params(labelbottom=False)
        margins = [{j: _margins(figure, panel.axes, renderer) for j, panel in of.items()} for of in drawn]
        lines = wrapped(" ".join(notes), inches - 2 * PAD)
        across = _legend_columns([each.get_label() for each in legend], inches - 2 * PAD) if legend else 1
        legend_height = LEGEND_LINE * -(-len(legend) // across)
        lefts = [max((of[j][0] for of in margins if j in of), default=0.0) for j in range(n_columns)]
        right = max((of[n_columns - 1][1] for of in margins if n_columns - 1 in of), default=0.0)
        panel_width = (inches - 2 * PAD - sum(lefts) - right - (n_columns - 1) * BETWEEN) / n_columns
        heads = [_titled(row, panels, panel_width) for row, panels in zip(rows, drawn, strict=True)]
        joins = [*(row.joined for row in rows[1:]), False]
        heights = [
            head + row.height + (JOINT if joins_next else max(below for *_, below in of.values()) + ROW_GAP)
            for head, row, of, joins_next in zip(heads, rows, margins, joins, strict=False)
        ]
        height = 2 * PAD + legend_height + (sum(heights) if rows else 2 * LEGEND_LINE) + NOTE_LINE * len(lines)
        figure.set_size_inches(inches, height)
        _legend(figure, legend, across)
        if not rows:
            figure.text(0.5, 1.0 - (PAD + LEGEND_LINE) / height, NOTHING, ha="center", va="center", fontsize=EMPTY_SIZE)
        x = [PAD + sum(lefts[: j + 1]) + j * (panel_width + BETWEEN) for j in range(n_columns)]
        top = height - PAD - legend_height
        for row, panels, head, of_height in zip(rows, drawn, heads, heights, strict=True):
            for j, panel in panels.items():
                _place(figure, panel, x[j], top - head, panel_width)
            for middle, title in _titles(row.title, x, panel_width, inches):
                figure.text(middle / inches, (top - 0.03) / height, title, ha="center", va="top", fontsize=TITLE)
            top -= of_height
        where = PAD / inches, PAD / height
        figure.text(*where, "\n".join(lines), fontsize=NOTE_SIZE, va="bottom", linespacing=1.15, parse_math=False)
    return Picture(figure, notes)


def _titles(title: str | tuple[str, ...], lefts: list[float], width: float, inches: float) -> list[tuple[float, str]]:
    """The titles of a row, each with its middle in inches: that of the figure, or of its part of the panels, which are
    so wide and begin at ``lefts``.
    """
    if isinstance(title, str):
        return [(inches / 2, title)] if title else []
    across = len(lefts) // len(title)
    parts = [lefts[start : start + across] for start in range(0, len(lefts), across)]
    return [((part[0] + part[-1] + width) / 2, each) for part, each in zip(parts, title, strict=True) if each]


def _drawn(figure: Figure, row: Row, width: float) -> dict[int, Drawn]:
    """The panels of a row by column, drawn at the size that they will roughly have."""
    found = {}
    for j, panel in enumerate(row.panels):
        if panel is None:
            continue
        draws, heights = zip(*panel.parts(row.height), strict=True)
        found[j] = Drawn([figure.add_axes((0.0, 0.0, 1.0, 1.0)) for _ in draws], list(heights))
        _place(figure, found[j], 0.4, figure.get_size_inches()[1], width)
        for ax, draw in zip(found[j].axes, draws, strict=True):
            draw(ax)
        for upper, lower in zip(found[j].axes, found[j].axes[1:], strict=False):
            _broken(upper, lower)
    return found


def _broken(upper: Axes, lower: Axes) -> None:
    """Two parts of one panel: one horizontal axis, and strokes where the upright one is broken."""
    upper.tick_params(bottom=False, labelbottom=False)
    upper.spines.bottom.set_visible(False)
    lower.spines.top.set_visible(False)
    stroke = {"marker": [(-1.0, -0.6), (1.0, 0.6)], "markersize": 5, "markeredgewidth": 0.6, "clip_on": False}
    for ax, y in ((upper, 0.0), (lower, 1.0)):
        ax.plot([0, 1], [y, y], linestyle="none", color="black", transform=ax.transAxes, scalex=False, scaley=False,
                **stroke)  # fmt: skip


def _place(figure: Figure, panel: Drawn, left: float, top: float, width: float) -> None:
    """Put the parts of a panel below one another, in inches from the lower left corner of the figure."""
    wide, tall = figure.get_size_inches()
    for ax, height in zip(panel.axes, panel.heights, strict=True):
        ax.set_position((left / wide, (top - height) / tall, width / wide, height / tall))
        top -= height + BREAK


def _margins(figure: Figure, axes: list[Axes], renderer) -> tuple[float, float, float]:
    """Inches that the labels of a panel take left and right of it and below."""
    left, right, below = 0.0, 0.0, 0.0
    for ax in axes:
        for axis in (ax.xaxis, ax.yaxis):
            box = axis.get_tightbbox(renderer)
            if box is not None:
                left, right = max(left, ax.bbox.x0 - box.x0), max(right, box.x1 - ax.bbox.x1)
                below = max(below, ax.bbox.y0 - box.y0) if ax is axes[-1] else below
    return left / figure.dpi, right / figure.dpi, below / figure.dpi


def _titled(row: Row, panels: dict[int, Drawn], width: float) -> float:
    """Give the panels of a row their titles, in lines that are not wider than a panel; the inches of its titles."""
    depth = 0
    for j, panel in panels.items():
        title = row.panels[j].title
        # mathematics does not break
        lines = wrapped(title, width, TITLE) if "$" not in title else [title]
        # with its place given, no axis is measured for it whenever the figure is drawn
        panel.axes[0].set_title("\n".join(lines), y=1.0, pad=3, linespacing=1.1)
        depth = max(depth, len(lines))
    return ROW_TITLE * bool(row.title) + PANEL_TITLE * bool(depth) + TITLE_LINE * max(0, depth - 1)


def _legend(figure: Figure, handles: list[Line2D], columns: int) -> None:
    if handles:
        figure.legend(
            handles=handles,
            loc="upper center",
            bbox_to_anchor=(0.5, 1.0 - 0.4 * PAD / figure.get_size_inches()[1]),
            ncols=columns,
            borderpad=0.2,
            borderaxespad=0.0,
            handlelength=HANDLE,
            handletextpad=HANDLE_PAD,
            columnspacing=COLUMN_SPACE,
            labelspacing=0.35,
        )


def _legend_columns(labels: list[str], inches: float) -> int:
    """Columns of a legend in the fewest lines that fit, evenly filled; a column is as wide as its longest label."""
    size = STYLE["legend.fontsize"]
    for depth in range(1, len(labels)):
        n = -(-len(labels) // depth)
        widest = [max(text_width(label, size) for label in labels[i : i + depth]) for i in range(0, len(labels), depth)]
        if HINTED * sum(widest) + len(widest) * (HANDLE + HANDLE_PAD + COLUMN_SPACE) * size / 72 <= inches:
            return n
    return 1


def labels_apart(ax: Axes, at: Sequence[float], labels: Sequence[str]) -> list[str]:
    """The labels of horizontal ticks, which rise, with nothing in place of each that would touch the one before it.

    The horizontal axis has its scale and limits.
    """
    low, high, *places = ax.xaxis.get_transform().transform([*ax.get_xlim(), *at])
    inches = ax.get_position().width * ax.figure.get_size_inches()[0]
    shown, end = [], -LABEL_GAP - inches
    for place, label in zip(places, labels, strict=True):
        middle, half = inches * (place - low) / (high - low), text_width(label, STYLE["xtick.labelsize"]) * HINTED / 2
        shown.append(label if middle - half >= end + LABEL_GAP else "")
        end = middle + half if shown[-1] else end
    return shown


@cache
def text_width(text: str, size: float) -> float:
    """Inches that a text takes at a size in points."""
    font = FontProperties(family=STYLE["font.family"], size=size)
    return text_to_path.get_text_width_height_descent(text, font, ismath=False)[0] / 72


def wrapped(text: str, inches: float, size: float = NOTE_SIZE) -> list[str]:
    """A text in lines that are not wider than so many inches; a word that is wider has a line of its own."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else ""
        if longer and text_width(longer, size) * HINTED <= inches:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines
