"""Positive random features against their closed forms: mean, variance, and the covariance inside a block."""

import warnings

import numpy as np
import pytest
from closed_forms import assert_mean, assert_variance, direction, drawn, rff_variance
from scipy.integrate import quad
from scipy.special import beta, gammaln
from sklearn.base import clone

from random_features.kernels import Gaussian
from random_features.maps import make_map

D = 8
DRAWS = 20_000
#: Inner products of two directions of a block.
COSINES = {"independent": None, "orthogonal": 0.0, "simplex": -1 / (D - 1)}
#: |x + y| and |x - y| in length scales.
POINTS = [(0.5, 0.5), (1.0, 1.5), (1.5, 0.7)]


def pair(total, difference, length_scale=1.0):
    """Two rows whose sum and whose difference have these lengths, in directions that are not orthogonal."""
    v, tau = total * direction(0), difference * direction(1)
    return length_scale * np.stack([(v + tau) / 2, (v - tau) / 2])


def estimates(directions, X, block, draws=DRAWS, seed=0):
    """Independent draws of the approximate kernel entry, each with the first rows of one block of directions."""
    phi = make_map("prf", n_components=draws * D, directions=directions, random_state=seed).fit(X)
    products = draws * D * np.prod(phi.transform(X), axis=0)
    return products.reshape(draws, D)[:, :block].mean(axis=1)


def covariance(cosine, v, k):
    """The docstring's covariance: w_1 + w_2 has a uniform direction and the squared length R^2 (1 + c sin 2a), with R
    a chi with 2 D degrees of freedom and cos(a)^2 beta-distributed."""
    series = 0.0
    for i in range(60):
        of_sphere = gammaln(D / 2) + gammaln(i + 0.5) - gammaln(0.5) - gammaln(i + D / 2)
        of_length = i * np.log(2) + gammaln(D + i) - gammaln(D)
        of_angle = quad(
            lambda b, i=i: (1 + 2 * cosine * np.sqrt(b * (1 - b))) ** i * (b * (1 - b)) ** (D / 2 - 1), 0, 1
        )[0] / beta(D / 2, D / 2)
        series += np.exp(2 * i * np.log(v) - gammaln(2 * i + 1) + of_sphere + of_length) * of_angle
    return k**2 * (np.exp(-(v**2)) * series - 1)


@pytest.mark.parametrize(("total", "difference"), POINTS)
@pytest.mark.parametrize("directions", COSINES)
@pytest.mark.parametrize("block", [1, 3, D])
def test_mean_and_exact_variance(directions, total, difference, block):
    k = np.exp(-(difference**2) / 2)
    sample = estimates(directions, pair(total, difference), block)
    assert_mean(sample, k)
    own = k**2 * (np.exp(total**2) - 1)
    shared = 0.0 if directions == "independent" else covariance(COSINES[directions], total, k)
    assert_variance(sample, (own + (block - 1) * shared) / block)


@pytest.mark.parametrize(("total", "difference"), POINTS)
def test_simplex_directions_have_less_variance_than_orthogonal_and_these_than_independent_ones(total, difference):
    k = np.exp(-(difference**2) / 2)
    simplex, orthogonal = (covariance(COSINES[name], total, k) for name in ("simplex", "orthogonal"))
    assert simplex < orthogonal < 0
    variances = [estimates(name, pair(total, difference), D).var() for name in ("simplex", "orthogonal", "independent")]
    assert variances == sorted(variances)


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("directions", ["orthogonal", "simplex"])
def test_directions_of_a_block(directions, d):
    W = drawn("prf", d, 3 * d + 1, Gaussian(2.0), directions=directions).frequencies_
    units = W / np.linalg.norm(W, axis=1, keepdims=True)
    cosine = -1 / (d - 1) if directions == "simplex" and d > 1 else 0.0
    for start in range(0, 3 * d + 1, d):
        gram = units[start : start + d] @ units[start : start + d].T
        np.testing.assert_allclose(gram - np.diag(np.diag(gram)), cosine * (1 - np.eye(len(gram))), atol=1e-12)


def test_small_kernel_values_have_less_variance_than_cosines_and_sines_give_them():
    """At opposite points |x + y| = 0 and the features have no variance at all, cosines and sines have the most."""
    X = pair(0.3, 3.0)
    ours = make_map("prf", n_components=DRAWS, directions="independent", random_state=0).fit_transform(X)
    cosines = make_map("rff", n_components=DRAWS, random_state=0).fit_transform(X)
    products = DRAWS * np.prod(ours, axis=0)
    assert_variance(products, np.exp(-9.0) * (np.exp(0.09) - 1))
    pairs = DRAWS * np.prod(cosines, axis=0).reshape(2, DRAWS).sum(axis=0)
    assert_variance(pairs, rff_variance(3.0))
    assert products.var() < 1e-4 * pairs.var()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_features_that_overflow_are_refused(dtype):
    phi = make_map("prf", n_components=20, random_state=0, device="cpu").fit(np.zeros((1, 2), dtype=dtype))
    phi.frequencies_ = phi.frequencies_ * dtype(1e4)
    with pytest.raises(ValueError, match="exponentials of the projections overflow"):
        phi.transform(np.full((1, 2), 0.3, dtype=dtype))


@pytest.mark.parametrize("blocks", [False, True])
def test_one_warning_names_the_share_of_rows_that_underflow(blocks):
    """64 columns of 10 N(0, 1) are 80 length scales from the origin: all of their features are 0."""
    near = np.random.default_rng(0).normal(size=(30, 64)) / 8
    far = 10 * np.random.default_rng(1).normal(size=(10, 64))
    phi = make_map("prf", n_components=20, random_state=0).fit(near)

    def features(X):
        return np.concatenate([Z for _, Z in phi.transform_blocks(X, rows=7)]) if blocks else phi.transform(X)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = features(near)
        clone(phi).set_output(transform="pandas").fit_transform(near)  # whose memory is not writable
    with pytest.warns(UserWarning, match="prf: the features of 25 % of the rows underflow") as caught:
        Z = features(np.concatenate([near, far]))
    assert len(caught) == 1
    np.testing.assert_allclose(Z[:30], expected, rtol=1e-12)
    assert not Z[30:].any()
