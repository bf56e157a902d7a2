"""Schematics: diagrams and timelines, from facts of the reference data."""

import re
import textwrap

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rfstudy.report.context import Context
from rfstudy.report.panels import inches, length
from rfstudy.report.published import printed_name
from rfstudy.report.style import Picture

# --- diagram ----------------------------------------------------------------------------------------------------------
# A diagram of boxes from left to right: taxonomies, assumptions and what they imply, spaces and the maps between them.
#
# Nodes and edges are facts of the reference data. The column of a node is the longest way to it. A node that names a
# family lists its maps, as the registry of the methods has them.
#
# Texts stand on a blank sheet, measured in characters and lines (also used by the timeline).


#: Points of a text; its lines and characters per inch.
SIZE, LINES, CHARACTERS = 7.0, 9.4, 25.0

#: A mark for a space that does not break a line.
FIXED = "\u00a0"


def sheet(width: str, lines: float) -> tuple[Figure, Axes]:
    """Return a figure and its axes without frame, whose units are characters and lines from the upper left corner."""
    figure = Figure(figsize=(inches(width), lines / LINES + 0.08), layout="constrained")
    ax = figure.subplots()
    ax.set(xlim=(0.0, across(width)), ylim=(lines, 0.0))
    ax.set_axis_off()
    return figure, ax


def across(width: str) -> int:
    """Return the width of a sheet in characters."""
    return int(CHARACTERS * inches(width))


def lines_of(text: str, characters: int) -> list[str]:
    """Return a text in lines of about so many characters; words and formulas stay whole."""
    whole = re.sub(r"\$[^$]*\$", lambda formula: formula[0].replace(" ", FIXED), text)
    lines = textwrap.wrap(whole, characters, break_long_words=False, break_on_hyphens=False)
    return [re.sub(r"\$[^$]*\$", lambda formula: formula[0].replace(FIXED, " "), line) for line in lines]


def fitted(columns: list[list[str]], available: float) -> tuple[int, list[int]]:
    """Return the longest lines with which the texts of all columns fit into so many characters.

    The second result is the widths of the columns with these lines.
    """
    for limit in range(int(available), 0, -1):
        lines = [[line for text in column for line in lines_of(text, limit)] for column in columns]
        widths = [max(map(length, of_column)) for of_column in lines]
        if sum(widths) <= available:
            break
    return limit, widths


#: Fills of the boxes by column, and the colour of lines.
FILLS, EDGE = ("#CFDDEA", "#E0E9F2", "#EEF3F8", "#F8FAFC", "#FFFFFF"), "#5B7083"

#: Characters between two columns, and lines between two boxes.
GAP, APART = 5, 0.9

#: Arrows by the relation of an edge, with their notes; the relation "part" is a bracket.
ARROWS = {
    "implies": ("<|-", "Arrow: from the stronger assumption to the one that it implies."),
    "equivalent": ("<|-|>", "Arrow with two heads: the two are equivalent."),
    "map": ("-|>", ""),
}


def diagram(context, *, paper, width, published, facts) -> Picture:
    """Return the figure; ``published`` is the figure in the paper, ``facts`` the file with its nodes and edges."""
    rows = context.texts(facts, paper=paper, figure=published)
    texts, edges = nodes_and_edges(rows, context, paper)
    parents = {name: [edge["parent"] for edge in edges if edge["node"] == name] for name in texts}
    columns: dict[str, int] = {}
    for name, above in parents.items():
        columns[name] = max((columns[parent] + 1 for parent in above), default=0)
    gaps = [0] + [GAP] * max(columns.values())
    for edge in edges:
        column = columns[edge["node"]]
        gaps[column] = max(gaps[column], length(edge["label"]) + 4 if edge["label"] else 0)
    by_column = [[texts[name] for name in texts if columns[name] == column] for column in range(len(gaps))]
    limit, widths = fitted(by_column, across(width) - sum(gaps) - 2 * len(gaps))
    lines = {name: lines_of(text, limit) for name, text in texts.items()}
    middles, height = stacked(lines, parents)
    figure, ax = sheet(width, height)
    lefts = {name: 1 + sum(gaps[: at + 1]) + sum(widths[:at]) + 2 * at for name, at in columns.items()}
    boxes = {}
    for name, left in lefts.items():
        fill = FILLS[min(columns[name], len(FILLS) - 1)]
        box = {"boxstyle": "round,pad=0.35", "facecolor": fill, "edgecolor": EDGE, "linewidth": 0.5}
        text = ax.text(left, middles[name], "\n".join(lines[name]), va="center", fontsize=SIZE, bbox=box, zorder=2)
        text.set_linespacing(1.0)
        boxes[name] = text
    for edge in edges:
        parent, name = edge["parent"], edge["node"]
        start, end, y, y_end = lefts[parent], lefts[name], middles[parent], middles[name]
        if edge["relation"] not in ARROWS:
            turn = end - GAP / 2
            ax.plot([start, turn, turn, end], [y, y, y_end, y_end], color=EDGE, linewidth=0.6, zorder=1)
            continue
        between = {"patchA": boxes[parent].get_bbox_patch(), "patchB": boxes[name].get_bbox_patch()}
        style = {"arrowstyle": ARROWS[edge["relation"]][0], "color": EDGE, "shrinkA": 2, "shrinkB": 2}
        ax.annotate("", (end, y_end), (start, y), zorder=3, arrowprops=between | style | {"mutation_scale": 7})
        middle = (max(map(length, lines[parent])) + start + end) / 2
        at, va = (min(y, y_end), "bottom") if y + y_end < height else (max(y, y_end), "top")
        ax.text(middle, at, edge["label"], ha="center", va=va, fontsize=SIZE)
    remarks = [ARROWS[relation][1] for relation in rows["relation"].unique() if relation in ARROWS]
    return Picture(figure, notes=[*filter(None, remarks), *_on_families(rows, context)])


def nodes_and_edges(facts: pd.DataFrame, context: Context, paper: str) -> tuple[dict[str, str], list[dict]]:
    """Return the texts of the nodes by their ids, and the edges.

    A row of the facts is an edge. The first row of a node has its text.

    ``ValueError`` for an edge from a node that is not above it.
    """
    texts: dict[str, str] = {}
    for row in facts.to_dict("records"):
        if row["parent"] and row["parent"] not in texts:
            raise ValueError(f"{row['node']}: there is no node {row['parent']!r} above it")
        texts.setdefault(row["node"], row["text"] or ", ".join(maps_of(row["family"], context, paper)))
    return texts, facts[facts["parent"] != ""].to_dict("records")


def maps_of(family: str, context: Context, paper: str) -> list[str]:
    """Return the maps of a family by their names in a paper, each with its year, from the first to the last."""
    own = sorted((entry["year"], method) for method, entry in context.styles.items() if entry["family"] == family)
    return [f"{printed_name(context.styles, method, paper)} ({year})".replace(" ", FIXED) for year, method in own]


def stacked(lines: dict[str, list[str]], parents: dict[str, list[str]]) -> tuple[dict[str, float], float]:
    """Return the middles of all boxes, in lines from above, and the height of the diagram in lines.

    Nodes without successors are stacked. Others are at the middle of their successors, or of several parents.
    """
    middles: dict[str, float] = {}
    height = 0.0

    def place(name: str) -> float:
        nonlocal height
        following = [place(child) for child in lines if name in parents[child] and child not in middles]
        if not following:
            following = [height + (len(lines[name]) + APART) / 2]
            height += len(lines[name]) + APART
        middles[name] = (following[0] + following[-1]) / 2
        return middles[name]

    for name, above in parents.items():
        if not above:
            place(name)
        elif len(above) > 1:
            middles[name] = sum(middles[parent] for parent in above) / len(above)
    return middles, height


def _on_families(facts: pd.DataFrame, context: Context) -> list[str]:
    """Return the families that a diagram of maps leaves out, and the remarks of the facts."""
    shown = set(facts["family"]) - {""}
    if not shown:
        return []
    absent = list(dict.fromkeys(entry["family"] for entry in context.styles.values() if entry["family"] not in shown))
    remarks = [f"Families of the registry that are not in the figure: {', '.join(absent)}."] if absent else []
    return [*remarks, *(f"{remark[0].upper()}{remark[1:]}." for remark in facts["note"] if remark)]


# --- timeline ---------------------------------------------------------------------------------------------------------
# A timeline: above the axis the maps by the year of their publication, below it the theory.


#: Lines between two entries and of the band with the years, and characters between two columns.
YEAR_APART, BAND, YEAR_GAP = 0.6, 1.6, 1

#: Colours: of a map of the study, of other maps, of theory, of the band with the years.
MAP, OTHER, THEORY, YEARS = "#000000", "#808080", "#004488", "#E4EAF0"


def timeline(context, *, paper, width, published, facts) -> Picture:
    """Return the figure; ``published`` is the figure in the paper, ``facts`` the file of what the registry lacks."""
    rows = context.texts(facts, paper=paper, figure=published)
    above, below = {}, {}  # entries with their colours, by year
    for method, entry in context.styles.items():
        if paper in (entry.get("published_as") or {}):
            above.setdefault(entry["year"], []).append((printed_name(context.styles, method, paper), MAP))
    for row in rows.to_dict("records"):
        is_theory = row["side"] == "theory"
        entry = (f"{row['text']} ({row['reference']})", THEORY) if is_theory else (row["text"], OTHER)
        (below if is_theory else above).setdefault(int(row["year"]), []).append(entry)
    years = range(min(*above, *below), max(*above, *below) + 1)
    columns = [[f"{year}{FIXED}", *(text for text, _ in above.get(year, []) + below.get(year, []))] for year in years]
    limit, widths = fitted(columns, across(width) - YEAR_GAP * len(years))
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
                at = y + sign * YEAR_APART / 2
                ax.text(middle, at, text, ha="center", va=va, fontsize=SIZE, color=colour, linespacing=1.0)
                y += sign * height_of((text, colour))
    remarks = ["Above: maps by year; grey: named by the survey, but not in this study. Below: theory."]
    return Picture(figure, notes=remarks)


def height_of(entry: tuple[str, str]) -> float:
    """Return the height of an entry in lines, with the space to the next one."""
    return entry[0].count("\n") + 1 + YEAR_APART
