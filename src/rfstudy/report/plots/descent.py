"""Errors along the number of features over that of the training rows: one panel a quantity, one row of panels a data
set, one line a map (by colour) and learner (by the pattern of its line).

Lines are medians and bands quartiles over the repeats: where the features are as many as the rows an error has no
finite variance to speak of, and a mean is that of its largest values. Upright lines stand where a map has as many
columns as there are rows, in its colour.
"""

from __future__ import annotations

from functools import partial
from string import ascii_lowercase

import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from rfstudy.report.aggregate import method_order, of_quantity, select
from rfstudy.report.context import Context
from rfstudy.report.layout import Panel, Row, laid_out
from rfstudy.report.notes import absence, dataset_name, not_drawn, notes
from rfstudy.report.plot_styles import PlotStyle, plot_style
from rfstudy.report.published import printed_name
from rfstudy.report.scales import limits, set_upright, span_of
from rfstudy.report.style import Picture

#: Keys of an entry of this kind, beside those of all entries.
REQUIRED = ("width", "datasets", "methods", "learners", "panels")

#: Ticks of s/n.
TICKS = (0.05, 0.1, 0.5, 1, 5, 10)

#: Inches.
PANEL_HEIGHT = 1.35

#: How learners are told apart, in the order of the entry, and where a map has as many columns as there are rows.
PATTERNS = ("solid", (0, (4, 1.4)), (0, (1, 1)))
THRESHOLD = {"linestyle": (0, (1, 1.2)), "linewidth": 0.8, "zorder": 1}

#: Quartiles, and the band between them.
LOWER, UPPER = 0.25, 0.75
BAND = {"alpha": 0.18, "linewidth": 0}


def draw(context: Context, spec: dict) -> Picture:
    """The figure of one specification of kind "descent".

    Parameters
    ----------
    context : its rows are tidy rows of an experiment of the kind "path"
    spec : ``datasets`` (rows of panels), ``panels`` (``metric``, ``split``, ``label`` and the ``scale`` of the
        upright axis), ``methods`` (their order), ``learners`` (in words, by id), ``width``

    Returns
    -------
    Picture of the width that the specification states
    """
    metrics = list(dict.fromkeys(panel["metric"] for panel in spec["panels"]))
    shown = select(context.rows, dataset=spec["datasets"], metric=metrics, learner=["", *spec["learners"]])
    ok = select(shown, status="ok")
    styles = {pair: plot_style(pair[0], context.styles, pair[1]) for pair in method_order(ok, spec["methods"])}
    by_dataset = {dataset: own for dataset in spec["datasets"] if len(own := select(ok, dataset=dataset))}
    rows = []
    for letter, (dataset, own) in zip(ascii_lowercase, by_dataset.items(), strict=False):
        title = f"({letter}) {dataset_name(context.tasks, dataset, spec['paper'], own)}"
        drawn = partial(_panel, styles=styles, spec=spec, labelled=len(rows) == len(by_dataset) - 1)
        quantities = [(panel, of_quantity(own, panel)) for panel in spec["panels"]]
        panels = [
            Panel(partial(drawn, rows=of_panel, log=panel["scale"] == "log"), panel["label"]) if len(of_panel) else None
            for panel, of_panel in quantities
        ]
        rows.append(Row(panels, PANEL_HEIGHT, title))
    told = [*_on_columns(ok, styles), *_absent(shown, context, spec)]
    return laid_out(spec["width"], rows, _handles(styles, spec) if rows else [], [*told, *notes(shown, spec, context)])


def _absent(shown: pd.DataFrame, context: Context, spec: dict) -> list[str]:
    """A sentence on the data sets without a row of panels, by the reason."""
    missing: dict[str, list[str]] = {}
    for dataset in spec["datasets"]:
        own = select(shown, dataset=dataset)
        if not (own["status"] == "ok").any():
            missing.setdefault(absence(own).split(":")[0], []).append(
                printed_name(context.tasks, dataset, spec["paper"])
            )
    return not_drawn(missing)


def _panel(ax, rows: pd.DataFrame, styles: dict[tuple, PlotStyle], spec: dict, *, log: bool, labelled: bool) -> None:
    for (method, variant), own_style in styles.items():
        own = select(rows, method=method, variant=variant)
        # where columns are as many as rows: s/n over columns/n
        for place in (own["n_features"] / own["n_columns"]).unique():
            ax.axvline(place, color=own_style.colour, **THRESHOLD)
        for learner in ("", *spec["learners"]):
            _line(ax, select(own, learner=learner), own_style, _pattern(learner, spec))
    ax.set_xscale("log")
    ax.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlim(limits(span_of(rows["at"], log=True), log=True, margin=0.02))
    quartiles = rows.groupby(["method", "variant", "learner", "at"])["value"].quantile([LOWER, UPPER])
    set_upright(ax, limits(span_of(quartiles, log=log), log=log), log=log)
    if labelled:
        ax.set_xlabel("$s/n$")


def _line(ax, rows: pd.DataFrame, own: PlotStyle, pattern) -> None:
    """The median over the repeats, and the band between the quartiles."""
    if not len(rows):
        return
    along = rows.groupby("at")["value"].quantile([LOWER, 0.5, UPPER]).unstack()
    ax.fill_between(along.index, along[LOWER], along[UPPER], color=own.colour, **BAND)
    ax.plot(along.index, along[0.5], color=own.colour, linestyle=pattern)


def _pattern(learner: str, spec: dict):
    """The pattern of a learner's lines; what no learner is concerned with is solid."""
    return PATTERNS[list(spec["learners"]).index(learner) % len(PATTERNS)] if learner else PATTERNS[0]


def _handles(styles: dict[tuple, PlotStyle], spec: dict) -> list[Line2D]:
    handles = [Line2D([], [], color=own.colour, label=own.label) for own in styles.values()]
    if len(spec["learners"]) > 1:
        handles += [
            Line2D([], [], color="#777777", linestyle=_pattern(learner, spec), label=words)
            for learner, words in spec["learners"].items()
        ]
    return [*handles, Line2D([], [], color="black", label="columns = $n$", **THRESHOLD)]


def _on_columns(shown: pd.DataFrame, styles: dict[tuple, PlotStyle]) -> list[str]:
    """A sentence on the columns of every map: which multiple of s they are."""
    told = []
    for (method, variant), own in styles.items():
        rows = select(shown, method=method, variant=variant)
        multiples = (rows["n_columns"] / rows["n_features"]).dropna().unique()
        told += [f"{own.label} has {'' if multiple == 1 else f'{multiple:g}'}s columns" for multiple in multiples]
    if not told:
        return []
    repeats = shown.groupby("dataset")["repeat"].nunique()
    number = f"{repeats.min()}" if repeats.nunique() == 1 else f"{repeats.min()} to {repeats.max()}"
    return [f"{'; '.join(told)}. Lines and bands: medians and quartiles over {number} repeats."]
