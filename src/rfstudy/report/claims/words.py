"""Points in words: where they are, and what was found there."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from rfstudy.metrics import fact_of
from rfstudy.report.claims.compared import SIZE, Names
from rfstudy.report.claims.points import Point, number
from rfstudy.report.notes import LEARNER_NAMES

#: What axes are called in the evidence.
AXES = {"distance": "z", "penalty": "lambda"}


def named(points: list[Point], names: Names, test: dict) -> list[Point]:
    """The points with their places in words: the data set is their group, what else varies tells them apart.

    Where a test names no data sets, they are made for it, and their dimensions and numbers of rows say which they are.
    """
    wheres = [each.where for each in points]
    on_data = "dataset" in test.get("select", {})
    columns = ["side", SIZE[1]] if on_data else ["side", SIZE[1], "d", "n_train", "direction", "at", "repeat"]
    heads = [column for column in ("experiment", "kernel", "learner") if _varies(column, wheres, on_data)]
    told = [column for column in columns if len({str(where.get(column)) for where in wheres}) > 1]
    fitted_by = [test["by"]] if test["form"] == "power_law" and "by" in test else []
    told = told or (SIZE[1:] if on_data else fitted_by)
    found = []
    for each in points:
        where = each.where
        place = ", ".join(filter(None, (_in_words(column, where) for column in told)))
        dataset = names.dataset(where["dataset"]) if on_data and "dataset" in where else ""
        also = [LEARNER_NAMES.get(where[column], str(where[column])) for column in heads]
        found.append(replace(each, place=place, group=" ".join(filter(None, (dataset, *also)))))
    return found


def _varies(column: str, wheres: list[dict], within_data: bool) -> bool:
    """Whether places differ in a column; where each is on a data set, within one."""
    found: dict[str, set[str]] = {}
    for where in wheres:
        found.setdefault(str(where.get("dataset")) if within_data else "", set()).add(str(where.get(column)))
    return any(len(values) > 1 for values in found.values())


def _in_words(column: str, where: dict) -> str:
    value = where.get(column)
    if value is None or value == "" or pd.isna(value):
        return ""
    if column in ("side", "n_features_label", "direction"):
        return str(value)
    name = {"n_train": "n", "at": AXES.get(where.get("axis"), "at"), "repeat": "repeat"}.get(column, column)
    return f"{name} = {value:,g}"


def signed(value: float, metric: str) -> str:
    """A difference in words: points of a percentage to two decimals, other values to three digits."""
    if fact_of(metric).is_percentage:
        return f"{value:+.2f}"
    return ("+" if value > 0 else "") + number(value)
