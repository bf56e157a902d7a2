"""Facts that a paper tables and nobody can measure: typeset as they are printed.

What a method needs, what a symbol stands for, which assumptions a theorem makes: texts of ``data/reference`` that stand
in rows by what they are about and in columns by what they say. Numbers that can be measured have kinds of their own.
"""

from __future__ import annotations

import pandas as pd

from rfstudy.report.aggregate import select, settings_of
from rfstudy.report.context import Context
from rfstudy.report.published import RECONSTRUCTED, printed_name
from rfstudy.report.typeset import Cell, Table

MARK_NOTE = f"{RECONSTRUCTED}: deduced, see data/reference/README.md."


def make(
    context: Context,
    *,
    paper: str,
    published: str,
    about: dict[str, str],
    says: dict[str, str],
) -> Table:
    """One row for each thing that the printed table is about, in the order of the print.

    ``ValueError`` where the entry names a place, or something said, of which nothing is printed.
    """
    printed = select(context.published, paper=paper, experiment=published)
    absent = [metric for metric in says if metric not in set(printed["metric"])]
    if absent:
        raise ValueError(f"{published} of {paper} says nothing of: {', '.join(absent)}")
    printed = select(printed, metric=list(says))
    printed = printed.assign(item=[settings.get("item", "") for settings in settings_of(printed)])
    metrics = {heading: [m for m, of in says.items() if of == heading] for heading in says.values()}
    rows = []
    for what, own in printed.groupby(list(about), sort=False):
        names = (_name(context, column, value, paper) for column, value in zip(about, what, strict=True))
        row = dict(zip(about.values(), names, strict=True))
        rows.append(row | {heading: _said(select(own, metric=names)) for heading, names in metrics.items()})
    return Table(pd.DataFrame(rows), _notes(printed))


def _name(context: Context, column: str, identifier: str, paper: str) -> str:
    """What a row is about, by the name that the paper has for it; of several, all of them."""
    registry = {"method": context.styles, "dataset": context.tasks}.get(column, {})
    return ", ".join(printed_name(registry, each, paper) for each in identifier.split(";"))


def _said(rows: pd.DataFrame) -> Cell:
    """What is printed of one thing, its parts and its lists joined; for machines with ``confidence``."""
    texts = []
    for status, settings in zip(rows["status"], settings_of(rows), strict=True):
        texts.append(settings.get("text", settings.get("printed", "")) if status == "ok" else "lost")
    joined = "; ".join(", ".join(part.strip() for part in text.split(";")) for text in texts)
    deduced = (rows["confidence"] == "reconstructed").any()
    confidence = "; ".join(dict.fromkeys(rows["confidence"]))
    return Cell(joined + (RECONSTRUCTED if deduced and joined else ""), {"": joined, "confidence": confidence})


def _notes(printed: pd.DataFrame) -> list[str]:
    """The remarks of the reference data, and what the mark means where there is one."""
    told = [f"{remark}." for remark in dict.fromkeys(s["note"] for s in settings_of(printed) if s.get("note"))]
    return told + [MARK_NOTE] * bool((printed["confidence"] == "reconstructed").any())
