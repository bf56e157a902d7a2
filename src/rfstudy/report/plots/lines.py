"""Figures of lines: a panel per data set or quantity, a line per method."""

import itertools
import textwrap
from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from rfstudy.metrics import fact_of
from rfstudy.report import aggregate
from rfstudy.report import panels as plot
from rfstudy.report.aggregate import CELL, by_cell, differing_columns, method_order, of_quantity, select
from rfstudy.report.notes import notes_on_sizes, span, status_of
from rfstudy.report.plot_styles import PlotStyle, plot_style
from rfstudy.report.style import PUBLISHED, Picture
from rfstudy.report.tables.times import behind_curves, curve, why_no_curve
from rfstudy.report.times import ROUND, ratios, summarise

# --- curves -----------------------------------------------------------------------------------------------------------
# Lines of methods against the number of features, or against another quantity that an experiment varies.
#
# The survey's Figures 9 and 10 look like this: a row of panels per data set, and in a row the approximation error, the
# generation time and the accuracy of two linear classifiers. A method that does not vary with the horizontal axis is a
# level line. A panel ``against`` a method shows the paired differences from it, which nine overlapping curves do not.
#
# Such differences are of percentages in points, and ratios of everything else. All methods of a repeat see the same
# split, so the pairs vary less than the methods do. A point shows the mean over the repeats with one standard deviation
# of the paired differences (of a ratio: of its logarithm). That describes the repeats and tests nothing: splits of the
# same rows overlap, so a standard error would be too small. Times by rounds are compared round by round, by the median
# with the quartiles.


#: Columns that two compared cells share: all but the method; sizes are equal if their labels are.
PLACE = [column for column in CELL if column not in ("kernel", "method", "variant", "n_features")]


def compared(frame: pd.DataFrame, baseline: str) -> pd.DataFrame:
    """Return each cell of a frame of one quantity, compared with the cell of ``baseline`` at the same coordinates.

    The columns are ``CELL`` (without ``at`` of rounds) and, as of ``times.summarise``, ``mean``, ``lower``, ``upper``,
    ``n`` (pairs), ``rounds`` and ``machine_busy``. Cells of the baseline itself, and cells that share no repeat with
    it, are left out.
    """
    ok = select(frame, status="ok")
    of_baseline = select(ok, method=baseline, variant="")
    others = ok[(ok["method"] != baseline) | (ok["variant"] != "")]
    is_round = others["axis"] == ROUND
    found = [_by_repeat(others[~is_round], of_baseline), _by_round(others[is_round], of_baseline)]
    return pd.concat([each for each in found if len(each)] or found[:1], ignore_index=True)


def _by_repeat(others: pd.DataFrame, baseline: pd.DataFrame) -> pd.DataFrame:
    shared = [*differing_columns(pd.concat([others[PLACE], baseline[PLACE]]), PLACE), "repeat"]
    pairs = others.merge(baseline[[*shared, "value"]], on=shared, suffixes=("", "_other"), validate="many_to_one")
    points = all(fact_of(metric).is_percentage for metric in pairs["metric"].unique())
    if not points:  # zero, such as a time below the resolution of the clock, has no defined ratio
        pairs = pairs[(pairs[["value", "value_other"]] > 0).all(axis=1)]
    gap = pairs["value"] - pairs["value_other"] if points else np.log(pairs["value"] / pairs["value_other"])
    cells = by_cell(pairs.assign(gap=gap), CELL, mean=("gap", "mean"), std=("gap", "std"), n=("gap", "size"))
    spread = cells.pop("std").fillna(0.0)
    ends = {"mean": cells["mean"], "lower": cells["mean"] - spread, "upper": cells["mean"] + spread}
    shown = ends if points else {name: np.exp(end) for name, end in ends.items()}
    return cells.assign(**shown, rounds=0, machine_busy=False)


def _by_round(others: pd.DataFrame, baseline: pd.DataFrame) -> pd.DataFrame:
    place, cells = ([column for column in columns if column != "at"] for columns in (PLACE, CELL))
    found = ratios(others, baseline, place, cells).reset_index()
    found = found.rename(columns={"value": "mean", "low": "lower", "high": "upper"})
    found = found.assign(at=np.nan, rounds=found["n"], machine_busy=found["reason"] == "machine busy")
    return found.drop(columns=["error", "p", "reason", "index"], errors="ignore")


#: The horizontal axis unless an entry has another.
SIZES = {"axis": "n_features", "label": "number of features s", "scale": "log"}

#: Inches of a row of panels, characters of a label along its side, and numbers of features that each have a tick.
HEIGHT, LABEL_WIDTH, FEW = 1.3, 19, 2

#: The line of no difference.
NO_DIFFERENCE = {"linewidth": 0.7, "zorder": 1.5}


def curves(
    context, *, paper, width, datasets, methods, panels, sizes=None, bars="deviation", datasets_per_row=1, x=SIZES,
    published=None,
) -> Picture:  # fmt: skip
    """Return the figure with a row of panels per data set.

    Parameters
    ----------
    context : its rows are tidy rows of the experiments
    panels : the quantities of a row: ``metric``, ``label``, ``scale`` and, if they matter, ``learner``, ``split``,
        ``kernel`` and the method that the others are compared ``against``
    methods, sizes : their order; a method that is not listed is drawn too, after the others, but not as a level line
    bars : one standard "deviation", or one standard "error" of the mean
    datasets_per_row : data sets in one row
    x : the ``axis`` that the experiment varies, its ``label`` and ``scale``; a panel may have its own
    published : tables whose percentages are hollow markers
    """
    along = [panel.get("x", x) for panel in panels]
    is_size = x["axis"] == SIZES["axis"]
    rows = select(context.rows, dataset=datasets, axis=["", ROUND] if is_size else [each["axis"] for each in along])
    if not is_size:  # methods that the axis does not change are level lines
        level = select(context.rows, dataset=datasets, axis="", experiment=rows["experiment"].unique(), method=methods)
        on_axis, at_level = (pd.MultiIndex.from_frame(each[["method", "variant"]]) for each in (rows, level))
        rows = pd.concat([rows, level[~at_level.isin(on_axis)]])
    measured = pd.concat([of_quantity(rows, panel) for panel in panels])
    measured = measured[~measured.index.duplicated()]
    shown = select(measured, n_features_label=sizes)
    styles = plot.styles_of(shown, methods, context)
    found, absent = {}, {}
    axes_of = [None if is_size else ["", each["axis"]] for each in along]
    rows_of = [select(of_quantity(shown, panel), axis=axis) for panel, axis in zip(panels, axes_of, strict=True)]
    points_of = [cells_of(*each, is_size=is_size, errors=bars == "error") for each in zip(rows_of, panels, strict=True)]
    for dataset, (position, panel) in itertools.product(datasets, enumerate(panels)):
        own, cells = (select(of[position], dataset=dataset) for of in (rows_of, points_of))
        if cells["x"].notna().any():
            found[dataset, position] = panel, cells
        else:
            absent[dataset, panel["label"]] = _why_absent(select(shown, dataset=dataset), own, panel)
    titles = plot.titles_of(datasets, shown, paper, context)
    labels = [each["label"] for each in along]
    figure, axes = plot.by_dataset(width, HEIGHT, list(found), titles, labels, datasets_per_row)
    printed = select(context.published, paper=paper, experiment=published, status="ok") if published else None
    has_printed, with_chance = False, []
    for place, ax in axes.items():
        panel, cells = found[place]
        theirs = cells.iloc[:0] if printed is None else printed_points(printed, place[0], panel, cells)
        _draw_panel(ax, panel, cells, styles, along[place[1]], theirs)
        has_printed |= len(theirs) > 0
        if "against" not in panel:
            with_chance.append((ax, place[0], panel))
    of_chance, notes_of_chance = plot.draw_chances(with_chance, "y", paper, context)
    there, missing = {dataset for dataset, _ in found}, {}
    for (dataset, label), why in absent.items():
        missing[context.name(dataset, paper) + (f": {label}" if dataset in there else "")] = why
    others = select(measured.drop(shown.index), status="ok").sort_values("n_features", kind="stable")
    if sizes and len(others):
        missing[f"s = {', '.join(others['n_features_label'].unique())}"] = "measured, but not among the sizes shown"
    remarks = [*_on_levels(found, styles), *plot.not_drawn(missing), *notes_of_chance]
    remarks += notes_on_sizes(shown, paper, context) if is_size else []
    entries = [*styles_in_legend(styles, [panel for panel, _ in found.values()]), *of_chance]
    entries += [{"label": "published", "marker": "o", "color": "#777777"} | PUBLISHED] if has_printed else []
    return Picture(figure, entries, remarks, shown, cells_behind(shown, panels, points_of, errors=bars == "error"))


def styles_in_legend(styles: dict[str, PlotStyle], panels: list[dict]) -> Iterator[PlotStyle | dict]:
    """Yield the plot styles of the legend; a method that all panels are ``against`` is the line of no difference."""
    for line, each in styles.items():
        is_level = all(panel.get("against") == line.removesuffix("/") for panel in panels)
        yield {"label": each.label, "color": each.colour} | NO_DIFFERENCE if is_level else each


def printed_points(printed: pd.DataFrame, dataset: str, panel: dict, cells: pd.DataFrame) -> pd.DataFrame:
    """Return the published percentages of a panel's lines, or their differences: ``line``, ``x`` and ``mean``."""
    if not fact_of(panel["metric"]).is_percentage:
        return cells.iloc[:0]
    rows = select(printed, dataset=dataset, metric=panel["metric"], split=panel["split"])
    if "against" in panel:
        of_baseline = select(rows, method=panel["against"]).set_index("n_features")["value"]
        rows = rows.assign(value=rows["value"] - rows["n_features"].map(of_baseline)).dropna(subset="value")
    rows = rows.assign(line=rows["method"] + "/", x=rows["n_features"].astype(float), mean=rows["value"])
    return rows[rows["line"].isin(cells["line"])]


def cells_of(rows: pd.DataFrame, panel: dict, *, is_size: bool, errors: bool) -> pd.DataFrame:
    """Return the points of a panel on all data sets with the ends of their error bars, as ``draw_lines`` takes them.

    ``ValueError`` if rows give two points at the same coordinates of a line.
    """
    cells = compared(rows, panel["against"]) if "against" in panel else summarise(rows)
    cells = cells[cells["n"] > 0]
    if errors:
        cells = with_errors(cells, geometric="against" in panel and not fact_of(panel["metric"]).is_percentage)
    x = cells["n_features" if is_size else "at"].astype(float)
    cells = cells.assign(x=x, line=cells["method"] + "/" + cells["variant"])
    if len(twice := cells[cells.duplicated(["dataset", "line", "x"])]):
        line, x = twice[["line", "x"]].iloc[0]
        raise ValueError(
            f"{panel['metric']} has two values of {line} at {x:g} in one panel: the entry selects too much"
        )
    return cells


def cells_behind(
    rows: pd.DataFrame, panels: list[dict], points_of: list[pd.DataFrame], *, errors=False
) -> pd.DataFrame:
    """Return the measured cells of rows and, of panels ``against`` a method, their points, with the ends of bars."""
    found = zip(panels, points_of, strict=True)
    gaps = [own.drop(columns=["x", "line"]).assign(against=of["against"]) for of, own in found if "against" in of]
    cells = summarise(rows)
    return pd.concat([with_errors(cells) if errors else cells, *gaps], ignore_index=True)


def with_errors(cells: pd.DataFrame, *, geometric: bool = False) -> pd.DataFrame:
    """Return cells with bars of one standard error of the mean in place of one deviation.

    ``geometric`` errors are errors of the logarithm. Bars of times by rounds stay the quartiles.
    """
    root, by_repeat = np.sqrt(cells["n"].astype(float)), cells["rounds"] == 0
    for name in ("lower", "upper"):
        mean, end = cells["mean"], cells[name]
        error = mean * (end / mean) ** (1.0 / root) if geometric else mean + (end - mean) / root
        cells = cells.assign(**{name: error.where(by_repeat, end)})
    return cells


def _draw_panel(ax, panel: dict, cells, styles: dict[str, PlotStyle], x: dict, printed) -> None:
    """Draw a panel; ``printed`` are published points."""
    ax.set(xscale=x["scale"], yscale=panel["scale"])
    plot.draw_lines(ax, cells, styles)
    transform, everywhere = ax.xaxis.get_transform(), pd.concat([cells["x"], printed["x"]]).dropna()
    low, high = transform.transform([everywhere.min(), everywhere.max()])
    margin = 0.07 * (high - low) if high - low > 1e-9 else 1.0
    ax.set_xlim(transform.inverted().transform([low - margin, high + margin]))
    ax.margins(y=0.12 if len(printed) else None)
    for line, own in printed.groupby("line", sort=False):
        ax.plot(own["x"], own["mean"], color=styles[line].colour, marker=styles[line].marker, **PUBLISHED)
    always = printed["mean"].tolist()
    if "against" in panel:  # the value of no difference
        always.append(0.0 if fact_of(panel["metric"]).is_percentage else 1.0)
        ax.axhline(always[-1], color=styles[f"{panel['against']}/"].colour, **NO_DIFFERENCE)
    if cells["x"].nunique() > 1:
        plot.cut_outliers(ax, cells, styles, always)
    if panel["scale"] == "log":
        plot.log_axis(ax.yaxis)
    else:
        ax.yaxis.set_major_locator(MaxNLocator(5))
        if fact_of(panel["metric"]).is_percentage:
            plot.widen(ax)
    is_counted = x["axis"] == SIZES["axis"] and cells["n_features_label"].str.isdigit().all()
    if x["scale"] == "log" and x["axis"] == SIZES["axis"] and (not is_counted or everywhere.nunique() <= FEW):
        sizes = cells.dropna(subset="x").drop_duplicates("x").sort_values("x")
        labels = sizes["x"].map("{:,.0f}".format) if is_counted else sizes["n_features_label"]
        plot.doublings_axis(ax, sizes["x"], labels)
    elif x["scale"] == "log":
        plot.log_axis(ax.xaxis)
    else:
        ax.xaxis.set_major_locator(MaxNLocator(4))
    ax.set_ylabel(textwrap.fill(panel["label"], LABEL_WIDTH, break_on_hyphens=False))


def _why_absent(rows: pd.DataFrame, own: pd.DataFrame, panel: dict) -> str:
    """Return why a panel shows nothing; ``rows`` are the rows of its data set."""
    if len(rows) and not len(own) and fact_of(panel["metric"]).unit == "s":
        return "not timed"
    if "against" in panel and (own["status"] == "ok").any():
        return f"nothing to compare with {panel['against']}"
    return status_of(own)


def _on_levels(found: dict, styles: dict[str, PlotStyle]) -> list[str]:
    """Return a sentence on the methods that are level lines."""
    drawn = [(cells["line"].to_numpy(), cells["x"].isna().to_numpy()) for _, cells in found.values()]
    level = {line for lines, is_level in drawn for line in {*lines[is_level]} - {*lines[~is_level]}}
    names = ", ".join(styles[line].label for line in styles if line in level)
    return [f"Level lines with a band: {names}, which the horizontal axis does not change."] if names else []


# --- gains ------------------------------------------------------------------------------------------------------------
# Paired differences from a method as dots: a row of panels per data set, in a panel a row per method with a dot at the
# fewest and one at the most features.


#: Inches of a method, of the rest of a panel, the share of a row that the two dots are spread over, and their colours.
GAIN_ROW, GAIN_FRAME, GAIN_SPREAD = 0.12, 0.4, 0.4
GAIN_COLOURS = ("#56B4E9", "#004A80")


def gains(context, *, paper, width, datasets, methods, panels, sizes, datasets_per_row=1) -> Picture:
    """Return the figure; ``panels`` are as in ``curves``, all ``against`` a method, and two ``sizes`` are drawn."""
    ends = [sizes[0], sizes[-1]]
    shown = select(context.rows, dataset=datasets, axis=["", ROUND], n_features_label=ends)
    shown = pd.concat([of_quantity(shown, panel) for panel in panels])
    styles = {size: PlotStyle(f"s = {size}", each, "o", "none") for size, each in zip(ends, GAIN_COLOURS, strict=True)}
    points_of = [cells_of(of_quantity(shown, panel), panel, is_size=True, errors=False) for panel in panels]
    rows = method_order(pd.concat(points_of), [each for each in methods if each != panels[0]["against"]])
    there = {(d, i): own for d in datasets for i, of in enumerate(points_of) if len(own := select(of, dataset=d))}
    titles = plot.titles_of(datasets, shown, paper, context)
    height = GAIN_ROW * max(4, len(rows)) + GAIN_FRAME
    labels = [panel["label"] for panel in panels]
    figure, axes = plot.by_dataset(width, height, list(there), titles, labels, datasets_per_row)
    for (dataset, position), ax in axes.items():
        panel, cells = panels[position], there[dataset, position]
        at = [rows.index(each) for each in zip(cells["method"], cells["variant"], strict=True)]
        cells = cells.assign(line=cells["n_features_label"], row=at, pale=False)
        is_points = fact_of(panel["metric"]).is_percentage
        ax.axvline(0.0 if is_points else 1.0, color="black", linewidth=0.7, zorder=1.5)
        ax.set_xscale(panel["scale"])
        plot.draw_dots(ax, cells, styles, len(rows), GAIN_SPREAD)
        plot.cut_row(ax, cells, 0.0 if is_points else 1.0)
        plot.widen(ax, "x") if is_points else plot.log_axis(ax.xaxis)
        is_first = ax.get_subplotspec().colspan.start == 0
        ax.set_yticks(range(len(rows)), [context.label(*each) for each in rows] if is_first else [""] * len(rows))
    missing = {context.name(each, paper): "not run" for each in datasets if not any(each == d for d, _ in there)}
    shown = shown[~shown.index.duplicated()]
    cells = cells_behind(shown, panels, points_of)
    bars = "Bars: one standard deviation of the paired differences, of times the quartiles."
    return Picture(figure, styles.values(), [bars, *plot.not_drawn(missing)], shown, cells)


# --- error_by_time ----------------------------------------------------------------------------------------------------
# Error against time: a panel per data set, a line per method through its sizes, from few features to many.


#: Inches of a panel, and panels in a row.
TIME_HEIGHT, ACROSS = 1.5, 4

#: If the largest error of a panel is over so many times the smallest, errors are on logarithmic axes. On linear ones
#: the lines of small errors lie on each other.
DECADE = 10.0


def error_by_time(context, *, paper, width, datasets, methods, quantity, times) -> Picture:
    """Return the figure, with a panel for every data set that has errors and times.

    Parameters
    ----------
    context : its rows are tidy rows of the experiments
    quantity : the error
    times : the metric of the time that counts for a method, by method
    """
    styles = {method: plot_style(method, context.styles) for method in methods}
    found, absent = {}, {}
    for dataset in datasets:
        rows = select(context.rows, dataset=dataset)
        if len(cells := points(rows, methods, quantity, times)):
            found[dataset] = cells
        else:
            errors = select(rows, metric=quantity["metric"], learner=quantity.get("learner"))
            absent[context.name(dataset, paper)] = why_no_curve(errors)
    figure, axes = plot.side_by_side(width, len(found), ACROSS, TIME_HEIGHT)
    plot.set_titles(axes, plot.titles_of(found, context.rows, paper, context).values())
    is_wide = any(own["error"].max() > DECADE * own["error"].min() > 0 for own in found.values())
    for cells, ax in zip(found.values(), axes, strict=True):
        ax.set_yscale("log" if is_wide else "linear")
        plot.draw_lines(ax, cells, styles)
        for axis in (ax.xaxis, ax.yaxis)[: 1 + is_wide]:
            plot.log_axis(axis)
        ax.set(xlabel="time (s)", ylabel=plot.with_unit(quantity["metric"]))
    shown = behind_curves(select(context.rows, dataset=datasets), methods, quantity, times)
    remarks = ["Bars: one standard error of the error, the quartiles of the time.", *plot.not_drawn(absent)]
    return Picture(figure, styles.values(), remarks, shown, with_errors(summarise(shown)))


def points(rows: pd.DataFrame, methods: list[str], quantity: dict, times: dict[str, str]) -> pd.DataFrame:
    """Return errors and times of methods with the ends of their bars, as ``draw_lines`` takes them."""
    curves = [curve(rows, method, quantity, times[method]).assign(line=method) for method in methods]
    cells = pd.concat([own for own in curves if len(own)] or curves[:1], ignore_index=True)
    if not len(cells):
        return cells
    left, right = (cells["seconds"].map(lambda seconds, end=end: seconds.quantile(end)) for end in (0.25, 0.75))
    lower, upper = cells["error"] - cells["standard_error"], cells["error"] + cells["standard_error"]
    return cells.assign(x=cells["time"], left=left, right=right, mean=cells["error"], lower=lower, upper=upper)


# --- descent ----------------------------------------------------------------------------------------------------------
# Errors against the number of features over the number of training rows: a row of panels per data set.
#
# Lines are medians over the repeats and bands their quartiles: where features are as many as rows, the error has hardly
# a finite variance, and its largest values would decide a mean. A line is a map (by colour) with a learner (by the
# pattern). Upright lines mark where a map has as many columns as there are rows.


#: Inches of a row of panels.
DESCENT_HEIGHT = 1.5

#: Patterns of the learners, in the order of the entry, and of the upright lines.
PATTERNS = ("solid", (0, (4, 1.4)), (0, (1, 1)))
THRESHOLD = {"linestyle": (0, (1, 1.2)), "linewidth": 0.8, "zorder": 1}


def descent(context, *, paper, width, datasets, methods, learners, panels) -> Picture:
    """Return the figure.

    Parameters
    ----------
    context : its rows are tidy rows of an experiment of the kind "path"
    panels : the quantities of a row: ``metric``, ``split``, ``label`` and ``scale``
    methods : their order
    learners : their names in the legend, by id; {penalty} is the penalty of the rows of the first
    """
    metrics = [panel["metric"] for panel in panels]
    shown = select(context.rows, dataset=datasets, metric=metrics, learner=["", *learners])
    ok = select(shown, status="ok")
    plain = {"marker": "", "linestyle": PATTERNS[0]}  # learners have patterns
    maps = {line: each._replace(**plain) for line, each in plot.styles_of(ok, methods, context).items()}
    penalties = {each.get("penalty", np.nan) for each in aggregate.settings_of(select(ok, learner=[*learners][:1]))}
    stated = " or ".join(f"{each:g}".replace("e-0", "e-") for each in sorted(penalties))
    learners = {each: name.format(penalty=stated) for each, name in learners.items()}
    patterns = dict(zip(learners, PATTERNS, strict=False))
    styles = {
        f"{line}/{learner}": each._replace(linestyle=patterns.get(learner, PATTERNS[0]))
        for line, each in maps.items()
        for learner in ("", *learners)
    }
    found = {
        (dataset, position): rows
        for dataset in datasets
        for position, panel in enumerate(panels)
        if len(rows := of_quantity(select(ok, dataset=dataset), panel))
    }
    titles = plot.titles_of(datasets, ok, paper, context)
    figure, axes = plot.by_dataset(width, DESCENT_HEIGHT, list(found), titles, ["$s/n$"] * len(panels))
    for place, ax in axes.items():
        _draw_descent(ax, found[place], panels[place[1]], styles, maps)
    entries = [*maps.values()]
    if len(learners) > 1:
        entries += [{"color": "#777777", "linestyle": patterns[each], "label": learners[each]} for each in learners]
    entries.append({"color": "black", "label": "columns = $n$"} | THRESHOLD)
    counts = ok.groupby(["dataset", "method", "variant"])["repeat"].nunique()
    number, of = span(counts.min(), counts.max()), ", ".join(learners.values())
    remarks = [f"Lines and bands: medians and quartiles over {number} repeats; {of}."] if len(ok) else []
    remarks += plot.without_panel(shown, datasets, paper, context)
    cells = by_cell(aggregate.with_status(shown), CELL, quartiles=True, std=("value", "std"), **aggregate.COUNTS)
    return Picture(figure, entries, remarks, shown, cells)


def quartiles(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the median and the quartiles over the repeats of every line, as ``draw_lines`` takes them."""
    rows = rows.assign(line=rows["method"] + "/" + rows["variant"] + "/" + rows["learner"], x=rows["at"])
    return by_cell(rows, ["line", "x"], quartiles=True)


def _draw_descent(ax, rows: pd.DataFrame, panel: dict, styles: dict, maps: dict) -> None:
    for line, own in rows.groupby(rows["method"] + "/" + rows["variant"], sort=False):
        # where columns are as many as rows: s/n over columns/n
        for place in (own["n_features"] / own["n_columns"]).unique():
            ax.axvline(place, color=maps[line].colour, **THRESHOLD)
    plot.draw_lines(ax, quartiles(rows), styles, band=True)
    plot.log_axis(ax.xaxis)
    if panel["scale"] == "log":
        plot.log_axis(ax.yaxis)
    else:
        ax.yaxis.set_major_locator(MaxNLocator(5))
    ax.set_ylabel(panel["label"])
