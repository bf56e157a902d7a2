"""Figures of the arena: verdicts as a forest, and errors against cost."""

import numpy as np
from matplotlib.ticker import NullLocator

from rfstudy.metrics import fact_of
from rfstudy.report import arena as stats
from rfstudy.report import panels as plot
from rfstudy.report.aggregate import select
from rfstudy.report.plot_styles import plot_style
from rfstudy.report.style import COLOURS, SMALLEST, Picture, drawn_as
from rfstudy.report.tables.frontier import COSTS, costs_of

#: Inches of a row of the forest, and of the rest of a panel.
ROW, FRAME = 0.15, 0.5

#: Ticks of the forest, at whose ends it is cut: some maps fail on some data.
TICKS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.4, 1.6, 2.0)


# --- arena_forest -----------------------------------------------------------------------------------------------------


def arena_forest(context, *, width, datasets, methods, baseline, quantity) -> Picture:
    """Return the figure: a panel per band of columns, a row per map, its typical error relative to the baseline's.

    Thick bars are exact 95 % intervals of the typical effect, thin ones those in which a new data set is expected. A
    verdict is a filled marker, and a map without one is pale.
    """
    results = stats.results_of(context, datasets, baseline, quantity)
    made = stats.verdicts_of(results, "not flagged", methods)
    panels = list(dict.fromkeys(each.band for each in made))
    if not panels:
        return plot.nothing(width, {"maps": f"fewer than {stats.LEAST_SETS} data sets"})
    entries = sorted({each.who for each in made}, key=lambda who: (methods.index(who[0]), who[1]))
    figure, (axes,) = plot.grid(width, 1, len(panels), ROW * len(entries) + FRAME)
    for i, (band, ax) in enumerate(zip(panels, axes, strict=True)):
        own = [each for each in made if each.band == band]
        most = max(len(each.own) for each in own)
        for each in own:
            if len(each.own) < most:
                ax.text(0.99, entries.index(each.who), f"{len(each.own)} sets", ha="right", va="center",
                        fontsize=SMALLEST, transform=ax.get_yaxis_transform())  # fmt: skip
            row, style = entries.index(each.who), plot_style(each.who[0], context.styles, each.who[1])
            typical, alpha = each.found.typical, 0.4 if each.word == "undecided" else 1.0
            ax.hlines(row, *np.exp(each.found.new), colors=style.colour, linewidth=0.5, alpha=alpha)
            ax.hlines(row, *np.exp([typical.low, typical.high]), colors=style.colour, linewidth=1.8, alpha=alpha)
            ax.plot(np.exp(typical.value), row, **drawn_as(style) | {"linestyle": "none"}, alpha=alpha)
        ax.axvline(1.0, color="black", linewidth=0.7, zorder=1.5)
        ax.axvspan(1.0 / (1.0 + stats.MARGIN), 1.0 + stats.MARGIN, color="#EEEEEE", zorder=0)
        ax.set_xscale("log")
        ends = np.exp([(*each.found.new, each.found.typical.low, each.found.typical.high) for each in own])
        low, high = max(TICKS[0], 0.98 * ends.min()), min(TICKS[-1], 1.02 * ends.max())
        ax.set(xlim=(low, high), ylim=(len(entries) - 0.4, -0.6))
        ticks = [tick for tick in TICKS if low <= tick <= high]
        ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        ax.xaxis.set_minor_locator(NullLocator())
        ax.set_yticks(range(len(entries)), [context.label(*who) if i == 0 else "" for who in entries])
        ax.set_title(f"D = {band} ({most} sets)", loc="left")
        ax.set_xlabel(f"error / error of {context.label(baseline)}")
    remarks = [
        f"Pale: undecided by Holm's correction over these maps. Grey: {stats.MARGIN:.0%} from "
        f"{context.label(baseline)}. Thin bars: for a new data set; cut at {TICKS[0]:g} and {TICKS[-1]:g}."
    ]
    return Picture(figure, (), remarks, results.rows)


# --- error_by_cost ----------------------------------------------------------------------------------------------------


#: Inches of a panel of the frontier, and the cost that is drawn.
COST_HEIGHT, COST = 1.9, "seconds"


def error_by_cost(context, *, paper, width, datasets, methods) -> Picture:
    """Return the figure: a panel per data set, the lowest error that maps and the exact kernel reach at a cost.

    A pale dot is a fit: a number of training rows and, of a map, of columns. A line goes down where a fit has a lower
    error than all that cost less.
    """
    found = {dataset: costs_of(select(context.rows, dataset=[dataset])).dropna(subset=[COST]) for dataset in datasets}
    found = {dataset: points for dataset, points in found.items() if len(points)}
    if not found:
        return plot.nothing(width, {"data sets": "not run"})
    names = plot.titles_of(found, context.rows, paper, context)
    figure, axes = plot.side_by_side(width, len(found), 2, COST_HEIGHT)
    colours = {"rff": "black", "nystroem": COLOURS[2]}
    drawn = {method: (context.label(method), colours.get(method, "#AAAAAA")) for method in methods}
    drawn[""] = "exact kernel", COLOURS[1]
    for (dataset, points), ax in zip(found.items(), axes, strict=True):
        points, ends = points.assign(mean=points["errors"].map(np.mean)).sort_values(COST), {}
        for method, own in points.groupby("method"):
            (label, colour), lowest = drawn[method], own["mean"].cummin()
            ax.plot(own[COST], own["mean"], "o", color=colour, alpha=0.5, markersize=2.2, markeredgewidth=0)
            ax.step([*own[COST], points[COST].max()], [*lowest, lowest.iloc[-1]], where="post", color=colour)
            ends[label] = lowest.iloc[-1], colour
        plot.log_axis(ax.xaxis)
        plot.log_axis(ax.yaxis)
        plot.label_ends(ax, ends)
        metric = select(context.rows, dataset=[dataset], metric=["accuracy_pct", "rmse"])["metric"].iloc[0]
        ax.set(xlabel=COSTS[COST], ylabel="error (%)" if metric == "accuracy_pct" else fact_of(metric).label)
        ax.set_title(names[dataset], loc="left")
    n, columns = (sorted({each for points in found.values() for each in points[of] if each}) for of in ("n", "columns"))
    remarks = [f"Dots: fits to n from {n[0]:,} to {n[-1]:,} rows, D from {columns[0]:,} to {columns[-1]:,} columns."]
    remarks.append("Lines: the lowest error at this cost or less. arena-frontier-tuned has the other costs.")
    return Picture(figure, (), remarks, select(context.rows, dataset=datasets, axis=""))
