"""Figures of dots: the steps of an ablation, and published against measured numbers."""

import textwrap

import numpy as np
import pandas as pd

from rfstudy.metrics import FACTS, fact_of
from rfstudy.report import panels as plot
from rfstudy.report import scorecard as compared
from rfstudy.report.aggregate import by_repeat, of_quantity, select
from rfstudy.report.compare import CONFIDENCE
from rfstudy.report.context import Context
from rfstudy.report.plot_styles import PlotStyle, plot_style
from rfstudy.report.style import Picture, drawn_as
from rfstudy.report.tables.comparisons import course

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
    taken = set(select(frame, method=methods)["variant"])
    absent = {label: "not run for these methods" for step, label in steps.items() if step not in taken}
    steps = {step: label for step, label in steps.items() if step in taken}
    styles = {method: plot_style(method, context.styles) for method in methods}
    of_controls = {each["label"]: plot_style(each["method"], context.styles, each["variant"]) for each in controls}
    labels = [*steps.values(), *of_controls]
    figure, axes = plot.side_by_side(width, len(there), STEP_ACROSS, STEP_ROW * (len(labels) + 0.2) + 0.5)
    plot.set_titles(axes, plot.titles_of(there, frame, paper, context).values())
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
        ax.set_yticks(range(len(labels)), labels if position % STEP_ACROSS == 0 else [""] * len(labels))
        ax.set_xlabel(plot.with_unit(quantity["metric"]))
    through = ", ".join(control["label"] for control in controls if control.get("line"))
    remarks = ["Pale: the step does not change the method.", *plot.not_drawn(absent)]
    remarks += [f"Dashed line with a band: {through}, mean and standard deviation."] if through else []
    remarks += plot.without_panel(frame, datasets, paper, context)
    with_chance = [(ax, dataset, quantity) for ax, dataset in zip(axes, there, strict=True)]
    of_chance, notes_of_chance = plot.draw_chances(with_chance, "x", paper, context)
    entries = [each._replace(linestyle="none") for each in styles.values()]
    return Picture(figure, [*entries, *of_chance], [*remarks, *notes_of_chance], frame)


def dot(values: pd.Series, *, pale: bool = False) -> dict:
    """Return the mean of values by repeat with the ends of one standard deviation, as ``draw_dots`` takes them."""
    mean, spread = values.mean(), np.nan_to_num(values.std(ddof=1))
    return {"mean": mean, "lower": mean - spread, "upper": mean + spread, "pale": pale}


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


def printed(context, *, paper, width, experiments, scorecard, methods=None, datasets=None) -> Picture:
    """Return the figure: a panel per quantity and protocol, without the counts of rows and columns of the data.

    Numbers of other data than the paper's are counted in a note and not drawn.
    """
    cells = select(compared.scorecard(context, paper, experiments, scorecard), method=methods, dataset=datasets)
    cells = cells[cells["is_result"]]
    cells = cells.assign(panel=[panel_of(cell, context) for cell in cells.itertuples()])
    is_shown = cells["difference"].notna() & (cells["verdict"] != "not comparable")
    shown, hidden = cells[is_shown], cells[~is_shown]
    order = list(shown["panel"].unique())
    if not len(shown):
        return plot.nothing(width, {"published results": "not comparable or not run"})
    found = shown.groupby(["panel", "protocol"], sort=False)
    panels = dict(sorted(found, key=lambda pair: order.index(pair[0][0])))
    n_rows = -(-len(panels) // PRINTED_ACROSS)
    figure, axes = plot.side_by_side(width, len(panels), -(-len(panels) // n_rows), PRINTED_HEIGHT)
    for (place, own), ax in zip(panels.items(), axes, strict=True):
        _draw_panel(ax, own)
        ax.set_title(textwrap.fill(", ".join(place), TITLE))
    remarks = [f"Line: equal; band: the practical margin; bars: the interval of the difference ({CONFIDENCE:.1%})."]
    remarks += [compared.counts(own, lead) for own, lead in ((shown, "Shown"), (hidden, "Not shown")) if len(own)]
    return Picture(figure, [STYLES[verdict] for verdict in STYLES if (shown["verdict"] == verdict).any()], remarks)


def panel_of(cell, context: Context) -> str:
    """Return the quantity of a panel, with its unit."""
    fact = FACTS[cell.metric]
    return compared.quantity_in_words(cell, context) + (f" ({fact.unit})" if fact.unit and not cell.over else "")


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
