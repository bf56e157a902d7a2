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
