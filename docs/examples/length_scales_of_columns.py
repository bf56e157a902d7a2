"""Learn a length scale for each column, where most columns do not matter."""

import numpy as np

from random_features import make_map
from random_features.kernels import Gaussian
from random_features.machines import KernelMachineRegressor

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 20))
y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=600)
train, test = slice(400), slice(400, None)

for rule in ("median", "ard"):
    phi = make_map("orf", Gaussian(rule), n_components=200, random_state=0)
    machine = KernelMachineRegressor(phi, penalties=np.logspace(-7, 0, 8)).fit(X[train], y[train])
    print(f"{rule:6}  R2 {machine.score(X[test], y[test]):.2f}")
print("length scales", machine.map_.length_scales_[:5].round(1))
