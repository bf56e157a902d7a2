"""The scorecard of a paper: every result that it prints as a number, beside ours, with a verdict."""

from __future__ import annotations

import pandas as pd

from rfstudy.metrics import fact_of
from rfstudy.report.context import Context
from rfstudy.report.derived import undefined
from rfstudy.report.matching import Compared, compared, counts, judgement, quantity_in_words
from rfstudy.report.notes import cap_of, dataset_name
from rfstudy.report.plot_styles import plot_style
from rfstudy.report.published import printed_name
from rfstudy.report.scorecard import RULE_NOTE
from rfstudy.report.times import Ratio
from rfstudy.report.typeset import Table

#: Which printed numbers of the scorecard it is told of: those of its paper.
SCORED = "paper"

RATIO_NOTE = "A time is told as its ratio to that of another method in the same cell, which is no cell itself."

#: The columns that hold numbers, and those that hold whole ones.
NUMBERS = (
    "published", "published spread", "ours", "our spread", "difference", "margin", "standard error",
    "in standard errors",
)  # fmt: skip


def make(context: Context, spec: dict) -> Table:
    """One row a printed number and protocol: what is printed, ours, what the verdict rests on, and the verdict.

    A number that no experiment has stands there once, without a protocol. The remark says what is missing or what the
    number must not be compared for.
    """
    cells = compared(context, spec)
    rows = [_row(each, context, spec["paper"]) for each in cells]
    table = pd.DataFrame(rows).astype(dict.fromkeys(NUMBERS, float) | {"repeats": "Int64"})
    protocols = dict.fromkeys(each.protocol for each in cells)
    of_protocols = [[each for each in cells if each.protocol == protocol] for protocol in protocols]
    tallies = [
        counts(of_protocol, f"Protocol {protocol}" if protocol else "Without an experiment")
        for protocol, of_protocol in zip(protocols, of_protocols, strict=True)
    ]
    remarks = [RULE_NOTE, RATIO_NOTE, *tallies, *_not_scored(spec["scorecard"])]
    return Table(spec["name"], table, spec["caption"], remarks)


def _row(each: Compared, context: Context, paper: str) -> dict:
    place, published, ours = each.place, each.published, each.ours
    lost = published is None
    told = {
        "protocol": each.protocol,
        "table": place.table,
        "data set": printed_name(context.tasks, place.dataset, paper),
        "kernel": place.kernel,
        "s": place.size,
        "method": plot_style(place.method, context.styles).label if place.method else "",
        "quantity": quantity_in_words(each, context.styles),
        "published": None if lost else _number(published.value, each),
        "published spread": None if lost or each.over else each.printed["spread"],
        "confidence": each.printed["confidence"],
        "ours": _number(ours.value, each) if ours else None,
        "our spread": _number(_spread(ours), each) if ours else None,
        "repeats": (ours.rounds if isinstance(ours, Ratio) else ours.repeats) if ours else None,
    }
    return told | judgement(each) | {"remark": _remark(each, context)}


def _number(value: float | None, each: Compared) -> float | None:
    """A number to as many digits as a table needs: two decimals of percentages and ratios, six digits of others."""
    if value is None:
        return None
    return round(value, 2) if each.over or fact_of(each.place.metric).is_percentage else float(f"{value:.6g}")


def _spread(ours) -> float | None:
    """The standard deviation over repeats, or half the distance of the quartiles over rounds."""
    if not isinstance(ours, Ratio):
        return ours.std
    return None if ours.lower is None else (ours.upper - ours.lower) / 2


def _remark(each: Compared, context: Context) -> str:
    """Why there is no number or no comparison."""
    if each.ours is None:
        return each.why if each.why != each.score.verdict else ""
    if each.published is None:
        return "the printed number is lost, or is zero where it divides"
    if each.score.verdict != "not comparable":
        return ""
    (dataset,) = each.rows["dataset"].unique()
    of_data = context.tasks.get(dataset, {}).get("not_comparable", "")
    of_data = of_data or undefined(each.place.metric, dataset, context.tasks)
    contended = "contended" if isinstance(each.ours, Ratio) and each.ours.contended else ""
    _, _, stand_in = dataset_name(context.tasks, each.place.dataset, "", each.rows.assign(settings="")).partition(": ")
    return "; ".join(filter(None, (stand_in, cap_of(each.rows), of_data, contended))) or "other data than the paper's"


def _not_scored(mapping: dict) -> list[str]:
    """What else is printed, and why there is no verdict on it."""
    whys: dict[str, list[str]] = {}
    for entry in mapping.get("not_scored", []):
        whys.setdefault(entry["why"], []).append(entry["table"])
    told = [f"{', '.join(dict.fromkeys(places))} ({why})" for why, places in whys.items()]
    return [f"Printed as well: {'; '.join(told)}."] if told else []
