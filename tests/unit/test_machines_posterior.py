"""Kernel machines as Gaussian processes: against scikit-learn's, and draws against their own moments."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct

from random_features import make_map
from random_features.kernels import Gaussian, Polynomial
from random_features.machines import KernelMachineRegressor, base

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, (80, 2))
Y = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.2 * RNG.normal(size=80)
NEW = RNG.uniform(-3, 3, (40, 2))
PENALTY = 1e-3
PHI = make_map("orf", Gaussian(1.0), n_components=400, random_state=0)
EXACT = KernelMachineRegressor(Gaussian(1.0), PENALTY, uncertainty=True)
ON_MAP = KernelMachineRegressor(PHI, PENALTY, uncertainty=True)
both = pytest.mark.parametrize("machine", [pytest.param(EXACT, id="exact"), pytest.param(ON_MAP, id="map")])


def gaussian_process(kernel, amplitude):
    return GaussianProcessRegressor(kernel, alpha=amplitude * len(X) * PENALTY, optimizer=None)


def test_the_exact_kernel_is_scikit_learns_gaussian_process():
    machine = EXACT.fit(X, Y)
    (amplitude,) = machine.posterior_.amplitude
    expected = gaussian_process(ConstantKernel(amplitude) * RBF(1.0), amplitude).fit(X, Y - Y.mean())
    mean, std = machine.predict(NEW, return_std=True)
    expected_mean, expected_std = expected.predict(NEW, return_std=True)
    np.testing.assert_allclose(mean, expected_mean + Y.mean(), atol=1e-8)
    np.testing.assert_allclose(std, expected_std, rtol=1e-6)
    np.testing.assert_allclose(machine.log_marginal_likelihood(), expected.log_marginal_likelihood_value_, rtol=1e-9)
    # no other amplitude has a larger likelihood
    for factor in (0.9, 1.1):
        other = gaussian_process(ConstantKernel(factor * amplitude) * RBF(1.0), factor * amplitude)
        assert other.fit(X, Y - Y.mean()).log_marginal_likelihood_value_ < machine.log_marginal_likelihood()


def test_features_are_the_gaussian_process_of_their_own_kernel_with_a_flat_prior_of_the_intercept():
    machine = ON_MAP.fit(X, Y)
    (amplitude,), flat = machine.posterior_.amplitude, 1e5
    kernel = ConstantKernel(amplitude) * DotProduct(1e-9) + ConstantKernel(flat)
    Z, new = machine.map_.transform(X), machine.map_.transform(NEW)
    expected = gaussian_process(kernel, amplitude).fit(Z, Y)
    mean, std = machine.predict(NEW, return_std=True)
    expected_mean, expected_std = expected.predict(new, return_std=True)
    np.testing.assert_allclose(mean, expected_mean, atol=1e-5)
    np.testing.assert_allclose(std, expected_std, rtol=1e-4)
    # the prior of the intercept takes one degree of freedom
    flat_prior = 0.5 * np.log(2 * np.pi * flat * len(X))
    likelihood = expected.log_marginal_likelihood_value_ + flat_prior
    np.testing.assert_allclose(machine.log_marginal_likelihood(), likelihood, atol=1e-3)


@both
@pytest.mark.parametrize("targets", [Y, np.column_stack([Y, -3 * Y**2])])
def test_random_functions_have_the_mean_and_the_deviation_of_the_process(machine, targets):
    machine.fit(X, targets)
    mean, std = machine.predict(NEW, return_std=True)
    functions = machine.sample_functions(1500, random_state=1)
    draws = functions(NEW)
    assert draws.shape == (*mean.shape, 1500)
    np.testing.assert_array_equal(draws, machine.sample_y(NEW, 1500, random_state=1))
    np.testing.assert_allclose(functions(NEW[:3]), draws[:3], atol=1e-9)
    # means and deviations of 1,500 draws are within 4.5 standard errors; an exact kernel's prior has 2,000 features
    error = (4.5 / np.sqrt(1500) + (0.05 if machine is EXACT else 0.0)) * std
    assert (np.abs(draws.mean(axis=-1) - mean) < error).all()
    assert (np.abs(draws.std(axis=-1) - std) < error).all()


def test_where_the_rows_end_few_features_starve_the_variance_and_draws_of_the_exact_kernel_do_not():
    rng = np.random.default_rng(0)
    rows, outside = rng.uniform(-2, 2, (800, 1)), np.linspace(2.1, 4, 100)[:, None]
    y = np.sin(3 * rows[:, 0]) + 0.1 * rng.normal(size=800)
    exact = KernelMachineRegressor(Gaussian(0.4), 1e-5, uncertainty=True).fit(rows, y)
    expected = exact.predict(outside, return_std=True)[1]
    ratios = {}
    for size in (10, 400):
        phi = make_map("rff", Gaussian(0.4), n_components=size, random_state=0)
        machine = KernelMachineRegressor(phi, 1e-5, uncertainty=True).fit(rows, y)
        ratios[size] = (machine.predict(outside, return_std=True)[1] / expected).mean()
    assert ratios[10] < 0.7
    assert 0.9 < ratios[400] < 1.15
    np.testing.assert_allclose(exact.sample_y(outside, 1500).std(axis=1), expected, rtol=0.15)


@both
def test_a_row_of_weight_2_counts_twice_in_the_process(machine):
    n = RNG.integers(0, 3, len(X))
    twice = np.repeat(X, n, axis=0), np.repeat(Y, n)
    weighted = machine.fit(X, Y, n)
    found = *weighted.predict(NEW, return_std=True), weighted.log_marginal_likelihood()
    repeated = machine.fit(*twice)
    expected = *repeated.predict(NEW, return_std=True), repeated.log_marginal_likelihood()
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-8)


def test_parts_of_the_rows_have_the_process_of_all_of_them():
    whole, parts = ON_MAP.fit(X, Y), KernelMachineRegressor(PHI, PENALTY, uncertainty=True)
    for rows in np.array_split(np.arange(len(X)), 3):
        parts.partial_fit(X[rows], Y[rows])
    found, expected = (machine.predict(NEW, return_std=True)[1] for machine in (parts, whole))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_what_a_process_needs_is_said(monkeypatch):
    machine = KernelMachineRegressor(PHI, PENALTY).fit(X, Y)
    predict, draw = (lambda: machine.predict(NEW, return_std=True)), (lambda: machine.sample_y(NEW))
    for call in (predict, draw, machine.log_marginal_likelihood):
        with pytest.raises(ValueError, match=r"need KernelMachineRegressor\(..., uncertainty=True\)"):
            call()
    monkeypatch.setattr("random_features.machines.regressor.MOST_HELD", 10)
    with pytest.raises(ValueError, match="uncertainty=True holds the matrix of an exact kernel, of at most 10 rows"):
        KernelMachineRegressor(Gaussian(1.0), PENALTY, uncertainty=True).fit(X, Y)
    assert base.MOST_HELD == 10_000


@pytest.mark.parametrize("n_parts", [None, 1, 3])
@pytest.mark.parametrize("penalty", [1e-3, 1e-9])
@pytest.mark.parametrize("constant", [1e2, 1e5, -1e7])
def test_a_constant_in_the_targets_changes_no_deviation(constant, penalty, n_parts):
    rows, y = np.linspace(0, 5, 30)[:, None], np.column_stack([np.sin(np.linspace(0, 5, 30)), np.linspace(-1, 3, 30)])
    phi, found = make_map("rff", Gaussian(1.0), n_components=50, random_state=0), []
    shift = np.array([constant, 0.0])
    for targets in (y, y + shift):
        machine = KernelMachineRegressor(phi, penalty, uncertainty=True)
        if n_parts is None:
            machine.fit(rows, targets, np.arange(1.0, 31.0))
        else:
            for part in np.array_split(np.arange(30), [1, 12][: n_parts - 1]):
                machine.partial_fit(rows[part], targets[part], part + 1.0)
        mean, std = machine.predict([[0.3], [2.5], [7.0]], return_std=True)
        found.append((std, mean, machine.log_marginal_likelihood()))
    np.testing.assert_allclose(found[1][0], found[0][0], rtol=1e-5)
    np.testing.assert_allclose(found[1][1][:2], found[0][1][:2] + shift, rtol=1e-12, atol=1e-5)
    np.testing.assert_allclose(found[1][2], found[0][2], rtol=1e-5)


@pytest.mark.parametrize(
    "kernel", [Polynomial(2, 1.0), Gaussian(0.5001), Gaussian([0.5, 0.6]), Gaussian("median")], ids=repr
)
def test_draws_of_the_prior_are_of_the_kernel_of_the_machine(kernel):
    machine = KernelMachineRegressor(Gaussian(0.5), PENALTY, uncertainty=True).fit(X, Y)
    with pytest.raises(ValueError, match=r"prior has the kernel .*, the machine Gaussian\(length_scale=0.5\): make"):
        machine.sample_functions(prior=make_map("ts" if "Poly" in repr(kernel) else "rff", kernel))
    with pytest.raises(ValueError, match=r"the kernel polynomial needs sample_functions\(prior=.*, of \['rm', 'ts'"):
        KernelMachineRegressor(Polynomial(2, 1.0), PENALTY, uncertainty=True).fit(X, Y).sample_y(NEW)
    for same in (Gaussian([0.5, 0.6]), Gaussian("median")):
        machine = KernelMachineRegressor(same, PENALTY, uncertainty=True).fit(X, Y)
        for own in (same, machine.kernel_):
            assert machine.sample_functions(prior=make_map("rff", own, n_components=8))(NEW).shape == (40, 1)
    for wrong in ((1.5,), (-1,), (1, 0, "orf"), (1, 0, Gaussian(0.5))):
        with pytest.raises((TypeError, ValueError), match=r"n_functions|prior must be a map of make_map"):
            machine.sample_functions(*wrong)
    with pytest.raises(TypeError, match="prior must be a map of make_map, for a machine on an exact kernel only"):
        clone(ON_MAP).fit(X, Y).sample_functions(prior=PHI)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("machine", "data"), [
    *[(machine, (X[:1], Y[:1], weights)) for machine in (EXACT, ON_MAP) for weights in (None, [3.0])],
    (ON_MAP, (X[:2], Y[:2], [0.0, 3.0])), (ON_MAP, (X, Y, np.full(80, 1 / 80))),
    (KernelMachineRegressor(make_map("rff", n_components=2), 0.0, uncertainty=True), (X, Y)),
])  # fmt: skip
def test_without_an_amplitude_there_is_a_mean_and_no_deviation(machine, data):
    for learn in ("fit",) if machine is EXACT else ("fit", "partial_fit"):
        machine = clone(machine)
        assert np.isfinite(getattr(machine, learn)(*data).predict(NEW)).all()
        for call in (lambda: machine.predict(NEW, return_std=True), machine.log_marginal_likelihood):  # noqa: B023
            with pytest.raises(ValueError, match="deviations and random functions need two rows, and on a map also"):
                call()


def test_an_exact_kernel_at_penalty_0_has_a_likelihood():
    machine = KernelMachineRegressor(Gaussian(0.1), 0.0, uncertainty=True).fit(X[:9], Y[:9])
    assert np.isfinite(machine.log_marginal_likelihood())


@pytest.mark.parametrize("features", [Gaussian(1.0), make_map("orf", Gaussian(1.0), n_components=20, random_state=0)])
def test_functions_stay_as_they_are_when_their_machine_is_fitted_again(features):
    machine = KernelMachineRegressor(features, 1e-3, uncertainty=True).fit(X, Y)
    functions = machine.sample_functions(2, random_state=0)
    before = functions(NEW)
    machine.fit(X[:20] + 1.0, np.stack([Y[:20], -Y[:20]], axis=1))
    np.testing.assert_array_equal(functions(NEW), before)
