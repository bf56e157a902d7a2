"""Fit ridge regression on features that never exist as a whole."""

import tempfile
from pathlib import Path

import numpy as np

from random_features import make_map
from random_features.kernels import Gaussian
from random_features.learners.ridge import fit_ridge

# Rows on disk: the system reads them when they are needed.
file = Path(tempfile.mkdtemp()) / "X.npy"
X = np.lib.format.open_memmap(file, mode="w+", dtype=np.float32, shape=(20_000, 5))
X[:] = np.random.default_rng(0).normal(size=X.shape)
y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2

phi = make_map("orf", Gaussian(2.0), n_components=150, random_state=0)
phi.fit(X[:1000])  # this map needs only the number and the type of the columns


def blocks():
    """Yield the features block by block; the learner calls this once per pass over the data."""
    return phi.transform_blocks(X, rows=2000)


model = fit_ridge(blocks, y, penalty=1e-6, n_columns=phi.n_columns_)
predicted = np.concatenate([model.decision(Z)[:, 0] for _, Z in blocks()])
megabytes = [rows * phi.n_columns_ * 4 / 1e6 for rows in (len(X), 2000)]
print("all features: {:.0f} MB, one block: {:.1f} MB".format(*megabytes))
print(f"share of the variance explained: {1 - np.var(y - predicted) / np.var(y):.3f}")
