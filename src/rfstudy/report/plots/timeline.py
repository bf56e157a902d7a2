"""A timeline: above the axis the maps by the year of their publication, below it the theory."""

from rfstudy.report.context import Context
from rfstudy.report.plots.diagram import FIXED, SIZE, across, fitted, lines_of, sheet
from rfstudy.report.published import printed_name
from rfstudy.report.style import Picture

#: Lines between two entries and of the band with the years, and characters between two columns.
APART, BAND, GAP = 0.6, 1.6, 1

#: Colours: of a map of the study, of other maps, of theory, of the band with the years.
MAP, OTHER, THEORY, YEARS = "#000000", "#808080", "#004488", "#E4EAF0"


def draw(context: Context, *, paper: str, width: str, published: str, facts: str) -> Picture:
    """Return the figure; ``published`` is the figure in the paper, ``facts`` the file of what the registry lacks."""
    rows = context.texts(facts, paper=paper, figure=published)
    above, below = maps_by_year(context, paper), {}
    for row in rows.to_dict("records"):
        is_theory = row["side"] == "theory"
        entry = (f"{row['text']} ({row['reference']})", THEORY) if is_theory else (row["text"], OTHER)
        (below if is_theory else above).setdefault(int(row["year"]), []).append(entry)
    years = range(min(*above, *below), max(*above, *below) + 1)
    columns = [[f"{year}{FIXED}", *(text for text, _ in above.get(year, []) + below.get(year, []))] for year in years]
    limit, widths = fitted(columns, across(width) - GAP * len(years))
    sides = [
        {year: [("\n".join(lines_of(text, limit)), colour) for text, colour in own] for year, own in side.items()}
        for side in (above, below)
    ]
    tall, deep = (max(sum(map(height_of, own)) for own in side.values()) for side in sides)
    figure, ax = sheet(width, tall + BAND + deep)
    ax.axhspan(tall, tall + BAND, color=YEARS, linewidth=0)
    spare = (across(width) - sum(widths)) / len(years)
    left = 0.0
    for year, own_width in zip(years, widths, strict=True):
        middle = left + (own_width + spare) / 2
        left += own_width + spare
        ax.text(middle, tall + BAND / 2, str(year), ha="center", va="center_baseline", fontsize=SIZE, fontweight="bold")
        for side, y, sign, va in zip(sides, (tall, tall + BAND), (-1, 1), ("bottom", "top"), strict=True):
            for text, colour in side.get(year, []):
                at = y + sign * APART / 2
                ax.text(middle, at, text, ha="center", va=va, fontsize=SIZE, color=colour, linespacing=1.0)
                y += sign * height_of((text, colour))
    remarks = ["Above: maps by year; grey: named by the survey, but not in this study. Below: theory."]
    return Picture(figure, notes=remarks)


def height_of(entry: tuple[str, str]) -> float:
    """Return how many lines high an entry is, with the space to the next one."""
    return entry[0].count("\n") + 1 + APART


def maps_by_year(context: Context, paper: str) -> dict[int, list[tuple[str, str]]]:
    """Return the maps that a paper names, each with its colour, by the year of their publication."""
    found: dict[int, list[tuple[str, str]]] = {}
    for method, entry in context.styles.items():
        if paper in (entry.get("published_as") or {}):
            found.setdefault(entry["year"], []).append((printed_name(context.styles, method, paper), MAP))
    return found
