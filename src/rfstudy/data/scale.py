"""Preprocessing steps that are fitted on the training rows and applied to all.

One convention for what has no spread: a column that is constant in the training rows, or a row that is constant
where rows are standardised, becomes 0. Nothing was learned about its scale, and 0 adds nothing to an inner product
or a distance. (MATLAB's mapstd and mapminmax leave such a row or column as it is.) The arithmetic is float64 on
blocks of rows, whatever the type of the data; float64 stays float64, everything else becomes float32.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from rfstudy.arrays import block_rows, row_blocks

Step = Callable[[np.ndarray], np.ndarray]


def fit_steps(steps: Sequence[str], X_train: np.ndarray) -> Step:
    """Fit preprocessing steps one after the other on the training rows.

    Parameters
    ----------
    steps : sequence of str
        Names out of ``STEPS``: "none"; "minmax" (columns to [0, 1]); "minmax_symmetric" (columns to [-1, 1]);
        "standard" (columns to mean 0 and standard deviation 1, ddof = 0); "standard_rows" (each sample to mean 0 and
        standard deviation 1, ddof = 1: MATLAB's mapstd on rows); "divide_255"; "center" (subtract the mean of the
        columns); "unit" (each sample to length 1, a zero sample stays zero).
    X_train : ndarray (n_train, d)

    Returns
    -------
    callable
        X (n, d) -> (n, d), float64 if X is, else float32. It does not clip: test rows outside the training range
        leave the interval.

    Raises
    ------
    ValueError
        Unknown step, no training rows, or X of another width.
    """
    unknown = [step for step in steps if step not in STEPS]
    if unknown:
        raise ValueError(f"unknown preprocessing {unknown[0]!r}; choose from {', '.join(STEPS)}")
    if isinstance(steps, str) or X_train.ndim != 2 or not len(X_train):
        raise ValueError("fit_steps needs a list of steps and a matrix with at least one training row")
    fitted: list[Step] = []

    def apply(X: np.ndarray) -> np.ndarray:
        if X.ndim != 2 or X.shape[1] != X_train.shape[1]:
            raise ValueError(f"X has the shape {X.shape}, but the steps were fitted on {X_train.shape[1]} columns")
        result = np.empty(X.shape, dtype=np.float64 if X.dtype == np.float64 else np.float32)
        for rows in row_blocks(len(X), block_rows(8 * max(1, X.shape[1]))):
            block = X[rows].astype(np.float64)
            for step in fitted:
                block = step(block)
            result[rows] = block
        return result

    for name in steps:
        fitted.append(STEPS[name](apply(X_train)))
    return apply


def _affine(offset: np.ndarray, width: np.ndarray, constant: np.ndarray, shift: float = 0.0) -> Step:
    """``(x - offset) / width + shift`` by column, and 0 in constant columns."""
    width = np.where(constant, 1.0, width)

    def step(X):
        X = (X - offset) / width + shift
        X[:, constant] = 0.0
        return X

    return step


def _fit_minmax(X_train: np.ndarray) -> Step:
    low, high = X_train.min(0).astype(np.float64), X_train.max(0).astype(np.float64)
    return _affine(low, high - low, low == high)


def _fit_minmax_symmetric(X_train: np.ndarray) -> Step:
    low, high = X_train.min(0).astype(np.float64), X_train.max(0).astype(np.float64)
    return _affine(low, (high - low) / 2, low == high, shift=-1.0)


def _fit_standard(X_train: np.ndarray) -> Step:
    # constant columns by their range: the rounded deviation of a large constant is not exactly 0
    constant = X_train.min(0) == X_train.max(0)
    return _affine(X_train.mean(0, dtype=np.float64), X_train.std(0, dtype=np.float64), constant)


def _fit_center(X_train: np.ndarray) -> Step:
    mean = X_train.mean(0, dtype=np.float64)
    return lambda X: X - mean


def _standard_rows(X: np.ndarray) -> np.ndarray:
    constant = X.min(1) == X.max(1)
    if constant.all():
        return np.zeros_like(X)
    deviation = np.where(constant, 1.0, X.std(1, ddof=1))
    return np.where(constant, 0.0, (X - X.mean(1, keepdims=True)).T / deviation).T


def _unit(X: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(length == 0, 1.0, length)


#: A step's name to the function that fits it on the training rows.
STEPS: dict[str, Callable[[np.ndarray], Step]] = {
    "none": lambda X_train: lambda X: X,
    "minmax": _fit_minmax,
    "minmax_symmetric": _fit_minmax_symmetric,
    "standard": _fit_standard,
    "standard_rows": lambda X_train: _standard_rows,
    "divide_255": lambda X_train: lambda X: X / 255.0,
    "center": _fit_center,
    "unit": lambda X_train: _unit,
}
