"""The scorecard of a paper: every number that it prints, next to ours, with a verdict."""

import numpy as np
import pandas as pd

from rfstudy.metrics import fact_of
from rfstudy.report.compare import RULE_NOTE
from rfstudy.report.context import Context
from rfstudy.report.scorecard import JUDGED, counts, judgement, quantity_in_words
from rfstudy.report.scorecard import scorecard as compared
from rfstudy.report.typeset import Table

#: Which published numbers ``config/scorecard.yaml`` gives this kind: those of the paper.
SCORED = "paper"

RATIO_NOTE = "A time is its ratio to that of another method in the same cell, which has no row itself."

#: The columns that hold numbers.
NUMBERS = ("published", "published spread", "ours", "our spread", *JUDGED)


def make(context: Context, *, paper: str, experiments: list[str], scorecard: dict) -> Table:
    """Return a row per published number and protocol: published, ours, the verdict, and what it rests on.

    A number that no experiment measures has one row, without a protocol. The remark says what is missing or why the two
    are not comparable.
    """
    cells = compared(context, {"paper": paper, "experiments": experiments, "scorecard": scorecard})
    table = pd.DataFrame([_row(cell, context, paper) for cell in cells.itertuples()])
    tallies = [
        counts(of_protocol, f"Protocol {protocol}" if protocol else "Without an experiment")
        for protocol, of_protocol in cells.groupby("protocol", sort=False)
    ]
    remarks = [RULE_NOTE, RATIO_NOTE, *tallies, *_not_scored(scorecard)]
    return Table(table.astype(dict.fromkeys(NUMBERS, float) | {"repeats": "Int64"}), remarks)


def _row(cell, context: Context, paper: str) -> dict:
    # half the distance of the quartiles over rounds takes the place of a standard deviation
    spread = cell.std if pd.isna(cell.low) else (cell.high - cell.low) / 2
    return {
        "protocol": cell.protocol,
        "table": cell.table,
        "data set": context.name(cell.dataset, paper),
        "kernel": cell.kernel,
        "s": cell.size,
        "method": context.label(cell.method) if cell.method else "",
        "quantity": quantity_in_words(cell, context.styles),
        "published": _number(cell.published, cell),
        "published spread": np.nan if cell.over or pd.isna(cell.published) else cell.published_spread,
        "confidence": cell.confidence,
        "ours": _number(cell.value, cell),
        "our spread": _number(spread, cell),
        "repeats": cell.n or None,
        **judgement(cell),
        "remark": "" if cell.reason == cell.verdict else cell.reason,
    }


def _number(value: float, cell) -> float:
    """Return a number to the digits that a table needs: two decimals of percentages and ratios, else six digits."""
    return round(value, 2) if cell.over or fact_of(cell.metric).is_percentage else float(f"{value:.6g}")


def _not_scored(mapping: dict) -> list[str]:
    """Return a sentence on what else is published, and why there is no verdict on it."""
    places: dict[str, dict] = {}
    for entry in mapping.get("not_scored", []):
        places.setdefault(entry["why"], {})[entry["table"]] = None
    parts = [f"{', '.join(tables)} ({why})" for why, tables in places.items()]
    return [f"Printed as well: {'; '.join(parts)}."] if parts else []
