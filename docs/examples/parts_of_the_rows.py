"""Learn from one part of the rows after the other: the result is the fit to all of them."""

import numpy as np

from random_features import make_map
from random_features.kernels import Gaussian
from random_features.machines import KernelMachineRegressor

rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, (10_000, 3))
y = np.sin(2 * X[:, 0]) + X[:, 1]

phi = make_map("orf", Gaussian(1.0), n_components=100, random_state=0)
parts = KernelMachineRegressor(phi, penalties=1e-6)
for rows in np.array_split(np.arange(len(X)), 10):  # such as files that do not fit into memory together
    parts.partial_fit(X[rows], y[rows])
whole = KernelMachineRegressor(phi, penalties=1e-6).fit(X, y)
difference = np.abs(parts.predict(X[:100]) - whole.predict(X[:100])).max()
print(f"difference below 1e-6: {difference < 1e-6}, R2 {parts.score(X, y):.4f}")
