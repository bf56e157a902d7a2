"""Fit the maps of a shard, and train and test learners on their features. No feature matrix is kept on disk or as a
whole in memory.

A cell is a map, with its approximation errors, or one learner on the features of a map. The error is that of the inner
products of the features, or of the map's own estimate of the kernel (``approximate_kernel``). A map that may draw a
frequency more than once has a row with the number of distinct ones. If a map does not exist for the data, or its system
of equations has no solution, its rows give that reason. So do the rows of its learners.

Learners take from the map's cell what its seed cannot reproduce (selected features, weights), and draw the rest again:
an edit of a learner does not refit any map. The target of the data set defines its encoding and its scores. The entry
of a learner defines how it is fitted and when it is left out.
"""

from functools import lru_cache, partial

import numpy as np

from random_features.errors import NotDefinedError
from random_features.learners.entry import load
from random_features.learners.penalties import best_penalty, edge_of
from random_features.tensors import on_host
from rfstudy.scores import approximation_error
from rfstudy.study.engine import Cell, Job, Measured, Work, row_of, run_parts, solver_of, without_value
from rfstudy.study.job import Part, merge
from rfstudy.study.kinds import grid
from rfstudy.study.sample import Sample

#: Number of contiguous blocks of test rows in which the errors of a draw are counted, for the variance between test
#: rows.
ERROR_BLOCKS = 50


def run(parts: list[Part], prepared_dirs, chosen: dict, journal, out, threads: int) -> None:
    """Write the rows of a shard and their provenance.

    ``chosen`` holds the choices of ``tune`` by data set. It is empty if nothing was searched.
    """
    run_parts("train", parts, prepared_dirs, journal, threads, lambda job: Training(job).work(chosen), out)


class Training:
    """The maps on one data set, and their learners."""

    def __init__(self, job: Job):
        self.job, self.spec = job, job.spec
        self.error = f"approximation_error_{job.spec.approximation['norm']}"
        self.metrics = job.spec.scores or list(job.data.target.metrics)
        self._maps: dict[str, Cell] = {}
        # what its cell left of the map of the current learners, and the map itself; those of a new map replace them
        self.stored = lru_cache(1)(lambda name: self.job.finished(self._maps[name], self.measure))
        self.map_and_features = lru_cache(1)(self.drawn)

    def work(self, chosen: dict) -> Work:
        """Return the results of all maps and learners. If the data set is missing, return rows that say so."""
        data = self.job.data
        if data.skipped:
            missing = [{"metric": self.error, "split": "train"}]
            for learner in self.spec.learners:
                missing += [{"learner": learner, "metric": metric, "split": "test"} for metric in self.metrics]
            return self.job.skipped_rows(grid.all_places(self.spec, data.facts["d"], missing))
        # the learners of a map come right after it, so that they share its features
        groups: dict[str, list[Cell]] = {}
        for learner in ("", *self.spec.learners):
            for cell in grid.grid_cells(self.spec, chosen.get(self.spec.dataset, {}), data.facts["d"], learner):
                groups.setdefault(cell.name, []).append(cell)
        self._maps = {name: cells[0] for name, cells in groups.items()}
        return self.job.work_through([cell for cells in groups.values() for cell in cells], self.measure)

    def measure(self, cell: Cell, checkpoints) -> Measured:
        """Return the rows of one cell, and what its map learned."""
        return (self.scores(cell), {}) if "learner" in cell.conditions else self.errors(cell, checkpoints)

    def errors(self, cell: Cell, checkpoints) -> Measured:
        """Return the error rows of a map and the arrays that it learned. If the map does not exist, the rows give the
        reason.
        """
        phi, sample, kernel, length_scale = grid.map_of(self.job, cell)
        row = sample.size_columns | {"split": "train", "metric": self.error}
        how = self.spec.approximation
        stated = partial(grid.cell_settings, cell, length_scale, sample.capped)  # by the position of a size
        try:
            phi.fit(grid.placed(phi, sample.X_train), sample.y_train, checkpoints)
        except (NotDefinedError, np.linalg.LinAlgError) as error:
            sizes = enumerate(grid.prefixes(None, cell))
            return [row | size | without_value(error, stated(position)) for position, (_, size) in sizes], {}
        repeat = cell.coordinates["repeat"]
        X = sample.X_train[self.job.samples.approximation_rows(repeat, len(sample.y_train), how["rows"])]
        exact = kernel(X.astype(np.float64))
        rows = []
        for position, (prefix, size) in enumerate(grid.prefixes(phi, cell)):
            approximate, notes = approximate_kernel(prefix, X)
            value = approximation_error(exact, approximate, how["norm"])
            columns = row | size | {"n_columns": prefix.n_columns_, "settings": stated(position)}
            rows.append(columns | {"value": value, "settings": columns["settings"] | {"rows": len(X)} | notes})
            if hasattr(prefix, "n_distinct_"):
                rows.append(columns | {"metric": "distinct_features", "value": prefix.n_distinct_})
        return rows, phi.learned_

    def drawn(self, name: str) -> tuple:
        """Return the map of the learners' cells of a name, and its training and test features. The features are
        streams, kept in memory if they are few. The map is drawn again, with what it learned when its own cell was
        computed.
        """
        _, learned = self.stored(name)
        phi, sample, *_ = grid.map_of(self.job, self._maps[name])
        phi.restore(sample.X_train.shape[1], learned, dtype=sample.X_train.dtype)
        return phi, grid.features_of(phi, sample.X_train), grid.features_of(phi, sample.X_test)

    def scores(self, cell: Cell) -> list[dict]:
        """Return the scores of one learner on one map as rows. If there is no map or no solution, the rows say so."""
        sample, _kernel, length_scale = self.job.sample_and_kernel(cell.coordinates["repeat"], cell.conditions)
        shared = sample.size_columns | {"learner": cell.conditions["learner"], "split": "test"}
        of_map = self.stored(cell.name)[0]["rows"][0]
        if "status" in of_map:  # there is no map
            settings = {"options": cell.entry["options"], "capped": sample.capped}
            settings["reason"] = of_map["settings"]["reason"]
            row = shared | {"status": of_map["status"], "settings": settings}
            return [row | size | {"metric": m} for _, size in grid.prefixes(None, cell) for m in self.metrics]
        phi, *features = self.map_and_features(cell.name)
        rows = []
        for position, (prefix, size) in enumerate(grid.prefixes(phi, cell)):
            settings = grid.cell_settings(cell, length_scale, sample.capped, position)
            own = features if prefix is phi else [grid.features_of(prefix, X) for X in (sample.X_train, sample.X_test)]
            row = shared | size | {"n_columns": prefix.n_columns_}
            try:
                of_test, reported = self.scored(cell, sample, position, prefix.n_columns_, *own)
            except (NotDefinedError, np.linalg.LinAlgError) as error:
                rows += [row | {"metric": metric} | without_value(error, settings) for metric in self.metrics]
                continue
            row |= {"settings": merge(settings, reported)}
            rows += [row_of(row, self.job.data.target, metric, *of_test) for metric in self.metrics]
        return rows

    def scored(self, cell: Cell, sample: Sample, position: int, n_columns: int, train_features, test_features):
        """Return the labels, predictions and decision values of the test rows, and settings that describe the model.
        Raise ``NotDefinedError`` if the learner is left out, and ``numpy.linalg.LinAlgError`` if there is no solution.

        ``position`` is that of the size among those of the cell. A penalty that was not chosen before is chosen here. A
        shared penalty is used as it is, also if it leaves a singular system.
        """
        target, given, repeat = self.job.data.target, cell.conditions, cell.coordinates["repeat"]
        learner, options, penalty = load(given["learner"]), given["settings"], given["penalty"]
        penalty = penalty[position] if isinstance(penalty, list) else penalty
        if reason := learner.left_out(target.kind, options, len(sample.y_train), n_columns):
            raise NotDefinedError(reason)
        Y, classes = target.encode(sample.y_train)
        Y = grid.placed(self.spec, Y)
        how = {"n_columns": n_columns, "options": options}
        edge = given["penalty_at_edge"][position] if "penalty_at_edge" in given else None
        if penalty is None:
            folds = grid.folds_of(self.spec, len(Y), options["n_folds"], repeat, sample.train_blocks)
            model, used, edge = fitted_on_own_choice(learner, train_features, Y, folds, target.score, how)
        else:
            model, used = learner.fit(train_features, Y, penalty, **how), penalty
        decision = np.concatenate([on_host(model.decision(block)) for _rows, block in test_features()])
        predicted = target.decode(decision, classes)
        reported = {learner.chosen: used} | solver_of(model)
        if penalty is None and "chosen_on" in given["choice"]:
            # no value of the shared penalty had a solution for the shared map
            reported |= {"tune_per": "cell", "chosen_on": [repeat]}
        if cell.coordinates.get("axis") == "draw" and target.kind != "regression":
            wrong = np.array_split(predicted != sample.y_test, ERROR_BLOCKS)
            reported["errors_by_block"] = [int(block.sum()) for block in wrong]
        if edge is not None:
            reported["at_edge"] = {"penalty": edge}
        return (sample.y_test, predicted, decision), reported


def approximate_kernel(phi, X) -> tuple[np.ndarray, dict]:
    """Return the kernel matrix (n, n) that a fitted map gives for X (n, d), and the setting that names its source."""
    if hasattr(phi, "approximate_kernel"):
        return phi.approximate_kernel(X).astype(np.float64), {"estimate": "approximate_kernel"}
    Z = phi.transform(X).astype(np.float64)
    return Z @ Z.T, {}


def fitted_on_own_choice(learner, features, Y, folds, score: str, how: dict) -> tuple:
    """Return the model at the grid value that cross-validation chooses, that value, and its edge (``edge_of``) among
    the values that have a solution.

    A value can have a solution on the rows of every fold but none on all rows. Then the choice is made among the
    others. Raise ``numpy.linalg.LinAlgError`` if none is left.
    """
    options = how["options"]
    penalties = options[learner.grid]
    scores = learner.cross_validate(features, Y, folds, score=score, **how)
    while True:
        value = best_penalty(scores, penalties, score, options.get("choice", "best"))
        try:
            return learner.fit(features, Y, value, **how), value, edge_of(value, penalties, scores, score)
        except np.linalg.LinAlgError:
            scores[np.asarray(penalties) == value] = np.nan
