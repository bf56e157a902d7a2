"""The features that ridge regression needs against the number of rows: a panel per decay of the eigenvalues.

A hollow triangle at the largest size says that it was not enough; a caret at the end of an interval says that the
interval is open. A stated bound has no constant: it passes through the first requirement of its method, so that only
its slope says anything.
"""

import numpy as np
import pandas as pd

from rfstudy.report.aggregate import method_order, select, settings_of
from rfstudy.report.context import Context
from rfstudy.report.notes import absence
from rfstudy.report.panels import doublings_axis, first_lines, not_drawn, nothing, side_by_side
from rfstudy.report.plot_styles import PlotStyle, plot_style
from rfstudy.report.style import Picture, drawn_as
from rfstudy.report.tables.requirements import BOUNDS, CONFIDENCE, features_needed, stated_bounds

#: Inches.
HEIGHT = 2.1

#: Lines are spread over this share of a doubling of n, so that equal requirements do not hide one another.
SPREAD = 0.45

#: How a bound is drawn, in the colour of its method.
BOUND = {"linewidth": 3.0, "alpha": 0.3, "solid_capstyle": "butt", "zorder": 1}


def draw(context: Context, *, paper: str, width: str, methods: list[str], panels: list[dict], bounds: dict) -> Picture:
    """Return the figure.

    Parameters
    ----------
    context : its rows are tidy rows of an experiment of the kind "requirement"
    panels : ``decay`` and ``label``
    methods : their order
    bounds : where bounds are ``published``, and the ``variant`` of a method that they are about
    """
    needed = features_needed(context.rows)
    styles, more = first_lines({pair: pair for pair in method_order(needed, methods)}, context)
    there = [panel for panel in panels if (needed["decay"] == panel["decay"]).any()]
    why = "not run" if len(needed) else absence(context.rows).split(":")[0]
    missing = {panel["decay"]: why for panel in panels if panel not in there}
    if not there:
        return nothing(width, missing)
    stated = stated_bounds(select(context.published, paper=paper, experiment=bounds["published"]))
    figure, axes = side_by_side(width, len(there), len(there), HEIGHT)
    drawn = {}
    for panel, ax in zip(there, axes, strict=True):
        own = select(needed, decay=panel["decay"])
        for (decay, method), text in stated.items():
            first = select(own, method=method, variant=bounds["variant"]).dropna(subset="s").sort_values("n")
            if decay == panel["decay"] and text in BOUNDS and len(first):
                n = np.geomspace(first["n"].iloc[0], needed["n"].astype(float).max(), 33)
                bound = BOUNDS[text](n)
                colour = plot_style(method, context.styles).colour
                ax.plot(n, bound * first["s"].iloc[0] / bound[0], color=colour, **BOUND)
                drawn.setdefault(decay, []).append(f"{text} ({plot_style(method, context.styles).label})")
        for position, ((method, variant), each) in enumerate(styles.items()):
            shift = 2.0 ** (SPREAD * ((position + 0.5) / len(styles) - 0.5))
            _draw_line(ax, select(own, method=method, variant=variant).sort_values("n"), each, shift)
        sizes = sorted(set(own["n"]))
        ax.set_yscale("log", base=2)
        ax.yaxis.set_major_formatter("{x:g}")
        doublings_axis(ax, [float(n) for n in sizes], [f"{n:,}" for n in sizes])
        ax.set(title=panel["label"], xlabel="training rows n")
    low, high = np.transpose([ax.get_ylim() for ax in axes])
    for ax in axes:
        ax.set_ylim(low.min(), high.max())
        ax.label_outer()
    axes[0].set_ylabel("features needed s")
    entries = [*styles.values(), *([{"color": "black", "label": "stated bound"} | BOUND] if drawn else [])]
    return Picture(figure, entries, _notes(context.rows, drawn) + not_drawn(missing) + more)


def _draw_line(ax, own: pd.DataFrame, each: PlotStyle, shift: float) -> None:
    """Draw what a method needs with its intervals; triangles were not enough, carets are open ends of intervals."""
    n = own["n"].to_numpy(dtype=float) * shift
    s, lower, upper, largest = own[["s", "lower", "upper", "largest"]].to_numpy(dtype=float).T
    ax.plot(n, s, **drawn_as(each))
    missed, known, is_open = np.isnan(s), ~np.isnan(lower), np.isinf(upper)
    hollow = {"markerfacecolor": "none", "linestyle": "none", "color": each.colour}
    ax.plot(n[missed], largest[missed], marker="^", markersize=5, **hollow)
    ends = np.minimum(lower, largest)[known], np.minimum(upper, largest)[known]
    ax.vlines(n[known], *ends, color=each.colour, linewidth=0.6, zorder=1.5)
    ax.plot(n[is_open], largest[is_open], marker=6, markersize=3, **hollow)


def _notes(frame: pd.DataFrame, drawn: dict[str, list[str]]) -> list[str]:
    rows = select(frame, metric="risk", status="ok")
    first = settings_of(rows)[0]
    remarks = [
        f"Upright lines: {100 * CONFIDENCE:g} % intervals; open triangle: the largest s was not enough.",
        f"Smallest s from which on the mean risk of ridge regression is within {100 * first['tolerance']:g} % of that "
        f"of the exact kernel; {rows['repeat'].nunique()} repeats of {first['draws']} draws.",
        "An interval goes from the first size from which on none is shown to be too small to the first from which on "
        "all are shown to be enough (Student's t on the excess of the risk over the repeats).",
    ]
    if drawn:
        texts = "; ".join(f"{decay} {', '.join(of_decay)}" for decay, of_decay in drawn.items())
        remarks.append(f"Stated bounds have no constants: each passes through its method's first point; {texts}.")
    return remarks
