"""Kernels that are mixtures of Gaussian ones: the factors of the frequencies, and every map that takes them."""

import map_variants
import numpy as np
import pytest
from closed_forms import assert_mean, assert_variance, cosines_by_seed, direction, drawn
from scipy.stats import chi, kstest, t
from sklearn.gaussian_process.kernels import Matern as MaternOfScikitLearn
from sklearn.gaussian_process.kernels import RationalQuadratic

from random_features.kernels import ExponentialPower, Gaussian, GeneralisedCauchy, Matern
from random_features.kernels.base import positive_stable
from random_features.maps import make_map

D = 8
KERNELS = [
    Matern(1.5, 0.5), Matern(1.5, 2.2), ExponentialPower(2.0, 0.8), ExponentialPower(1.5, 1.0),
    ExponentialPower(1.5, 2.0), GeneralisedCauchy(1.5, 2.0, 1.0), GeneralisedCauchy(1.5, 1.2, 3.0),
]  # fmt: skip
SHIFT_INVARIANT = [each for each in map_variants.KERNELS.values() if getattr(each, "activation", False) is None]
X = np.stack([np.zeros(D), 1.2 * direction(0)])
TAU = X[1] - X[0]


def test_kernels_are_those_of_scikit_learn_and_of_each_other():
    rows = np.random.default_rng(0).normal(size=(20, 3))
    for nu in (0.5, 1.5, 2.5, 3.3):
        np.testing.assert_allclose(Matern(1.7, nu)(rows), MaternOfScikitLearn(1.7, nu=nu)(rows), rtol=1e-10)
    rational = RationalQuadratic(length_scale=1.7, alpha=1.5)
    np.testing.assert_allclose(GeneralisedCauchy(1.7 * np.sqrt(3.0), 2.0, 3.0)(rows), rational(rows), rtol=1e-10)
    np.testing.assert_allclose(ExponentialPower(1.7, 1.0)(rows), Matern(1.7, 0.5)(rows), rtol=1e-10)
    np.testing.assert_allclose(ExponentialPower(np.sqrt(2.0), 2.0)(rows), Gaussian()(rows), rtol=1e-10)
    np.testing.assert_allclose(Matern(1.0, 100.0)(rows), Gaussian()(rows), atol=0.01)
    # next to 0 the Bessel function overflows
    assert Matern(1.0, 3.0).of_distance(np.array([0.0, 1e-200])).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("index", [0.3, 0.75, 1.0])
def test_positive_stable_numbers_have_their_laplace_transform(index):
    drawn = positive_stable(np.random.default_rng(0), index, 100_000)
    for s in (0.2, 1.0, 4.0):
        assert_mean(np.exp(-s * drawn), np.exp(-(s**index)))


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("r", [0.3, 1.0, 2.5])
def test_a_kernel_is_the_mean_of_gaussian_ones(kernel, r):
    scales = kernel.draw_scales(np.random.default_rng(0), 100_000)
    assert_mean(np.exp(-((scales * r) ** 2) / 2), kernel.of_distance(np.array(r)))


@pytest.mark.parametrize("kernel", [*KERNELS, *SHIFT_INVARIANT], ids=repr)
def test_rff_is_unbiased_with_its_variance(kernel):
    """s times the variance is (1 + k(2 tau)) / 2 - k(tau)^2 for every shift-invariant kernel, also a new one."""
    W, quantiles = (make_map(name, kernel, n_components=40_000, random_state=0).fit(X) for name in ("rff", "qmc"))
    sample, k = np.cos(W.frequencies_ @ TAU), kernel(X)[0, 1]
    assert_mean(sample, k)
    assert_variance(sample, (1 + kernel(2 * X)[0, 1]) / 2 - k**2)
    assert_mean(np.cos(quantiles.frequencies_ @ TAU), k)


def test_frequencies_of_the_matern_kernel_are_students():
    kernel = Matern(2.0, 1.5)
    for name in ("rff", "orf"):
        W = make_map(name, kernel, n_components=4000 * D, random_state=0).draw(D, dtype=np.float64).frequencies_[::D]
        assert kstest(W[:, 0] * 2.0, t(3).cdf).pvalue > 1e-3
    drawn = kernel.draw_frequencies(np.random.default_rng(1), (4000, 3))
    assert kstest(drawn[:, 1] * 2.0, t(3).cdf).pvalue > 1e-3


@pytest.mark.parametrize("kernel", [Matern(1.5, 1.5), GeneralisedCauchy(1.5, 1.2, 3.0)], ids=repr)
def test_orthogonal_frequencies_have_the_radial_distribution_of_the_kernel_and_less_variance(kernel):
    """Rows of a block are orthogonal, with independent lengths chi times sqrt(R); a length has the distribution of
    independent frequencies."""
    blocks = 8000
    W = make_map("orf", kernel, n_components=blocks * D, random_state=0).draw(D, dtype=np.float64).frequencies_
    gram = W[:D] @ W[:D].T
    np.testing.assert_allclose(gram - np.diag(np.diag(gram)), 0, atol=1e-12 * np.diag(gram).max())
    scales = kernel.draw_scales(np.random.default_rng(5), blocks)
    lengths = chi(D).rvs(blocks, random_state=6) * scales / kernel.length_scale
    assert kstest(np.linalg.norm(W[::D], axis=1), lengths).pvalue > 1e-3
    sample = np.cos(W @ TAU).reshape(blocks, D).mean(axis=1)
    assert_mean(sample, kernel(X)[0, 1])
    independent = (1 + kernel(2 * X)[0, 1]) / 2 - kernel(X)[0, 1] ** 2
    assert D * sample.var() < 0.95 * independent


@pytest.mark.parametrize("name", ["fastfood", "scrf", "pmodel", "qmc"])
@pytest.mark.parametrize("kernel", [Matern(1.5, 1.5), ExponentialPower(1.5, 1.2)], ids=repr)
def test_other_maps_are_unbiased(name, kernel):
    assert_mean(cosines_by_seed(make_map(name, kernel, n_components=2 * D), TAU, 600), kernel(X)[0, 1])


@pytest.mark.parametrize("name", ["sorf", "rom", "ssf", "gq", "mm", "sgq", "ssr"])
def test_maps_with_a_bias_have_that_of_the_gaussian_kernel_in_the_mean(name):
    """Given the factors, a map's mean is a mixture of those for the Gaussian kernel: within 3 % here (d = 8)."""
    kernel = Matern(1.5, 1.5)
    Z = make_map(name, kernel, n_components=40_000, random_state=0).fit_transform(X)
    assert Z[0] @ Z[1] == pytest.approx(kernel(X)[0, 1], abs=0.03)
    assert Z[0] @ Z[0] == pytest.approx(1.0, abs=0.03)


def test_every_frequency_has_a_factor_of_its_own():
    lengths = np.linalg.norm(drawn("sorf", D, 64, Matern()).dense_frequencies(), axis=1)
    assert len(np.unique(lengths.round(9))) == 64
