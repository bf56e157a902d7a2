"""A diagram of boxes from left to right: taxonomies, assumptions and what they imply, spaces and the maps between them.

Nodes and edges are facts of the reference data. A node stands as far to the right as the longest way to it has edges;
those that nothing follows are stacked, every other one stands beside the middle of what follows it. A node that names a
family lists its maps, as the registry of the methods has them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.patches import FancyBboxPatch

from rfstudy.report.boxes import FIXED_SPACE, LINE, TEXT, blank, fitted, lines_of, longest_word, width_of
from rfstudy.report.context import Context
from rfstudy.report.layout import PAD, WIDTHS, Panel, Row, laid_out
from rfstudy.report.published import printed_name
from rfstudy.report.style import Picture

#: Keys of an entry of this kind, beside those of all entries.
REQUIRED = ("width", "published", "facts")

#: Inches: between a text and its box, between boxes of a column (more above one that others follow), between columns at
#: least, on either side of the label of an edge.
INSET, APART, FAMILIES, GAP, BESIDE = 0.05, 0.05, 0.07, 0.22, 0.16

#: Fills of the boxes by column, and the colour of their edges and of lines.
FILLS, EDGE = ("#CFDDEA", "#E0E9F2", "#EEF3F8", "#F8FAFC", "#FFFFFF"), "#5B7083"

#: What an edge is drawn as, by its relation: a bracket, or an arrow with its style.
BRACKET = "part"
ARROWS = {"implies": "<|-", "equivalent": "<|-|>", "map": "-|>"}

#: What an arrow says, where a figure has one.
TOLD = {
    "implies": "Arrow: from the stronger assumption to the one that it implies.",
    "equivalent": "Arrow with two heads: one is the other.",
    "map": "",
}


class Edge(NamedTuple):
    """An edge into a node."""

    parent: str
    relation: str
    label: str


class Node(NamedTuple):
    """A box: what stands in it, and the edges that lead to it."""

    text: str
    edges: list[Edge]


class Place(NamedTuple):
    """Where a box stands, in inches: its left side, its middle, and its size; its lines."""

    left: float
    middle: float
    width: float
    height: float
    lines: list[str]


def draw(context: Context, spec: dict) -> Picture:
    """The figure of one specification of kind "diagram"; of ``spec`` the ``paper``, its figure as ``published``, and
    the ``facts``.
    """
    facts = context.texts(spec["facts"], paper=spec["paper"], figure=spec["published"])
    nodes = nodes_of(facts, context, spec["paper"])
    width = WIDTHS[spec["width"]] - 2 * PAD
    places, height = placed(nodes, width)
    panel = Panel(partial(_drawn, nodes=nodes, places=places, size=(width, height)))
    relations = dict.fromkeys(edge.relation for node in nodes.values() for edge in node.edges)
    notes = [TOLD[relation] for relation in relations if TOLD.get(relation)]
    return laid_out(spec["width"], [Row([panel], height)], [], [*notes, *_on_families(facts, context)])


def nodes_of(facts: pd.DataFrame, context: Context, paper: str) -> dict[str, Node]:
    """The nodes by their ids, in the order of the facts; a row is an edge, and the first one of a node has its text.

    ``ValueError`` for an edge from a node that does not stand above it.
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
    """The maps of a family by their names in a paper, each with its year, from the first to the last."""
    own = [(entry["year"], method) for method, entry in context.styles.items() if entry["family"] == family]
    own.sort(key=lambda pair: pair[0])
    told = [f"{printed_name(context.styles, method, paper)} ({year})" for year, method in own]
    return [each.replace(" ", FIXED_SPACE) for each in told]


def placed(nodes: dict[str, Node], width: float) -> tuple[dict[str, Place], float]:
    """The places of all boxes on a sheet of a width, and its height."""
    column = columns_of(nodes)
    by_column = [[name for name in nodes if column[name] == j] for j in range(max(column.values()) + 1)]
    gaps = [max(GAP, *(_room(nodes[name]) for name in own)) for own in by_column[1:]]
    inset = 2 * INSET
    natural = [max(width_of(nodes[name].text) for name in own) + inset for own in by_column]
    least = [max(longest_word(nodes[name].text) for name in own) + inset for own in by_column]
    widths = fitted(natural, least, width - sum(gaps))
    spare = (width - sum(gaps) - sum(widths)) / max(1, len(gaps))
    lefts = np.cumsum([0.0, *(w + gap + spare for w, gap in zip(widths, gaps, strict=False))])
    lines = {name: lines_of(node.text, widths[column[name]] - inset) for name, node in nodes.items()}
    heights = {name: LINE * len(own) + 2 * INSET for name, own in lines.items()}
    middles, height = stacked(nodes, heights)
    return {
        name: Place(lefts[column[name]], height - middles[name], widths[column[name]], heights[name], lines[name])
        for name in nodes
    }, height


def _room(node: Node) -> float:
    """Inches that the labels of the edges into a node need."""
    return max((width_of(edge.label) + 2 * BESIDE for edge in node.edges if edge.label), default=0.0)


def columns_of(nodes: dict[str, Node]) -> dict[str, int]:
    """The column of every node: the edges of the longest way to it."""
    found: dict[str, int] = {}
    for name, node in nodes.items():
        found[name] = max((found[edge.parent] + 1 for edge in node.edges), default=0)
    return found


def stacked(nodes: dict[str, Node], heights: dict[str, float]) -> tuple[dict[str, float], float]:
    """The middles of all boxes below the upper end of the sheet, and its height.

    What nothing follows is stacked in the order of the nodes; a node with several parents stands between them.
    """
    children: dict[str, list[str]] = {name: [] for name in nodes}
    for name, node in nodes.items():
        for edge in node.edges:
            children[edge.parent].append(name)
    middles: dict[str, float] = {}

    def place(name: str, top: float) -> float:
        """Put a node and all that follows it below ``top``; their lower end."""
        following = [child for child in children[name] if child not in middles]
        if not following:
            middles[name] = top + heights[name] / 2
            return top + heights[name]
        begun, bottom = len(middles), top
        for child in following:
            between = APART + FAMILIES * bool(children[child])
            bottom = place(child, bottom + (0.0 if child == following[0] else between))
        lacking = heights[name] - (bottom - top)
        if lacking > 0:
            for each in list(middles)[begun:]:
                middles[each] += lacking / 2
            bottom += lacking
        middles[name] = (middles[following[0]] + middles[following[-1]]) / 2
        return bottom

    height = 0.0
    for name, node in nodes.items():
        if not node.edges:
            height = place(name, height)
    for name, node in nodes.items():
        if len(node.edges) > 1:
            middles[name] = float(np.mean([middles[edge.parent] for edge in node.edges]))
    return middles, height


def _drawn(ax, nodes: dict[str, Node], places: dict[str, Place], size: tuple[float, float]) -> None:
    blank(ax, *size)
    order = sorted({place.left for place in places.values()})
    for (start, end), edge in _edges(nodes, places):
        _edge(ax, start, end, edge, above=start[1] + end[1] >= size[1])
    for place in places.values():
        fill = FILLS[min(order.index(place.left), len(FILLS) - 1)]
        corner = place.left, place.middle - place.height / 2
        ax.add_patch(FancyBboxPatch(corner, place.width, place.height, boxstyle="round,pad=0,rounding_size=0.03",
                                    facecolor=fill, edgecolor=EDGE, linewidth=0.5, clip_on=False))  # fmt: skip
        ax.text(place.left + INSET, place.middle, "\n".join(place.lines), ha="left", va="center", fontsize=TEXT,
                linespacing=1.0)  # fmt: skip


def _edges(nodes: dict[str, Node], places: dict[str, Place]) -> Iterator[tuple[tuple, Edge]]:
    """Every edge, from the right side of a box to the left side of another."""
    for name, node in nodes.items():
        for edge in node.edges:
            start, end = places[edge.parent], places[name]
            yield ((start.left + start.width, start.middle), (end.left, end.middle)), edge


def _edge(ax, start: tuple[float, float], end: tuple[float, float], edge: Edge, *, above: bool) -> None:
    """A bracket, or an arrow with its label above or below both of its ends."""
    if edge.relation == BRACKET:
        turn = (start[0] + end[0]) / 2
        corners = [start, (turn, start[1]), (turn, end[1]), end]
        for one, other in pairwise(corners):
            ax.plot(*zip(one, other, strict=True), color=EDGE, linewidth=0.6, solid_capstyle="round", zorder=0.5)
        return
    style = {"arrowstyle": ARROWS[edge.relation], "color": EDGE, "linewidth": 0.9, "shrinkA": 1, "shrinkB": 1}
    ax.annotate("", end, start, arrowprops=style | {"mutation_scale": 7})
    if edge.label:
        clear = max(start[1], end[1]) if above else min(start[1], end[1])
        ax.text((start[0] + end[0]) / 2, clear, edge.label, ha="center", va="bottom" if above else "top", fontsize=TEXT)


def _on_families(facts: pd.DataFrame, context: Context) -> list[str]:
    """Of a diagram that lists maps: the families without a place in it, and the remarks of the facts."""
    shown = set(facts["family"]) - {""}
    if not shown:
        return []
    absent = list(dict.fromkeys(entry["family"] for entry in context.styles.values() if entry["family"] not in shown))
    told = [f"Families of the registry that have no place here: {', '.join(absent)}."] if absent else []
    return [*told, *(f"{remark[0].upper()}{remark[1:]}." for remark in facts["note"] if remark)]
