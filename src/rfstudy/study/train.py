"""Train and test the learners of a shard on streamed features: no feature matrix on disk, none whole in memory.

Maps are drawn again from their seeds; what ``generate`` learned from the data (selected features, weights) comes
from its arrays. The target of the data set defines its encoding and its scores. The entry of a learner defines how it
is fitted and where it is left out.
"""

import numpy as np

from random_features.errors import NotDefinedError, UserError
from random_features.learners.entry import load
from random_features.learners.penalties import best_penalty, is_at_edge
from random_features.learners.streams import keep_within
from random_features.maps.registry import REGISTRY
from rfstudy.files import read_arrays
from rfstudy.study.engine import Cell, Job, Work, arrays_of, run_parts, work_through
from rfstudy.study.job import Part
from rfstudy.study.kinds.grid import cell_settings, folds_of, grid_cells, map_of, prefixes, sample_of, skipped_rows
from rfstudy.study.rows import status_of
from rfstudy.study.sample import Sample

#: What ``generate`` leaves in place of learned arrays where a cell has no map: its status, and the reason.
NO_MAP = ("skipped", "failed")

#: What of a cell's conditions is the learner's and nothing to its map.
OF_LEARNER = ("learner", "settings", "penalty", "penalty_at_edge", "choice")

#: Bytes up to which the features of one map are kept for all learners and passes; above, they are streamed.
KEPT_BYTES = 2**28


def run(parts: list[Part], prepared_dirs, chosen: dict, arrays_file, journal, out, threads: int) -> None:
    """The stage: write a shard's rows and their provenance; ``chosen`` as in ``generate``."""
    arrays = read_arrays(arrays_file)

    def work_of(job: Job) -> Work:
        return train(job, chosen.get(job.spec.dataset, {}), arrays_of(arrays, job.spec.dataset))

    run_parts("train", parts, prepared_dirs, journal, threads, work_of, out)


def train(job: Job, chosen: dict, arrays: dict) -> Work:
    """The cells of all learners on one data set; ``arrays`` holds what its maps learned, by cell."""
    spec = job.spec
    if job.data.skipped:
        rows = []
        for learner in spec.learners:
            missing = [{"learner": learner, "metric": metric, "split": "test"} for metric in metrics_of(job)]
            rows += skipped_rows(spec, job.data, spec.repeats[learner], missing)
        return Work(rows)
    d, repeats = job.data.facts["d"], spec.repeats
    cells = [cell for learner in spec.learners for cell in grid_cells(spec, chosen, d, repeats[learner], learner)]
    # the learners of one map follow each other, so that they share its features
    order = {cell.name: i for i, cell in reversed(list(enumerate(cells)))}
    cells.sort(key=lambda cell: order[cell.name])
    of_others = [cell.name for cell in cells if is_learned(cell) and not arrays_of(arrays, cell.name)]
    if of_others:
        raise UserError(f"--arrays: the file has nothing of {spec.dataset}/{of_others[0]}: it is of another job")
    latest = LatestMap(job, arrays)
    return work_through(job, cells, lambda cell, _: measure(job, cell, latest))


def is_learned(cell: Cell) -> bool:
    """Whether ``generate`` leaves arrays of a cell in any case: its map takes something from the data."""
    return REGISTRY[cell.entry["method"]].data_dependent


class LatestMap:
    """The map that is worked on with its features; another cell's map forgets the one before."""

    def __init__(self, job: Job, arrays: dict):
        self.job, self.arrays = job, arrays
        self._what: tuple = ()
        self._found: tuple = ()

    def of(self, cell: Cell) -> tuple:
        """The map of a cell as ``generate`` learned it, its length scale, and its features of the training and of the
        test rows as streams, from memory where they are few; in place of the map a reason where there is none.
        """
        of_map = {key: value for key, value in cell.conditions.items() if key not in OF_LEARNER}
        what = (cell.entry, cell.coordinates, of_map)
        if what != self._what:
            self._found = self._drawn(cell)
            self._what = what
        return self._found

    def _drawn(self, cell: Cell) -> tuple:
        learned = arrays_of(self.arrays, cell.name)
        for status in NO_MAP:
            if status in learned:
                return (status, str(learned[status])), None, None, None
        sample = sample_of(self.job.samples, cell)
        phi, _kernel, length_scale = map_of(self.job.spec, cell, self.job.samples)
        phi.restore(sample.X_train.shape[1], learned, dtype=sample.X_train.dtype)
        return phi, length_scale, features_of(phi, sample.X_train), features_of(phi, sample.X_test)


def features_of(phi, X):
    """The features of X (n, d) as a stream of blocks, from memory where they fit into ``KEPT_BYTES``."""
    return keep_within(lambda: phi.transform_blocks(X), len(X), phi.n_columns_, KEPT_BYTES)


def metrics_of(job: Job) -> list[str]:
    """What is scored: what the experiment names, else what the target of the data set does."""
    return job.spec.scores or list(job.data.target.metrics)


def measure(job: Job, cell: Cell, latest: LatestMap) -> tuple[list[dict], dict]:
    """The scores of one learner on one cell as rows; a cell without a map or a solution has rows that say so."""
    sample = sample_of(job.samples, cell)
    shared = sample.size_columns | {"learner": cell.conditions["learner"], "split": "test"}
    phi, length_scale, *features = latest.of(cell)
    if isinstance(phi, tuple):
        status, reason = phi
        settings = {"options": cell.entry["options"], "capped": sample.capped, "reason": reason}
        row = shared | {"status": status, "settings": settings}
        return [row | size | {"metric": m} for _, size in prefixes(None, cell) for m in metrics_of(job)], {}
    settings = cell_settings(cell, length_scale, sample.capped)
    rows = []
    for position, (prefix, size) in enumerate(prefixes(phi, cell)):
        own = features if prefix is phi else [features_of(prefix, X) for X in (sample.X_train, sample.X_test)]
        columns = shared | size | {"n_columns": prefix.n_columns_}
        scores, status, told = scored(job, cell, sample, position, prefix.n_columns_, *own)
        rows += [columns | {"metric": m, "status": status, "settings": settings | told, **score} for m, score in scores]
    return rows, {}


def scored(job: Job, cell: Cell, sample: Sample, position: int, n_columns: int, train_features, test_features):
    """Pairs of a metric and its value as a column, the status of the rows, and what their settings say of the model.

    ``position`` is that of the size among those of the cell. A penalty that nobody chose is chosen here; one that is
    shared is taken as it is: where it leaves a singular system, the rows have failed.
    """
    target, learner, penalty = job.data.target, load(cell.conditions["learner"]), cell.conditions["penalty"]
    penalty = penalty[position] if isinstance(penalty, list) else penalty
    options, metrics = cell.conditions["settings"], metrics_of(job)
    reason = learner.left_out(target.kind, options, len(sample.y_train), n_columns)
    if reason:
        return [(metric, {}) for metric in metrics], "skipped", {"reason": reason}
    Y, classes = target.encode(sample.y_train)
    how = {"n_columns": n_columns, "options": options}
    at_edge = "penalty_at_edge" in cell.conditions and cell.conditions["penalty_at_edge"][position]
    try:
        if penalty is None:
            folds = folds_of(job.spec, len(Y), options["n_folds"], cell.coordinates["repeat"], sample.train_blocks)
            model, used, at_edge = fitted_on_own_choice(learner, train_features, Y, folds, target.score, how)
        else:
            model, used = learner.fit(train_features, Y, penalty, **how), penalty
    except (NotDefinedError, np.linalg.LinAlgError) as error:
        return [(metric, {}) for metric in metrics], status_of(error), {"reason": str(error)}
    decision = np.concatenate([model.decision(block) for _rows, block in test_features()])
    predicted = target.decode(decision, classes)
    told = {learner.chosen: used, "solver": model.solver}
    if penalty is None and "chosen_on" in cell.conditions["choice"]:
        # what should have been shared had no value at which the shared map has a solution
        told |= {"tune_per": "cell", "chosen_on": [cell.coordinates["repeat"]]}
    if at_edge:
        told["at_edge"] = [*cell.conditions.get("at_edge", []), "penalty"]
    if not model.converged:
        told["converged"] = False
    values = [(metric, {"value": target.evaluate(metric, sample.y_test, predicted)}) for metric in metrics]
    return values, "ok", told


def fitted_on_own_choice(learner, features, Y, folds, score: str, how: dict) -> tuple:
    """The model at the value of the grid that cross-validation chooses, that value, and whether it is at an edge of the
    values that have a solution.

    A value can have a solution on the rows of every fold and none on all of them. Then the choice is made among the
    others. Raises ``numpy.linalg.LinAlgError`` where none is left.
    """
    options = how["options"]
    grid = options[learner.grid]
    scores = learner.cross_validate(features, Y, folds, score=score, **how)
    while True:
        value = best_penalty(scores, grid, score, options.get("choice", "best"))
        try:
            return learner.fit(features, Y, value, **how), value, is_at_edge(value, grid, scores)
        except np.linalg.LinAlgError:
            scores[np.asarray(grid) == value] = np.nan
