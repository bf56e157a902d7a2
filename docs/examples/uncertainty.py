"""Deviations of a prediction, and random functions that agree with the data."""

import numpy as np

from random_features import make_map
from random_features.kernels import Gaussian
from random_features.machines import KernelMachineRegressor

rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, (300, 1))
y = np.sin(3 * X[:, 0]) + 0.1 * rng.normal(size=300)
new = np.array([[0.0], [2.3], [3.0]])  # among the rows, next to them, away from them

exact = Gaussian(0.4)
for name, features in [
    ("exact kernel", exact),
    ("20 columns", make_map("rff", exact, n_components=10, random_state=0)),
    ("800 columns", make_map("rff", exact, n_components=400, random_state=0)),
]:
    machine = KernelMachineRegressor(features, penalties=3e-5, uncertainty=True).fit(X, y)
    mean, std = machine.predict(new, return_std=True)
    draws = machine.sample_functions(1000, random_state=0)  # evaluated anywhere
    print(f"{name:12}  deviations {std.round(2)}  of draws {draws(new).std(axis=1).round(2)}")
print(f"noise {machine.posterior_.noise[0]:.2f}, log marginal likelihood {machine.log_marginal_likelihood():.0f}")
