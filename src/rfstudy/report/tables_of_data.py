"""Tables about the data sets: their statistics beside the printed ones, and what else a reader should know of them."""

from __future__ import annotations

import json

import pandas as pd

from rfstudy.report.aggregate import select, settings_of
from rfstudy.report.notes import absence, dataset_name, notes_on_data, stand_in_of
from rfstudy.report.typeset import Table, text

#: The columns of the dataset statistics that hold numbers.
NUMBERS = ("d", "training rows", "test rows")

#: Entries of a list that a cell shows.
SHOWN = 5

#: Characters from which a text is a sentence, too long for a cell.
SENTENCE = 30


def dataset_statistics(frame, spec, methods, datasets, published) -> Table:
    """Columns, training and test rows, split and scaling of every data set: as printed, and as found.

    Found numbers come from the ``d``, ``n_train`` and ``n_test`` of the measured rows, split and scaling from the
    settings (``split``, ``preprocess``) of the facts about the data. The facts are those of the whole data set;
    only where there are none, rows of measurements, which may be capped, speak for it.
    """
    frame = select(frame, dataset=spec["datasets"])
    printed = select(published, paper=spec["paper"], experiment=spec["published"])
    rows = []
    for dataset in spec["datasets"]:
        ours = select(frame, dataset=dataset)
        ours = ours if _facts(ours).empty else _facts(ours)
        name = dataset_name(datasets, dataset, spec["paper"], ours)
        as_printed, found = _printed_statistics(select(printed, dataset=dataset)), _found_statistics(ours)
        differ = [key for key in (*NUMBERS, "random split") if _differ(as_printed[key], found[key])]
        remark = "not comparable" if stand_in_of(ours) else ", ".join(differ)
        rows.append({"data set": name, "source": "published", **as_printed, "differs in": ""})
        rows.append({"data set": name, "source": "found", **found, "differs in": remark})
    table = pd.DataFrame(rows).astype(dict.fromkeys(NUMBERS, "Int64"))
    return Table(spec["name"], table, spec["caption"], notes_on_data(frame, spec, datasets))


def _printed_statistics(rows: pd.DataFrame) -> dict:
    numbers = dict(zip(rows["metric"], rows["value"], strict=True))
    texts = {metric: s.get("text") for metric, s in zip(rows["metric"], settings_of(rows), strict=True)}
    return {
        "d": numbers.get("n_dims"),
        "training rows": numbers.get("n_train"),
        "test rows": numbers.get("n_test"),
        "random split": texts.get("random_split"),
        "scaling": texts.get("scaling"),
    }


def _found_statistics(rows: pd.DataFrame) -> dict:
    if not rows["d"].notna().any():
        why = absence(rows)
        return {**dict.fromkeys(NUMBERS), "random split": None, "scaling": why}
    of_data = next((s for s in settings_of(_facts(rows)) if "split" in s), {})
    return {
        "d": rows["d"].max(),
        "training rows": rows["n_train"].max(),
        "test rows": rows["n_test"].max(),
        "random split": {"half": "yes", "random": "yes", "published": "no"}.get(of_data.get("split")),
        "scaling": of_data.get("preprocess"),
    }


def _differ(printed, found) -> bool:
    return not pd.isna(printed) and not pd.isna(found) and printed != found


def dataset_facts(frame, spec, methods, datasets, published) -> Table:
    """What preprocessing found in every data set: one row for each metric ``fact_...``, one column for each data set.

    Where the parts have facts of their own the cell holds that of the training part, a slash, and that of the test
    part. A fact that is no number stands in the settings (``detail``, JSON); a sentence that is true of all (how
    something was counted) becomes a note. Why a data set has no facts is said in the last row.
    """
    facts = _facts(select(frame, dataset=spec["datasets"]))
    metrics = list(dict.fromkeys(select(facts, status="ok")["metric"]))
    columns, remarks = {}, []
    for dataset in spec["datasets"]:
        ours = select(facts, dataset=dataset)
        found = select(ours, status="ok").set_index("metric", drop=False)
        cells = [_fact(found.loc[[metric]]) if metric in found.index else "" for metric in metrics]
        columns[dataset_name(datasets, dataset, spec["paper"], ours)] = [*cells, "" if len(found) else absence(ours)]
    table = pd.DataFrame(columns, index=[*map(_fact_name, metrics), "remark"], dtype=object)
    for name, cells in list(table.iterrows()):
        told = {cell for cell in cells if cell != ""}
        if len(told) == 1 and len(sentence := str(*told)) >= SENTENCE and name != "remark":
            remarks.append(f"{name.capitalize()}: {sentence}.")
            table = table.drop(index=name)
    table = table.rename_axis("fact").reset_index()
    if facts["split"].isin(["train", "test"]).any():
        remarks.append("Two values: of the training and of the test part.")
    return Table(spec["name"], table, spec["caption"], remarks + notes_on_data(facts, spec, datasets))


def _facts(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[frame["metric"].str.startswith("fact_")]


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
