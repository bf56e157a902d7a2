"""The features that ridge regression needs against the number of rows: one panel a decay of the eigenvalues.

A hollow triangle at the largest size that was tried says that it was not enough. Frequencies that are drawn from the
whole law have the look of a variant.
"""

from __future__ import annotations

import textwrap

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from rfstudy.report.aggregate import method_order, select, settings_of
from rfstudy.report.context import Context
from rfstudy.report.looks import look
from rfstudy.report.notes import absence
from rfstudy.report.requirements import features_needed
from rfstudy.report.style import TEXT_WIDTH, Picture, drawn_as, handle, style

#: The keys of an entry of this kind beside those of all.
SCHEMA = {
    "properties": {
        "methods": {"$ref": "#/$defs/names"},
        "panels": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["decay", "label"],
                "properties": {"decay": {"$ref": "#/$defs/text"}, "label": {"$ref": "#/$defs/text"}},
            },
        },
    },
    "required": ["methods", "panels"],
}


#: Inches: margins, the gap between panels, and heights from top to bottom.
LEFT, RIGHT, BETWEEN = 0.42, 0.06, 0.16
LEGEND, TITLE, PANEL, AXIS, NOTE = 0.24, 0.18, 1.7, 0.36, 0.26

#: Lines are spread over this share of a doubling of n, so that equal requirements do not hide one another.
DODGE = 0.3


def draw(context: Context, spec: dict) -> Picture:
    """The figure of one specification of kind "required".

    Parameters
    ----------
    context : its rows are tidy rows of an experiment of the kind "requirement"
    spec : ``panels`` (``decay`` and ``label``) and ``methods`` (their order)

    Returns
    -------
    Picture as wide as a text block
    """
    frame = context.rows
    needed = features_needed(frame)
    lines = method_order(needed, spec["methods"])
    looks = [look(method, context.looks, variant) for method, variant in lines]
    n_panels = len(spec["panels"])
    height = LEGEND + TITLE + PANEL + AXIS + NOTE
    width = (TEXT_WIDTH - LEFT - RIGHT - (n_panels - 1) * BETWEEN) / n_panels
    sizes = sorted(set(needed["n"]))
    with style():
        figure = Figure(figsize=(TEXT_WIDTH, height))
        handles = [handle(each) for each in looks]
        if handles:
            figure.legend(handles=handles, loc="upper center", ncols=len(handles), handlelength=2.6, borderaxespad=0.2)
        first = None
        for position, panel in enumerate(spec["panels"]):
            left = (LEFT + position * (width + BETWEEN)) / TEXT_WIDTH
            box = (left, (NOTE + AXIS) / height, width / TEXT_WIDTH, PANEL / height)
            ax = figure.add_axes(box, sharey=first)
            ax.set_title(panel["label"], pad=3)
            rows = select(needed, decay=panel["decay"])
            if not len(rows):
                ax.set(xticks=[])
                ax.text(0.5, 0.5, absence(frame), ha="center", va="center", color="#555555", transform=ax.transAxes)
                continue
            _lines(ax, rows, lines, looks)
            ax.set_xscale("log", base=2)
            ax.set_yscale("log", base=2)
            ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
            ax.set_xticks([float(n) for n in sizes], [f"{n:,}" for n in sizes])
            ax.xaxis.set_minor_locator(NullLocator())
            ax.set_xlabel("training rows n")
            if first is None:
                first = ax
                ax.set_ylabel("features needed s")
            else:
                ax.tick_params(labelleft=False)
        told = _note(frame)
        note = "\n".join(textwrap.wrap(told, 165))
        figure.text(0.06 / TEXT_WIDTH, 0.05 / height, note, fontsize=6.5, va="bottom", linespacing=1.15)
    return Picture(figure, [told] if told else [])


def _lines(ax, rows, lines: list[tuple[str, str]], looks: list) -> None:
    """What each method needs; sizes that were not enough as triangles."""
    for position, ((method, variant), each) in enumerate(zip(lines, looks, strict=True)):
        own = select(rows, method=method, variant=variant).sort_values("n")
        shift = 2.0 ** (DODGE * ((position + 0.5) / len(lines) - 0.5))
        n, s = own["n"].to_numpy(dtype=float) * shift, own["s"].to_numpy(dtype=float)
        ax.plot(n, s, **drawn_as(each))
        missed = np.isnan(s)
        beyond = {"marker": "^", "markersize": 5, "markerfacecolor": "none", "linestyle": "none"}
        ax.plot(n[missed], own["largest"].to_numpy(dtype=float)[missed], color=each.colour, **beyond)


def _note(frame) -> str:
    rows = select(frame, metric="risk", status="ok")
    if not len(rows):
        return ""
    first = settings_of(rows)[0]
    return (
        f"Smallest s from which on the mean risk of ridge regression is within {100 * first['tolerance']:g} % of that "
        f"of the exact kernel; {rows['repeat'].nunique()} repeats of {first['draws']} draws. whole: drawn from the "
        "whole law of the frequencies, otherwise from a pool of s. Open triangle: not reached, s is the largest."
    )
