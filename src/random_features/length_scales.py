"""Checks of length scales, and the rules that find a length scale from data."""

import numpy as np

from random_features.arrays import DIAGONALISED_ALONE, check_numbers, decomposing, dense, is_sparse
from random_features.errors import check_positive

#: Random rows between which the median distance is taken: their two million distances determine it to below 1 %.
MEDIAN_ROWS = 2000


#: Rows from which length scales per column are learned, the fits in turn, the smallest weight of a column, and the
#: columns that a split of a tree tries.
RELEVANCE_ROWS, RELEVANCE_ROUNDS, SMALLEST_WEIGHT, MOST_TRIED = 800, 4, 1e-3, 100


def median_distance(X, rng: np.random.Generator, rows: int = MEDIAN_ROWS) -> float:
    """Return the median Euclidean distance between pairs of at most ``rows`` random rows of X (n, d); O(rows^2) memory.

    Raises ``ValueError`` if it is 0, because most rows are equal.

    Parameters
    ----------
    X : ndarray, tensor or csr matrix of shape (n, d)
    rng : numpy.random.Generator
    rows : int
    """
    from random_features.tensors import on_host

    chosen = rng.choice(X.shape[0], min(rows, X.shape[0]), replace=False)
    median = float(np.median(pairwise_distances(on_host(X[chosen])))) if len(chosen) > 1 else 0.0
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
    if not variance > 0 or X.max() == X.min():  # whose variance may be a rounding error
        raise ValueError("all numbers of the data are equal, so that they give no length scale: state one")
    return float(np.sqrt(0.5 * X.shape[1] * variance))


def variance_of_all(X) -> float:
    """Return the variance of all numbers of X (n, d), in float64. What a csr matrix does not store is zero."""
    from random_features.tensors import cast, namespace

    if not is_sparse(X):
        return float(namespace(X).var(cast(X, "float64"), correction=0))
    count, stored = X.shape[0] * X.shape[1], X.data.astype(np.float64)
    mean = stored.sum() / count
    return float((((stored - mean) ** 2).sum() + (count - len(stored)) * mean**2) / count)


def relevance(X, y) -> tuple[float, ...]:
    r"""Return a length scale per column of X (n, d), by the gradients of kernel ridge regression on targets y.

    From :math:`f(x) = \sum_i \alpha_i k(x, x_i)`, fitted to at most ``RELEVANCE_ROWS`` random rows, follow the mean
    squares :math:`m_j` of its derivatives by the columns, the diagonal of the average gradient outer product. Columns
    are multiplied by :math:`\sqrt{m_j}`, and f is fitted again. These rounds start twice: from columns that count
    alike, and from their importances in boosted trees, which find two columns that matter only together. The
    leave-one-out error chooses the penalty, the common length scale, and among all rounds and the isotropic kernel.

    ``ValueError`` without targets, and for NaN among them. Labels, and integers of at most 20 values, are classes, in
    each column of y (n, c).

    References
    ----------
    Radhakrishnan, Beaglehole, Pandit and Belkin, Mechanism for feature learning in neural networks and
    backpropagation-free machine learning models, Science 2024 (recursive feature machines).
    """
    from sklearn.utils import assert_all_finite

    from random_features.tensors import on_host

    if y is None:
        raise ValueError("length_scale='ard' learns from targets: fit(X, y)")
    y = on_host(check_numbers(y, "y"))
    if len(y) != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows, y {len(y)}")
    y = np.asarray(y)
    assert_all_finite(y, input_name="y")
    rows = np.random.default_rng(0).permutation(X.shape[0])[:RELEVANCE_ROWS]
    X, Y = np.asarray(dense(on_host(X[rows])), dtype=np.float64), y[rows]
    Y = np.hstack([_encoded(column) for column in Y.reshape(len(Y), -1).T])
    Y = np.where(np.ptp(Y, axis=0) > 0, Y - Y.mean(axis=0), 0.0)  # rounding may put the mean of equal numbers off them
    Y = np.ldexp(Y, -np.frexp(abs(Y).max())[1])  # the unit of the targets cancels; their squares would leave the range
    X, deviations = X - X.mean(axis=0), X.std(axis=0)
    equal, units = np.ones(X.shape[1]), np.where(np.ptp(X, axis=0) > 0, deviations, 1.0)
    isotropic = next(_rounds(X, Y, equal, equal), None) if len(X) > 1 else None
    if isotropic is None:
        raise ValueError("length_scale='ard' finds nothing in rows that are equal: state a length scale")
    starts = equal, _importances(X / units, Y)
    tried = [isotropic, *(fit for weights in starts for fit in _rounds(X, Y, units, weights))]
    return tuple(min(tried, key=lambda fit: fit[0])[1].tolist())


def _importances(X, Y):
    """Return the importances (d,), at most 1, of the columns of X (n, d) in boosted trees that fit the first principal
    component of the targets Y (n, c).
    """
    from sklearn.ensemble import GradientBoostingRegressor

    trees = GradientBoostingRegressor(max_features=min(1.0, MOST_TRIED / X.shape[1]), random_state=0)
    with decomposing(Y.shape[1]):
        main = Y @ np.linalg.eigh(Y.T @ Y)[1][:, -1]
    found = trees.fit(X, main).feature_importances_
    return found / found.max() if found.any() else np.ones_like(found)


def _rounds(X, Y, units, weights):
    """Yield the leave-one-out error and the length scales (d,) of each round, from the first ``weights`` (d,) on."""
    from scipy.spatial.distance import pdist, squareform

    for _ in range(RELEVANCE_ROUNDS):
        U = X * (weights / units)
        distances = squareform(pdist(U, "sqeuclidean"))
        median = np.sqrt(np.median(distances[np.triu_indices(len(U), 1)]))
        if not median > 0:
            return
        fits = (_left_out(distances, factor * median, Y) for factor in (0.25, 0.5, 1.0, 2.0, 4.0))
        error, length, alpha, K = min(fits, key=lambda fit: fit[0])
        yield error, length * units / np.maximum(weights, SMALLEST_WEIGHT)
        squares = sum((K @ (a[:, None] * U) - (K @ a)[:, None] * U) ** 2 for a in alpha.T).mean(axis=0)
        if not squares.any():  # constant targets
            return
        weights = weights * np.sqrt(squares)
        weights /= weights.max()


def _encoded(targets):
    """Return numbers as a column (n, 1), and a column of indicators per class of labels (n,)."""
    classes = np.unique(targets)
    if targets.dtype.kind == "f" or (targets.dtype.kind in "iu" and len(classes) > 20):
        return targets[:, None]
    return (targets[:, None] == classes).astype(np.float64)


def _left_out(distances, length, Y):
    """Return the best leave-one-out error of kernel ridge regression, the length scale, its dual (n, c) and matrix."""
    K = np.exp(distances / (-2.0 * length**2))
    with decomposing(len(K), DIAGONALISED_ALONE):
        eigenvalues, Q = np.linalg.eigh(K)
    rotated = Q.T @ Y
    best = (np.inf, length, Y, K)
    for shift in len(Y) * np.logspace(-7, 0, 8):
        inverse = 1.0 / (np.maximum(eigenvalues, 0.0) + shift)
        alpha = Q @ (inverse[:, None] * rotated)
        error = np.square(alpha / (Q**2 @ inverse)[:, None]).mean()
        if error < best[0]:
            best = error, length, alpha, K
    return best


def in_length_scales(X, columns: np.ndarray | None, in_double: bool = False):
    """Return X (n, d), an array, tensor or csr matrix, with each column divided by its length scale (d,); None: X.

    The quotients have the type of X, or float64 with ``in_double``.
    ``ValueError`` for another number of columns, and for a length scale that the type of X cannot hold.
    """
    if columns is None:
        return X
    from random_features.tensors import cast, dtype_name, like

    X = cast(X, "float64") if in_double else X
    if X.shape[1] != len(columns):
        raise ValueError(f"length_scale has {len(columns)} numbers, one per column, and X has {X.shape[1]} columns")
    limits = np.finfo(dtype_name(X))
    if columns.min() < limits.tiny or columns.max() > limits.max:
        raise ValueError(f"length_scale has numbers outside the range of {limits.dtype.name}: scale the data")
    columns = columns.astype(limits.dtype)
    if not is_sparse(X):
        return X / like(columns, X)
    X = X.copy()
    X.data /= columns[X.indices]
    return X


#: Rules that find a length scale from data, each a function of X (n, d) and targets. The median uses the same rows for
#: every map.
RULES = {
    "median": lambda X, y: median_distance(X, np.random.default_rng(0)),
    "scale": lambda X, y: spread(X),
    "ard": relevance,
}


#: The smallest and largest length scale: the square of a smaller or larger one is 0 or infinite in float64.
SMALLEST, LARGEST = 1e-150, 1e150


def check_length_scale(value) -> None:
    """Raise ``TypeError`` unless ``value`` is a number or a rule, ``ValueError`` for a number out of its range."""
    if isinstance(value, tuple):
        if not value:
            raise ValueError("length_scale has no numbers: one per column")
        for each in value:
            check_length_scale(each)
    elif not isinstance(value, str):
        check_positive("length_scale", value)
        if not SMALLEST <= value <= LARGEST:
            raise ValueError(
                f"length_scale must be between {SMALLEST:g} and {LARGEST:g}, got {value!r}: scale the data"
            )
    elif value not in RULES:
        raise TypeError(f"length_scale must be a number or one of {', '.join(map(repr, RULES))}, got {value!r}")
