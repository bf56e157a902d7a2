"""Scores without learning: the accuracy of naming the more frequent of two classes for all rows."""

import numpy as np
import pandas as pd

from rfstudy.report.aggregate import select
from rfstudy.report.context import Context

#: The fact that determines the shares of two classes: how often two random rows have the same class.
AGREEMENT = "fact_neighbours_agree_by_chance"

#: The scores that naming the more frequent class has, and whether they count right or wrong answers.
SCORES = {"accuracy_pct": "right", "train_accuracy_pct": "right", "error_pct": "wrong", "train_error_pct": "wrong"}

#: The entry in the legend.
LABEL = "more frequent class"


def chance_of(dataset: str, quantity: dict, context: Context) -> float | None:
    """Return the score of naming the more frequent class of a data set in a quantity (``metric`` and ``split``).

    None if the quantity is not a share of right or wrong answers, or if ``majority_pct`` returns None.
    """
    if quantity["metric"] not in SCORES:
        return None
    share = majority_pct(context.rows, dataset, context.tasks, quantity.get("split", "test"))
    return 100.0 - share if share is not None and SCORES[quantity["metric"]] == "wrong" else share


def notes_on_chance(scores: dict[str, float], paper: str, context: Context, *, drawn: bool) -> list[str]:
    """Return a sentence on these scores by data set, and whether an axis includes one."""
    listed = ", ".join(f"{context.name(dataset, paper)} {score:.1f} %" for dataset, score in scores.items())
    where = "dotted where the axis reaches it" if drawn else "beyond the axes"
    return [f"Always naming the more frequent class: {listed}; {where}."] if scores else []


def majority_pct(facts: pd.DataFrame, dataset: str, tasks: dict, split: str = "test") -> float | None:
    """Return the share of the more frequent class in percent, in a part of the data or, without ``split``, in all rows.

    With the shares p and 1 - p of two classes, rows agree by chance with the probability c = p^2 + (1 - p)^2, which is
    among the facts about the data; so p = (1 + sqrt(2 c - 1)) / 2. None if c was not counted, or if there are more than
    two classes: then c does not determine p.

    Parameters
    ----------
    facts : tidy rows, among them the facts
    tasks : the registry of the data sets, which has the target of each
    """
    if tasks.get(dataset, {}).get("target") != "binary":
        return None
    rows = select(facts, dataset=dataset, metric=AGREEMENT, status="ok")
    for part in (split, "all"):
        if len(found := select(rows, split=part)["value"]):
            return float(50.0 * (1.0 + np.sqrt(max(0.0, 2.0 * found.iloc[0] - 1.0))))
    return None
