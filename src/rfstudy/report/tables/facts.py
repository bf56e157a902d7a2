"""Facts that a paper tables and nobody can measure, typeset as they are printed.

What a method needs, what a symbol means, which assumptions a theorem makes: texts of ``data/reference``, in rows by
what they are about and in columns by what they say. Numbers that can be measured have kinds of their own.
"""

import pandas as pd

from rfstudy.report.aggregate import select, settings_of
from rfstudy.report.context import Context
from rfstudy.report.published import RECONSTRUCTED, printed_name
from rfstudy.report.typeset import Cell, Table

MARK_NOTE = f"{RECONSTRUCTED}: deduced, see data/reference/README.md."


def make(context: Context, *, paper: str, published: str, about: dict[str, str], says: dict[str, str]) -> Table:
    """Return a row per thing that the published table is about, in the order of the paper.

    ``ValueError`` where the entry names a metric that the published table does not have.
    """
    printed = select(context.published, paper=paper, experiment=published)
    absent = [metric for metric in says if metric not in set(printed["metric"])]
    if absent:
        raise ValueError(f"{published} of {paper} says nothing of: {', '.join(absent)}")
    printed = select(printed, metric=list(says))
    settings = settings_of(printed)
    printed = printed.assign(item=[each.get("item", "") for each in settings])
    metrics = {heading: [m for m, of in says.items() if of == heading] for heading in says.values()}
    rows = []
    for what, own in printed.groupby(list(about), sort=False):
        names = (_name(context, column, value, paper) for column, value in zip(about, what, strict=True))
        row = dict(zip(about.values(), names, strict=True))
        rows.append(row | {heading: _said(select(own, metric=names)) for heading, names in metrics.items()})
    remarks = [f"{remark}." for remark in dict.fromkeys(each["note"] for each in settings if each.get("note"))]
    remarks += [MARK_NOTE] if printed["confidence"].eq("reconstructed").any() else []
    return Table(pd.DataFrame(rows), remarks)


def _name(context: Context, column: str, identifier: str, paper: str) -> str:
    """Return what a row is about, by the name that the paper has for it; of several, all of them."""
    registry = {"method": context.styles, "dataset": context.tasks}.get(column, {})
    return ", ".join(printed_name(registry, each, paper) for each in identifier.split(";"))


def _said(rows: pd.DataFrame) -> Cell:
    """Return what is printed of one thing, its parts and its lists joined; for machines with ``confidence``."""
    texts = [s.get("text", s.get("printed", "lost")) for s in settings_of(rows)]
    joined = "; ".join(", ".join(part.strip() for part in text.split(";")) for text in texts)
    deduced = rows["confidence"].eq("reconstructed").any()
    confidence = "; ".join(dict.fromkeys(rows["confidence"]))
    return Cell(joined + (RECONSTRUCTED if deduced and joined else ""), {"": joined, "confidence": confidence})
