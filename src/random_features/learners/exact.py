"""Kernel ridge and kernel SVM on the exact kernel matrix: the yardstick for every random feature map.

K of the training rows is held in memory: more than ``MAX_ROWS`` rows (1.8 GB a matrix, three of them at work)
are refused.
"""

from __future__ import annotations

import numpy as np

from random_features.learners import gram
from random_features.learners.linear_model import LinearModel
from random_features.learners.penalties import check_grid
from random_features.learners.targets import as_columns, sign_columns

MAX_ROWS = 15_000

#: How far from symmetric a kernel matrix may be, relative to its largest entry: the rounding of sums of ``MAX_ROWS``
#: numbers in float32.
SYMMETRY = MAX_ROWS * 2.0**-23


def fit_kernel_ridge(K, Y, penalty: float, *, center="targets") -> LinearModel:
    """Kernel ridge regression, (K + n penalty I) dual = y: the dual of ``fit_ridge`` with the scaling "mean".

    Parameters
    ----------
    K : ndarray (n, n), the symmetric kernel matrix of the training rows, n <= 15,000
    Y, penalty, center : as ``fit_ridge``; "both" centres in the feature space of the kernel

    Errors as ``fit_ridge``, and ``ValueError`` above 15,000 rows.
    """
    Y, penalties = as_columns(Y), check_grid(penalty, "penalty", zero_allowed=True)
    K = _check_kernel_matrix(K, len(Y))
    dual, intercept = gram.ridge_on_gram(K, Y, len(Y) * penalties, center)
    return LinearModel(dual[0], intercept[0], "dual")


def fit_kernel_svm(K, Y, C: float) -> LinearModel:
    """Kernel SVM: minimise |f|^2 / 2 + C sum max(0, 1 - y (f + b)) in the space of the kernel, for every column of +-1.

    libsvm solves it; its intercept b is unpenalised.

    Parameters
    ----------
    K : ndarray (n, n), the symmetric kernel matrix of the training rows, n <= 15,000
    Y : ndarray (n,) or (n, c) of -1 and +1: a column for each class, or one for two classes
    C : positive number

    Raises ``ValueError`` for a column with one class, NaN or infinity, and above 15,000 rows. ``converged`` of the
    result tells whether the solver met its tolerance.
    """
    Y, grid = sign_columns(Y), check_grid(C, "C")
    return gram.svm_on_gram(_check_kernel_matrix(K, len(Y)), Y, grid[0])


def _check_kernel_matrix(K, n_rows):
    K = np.asarray(K)
    if K.shape != (n_rows, n_rows):
        raise ValueError(f"the kernel matrix must have shape ({n_rows}, {n_rows}), got {K.shape}")
    if n_rows > MAX_ROWS:
        raise ValueError(f"{n_rows} rows are more than the {MAX_ROWS} of the exact learners; use random features")
    if K.dtype.kind not in "biuf" or not np.isfinite(K).all():
        raise ValueError("the kernel matrix holds NaN, infinity or what is no real number")
    K = np.asarray(K, dtype=np.float64)
    if np.abs(K - K.T).max() > SYMMETRY * np.abs(K).max():  # for such a matrix libsvm would go on for ever
        raise ValueError("the kernel matrix must be symmetric")
    return K
