"""Texts on a blank sheet, for drawings that are no charts: a sheet in characters and lines, and texts that fit."""

import re
import textwrap

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rfstudy.report.panels import WIDTHS, length

#: Points of a text; its lines and characters per inch.
SIZE, LINES, CHARACTERS = 7.0, 9.4, 25.0

#: Stands for a space that does not break a line.
FIXED = "\u00a0"


def sheet(width: str, lines: float) -> tuple[Figure, Axes]:
    """Return a figure and its axes without frame, whose units are characters and lines from the upper left corner."""
    figure = Figure(figsize=(WIDTHS[width], lines / LINES + 0.08), layout="constrained")
    ax = figure.subplots()
    ax.set(xlim=(0.0, across(width)), ylim=(lines, 0.0))
    ax.set_axis_off()
    return figure, ax


def across(width: str) -> int:
    """Return how many characters a sheet of a width is wide."""
    return int(CHARACTERS * WIDTHS[width])


def lines_of(text: str, characters: int) -> list[str]:
    """Return a text in lines of about so many characters; words and formulas stay whole."""
    whole = re.sub(r"\$[^$]*\$", lambda formula: formula[0].replace(" ", FIXED), text)
    lines = textwrap.wrap(whole, characters, break_long_words=False, break_on_hyphens=False)
    return [re.sub(r"\$[^$]*\$", lambda formula: formula[0].replace(FIXED, " "), line) for line in lines]


def fitted(columns: list[list[str]], available: float) -> tuple[int, list[int]]:
    """Return the longest lines with which the texts of all columns fit into so many characters, and the widths of the
    columns with them."""
    for limit in range(int(available), 0, -1):
        lines = [[line for text in column for line in lines_of(text, limit)] for column in columns]
        widths = [max(map(length, of_column)) for of_column in lines]
        if sum(widths) <= available:
            break
    return limit, widths
