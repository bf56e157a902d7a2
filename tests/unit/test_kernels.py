"""The exact kernels: values, types and the rules for their parameters."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm
from sklearn.base import clone

from rfstudy.kernels import Gaussian


def test_gaussian_is_the_formula():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(7, 3)), rng.normal(size=(5, 3))
    squared = ((X[:, None, :] - Y[None, :, :]) ** 2).sum(axis=-1)
    # Squared distances come from |x|^2 - 2 x.y + |y|^2, a few roundings of numbers of order 10.
    np.testing.assert_allclose(Gaussian(1.7)(X, Y), np.exp(-squared / (2 * 1.7**2)), rtol=1e-13)
    np.testing.assert_allclose(Gaussian(1.7)(X), Gaussian(1.7)(X, X), rtol=1e-12)


def test_gaussian_keeps_float32():
    X = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
    assert Gaussian()(X).dtype == np.float32


def test_gaussian_is_the_transform_of_its_frequencies():
    kernel, tau = Gaussian(0.8), 1.1
    density = norm(scale=kernel.frequency_scale).pdf
    integral = quad(lambda w: np.cos(w * tau) * density(w), -20, 20)[0]
    np.testing.assert_allclose(integral, kernel([[0.0]], [[tau]])[0, 0], rtol=1e-8)


def test_gaussian_quantiles_and_draws_have_one_distribution():
    kernel = Gaussian(0.5)
    np.testing.assert_allclose(kernel.frequency_quantile([0.5, norm.cdf(1.0)]), [0.0, 2.0], atol=1e-12)
    draws = kernel.draw_frequencies(np.random.default_rng(0), (20_000, 2))
    # Standard error of a standard deviation: sigma / sqrt(2 N).
    np.testing.assert_allclose(draws.std(), 2.0, atol=4 * 2.0 / np.sqrt(2 * draws.size))


@pytest.mark.parametrize("value", [0, -1.0, np.inf, np.nan])
def test_length_scale_must_be_positive(value):
    with pytest.raises(ValueError, match="length_scale must be positive"):
        Gaussian(length_scale=value)


@pytest.mark.parametrize("value", ["1", None, True])
def test_length_scale_must_be_a_number(value):
    with pytest.raises(TypeError, match="length_scale must be a number"):
        Gaussian(length_scale=value)


def test_kernels_are_values():
    kernel = Gaussian(length_scale=2)
    assert kernel == Gaussian(2) != Gaussian(3)
    assert repr(kernel) == "Gaussian(length_scale=2)"
    assert kernel.get_params() == {"length_scale": 2}
    assert clone(kernel) == kernel
    with pytest.raises(AttributeError):
        kernel.length_scale = 3
