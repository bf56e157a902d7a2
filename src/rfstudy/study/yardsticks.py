"""Predictors without a feature map, next to which the accuracies of maps are shown.

| id | predictor |
|---|---|
| `majority` | the most frequent label of the training rows; the mean of their targets in a regression |
| `nearest_neighbour` | the target of the nearest training row |
| `linear` | on standardised columns: logistic regression, C by three random folds; ridge regression by leave-one-out |
| `boosting` | gradient-boosted trees, with scikit-learn's defaults |
| `exact_kernel` | ridge regression on the exact Gaussian kernel, length scale and penalty chosen by validation |
| `xrfm` | a recursive feature machine (Beaglehole et al., arXiv:2508.10053) with the defaults of the package `xrfm` |
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import GridSearchCV, ShuffleSplit, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from random_features.arrays import block_rows
from random_features.kernels.gaussian import Gaussian
from random_features.learners.kernel_ridge import fit_kernel_ridge_by_tiles, predict_by_tiles
from random_features.learners.penalties import edge_of
from random_features.learners.scoring import gain, score_sum
from random_features.learners.shifted import solve_shifted
from random_features.length_scales import median_distance
from random_features.tensors import as_tensor, like, namespace, on_host
from rfstudy.data.target import Target
from rfstudy.study.sample import Sample

#: What chooses the penalty of the linear classifier.
CS, SHUFFLED = {"C": 4.0 ** np.arange(-7, 8)}, StratifiedKFold(3, shuffle=True, random_state=0)

ESTIMATORS = {
    "majority": DummyClassifier(strategy="most_frequent"),
    "nearest_neighbour": KNeighborsClassifier(n_neighbors=1),
    # a file sorted by class, or by what its classes were made of, has no folds in its own order
    "linear": make_pipeline(StandardScaler(), GridSearchCV(LogisticRegression(max_iter=1000), CS, cv=SHUFFLED)),
    "boosting": HistGradientBoostingClassifier(random_state=0),
}
REGRESSORS = {
    "majority": DummyRegressor(),
    "nearest_neighbour": KNeighborsRegressor(n_neighbors=1),
    "linear": make_pipeline(StandardScaler(), RidgeCV(10.0 ** np.arange(-6, 7))),
    "boosting": HistGradientBoostingRegressor(random_state=0),
}

#: Training rows of the exact kernel, unless an experiment says otherwise, and those up to which a processor holds
#: Cholesky's factor: 1.8 GB. A GPU does so where four such matrices fit into its free memory. Otherwise every step of
#: conjugate gradients computes the kernel matrix anew.
MOST_ROWS = BY_CHOLESKY = 15000

#: Training rows on which the settings of the exact kernel are chosen.
CHOSEN_ON = 5000

#: Where conjugate gradients end: the relative residual, and the number of steps. The rank of the preconditioner.
TOLERANCE, MOST_STEPS, RANK = 1e-6, 500, 1500

#: Multiples of the median distance, and penalties per training row, unless an experiment says otherwise.
FACTORS = 2.0 ** np.arange(-5, 4)
PENALTIES = 1e-9 * 4.0 ** np.arange(15)

#: The share of a few rows that scores a fit of the others, unless an experiment says otherwise.
HELD_OUT = 0.5

#: Rows whose predictions are computed at once.
BLOCK = 4096


def predicted(
    learner: str, sample: Sample, target: Target, seed: int, most_rows: int = MOST_ROWS, device="cpu", **grid
) -> tuple[np.ndarray, np.ndarray | None, dict]:
    """Return the predictions of a yardstick for the test rows (n_test,), its decision values, and its settings.

    The decision values of two classes are for the larger label. They are None where an estimator has none.

    The exact kernel and xRFM have at most ``most_rows`` training rows, and compute on ``device``. ``grid`` is for
    ``tuned_kernel``.
    """
    if learner == "exact_kernel":
        return tuned_kernel(sample, target, seed, most_rows, device=device, **grid)
    if learner == "xrfm":
        return recursive_feature_machine(sample, target, seed, most_rows, device)
    model = (REGRESSORS if target.kind == "regression" else ESTIMATORS)[learner].fit(sample.X_train, sample.y_train)
    decision = model.predict_proba(sample.X_test)[:, 1] if target.kind == "binary" else None
    return model.predict(sample.X_test), decision, {}


def recursive_feature_machine(
    sample: Sample, target: Target, seed: int, most_rows: int, device="cpu"
) -> tuple[np.ndarray, np.ndarray | None, dict]:
    """Return the result of ``predicted`` for xRFM with its defaults on at most ``most_rows`` training rows.

    A fifth of them decides when it stops. The targets of a regression are standardised.
    """
    from xrfm import xRFM  # the extra "arena"

    rows = np.random.default_rng(seed).permutation(len(sample.y_train))[:most_rows]
    X, X_test, y = (each.astype(np.float32) for each in (sample.X_train[rows], sample.X_test, sample.y_train[rows]))
    model, reported, fifth = xRFM(device=device, verbose=False, random_state=seed), {"rows": len(rows)}, len(rows) // 5
    if target.kind == "regression":
        mean, deviation = y.mean(), y.std()
        Y = (y - mean) / deviation
        model.fit(X[fifth:], Y[fifth:], X[:fifth], Y[:fifth])
        return model.predict(X_test)[:, 0] * deviation + mean, None, reported
    classes, codes = np.unique(sample.y_train[rows], return_inverse=True)
    model.fit(X[fifth:], codes[fifth:], X[:fifth], codes[:fifth])
    chances = model.predict_proba(X_test)
    return classes[chances.argmax(axis=1)], chances[:, 1] if target.kind == "binary" else None, reported


def tuned_kernel(
    sample: Sample, target: Target, seed: int, most_rows: int, factors=FACTORS, penalties=PENALTIES, device="cpu",
    **split,
) -> tuple[np.ndarray, np.ndarray, dict]:  # fmt: skip
    """Return the result of ``predicted`` for kernel ridge regression on at most ``most_rows`` training rows.

    ``CHOSEN_ON`` of these rows choose the length scale, one of ``factors`` times the median distance, and the penalty.
    """
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(sample.y_train))[:most_rows]
    sample = replace(sample, X_train=sample.X_train[rows].astype(np.float64), y_train=sample.y_train[rows])
    Y, _, _ = centred(target, sample.y_train)
    length_scales = np.sort(factors) * median_distance(sample.X_train, rng)
    few = sample.X_train[:CHOSEN_ON], Y[:CHOSEN_ON]
    settings = kernel_settings(*few, length_scales, target.score, np.sort(penalties), device=device, **split)
    predictions, decision, certificate = kernel_predictions(sample, target, settings, device)
    return predictions, decision, settings | {"rows": len(rows)} | certificate


def centred(target: Target, y: np.ndarray) -> tuple:
    """Return the columns of targets (n, c), without their mean in a regression, their classes, and the mean or 0."""
    Y, classes = target.encode(y)
    intercept = Y.mean(axis=0) if target.kind == "regression" else 0.0
    return Y - intercept, classes, intercept


def kernel_settings(
    X: np.ndarray, Y: np.ndarray, length_scales: np.ndarray, score: str, penalties=PENALTIES, splits: int = 1,
    held_out: float = HELD_OUT, device="cpu",
) -> dict:  # fmt: skip
    """Return the ``length_scale`` and ``penalty`` of kernel ridge regression with the best score, and ``at_edge``.

    In each of the random ``splits`` every length scale and penalty is fitted, and the share ``held_out`` scores them.
    The matrices are on ``device``.
    """
    scores = np.empty((len(length_scales), len(penalties), splits))
    for k, (fitted_on, others) in enumerate(ShuffleSplit(splits, test_size=held_out, random_state=0).split(X)):
        shifts, own, left_out = penalties * len(fitted_on), X[fitted_on], X[others]
        for i, kernel in enumerate(map(Gaussian, length_scales)):
            matrix, across = (matrix_on(device, kernel, rows, own) for rows in (own, left_out))
            dual = solve_shifted(matrix, like(Y[fitted_on], matrix), shifts)
            decision = namespace(across).tensordot(across, dual, ([1], [1]))
            scores[i, :, k] = gain(on_host(score_sum(like(Y[others], across), decision, score)) / len(others), score)
    return best_settings(length_scales, scores, penalties)


def matrix_on(device, kernel, X: np.ndarray, Y: np.ndarray):
    """Return kernel(X, Y): an array on the CPU, a tensor on another device."""
    if device == "cpu":
        return kernel(X, None if Y is X else Y)
    return kernel.against(Y, len(X), torch.device(device), torch.float64)(as_tensor(X, device))


def kernel_predictions(
    sample: Sample, target: Target, settings: dict, device="cpu"
) -> tuple[np.ndarray, np.ndarray, dict]:
    """Return the predictions of kernel ridge regression for the test rows (n_test,), its decision values (n_test, c),
    and the dict of ``fitted``. The targets of a regression are centred.
    """
    Y, classes, intercept = centred(target, sample.y_train)
    X = sample.X_train.astype(np.float64, copy=False)
    predict, certificate = fitted(X, Y, settings["length_scale"], settings["penalty"], device)
    blocks = np.array_split(sample.X_test.astype(np.float64), -(-len(sample.X_test) // BLOCK))
    decision = np.concatenate([predict(block) for block in blocks]) + intercept
    return target.decode(decision, classes), decision, certificate


def best_settings(length_scales: np.ndarray, scores: np.ndarray, penalties: np.ndarray) -> dict:
    """Return the ``length_scale`` and ``penalty`` with the best mean score (larger is better), the largest of equal
    ones, and ``at_edge`` if one is at an end.

    ``scores`` (length scales, penalties, splits) are NaN where a system is singular.

    >>> length_scales, penalties = np.array([1.0, 2.0, 4.0]), np.array([0.1, 1.0, 10.0])
    >>> scores = np.array([[1.0, 3.0, 2.0], [3.0, 3.0, 1.0], [np.nan, 2.0, 2.0]])
    >>> best_settings(length_scales, scores[..., None], penalties)
    {'length_scale': 2.0, 'penalty': 1.0}
    >>> best_settings(length_scales, np.stack([scores, np.diag([0.0, 0.0, 9.0])], axis=2), penalties)
    {'length_scale': 4.0, 'penalty': 10.0, 'at_edge': {'length_scale': True, 'penalty': False}}
    """
    means = scores.mean(axis=2)
    i, j = np.argwhere(means == np.nanmax(means))[-1]
    edges = {
        "length_scale": edge_of(length_scales[i], length_scales, scores[:, j]),
        "penalty": edge_of(penalties[j], penalties, scores[i]),
    }
    at_edge = {name: edge for name, edge in edges.items() if edge is not None}
    settings = {"length_scale": float(length_scales[i]), "penalty": float(penalties[j])}
    return settings | ({"at_edge": at_edge} if at_edge else {})


def fitted(X: np.ndarray, Y: np.ndarray, length_scale: float, penalty: float, device="cpu") -> tuple[Callable, dict]:
    """Fit kernel ridge regression without an intercept. Return a function from rows (m, d) to decision values (m, c),
    and a dict.

    Conjugate gradients fit rows whose matrix is not held (``BY_CHOLESKY``), and on a GPU a singular system. The dict
    then has their relative ``residual`` and number of ``steps``; it is empty otherwise.
    """
    kernel, limits = Gaussian(length_scale), {"rank": RANK, "tolerance": TOLERANCE, "max_iter": MOST_STEPS}
    if device == "cpu" and len(X) <= BY_CHOLESKY:
        model = KernelRidge(kernel="rbf", gamma=0.5 / length_scale**2, alpha=penalty * len(X)).fit(X, Y)
        return model.predict, {}
    if device != "cpu" and len(X) <= block_rows(8 * len(X), torch.device(device)):
        (dual,) = solve_shifted(matrix_on(device, kernel, X, X), as_tensor(Y, device), np.array([penalty * len(X)]))
        if not dual.isnan().any():
            return lambda rows: on_host(matrix_on(device, kernel, rows, X) @ dual), {}
    if device != "cpu":
        X, Y = as_tensor(X, device), as_tensor(Y, device)
    model = fit_kernel_ridge_by_tiles(kernel, X, Y, penalty, center="none", **limits)
    certificate = {"residual": float(model.residual.max()), "steps": model.n_iter}
    return lambda rows: on_host(predict_by_tiles(kernel, X, model, like(rows, X))), certificate
