"""Principal components: centre the columns and keep the directions in which the training rows vary most."""

import numpy as np

from random_features.errors import UserError


def fit(X_train, *, n_components: int):
    """Learn the mean and the leading eigenvectors of the covariance, in float64 and without randomness.

    Components are ordered by the variance of the training rows along them, largest first, and not scaled by it; signs
    are scikit-learn's. Raise ``UserError`` unless ``n_components`` is between 1 and min(n_train, d).
    """
    from sklearn.decomposition import PCA

    n, d = X_train.shape
    if not 1 <= n_components <= min(n, d):
        raise UserError(f"pca cannot keep {n_components} components of {n} training rows with {d} columns")
    # the eigenvectors of the covariance where that is the smaller problem, and never a random method
    solver = "covariance_eigh" if n > d else "full"
    found = PCA(n_components, svd_solver=solver).fit(X_train.astype(np.float64))
    mean, components = found.mean_, np.ascontiguousarray(found.components_.T)
    return lambda X: (X - mean) @ components


def columns(d: int, *, n_components: int) -> int:
    """Return the number of columns that remain of d: ``n_components``. Raise ``UserError`` if there are fewer."""
    if not 1 <= n_components <= d:
        raise UserError(f"pca cannot keep {n_components} components of {d} columns")
    return n_components
