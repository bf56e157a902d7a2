"""The linear l1-SVM: |w|^2 / 2 + C sum max(0, 1 - y (w.z + b)), b free; the dual of which is the game that learned
features are chosen in (Bullins, Zhang and Zhang, ICLR 2018, section 3.2). libsvm solves it on ZZ'.
"""

from __future__ import annotations

from typing import TypedDict

from random_features.learners.entry import Learner, required
from random_features.learners.svm import HINGE_ROWS, cross_validate_svm, fit_svm

#: Nothing but the grid and the folds is left to an experiment.
OBJECTIVE = {"loss": "hinge", "intercept": "unpenalised"}


class Options(TypedDict, total=False):
    """The loss is the hinge loss, the intercept is unpenalised, and the solver is libsvm."""


def fit_l1_svm(blocks, Y, C: float, *, n_columns: int, options=None):
    """The model of a stream of features (see ``random_features.learners``) and columns of -1 and +1 (n, c); errors as
    ``fit_svm``.
    """
    return fit_svm(blocks, Y, C, n_columns=n_columns, **OBJECTIVE)


def cross_validate_l1_svm(blocks, Y, folds, *, n_columns, score, options):
    """Held-out accuracies in percent, shape (grid of C, folds)."""
    if score != "accuracy":
        raise ValueError(f"support vector machines are scored by their accuracy, not by {score!r}")
    grid = required(options, "C")["C"]
    return cross_validate_svm(blocks, Y, grid, folds, n_columns=n_columns, **OBJECTIVE)


def too_many_rows(options: dict, n_rows: int, n_columns: int) -> str:
    """The reason why so many rows are left out, or ""."""
    return f"{n_rows} rows are over the {HINGE_ROWS} that libsvm is given" if n_rows > HINGE_ROWS else ""


LEARNER = Learner(
    grid="C",
    chosen="C",
    targets=("binary", "classes"),
    fit=fit_l1_svm,
    cross_validate=cross_validate_l1_svm,
    limit=too_many_rows,
    bytes_per_entry=40,
)
