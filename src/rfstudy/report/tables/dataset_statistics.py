"""The statistics of the data sets beside the printed ones."""

from __future__ import annotations

import pandas as pd

from rfstudy.report.aggregate import facts_of, select, settings_of
from rfstudy.report.cells import absent, dataset_cell
from rfstudy.report.context import Context
from rfstudy.report.notes import absence, notes_on_data, stand_in_of
from rfstudy.report.typeset import Cell, Table

#: The keys of an entry of this kind beside those of all.
SCHEMA = {
    "properties": {
        "published": {"$ref": "#/$defs/text"},
        "datasets": {"$ref": "#/$defs/names"},
        "says": {"type": "object", "minProperties": 1, "additionalProperties": {"$ref": "#/$defs/text"}},
    },
    "required": ["published", "datasets"],
}


#: The columns of the dataset statistics that hold numbers.
NUMBERS = ("d", "training rows", "test rows")


def make(context: Context, spec: dict) -> Table:
    """Columns, training and test rows, split and scaling of every data set: as printed, and as found.

    Found numbers come from the ``d``, ``n_train`` and ``n_test`` of the measured rows, split and scaling from the
    settings (``split``, ``preprocess``) of the facts about the data. The facts are those of the whole data set;
    only where there are none, rows of measurements, which may be capped, speak for it. What the paper ``says`` beside
    them (texts by their metric, with headings) stands there as printed.
    """
    frame = select(context.rows, dataset=spec["datasets"])
    printed = select(context.published, paper=spec["paper"], experiment=spec["published"])
    rows = []
    for dataset in spec["datasets"]:
        ours = select(frame, dataset=dataset)
        ours = ours if facts_of(ours).empty else facts_of(ours)
        name = dataset_cell(context, dataset, spec["paper"], ours)
        about = select(printed, dataset=dataset)
        as_printed, found = _printed_statistics(about), _found_statistics(ours)
        said = {heading: _said(about, metric) for metric, heading in spec.get("says", {}).items()}
        differ = [key for key in (*NUMBERS, "random split") if _differ(as_printed[key], found[key])]
        remark = "not comparable" if stand_in_of(ours) else ", ".join(differ)
        rows.append({"data set": name, "source": "published", **said, **as_printed, "differs in": ""})
        rows.append({"data set": name, "source": "found", **dict.fromkeys(said, ""), **found, "differs in": remark})
    table = pd.DataFrame(rows).astype(dict.fromkeys(NUMBERS, "Int64"))
    return Table(spec["name"], table, spec["caption"], notes_on_data(frame, spec, context.tasks))


def _said(rows: pd.DataFrame, metric: str) -> str:
    """A printed text."""
    return "; ".join(settings["text"] for settings in settings_of(select(rows, metric=metric)))


def _printed_statistics(rows: pd.DataFrame) -> dict:
    numbers = dict(zip(rows["metric"], rows["value"], strict=True))
    texts = {metric: s.get("text") for metric, s in zip(rows["metric"], settings_of(rows), strict=True)}
    return {
        "d": numbers.get("n_dims"),
        "training rows": numbers.get("n_train"),
        "test rows": numbers.get("n_test"),
        "random split": texts.get("random_split"),
        "scaling": _named(texts.get("scaling")),
    }


def _found_statistics(rows: pd.DataFrame) -> dict:
    if not rows["d"].notna().any():
        return {**dict.fromkeys(NUMBERS), "random split": None, "scaling": absent(absence(rows))}
    of_data = next((s for s in settings_of(facts_of(rows)) if "split" in s), {})
    return {
        "d": rows["d"].max(),
        "training rows": rows["n_train"].max(),
        "test rows": rows["n_test"].max(),
        "random split": {"half": "yes", "random": "yes", "published": "no"}.get(of_data.get("split")),
        "scaling": _named(of_data.get("preprocess")),
    }


def _named(scaling: str | None) -> Cell:
    return Cell(scaling or "", {"": scaling, "remark": ""})


def _differ(printed, found) -> bool:
    return not pd.isna(printed) and not pd.isna(found) and printed != found
