"""Tables about the data sets: the facts that a paper reports, and those that preprocessing found."""

import json

import pandas as pd

from rfstudy.report.aggregate import facts_of, select, settings_of
from rfstudy.report.cells import absent, dataset_cell, each_dataset
from rfstudy.report.notes import absence, explained, notes_on_data, stand_in_of
from rfstudy.report.scorecard import measured_as
from rfstudy.report.typeset import Cell, Table, text

# --- dataset_facts ----------------------------------------------------------------------------------------------------
# Facts that preprocessing found in the data sets, by topic.


#: The facts by topic, in order; others follow under ``OTHERS``.
TOPICS = {
    "Rows that occur again": (
        "duplicate_rows", "conflicting_rows", "rows_with_twin", "rows_with_twin_pct", "test_rows_in_training",
        "test_rows_in_training_pct", "expected_test_rows_in_training_pct",
    ),
    "Order of the rows": (
        "class_order", "n_class_runs", "longest_class_run", "neighbours_agree", "neighbours_agree_by_chance",
        "neighbours_correlation",
    ),
    "Values": ("minimum", "maximum", "n_constant_columns", "constant_columns", "spike_rows", "spike_row_numbers"),
    "Target": ("target_mean", "target_deviation", "target_minimum", "target_maximum"),
}  # fmt: skip
OTHERS = "Other facts"

#: The rows that a fact is about, in words.
PARTS = {"all": "all rows", "train": "training", "test": "test"}

#: Entries of a list that a cell shows.
SHOWN = 5

#: Characters from which a text is a sentence, too long for a cell.
SENTENCE = 30


def dataset_facts(context, *, paper, datasets) -> Table:
    """Return the facts found by preprocessing: a row per part of a data set, a column per fact, by topic.

    A fact that is not a number is in the settings of its row (``detail``, JSON). A sentence that is the same for all
    becomes a note, and so does the reason why a data set has no facts.

    Notes
    -----
    Duplicates: repetitions of a row, target included; a row that has one has a twin. Test rows in training: of the
    published parts; expected: of a random split. Neighbours agree: share of the rows whose next row is of the same
    class.
    """
    facts = facts_of(select(context.rows, dataset=datasets))
    ok = select(facts, status="ok")
    ok = ok.assign(
        fact=ok["metric"].str.removeprefix("fact_"),
        part=ok["split"].where(ok["split"].isin(list(PARTS)), "all"),
        cell=pd.Series(map(_cell, ok["value"], settings_of(ok)), ok.index, dtype=object),
    )
    topic_of = {fact: topic for topic, of_topic in TOPICS.items() for fact in of_topic}
    known = {fact: (topic_of.get(fact, OTHERS), _words(fact)) for fact in dict.fromkeys([*topic_of, *ok["fact"]])}
    columns = {fact: place for fact, place in known.items() if fact in set(ok["fact"])}
    rows, missing = [], []
    for dataset, name, ours in each_dataset(context, datasets, paper, facts):
        own = select(ok, dataset=dataset)
        for part in (part for part in PARTS if part in set(own["part"])):
            of_part = select(own, part=part)
            found = {columns[fact][1]: cell for fact, cell in zip(of_part["fact"], of_part["cell"], strict=True)}
            rows.append({"data set": name, "part": Cell(PARTS[part], {"": PARTS[part], "remark": ""})} | found)
        if not len(own):
            rows.append({"data set": name, "part": absent(absence(ours))})
            missing.append(f"{context.name(dataset, paper)} ({absence(ours)})")
    table = pd.DataFrame(rows, columns=["data set", "part", *(column for _, column in columns.values())], dtype=object)
    texts = {column: set(map(text, table[column].dropna())) for column in table.columns[2:]}
    sentences = {column: min(each) for column, each in texts.items() if len(each) == 1 and len(min(each)) >= SENTENCE}
    columns = {fact: place for fact, place in columns.items() if place[1] not in sentences}
    unfold = {column: {"topic": topic, "fact": column, "fact_id": fact} for fact, (topic, column) in columns.items()}
    topics = {topic: [column for other, column in columns.values() if other == topic] for topic, _ in columns.values()}
    remarks = explained(dataset_facts)
    remarks += [f"{column.capitalize()}: {sentence}." for column, sentence in sentences.items()]
    remarks += [f"Without facts: {', '.join(missing)}."] if missing else []
    remarks += notes_on_data(facts, paper, context)
    return Table(table.drop(columns=list(sentences)), remarks, unfold, topics)


def _words(fact: str) -> str:
    """Return the name of a fact in words: "rows with twin (%)" of "rows_with_twin_pct"."""
    words = f"{fact.removesuffix('_pct')} (%)" if fact.endswith("_pct") else fact
    words = f"number_of_{words.removeprefix('n_')}" if words.startswith("n_") else words
    return words.replace("_", " ")


def _cell(value: float, settings: dict):
    """Return the cell of a fact: its number, or the detail in its settings, one entry each for machines."""
    if not settings.get("detail"):
        return value
    detail = json.loads(settings["detail"])
    listed = detail if isinstance(detail, dict) else dict(enumerate(detail, 1)) if isinstance(detail, list) else {}
    records = tuple(_entry(each) | {"entry": key} for key, each in listed.items())
    return Cell(_in_words(detail), records or _entry(detail))


def _entry(fact) -> dict:
    """Return a number unchanged, anything else in words."""
    number = isinstance(fact, int | float) and not isinstance(fact, bool)
    return {"": fact if number else None, "text": None if number else _in_words(fact)}


def _in_words(fact) -> str:
    """Return a JSON value as text: mappings and lists without brackets, long lists cut short."""
    if isinstance(fact, dict):
        return ", ".join(f"{key}: {_in_words(value)}" for key, value in fact.items())
    if isinstance(fact, list):
        more = [f"... ({len(fact)} listed)"] if len(fact) > SHOWN else []
        return ", ".join([*map(_in_words, fact[:SHOWN]), *more]) or "none"
    if isinstance(fact, bool):
        return "yes" if fact else "no"
    return "none" if fact is None else str(fact)


# --- dataset_statistics -----------------------------------------------------------------------------------------------
# Statistics of the data sets: published and found.


#: The columns that hold numbers, and all columns.
NUMBERS = ("d", "training rows", "test rows")
COLUMNS = (*NUMBERS, "random split", "scaling")

#: The texts of the column for a random split, by rule.
IS_RANDOM = {"half": "yes", "random": "yes", "published": "no"}

REGISTERED_NOTE = "Registered: not measured here; what the registry of the data sets says of them."


def dataset_statistics(context, *, paper, published, datasets, registered=None, says=None) -> Table:
    """Return columns, training and test rows, split and scaling of every data set: as published, and as found.

    Numbers are the ``d``, ``n_train`` and ``n_test`` of the facts about the whole data set, split and scaling their
    settings. Without facts, they come from measured rows, which may be capped. If nothing was measured, they come from
    the registry. ``registered`` data sets, which the experiments need not have, follow the others. ``says`` maps
    further published texts, by metric, to their headings.
    """
    measured, tasks, says = set(context.rows["dataset"]), context.tasks, says or {}
    ours_of = {dataset: measured_as(dataset, measured, tasks) for dataset in [*datasets, *(registered or [])]}
    frame = select(context.rows, dataset=ours_of.values())
    printed = select(context.published, paper=paper, experiment=published)
    rows = []
    for dataset, own in ours_of.items():
        ours = select(frame, dataset=own)
        ours = ours if facts_of(ours).empty else facts_of(ours)
        about = select(printed, dataset=dataset)
        said = {
            heading: "; ".join(settings["text"] for settings in settings_of(select(about, metric=metric)))
            for metric, heading in says.items()
        }
        theirs, is_measured = _printed(about), ours["d"].notna().any()
        found = _found(ours) if is_measured else _registered(dataset, tasks) | {"scaling": absent(absence(ours))}
        differ = [key for key in COLUMNS[:4] if _differ(theirs[key], found[key])]
        remark = "not comparable" if stand_in_of(ours) else ", ".join(differ)
        name = dataset_cell(context, own, paper, ours)
        # the replacement of a data set has a name of its own
        of_paper = name if own == dataset else dataset_cell(context, dataset, paper, ours.iloc[:0])
        source = "found" if is_measured else "registered"
        rows.append({"data set": of_paper, "source": "published", **said, **theirs, "differs in": ""})
        rows.append({"data set": name, "source": source, **dict.fromkeys(said, ""), **found, "differs in": remark})
    table = pd.DataFrame(rows).astype(dict.fromkeys(NUMBERS, "Int64"))
    remarks = notes_on_data(frame, paper, context)
    return Table(table, remarks + [REGISTERED_NOTE] * int((table["source"] == "registered").any()))


def _printed(rows: pd.DataFrame) -> dict:
    numbers = dict(zip(rows["metric"], rows["value"], strict=True))
    texts = {metric: s.get("text") for metric, s in zip(rows["metric"], settings_of(rows), strict=True)}
    values = [numbers.get(metric) for metric in ("n_dims", "n_train", "n_test")]
    return dict(zip(COLUMNS, [*values, texts.get("random_split"), _named(texts.get("scaling"))], strict=True))


def _registered(dataset: str, tasks: dict) -> dict:
    """Return the registry's facts about a data set, except for its scaling.

    A streamed one has the columns before they are reduced, and the test part of its base.
    """
    task = tasks.get(dataset, {})
    streamed = task.get("streamed", {})
    of_parts = tasks.get(streamed.get("base"), {}) | task | streamed
    rows = [of_parts.get(key) for key in ("n_train", "n_test")]
    d = streamed.get("columns", task.get("d"))
    return dict(zip(COLUMNS[:4], [d, *rows, IS_RANDOM.get(of_parts.get("split"))], strict=True))


def _found(rows: pd.DataFrame) -> dict:
    of_data = next((s for s in settings_of(facts_of(rows)) if "split" in s), {})
    values = [rows[column].max() for column in ("d", "n_train", "n_test")]
    split, scaling = IS_RANDOM.get(of_data.get("split")), _named(of_data.get("preprocess"))
    return dict(zip(COLUMNS, [*values, split, scaling], strict=True))


def _named(scaling: str | None) -> Cell:
    return Cell(scaling or "", {"": scaling, "remark": ""})


def _differ(printed, found) -> bool:
    return not pd.isna(printed) and not pd.isna(found) and printed != found
