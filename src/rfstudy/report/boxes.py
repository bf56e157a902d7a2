"""Texts on a blank sheet, for drawings that are no charts: their widths in inches, lines that fit, and the sheet."""

from __future__ import annotations

import re
from functools import cache

from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from rfstudy.report.layout import HINTED
from rfstudy.report.style import STYLE, style

#: Points of a text, and inches of a line of it.
TEXT, LINE = 7.0, 0.1

#: Steps in which the limit of a column is found: to a billionth of an inch.
HALVINGS = 40

#: What is not broken: a word, or mathematics with what it touches. A fixed space keeps words together.
WORD = re.compile(r"(?:\$[^$]*\$|[^ \n$])+")
FIXED_SPACE = "\u00a0"


@cache
def width_of(text: str, size: float = TEXT) -> float:
    """Inches that a text, perhaps with mathematics in it, takes on one line."""
    with style():
        font = FontProperties(family=STYLE["font.family"], size=size)
        return HINTED * text_to_path.get_text_width_height_descent(text, font, ismath="$" in text)[0] / 72


def longest_word(text: str) -> float:
    """Inches of the widest word of a text: no narrower column can hold it."""
    return max((width_of(word) for word in WORD.findall(text)), default=0.0)


def lines_of(text: str, inches: float) -> list[str]:
    """A text in lines of at most so many inches; a word that is wider has a line of its own."""
    lines: list[str] = []
    for word in WORD.findall(text):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width_of(longer) <= inches:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def fitted(natural: list[float], least: list[float], available: float) -> list[float]:
    """Widths of columns that go into what is available: as wide as their texts (``natural``), but none wider than a
    limit that all share, the largest that fits, and none narrower than ``least``.

    >>> [round(width, 6) for width in fitted([1.0, 4.0, 3.0], [0.5, 0.5, 0.5], 6.0)]
    [1.0, 2.5, 2.5]
    """

    def limited(limit: float) -> list[float]:
        return [max(m, min(n, limit)) for n, m in zip(natural, least, strict=True)]

    low, high = 0.0, max(natural)
    if sum(limited(high)) <= available:
        return limited(high)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(limited(middle)) <= available else (low, middle)
    return limited(low)


def blank(ax: Axes, width: float, height: float) -> None:
    """Make axes an empty sheet whose units are inches, from the lower left corner."""
    ax.set(xlim=(0.0, width), ylim=(0.0, height))
    ax.grid(False)
    ax.patch.set_visible(False)
    for part in (ax.xaxis, ax.yaxis, *ax.spines.values()):
        part.set_visible(False)
