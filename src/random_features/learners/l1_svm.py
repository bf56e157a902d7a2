"""The linear l1-SVM, which minimises |w|^2 / 2 + C sum max(0, 1 - y (w.z + b)) with b free.

Its dual is the game in which learned features are chosen (Bullins, Zhang and Zhang, ICLR 2018, section 3.2). libsvm
solves it on ZZ': the dual has the equality constraint that belongs to a free intercept, which LIBLINEAR can only
penalise.
"""

from dataclasses import replace

import numpy as np
import torch

from random_features.errors import check_choice
from random_features.learners import streams
from random_features.learners.entry import with_options
from random_features.learners.gram import scores_on_gram, svm_on_gram
from random_features.learners.linear_model import LinearModel
from random_features.learners.penalties import check_grid
from random_features.learners.scoring import check_folds, warn_unconverged
from random_features.learners.targets import sign_columns
from random_features.tensors import on_host

#: Rows up to which libsvm is given ZZ' (3.2 GB).
MOST_ROWS = 20_000


def fit_l1_svm(blocks, Y, C: float, *, n_columns: int) -> LinearModel:
    """Fit the machine for every column of -1 and +1 (n, c) on a stream (see ``random_features.learners``).

    Raises ``ValueError`` for NaN or infinity, a column with one class, and more than 20,000 rows. Tensors are copied to
    the host. The model is not ``converged`` where libsvm's limit of 10^7 steps was reached.
    """
    (features, Y), (C,) = _in_memory(blocks, Y, n_columns), check_grid(C, "C")
    dual = svm_on_gram(features.row_gram, Y, C)
    return replace(dual, coef=streams.transposed_product(features.Z, dual.coef))


def cross_validate_l1_svm(blocks, Y, grid, folds, *, n_columns: int, score="accuracy"):
    """Return held-out accuracies in percent (grid of C, folds); errors are as in ``fit_l1_svm``."""
    check_choice("score", score, ("accuracy",))
    (features, Y), grid = _in_memory(blocks, Y, n_columns), check_grid(grid, "C")
    folds, training = check_folds(folds, Y, "accuracy", every_column=True)

    unconverged = []

    def fit(K, Y, fold):
        models = [svm_on_gram(K, Y, C) for C in grid]
        unconverged.extend(model for model in models if not model.converged)
        return np.stack([model.coef for model in models]), np.stack([model.intercept for model in models])

    scores = scores_on_gram(features.row_gram, Y, folds, training, "accuracy", fit)
    warn_unconverged(len(unconverged), scores.size, "l1-SVM")
    return scores


def _in_memory(blocks, Y, n_columns):
    """Return the features, kept in memory, and their targets, as arrays; ``ValueError`` for too many rows."""
    of_tensors, Y = callable(blocks) and isinstance(Y, torch.Tensor), sign_columns(on_host(Y))
    if reason := too_many_rows({}, len(Y), n_columns):
        raise ValueError(f"{reason}; use the squared hinge loss")
    arrays = (lambda: ((rows, on_host(block)) for rows, block in blocks())) if of_tensors else blocks
    return streams.kept(arrays, len(Y), n_columns), Y


def too_many_rows(options: dict, n_rows: int, n_columns: int) -> str:
    """Return why so many rows are left out, or ""."""
    return f"{n_rows} rows are over the {MOST_ROWS} that libsvm is given" if n_rows > MOST_ROWS else ""


LEARNER = with_options("l1_svm", fit_l1_svm, cross_validate_l1_svm, limit=too_many_rows)
