"""Error against cost as the training rows grow: ridge regression on feature maps, and on the exact kernel.

All methods choose length scale and penalty in the same way: of the first training rows, at most ``CHOSEN_ON`` of
``study/yardsticks.py``, one half is fitted and the squared error of the other half decides, for labels, too. Their
accuracy on so few rows cannot tell length scales apart. The time is that of all work at these settings: to learn the
map, to map and fit all training rows, and to predict the test rows, on the threads of the job and on all cores. The
variant of a row is its number of training rows; numbers over the rows of a data set, or over the cap on rows, are left
out.
"""

import itertools
from dataclasses import replace

import numpy as np
from joblib import cpu_count
from sklearn.model_selection import ShuffleSplit

from random_features.arrays import seed_of
from random_features.errors import NotDefinedError
from random_features.kernels import make_kernel
from random_features.learners.ridge import LEARNER
from random_features.learners.scoring import gain
from random_features.length_scales import median_distance
from rfstudy.study import yardsticks
from rfstudy.study.engine import Cell, Job, Measured, Timed, name_of, without_value
from rfstudy.study.job import merge
from rfstudy.study.sample import Sample

#: What chooses length scale and penalty, and the options of ridge regression on features. The penalties reach further
#: down than those of the yardsticks: on a smooth function half of the choices were the smallest of them.
SCORE = "mse"
PENALTIES = 1e-12 * 4.0 ** np.arange(20)
RIDGE = {"penalties": PENALTIES, "scaling": "mean", "center": "both"}

#: Rounds in which all methods are timed on more training rows than Cholesky's factor takes. Such a fit is long.
FEW_ROUNDS = 2


def cells(job: Job) -> list[Cell]:
    """Return, for each repeat and number of training rows, a cell of the exact kernel and one per map and D."""
    shared = {"n_test": job.spec.grid["n_test"], "largest": max(numbers_of_rows(job), default=0)}
    return [
        Cell(entry, {"variant": str(n), "repeat": repeat} | size, {"n_train": n} | shared)
        for repeat, (n, entry, size) in itertools.product(job.spec.repeats, places(job))
    ]


def places(job: Job) -> list[tuple[int, dict, dict]]:
    """Return triples of a number of training rows that the data have, an entry and a size; the last two are empty for
    the exact kernel.
    """
    sizes = [{"n_columns": columns, "n_features_label": str(columns)} for columns in job.spec.grid["n_columns"]]
    sides = [({}, {}), *itertools.product(job.spec.methods, sizes)]
    return [(n, *side) for n in numbers_of_rows(job) for side in sides]


def numbers_of_rows(job: Job) -> list[int]:
    """Return the numbers of training rows that the data have, up to the cap on rows."""
    grid, cap = job.spec.grid, job.spec.max_rows or np.inf  # capped rows are no longer in random order
    most = len(job.data.y) - grid["n_test"] if job.data else cap  # a check has no data
    return [n for n in grid["n_train"] if n <= min(most, cap)]


def measure(job: Job, entry: dict, *, repeat: int, n_train: int, n_test: int, largest: int, **place) -> Measured:
    """Return the error of a cell, and what its cost in operations is made of."""
    sample, target = sample_of(job, repeat, n_train, n_test, largest), job.data.target
    metric = "rmse" if target.kind == "regression" else "accuracy_pct"
    row = sample.size_columns | {"split": "test", "metric": metric, "learner": learner_of(entry)}
    try:
        columns, settings, run = tuned(job, entry, sample, repeat, place.get("n_columns", 0))
    except NotDefinedError as error:
        return [row | without_value(error, {})], {}
    predictions, certificate = run()
    row |= columns | {"settings": settings | certificate}
    return [row | {"value": target.evaluate(metric, sample.y_test, predictions)}], {}


def timed(job: Job, chosen: dict) -> list[Timed]:
    """Return two units for each cell of the first repeat: all of its work at chosen settings, on the threads of the job
    and on all cores.
    """
    found = []
    for n, entry, size in places(job):
        sample = sample_of(job, 0, n, job.spec.grid["n_test"], max(numbers_of_rows(job)))
        try:
            columns, settings, run = tuned(job, entry, sample, 0, size.get("n_columns", 0))
        except NotDefinedError:
            continue
        rounds = FEW_ROUNDS if n > yardsticks.BY_CHOLESKY else None
        columns = sample.size_columns | size | columns | {"learner": learner_of(entry)}
        for phase, threads in (("total", None), ("all_cores", cpu_count())):
            found.append(Timed(entry | {"variant": str(n)}, columns, {phase: run}, "", settings, rounds, threads))
    return found


def learner_of(entry: dict) -> str:
    """Return the learner of a cell: ridge regression on a map, or the exact kernel."""
    return "ridge" if entry else "exact_kernel"


def sample_of(job: Job, repeat: int, n_train: int, n_test: int, largest: int) -> Sample:
    """Return rows of a repeat: the first of a random order train, and the same rows test for every number of training
    rows. The columns are scaled on the ``largest`` number.
    """
    split = {"rule": "random", "n_train": largest, "n_test": n_test}
    whole = job.samples.of(repeat, job.spec.preprocess, merge(job.spec.split or {}, split))
    return replace(whole, X_train=whole.X_train[:n_train], y_train=whole.y_train[:n_train])


def tuned(job: Job, entry: dict, sample: Sample, repeat: int, columns: int) -> tuple:
    """Return the columns of the rows of a cell, its settings, and a function that fits and predicts all rows."""
    X, y, target = sample.X_train, sample.y_train, job.data.target
    few_X, few_y = X[: yardsticks.CHOSEN_ON], y[: yardsticks.CHOSEN_ON]
    # a map with a cosine and a sine has two columns for each of its features
    s = 2 * columns // map_at(job, entry, 1.0, 2, 0).fit(X[:50], y[:50]).n_columns_ if entry else 0
    what = name_of(entry), columns, repeat, len(few_y)
    settings = job.samples.once(what, lambda: choose(job, entry, few_X, few_y, repeat, s))
    if not entry:
        return {}, settings, lambda: yardsticks.kernel_predictions(sample, target, settings)[::2]

    def run():
        phi, (Y, classes) = map_at(job, entry, settings["length_scale"], s, repeat).fit(X, y), target.encode(y)
        how = {"n_columns": phi.n_columns_, "options": RIDGE}
        model = LEARNER.fit(lambda: phi.transform_blocks(X), Y, settings["penalty"], **how)
        decision = [model.decision(block) for _rows, block in phi.transform_blocks(sample.X_test)]
        return target.decode(np.concatenate(decision), classes), {}

    return {"n_features": s}, settings, run


def choose(job: Job, entry: dict, X: np.ndarray, y: np.ndarray, repeat: int, s: int) -> dict:
    """Return the length scale and penalty of a map with ``s`` features, or of the exact kernel, from a few rows."""
    rng = np.random.default_rng(seed_of(job.spec.seed, "yardstick", repeat))
    length_scales = yardsticks.FACTORS * median_distance(X, rng)
    if not entry:
        Y, _, _ = yardsticks.centred(job.data.target, y)
        return yardsticks.kernel_settings(X.astype(np.float64), Y, length_scales, SCORE, PENALTIES)
    Y, _ = job.data.target.encode(y)
    folds = np.zeros(len(y), dtype=int)
    ((fitted_on, _),) = ShuffleSplit(1, test_size=yardsticks.HELD_OUT, random_state=0).split(X)
    folds[fitted_on] = -1

    def scores_at(length_scale):
        phi = map_at(job, entry, length_scale, s, repeat).fit(X[fitted_on], y[fitted_on])
        how = {"n_columns": phi.n_columns_, "score": SCORE, "options": RIDGE}
        return gain(LEARNER.cross_validate(lambda: phi.transform_blocks(X), Y, folds, **how), SCORE)

    scores = np.array([scores_at(float(each)) for each in length_scales])
    return yardsticks.best_settings(length_scales, scores, PENALTIES)


def map_at(job: Job, entry: dict, length_scale: float, s: int, repeat: int):
    """Return the unfitted map of an entry with ``s`` features for the Gaussian kernel of a length scale."""
    return job.feature_map(entry, make_kernel({"name": "gaussian", "length_scale": length_scale}), s, repeat)
