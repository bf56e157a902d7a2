"""Checks of length scales, and the rules that find a length scale from data."""

import numpy as np

from random_features.arrays import is_sparse
from random_features.errors import check_positive

#: Random rows between which the median distance is taken: their two million distances determine it to below 1 %.
MEDIAN_ROWS = 2000


def median_distance(X, rng: np.random.Generator, rows: int = MEDIAN_ROWS) -> float:
    """Return the median Euclidean distance between pairs of at most ``rows`` random rows of X (n, d); O(rows^2) memory.

    Raises ``ValueError`` if it is 0, because most rows are equal.

    Parameters
    ----------
    X : ndarray or csr matrix of shape (n, d)
    rng : numpy.random.Generator
    rows : int
    """
    n_rows = X.shape[0]
    chosen = rng.choice(n_rows, min(rows, n_rows), replace=False)
    median = float(np.median(pairwise_distances(X[chosen]))) if len(chosen) > 1 else 0.0
    if not median > 0:
        raise ValueError("the median distance between training rows is 0: state a length scale, or another rule")
    return median


def pairwise_distances(X) -> np.ndarray:
    """Return the Euclidean distances between all pairs of rows of X (m, d), float64 (m (m - 1) / 2,).

    Sparse rows stay sparse: their distances come from inner products, whose rounding is about 1e-8 of the rows' length.
    """
    if not is_sparse(X):
        from scipy.spatial.distance import pdist

        return pdist(np.asarray(X, dtype=np.float64))
    from sklearn.metrics.pairwise import euclidean_distances

    return euclidean_distances(X.astype(np.float64))[np.triu_indices(X.shape[0], 1)]


def spread(X) -> float:
    """Return the length scale of ``gamma="scale"`` in scikit-learn: 1 / (d v), v the variance of all of X (n, d).

    Raises ``ValueError`` if all numbers are equal.
    """
    variance = variance_of_all(X)
    if not variance > 0:
        raise ValueError("all numbers of the data are equal, so that they give no length scale: state one")
    return float(np.sqrt(0.5 * X.shape[1] * variance))


def variance_of_all(X) -> float:
    """Return the variance of all numbers of X (n, d), in float64. What a csr matrix does not store is zero."""
    if not is_sparse(X):
        return float(np.var(X, dtype=np.float64))
    count, stored = X.shape[0] * X.shape[1], X.data.astype(np.float64)
    mean = stored.sum() / count
    return float((((stored - mean) ** 2).sum() + (count - len(stored)) * mean**2) / count)


#: Rules that find a length scale from data, each a function of X (n, d). The median uses the same rows for every map.
RULES = {"median": lambda X: median_distance(X, np.random.default_rng(0)), "scale": spread}


#: The smallest and largest length scale: the square of a smaller or larger one is 0 or infinite in float64.
SMALLEST, LARGEST = 1e-150, 1e150


def check_length_scale(value) -> None:
    """Raise ``TypeError`` unless ``value`` is a number or a rule, ``ValueError`` for a number out of its range."""
    if not isinstance(value, str):
        check_positive("length_scale", value)
        if not SMALLEST <= value <= LARGEST:
            raise ValueError(
                f"length_scale must be between {SMALLEST:g} and {LARGEST:g}, got {value!r}: scale the data"
            )
    elif value not in RULES:
        rules = ", ".join(map(repr, RULES))
        raise TypeError(f"length_scale must be a number or one of {rules}, got {value!r}")
