"""Bytes to [0, 1]."""


def fit(X_train):
    """Return the step, which learns nothing."""
    return lambda X: X / 255.0
