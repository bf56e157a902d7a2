"""Linear SVMs with the squared hinge loss on a stream: by Newton's method, or by LIBLINEAR on very small data.

LIBLINEAR's trust region solver (its number 2) holds the features three times and works through them once for each
column of the targets. Newton's method reads them as a stream and, with fewer rows than columns, works in the space of
the rows. Both minimise the same objective, without an intercept. Tensors are for Newton's method, on their device.
"""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from random_features.errors import check_choice
from random_features.learners import newton, streams
from random_features.learners.entry import with_options
from random_features.learners.linear_model import LinearModel
from random_features.learners.penalties import check_grid, scaled_grid
from random_features.learners.scoring import check_folds, held_out_mean, warn_unconverged
from random_features.learners.targets import as_weights, sign_columns
from random_features.tensors import cast

#: Entries n_rows x n_columns x columns of targets from which solver="auto" no longer chooses LIBLINEAR. Measured in
#: November 2026 in processor time on one thread, 50 and 100 normal columns of one length scale, C = 1 and 100: single
#: fits take equally long, about 4 ms, near 1e5 entries. At 3e4 LIBLINEAR wins a millisecond; at 2.4e5 Newton's method
#: takes two thirds of its time, at 1e6 a tenth. On columns that are longer the border is near 2.4e5. A search of five
#: values of C by five folds is faster by Newton's method at all sizes, 15 to 40 times at 1e6. The experiment `speed`
#: fails if the border is off by more than two.
LIBLINEAR_ENTRIES = 1e5
LIBLINEAR_TOLERANCE = 1e-4
LIBLINEAR_MAX_ITERATIONS = 20_000
#: LIBLINEAR squares its gradients, which are as large as C times the features, and steps along them: if such a number
#: underflows or overflows, its trust region solver never ends. It is not called with numbers beyond these.
LIBLINEAR_RANGE = (1e-100, 1e100)


def fit_svm(
    blocks, Y, C: float, *, n_columns: int, scaling="sum", solver="auto", tolerance=None, weights=None
) -> LinearModel:
    """Fit a linear SVM for every column: minimise ``|w|^2 / 2 + C sum max(0, 1 - y w.z)^2``.

    Parameters
    ----------
    blocks : callable, the stream of features (see ``random_features.learners``)
    Y : ndarray or tensor (n,) or (n, c) of -1 and +1: a column for each class, or one for two classes. Features that
        are tensors need a tensor on their device, where the solution is then
    C : positive number
    n_columns : D, the columns of the features
    scaling : "sum", the objective above, or "per_column", the same with C D: features that are sqrt(D) times longer
        have the same machines with C as these have with C D
    solver : "liblinear", "newton" or "auto", as ``choose_solver``
    tolerance : both solvers stop where the gradient of a column is at most ``tolerance`` times min(rows of +1, rows of
        -1) / n of the one at w = 0; LIBLINEAR's own is 0.01. None: LIBLINEAR stops at 1e-4, Newton's method where the
        objective would fall by less than 1e-7 of itself
    weights : ndarray (n,) of numbers >= 0, the factors of the rows' losses, or None

    Notes
    -----
    Returns a ``LinearModel`` that names its solver; ``converged`` is False if the solver stopped early. Raises
    ``numpy.linalg.LinAlgError`` where LIBLINEAR would not end (``check_liblinear``), ``ValueError`` for NaN or
    infinity, and for a column with one class.
    """
    Y, (grid, weights) = sign_columns(Y), _costs(C, "C", scaling, n_columns, as_weights(weights, len(Y)))
    if choose_solver(len(Y) * Y.shape[1] * n_columns, solver, not isinstance(Y, np.ndarray)) == "newton":
        used = (np.ones(len(Y)) if weights is None else weights)[:, None]
        problem, how = (newton.squared_hinge, Y[:, :, None], used, 1.0 / grid[:, None]), {"tolerance": tolerance}
        return newton.fit(blocks, *problem, n_columns=n_columns, **how)
    return _liblinear(_in_memory(blocks, len(Y), n_columns), Y, grid[0], tolerance, weights)


def cross_validate_svm(
    blocks, Y, grid, folds, *, n_columns, scaling="sum", solver="auto", tolerance=None, score="accuracy", weights=None
) -> np.ndarray:
    """Return held-out scores of the linear SVM, shape (len(grid), n_folds); ``grid`` holds values of C.

    ``score`` is "accuracy", in percent, or "mse", the squared distance of the decision values from the targets.

    Parameters and errors are as in ``fit_svm``; ``folds`` is as in ``cross_validate_ridge``, with both signs of
    every column among the training rows. "newton" trains all folds in the same passes over the features and goes
    through the grid from the smallest C, each from the solution of the one before. A ``ConvergenceWarning`` says how
    many of the fits did not converge.
    """
    Y, (grid, weights) = sign_columns(Y), _costs(grid, "grid", scaling, n_columns, as_weights(weights, len(Y)))
    folds, training = check_folds(folds, Y, "accuracy", every_column=True, weights=weights)
    if choose_solver(len(Y) * Y.shape[1] * n_columns, solver, not isinstance(Y, np.ndarray)) == "newton":
        used = training if weights is None else training * weights[:, None]
        problem = newton.squared_hinge, Y[:, :, None], used, np.tile(1.0 / grid[:, None], used.shape[1])
        how = {"n_columns": n_columns, "tolerance": tolerance}
        scores, unconverged = newton.cross_validate(blocks, *problem, Y, folds, score, weights, **how)
    else:
        Z = _in_memory(blocks, len(Y), n_columns)
        scores, unconverged = np.empty((len(grid), training.shape[1])), 0
        for fold, rows in enumerate(training.T):
            Z_training, held_out = Z[rows], folds == fold
            of_rows = None if weights is None else weights[rows]
            for i, C in enumerate(grid):
                try:
                    model = _liblinear(Z_training, Y[rows], C, tolerance, of_rows)
                except np.linalg.LinAlgError:
                    scores[i, fold] = np.nan  # as where a system is singular: this value is not chosen
                    continue
                unconverged += not model.converged
                decision = model.decision(Z[held_out])[:, None, :]
                scores[i, fold] = held_out_mean(Y, decision, score, weights, held_out)[0]
    warn_unconverged(unconverged, scores.size, "SVM")
    return scores


def choose_solver(n_entries: int, solver: str, of_tensors: bool = False) -> str:
    """Return "liblinear" or "newton"; "auto" chooses the latter of tensors, and from ``LIBLINEAR_ENTRIES`` entries on.

    ``ValueError`` for "liblinear" of tensors.
    """
    check_choice("solver", solver, ("auto", "liblinear", "newton"))
    if solver == "liblinear" and of_tensors:
        raise ValueError("solver='liblinear' takes no tensors, on CUDA or elsewhere: use 'newton', or arrays")
    faster = "newton" if of_tensors or n_entries >= LIBLINEAR_ENTRIES else "liblinear"
    return faster if solver == "auto" else solver


def _in_memory(blocks, n_rows, n_columns):
    """Return all features in float64; they have to be finite."""
    Z = cast(streams.kept(blocks, n_rows, n_columns).Z, "float64")
    streams.refuse_non_finite(Z)
    return Z


def check_liblinear(Z, C: float) -> None:
    """Raise ``numpy.linalg.LinAlgError`` if LIBLINEAR would never end with features Z (n, D)."""
    largest = np.abs(Z).max(initial=0.0)
    with np.errstate(over="ignore", under="ignore"):
        numbers = [C, *([C * largest, C * largest**2 * len(Z)] if largest else [])]
    low, high = LIBLINEAR_RANGE
    if min(numbers) < low or max(numbers) > high:
        raise np.linalg.LinAlgError(f"LIBLINEAR does not end at C = {C:g} with features as large as {largest:.3g}")


def _liblinear(Z, Y, C, tolerance=None, weights=None):
    check_liblinear(Z, C)
    sign_columns(Y if weights is None else Y[weights > 0])  # LIBLINEAR would take the only sign for +1
    stops = {"tol": LIBLINEAR_TOLERANCE if tolerance is None else tolerance, "max_iter": LIBLINEAR_MAX_ITERATIONS}
    model = LinearSVC(C=C, dual=False, fit_intercept=False, random_state=0, **stops)
    coef, n_iter = [], 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # reported in the result instead
        for y in Y.T:
            coef.append(model.fit(Z, y, sample_weight=weights).coef_[0])
            n_iter = max(n_iter, int(np.max(model.n_iter_)))
    converged = n_iter < LIBLINEAR_MAX_ITERATIONS
    return LinearModel(np.column_stack(coef), np.zeros(Y.shape[1]), "liblinear", converged, n_iter)


def _costs(C, name, scaling, n_columns, weights):
    """Return the factors of the losses (g,), and the weights of the rows (n,), at most 1, or None.

    Gradients of smaller or larger weights would leave the range of float32 features. The inverse of a factor is finite.
    """
    largest = 1.0 if weights is None else weights.max()
    factors = {"sum": largest, "per_column": largest * n_columns}
    costs = np.maximum(scaled_grid(check_grid(C, name), name, scaling, factors), np.finfo(np.float64).tiny)
    return costs, None if weights is None else weights / largest


def _limit(options, n_rows, n_columns):
    most = options.get("max_entries")
    if most is None or n_rows * n_columns <= most:
        return ""
    return f"{n_rows} rows x {n_columns} columns are over the max_entries that the preset allows"


LEARNER = with_options("svm", fit_svm, cross_validate_svm, optional=("scaling", "solver", "tolerance"), limit=_limit)
