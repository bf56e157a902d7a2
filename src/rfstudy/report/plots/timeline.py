"""A timeline: above the axis the maps by the year of their publication, below it the theory."""

from __future__ import annotations

from rfstudy.report.boxes import SIZE, across, lines_of, sheet
from rfstudy.report.context import Context
from rfstudy.report.panels import finished, length
from rfstudy.report.published import printed_name
from rfstudy.report.style import Picture

#: Lines between two entries and of the band with the years, and characters between two columns.
APART, BAND, GAP = 0.6, 1.6, 1

#: Colours: of a map of the study, of other maps, of theory, of the band with the years.
MAP, OTHER, THEORY, YEARS = "#000000", "#808080", "#004488", "#E4EAF0"


def draw(context: Context, *, paper: str, width: str, published: str, facts: str) -> Picture:
    """Return the figure; ``published`` is the figure in the paper, ``facts`` the file of what the registry lacks."""
    rows = context.texts(facts, paper=paper, figure=published)
    sides = maps_by_year(context, paper), {}
    for row in rows.to_dict("records"):
        is_theory = row["side"] == "theory"
        entry = (f"{row['text']} ({row['reference']})", THEORY) if is_theory else (row["text"], OTHER)
        sides[is_theory].setdefault(int(row["year"]), []).append(entry)
    years = list(range(min({*sides[0], *sides[1]}), max({*sides[0], *sides[1]}) + 1))
    lines, widths = fitted(years, sides, across(width))
    tall, deep = (max(sum(len(own) + APART for own, _ in of_year) for of_year in side.values()) for side in lines)
    figure, ax = sheet(width, tall + BAND + deep)
    ax.axhspan(tall, tall + BAND, color=YEARS, linewidth=0)
    spare = (across(width) - sum(widths)) / len(years)
    left = 0.0
    for year, own_width in zip(years, widths, strict=True):
        middle = left + (own_width + spare) / 2
        left += own_width + spare
        ax.text(middle, tall + BAND / 2, str(year), ha="center", va="center_baseline", fontsize=SIZE, fontweight="bold")
        for side, start, step in ((0, tall - APART / 2, -1), (1, tall + BAND + APART / 2, 1)):
            y = start
            for text, colour in lines[side].get(year, []):
                ax.text(middle, y, "\n".join(text), ha="center", va="top" if side else "bottom", fontsize=SIZE,
                        color=colour, linespacing=1.0)  # fmt: skip
                y += step * (len(text) + APART)
    remarks = ["Above: maps by year; grey: named by the survey, but not in this study. Below: theory."]
    return finished(figure, [], remarks)


def maps_by_year(context: Context, paper: str) -> dict[int, list[tuple[str, str]]]:
    """Return the maps that a paper names, each with its colour, by the year of their publication."""
    found: dict[int, list[tuple[str, str]]] = {}
    for method, entry in context.styles.items():
        if paper in (entry.get("published_as") or {}):
            found.setdefault(entry["year"], []).append((printed_name(context.styles, method, paper), MAP))
    return found


def fitted(years: list[int], sides: tuple[dict, dict], available: int) -> tuple[list[dict], list[int]]:
    """Return the entries of both sides in lines, as long as all columns still fit, and the widths of the columns."""
    for limit in range(available, 0, -1):
        lines = [
            {year: [(lines_of(text, limit), colour) for text, colour in own] for year, own in side.items()}
            for side in sides
        ]
        widths = [
            GAP + max([5, *(length(line) for side in lines for own, _ in side.get(year, []) for line in own)])
            for year in years
        ]
        if sum(widths) <= available:
            break
    return lines, widths
