"""Shift and scale columns, as several preprocessing steps do."""

import numpy as np


def affine(offset: np.ndarray, width: np.ndarray, constant: np.ndarray, shift: float = 0.0):
    """Return the callable (n, d) -> (n, d) that computes ``(x - offset) / width + shift`` by column, and 0 in constant
    columns.
    """
    width = np.where(constant, 1.0, width)

    def step(X):
        X = (X - offset) / width + shift
        X[:, constant] = 0.0
        return X

    return step


def onto_interval(X_train: np.ndarray, start: float, length: float):
    """Return the callable that takes the range of each column in the training rows to [start, start + length], and
    constant columns to 0.
    """
    low, high = X_train.min(0).astype(np.float64), X_train.max(0).astype(np.float64)
    return affine(low, (high - low) / length, low == high, start)
