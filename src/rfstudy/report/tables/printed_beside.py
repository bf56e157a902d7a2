"""Printed numbers with ours below them: a row a kernel, quantity and source, a column a method."""

from __future__ import annotations

import pandas as pd

from rfstudy.metrics import fact_of
from rfstudy.report.cells import absent, method_columns
from rfstudy.report.context import Context
from rfstudy.report.matching import Compared, compared, our_cell, printed_as, quantity_in_words
from rfstudy.report.notes import notes
from rfstudy.report.plot_styles import plot_style
from rfstudy.report.times import Ratio
from rfstudy.report.typeset import Cell, Table

#: Keys of an entry of this kind, beside those of all entries.
REQUIRED = ("published", "methods", "kernels")
OPTIONAL = ("repeats",)

#: What the method is told as that all others are divided by.
ONE = Cell("1", {"": 1.0})

#: Which printed numbers it is told of: those of its paper.
SCORED = "paper"

OURS_NOTE = (
    "Ours: mean ± standard deviation where there are repeats; of times the median over rounds and its quartiles."
)


def make(context: Context, spec: dict) -> Table:
    """Every printed number of a table and ours. Of ``spec``: ``published``, ``methods``, and ``kernels``, ids with what
    the table calls them.
    """
    found = {(each.place.kernel, each.place.metric, each.place.method): each for each in cells_of(context, spec)}
    quantities = {each.place.metric: quantity_in_words(each, context.styles) for each in found.values()}
    rows = []
    for kernel, name in spec["kernels"].items():
        for metric, words in quantities.items():
            own = {method: found.get((kernel, metric, method)) for method in spec["methods"]}
            if not any(own.values()):
                continue  # of a kernel that these experiments do not have
            # who is divided by the method that has no number of its own has measured that method, too
            measured = any(each and each.ours is not None for each in own.values())
            units = ONE, ONE if measured else absent("not run", "std", "lower_quartile", "upper_quartile")
            for source, text, unit in zip(("published", "ours"), (printed_as, ours), units, strict=True):
                cells = {
                    plot_style(method, context.styles).label: text(each) if each else unit
                    for method, each in own.items()
                }
                rows.append({"kernel": name, "quantity": words, "source": source} | cells)
    shown = context.rows.loc[sorted({row for each in found.values() for row in each.rows.index})]
    others = sorted(set(shown["n_features_label"]) - {each.place.size for each in found.values()})
    remarks = [OURS_NOTE, *([f"Ours at s = {', '.join(others)}."] if others else []), *notes(shown, spec, context)]
    return Table(spec["name"], pd.DataFrame(rows), spec["caption"], remarks, method_columns(context, spec["methods"]))


def cells_of(context: Context, spec: dict) -> list[Compared]:
    """The numbers of the printed table that the experiments of this output have, or that none has."""
    return compared(context, spec, table=spec["published"])


def ours(each: Compared) -> Cell | str:
    """Our number, or why there is none."""
    if each.ours is None:
        return absent(each.why, "std", "lower_quartile", "upper_quartile")
    decimals = 2 if isinstance(each.ours, Ratio) or fact_of(each.place.metric).is_percentage else 4
    return our_cell(each.ours, decimals)
