"""Ridge regression and SVM on a Gram matrix: of a kernel, or of features where the dual is the smaller problem.

All functions take the matrix K of the training rows, (n, n) with both triangles, and return dual coefficients: the
decision values of new rows are K(new, training) @ dual + intercept.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.linalg import lapack
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from random_features.learners.linear_model import KernelModel
from random_features.learners.newton import GAP_TOLERANCE, MAX_ITERATIONS, exact_step
from random_features.learners.scoring import score_sum
from random_features.learners.shifted import solve_shifted

#: libsvm's stopping tolerance, and the megabytes it may use for rows of the matrix.
LIBSVM_TOLERANCE = 1e-4
LIBSVM_CACHE_MB = 500


def check_center(center: str) -> None:
    """``ValueError`` for a centring that is none."""
    if center not in ("targets", "both", "none"):
        raise ValueError(f"center must be 'targets', 'both' or 'none', got {center!r}")


def ridge_on_gram(K, Y, shifts, center, singular="raise") -> tuple[np.ndarray, np.ndarray]:
    """Solutions of (K + shift I) dual = Y for every shift: dual (g, n, c) and intercept (g, c).

    ``center`` as ``fit_ridge``, ``singular`` as ``solve_shifted``; with "both" K is centred on both sides, that is in
    its feature space. The dual coefficients then add up to zero, so that they apply to the uncentred K of new rows.
    """
    target_mean = np.zeros(Y.shape[1]) if center == "none" else Y.mean(axis=0)
    system = K.copy()
    row_mean = K.mean(axis=0)
    if center == "both":
        system -= row_mean
        system -= row_mean[:, None] - row_mean.mean()
    dual = solve_shifted(system, Y - target_mean, shifts, singular)
    intercept = np.tile(target_mean, (len(shifts), 1))
    if center == "both":
        intercept -= row_mean @ dual
    return dual, intercept


def svm_on_gram(K, Y, C, loss, intercept) -> KernelModel:
    """An SVM for every column of +-1.

    The hinge loss is libsvm's (``sklearn.svm.SVC``), whose intercept is unpenalised; the squared hinge takes
    Newton steps on the active rows (Chapelle 2007, "Training a support vector machine in the primal").
    """
    check_kernel_svm(loss, intercept)
    fits = []
    for y in Y.T:
        if loss == "hinge":
            fits.append(_libsvm(K, y, C))
        else:
            fits.append(_newton_on_active_rows(K, y, C, intercept == "unpenalised"))
    dual, bias, converged, n_iter = zip(*fits, strict=True)
    solver = "libsvm" if loss == "hinge" else "newton"
    return KernelModel(np.column_stack(dual), np.array(bias), solver, all(converged), max(n_iter))


def cross_validate_svm_on_gram(K, Y, grid, folds, loss, intercept) -> tuple[np.ndarray, int]:
    """Held-out accuracies (g, n_folds) for every C of the grid, and how many of the fits did not converge."""
    unconverged = 0

    def fit(K, Y, fold):
        nonlocal unconverged
        models = [svm_on_gram(K, Y, C, loss, intercept) for C in grid]
        unconverged += sum(not model.converged for model in models)
        return np.stack([model.dual_coef for model in models]), np.stack([model.intercept for model in models])

    scores = scores_on_gram(K, Y, folds, "accuracy", fit)
    return scores, unconverged


def check_kernel_svm(loss: str, intercept: str) -> None:
    """``ValueError`` for options that do not exist, and for the hinge loss without intercept on a kernel matrix."""
    if loss not in ("squared_hinge", "hinge") or intercept not in ("none", "unpenalised"):
        raise ValueError(
            "loss must be 'squared_hinge' or 'hinge' and intercept 'none' or 'unpenalised', "
            f"got {loss!r} and {intercept!r}"
        )
    if loss == "hinge" and intercept == "none":
        raise ValueError("the hinge loss on a kernel matrix has an unpenalised intercept only (libsvm)")


def scores_on_gram(K, Y, folds, score, fit) -> np.ndarray:
    """Held-out scores (g, n_folds); ``fit(K, Y, fold)`` gives dual (g, n, c) and intercept (g, c) on training rows."""
    totals = []
    for fold in range(folds.max() + 1):
        training, held_out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        dual, intercept = fit(K[np.ix_(training, training)], Y[training], fold)
        decision = np.einsum("mn,gnc->mgc", K[np.ix_(held_out, training)], dual, optimize=True) + intercept
        totals.append(score_sum(Y[held_out], decision, score) / len(held_out))
    return np.column_stack(totals)


def _libsvm(K, y, C):
    model = SVC(kernel="precomputed", C=C, tol=LIBSVM_TOLERANCE, cache_size=LIBSVM_CACHE_MB)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # reported in the result instead
        model.fit(K, y)
    dual = np.zeros(len(y))
    dual[model.support_] = model.dual_coef_[0]
    return dual, model.intercept_[0], model.fit_status_ == 0, int(model.n_iter_[0])


def _newton_on_active_rows(K, y, C, has_intercept):
    """Minimise a'Ka / 2 + C sum max(0, 1 - y f)^2, f = Ka + b, over a (and b).

    At the optimum a = 2 C y max(0, 1 - y f). A Newton step solves that with the active rows (y f < 1) held fixed,
    (K + I / (2C)) a + b = y on them and a = 0 elsewhere; an exact line search makes it converge from any start.
    The residual r = a - 2 C y max(0, 1 - y f) bounds the duality gap by r'Kr / 2.
    """
    n = len(y)
    dual, bias, decision = np.zeros(n), 0.0, np.zeros(n)
    ones = np.ones(n)
    iteration = 0
    while True:
        if has_intercept:
            shift = exact_step(y, decision, ones, C, 0.0, 0.0)
            bias, decision = bias + shift, decision + shift
        slack = np.maximum(0.0, 1.0 - y * decision)
        residual = dual - 2 * C * y * slack
        objective = 0.5 * dual @ (decision - bias) + C * slack @ slack
        converged = 0.5 * residual @ (K @ residual) <= GAP_TOLERANCE * objective
        if converged or iteration == MAX_ITERATIONS:
            return dual, bias, bool(converged), iteration
        active = np.flatnonzero(slack)
        step, step_bias = -dual, 0.0
        if len(active):
            system = np.asfortranarray(K[np.ix_(active, active)], dtype=np.float64)
            np.einsum("ii->i", system)[:] += 1 / (2 * C)
            factor = lapack.dpotrf(system, lower=1, clean=0, overwrite_a=1)[0]
            solved = lapack.dpotrs(factor, np.column_stack([y[active], ones[active]]), lower=1)[0]
            if has_intercept:
                new_bias = solved[:, 0].sum() / solved[:, 1].sum()
                step_bias = new_bias - bias
                step[active] += solved[:, 0] - new_bias * solved[:, 1]
            else:
                step[active] += solved[:, 0]
        change = K @ step
        length = exact_step(y, decision, change + step_bias, C, dual @ change, step @ change)
        dual, bias = dual + length * step, bias + length * step_bias
        decision = decision + length * (change + step_bias)
        iteration += 1
