"""Held-out scores and the checks of folds."""

import warnings

import numpy as np

from random_features.arrays import check_numbers
from random_features.errors import NotDefinedError, check_choice
from random_features.learners.targets import class_index, log_partition
from random_features.tensors import cast, like, namespace

#: Shares of right classes in percent, squared errors, and -log P(class) of the logistic model.
SCORES = ("accuracy", "mse", "log_loss")


def gain(values, score: str) -> np.ndarray:
    """Return values of a score with a sign such that more is better: "accuracy" as it is, losses negated."""
    check_choice("score", score, SCORES)
    return np.asarray(values, dtype=np.float64) * (1.0 if score == "accuracy" else -1.0)


def score_sum(Y, decision, score: str, weights=None):
    """Return the sum of a score over rows, shape (grid,), with ``weights`` (m,) if there are some; tensors of tensors.

    ``Y`` has shape (m, c), ``decision`` (m, grid, c). "accuracy": 100 for a right class, else 0, so that the
    average is in percent; "mse": squared error, averaged over the columns of the targets; "log_loss": -log P(class),
    whose P is logistic in one column of decision values, or multinomial in several. Decision values that are NaN, those
    of a model that could not be fitted, score NaN.
    """
    if score == "accuracy":
        right = 100.0 * cast(class_index(decision) == class_index(Y)[:, None], "float64")
        xp = namespace(decision)
        values = xp.where(xp.isnan(decision).any(axis=2), xp.nan, right)
    elif score == "log_loss" and Y.shape[1] == 1:
        values = log_partition(-Y[..., None] * decision)[..., 0]
    elif score == "log_loss":
        values = log_partition(decision)[..., 0] - (decision * (Y > 0)[:, None, :]).sum(axis=2)
    else:
        values = ((decision - Y[:, None, :]) ** 2).mean(axis=2)
    return values.sum(axis=0) if weights is None else like(weights, values) @ values


def held_out_mean(Y, decision, score: str, weights, rows):
    """Return the mean of a score (grid,) over some rows of Y (n, c), by weights (n,) or None.

    ``decision`` (m, grid, c) has the decision values of these rows.
    """
    weights = None if weights is None else weights[rows]
    return score_sum(Y[rows], decision, score, weights) / (len(decision) if weights is None else weights.sum())


def check_folds(folds, Y, score: str, *, every_column=False, weights=None) -> tuple[np.ndarray, np.ndarray]:
    """Return the fold of each row as an integer array (n,), and the rows that train for each fold, bool (n, k).

    Rows of the fold -1 are never held out. Where there are some, they alone train, and the folds are parts of the rows
    that are held out from them.

    Raises ``ValueError`` unless the folds are 0..k-1, none of them empty, with k >= 2 or rows of the fold -1. Raises
    ``NotDefinedError`` unless, where classes are scored, the training rows of every fold hold at least two (with
    ``every_column``: both signs in every column), and unless these rows and each fold have ``weights`` (n,) above 0.
    """
    check_choice("score", score, SCORES)
    folds = np.asarray(check_numbers(folds, "folds"))
    if folds.shape != (len(Y),) or folds.dtype.kind not in "iu":
        raise ValueError(f"folds must be an integer array of shape ({len(Y)},), got {folds.dtype} {folds.shape}")
    alone, present = folds == -1, np.unique(folds[folds != -1])
    if len(present) < (1 if alone.any() else 2) or not np.array_equal(present, np.arange(len(present))):
        raise ValueError(f"folds must be 0..k-1 with k >= 2 and none empty, found {present[:20].tolist()}")
    training = np.column_stack([alone if alone.any() else folds != fold for fold in present])
    for fold in () if weights is None else present:
        if not (weights[folds == fold].any() and weights[training[:, fold]].any()):
            raise NotDefinedError(f"fold {fold}, or the rows that train for it, have no weight: choose other folds")
    if score == "accuracy":
        for fold in present:
            seen = Y[training[:, fold]]
            constant = (seen == seen[0]).all(axis=0)
            if constant.all() or (every_column and constant.any()):
                raise NotDefinedError(
                    f"the training rows of fold {fold} hold one class only"
                    f"{f' in column {constant.argmax()}' if Y.shape[1] > 1 else ''}; stratify the folds"
                )
    return folds, training


def warn_unconverged(unconverged: int, fits: int, learner: str) -> None:
    """Issue a ``ConvergenceWarning`` if some fits of a cross-validation stopped before they met their tolerance."""
    if unconverged:
        from sklearn.exceptions import ConvergenceWarning  # ridge regression does not need scikit-learn

        message = f"{unconverged} of {fits} {learner} fits of a cross-validation did not converge"
        warnings.warn(message, ConvergenceWarning, stacklevel=3)
