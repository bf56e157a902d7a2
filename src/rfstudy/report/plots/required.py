"""The features that ridge regression needs against the number of rows: one panel a decay of the eigenvalues.

A hollow triangle at the largest size that was tried says that it was not enough; so does a caret at the end of an
interval. Frequencies that are drawn from the whole distribution have the plot style of a variant. A stated bound has no
constant: it is drawn through the first requirement of its method, so that only its slope says anything.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from rfstudy.report.aggregate import method_order, select, settings_of
from rfstudy.report.context import Context
from rfstudy.report.layout import Panel, Row, laid_out
from rfstudy.report.notes import absence, not_drawn
from rfstudy.report.plot_styles import PlotStyle, plot_style
from rfstudy.report.requirements import BOUNDS, CONFIDENCE, features_needed, stated_bounds
from rfstudy.report.scales import Span, limits, span_of
from rfstudy.report.style import Picture, drawn_as, handle

#: Keys of an entry of this kind, beside those of all entries.
REQUIRED = ("width", "methods", "panels")
OPTIONAL = ("bounds",)

#: Inches.
PANEL_HEIGHT = 1.9

#: Lines are spread over this share of a doubling of n, so that equal requirements do not hide one another.
DODGE = 0.45

#: How a bound is drawn, in the colour of its method.
BOUND = {"linewidth": 3.0, "alpha": 0.3, "solid_capstyle": "butt", "zorder": 1}


class Bound(NamedTuple):
    """A stated bound on a method's requirement at one decay, scaled to pass through its first point."""

    text: str
    style: PlotStyle
    n: np.ndarray
    s: np.ndarray


def draw(context: Context, spec: dict) -> Picture:
    """The figure of one specification of kind "required".

    Parameters
    ----------
    context : its rows are tidy rows of an experiment of the kind "requirement"
    spec : ``panels`` (``decay`` and ``label``), ``methods`` (their order), ``bounds`` (where they are ``published``,
        and the ``variant`` of a method that they are about and drawn for), ``width``

    Returns
    -------
    Picture of the width that the specification states
    """
    frame = context.rows
    needed = features_needed(frame)
    lines = method_order(needed, spec["methods"])
    styles = [plot_style(method, context.styles, variant) for method, variant in lines]
    there = [panel for panel in spec["panels"] if (needed["decay"] == panel["decay"]).any()]
    missing = [panel["decay"] for panel in spec["panels"] if panel not in there]
    told = not_drawn({absence(frame).split(":")[0] if not len(needed) else "not run": missing}) if missing else []
    if not there:
        return laid_out(spec["width"], [], [], told)
    bounds = {panel["decay"]: _bounds(needed, panel["decay"], context, spec) for panel in there}
    ends = needed[["s", "lower", "upper", "largest"]].to_numpy(dtype=float)
    shown = limits(
        span_of([*ends.ravel(), *np.concatenate([each.s for of in bounds.values() for each in of] or [[]])], log=True),
        log=True,
    )
    panels = [
        Panel(
            lambda ax, panel=panel, first=first: _panel(
                ax, select(needed, decay=panel["decay"]), lines, styles, bounds[panel["decay"]], shown, first
            ),
            panel["label"],
        )
        for panel, first in zip(there, [True] + [False] * len(there), strict=False)
    ]
    notes = _notes(frame, needed, bounds, spec.get("bounds", {}).get("variant", ""))
    legend = [handle(each) for each in styles]
    if any(bounds.values()):
        legend.append(Line2D([], [], color="black", label="stated bound", **BOUND))
    return laid_out(spec["width"], [Row(panels, PANEL_HEIGHT)], legend, told + notes)


def _bounds(needed: pd.DataFrame, decay: str, context: Context, spec: dict) -> list[Bound]:
    """The bounds that are stated for a decay, each through the first point of its method."""
    if "bounds" not in spec:
        return []
    printed = select(context.published, paper=spec["paper"], experiment=spec["bounds"]["published"])
    found = []
    for (of_decay, method), text in stated_bounds(printed).items():
        own = select(needed, decay=decay, method=method, variant=spec["bounds"]["variant"]).dropna(subset="s")
        own = own.sort_values("n")
        if of_decay != decay or not len(own) or text not in BOUNDS:
            continue
        all_n = needed["n"].astype(float)
        n = np.geomspace(own["n"].iloc[0], all_n.max(), 33)
        stated = BOUNDS[text](n)
        found.append(Bound(text, plot_style(method, context.styles), n, stated * own["s"].iloc[0] / stated[0]))
    return found


def _panel(ax, rows, lines: list, styles: list[PlotStyle], bounds: list[Bound], shown: Span, first: bool) -> None:
    for bound in bounds:
        ax.plot(bound.n, bound.s, color=bound.style.colour, **BOUND)
    for position, ((method, variant), each) in enumerate(zip(lines, styles, strict=True)):
        own = select(rows, method=method, variant=variant).sort_values("n")
        _line(ax, own, each, 2.0 ** (DODGE * ((position + 0.5) / len(lines) - 0.5)))
    sizes = sorted(set(rows["n"]))
    ax.set_xscale("log", base=2)
    ax.set_yscale("log", base=2)
    ax.set_ylim(shown)
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.set_xticks([float(n) for n in sizes], [f"{n:,}" for n in sizes])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlabel("training rows n")
    if first:
        ax.set_ylabel("features needed s")
    else:
        ax.tick_params(labelleft=False)


def _line(ax, own: pd.DataFrame, each: PlotStyle, shift: float) -> None:
    """What a method needs, with intervals; sizes that were not enough are triangles, open ends of intervals carets."""
    n = own["n"].to_numpy(dtype=float) * shift
    s, lower, upper, largest = own[["s", "lower", "upper", "largest"]].to_numpy(dtype=float).T
    ax.plot(n, s, **drawn_as(each))
    missed = np.isnan(s)
    hollow = {"markersize": 5, "markerfacecolor": "none", "linestyle": "none", "color": each.colour}
    ax.plot(n[missed], largest[missed], marker="^", **hollow)
    known = ~np.isnan(lower)
    ends = np.minimum(lower, largest)[known], np.minimum(upper, largest)[known]
    ax.vlines(n[known], *ends, color=each.colour, linewidth=0.6, zorder=1.5)
    ax.plot(n[np.isinf(upper)], largest[np.isinf(upper)], marker=6, **hollow | {"markersize": 3})


def _notes(frame, needed: pd.DataFrame, bounds: dict[str, list[Bound]], variant: str) -> list[str]:
    rows = select(frame, metric="risk", status="ok")
    first = settings_of(rows)[0]
    told = [
        f"Smallest s from which on the mean risk of ridge regression is within {100 * first['tolerance']:g} % of that "
        f"of the exact kernel; {rows['repeat'].nunique()} repeats of {first['draws']} draws."
    ]
    if needed["lower"].notna().any():
        told.append(
            f"Upright lines: {100 * CONFIDENCE:g} % interval, from the first size from which on none is shown to be "
            "too small to the first from which on all are shown to be enough (Student's t on the excess of the risk, "
            "over the repeats); with a caret: open above the largest size that was tried."
        )
    if (needed["variant"] == "whole").any():
        told.append("whole: drawn from the whole law of the frequencies, otherwise from a pool of s.")
    if needed["s"].isna().any():
        told.append("Open triangle: not reached, s is the largest.")
    texts = {
        decay: ", ".join(f"{bound.text} ({bound.style.label})" for bound in of) for decay, of in bounds.items() if of
    }
    if texts:
        stated = "; ".join(f"{decay} {text}" for decay, text in texts.items())
        told.append(
            f"Broad pale lines: the stated bounds, {stated}; their constants are not stated, so each is scaled to pass "
            f"through the first point of its method{f' ({variant})' if variant else ''}."
        )
    return told
