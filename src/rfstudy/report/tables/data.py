"""The table of the data sets: the statistics that a paper reports, and those that were found."""

import pandas as pd

from rfstudy.report.aggregate import facts_of, select, settings_of
from rfstudy.report.cells import absent, dataset_cell
from rfstudy.report.notes import absence, notes_on_data, stand_in_of
from rfstudy.report.scorecard import measured_as
from rfstudy.report.typeset import Cell, Table

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

    A streamed one has the columns before they are reduced.
    """
    task = tasks.get(dataset, {})
    d = task.get("streamed", {}).get("columns", task.get("d"))
    rows = [task.get(key) for key in ("n_train", "n_test")]
    return dict(zip(COLUMNS[:4], [d, *rows, IS_RANDOM.get(task.get("split"))], strict=True))


def _found(rows: pd.DataFrame) -> dict:
    of_data = next((s for s in settings_of(facts_of(rows)) if "split" in s), {})
    values = [rows[column].max() for column in ("d", "n_train", "n_test")]
    split, scaling = IS_RANDOM.get(of_data.get("split")), _named(of_data.get("preprocess"))
    return dict(zip(COLUMNS, [*values, split, scaling], strict=True))


def _named(scaling: str | None) -> Cell:
    return Cell(scaling or "", {"": scaling, "remark": ""})


def _differ(printed, found) -> bool:
    return not pd.isna(printed) and not pd.isna(found) and printed != found
