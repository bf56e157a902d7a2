"""Logistic regression on a stream of features, with an L2 penalty: binary, multinomial, or one class against the rest.

Newton's method reads the features block by block, from memory if they fit into a stated budget. In addition it holds
arrays of the size of the targets (once for every fold) and of Z'Z. With fewer rows than columns the features are
rotated into the space of their rows first, where the same problem has n columns.
"""

import numpy as np

from random_features.arrays import check_numbers
from random_features.errors import check_choice
from random_features.learners import newton
from random_features.learners.design import Design
from random_features.learners.entry import with_options
from random_features.learners.linear_model import LinearModel
from random_features.learners.penalties import check_grid, effective_penalties
from random_features.learners.scoring import check_folds, warn_unconverged
from random_features.learners.targets import as_weights, sign_columns
from random_features.tensors import cast

#: Duality gap over the objective at which a regression on a stream of any length is solved.
GAP_TOLERANCE = 1e-4


def fit_logistic(
    blocks, Y, penalty: float, *, n_columns: int, scaling="mean", intercept="none", classes="multinomial", weights=None,
) -> LinearModel:  # fmt: skip
    """Fit logistic regression: minimise ``penalty |W|^2 / 2`` + mean over the rows of ``-log P(y | z)``.

    P(y = +1 | z) = 1 / (1 + exp(-w.z - b)) for one column of targets, and for several
    P(y = k | z) = exp(w_k.z + b_k) / sum_j exp(w_j.z + b_j), or each column by itself as the one.

    Parameters
    ----------
    blocks : callable, the stream of features (see ``random_features.learners``)
    Y : ndarray or tensor (n,) or (n, c) of -1 and +1: a column for each class, or one for two classes. Features that
        are tensors need a tensor on their device, where the solution is then
    penalty : positive number
    n_columns : D, the columns of the features
    scaling : "mean", the objective above (MATLAB's ``fitclinear``), or
        "sum", ``penalty |W|^2 / 2`` + sum of the losses (scikit-learn's C is 1 / penalty), or
        "per_column", the same with penalty / D
    intercept : "none" (b = 0) or "unpenalised"
    classes : "multinomial" or "one_vs_rest"
    weights : ndarray (n,) of numbers >= 0, or None; the mean of the losses, or their sum, is weighted by them

    Notes
    -----
    Returns a ``LinearModel``; ``converged`` is False if the solver stopped early. Raises ``ValueError`` for NaN or
    infinity, a column with one class, rows of several columns that name no class or several, and options that do not
    exist.
    """
    Y, grid = sign_columns(Y), check_grid(penalty, "penalty")
    targets = _targets(Y, intercept, classes)
    weights = np.ones(len(Y)) if weights is None else as_weights(weights, len(Y))
    penalties = _against_the_mean(grid, [weights.sum()], scaling, n_columns)
    how = {"n_columns": n_columns, "has_intercept": intercept == "unpenalised"}
    return newton.fit(blocks, newton.logistic, targets, (weights / weights.sum())[:, None], penalties, **how)


def cross_validate_logistic(
    blocks, Y, penalties, folds, *, n_columns: int, scaling="mean", intercept="none", classes="multinomial",
    score="accuracy", weights=None,
) -> np.ndarray:  # fmt: skip
    """Return held-out scores of logistic regression, shape (len(penalties), n_folds): "accuracy" or "log_loss".

    Parameters and errors are as in ``fit_logistic``; ``folds`` is as in ``cross_validate_ridge``, with both signs of
    every column among the training rows. All folds are trained in the same passes over the features, from the largest
    penalty to the smallest, each from the solution of the one before. A ``ConvergenceWarning`` says how many of the
    fits did not converge.
    """
    Y, grid = sign_columns(Y), check_grid(penalties, "penalties")
    targets, weights = _targets(Y, intercept, classes), as_weights(weights, len(Y))
    folds, used = check_folds(folds, Y, "accuracy", every_column=True, weights=weights)
    used = used if weights is None else used * weights[:, None]
    counts = used.sum(axis=0)
    problem = newton.logistic, targets, used / counts, _against_the_mean(grid, counts, scaling, n_columns)
    how = {"n_columns": n_columns, "has_intercept": intercept == "unpenalised"}
    scores, unconverged = newton.cross_validate(blocks, *problem, Y, folds, score, weights, **how)
    warn_unconverged(unconverged, scores.size, "logistic")
    return scores


def fit_on_stream(
    blocks, labels, n_classes: int, penalty: float, *, n_columns: int, tolerance=GAP_TOLERANCE, checkpoints=None,
    progress=None,
) -> LinearModel:  # fmt: skip
    r"""Fit multinomial logistic regression without an intercept to a stream of any length, which can be continued.

    The objective is as in ``fit_logistic``. Nothing but the labels is kept for each row, and every pass can be
    stored. Two classes have one column of weights, for class 1.

    It stops at a certificate. With the probabilities P as dual variables the duality gap of the objective f is

    .. math:: \frac{\lambda}{2} |W|^2 + \langle W, Z'(P - Y)/n \rangle + \frac{1}{2\lambda} |Z'(P - Y)/n|^2
              = \frac{1}{2\lambda} |\nabla f(W)|^2,

    because the logarithm of the sum of the exponentials of f plus the entropy of p, its conjugate, is <p, f>.

    Parameters
    ----------
    blocks : callable, the stream of features (see ``random_features.learners``)
    labels : integer ndarray (n,) of 0 to ``n_classes`` - 1
    n_classes : c
    penalty : positive number
    n_columns : D
    tolerance : duality gap over the objective
    checkpoints : object, optional, with ``append(**arrays)`` and ``load()``: the fit repeats the stored passes without
        reading the features, and continues as if it had not stopped
    progress : callable, optional, called after every pass with the number of passes

    Returns
    -------
    LinearModel
        Its ``n_iter`` is the number of passes, without the one for the Gram matrix.

    Raises
    ------
    ValueError
        Features that are not finite, or labels that are not a class.
    """
    labels, grid = np.asarray(check_numbers(labels, "labels")), check_grid(penalty, "penalty")
    if labels.ndim != 1 or not labels.size or labels.dtype.kind not in "biu":
        raise ValueError(f"labels must be integers of shape (n,), got {labels.dtype} {labels.shape}")
    if labels.min() < 0 or labels.max() >= n_classes:
        raise ValueError(f"labels must be 0 to {n_classes - 1}, got {labels.min()} to {labels.max()}")
    classes, done = np.arange(n_classes)[1 if n_classes == 2 else 0 :], 0
    stored = iter(() if checkpoints is None else checkpoints.load())

    def each_pass(make):
        nonlocal done
        if (found := next(stored, None)) is None:
            found = make()
            if checkpoints is not None:
                checkpoints.append(**found)
        done += 1
        if progress:
            progress(done)
        return found

    targets, row_weights = (labels[:, None] == classes)[:, None], np.broadcast_to(1.0 / len(labels), (len(labels), 1))
    design = Design(blocks, len(labels), n_columns, False, labels)
    weights = np.zeros((n_columns, 1, len(classes)))
    problem = newton.Problem(design, newton.logistic, targets, row_weights, grid, each_pass)
    share = 2 * penalty * tolerance
    converged, _ = newton.solve(problem, weights, None, lambda _, value: np.sqrt(share * value))
    return LinearModel(weights[:, 0], np.zeros(len(classes)), "newton", bool(converged[0]), done)


def _targets(Y, intercept, classes):
    """Check the options and return whether each row is of a class, bool (n, groups, classes of a group)."""
    check_choice("intercept", intercept, ("none", "unpenalised"))
    check_choice("classes", classes, ("multinomial", "one_vs_rest"))
    positive = Y > 0
    if Y.shape[1] == 1 or classes == "one_vs_rest":
        return positive[:, :, None]
    named = positive.sum(axis=1)
    if (named != 1).any():
        row = int(cast(named != 1, "int64").argmax())
        raise ValueError(f"row {row} of the targets names {int(named[row])} classes with +1 in place of one")
    return positive[:, None, :]


def _against_the_mean(penalties, counts, scaling, n_columns):
    """Return the penalties of the mean of the losses for every number of rows: (grid, len(counts))."""
    return np.column_stack([effective_penalties(penalties, n, scaling, n_columns) / n for n in counts])


LEARNER = with_options("logistic", fit_logistic, cross_validate_logistic, stated=("scaling", "intercept", "classes"))
