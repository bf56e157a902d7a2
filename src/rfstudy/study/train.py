"""Train and test the learners of a shard on streamed features: no feature matrix on disk, none whole in memory.

Maps are drawn again from their seeds; what ``generate`` learned from the data (selected features, weights) comes
from its arrays.
"""

from __future__ import annotations

import time

import numpy as np

from rfstudy.arrays import set_threads
from rfstudy.data.split import fold_of_row
from rfstudy.learners.penalties import best_penalty
from rfstudy.learners.ridge import fit_ridge
from rfstudy.learners.svm import fit_svm
from rfstudy.learners.targets import decode_labels, encode_labels
from rfstudy.metrics import accuracy_pct
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
from rfstudy.study.tune import GRID_OF, cross_validate, too_large_for_svm
from rfstudy.tidy import write

#: What ``generate`` leaves in place of learned arrays where a cell has no map: its status, and the reason.
NO_MAP = ("skipped", "failed")


#: What a row says of who shares the choice of its penalty, and on which repeats the choice was made.
SHARED = {
    "per_cell": {"shared_by": "cell"},
    "shared": {"shared_by": "size", "chosen_on": [0]},
    "per_method": {"shared_by": "method_and_size", "chosen_on": [0]},
}


def run(spec: dict, prepared_dir, tuned: dict, arrays_file, journal_dir, out, threads: int) -> None:
    """The stage: write a shard's rows and their provenance."""
    prepared = load_prepared(prepared_dir)
    rows, records = [], {}
    if prepared.skipped:
        rows = skipped_rows(
            spec,
            prepared,
            [{"learner": learner, "metric": "accuracy_pct", "split": "test"} for learner in spec["learners"]],
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
                        return [without_map(cell, sample, learner, status, str(arrays[status]))], {}
                phi = cell_map(spec, cell, given.length_scale)
                phi.restore(sample.X_train.shape[1], arrays, dtype=sample.X_train.dtype)
                return measure(spec, cell, given, sample, phi, learner), {}

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


def without_map(cell: Cell, sample: Sample, learner: str, status: str, reason: str) -> dict:
    """The row of a cell that has no map to train on."""
    return sample.size_columns | {
        "learner": learner,
        "metric": "accuracy_pct",
        "split": "test",
        "status": status,
        "settings": {"options": cell.entry["options"], "capped": sample.capped, "reason": reason},
    }


def measure(spec: dict, cell: Cell, given: Conditions, sample: Sample, phi, learner: str) -> list[dict]:
    """Rows (accuracy and training time) of one learner on one cell; a singular system is a row that says so."""
    shared = sample.size_columns | {"n_columns": phi.n_columns_, "learner": learner}
    settings = {
        "length_scale": given.length_scale,
        "preprocess": given.preprocess,
        "options": cell.entry["options"],
        "capped": sample.capped,
        **SHARED[spec["tuning"]],
    }
    accuracy_row = shared | {"metric": "accuracy_pct", "split": "test"}
    if learner == "svm" and too_large_for_svm(spec, len(sample.y_train), phi.n_columns_):
        reason = f"{len(sample.y_train)} rows x {phi.n_columns_} columns are over max_svm_entries of the preset"
        return [accuracy_row | {"status": "skipped", "settings": settings | {"reason": reason}}]
    start = time.perf_counter()
    try:
        wanted = choose(spec, cell, given, sample, phi, learner)
        model, classes, chosen = fit_where_regular(learner, given.learner, phi, sample, wanted)
    except np.linalg.LinAlgError as error:
        return [accuracy_row | {"status": "failed", "settings": settings | {"reason": str(error)}}]
    seconds = time.perf_counter() - start
    predicted = np.concatenate(
        [decode_labels(model.decision(block), classes) for _rows, block in phi.transform_blocks(sample.X_test)]
    )
    settings |= {GRID_OF[learner][1]: chosen, "solver": model.solver}
    if chosen != wanted:
        settings["singular_at"] = wanted
    if not model.converged:
        settings["converged"] = False
    return [
        accuracy_row | {"value": accuracy_pct(sample.y_test, predicted), "settings": settings},
        shared
        | {
            "metric": "time_train_s",
            "value": seconds,
            "split": "train",
            "settings": settings,
        },
    ]


def choose(spec: dict, cell: Cell, given: Conditions, sample: Sample, phi, learner: str) -> float:
    """The penalty (or C) of a cell: the one that was tuned for its size, or by cross-validation on its own features."""
    if spec["tuning"] != "per_cell":
        return given.penalty
    options = given.learner
    folds = fold_of_row(len(sample.y_train), options["n_folds"], spec["seed"], "train", cell.repeat)
    scores = cross_validate(learner, options, phi, sample.X_train, sample.y_train, folds)
    return float(best_penalty(scores, options[GRID_OF[learner][0]]))


def fit_where_regular(learner: str, options: dict, phi, sample: Sample, wanted: float):
    """The model, its classes and its penalty: the wanted one or, where its system is singular, the next of the grid.

    A penalty that was tuned on one map can be too small for another whose features are longer. Raises
    ``numpy.linalg.LinAlgError`` where no value of the grid is large enough.
    """
    larger = sorted(value for value in options[GRID_OF[learner][0]] if value > wanted)
    for value in (wanted, *larger):
        try:
            return *fit(learner, options, phi, sample, value), value
        except np.linalg.LinAlgError as error:
            refused = error
    raise refused


def fit(learner: str, options: dict, phi, sample: Sample, chosen: float):
    """The linear model of a learner on the streamed training features, and the classes it decides between."""

    def blocks():
        return phi.transform_blocks(sample.X_train)

    Y, classes = encode_labels(sample.y_train)
    if learner == "ridge":
        model = fit_ridge(
            blocks, Y, chosen, n_columns=phi.n_columns_, scaling=options["scaling"], center=options["center"]
        )
    else:
        model = fit_svm(
            blocks,
            Y,
            chosen,
            n_rows=len(Y),
            n_columns=phi.n_columns_,
            loss=options["loss"],
            intercept=options["intercept"],
            solver=options["solver"],
        )
    return model, classes
