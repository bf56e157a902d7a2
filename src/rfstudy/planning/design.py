"""The design table: what a run computes, one row per entry, size and learner of a job, before anything is computed.

The rows are the cells that the jobs list, counted over their repeats, so the table cannot differ from what runs. Its
columns have the names of the tidy table where they hold the same: both tables join on them. What ``tune`` chooses is
not known yet; ``searched`` has it, with the scope that shares each choice.
"""

import json
from collections import Counter
from pathlib import Path

import pandas as pd

from rfstudy.planning.config import resolved_experiments
from rfstudy.planning.jobs import Jobs
from rfstudy.planning.plan import on_dataset
from rfstudy.planning.problems import rows_of_split
from rfstudy.study.engine import Cell, Job, kind_cells
from rfstudy.study.job import Part, searched, tune_scope
from rfstudy.study.kinds.grid import grid_cells

#: Conditions of a cell that are columns, as JSON.
CONDITIONS = ("preprocess", "bandwidth", "length_scale", "split", "settings")


def table(study, root, config_dir) -> pd.DataFrame:
    """Return the design table of the experiments that a run makes if no output is named.

    Parameters
    ----------
    study : the configuration of the run (``config.load_study``)
    root, config_dir : folders of the repository and of its configuration

    Returns
    -------
    DataFrame with a row per entry, size and learner: the columns of its job (``stage``, ``job``, the ``mem_mb`` and
    minutes of ``runtime`` that it requests, its ``expected_s``), of its data (``n_train``, ``n_test``, ``d``), of its
    cells (``method`` to ``options``), how many ``cells`` there are over all repeats, and the ``file`` that states it
    """
    jobs, (files, *_) = Jobs(study, root), resolved_experiments(config_dir)
    rows = []
    for name in jobs.asked_for:
        stages = ("train", "measure", "time")
        work = [(stage, shard) for stage in stages for shard in jobs.shards_of(stage, name).values()]
        for stage, shard in work:
            needs = jobs.resources(stage, shard)
            of_job = {"stage": stage, "job": shard.name, "file": str(files[name]), "expected_s": needs["expected"]}
            of_job |= {key: needs[key] for key in ("mem_mb", "runtime", "gpu")}
            for part in shard.parts:
                shared = part.columns | of_job | about_data(jobs, name, part.dataset)
                rows += [shared | row for row in rows_of(stage, part, shared.get("d", 1))]
    return pd.DataFrame(rows).drop(columns=["origin", "status", "seed"])


def about_data(jobs: Jobs, name: str, dataset: str) -> dict:
    """Return the rows and columns of a data set in a run, and what is searched there; empty without data."""
    if not dataset:
        return {}
    own, cap = on_dataset(jobs.experiments[name], dataset), jobs.settings["max_rows"]
    n_train, n_test = (min(n, cap or n) for n in rows_of_split(own, jobs.registry.tasks[dataset], jobs.settings))
    search = own.get("search", {})
    chosen = ", ".join(f"{quantity}: {tune_scope(search, quantity)}" for quantity in searched(search))
    return {"n_train": n_train, "n_test": n_test, "d": jobs.tasks[dataset]["d"], "searched": chosen}


def rows_of(stage: str, part: Part, d: int) -> list[dict]:
    """Return a row per entry, size and learner in a part of a stage's work, with the number of its cells."""
    found = Counter()
    for cell in cells_of(stage, part, d):
        at = {key: value[0] if isinstance(value, list) else value for key, value in cell.coordinates.items()}
        row = cell.shared_columns | {key: at[key] for key in ("n_features", "n_train") if key in at}
        row |= {"n_features_label": at["label"]} if "label" in at else {}
        row |= {key: json.dumps(cell.conditions[key]) for key in CONDITIONS if cell.conditions.get(key)}
        row |= {"options": json.dumps(cell.entry.get("options", {}))}
        row.pop("repeat", None)
        found[tuple(row.items())] += 1
    return [dict(row) | {"cells": number} for row, number in found.items()]


def cells_of(stage: str, part: Part, d: int) -> list[Cell]:
    """Return the cells of a part, an accuracy grid's with one size each; those of a kind whose times alone are measured
    are its entries.
    """
    if part.sizes is not None:
        learners = ("", *part.learners) if stage == "train" else [next(iter(part.learners), "")]
        return [cell for learner in learners for cell in grid_cells(part, {}, d, learner, together=False)]
    if stage == "time":
        return [Cell(entry, {}) for entry in part.methods]
    return kind_cells(Job(stage, part, None, None))


def write(design: pd.DataFrame, out: Path) -> str:
    """Write the design table as CSV, and return its size by experiment and stage as text."""
    out.parent.mkdir(parents=True, exist_ok=True)
    design.to_csv(out, index=False)
    by = ["experiment", "stage"]
    totals = design.groupby(by, sort=False).agg(jobs=("job", "nunique"), rows=("job", "size"), cells=("cells", "sum"))
    hours = design.drop_duplicates([*by, "job"]).groupby(by).expected_s.sum() / 3600
    return totals.assign(expected_hours=hours.round(2)).to_string()
