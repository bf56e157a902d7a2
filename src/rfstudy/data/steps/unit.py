"""Each sample to length 1."""

import numpy as np


def fit(X_train):
    """Return the step, which learns nothing: a row is scaled by itself."""
    return unit


def unit(X):
    """Return the rows of length 1; a zero row stays zero."""
    length = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(length == 0, 1.0, length)
