"""Mean ranks of methods over data sets against the number of features: a panel per criterion, a line per method."""

import pandas as pd

from rfstudy.report.context import Context
from rfstudy.report.panels import first_lines, not_drawn, side_by_side
from rfstudy.report.ranks import ranked_rows, ranking, scores
from rfstudy.report.style import Picture, drawn_as

#: Inches of a panel, and panels in a row.
HEIGHT, ACROSS = 1.9, 3


def draw(
    context: Context,
    *,
    width: str,
    datasets: list[str],
    methods: list[str],
    sizes: list[str],
    criteria: list[dict],
) -> Picture:
    """Return the figure, with a panel for every criterion by which two methods are ranked."""
    frame = ranked_rows(context.rows, {"datasets": datasets, "methods": methods, "criteria": criteria}, sizes)
    styles, more = first_lines({method: (method, "") for method in methods}, context)
    found, counts = {}, []
    for criterion in criteria:
        by_size = {size: ranking(scores(frame, criterion, methods, [size]), criterion["metric"]) for size in sizes}
        by_size = {size: each for size, each in by_size.items() if each.datasets and len(each.ranks) > 1}
        if by_size:
            found[criterion["label"]] = pd.DataFrame({size: each.ranks for size, each in by_size.items()})
            counts.append(f"{criterion['label']} {', '.join(str(len(each.datasets)) for each in by_size.values())}")
    figure, axes = side_by_side(width, len(found), ACROSS, HEIGHT)
    for (label, ranks), ax in zip(found.items(), axes, strict=True):
        for method, own in ranks.reindex(list(styles)).iterrows():
            ax.plot(range(len(own)), own.to_numpy(), **drawn_as(styles[method]))
        ax.set_xticks(range(ranks.shape[1]), ranks.columns)
        ax.set_yticks(range(1, len(ranks) + 1))
        ax.set_ylim(len(ranks) + 0.3, 0.7)
        ax.set(title=label, xlabel="number of features s", ylabel="mean rank")
    ranked = {method for ranks in found.values() for method in ranks.index}
    missing = [criterion["label"] for criterion in criteria if criterion["label"] not in found]
    remarks = ["Mean ranks over the data sets on which every map has a value; 1 is best."]
    remarks += [f"Data sets by size: {'; '.join(counts)}.", *not_drawn(dict.fromkeys(missing, "not run")), *more]
    return Picture(figure, [each for method, each in styles.items() if method in ranked], remarks, frame)
