"""A diagram of boxes from left to right: taxonomies, assumptions and what they imply, spaces and the maps between them.

Nodes and edges are facts of the reference data. The column of a node is the longest way to it. A node that names a
family lists its maps, as the registry of the methods has them.
"""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from rfstudy.report.boxes import FIXED, SIZE, across, lines_of, sheet
from rfstudy.report.context import Context
from rfstudy.report.panels import finished, length
from rfstudy.report.published import printed_name
from rfstudy.report.style import Picture

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


class Edge(NamedTuple):
    """An edge into a node."""

    parent: str
    relation: str
    label: str


class Node(NamedTuple):
    """A box: its text, and the edges that lead to it."""

    text: str
    edges: list[Edge]


def draw(context: Context, *, paper: str, width: str, published: str, facts: str) -> Picture:
    """Return the figure; ``published`` is the figure in the paper, ``facts`` the file with its nodes and edges."""
    rows = context.texts(facts, paper=paper, figure=published)
    nodes = nodes_of(rows, context, paper)
    columns = columns_of(nodes)
    lines, lefts = fitted(nodes, columns, across(width))
    middles, height = stacked(nodes, lines)
    figure, ax = sheet(width, height)
    boxes = {}
    for name, column in columns.items():
        box = {"boxstyle": "round,pad=0.35", "facecolor": FILLS[min(column, len(FILLS) - 1)], "edgecolor": EDGE}
        boxes[name] = ax.text(lefts[column] + 1, middles[name], "\n".join(lines[name]), va="center", fontsize=SIZE,
                              linespacing=1.0, bbox=box | {"linewidth": 0.5}, zorder=2)  # fmt: skip
    for name, node in nodes.items():
        for edge in node.edges:
            start, end = (lefts[columns[each]] + 1 for each in (edge.parent, name))
            y, y_end = middles[edge.parent], middles[name]
            if edge.relation not in ARROWS:
                turn = end - GAP / 2
                ax.plot([start, turn, turn, end], [y, y, y_end, y_end], color=EDGE, linewidth=0.6, zorder=1)
                continue
            between = {"patchA": boxes[edge.parent].get_bbox_patch(), "patchB": boxes[name].get_bbox_patch()}
            style = {"arrowstyle": ARROWS[edge.relation][0], "color": EDGE, "shrinkA": 2, "shrinkB": 2}
            ax.annotate("", (end, y_end), (start, y), zorder=3, arrowprops=between | style | {"mutation_scale": 7})
            right = max(map(length, lines[edge.parent])) + start
            above = y + y_end < height
            ax.text((right + end) / 2, min(y, y_end) if above else max(y, y_end), edge.label, ha="center",
                    va="bottom" if above else "top", fontsize=SIZE)  # fmt: skip
    relations = dict.fromkeys(edge.relation for node in nodes.values() for edge in node.edges)
    remarks = [ARROWS[relation][1] for relation in relations if relation in ARROWS and ARROWS[relation][1]]
    return finished(figure, [], [*remarks, *_on_families(rows, context)])


def nodes_of(facts: pd.DataFrame, context: Context, paper: str) -> dict[str, Node]:
    """Return the nodes by their ids; a row of the facts is an edge, and the first one of a node has its text.

    ``ValueError`` for an edge from a node that is not above it.
    """
    nodes: dict[str, Node] = {}
    for row in facts.to_dict("records"):
        if row["parent"] and row["parent"] not in nodes:
            raise ValueError(f"{row['node']}: there is no node {row['parent']!r} above it")
        text = row["text"] or ", ".join(maps_of(row["family"], context, paper))
        node = nodes.setdefault(row["node"], Node(text, []))
        if row["parent"]:
            node.edges.append(Edge(row["parent"], row["relation"], row["label"]))
    return nodes


def maps_of(family: str, context: Context, paper: str) -> list[str]:
    """Return the maps of a family by their names in a paper, each with its year, from the first to the last."""
    own = sorted((entry["year"], method) for method, entry in context.styles.items() if entry["family"] == family)
    return [f"{printed_name(context.styles, method, paper)} ({year})".replace(" ", FIXED) for year, method in own]


def columns_of(nodes: dict[str, Node]) -> dict[str, int]:
    """Return the column of every node: the edges of the longest way to it."""
    found: dict[str, int] = {}
    for name, node in nodes.items():
        found[name] = max((found[edge.parent] + 1 for edge in node.edges), default=0)
    return found


def fitted(nodes: dict[str, Node], columns: dict[str, int], available: int) -> tuple[dict[str, list[str]], list[float]]:
    """Return the lines of every text, as long as all columns still fit, and the left sides of the columns."""
    gaps = [0.0] * (max(columns.values()) + 1)
    for name, column in columns.items():
        labels = [length(edge.label) + 4 for edge in nodes[name].edges if edge.label]
        gaps[column] = max([gaps[column], GAP * (column > 0), *labels])
    for limit in range(available, 0, -1):
        lines = {name: lines_of(node.text, limit) for name, node in nodes.items()}
        widths = [
            2 + max(length(line) for name in nodes if columns[name] == column for line in lines[name])
            for column in range(len(gaps))
        ]
        if sum(widths) + sum(gaps) <= available or limit == 1:
            break
    return lines, [sum(widths[:column]) + sum(gaps[: column + 1]) for column in range(len(gaps))]


def stacked(nodes: dict[str, Node], lines: dict[str, list[str]]) -> tuple[dict[str, float], float]:
    """Return the middles of all boxes, in lines from above, and how many lines high the diagram is.

    Nodes that nothing follows are stacked; others are at the middle of those that follow, or of several parents.
    """
    children: dict[str, list[str]] = {name: [] for name in nodes}
    for name, node in nodes.items():
        for edge in node.edges:
            children[edge.parent].append(name)
    middles: dict[str, float] = {}
    height = 0.0

    def place(name: str) -> None:
        nonlocal height
        following = [child for child in children[name] if child not in middles]
        for child in following:
            place(child)
        if following:
            middles[name] = (middles[following[0]] + middles[following[-1]]) / 2
        else:
            middles[name] = height + (len(lines[name]) + APART) / 2
            height += len(lines[name]) + APART

    for name, node in nodes.items():
        if not node.edges:
            place(name)
        elif len(node.edges) > 1:
            middles[name] = sum(middles[edge.parent] for edge in node.edges) / len(node.edges)
    return middles, height


def _on_families(facts: pd.DataFrame, context: Context) -> list[str]:
    """Return the families that a diagram of maps leaves out, and the remarks of the facts."""
    shown = set(facts["family"]) - {""}
    if not shown:
        return []
    absent = list(dict.fromkeys(entry["family"] for entry in context.styles.values() if entry["family"] not in shown))
    remarks = [f"Families of the registry that are not in the figure: {', '.join(absent)}."] if absent else []
    return [*remarks, *(f"{remark[0].upper()}{remark[1:]}." for remark in facts["note"] if remark)]
