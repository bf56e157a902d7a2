"""Ridge regression and SVM on a Gram matrix: of a kernel, or of features where the dual is the smaller problem.

All functions take the matrix K of the training rows, (n, n) with both triangles, and return dual coefficients: the
decision values of new rows are K(new, training) @ dual + intercept. ``fit_kernel_ridge`` and ``fit_kernel_svm`` check
the exact kernel matrix, with which every random feature map is compared. Ridge regression on tensors stays on their
device; libsvm gets copies on the host.
"""

import warnings
from dataclasses import replace

import numpy as np
import torch
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from random_features.arrays import check_numbers
from random_features.errors import check_choice
from random_features.learners.linear_model import LinearModel
from random_features.learners.penalties import check_grid
from random_features.learners.scoring import held_out_mean
from random_features.learners.shifted import refuse_singular, solve_shifted
from random_features.learners.targets import as_columns, as_weights, average, sign_columns
from random_features.tensors import cast, like, namespace, on_host, zeros

#: libsvm's stopping tolerance, and the megabytes that it may use for rows of the matrix.
LIBSVM_TOLERANCE = 1e-4
LIBSVM_CACHE_MB = 500
#: The steps after which libsvm stops by itself, a limit that scikit-learn lifts: where features are so large that the
#: gradient is rounded by more than the tolerance, it might never end (80 rows had not ended after three minutes).
LIBSVM_MAX_ITERATIONS = 10_000_000

#: The options of centring: the targets, the features too, or nothing.
CENTERS = ("targets", "both", "none")

#: The largest number of rows of an exact kernel matrix: 1.8 GB per matrix, three at a time.
MAX_ROWS = 15_000

#: How far from symmetric a kernel matrix may be, relative to its largest entry: the rounding of sums of ``MAX_ROWS``
#: numbers in float32.
SYMMETRY = MAX_ROWS * 2.0**-23


def fit_kernel_ridge(K, Y, penalty: float, *, center="targets", weights=None) -> LinearModel:
    """Fit kernel ridge regression, (K + n penalty I) dual = y: the dual of ``fit_ridge`` with the scaling "mean".

    Parameters
    ----------
    K : ndarray or tensor (n, n), the symmetric kernel matrix of the training rows, n <= 15,000
    Y, penalty, center, weights : as ``fit_ridge``; "both" centres in the feature space of the kernel

    Notes
    -----
    Errors as ``fit_ridge``, and ``ValueError`` above 15,000 rows.
    """
    Y, penalties = as_columns(Y), check_grid(penalty, "penalty", zero_allowed=True)
    K, weights = _check_kernel_matrix(K, Y), as_weights(weights, len(Y))
    shifts = (len(Y) if weights is None else weights.sum()) * penalties
    dual, intercept = ridge_on_gram(K, Y, shifts, center, weights)
    refuse_singular(dual, shifts)
    return LinearModel(dual[0], intercept[0], "dual")


def fit_kernel_svm(K, Y, C: float, *, weights=None) -> LinearModel:
    """Fit a kernel SVM for every column of +-1: minimise ``|f|^2 / 2 + C sum max(0, 1 - y (f + b))`` over functions f.

    The norm of f is the norm in the space of the kernel. libsvm solves the problem; its intercept b is unpenalised.

    Parameters
    ----------
    K : ndarray or tensor (n, n), the symmetric kernel matrix of the training rows, n <= 15,000
    Y : as K, (n,) or (n, c) of -1 and +1: a column for each class, or one for two classes
    C : positive number
    weights : ndarray (n,) of numbers >= 0, the factors of the rows' losses, or None

    Notes
    -----
    The model is not ``converged`` where libsvm's limit of 10^7 steps was reached. Raises ``ValueError`` for a column
    with one class, NaN or infinity, and above 15,000 rows.
    """
    Y, grid = sign_columns(Y), check_grid(C, "C")
    model = svm_on_gram(on_host(_check_kernel_matrix(K, Y)), on_host(Y), grid[0], as_weights(weights, len(Y)))
    return replace(model, coef=like(model.coef, Y), intercept=like(model.intercept, Y))


def ridge_on_gram(K, Y, shifts, center, weights=None) -> tuple:
    """Return the solutions of (K + shift I) dual = Y for every shift: dual (g, n, c) and intercept (g, c).

    With weights W of the rows (n,) the system is (K + shift W^-1) dual = Y; a row of weight 0 has the coefficient 0.

    They are NaN as in ``solve_shifted``. ``center`` is as in ``fit_ridge``. With "both", K is centred on both sides,
    that is, in its feature space. The dual coefficients then add up to zero, so that they apply to the uncentred K of
    new rows.
    """
    check_choice("center", center, CENTERS)
    weights = like(weights, Y)
    target_mean = zeros(Y.shape[1], Y) if center == "none" else average(Y, weights)
    system, row_mean = K, average(K, weights)
    if center == "both":
        system = K - row_mean
        system -= row_mean[:, None] - average(row_mean, weights)
    if weights is None:
        dual = solve_shifted(system, Y - target_mean, shifts)
    else:
        roots = weights[:, None] ** 0.5
        dual = roots * solve_shifted(roots * system * roots.T, roots * (Y - target_mean), shifts)
    intercept = zeros((len(shifts), Y.shape[1]), Y) + target_mean
    if center == "both":
        # rounding leaves a small sum, which an uncentred K would multiply by its large mean
        share = namespace(Y).ones_like(Y[:, :1]) / len(Y) if weights is None else weights[:, None] / weights.sum()
        dual -= share * dual.sum(axis=1)[:, None]
        intercept -= row_mean @ dual
    return dual, intercept


def ridge_scores_on_gram(K, Y, shifts, folds, training, score, center, weights=None) -> np.ndarray:
    """Return the held-out scores (g, n_folds) of ``ridge_on_gram`` at the shifts (g,) of each fold."""

    def fit(K, Y, fold):
        of_rows = None if weights is None else weights[training[:, fold]]
        return ridge_on_gram(K, Y, shifts[fold], center, of_rows)

    return scores_on_gram(K, Y, folds, training, score, fit, weights)


def svm_on_gram(K, Y, C, weights=None) -> LinearModel:
    """Fit an SVM with the hinge loss and an unpenalised intercept (libsvm's) for every column of +-1."""
    dual, intercept, n_iter = np.zeros(Y.shape), np.empty(Y.shape[1]), 0
    stops = {"tol": LIBSVM_TOLERANCE, "max_iter": LIBSVM_MAX_ITERATIONS}
    model = SVC(kernel="precomputed", C=C, cache_size=LIBSVM_CACHE_MB, **stops)
    used = np.arange(len(Y))
    if weights is not None:  # libsvm leaves rows of weight 0 out, and numbers the others anew
        used = np.flatnonzero(weights)
        K, weights = K[np.ix_(used, used)], weights[used]
    for j, y in enumerate(Y.T):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # reported in the result instead
            model.fit(K, y[used], sample_weight=weights)
        dual[used[model.support_], j], intercept[j] = model.dual_coef_[0], model.intercept_[0]
        n_iter = max(n_iter, int(model.n_iter_[0]))
    return LinearModel(dual, intercept, "libsvm", n_iter < LIBSVM_MAX_ITERATIONS, n_iter)


def scores_on_gram(K, Y, folds, training, score, fit, weights=None) -> np.ndarray:
    """Return held-out scores (g, n_folds); ``folds`` and ``training`` are as in ``check_folds``.

    ``fit(K, Y, fold)`` returns the dual coefficients (g, n, c) and the intercepts (g, c) on the training rows.
    """
    totals, fitted = [], None
    for fold in range(training.shape[1]):
        rows, held_out = np.flatnonzero(training[:, fold]), np.flatnonzero(folds == fold)
        if fitted is None or not np.array_equal(training[:, fold], training[:, fold - 1]):
            fitted = fit(K[np.ix_(rows, rows)], Y[rows], fold)
        dual, intercept = fitted
        xp, of_held_out = namespace(K), K[np.ix_(held_out, rows)]
        decision = xp.moveaxis(xp.tensordot(dual, of_held_out, ([1], [1])), 2, 0) + intercept
        totals.append(on_host(held_out_mean(Y, decision, score, weights, held_out)))
    return np.column_stack(totals)


def _check_kernel_matrix(K, Y):
    K = check_numbers(K, "the kernel matrix")
    n_rows, K = len(Y), K if isinstance(K, torch.Tensor) else np.asarray(K)
    if K.device != Y.device:
        raise ValueError(f"the kernel matrix is on {K.device}, the targets on {Y.device}: make both tensors or arrays")
    if K.shape != (n_rows, n_rows):
        raise ValueError(f"the kernel matrix must have shape ({n_rows}, {n_rows}), got {K.shape}")
    if n_rows > MAX_ROWS:
        raise ValueError(f"{n_rows} rows are more than the {MAX_ROWS} of the exact learners; use random features")
    if getattr(K.dtype, "kind", "f") not in "biuf" or not namespace(K).isfinite(K).all():
        raise ValueError("the kernel matrix holds NaN, infinity or what is no real number")
    K = cast(K, "float64")
    if abs(K - K.T).max() > SYMMETRY * abs(K).max():  # for such a matrix libsvm would never end
        raise ValueError("the kernel matrix must be symmetric")
    return K
