"""Critical-difference diagrams: methods at their mean ranks over data sets, joined where they are not told apart.

One panel a criterion and group of sizes. Ranks stand on the scale on top; bars below it join methods that the tests of
``report.ranks`` do not tell apart, and the ruler above it is as long as Nemenyi's critical difference.
"""

from __future__ import annotations

from functools import partial

from rfstudy.report.compare import LEVEL
from rfstudy.report.context import Context
from rfstudy.report.layout import Panel, Row, laid_out
from rfstudy.report.notes import not_drawn, notes
from rfstudy.report.plot_styles import plot_style
from rfstudy.report.published import printed_name
from rfstudy.report.ranks import (
    MIN_DATASETS,
    Ranking,
    critical_difference,
    datasets_needed,
    ranked_rows,
    ranking,
    scores,
    smallest_p_value,
)
from rfstudy.report.style import Picture, drawn_as

#: Keys of an entry of this kind, beside those of all entries.
REQUIRED = ("width", "datasets", "methods", "repeats", "groups", "criteria")

#: Inches: a line of labels, a bar, and what scale and ruler take above them.
LABEL_LINE, BAR_LINE, HEAD = 0.125, 0.06, 0.36

#: What labels take at either side, as a share of the scale.
SIDE = 0.42

#: Points of a label.
LABEL_SIZE = 7.0

NOTE = (
    "Mean ranks over the data sets on which every map has a score, 1 is best; a score is the mean over repeats and "
    "sizes, of the logarithm for errors."
)
BARS = (
    f"Bars join maps of which no two are told apart at {LEVEL:.0%} by Wilcoxon's signed-rank test with Holm's "
    "correction over all pairs"
)
RULER = "The ruler is Nemenyi's critical difference of mean ranks (Demšar 2006) at the same level."


def draw(context: Context, spec: dict) -> Picture:
    """The figure of one specification of kind "critical_difference".

    Parameters
    ----------
    context : its rows are tidy rows of the specification's experiments
    spec : ``datasets``, ``methods``, ``groups`` (of sizes, a column of panels each), ``criteria`` (a row each),
        ``width``, ``paper``, ``repeats``

    Returns
    -------
    Picture of the width that the specification states, with a panel wherever two maps have scores on two data sets
    """
    frame = ranked_rows(context.rows, spec, {size for sizes in spec["groups"].values() for size in sizes})
    rows, found, absent = [], {}, []
    for criterion in spec["criteria"]:
        panels = []
        for group, sizes in spec["groups"].items():
            title = f"{criterion['label']}, {group}"
            table = scores(frame, criterion, spec["methods"], sizes)
            each = ranking(table, criterion["metric"])
            if len(each.ranks) < 2 or len(each.datasets) < 2:
                absent.append(title)
                panels.append(None)
                continue
            found[title] = each
            panels.append(
                Panel(partial(_panel, each=each, styles=context.styles), f"{title} ({len(each.datasets)} sets)")
            )
        if any(panels):
            rows.append(Row(panels, max(_height(each) for each in found.values())))
    told = [NOTE, *_tests(found)] if found else []
    told += not_drawn({"under two data sets or maps": absent} if absent else {})
    told += _left_out(found, context, spec["paper"])
    return laid_out(spec["width"], rows, [], told + notes(frame, spec, context))


def _height(each: Ranking) -> float:
    return HEAD + BAR_LINE * len(each.alike) + LABEL_LINE * (-(-len(each.ranks) // 2) + 0.5)


def _panel(ax, each: Ranking, styles: dict) -> None:
    """A scale of ranks, everything below it in inches downwards."""
    n = len(each.ranks)
    ax.set_axis_off()
    for axis in (ax.xaxis, ax.yaxis):  # nor does it take a place
        axis.set_visible(False)
    edge = SIDE * (n - 1)
    ax.set_xlim(1 - edge, n + edge)
    ax.set_ylim(_height(each) - HEAD, -HEAD)
    ax.plot([1, n], [0, 0], color="black", linewidth=0.7)
    for rank in range(1, n + 1):
        ax.plot([rank, rank], [0, -0.04], color="black", linewidth=0.7)
        ax.text(rank, -0.06, str(rank), ha="center", va="bottom", fontsize=LABEL_SIZE)
    _ruler(ax, each)
    first = BAR_LINE * (len(each.alike) + 1)
    for position, (method, rank) in enumerate(each.ranks.items()):
        from_left = position < (n + 1) // 2
        line = position if from_left else n - 1 - position
        y, x = first + LABEL_LINE * line, 1 - 0.06 * (n - 1) if from_left else n + 0.06 * (n - 1)
        drawn = drawn_as(plot_style(method, styles))
        ax.plot([rank, rank, x], [0, y, y], color=drawn["color"], linewidth=0.7, zorder=1)
        ax.plot(rank, 0, **drawn | {"linestyle": "none"}, clip_on=False, zorder=3)
        name = plot_style(method, styles).label
        text = f"{name} {rank:.1f}" if from_left else f"{rank:.1f} {name}"
        beyond = -0.02 * (n - 1) if from_left else 0.02 * (n - 1)
        ax.text(x + beyond, y, text, ha="right" if from_left else "left", va="center", fontsize=LABEL_SIZE)
    for position, run in enumerate(each.alike):
        ends = each.ranks[[run[0], run[-1]]].to_list()
        ax.plot(ends, [BAR_LINE * (position + 0.7)] * 2, color="black", linewidth=2.2, solid_capstyle="round", zorder=2)


def _ruler(ax, each: Ranking) -> None:
    """The critical difference, from rank 1 on; none where there is no test, or where it is longer than the scale."""
    n = len(each.ranks)
    if not each.pairs or (distance := critical_difference(len(each.datasets), n)) > n - 1:
        return
    ax.plot([1, 1 + distance], [-0.24, -0.24], color="#777777", linewidth=1.4, solid_capstyle="butt")
    ax.text(1 + distance, -0.24, f" {distance:.1f}", ha="left", va="center", fontsize=LABEL_SIZE, color="#555555")


def _tests(found: dict[str, Ranking]) -> list[str]:
    """Sentences on what was tested, and on what so few data sets cannot say."""
    tested = {title: each for title, each in found.items() if each.pairs}
    told = []
    if tested:
        p_values = "; ".join(f"{title} {each.p_value:.1g}" for title, each in tested.items())
        told += [f"Friedman's test that the maps differ, p: {p_values}.", f"{BARS}. {RULER}"]
    powerless = {
        (len(each.datasets), len(each.ranks))
        for each in tested.values()
        if smallest_p_value(len(each.datasets), len(each.ranks)) >= LEVEL
    }
    told += [
        f"With {sets} data sets no pair of {maps} maps can be told apart so: the smallest p-value is "
        f"{smallest_p_value(sets, maps):.2g} after the correction, {datasets_needed(maps)} data sets would be needed."
        for sets, maps in sorted(powerless)
    ]
    few = sorted({len(each.datasets) for each in found.values() if len(each.datasets) < MIN_DATASETS})
    if few:
        told.append(
            f"No test under {MIN_DATASETS} data sets (here {', '.join(map(str, few))}): "
            "ranks tell of these data sets alone."
        )
    return told


def _left_out(found: dict[str, Ranking], context: Context, paper: str) -> list[str]:
    """A sentence on the data sets on which a map has no score, by panel."""
    told = [
        f"{title}: {', '.join(printed_name(context.tasks, dataset, paper) for dataset in each.left_out)}"
        for title, each in found.items()
        if each.left_out
    ]
    return [f"Left out, since not every map has a score: {'; '.join(told)}."] if told else []
