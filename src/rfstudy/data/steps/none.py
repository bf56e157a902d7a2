"""Leave the columns as they are."""


def fit(X_train):
    """Nothing is learned."""
    return lambda X: X
