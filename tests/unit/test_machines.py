"""Kernel machines: the exact kernel with and without its matrix."""

import numpy as np
import pytest

from random_features import machines, make_map
from random_features.kernels import Gaussian
from random_features.machines import KernelMachineClassifier, KernelMachineRegressor

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, (400, 3))
NEW = RNG.uniform(-2, 2, (50, 3))
TARGETS = {KernelMachineRegressor: np.sin(2 * X[:, 0]) + X[:, 1], KernelMachineClassifier: (X[:, :2] > 0) @ [1, 2]}


@pytest.mark.parametrize("machine", TARGETS)
def test_the_exact_kernel_of_many_rows_is_the_same_machine_without_its_matrix(machine, monkeypatch):
    held = machine(Gaussian(1.0), penalties=1e-4).fit(X, TARGETS[machine])
    monkeypatch.setattr(machines, "MOST_HELD", 100)
    monkeypatch.setattr(machines, "fit_kernel_ridge", lambda *args: pytest.fail("the matrix was held"))
    streamed = machine(Gaussian(1.0), penalties=1e-4).fit(X, TARGETS[machine])
    np.testing.assert_allclose(streamed._decide(NEW), held._decide(NEW), atol=2e-3)
    np.testing.assert_allclose(streamed.predict(NEW), held.predict(NEW), atol=2e-3)
    assert streamed.penalty_ == 1e-4


def test_the_exact_kernel_of_many_rows_needs_one_penalty(monkeypatch):
    monkeypatch.setattr(machines, "MOST_HELD", 100)
    with pytest.raises(ValueError, match="needs one penalty"):
        KernelMachineRegressor(Gaussian(1.0), penalties=[1e-4, 1e-3]).fit(X, X[:, 0])


@pytest.mark.parametrize("machine", TARGETS)
@pytest.mark.parametrize("penalties", [[], [[1e-4]], [1e-4, -1.0], np.nan])
@pytest.mark.parametrize("features", [Gaussian(1.0), make_map("rff", n_components=8)])
def test_penalties_are_a_number_or_a_grid_of_some(machine, penalties, features):
    with pytest.raises(ValueError, match="penalties must be finite and non-negative, and at least one, got"):
        machine(features, penalties=penalties).fit(X, TARGETS[machine])
