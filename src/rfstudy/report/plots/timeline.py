"""A timeline: above the axis the maps by the year of their publication, as the registry has them, with what else a
paper names; below it the theory.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from rfstudy.report.boxes import LINE, TEXT, blank, fitted, lines_of, longest_word, width_of
from rfstudy.report.context import Context
from rfstudy.report.layout import PAD, WIDTHS, Panel, Row, laid_out
from rfstudy.report.published import printed_name
from rfstudy.report.style import Picture

#: Keys of an entry of this kind, beside those of all entries.
REQUIRED = ("width", "published", "facts")

#: Inches: between columns, between entries of a column, of the band with the years, and around all.
BETWEEN, APART, BAND, AROUND = 0.07, 0.055, 0.17, 0.04

#: Colours: of a map of the study, of what is none, of theory, of the band with the years.
MAP, OTHER, THEORY, YEARS = "#000000", "#808080", "#004488", "#E4EAF0"


class Entry(NamedTuple):
    """One text of a column, and its colour."""

    text: str
    colour: str


def draw(context: Context, spec: dict) -> Picture:
    """The figure of one specification of kind "timeline"; of ``spec`` the ``paper``, its figure as ``published``, and
    the ``facts``.
    """
    above, below = _algorithms(context, spec), _theory(context, spec)
    years = list(range(min({*above, *below}), max({*above, *below}) + 1))
    width = WIDTHS[spec["width"]] - 2 * PAD
    widths = _widths(years, above, below, width)
    stacks = [{year: _lines(side.get(year, []), inches) for year, inches in zip(years, widths, strict=True)}
              for side in (above, below)]  # fmt: skip
    tall, deep = (max(_height(stack) for stack in of_years.values()) for of_years in stacks)
    height = tall + deep + BAND + 4 * AROUND
    panel = Panel(partial(_drawn, years=years, widths=widths, stacks=stacks, deep=deep, size=(width, height)))
    notes = [
        "Above: maps by the year of their publication; grey: named by the survey, and no map of this study. Below: the "
        "theory."
    ]
    return laid_out(spec["width"], [Row([panel], height)], [], notes)


def _algorithms(context: Context, spec: dict) -> dict[int, list[Entry]]:
    """By year the maps that the paper names, then what else it names."""
    found: dict[int, list[Entry]] = {}
    for method, entry in context.styles.items():
        if spec["paper"] in (entry.get("published_as") or {}):
            name = printed_name(context.styles, method, spec["paper"])
            found.setdefault(entry["year"], []).append(Entry(name, MAP))
    return _with_facts(found, context, spec, "algorithm", OTHER)


def _theory(context: Context, spec: dict) -> dict[int, list[Entry]]:
    return _with_facts({}, context, spec, "theory", THEORY)


def _with_facts(found: dict, context: Context, spec: dict, side: str, colour: str) -> dict[int, list[Entry]]:
    """The entries by year with those that the facts have for one side; theory is told with its authors."""
    for row in context.texts(spec["facts"], paper=spec["paper"], figure=spec["published"], side=side).to_dict(
        "records"
    ):
        text = f"{row['text']} ({row['reference']})" if side == "theory" else row["text"]
        found.setdefault(int(row["year"]), []).append(Entry(text, colour))
    return found


def _widths(years: list[int], above: dict, below: dict, available: float) -> list[float]:
    """Inches of every year's column; names above stand on one line where there is room."""
    texts = [[entry.text for side in (above, below) for entry in side.get(year, [])] for year in years]
    natural = [max(map(width_of, [str(year), *own])) for year, own in zip(years, texts, strict=True)]
    least = [max(map(longest_word, [str(year), *own])) for year, own in zip(years, texts, strict=True)]
    widths = fitted(natural, least, available - BETWEEN * len(years))
    spare = (available - BETWEEN * len(years) - sum(widths)) / len(years)
    return [width + spare for width in widths]


def _lines(entries: list[Entry], inches: float) -> list[tuple[list[str], str]]:
    return [(lines_of(entry.text, inches), entry.colour) for entry in entries]


def _height(stack: list[tuple[list[str], str]]) -> float:
    return sum(LINE * len(lines) + APART for lines, _ in stack)


def _drawn(ax, years, widths, stacks, deep, size) -> None:
    width, height = size
    blank(ax, width, height)
    band = AROUND + deep + AROUND
    ax.axhspan(band, band + BAND, color=YEARS, linewidth=0)
    x = 0.0
    for year, inches in zip(years, widths, strict=True):
        middle = x + (inches + BETWEEN) / 2
        ax.text(middle, band + BAND / 2, str(year), ha="center", va="center_baseline", fontsize=TEXT, fontweight="bold")
        y = band + BAND + AROUND
        for lines, colour in stacks[0][year]:
            ax.text(middle, y, "\n".join(lines), ha="center", va="bottom", fontsize=TEXT, color=colour, linespacing=1.0)
            y += LINE * len(lines) + APART
        y = band - AROUND
        for lines, colour in stacks[1][year]:
            ax.text(middle, y, "\n".join(lines), ha="center", va="top", fontsize=TEXT, color=colour, linespacing=1.0)
            y -= LINE * len(lines) + APART
        x += inches + BETWEEN
