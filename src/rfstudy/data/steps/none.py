"""Leave the columns as they are."""


def fit(X_train):
    """Return the step, which learns nothing."""
    return lambda X: X
