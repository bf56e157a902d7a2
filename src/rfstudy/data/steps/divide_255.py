"""Bytes to [0, 1]."""


def fit(X_train):
    """Nothing is learned."""
    return lambda X: X / 255.0
