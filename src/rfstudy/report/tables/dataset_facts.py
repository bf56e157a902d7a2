"""What else a reader should know of the data sets: what preprocessing found in them."""

from __future__ import annotations

import json

import pandas as pd

from rfstudy.report.aggregate import facts_of, select, settings_of
from rfstudy.report.context import Context
from rfstudy.report.notes import absence, dataset_name, notes_on_data
from rfstudy.report.typeset import Table, text

#: The keys of an entry of this kind beside those of all.
SCHEMA = {"properties": {"datasets": {"$ref": "#/$defs/names"}}, "required": ["datasets"]}


#: Entries of a list that a cell shows.
SHOWN = 5

#: Characters from which a text is a sentence, too long for a cell.
SENTENCE = 30


def make(context: Context, spec: dict) -> Table:
    """What preprocessing found in every data set: one row for each metric ``fact_...``, one column for each data set.

    Where the parts have facts of their own the cell holds that of the training part, a slash, and that of the test
    part. A fact that is no number stands in the settings (``detail``, JSON); a sentence that is true of all (how
    something was counted) becomes a note. Why a data set has no facts is said in the last row.
    """
    frame = context.rows
    facts = facts_of(select(frame, dataset=spec["datasets"]))
    metrics = list(dict.fromkeys(select(facts, status="ok")["metric"]))
    columns, remarks = {}, []
    for dataset in spec["datasets"]:
        ours = select(facts, dataset=dataset)
        found = select(ours, status="ok").set_index("metric", drop=False)
        cells = [_fact(found.loc[[metric]]) if metric in found.index else "" for metric in metrics]
        columns[dataset_name(context.tasks, dataset, spec["paper"], ours)] = [
            *cells,
            "" if len(found) else absence(ours),
        ]
    table = pd.DataFrame(columns, index=[*map(_fact_name, metrics), "remark"], dtype=object)
    for name, cells in list(table.iterrows()):
        told = {cell for cell in cells if cell != ""}
        if len(told) == 1 and len(sentence := str(*told)) >= SENTENCE and name != "remark":
            remarks.append(f"{name.capitalize()}: {sentence}.")
            table = table.drop(index=name)
    table = table.rename_axis("fact").reset_index()
    if facts["split"].isin(["train", "test"]).any():
        remarks.append("Two values: of the training and of the test part.")
    return Table(spec["name"], table, spec["caption"], remarks + notes_on_data(facts, spec, context.tasks))


def _fact_name(metric: str) -> str:
    name = metric.removeprefix("fact_")
    return f"{name.removesuffix('_pct')} (%)".replace("_", " ") if name.endswith("_pct") else name.replace("_", " ")


def _fact(rows: pd.DataFrame):
    """The cell of one fact: its value, or those of the training and of the test part as one text."""
    told = dict(zip(rows["split"], map(_told, rows["value"], settings_of(rows)), strict=True))
    if len(told) == 1:
        return next(iter(told.values()))
    return " / ".join(text(told[part]) for part in ("train", "test"))


def _told(value, settings: dict):
    detail = settings.get("detail")
    return _in_words(json.loads(detail)) if detail else value


def _in_words(fact) -> str:
    """A JSON value as text: mappings and lists without brackets, long lists cut short."""
    if isinstance(fact, dict):
        return ", ".join(f"{key}: {_in_words(value)}" for key, value in fact.items())
    if isinstance(fact, list):
        more = [f"... ({len(fact)} listed)"] if len(fact) > SHOWN else []
        return ", ".join([*map(_in_words, fact[:SHOWN]), *more]) or "none"
    if isinstance(fact, bool):
        return "yes" if fact else "no"
    return "none" if fact is None else str(fact)
