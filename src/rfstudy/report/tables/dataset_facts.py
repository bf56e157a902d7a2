"""What else a reader should know of the data sets: what preprocessing found in them, by topic."""

from __future__ import annotations

import itertools
import json

import pandas as pd

from rfstudy.report.aggregate import facts_of, select, settings_of
from rfstudy.report.cells import absent, dataset_cell
from rfstudy.report.context import Context
from rfstudy.report.notes import absence, notes_on_data
from rfstudy.report.published import printed_name
from rfstudy.report.typeset import Cell, Table, text

#: Keys of an entry of this kind, beside those of all entries.
REQUIRED = ("datasets",)


#: The facts by topic, in order, as they are called in a table; others follow under ``OTHERS`` by their own names.
TOPICS = {
    "Rows that occur again": {
        "duplicate_rows": "duplicates",
        "conflicting_rows": "with another target",
        "rows_with_twin": "with a twin",
        "rows_with_twin_pct": "with a twin (%)",
        "test_rows_in_training": "test rows in training",
        "test_rows_in_training_pct": "test rows in training (%)",
        "expected_test_rows_in_training_pct": "test rows in training, expected (%)",
    },
    "Order of the rows": {
        "class_order": "classes",
        "n_class_runs": "runs of a class",
        "longest_class_run": "longest run",
        "neighbours_agree": "neighbours agree",
        "neighbours_agree_by_chance": "by chance",
        "neighbours_correlation": "correlation of neighbours",
    },
    "Values": {
        "minimum": "minimum",
        "maximum": "maximum",
        "n_constant_columns": "constant columns",
        "constant_columns": "which columns",
        "spike_rows": "rows with spikes",
        "spike_row_numbers": "which rows",
    },
    "Target": {
        "target_mean": "mean",
        "target_deviation": "standard deviation",
        "target_minimum": "lowest",
        "target_maximum": "highest",
    },
}
OTHERS = "Other facts"

#: Facts of the parts of a data set under older names: metric and part -> the same under today's.
OLDER = {
    ("test_rows_in", "train"): ("test_rows_in_training", "all"),
    ("test_rows_in_train_pct", "all"): ("test_rows_in_training_pct", "all"),
}

#: The rows that a fact is about, in words.
PARTS = {"all": "all rows", "train": "training", "test": "test"}

#: Entries of a list that a cell shows.
SHOWN = 5

#: Characters from which a text is a sentence, too long for a cell.
SENTENCE = 30

FACTS_NOTE = (
    "Duplicates: repetitions of a row, target included; a row that has one has a twin. Test rows in training: of the "
    "published parts; expected: of a random split. Neighbours agree: share of the rows whose next row is of the same "
    "class."
)


def make(context: Context, spec: dict) -> Table:
    """What preprocessing found in every data set: a row for each part that has facts (``fact_...``) of its own, and
    for those about all rows; a table for each topic, a column for each fact.

    A fact that is no number stands in the settings (``detail``, JSON); a sentence that is true of all (how something
    was counted) becomes a note. Why a data set has no facts is said in a note, too.
    """
    facts = facts_of(select(context.rows, dataset=spec["datasets"]))
    ok = _renamed(select(facts, status="ok"))
    columns = _columns(ok)
    rows, missing = [], []
    for dataset in spec["datasets"]:
        ours = select(facts, dataset=dataset)
        name = dataset_cell(context, dataset, spec["paper"], ours)
        found = select(ok, dataset=dataset)
        for part in (part for part in PARTS if part in set(found["split"])):
            of_part = select(found, split=part)
            cells = dict(zip(of_part["fact"], map(_fact, of_part["value"], settings_of(of_part)), strict=True))
            told = {column: cells.get(fact) for fact, (_, column) in columns.items()}
            rows.append({"data set": name, "part": Cell(PARTS[part], {"": PARTS[part], "remark": ""}), **told})
        if not len(found):
            rows.append({"data set": name, "part": absent(absence(ours))})
            missing.append(f"{printed_name(context.tasks, dataset, spec['paper'])} ({absence(ours)})")
    frame = pd.DataFrame(rows, columns=["data set", "part", *(column for _, column in columns.values())], dtype=object)
    sentences = _sentences(frame)
    frame = frame.drop(columns=list(sentences))
    unfold = {
        column: {"topic": topic, "fact": column, "fact_id": fact}
        for fact, (topic, column) in columns.items()
        if column not in sentences
    }
    by_topic = itertools.groupby(unfold, key=lambda column: unfold[column]["topic"])
    remarks = [FACTS_NOTE, *(f"{column.capitalize()}: {sentence}." for column, sentence in sentences.items())]
    remarks += [f"Without facts: {', '.join(missing)}."] if missing else []
    remarks += notes_on_data(facts, spec, context.tasks)
    parts = {topic: list(of_topic) for topic, of_topic in by_topic}
    return Table(spec["name"], frame, spec["caption"], remarks, unfold, parts)


def _renamed(facts: pd.DataFrame) -> pd.DataFrame:
    """The facts with today's names, without their prefix, and parts."""
    names = facts["metric"].str.removeprefix("fact_")
    told = [OLDER.get(pair, pair) for pair in zip(names, facts["split"], strict=True)]
    return facts.assign(fact=[fact for fact, _ in told], split=[part if part in PARTS else "all" for _, part in told])


def _columns(facts: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """The topic and the column of every fact that there is, by topic."""
    known = {fact: (topic, column) for topic, of in TOPICS.items() for fact, column in of.items()}
    there = dict.fromkeys(facts["fact"])
    others = {fact: (OTHERS, _words(fact)) for fact in there if fact not in known}
    return {fact: place for fact, place in known.items() if fact in there} | others


def _words(fact: str) -> str:
    name = f"{fact.removesuffix('_pct')} (%)" if fact.endswith("_pct") else fact
    return name.replace("_", " ")


def _sentences(frame: pd.DataFrame) -> dict[str, str]:
    """The columns in which all cells are one sentence."""
    told = {column: dict.fromkeys(map(text, frame[column].dropna())) for column in frame.columns[2:]}
    return {column: next(iter(of)) for column, of in told.items() if len(of) == 1 and len(next(iter(of))) >= SENTENCE}


def _fact(value, settings: dict):
    """The cell of one fact: its number, or what stands in its settings, for machines an entry each."""
    detail = json.loads(settings["detail"]) if settings.get("detail") else value
    if isinstance(detail, dict | list) and detail:
        entries = detail.items() if isinstance(detail, dict) else enumerate(detail, start=1)
        return Cell(_in_words(detail), tuple(_entry(each) | {"entry": key} for key, each in entries))
    return detail if detail is value else Cell(_in_words(detail), _entry(detail))


def _entry(fact) -> dict:
    """A number as such, anything else in words."""
    number = isinstance(fact, int | float) and not isinstance(fact, bool)
    return {"": fact if number else None, "text": None if number else _in_words(fact)}


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
