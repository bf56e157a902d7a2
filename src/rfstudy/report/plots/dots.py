"""Figures of dots and of ranks."""

import textwrap

import numpy as np
import pandas as pd

from rfstudy.metrics import FACTS, fact_of
from rfstudy.report import panels as plot
from rfstudy.report.aggregate import by_repeat, of_quantity, select
from rfstudy.report.chance import LABEL, notes_on_chance
from rfstudy.report.compare import CONFIDENCE
from rfstudy.report.notes import absence
from rfstudy.report.plot_styles import PlotStyle, plot_style
from rfstudy.report.ranks import nemenyi, ranked_rows, ranking, scores
from rfstudy.report.scorecard import counts, quantity_in_words
from rfstudy.report.scorecard import scorecard as compared
from rfstudy.report.style import REFERENCE, Picture, drawn_as, spare_style
from rfstudy.report.tables.comparisons import course, named_cells
from rfstudy.report.tables.published import needs
from rfstudy.report.tables.times import comparisons, threads_of

# --- dots -------------------------------------------------------------------------------------------------------------
# Means of named cells as dots: a row of the picture per row, a marker per column, error bars of one deviation.


#: Inches of a row; columns are spread over this share of it.
ROW, SPREAD = 0.3, 0.6


def dots(context, *, width, quantity, lines, columns) -> Picture:
    """Return the figure; ``quantity``, ``lines`` and ``columns`` select the cells as in ``tables.crossed``."""
    cells = named_cells(context, quantity, lines, columns)
    cells = {place: rows for place, rows in cells.items() if (rows["status"] == "ok").any()}
    labels = list(dict.fromkeys(row for row, _ in cells))
    missing = dict.fromkeys([line["label"] for line in lines if line["label"] not in labels], "not run")
    if not labels:
        return plot.nothing(width, missing)
    styles = {column["label"]: spare_style(column["label"], j) for j, column in enumerate(columns)}
    dots = [{"line": column, "row": labels.index(row)} | dot(by_repeat(rows)) for (row, column), rows in cells.items()]
    figure, ((ax,),) = plot.grid(width, 1, 1, ROW * len(labels) + 0.35)
    plot.draw_dots(ax, pd.DataFrame(dots), styles, len(labels), SPREAD)
    ax.set_yticks(range(len(labels)), labels)
    ax.set_xlabel(plot.with_unit(quantity["metric"]))
    remarks = ["Bars: one standard deviation over the repeats.", *plot.not_drawn(missing)]
    shown = pd.concat(cells.values())
    return Picture(figure, styles.values(), remarks, shown[~shown.index.duplicated()])


def dot(values: pd.Series, *, pale: bool = False) -> dict:
    """Return the mean of values by repeat with the ends of one standard deviation, as ``draw_dots`` takes them."""
    mean, spread = values.mean(), np.nan_to_num(values.std(ddof=1))
    return {"mean": mean, "lower": mean - spread, "upper": mean + spread, "pale": pale}


# --- steps ------------------------------------------------------------------------------------------------------------
# An ablation as dots: a panel per data set, the steps from top to bottom, a marker per method, controls below.
#
# A method that a step does not change keeps its value as a pale marker. A control that decides the meaning of the steps
# is a line through the whole panel.


#: Inches of a step, panels in a row, and the share of a step that methods are spread over.
STEP_ROW, STEP_ACROSS, STEP_SPREAD = 0.17, 4, 0.5


def steps(context, *, paper, width, datasets, methods, quantity, steps, sizes=None, controls=None) -> Picture:
    """Return the figure, with a panel for each data set that has a value.

    Parameters
    ----------
    context : its rows are tidy rows of the experiment
    sizes : the size that is shown
    steps : labels by variant, in order
    controls : ``method``, ``variant`` and ``label``, and ``line`` if it runs through the panel
    """
    controls = controls or []
    frame = of_quantity(select(context.rows, dataset=datasets, n_features_label=sizes), quantity)
    ok = set(select(frame, status="ok")["dataset"])
    there = [dataset for dataset in datasets if dataset in ok]
    styles = {method: plot_style(method, context.styles) for method in methods}
    of_controls = {each["label"]: plot_style(each["method"], context.styles, each["variant"]) for each in controls}
    labels = [*steps.values(), *of_controls]
    figure, axes = plot.side_by_side(width, len(there), STEP_ACROSS, STEP_ROW * (len(labels) + 0.2) + 0.5)
    plot.set_titles(axes, plot.titles_of(there, frame, paper, context).values())
    chances, reached = {}, False
    for position, (dataset, ax) in enumerate(zip(there, axes, strict=True)):
        rows = select(frame, dataset=dataset)
        plot.draw_dots(ax, cells_of(rows, list(steps), list(styles)), styles, len(labels), STEP_SPREAD)
        cells = controls_in(rows, controls, len(steps))
        plot.draw_dots(ax, cells, of_controls, len(labels))
        for control in select(cells, through=[True]).to_dict("records"):
            colour = of_controls[control["line"]].colour
            ax.axvspan(control["lower"], control["upper"], color=colour, alpha=0.12, linewidth=0, zorder=0.4)
            ax.axvline(control["mean"], color=colour, linestyle="dashed", linewidth=0.8, zorder=0.5)
        if controls:
            ax.axhline(len(steps) - 0.5, color="#888888", linewidth=0.6)
        reached |= plot.draw_chance(ax, "x", rows, quantity, context, chances)
        ax.set_yticks(range(len(labels)), labels if position % STEP_ACROSS == 0 else [""] * len(labels))
        ax.set_xlabel(plot.with_unit(quantity["metric"]))
    through = ", ".join(control["label"] for control in controls if control.get("line"))
    remarks = ["Pale: the step does not change the method."]
    remarks += [f"Dashed line with a band: {through}, mean and standard deviation."] if through else []
    remarks += plot.without_panel(frame, datasets, paper, context)
    remarks += notes_on_chance(chances, paper, context, drawn=reached)
    entries = [each._replace(linestyle="none") for each in styles.values()]
    return Picture(figure, [*entries, *([{"label": LABEL} | REFERENCE] if reached else [])], remarks, frame)


def cells_of(rows: pd.DataFrame, steps: list[str], methods: list[str]) -> pd.DataFrame:
    """Return the means of all methods at all steps with their deviations, as ``draw_dots`` takes them."""
    return pd.DataFrame(
        {"line": method, "row": row} | dot(each.values, pale=each.carried)
        for row, reached in enumerate(course(rows, steps, methods))
        for method, each in reached.items()
        if len(each.values)
    )


def controls_in(rows: pd.DataFrame, controls: list[dict], first: int) -> pd.DataFrame:
    """Return the means of the controls, from the row ``first`` on, and whether they are lines through the panel."""
    found = []
    for row, control in enumerate(controls, start=first):
        values = by_repeat(select(rows, method=control["method"], variant=control["variant"]))
        about = {"line": control["label"], "row": row, "through": control.get("line", False)}
        found += [about | dot(values)] if len(values) else []
    return pd.DataFrame(found, columns=["line", "row", "through", "mean", "lower", "upper", "pale"])


# --- mean_ranks -------------------------------------------------------------------------------------------------------
# Mean ranks of methods over data sets against the number of features: a panel per criterion, a line per method.


#: Inches of a panel, and panels in a row.
HEIGHT, ACROSS = 1.9, 3


def mean_ranks(context, *, width, datasets, methods, sizes, criteria) -> Picture:
    """Return the figure, with a panel for every criterion by which two methods are ranked."""
    frame = ranked_rows(context.rows, datasets, methods, criteria, sizes)
    styles = {method: plot_style(method, context.styles) for method in methods}
    found, counts = {}, []
    for criterion in criteria:
        by_size = {size: ranking(scores(frame, criterion, methods, [size]), criterion["metric"]) for size in sizes}
        by_size = {size: each for size, each in by_size.items() if each.datasets and len(each.ranks) > 1}
        if by_size:
            found[criterion["label"]] = pd.DataFrame({size: each.ranks for size, each in by_size.items()})
            counts.append(f"{criterion['label']} {', '.join(str(len(each.datasets)) for each in by_size.values())}")
    figure, axes = plot.side_by_side(width, len(found), ACROSS, HEIGHT)
    for (label, ranks), ax in zip(found.items(), axes, strict=True):
        for method, own in ranks.reindex(list(styles)).iterrows():
            ax.plot(range(len(own)), own.to_numpy(), **drawn_as(styles[method]))
        ax.set_xticks(range(ranks.shape[1]), ranks.columns)
        ax.set(yticks=range(1, len(ranks) + 1), ylim=(len(ranks) + 0.3, 0.7))
        ax.set(title=label, xlabel="number of features s", ylabel="mean rank")
    ranked = {method for ranks in found.values() for method in ranks.index}
    missing = [criterion["label"] for criterion in criteria if criterion["label"] not in found]
    remarks = ["Mean ranks over the data sets on which every map has a value; 1 is best."]
    remarks += [f"Data sets by size: {'; '.join(counts)}.", *plot.not_drawn(dict.fromkeys(missing, "not run"))]
    return Picture(figure, [each for method, each in styles.items() if method in ranked], remarks, frame)


# --- critical_difference ----------------------------------------------------------------------------------------------
# Mean ranks of methods over data sets; upright bars join methods that Nemenyi's test does not set apart.
#
# A panel per criterion and group of sizes (Demšar, Statistical comparisons of classifiers over multiple data sets,
# Journal of Machine Learning Research 7, 2006).


#: Inches of a method, and of a panel without methods.
RANK_ROW, AROUND = 0.13, 0.5


def critical_difference(context, *, width, datasets, methods, groups, criteria) -> Picture:
    """Return the figure, with a panel wherever two methods have scores on two data sets."""
    sizes = {size for own in groups.values() for size in own}
    frame = ranked_rows(context.rows, datasets, methods, criteria, sizes)
    ranked = {
        f"{criterion['label']}, {group}": ranking(scores(frame, criterion, methods, own), criterion["metric"])
        for criterion in criteria
        for group, own in groups.items()
    }
    found = {title: each for title, each in ranked.items() if len(each.ranks) > 1 and len(each.datasets) > 1}
    absent = {title: "under two data sets or maps" for title in ranked if title not in found}
    styles = {method: plot_style(method, context.styles) for method in methods}
    height = RANK_ROW * min(len(styles), max((len(each.ranks) for each in found.values()), default=0)) + AROUND
    figure, axes = plot.side_by_side(width, len(found), len(groups), height)
    for (title, each), ax in zip(found.items(), axes, strict=True):
        ranks = each.ranks
        for row, (method, rank) in enumerate(ranks.items()):
            ax.plot(rank, row, **drawn_as(styles[method]))
        joined = alike(ranks.to_numpy(), nemenyi(len(each.datasets), len(each.ranks)))
        for position, (first, last) in enumerate(joined):
            ax.plot([len(styles) + 0.5 + 0.35 * position] * 2, [first, last], color="#555555", linewidth=1.6)
        ax.set_yticks(range(len(ranks)), [styles[method].label for method in ranks.index])
        ax.set(xlim=(0.7, len(styles) + 0.5 + 0.35 * len(joined)), xticks=range(1, len(styles) + 1))
        ax.set(xlabel="mean rank (1 is best)", ylim=(len(ranks) - 0.4, -0.6))
        p_value = f", p = {each.p_value:.1g}" if each.p_value == each.p_value else ""
        ax.set_title(f"{title} ({len(each.datasets)} data sets{p_value})", loc="left")
    remarks = ["Bars on the right join maps that do not differ at 5 % by Nemenyi's test; p is that of Friedman's test."]
    return Picture(figure, notes=[*remarks, *plot.not_drawn(absent)], shown=frame)


def alike(ranks: np.ndarray, distance: float) -> list[tuple[int, int]]:
    """Return the first and last positions of the longest groups of rising ranks that differ by less than a distance.

    >>> alike(np.array([1.0, 2.0, 2.5, 4.0]), 2.0)
    [(0, 2), (2, 3)]
    """
    lasts = np.searchsorted(ranks, ranks + distance) - 1
    groups = [(first, int(last)) for first, last in enumerate(lasts) if last > first]
    return [(first, last) for i, (first, last) in enumerate(groups) if i == 0 or groups[i - 1][1] < last]


# --- ratio_chart ------------------------------------------------------------------------------------------------------
# Ratios of times as dots with their quartiles on one logarithmic axis, each with the largest that it may be.


#: Faces of the dots by verdict; a ratio without a verdict is grey.
COLOUR = "#0072B2"
FACES = {"kept": COLOUR, "missed": "white"}
NO_VERDICT = "#BBBBBB"

#: Inches of a row.
RATIO_ROW = 0.17


def ratio_chart(context, *, width) -> Picture:
    """Return the figure: a dot at the median ratio, a line between its quartiles, an upright stroke at its bound."""
    found = comparisons(context.rows)
    if not len(found):
        return plot.nothing(width, {"all": absence(context.rows)})
    figure, ((ax,),) = plot.grid(width, 1, 1, RATIO_ROW * len(found) + 0.4)
    quartiles = found[["lower quartile", "upper quartile"]].to_numpy()
    for row, (value, bar, verdict) in enumerate(zip(found["ratio"], found["at most"], found["verdict"], strict=True)):
        ax.plot([value, bar], [row, row], color="#CCCCCC", linewidth=0.8, zorder=1)
        ax.plot(quartiles[row], [row, row], color=COLOUR, linewidth=2.2, zorder=2)
        ax.plot(bar, row, marker="|", color="black", markersize=9, markeredgewidth=1.2, zorder=3)
        face = FACES.get(verdict, NO_VERDICT)
        ax.plot(value, row, marker="o", color=COLOUR, markerfacecolor=face, markersize=5, zorder=4)
    ax.axvline(1.0, color="#888888", linewidth=0.6, zorder=0)
    dimensions = [f" (d = {d})" if pd.notna(d) else "" for d in found["d"]]
    ax.set_yticks(range(len(found)), found["what"] + dimensions + "  /  " + found["against"])
    ax.set_ylim(len(found) - 0.5, -0.5)
    plot.log_axis(ax.xaxis)
    ax.set_xlabel("ratio of times with its quartiles")
    ax.grid(axis="y", visible=False)
    remarks = ["Stroke: the largest ratio allowed. Filled: within it; hollow: beyond it; grey: no verdict."]
    return Picture(figure, notes=[*remarks, *filter(None, [threads_of(context.rows)])])


# --- printed ----------------------------------------------------------------------------------------------------------
# Published against measured: every number of a paper that can be compared, a panel per quantity and protocol.
#
# The line is where the two are equal, the band around it the practical margin; colour and marker are the verdict.


#: Inches of a panel, characters of a line of its title, and the most panels in a row.
PRINTED_HEIGHT, TITLE, PRINTED_ACROSS = 1.95, 28, 4

#: Plot styles of the verdicts.
STYLES = {
    "reproduced": PlotStyle("reproduced", "#0072B2", "o", "none"),
    "better": PlotStyle("better", "#009E73", "^", "none"),
    "worse": PlotStyle("worse", "#D55E00", "v", "none"),
    "too noisy": PlotStyle("too noisy", "#999999", "s", "none", is_variant=True),
}


def printed(context, *, paper, width, experiments, scorecard) -> Picture:
    """Return the figure: a panel per quantity and protocol, without the counts of rows and columns of the data.

    Numbers of other data than the paper's are counted in a note and not drawn.
    """
    cells = compared(context, paper, experiments, scorecard)
    cells = cells[[FACTS[metric].tolerance is not None for metric in cells["metric"]]]
    cells = cells.assign(panel=[panel_of(cell, context.styles) for cell in cells.itertuples()])
    is_shown = cells["difference"].notna() & (cells["verdict"] != "not comparable")
    shown, hidden = cells[is_shown], cells[~is_shown]
    order = list(shown["panel"].unique())
    if not len(shown):
        return plot.nothing(width, {"published results": "not comparable or not run"})
    found = shown.groupby(["panel", "protocol"], sort=False)
    panels = dict(sorted(found, key=lambda pair: order.index(pair[0][0])))
    n_rows = max(1, -(-len(panels) // PRINTED_ACROSS))
    figure, axes = plot.side_by_side(width, len(panels), -(-len(panels) // n_rows), PRINTED_HEIGHT)
    for (place, own), ax in zip(panels.items(), axes, strict=True):
        _draw_panel(ax, own)
        ax.set_title(textwrap.fill(", ".join(place), TITLE))
    remarks = [f"Line: equal; band: the practical margin; bars: the interval of the difference ({CONFIDENCE:.1%})."]
    remarks += [counts(shown, "Shown")]
    remarks += [counts(hidden, "Not shown")] if len(hidden) else []
    return Picture(figure, [STYLES[verdict] for verdict in STYLES if (shown["verdict"] == verdict).any()], remarks)


def panel_of(cell, styles: dict) -> str:
    """Return the quantity of a panel, with its unit."""
    fact = FACTS[cell.metric]
    return quantity_in_words(cell, styles) + (f" ({fact.unit})" if fact.unit and not cell.over else "")


def _draw_panel(ax, cells: pd.DataFrame) -> None:
    """Draw one panel: equal axes, the line of equality with its band, and the numbers with their error bars."""
    metric = cells["metric"].iloc[0]
    x, y = cells["published"].to_numpy(), cells["value"].to_numpy()
    errors = cells["half_width"].fillna(0.0).to_numpy()
    is_log = not fact_of(metric).is_percentage
    low, high = limits(np.concatenate([x, y, y - errors, y + errors]), is_log)
    line = np.geomspace(low, high, 200) if is_log else np.linspace(low, high, 200)
    margin = np.array([FACTS[metric].margin(value) for value in line])
    ax.fill_between(line, line - margin, line + margin, color="#DDDDDD", linewidth=0, zorder=0)
    ax.plot(line, line, color="#555555", linewidth=0.6, zorder=1)
    for verdict in reversed(STYLES):  # the most important points are drawn last
        own = (cells["verdict"] == verdict).to_numpy()
        if own.any():
            ax.errorbar(x[own], y[own], yerr=errors[own], elinewidth=0.5, zorder=2, **drawn_as(STYLES[verdict]))
    ax.set(xlim=(low, high), ylim=(low, high), xlabel="published", ylabel="ours")
    if is_log:
        plot.log_axis(ax.xaxis)
        plot.log_axis(ax.yaxis)


def limits(values: np.ndarray, is_log: bool) -> tuple[float, float]:
    """Return the ends of both axes: all values (the positive ones on a logarithmic axis) with a margin of 6 %."""
    values = np.log(values[values > 0]) if is_log else values
    pad = 0.06 * (values.max() - values.min()) or 0.5
    ends = np.array([values.min() - pad, values.max() + pad])
    return tuple(np.exp(ends) if is_log else ends)


# --- reach ------------------------------------------------------------------------------------------------------------
# The features that reach the best published number of every size, against that size: a panel per data set.
#
# On the dotted diagonal ours need as many features as the paper, below it fewer. An open triangle at the largest size
# says that it was not enough.


#: Inches of a panel, panels in a row, and the plot style of the best of the other methods.
REACH_HEIGHT, ACROSS = 1.7, 4
OTHER = PlotStyle("best of the others", "#D55E00", "s", "dashed")


def reach(context, *, paper, width, published, datasets, sizes, quantity, baseline) -> Picture:
    """Return the figure of ``reached.needs``."""
    found = needs(context, paper, published, datasets, sizes, quantity, baseline)
    found = [need for need in found if need.baseline or need.other]
    shown = of_quantity(select(context.rows, dataset=datasets), quantity)
    there = list(dict.fromkeys(need.dataset for need in found))
    figure, axes = plot.side_by_side(width, len(there), ACROSS, REACH_HEIGHT)
    style = plot_style(baseline, context.styles)
    plot.set_titles(axes, plot.titles_of(there, shown, paper, context).values())
    for dataset, ax in zip(there, axes, strict=True):
        own = [need for need in found if need.dataset == dataset]
        x = np.arange(len(own))
        ax.plot(x, [sizes.index(need.size) for need in own], **REFERENCE)
        for each, reached in ((style, [need.baseline for need in own]), (OTHER, [need.other for need in own])):
            met = [(i, sizes.index(point.size)) for i, point in enumerate(reached) if point and point.size in sizes]
            missed = [i for i, point in enumerate(reached) if point and not point.size]
            ax.plot(*np.array(met).reshape(-1, 2).T, **drawn_as(each))
            ax.plot(missed, [len(sizes) - 1] * len(missed), marker="^", linestyle="none", markerfacecolor="none",
                    color=each.colour)  # fmt: skip
        ax.set_xticks(x, [need.size for need in own], rotation=90)
        ax.set_yticks(range(len(sizes)), sizes)
        ax.set(xlabel="published s", ylim=(-0.6, len(sizes) - 0.4))
    if axes:
        axes[0].set_ylabel("features needed")
    entries = [style, OTHER, {"label": "as many as published"} | REFERENCE]
    return Picture(figure, entries, ["Open triangle: not reached at the largest size."], shown)
