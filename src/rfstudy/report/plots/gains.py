"""A figure of points of accuracy gained by a setting, by another map and by another model. Each comes from its own
data."""

import numpy as np
import pandas as pd

from rfstudy.metrics import fact_of
from rfstudy.report import arena as stats
from rfstudy.report import panels as plot
from rfstudy.report.aggregate import by_repeat, of_quantity, select
from rfstudy.report.compare import LEVEL, overlap_of, paired
from rfstudy.report.style import COLOURS, Picture
from rfstudy.report.tables.arena import at_most_columns
from rfstudy.report.tables.power import DRAW, against

#: Inches of a row.
ROW = 0.2

#: Inches of the axis below the rows.
BELOW = 0.35

#: Heights of the dots of a row, in rows from its middle, by the rank of their values.
HEIGHTS = (0.0, 0.2, -0.2)

#: The colours of the parts.
PARTS = {"setting": COLOURS[1], "map": COLOURS[2], "model": "#333333"}


def accuracy_gains(context, *, width, datasets, methods, baseline, quantity, steps, sizes, learners, labels) -> Picture:
    """Return the figure: a row per change, a dot per data set and size, a stroke at their median.

    Parameters
    ----------
    steps : two variants of the baseline, the one before and the one after, with labels; at ``sizes``
    methods : maps that replace the baseline at equal numbers of columns, over the draws of ``tables.power``
    learners : models that replace the baseline of the arena with its most columns, on ``datasets`` with labels
    labels : headings of the three parts, ``setting``, ``map`` and ``model``; ``{n}`` is the number of dots of a row
    """
    before, after = steps
    setting = select(context.rows, method=baseline, variant=list(steps), n_features_label=sizes, axis="")
    setting, drawn = (of_quantity(rows, quantity) for rows in (setting, select(context.rows, axis=DRAW)))
    elsewhere = context.rows["experiment"].isin({*setting["experiment"], *drawn["experiment"]})
    arena = context.with_rows(context.rows[~elsewhere])
    tests = [
        paired(*(by_repeat(select(own, variant=each)) for each in (after, before)), overlap_of(own, context))
        for _, own in setting.groupby("dataset")
    ]
    parts = {
        "setting": {steps[after]: [(test.value, test.p < LEVEL) for test in tests]},
        "map": of_maps(context, drawn, methods, baseline),
        "model": of_models(arena, datasets, baseline, quantity, learners),
    }
    rows = {}
    for part, of_part in parts.items():
        there = {label: (part, sorted(gains)) for label, gains in of_part.items() if gains}
        if there:
            n = max(len(gains) for _, gains in there.values())
            rows |= {labels[part].format(n=n): None} | there
    if not rows:
        return plot.nothing(width, {"all": "not run"})
    figure, ((ax,),) = plot.grid(width, 1, 1, ROW * len(rows) + BELOW)
    margin = fact_of(quantity["metric"]).smallest_effect
    ax.axvspan(-margin, margin, color="#E4E4E4", linewidth=0, zorder=0)
    ax.axvline(0.0, color="black", linewidth=0.7, zorder=1)
    for y, (label, row) in enumerate(rows.items()):
        if row is None:
            ax.text(0.005, y, label, transform=ax.get_yaxis_transform(), va="center", weight="bold",
                    bbox={"facecolor": "white", "linewidth": 0, "pad": 0.5})  # fmt: skip
            continue
        (values, significant), colour = np.transpose(row[1]), PARTS[row[0]]
        ax.scatter(values, y + np.resize(HEIGHTS, len(values)), s=12, zorder=3, linewidths=0.8, edgecolors=colour,
                   facecolors=np.where(significant, colour, "white"))  # fmt: skip
        ax.vlines(np.median(values), y - 0.42, y + 0.42, colors=colour, linewidth=1.6, zorder=2)
    named = {y: label for y, (label, row) in enumerate(rows.items()) if row is not None}
    ax.set_yticks(list(named), list(named.values()))
    ax.set(ylim=(len(rows) - 0.4, -0.6), xlabel="points of accuracy gained by the change")
    ax.grid(axis="y", visible=False)
    marker = {"color": "#333333", "marker": "o", "linestyle": "none", "markersize": 3.5}
    faces = {f"significant at {LEVEL:.0%}": "#333333", "not significant": "white"}
    entries = [marker | {"label": label, "markerfacecolor": face} for label, face in faces.items()]
    notes = [
        "The three parts are different experiments, so their gains cannot be added. A dot is a data set, and in the "
        f"second part a data set and a size. Stroke: median. Grey: within {margin:g} points. Tests: over the splits; "
        "over five draws on each of ten splits, by Holm's correction over these maps; over the folds."
    ]
    shown = select(arena.rows, dataset=datasets, metric=quantity["metric"], split="test")
    return Picture(figure, entries, notes, pd.concat([setting, drawn, shown]))


def of_maps(context, drawn: pd.DataFrame, methods: list[str], baseline: str) -> dict[str, list]:
    """Return the gain of each map over the baseline at each place, with the tests of ``tables.power``."""
    found = {context.label(method): [] for method in methods}
    for _, rows in drawn.groupby("dataset"):
        for (_, who), (test, *_) in against(rows, methods, baseline).items():
            found[context.label(*who)].append((float(test.value), test.p < LEVEL))
    return found


def of_models(context, datasets, baseline: str, quantity: dict, learners: dict[str, str]) -> dict[str, list]:
    """Return the gain of each model over the baseline with its most columns on each data set with labels of the arena.

    A gain is significant if the interval of the error's logarithm, by the folds, does not contain 0.
    """
    results = stats.results_of(context, datasets, baseline, quantity)
    errors, found = stats.errors_in_percent(results), {label: [] for label in learners.values()}
    for dataset, (columns, gaps) in at_most_columns(results).items():
        for learner in (each for each in learners if each in gaps and results.kinds[dataset] == "labels"):
            gain = errors[dataset, columns, baseline, ""] - errors[dataset, 0, learner, ""]
            found[learners[learner]].append((gain, gaps[learner].low > 0 or gaps[learner].high < 0))
    return found
