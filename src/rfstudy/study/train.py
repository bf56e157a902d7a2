"""Train and test the learners of a shard on streamed features: no feature matrix on disk, none whole in memory.

Maps are drawn again from their seeds; what ``generate`` learned from the data (selected features, weights) comes
from its arrays.
"""

from __future__ import annotations

import time

import numpy as np

from rfstudy.arrays import set_threads
from rfstudy.data.split import fold_of_row
from rfstudy.data.target import Target
from rfstudy.learners import entry as learner_entries
from rfstudy.learners.entry import Learner
from rfstudy.learners.penalties import best_penalty
from rfstudy.study.cells import (
    Cell,
    Conditions,
    cell_arrays,
    cell_map,
    cells_of,
    conditions_of,
    skipped_rows,
    work_through,
)
from rfstudy.study.journal import Journal
from rfstudy.study.provenance import Run, write_records
from rfstudy.study.sample import Sample, load_prepared
from rfstudy.study.tune import cross_validate
from rfstudy.tidy import UNITS, write

#: What ``generate`` leaves in place of learned arrays where a cell has no map: its status, and the reason.
NO_MAP = ("skipped", "failed")


def run(spec: dict, prepared_dir, tuned: dict, arrays_file, journal_dir, out, threads: int) -> None:
    """The stage: write a shard's rows and their provenance."""
    prepared = load_prepared(prepared_dir)
    rows, records = [], {}
    if prepared.skipped:
        rows = skipped_rows(
            spec,
            prepared,
            [row | {"learner": learner} for learner in spec["learners"] for row in metric_rows(prepared.target)],
        )
    else:
        set_threads(threads)
        this_run = Run("train", spec, threads)
        with np.load(arrays_file, allow_pickle=False) as stored:
            learned = dict(stored)
        for learner in spec["learners"]:

            def conditions(cell: Cell, learner=learner):
                return conditions_of(spec, tuned, cell, learner)

            def compute(cell: Cell, given: Conditions, sample: Sample, learner=learner):
                arrays = cell_arrays(learned, cell)
                for status in NO_MAP:
                    if status in arrays:
                        return without_map(cell, sample, learner, prepared.target, status, str(arrays[status])), {}
                phi = cell_map(spec, cell, given.length_scale)
                phi.restore(sample.X_train.shape[1], arrays, dtype=sample.X_train.dtype)
                return measure(spec, cell, given, sample, phi, learner, prepared.target), {}

            new_rows, _, new_records = work_through(
                cells_of(spec, prepared.facts["d"], spec["repeats"][learner]),
                compute,
                stage="train",
                spec=spec | {"learner": learner},
                conditions=conditions,
                prepared=prepared,
                journal=Journal(journal_dir),
                run=this_run,
            )
            rows.extend(new_rows)
            records.update(new_records)
    write_records(records, out)
    write(rows, out)


def metric_rows(target: Target) -> list[dict]:
    """One row a metric of the target, without a value."""
    return [{"metric": metric, "unit": UNITS.get(metric), "split": "test"} for metric in target.metrics]


def without_map(cell: Cell, sample: Sample, learner: str, target: Target, status: str, reason: str) -> list[dict]:
    """The rows of a cell that has no map to train on."""
    shared = sample.size_columns | {
        "learner": learner,
        "status": status,
        "settings": {"options": cell.entry["options"], "capped": sample.capped, "reason": reason},
    }
    return [shared | row for row in metric_rows(target)]


def measure(spec: dict, cell: Cell, given: Conditions, sample: Sample, phi, learner: str, target: Target) -> list[dict]:
    """Rows (metrics and training time) of one learner on one cell; a singular system is a row that says so."""
    shared = sample.size_columns | {"n_columns": phi.n_columns_, "learner": learner}
    settings = {
        "length_scale": given.length_scale,
        "preprocess": given.preprocess,
        "options": cell.entry["options"],
        "capped": sample.capped,
        "tuning": spec["tuning"],
    }

    def without_value(status: str, reason: str) -> list[dict]:
        said = {"status": status, "settings": settings | {"reason": reason}}
        return [shared | row | said for row in metric_rows(target)]

    entry = learner_entries.load(learner)
    reason = entry.limit(given.learner, len(sample.y_train), phi.n_columns_)
    if reason:
        return without_value("skipped", reason)
    start = time.perf_counter()
    try:
        wanted = choose(spec, cell, given, sample, phi, entry, target)
        Y, classes = target.encode(sample.y_train)
        model, chosen = entry.fit_regular(
            lambda: phi.transform_blocks(sample.X_train), Y, wanted, n_columns=phi.n_columns_, options=given.learner
        )
    except np.linalg.LinAlgError as error:
        return without_value("failed", str(error))
    seconds = time.perf_counter() - start
    predicted = np.concatenate(
        [target.decode(model.decision(block), classes) for _rows, block in phi.transform_blocks(sample.X_test)]
    )
    settings |= {entry.chosen: chosen, "solver": model.solver}
    if chosen != wanted:
        settings["singular_at"] = wanted
    if not model.converged:
        settings["converged"] = False
    return [
        *(
            shared | row | {"value": target.evaluate(row["metric"], sample.y_test, predicted), "settings": settings}
            for row in metric_rows(target)
        ),
        shared
        | {
            "metric": "time_train_s",
            "value": seconds,
            "unit": UNITS["time_train_s"],
            "split": "train",
            "settings": settings,
        },
    ]


def choose(spec: dict, cell: Cell, given: Conditions, sample: Sample, phi, learner: Learner, target: Target) -> float:
    """The penalty (or C) of a cell: the one that was tuned for its size, or by cross-validation on its own features."""
    if spec["tuning"] != "per_cell":
        return given.penalty
    options = given.learner
    folds = fold_of_row(len(sample.y_train), options["n_folds"], spec["seed"], "train", cell.repeat)
    scores = cross_validate(learner, options, phi, sample.X_train, sample.y_train, folds, target)
    return best_penalty(scores, options[learner.grid], target.score)
