"""Printed means beside ours, cell by cell, with a verdict.

A printed number that is lost is compared with nothing. Times are compared only as ratios between methods.
"""

from __future__ import annotations

import itertools
import math

import pandas as pd

from rfstudy.metrics import FACTS
from rfstudy.report.aggregate import (
    by_repeat,
    of_quantity,
    select,
    settings_of,
)
from rfstudy.report.cells import absent, dataset_cell, method_cell
from rfstudy.report.context import Context
from rfstudy.report.looks import look
from rfstudy.report.notes import absence, comparability, notes, stand_in_of
from rfstudy.report.published import printed_name, printed_text
from rfstudy.report.scorecard import VERDICTS, Number, Score, half_unit, quotient, score
from rfstudy.report.times import TOO_WIDE, Ratio, by_rounds, ratio
from rfstudy.report.typeset import Cell, Table

#: The keys of an entry of this kind beside those of all.
SCHEMA = {
    "properties": {
        "published": {"$ref": "#/$defs/text"},
        "datasets": {"$ref": "#/$defs/names"},
        "methods": {"$ref": "#/$defs/names"},
        "sizes": {"$ref": "#/$defs/names"},
        "repeats": {"$ref": "#/$defs/repeats"},
        "quantity": {"$ref": "#/$defs/quantity"},
        "over": {"$ref": "#/$defs/text"},
        "near": {"type": "number", "exclusiveMinimum": 0},
    },
    "required": ["published", "datasets", "methods", "sizes", "repeats", "quantity"],
}


RULE_NOTE = (
    "Tolerance: twice the pooled standard deviation where both spreads are known; else twice ours plus the rounding of "
    "the printed number; never under {floor}. Better, worse: outside of it, as the metric has it."
)

RATIO_NOTE = "Ratios to {name} in the same cell; ours are means over repeats of the ratio in a repeat."

RATIO_BY_ROUND_NOTE = (
    "Ratios to {name} in the same cell; ours are medians over rounds of the ratio in a round, with the quartiles. Too "
    f"noisy: these are further apart than {TOO_WIDE:.0%} of the ratio. Contended times are not compared."
)


def make(context: Context, spec: dict) -> Table:
    """One row a printed cell of one quantity: published, ours, difference, tolerance and verdict of ``scorecard``.

    Of ``spec``: ``quantity``; ``over``, where it is given, the method by whose value in the same cell and repeat every
    number is divided, which is the way to compare times; ``near``, a distance within which cells are counted too.
    """
    frame = context.rows
    quantity, over = spec["quantity"], spec.get("over")
    frame = select(of_quantity(frame, quantity), dataset=spec["datasets"], n_features_label=spec["sizes"], variant="")
    printed = select(context.published, paper=spec["paper"], experiment=spec["published"], metric=quantity["metric"])
    rows, judged = [], []
    for dataset in spec["datasets"]:
        of_dataset = select(frame, dataset=dataset)
        name = dataset_cell(context, dataset, spec["paper"], of_dataset)
        for size, method in itertools.product(spec["sizes"], spec["methods"]):
            as_printed = select(printed, dataset=dataset, n_features_label=size)
            own = select(as_printed, method=method)
            if not len(own) or method == over:
                continue
            ours = select(of_dataset, n_features_label=size)
            theirs, cell = _published_number(as_printed, method, over), select(ours, method=method)
            number = _our_number(cell, select(ours, method=over) if over else None)
            # of a stand-in not even the distance to a printed number means anything
            compared = None if stand_in_of(cell) else theirs
            of_cell = _scored(quantity["metric"], compared, number, not comparability(cell, context.tasks))
            confidence = own["confidence"].iloc[0]
            rows.append(
                {
                    "data set": name,
                    "s": size,
                    "method": method_cell(context, method),
                    "published": printed_text(own) if over is None else _printed_ratio(theirs),
                    "confidence": confidence,
                    "ours": absent(absence(cell), "std") if number is None else _told(number),
                    "difference": _rounded(of_cell.difference),
                    "tolerance": _rounded(of_cell.tolerance),
                    "verdict": of_cell.verdict,
                }
            )
            judged.append(
                {
                    "dataset": printed_name(context.tasks, dataset, spec["paper"]),
                    "method": look(method, context.looks).label,
                }
                | {"confidence": confidence, **of_cell._asdict()}
            )
    fact = FACTS[quantity["metric"]]
    floor = f"{fact.tolerance:g} points" if fact.is_percentage else f"{fact.tolerance:.0%} relative"
    remarks = [RULE_NOTE.format(floor=floor), *_counts(judged), *_near(judged, spec.get("near"))]
    if over is not None:
        name = look(over, context.looks).label
        of_rounds = len(by_rounds(frame)) > 0
        remarks.insert(0, (RATIO_BY_ROUND_NOTE if of_rounds else RATIO_NOTE).format(name=name))
    table = pd.DataFrame(rows).astype({"difference": float, "tolerance": float})
    return Table(spec["name"], table, spec["caption"], remarks + notes(frame, spec, context))


def _published_number(cells: pd.DataFrame, method: str, over: str | None) -> Number | None:
    """The printed number of a method at one size, or its ratio to that of another; None where one is lost."""
    found = []
    for name in (method, over) if over else (method,):
        cell = select(cells, method=name, status="ok")
        if not len(cell):
            return None
        row = cell.iloc[0]
        known = row["spread_kind"].startswith("std") and not math.isnan(row["spread"])
        std = row["spread"] if known else None
        found.append(Number(row["value"], std, half_unit(settings_of(cell)[0]["printed"])))
    return quotient(*found) if over else found[0]


def _our_number(rows: pd.DataFrame, over: pd.DataFrame | None) -> Number | Ratio | None:
    """Mean and standard deviation over repeats of a cell or of its ratio to another; of times by rounds the ratio."""
    if over is not None and len(by_rounds(rows)):
        return ratio(rows, over)
    values = by_repeat(rows)
    if over is not None:
        values = (values / by_repeat(over)).dropna()
    if not len(values):
        return None
    return Number(float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else None)


def _printed_ratio(theirs: Number | None) -> Cell:
    return absent("lost") if theirs is None else Cell(f"{theirs.value:.2f}", {"": theirs.value, "remark": ""})


def _told(ours: Number | Ratio) -> Cell:
    if isinstance(ours, Ratio):
        remark = "contended" if ours.contended else ""
        text = f"{ours.value:.2f} [{ours.lower:.2f}, {ours.upper:.2f}] {remark}".rstrip()
        quartiles = {"lower_quartile": ours.lower, "upper_quartile": ours.upper}
        return Cell(text, {"": ours.value, **quartiles, "remark": remark})
    text = f"{ours.value:.2f}" + ("" if ours.std is None else f" ± {ours.std:.2f}")
    return Cell(text, {"": ours.value, "std": ours.std, "remark": ""})


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 2)


def _counts(judged: list[dict]) -> list[str]:
    """How often every verdict was given: over all cells, and where they differ by how sure the printed number is."""
    told = []
    kinds = dict.fromkeys(each["confidence"] for each in judged)
    for kind in ("", *(kinds if len(kinds) > 1 else ())):
        verdicts = [each["verdict"] for each in judged if kind in ("", each["confidence"])]
        counts = ", ".join(f"{word} {verdicts.count(word)}" for word in VERDICTS if word in verdicts)
        cells = f"{len(verdicts)} printed cell{'s' if len(verdicts) > 1 else ''}"
        told.append(f"{'Verdicts' if not kind else kind.capitalize()}, {cells}: {counts}.")
    return told


def _near(judged: list[dict], near: float | None) -> list[str]:
    """Of how many cells ours are within a distance of the printed number, by data set and method."""
    told = []
    for comparable, lead in ((True, "Within {} of the printed value"), (False, "Within {}, but not comparable")):
        cells = [
            each
            for each in judged
            if each["difference"] is not None and (each["verdict"] != "not comparable") == comparable
        ]
        if near is None or not cells:
            continue
        by_dataset = []
        for dataset in dict.fromkeys(each["dataset"] for each in cells):
            of_dataset = [each for each in cells if each["dataset"] == dataset]
            by_method = []
            for method in dict.fromkeys(each["method"] for each in of_dataset):
                distances = [abs(each["difference"]) for each in of_dataset if each["method"] == method]
                by_method.append(f"{method} {sum(d <= near for d in distances)} of {len(distances)}")
            by_dataset.append(f"{dataset}: {', '.join(by_method)}")
        told.append(f"{lead.format(f'{near:g} points')}: {'; '.join(by_dataset)}.")
    return told


def _scored(metric: str, theirs: Number | None, ours: Number | Ratio | None, comparable: bool) -> Score:
    """The verdict on one cell; a ratio by rounds has quartiles in place of a spread over repeats."""
    if not isinstance(ours, Ratio):
        return score(metric, theirs, ours, comparable)
    return score(metric, theirs, Number(ours.value), comparable and not ours.contended, ours.too_noisy)
