"""Train and test the learners of a shard on streamed features: no feature matrix on disk, none whole in memory.

Maps are drawn again from their seeds; what ``generate`` learned from the data (selected features, weights) comes
from its arrays. What is scored, and how the targets are encoded, is the target's to say; what a learner is fitted with,
and where it is left out, the learner's.
"""

from __future__ import annotations

import numpy as np

from rfstudy import tidy
from rfstudy.arrays import set_threads
from rfstudy.learners.entry import load
from rfstudy.learners.penalties import best_penalty
from rfstudy.study.engine import Cell, Job, Work, arrays_of, jobs, work_through
from rfstudy.study.kinds.grid import cell_settings, folds_of, grid_cells, map_of, prefixes, skipped_rows
from rfstudy.study.provenance import write_records
from rfstudy.study.sample import Sample

#: What ``generate`` leaves in place of learned arrays where a cell has no map: its status, and the reason.
NO_MAP = ("skipped", "failed")


def run(parts: list[dict], prepared_dirs, chosen: dict, arrays_file, journal_dir, out, threads: int) -> None:
    """The stage: write a shard's rows and their provenance; ``chosen`` as in ``generate``."""
    set_threads(threads)
    with np.load(arrays_file, allow_pickle=False) as stored:
        arrays = dict(stored)
    done = Work()
    for job in jobs("train", parts, prepared_dirs, journal_dir, threads, ("study.train:measure",)):
        done.add(train(job, chosen.get(job.spec["dataset"], {}), arrays_of(arrays, job.spec["dataset"])))
    write_records(done.records, out)
    tidy.write(done.rows, out)


def train(job: Job, chosen: dict, arrays: dict) -> Work:
    """The cells of all learners on one data set; ``arrays`` holds what its maps learned, by cell."""
    spec, done = job.spec, Work()
    for learner in spec["learners"]:
        if job.data.skipped:
            missing = [{"learner": learner, "metric": metric, "split": "test"} for metric in metrics_of(job)]
            done.rows += skipped_rows(spec, job.data, missing)
            continue
        cells = grid_cells(spec, chosen, job.data.facts["d"], spec["repeats"][learner], learner)
        title = f"{spec['experiment']} {spec['dataset']} {learner}"
        done.add(work_through(job, cells, lambda cell, _: measure(job, cell, arrays_of(arrays, cell.name)), title))
    return done


def metrics_of(job: Job) -> list[str]:
    """What is scored: what the experiment names, else what the target of the data set does."""
    return job.spec["scores"] or list(job.data.target.metrics)


def measure(job: Job, cell: Cell, learned: dict) -> tuple[list[dict], dict]:
    """The scores of one learner on one cell as rows; a cell without a map or a solution has rows that say so."""
    sample = job.samples.of(cell.at["repeat"], cell.given["preprocess"])
    shared = sample.size_columns | {"learner": cell.given["learner"], "split": "test"}
    for status in NO_MAP:
        if status in learned:
            reason = {"options": cell.entry["options"], "capped": sample.capped, "reason": str(learned[status])}
            row = shared | {"status": status, "settings": reason}
            return [row | size | {"metric": m} for _, size in prefixes(None, cell) for m in metrics_of(job)], {}
    phi, _kernel, length_scale = map_of(job.spec, cell, job.samples)
    phi.restore(sample.X_train.shape[1], learned, dtype=sample.X_train.dtype)
    settings = cell_settings(cell, length_scale, sample.capped)
    rows = []
    for prefix, size in prefixes(phi, cell):
        columns = shared | size | {"n_columns": prefix.n_columns_}
        scores, status, told = scored(job, cell, sample, prefix)
        rows += [columns | {"metric": m, "status": status, "settings": settings | told, **score} for m, score in scores]
    return rows, {}


def scored(job: Job, cell: Cell, sample: Sample, phi):
    """Pairs of a metric and its value as a column, the status of the rows, and what their settings say of the model."""
    target, learner = job.data.target, load(cell.given["learner"])
    options, metrics = cell.given["settings"], metrics_of(job)
    reason = learner.left_out(target.kind, options, len(sample.y_train), phi.n_columns_)
    if reason:
        return [(metric, {}) for metric in metrics], "skipped", {"reason": reason}
    Y, classes = target.encode(sample.y_train)

    def blocks():
        return phi.transform_blocks(sample.X_train)

    try:
        wanted = cell.given["penalty"]
        if wanted is None:
            folds = folds_of(job.spec, len(Y), options["n_folds"], cell.at["repeat"])
            how = {"n_columns": phi.n_columns_, "score": target.score, "options": options}
            wanted = best_penalty(learner.cross_validate(blocks, Y, folds, **how), options[learner.grid], target.score)
        model, used = learner.fit_regular(blocks, Y, wanted, n_columns=phi.n_columns_, options=options)
    except np.linalg.LinAlgError as error:
        return [(metric, {}) for metric in metrics], "failed", {"reason": str(error)}
    decision = np.concatenate([model.decision(block) for _rows, block in phi.transform_blocks(sample.X_test)])
    predicted = target.decode(decision, classes)
    told = {learner.chosen: used, "solver": model.solver}
    if used != wanted:
        told["singular_at"] = wanted
    if not model.converged:
        told["converged"] = False
    values = [(metric, {"value": target.evaluate(metric, sample.y_test, predicted)}) for metric in metrics]
    return values, "ok", told
