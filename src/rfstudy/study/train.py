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

#: Contiguous blocks of test rows in which the errors of a draw are counted, for the variance between test rows.
ERROR_BLOCKS = 50

#: Bytes up to which the features of one map are kept for all learners and passes; above, they are streamed.
KEPT_BYTES = 2**28


def run(parts: list[Part], prepared_dirs, chosen: dict, arrays_file, journal, out, threads: int) -> None:
    """The stage: write a shard's rows and their provenance; ``chosen`` as in ``generate``."""
    arrays = read_arrays(arrays_file)

    def work_of(job: Job) -> Work:
        dataset = job.spec.dataset
        return Training(job, arrays_of(arrays, dataset)).work(chosen.get(dataset, {}))

    run_parts("train", parts, prepared_dirs, journal, threads, work_of, out)


class Training:
    """The learners on one data set; ``arrays`` holds what its maps learned, by cell."""

    def __init__(self, job: Job, arrays: dict):
        self.job, self.spec, self.arrays = job, job.spec, arrays
        self.metrics = job.spec.scores or list(job.data.target.metrics)
        # the map that is worked on; another cell's map forgets the one before
        self._what: tuple = ()
        self._map: tuple = ()

    def work(self, chosen: dict) -> Work:
        """The cells of all learners; where there are no data, rows that say so."""
        data, repeats = self.job.data, self.spec.repeats
        if data.skipped:
            rows = []
            for learner in self.spec.learners:
                missing = [{"learner": learner, "metric": metric, "split": "test"} for metric in self.metrics]
                rows += skipped_rows(self.spec, data, repeats[learner], missing)
            return Work(rows)
        d = data.facts["d"]
        cells = [c for name in self.spec.learners for c in grid_cells(self.spec, chosen, d, repeats[name], name)]
        # the learners of one map follow each other, so that they share its features
        order = {cell.name: i for i, cell in reversed(list(enumerate(cells)))}
        cells.sort(key=lambda cell: order[cell.name])
        for cell in cells:
            # of a map that takes something from the data ``generate`` leaves arrays in any case
            if REGISTRY[cell.entry["method"]].data_dependent and not arrays_of(self.arrays, cell.name):
                where = f"{self.spec.dataset}/{cell.name}"
                raise UserError(f"--arrays: the file has nothing of {where}: it is of another job")
        return work_through(self.job, cells, self.measure)

    def map_of(self, cell: Cell) -> tuple:
        """The map of a cell as ``generate`` learned it, its length scale, and its features of the training and of the
        test rows as streams, from memory where they are few; in place of the map a reason where there is none.
        """
        of_map = {key: value for key, value in cell.conditions.items() if key not in OF_LEARNER}
        what = (cell.entry, cell.coordinates, of_map)
        if what != self._what:
            self._map = self.drawn(cell)
            self._what = what
        return self._map

    def drawn(self, cell: Cell) -> tuple:
        """``map_of``, drawn anew."""
        learned = arrays_of(self.arrays, cell.name)
        for status in NO_MAP:
            if status in learned:
                return (status, str(learned[status])), None, None, None
        sample = sample_of(self.job.samples, cell)
        phi, _kernel, length_scale = map_of(self.spec, cell, self.job.samples)
        phi.restore(sample.X_train.shape[1], learned, dtype=sample.X_train.dtype)
        return phi, length_scale, features_of(phi, sample.X_train), features_of(phi, sample.X_test)

    def measure(self, cell: Cell, _checkpoints) -> tuple[list[dict], dict]:
        """The scores of one learner on one cell as rows; a cell without a map or a solution has rows that say so."""
        sample = sample_of(self.job.samples, cell)
        shared = sample.size_columns | {"learner": cell.conditions["learner"], "split": "test"}
        phi, length_scale, *features = self.map_of(cell)
        if isinstance(phi, tuple):
            status, reason = phi
            settings = {"options": cell.entry["options"], "capped": sample.capped, "reason": reason}
            row = shared | {"status": status, "settings": settings}
            return [row | size | {"metric": m} for _, size in prefixes(None, cell) for m in self.metrics], {}
        settings = cell_settings(cell, length_scale, sample.capped)
        rows = []
        for position, (prefix, size) in enumerate(prefixes(phi, cell)):
            own = features if prefix is phi else [features_of(prefix, X) for X in (sample.X_train, sample.X_test)]
            row = shared | size | {"n_columns": prefix.n_columns_}
            scores, status, reported = self.scored(cell, sample, position, prefix.n_columns_, *own)
            row |= {"status": status, "settings": settings | reported}
            rows += [row | {"metric": metric} | score for metric, score in scores]
        return rows, {}

    def scored(self, cell: Cell, sample: Sample, position: int, n_columns: int, train_features, test_features):
        """Pairs of a metric and its value as a column, the status of the rows, and what their settings say of the
        model.

        ``position`` is that of the size among those of the cell. A penalty that nobody chose is chosen here; one that
        is shared is taken as it is: where it leaves a singular system, the rows have failed.
        """
        target, given = self.job.data.target, cell.conditions
        learner, options, penalty = load(given["learner"]), given["settings"], given["penalty"]
        penalty = penalty[position] if isinstance(penalty, list) else penalty
        no_scores = [(metric, {}) for metric in self.metrics]
        reason = learner.left_out(target.kind, options, len(sample.y_train), n_columns)
        if reason:
            return no_scores, "skipped", {"reason": reason}
        Y, classes = target.encode(sample.y_train)
        how = {"n_columns": n_columns, "options": options}
        at_edge = "penalty_at_edge" in given and given["penalty_at_edge"][position]
        try:
            if penalty is None:
                folds = folds_of(self.spec, len(Y), options["n_folds"], cell.coordinates["repeat"], sample.train_blocks)
                model, used, at_edge = fitted_on_own_choice(learner, train_features, Y, folds, target.score, how)
            else:
                model, used = learner.fit(train_features, Y, penalty, **how), penalty
        except (NotDefinedError, np.linalg.LinAlgError) as error:
            return no_scores, status_of(error), {"reason": str(error)}
        decision = np.concatenate([model.decision(block) for _rows, block in test_features()])
        predicted = target.decode(decision, classes)
        reported = {learner.chosen: used, "solver": model.solver}
        if penalty is None and "chosen_on" in given["choice"]:
            # what should have been shared had no value at which the shared map has a solution
            reported |= {"tune_per": "cell", "chosen_on": [cell.coordinates["repeat"]]}
        if cell.coordinates.get("axis") == "draw" and target.kind != "regression":
            wrong = np.array_split(predicted != sample.y_test, ERROR_BLOCKS)
            reported["errors_by_block"] = [int(block.sum()) for block in wrong]
        if at_edge:
            reported["at_edge"] = [*given.get("at_edge", []), "penalty"]
        if not model.converged:
            reported["converged"] = False
        values = [(metric, {"value": target.evaluate(metric, sample.y_test, predicted)}) for metric in self.metrics]
        return values, "ok", reported


def features_of(phi, X):
    """The features of X (n, d) as a stream of blocks, from memory where they fit into ``KEPT_BYTES``."""
    return keep_within(lambda: phi.transform_blocks(X), len(X), phi.n_columns_, KEPT_BYTES)


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
