"""Features as a stream, and classes that overlap on them: what the tests of the linear classifiers share."""

import numpy as np

from rfstudy.data.target import Target


def stream(Z, rows=None):
    rows = rows or len(Z)
    return lambda: ((slice(i, min(i + rows, len(Z))), Z[i : i + rows]) for i in range(0, len(Z), rows))


def problem(n=400, n_columns=15, n_classes=2, seed=0, dtype=np.float64):
    """Overlapping classes of unequal size on cosine features with a mean: labels and their columns of +-1."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    Z = np.cos(X @ rng.standard_normal((3, n_columns)) + rng.uniform(0, 2, n_columns)) / np.sqrt(n_columns / 2)
    evidence = X @ rng.standard_normal((3, n_classes)) + 0.5 * rng.standard_normal((n, n_classes))
    labels = (evidence + 0.3 * np.arange(n_classes)).argmax(axis=1)
    return Z.astype(dtype), labels, Target("classes").encode(labels)[0]
