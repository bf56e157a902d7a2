"""The statistics of the data sets beside the printed ones."""

from __future__ import annotations

import pandas as pd

from rfstudy.report.aggregate import facts_of, select, settings_of
from rfstudy.report.cells import absent, dataset_cell
from rfstudy.report.context import Context
from rfstudy.report.notes import absence, notes_on_data, stand_in_of
from rfstudy.report.scorecard import measured_as
from rfstudy.report.typeset import Cell, Table

#: The columns of the dataset statistics that hold numbers.
NUMBERS = ("d", "training rows", "test rows")

#: What the column for a random split says of a rule.
IS_RANDOM = {"half": "yes", "random": "yes", "published": "no"}

REGISTERED_NOTE = "Registered: not measured here; what the registry of the data sets says of them."


def make(
    context: Context,
    *,
    paper: str,
    published: str,
    datasets: list[str],
    registered: list[str] | None = None,
    says: dict[str, str] | None = None,
) -> Table:
    """Columns, training and test rows, split and scaling of every data set: as printed, and as found.

    Found numbers come from the ``d``, ``n_train`` and ``n_test`` of the measured rows, split and scaling from the
    settings (``split``, ``preprocess``) of the facts about the data. The facts are those of the whole data set;
    only where there are none, rows of measurements, which may be capped, speak for it, and where nothing was measured
    the registry does. ``registered`` data sets follow, which the experiments need not have. What the paper ``says``
    beside them (texts by their metric, with headings) stands there as printed.
    """
    measured = set(context.rows["dataset"])
    datasets = [*datasets, *(registered or [])]
    ours_of = {dataset: measured_as(dataset, measured, context.tasks) for dataset in datasets}
    frame = select(context.rows, dataset=ours_of.values())
    printed = select(context.published, paper=paper, experiment=published)
    rows, told = [], notes_on_data(frame, {"paper": paper}, context.tasks)
    for dataset, own in ours_of.items():
        ours = select(frame, dataset=own)
        ours = ours if facts_of(ours).empty else facts_of(ours)
        source, found = _statistics(dataset, ours, context.tasks)
        about = select(printed, dataset=dataset)
        as_printed = _printed_statistics(about)
        said = {heading: _said(about, metric) for metric, heading in (says or {}).items()}
        differ = [key for key in (*NUMBERS, "random split") if _differ(as_printed[key], found[key])]
        remark = "not comparable" if stand_in_of(ours) else ", ".join(differ)
        name = dataset_cell(context, own, paper, ours)
        # what was measured in place of a data set has a name of its own
        of_paper = name if own == dataset else dataset_cell(context, dataset, paper, ours.iloc[:0])
        rows.append({"data set": of_paper, "source": "published", **said, **as_printed, "differs in": ""})
        rows.append({"data set": name, "source": source, **dict.fromkeys(said, ""), **found, "differs in": remark})
    if any(row["source"] == "registered" for row in rows):
        told.append(REGISTERED_NOTE)
    table = pd.DataFrame(rows).astype(dict.fromkeys(NUMBERS, "Int64"))
    return Table(table, told)


def _statistics(dataset: str, ours: pd.DataFrame, tasks: dict) -> tuple[str, dict]:
    """Where the statistics of a data set are from, and what they are."""
    if ours["d"].notna().any():
        return "found", _found_statistics(ours)
    return "registered", _registered_statistics(dataset, tasks) | {"scaling": absent(absence(ours))}


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


def _registered_statistics(dataset: str, tasks: dict) -> dict:
    """What the registry says of a data set: of a streamed one the columns before they are reduced, and the test part of
    its base.
    """
    task = tasks.get(dataset, {})
    streamed = task.get("streamed", {})
    of_parts = tasks.get(streamed.get("base"), {}) | task | streamed
    return {
        "d": streamed.get("columns", task.get("d")),
        "training rows": of_parts.get("n_train"),
        "test rows": of_parts.get("n_test"),
        "random split": IS_RANDOM.get(of_parts.get("split")),
    }


def _found_statistics(rows: pd.DataFrame) -> dict:
    of_data = next((s for s in settings_of(facts_of(rows)) if "split" in s), {})
    return {
        "d": rows["d"].max(),
        "training rows": rows["n_train"].max(),
        "test rows": rows["n_test"].max(),
        "random split": IS_RANDOM.get(of_data.get("split")),
        "scaling": _named(of_data.get("preprocess")),
    }


def _named(scaling: str | None) -> Cell:
    return Cell(scaling or "", {"": scaling, "remark": ""})


def _differ(printed, found) -> bool:
    return not pd.isna(printed) and not pd.isna(found) and printed != found
