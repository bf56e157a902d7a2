"""Mean ranks of methods over data sets with Nemenyi's intervals: two methods differ where their intervals do not touch.

A panel per criterion and group of sizes (Demšar, Statistical comparisons of classifiers over multiple data sets,
Journal of Machine Learning Research 7, 2006).
"""

import pandas as pd

from rfstudy.report.context import Context
from rfstudy.report.panels import draw_dots, first_lines, not_drawn, side_by_side
from rfstudy.report.ranks import critical_difference, ranked_rows, ranking, scores
from rfstudy.report.style import Picture

#: Inches of a method, and of a panel without methods.
ROW, AROUND = 0.13, 0.5


def draw(
    context: Context,
    *,
    width: str,
    datasets: list[str],
    methods: list[str],
    groups: dict[str, list[str]],
    criteria: list[dict],
) -> Picture:
    """Return the figure, with a panel wherever two methods have scores on two data sets."""
    sizes = {size for own in groups.values() for size in own}
    frame = ranked_rows(context.rows, {"datasets": datasets, "methods": methods, "criteria": criteria}, sizes)
    found, absent = {}, {}
    for criterion in criteria:
        for group, own in groups.items():
            each = ranking(scores(frame, criterion, methods, own), criterion["metric"])
            title = f"{criterion['label']}, {group}"
            if len(each.ranks) > 1 and len(each.datasets) > 1:
                found[title] = each
            else:
                absent[title] = "under two data sets or maps"
    styles, more = first_lines({method: (method, "") for method in methods}, context)
    height = ROW * min(len(styles), max((len(each.ranks) for each in found.values()), default=0)) + AROUND
    figure, axes = side_by_side(width, len(found), len(groups), height)
    for (title, each), ax in zip(found.items(), axes, strict=True):
        half = critical_difference(len(each.datasets), len(each.ranks)) / 2
        ranks = each.ranks[each.ranks.index.isin(list(styles))]
        cells = pd.DataFrame({"line": ranks.index, "row": range(len(ranks)), "mean": ranks.to_numpy()})
        cells = cells.assign(lower=cells["mean"] - half, upper=cells["mean"] + half, pale=False)
        draw_dots(ax, cells, styles, len(cells))
        ax.set_yticks(cells["row"], [styles[method].label for method in cells["line"]])
        ax.set_xlabel("mean rank (1 is best)")
        ax.set_title(f"{title} ({len(each.datasets)} data sets)", loc="left")
    tests = "; ".join(f"{title} {each.p_value:.1g}" for title, each in found.items() if each.p_value == each.p_value)
    remarks = ["Bars that do not overlap: the maps differ at 5 % by Nemenyi's test."]
    remarks += [f"Friedman's test that the maps differ, p: {tests}."] if tests else []
    remarks += not_drawn(absent) + more
    return Picture(figure, notes=remarks, shown=frame)
