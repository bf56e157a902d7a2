"""The neighbour rule: the mean distance of a training row to its k-th nearest neighbour (eerf, section 4)."""

import numpy as np

from random_features.errors import UserError
from rfstudy.fields import Count, Positive

#: Megabytes of distances that are held at a time.
WORKING_MEMORY = 64


def length_scale(X, rng: np.random.Generator, *, k: Count, rows: Count = 5000, factor: Positive = 1.0) -> float:
    """Return ``factor`` times the mean Euclidean distance to the k-th nearest other row, over at most ``rows`` random
    rows.

    The neighbours are searched among all rows of X (n, d), in blocks: O(rows n) work, memory of one block. Raise
    ``UserError`` if there are fewer than k other rows, or the mean is 0.
    """
    from sklearn.metrics import pairwise_distances_chunked

    if len(X) <= k:
        raise UserError(f"the {k}-th nearest neighbour needs more than {k} training rows, there are {len(X)}")
    X = np.asarray(X, dtype=np.float64)
    chosen = np.sort(rng.choice(len(X), min(rows, len(X)), replace=False))

    def to_neighbour(distances, start):
        # a row is not its own neighbour, but an equal row is one
        distances[np.arange(len(distances)), chosen[start : start + len(distances)]] = np.inf
        return np.partition(distances, k - 1, axis=1)[:, k - 1].copy()  # a view would keep all distances

    found = pairwise_distances_chunked(X[chosen], X, reduce_func=to_neighbour, working_memory=WORKING_MEMORY)
    mean = np.concatenate(list(found)).mean()
    if not mean > 0:
        raise UserError(f"the mean distance to the {k}-th nearest neighbour is 0: state a length scale, or a larger k")
    return factor * float(mean)
