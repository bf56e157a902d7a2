"""Linear SVMs on a stream of features: LIBLINEAR while the data are small, a primal Newton method above.

What loss and intercept ask for decides the solver:

| loss | intercept | solver |
|---|---|---|
| squared hinge | none | LIBLINEAR's trust region solver (its number 2) below ``LIBLINEAR_ENTRIES``; ``newton`` above |
| squared hinge | unpenalised | ``newton`` (LIBLINEAR can only penalise an intercept) |
| hinge | none | LIBLINEAR's dual coordinate descent |
| hinge | unpenalised | libsvm on ZZ', up to ``HINGE_ROWS`` rows |

With fewer rows than columns, Newton's method works in the space of the rows. The last row of the table is the one
correct route in scikit-learn: LIBLINEAR treats an intercept as a weight and penalises it, b^2 / (2
intercept_scaling^2), and its coordinate descent becomes slow as the scaling grows; libsvm's dual has the equality
constraint that belongs to a free intercept.
"""

from __future__ import annotations

import warnings
from typing import Literal, TypedDict

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from random_features.errors import check_choice
from random_features.learners import streams
from random_features.learners.entry import Learner, required
from random_features.learners.gram import cross_validate_svm_on_gram, svm_on_gram
from random_features.learners.linear_model import LinearModel
from random_features.learners.newton import SquaredHinge, held_out_accuracies, minimise
from random_features.learners.penalties import check_grid
from random_features.learners.scoring import check_folds, score_sum, warn_unconverged
from random_features.learners.targets import sign_columns

#: Entries n_rows x n_columns x columns of targets from which solver="auto" leaves LIBLINEAR: it holds 24 bytes an entry
#: of the features (its own copy and ours) and works through them once per column.
LIBLINEAR_ENTRIES = 1e8
#: Rows up to which libsvm is given ZZ' (3.2 GB).
HINGE_ROWS = 20_000
LIBLINEAR_TOLERANCE = 1e-4
LIBLINEAR_MAX_ITERATIONS = 20_000
#: LIBLINEAR squares its gradients, which are as large as C times the features, and steps along them: where such a
#: number underflows or overflows, its trust region solver goes on for ever. It is not called with numbers beyond these.
LIBLINEAR_RANGE = (1e-100, 1e100)


class Options(TypedDict, total=False):
    """`scaling` of C: `sum` (as it is, the default) or `per_column` (times the number of columns). `solver`:
    `liblinear`, `newton` (the same objective), or `auto` (the default), which is LIBLINEAR below 1e8 entries of the
    features. `max_entries`: rows x columns above which the learner is skipped; null for no limit.
    """

    loss: Literal["squared_hinge", "hinge"]
    intercept: Literal["none", "unpenalised"]
    scaling: Literal["sum", "per_column"]
    solver: Literal["auto", "liblinear", "newton"]
    max_entries: float | None


def fit_svm(
    blocks,
    Y,
    C: float,
    *,
    n_columns: int,
    loss="squared_hinge",
    intercept="none",
    solver="auto",
    memory_budget: int = streams.MEMORY_BUDGET,
) -> LinearModel:
    """A linear SVM for every column: minimise |w|^2 / 2 + C sum loss(y (w.z + b)).

    Parameters
    ----------
    blocks : callable, the stream of features (see ``random_features.learners``)
    Y : ndarray (n,) or (n, c) of -1 and +1, as ``encode_labels`` gives it
    C : positive number
    n_columns : D, the columns of the features
    loss : "squared_hinge", max(0, 1 - m)^2 (the survey's LIBLINEAR solver 2), or "hinge", max(0, 1 - m)
    intercept : "none" (b = 0, the survey's) or "unpenalised"
    solver : "auto" (the table above), "liblinear" or "newton"
    memory_budget : bytes within which "newton" keeps the features rather than read the stream in every pass

    Returns a ``LinearModel`` that names its solver; ``converged`` is False where the solver gave up early.
    Raises ``numpy.linalg.LinAlgError`` where LIBLINEAR would not end (``check_liblinear``), ``ValueError`` for NaN or
    infinity, a column with one class, and a combination without a solver.
    """
    Y, grid = sign_columns(Y), check_grid(C, "C")
    n_rows = len(Y)
    solver = choose_solver(n_rows, n_columns, Y.shape[1], loss, intercept, solver)
    if solver == "libsvm":
        features = streams.kept(blocks, n_rows, n_columns)
        dual = svm_on_gram(features.row_gram, Y, grid[0])
        coef = streams.transposed_product(features.Z, dual.dual_coef)
        return LinearModel(coef, dual.intercept, solver, dual.converged, dual.n_iter)
    if solver == "newton":
        blocks, n_used, back = streams.in_row_space(blocks, n_rows, n_columns, memory_budget)
        (solution,) = _newton(blocks, Y, np.ones(Y.shape), grid, n_used, intercept)
        coef, converged = back(solution.coef[:, :, 0]), bool(solution.converged.all())
        return LinearModel(coef, solution.intercept[:, 0], solver, converged, solution.n_iter)
    Z = streams.assemble(blocks, n_rows, n_columns, np.float64)
    streams.refuse_non_finite(Z)
    return _liblinear(Z, Y, grid[0], loss)


def cross_validate_svm(
    blocks,
    Y,
    grid,
    folds,
    *,
    n_columns: int,
    loss="squared_hinge",
    intercept="none",
    solver="auto",
    memory_budget: int = streams.MEMORY_BUDGET,
) -> np.ndarray:
    """Held-out accuracies of the linear SVM in percent, shape (len(grid), n_folds); ``grid`` holds values of C.

    Parameters and errors are those of ``fit_svm``; ``folds`` as in ``cross_validate_ridge``, with both signs of every
    column among the training rows. "newton" trains all folds in the same passes over the features and goes through
    the grid from the smallest C, each from the solution of the one before. A ``ConvergenceWarning`` says how many of
    the fits did not converge.
    """
    Y, grid = sign_columns(Y), check_grid(grid, "grid")
    n_rows = len(Y)
    folds, n_folds = check_folds(folds, Y, "accuracy", every_column=True)
    solver = choose_solver(n_rows, n_columns, Y.shape[1], loss, intercept, solver)
    if solver == "libsvm":
        K = streams.kept(blocks, n_rows, n_columns).row_gram
        scores, unconverged = cross_validate_svm_on_gram(K, Y, grid, folds)
    elif solver == "newton":
        blocks, n_used, _ = streams.in_row_space(blocks, n_rows, n_columns, memory_budget)
        # a group for every fold and class
        used = np.repeat(folds[:, None] != np.arange(n_folds), Y.shape[1], axis=1)
        order = np.argsort(grid)
        solutions = _newton(blocks, np.tile(Y, (1, n_folds)), used, grid[order], n_used, intercept)
        scores, unconverged = held_out_accuracies(solutions, order, Y, folds)
    else:
        Z = streams.assemble(blocks, n_rows, n_columns, np.float64)
        streams.refuse_non_finite(Z)
        scores, unconverged = np.empty((len(grid), n_folds)), 0
        for fold in range(n_folds):
            training, held_out = folds != fold, folds == fold
            Z_training = Z[training]
            for i, C in enumerate(grid):
                try:
                    model = _liblinear(Z_training, Y[training], C, loss)
                except np.linalg.LinAlgError:
                    scores[i, fold] = np.nan  # as where a system is singular: this value is not chosen
                    continue
                unconverged += not model.converged
                decision = model.decision(Z[held_out])[:, None, :]
                scores[i, fold] = score_sum(Y[held_out], decision, "accuracy")[0] / held_out.sum()
    warn_unconverged(unconverged, scores.size, "SVM")
    return scores


def choose_solver(n_rows: int, n_columns: int, n_targets: int, loss: str, intercept: str, solver: str) -> str:
    """Return the solver, "liblinear", "newton" or "libsvm", for a problem; ``ValueError`` where there is none."""
    check_choice("loss", loss, ("squared_hinge", "hinge"))
    check_choice("intercept", intercept, ("none", "unpenalised"))
    check_choice("solver", solver, ("auto", "liblinear", "newton"))
    if loss == "hinge" and solver == "newton":
        raise ValueError("solver='newton' minimises the squared hinge loss only")
    if intercept == "unpenalised" and solver == "liblinear":
        raise ValueError("LIBLINEAR penalises its intercept; use solver='auto' for an unpenalised one")
    if loss == "hinge" and intercept == "unpenalised":
        if n_rows > HINGE_ROWS:
            raise ValueError(
                f"the hinge loss with an unpenalised intercept is solved on at most {HINGE_ROWS} rows, got {n_rows}; "
                "use loss='squared_hinge'"
            )
        return "libsvm"
    if solver != "auto":
        return solver
    if loss == "hinge":
        if n_rows * n_columns * n_targets >= LIBLINEAR_ENTRIES:
            raise ValueError(
                f"the hinge loss on {n_rows} x {n_columns} features would take LIBLINEAR "
                f"{24e-9 * n_rows * n_columns:.1f} GB; use loss='squared_hinge', or insist with solver='liblinear'"
            )
        return "liblinear"
    if intercept == "unpenalised" or n_rows * n_columns * n_targets >= LIBLINEAR_ENTRIES:
        return "newton"
    return "liblinear"


def _newton(blocks, targets, used, grid, n_columns, intercept):
    """Solutions for every C of an ascending grid, of targets (n, m) on the rows that each column uses, bool (n, m)."""
    penalties = np.repeat(1.0 / np.asarray(grid)[:, None], targets.shape[1], axis=1)
    has_intercept = intercept == "unpenalised"
    return minimise(
        blocks, SquaredHinge(targets[:, :, None]), used, penalties, n_columns=n_columns, has_intercept=has_intercept
    )


def check_liblinear(Z, C: float) -> None:
    """Raise ``numpy.linalg.LinAlgError`` where LIBLINEAR would not come to an end with features Z (n, D)."""
    largest = np.abs(Z).max(initial=0.0)
    with np.errstate(over="ignore", under="ignore"):
        numbers = [C, *([C * largest, C * largest**2 * len(Z)] if largest else [])]
    low, high = LIBLINEAR_RANGE
    if min(numbers) < low or max(numbers) > high:
        raise np.linalg.LinAlgError(f"LIBLINEAR does not end at C = {C:g} with features as large as {largest:.3g}")


def _liblinear(Z, Y, C, loss):
    check_liblinear(Z, C)
    coef, converged, n_iter = [], True, 0
    for y in Y.T:
        model = LinearSVC(
            C=C,
            loss=loss,
            dual=loss == "hinge",
            fit_intercept=False,
            tol=LIBLINEAR_TOLERANCE,
            max_iter=LIBLINEAR_MAX_ITERATIONS,
            random_state=0,
        )
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(Z, y)
        for warning in caught:
            if issubclass(warning.category, ConvergenceWarning):
                converged = False  # reported in the result instead
            else:
                warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
        coef.append(model.coef_[0])
        n_iter = max(n_iter, int(np.max(model.n_iter_)))
    return LinearModel(np.column_stack(coef), np.zeros(Y.shape[1]), "liblinear", converged, n_iter)


def scaled_cost(C, n_columns: int, scaling: str):
    """What the losses are multiplied by: C for the scaling "sum", C n_columns for "per_column".

    Features that are sqrt(n_columns) times longer have the same machines with C as these have with C n_columns.
    """
    factors = {"sum": 1, "per_column": n_columns}
    check_choice("scaling", scaling, factors)
    return np.asarray(C) * factors[scaling]


def _fit(blocks, Y, value, *, n_columns, options):
    C = scaled_cost(value, n_columns, options.get("scaling", "sum"))
    return fit_svm(blocks, Y, C, n_columns=n_columns, **_objective(options))


def _cross_validate(blocks, Y, folds, *, n_columns, score, options):
    if score != "accuracy":
        raise ValueError(f"support vector machines are scored by their accuracy, not by {score!r}")
    grid = scaled_cost(required(options, "C")["C"], n_columns, options.get("scaling", "sum"))
    return cross_validate_svm(blocks, Y, grid, folds, n_columns=n_columns, **_objective(options))


def _objective(options):
    """What is minimised, which the options must say, and the solver, which they may leave open."""
    return required(options, "loss", "intercept") | {"solver": options.get("solver", "auto")}


def _limit(options, n_rows, n_columns):
    most = options.get("max_entries")
    if most is None or n_rows * n_columns <= most:
        return ""
    return f"{n_rows} rows x {n_columns} columns are over the max_entries that the preset allows"


LEARNER = Learner(
    grid="C",
    chosen="C",
    targets=("binary", "classes"),
    fit=_fit,
    cross_validate=_cross_validate,
    limit=_limit,
    bytes_per_entry=40,
)
