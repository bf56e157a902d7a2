"""The step that several preprocessing steps are: shift and scale columns."""

import numpy as np


def affine(offset: np.ndarray, width: np.ndarray, constant: np.ndarray, shift: float = 0.0):
    """``(x - offset) / width + shift`` by column, and 0 in constant columns: a callable (n, d) -> (n, d)."""
    width = np.where(constant, 1.0, width)

    def step(X):
        X = (X - offset) / width + shift
        X[:, constant] = 0.0
        return X

    return step
