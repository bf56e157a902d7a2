"""The nine maps of the survey's experiments with the Laplacian, Cauchy and arc-cosine kernels."""

import itertools

import numpy as np
import pytest
from closed_forms import activation, assert_mean, pool_columns, products_by_seed
from scipy.linalg import hadamard
from scipy.special import j0

from random_features.kernels import ArcCosine, Cauchy, Gaussian, Laplacian
from random_features.maps import make_map

D = 8


def points(seed):
    return np.random.default_rng(seed).normal(size=(2, D))


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize(
    ("name", "options"),
    [*((name, {}) for name in ("rff", "orf", "fastfood", "scrf", "pmodel")), ("scrf", {"sign_side": "output"})],
)
def test_arc_cosine_features_are_unbiased(name, options, order):
    """With the scale sqrt(2/s); without the 2, as the survey's equation (6) has it, they miss by a factor."""
    X, blocks = points(order + 1), 15_000
    Z = make_map(name, ArcCosine(order), n_components=D * blocks, random_state=order, **options).fit_transform(X)
    sample = blocks * (Z[0] * Z[1]).reshape(blocks, D).sum(axis=1)
    assert_mean(sample, ArcCosine(order)(X)[0, 1])
    with pytest.raises(AssertionError):
        assert_mean(sample / 2, ArcCosine(order)(X)[0, 1])


@pytest.mark.parametrize("kernel", [ArcCosine(0), ArcCosine(2), Laplacian(4.0), Cauchy(4.0)], ids=repr)
def test_qmc_is_unbiased(kernel):
    X = points(4)
    assert_mean(products_by_seed(make_map("qmc", kernel, n_components=16), X, 400), kernel(X)[0, 1])


def mean_product(W, weights, X, order):
    """2 E a(w.x) a(w.y) for frequencies W (m, d) that have these probabilities."""
    first, second = activation(X @ W.T, order)
    return 2 * weights @ (first * second)


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("d", [3, 4])
@pytest.mark.parametrize("name", ["sorf", "rom"])
def test_structured_arc_cosine_features_have_the_mean_of_all_their_signs(name, d, order):
    """The rows of 2 H D1 H D2 H D3 over all 2^12 signs, padded to four columns. They are no Gaussian vectors: the
    kernel itself is missed by more than the draws leave open.
    """
    X, blocks, H = points(order + d)[:, :d], 20_000, hadamard(4) / 2
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=12))).reshape(-1, 3, 1, 4)
    W = 2 * (H * signs[:, 0]) @ (H * signs[:, 1]) @ (H * signs[:, 2])
    W = W[..., :d].reshape(-1, d)
    expected = mean_product(W, np.full(len(W), 1 / len(W)), X, order)
    Z = make_map(name, ArcCosine(order), n_components=4 * blocks, random_state=order).fit_transform(X)
    sample = blocks * (Z[0] * Z[1]).reshape(blocks, 4).sum(axis=1)
    assert_mean(sample, expected)
    with pytest.raises(AssertionError):
        assert_mean(sample, ArcCosine(order)(X)[0, 1])


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("n_nodes", [2, 3])
def test_arc_cosine_features_of_nodes_have_the_mean_of_the_grid(n_nodes, order):
    """Every coordinate is a Gauss-Hermite node; all of them are zero with the probability (2/3)^d of three nodes, and
    the kernel itself is missed.
    """
    X, s, d = points(order + 2)[:, :3], 80_000, 3
    nodes, chances = np.polynomial.hermite_e.hermegauss(n_nodes)
    W = np.array(list(itertools.product(nodes, repeat=d)))
    weights = np.prod(list(itertools.product(chances / chances.sum(), repeat=d)), axis=1)
    Z = make_map("gq", ArcCosine(order), n_components=s, n_nodes=n_nodes, random_state=order).fit_transform(X)
    assert_mean(s * Z[0] * Z[1], mean_product(W, weights, X, order))
    with pytest.raises(AssertionError):
        assert_mean(s * Z[0] * Z[1], ArcCosine(order)(X)[0, 1])


@pytest.mark.parametrize("order", [0, 1])
def test_ssf_tends_to_the_mean_of_the_arc_cosine_features_over_a_torus(order):
    """In four dimensions the directions fill a product of two circles and not the sphere (next test but one): the limit
    is the mean over a grid of angles, which the features come nearer than as many independent draws would.
    """
    X, s = points(order + 6)[:, :4], 8192
    phi = make_map("ssf", ArcCosine(order), n_components=s, radii="single").fit(X)
    angles = (np.arange(1000) + 0.5) * 2 * np.pi / 1000
    circle = np.sqrt(2) * np.stack([np.cos(angles), np.sin(angles)])  # of the coordinates (k, 2 + k)
    first, second = (circle.T @ X[:, [k, 2 + k]].T for k in (0, 1))
    projections = first[:, None] + second
    limit = 2 * np.prod(activation(projections, order), axis=2).mean()
    Z = phi.transform(X)
    sample = s * Z[0] * Z[1]
    assert abs(sample.mean() - limit) < sample.std() / np.sqrt(s)


@pytest.mark.parametrize("order", [0, 1])
def test_ssf_tends_to_the_arc_cosine_kernel_in_two_dimensions(order):
    X, s = points(5)[:, :2], 4094
    Z = make_map("ssf", ArcCosine(order), n_components=s, radii="single").fit_transform(X)
    # Two combs of 2047 points on the circle: each misses an arc's share by two points at most.
    scale = np.prod(np.linalg.norm(X, axis=1)) ** order
    np.testing.assert_allclose(Z[0] @ Z[1], ArcCosine(order)(X)[0, 1], atol=16 / s * scale)


def test_ssf_tends_to_the_mean_over_a_torus():
    """Every pair of coordinates (k, m + k) of every direction has the length 1 / sqrt(m): for d > 2 the directions fill
    a torus, not the sphere, and the Gaussian kernel with one radius tends to a product of Bessel functions.
    """
    tau = 1.3 * points(5)[0] / np.linalg.norm(points(5)[0])
    W = make_map("ssf", n_components=8192, radii="single").fit(tau[None]).frequencies_
    np.testing.assert_allclose(W[:, :4] ** 2 + W[:, 4:] ** 2, 2.0, rtol=1e-12)  # (sqrt(d) / sqrt(m))^2
    limit = np.prod(j0(np.sqrt(2) * np.hypot(tau[:4], tau[4:])))
    # Nearer than as many independent draws would be: their standard error.
    sample = np.cos(W @ tau)
    assert abs(sample.mean() - limit) < sample.std() / np.sqrt(8192)


KERNELS = [Gaussian(1.0), Laplacian(2.0), Cauchy(2.0), ArcCosine(0), ArcCosine(1), ArcCosine(2)]


@pytest.mark.parametrize(("name", "options"), [("lsrff", {}), ("slsrff", {"identity": True})])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_leverage_features_are_unbiased_for_the_kernel_of_their_pool(kernel, name, options):
    """The s draws are independent given the pool."""
    s = 600
    X = np.random.default_rng(7).normal(size=(50, 3))
    phi = make_map(name, kernel, n_components=s, random_state=0, **options).fit(X, np.sin(2 * X[:, 0]))
    Z = phi.transform(X[:2])
    if kernel.name.startswith("arccos"):
        pool = np.sqrt(2 / s) * activation(X[:2] @ phi.pool_.frequencies.T, kernel.order)
    else:
        pool = pool_columns(phi, X[:2])
    # the columns of a frequency together
    assert_mean(s * (Z[0] * Z[1]).reshape(-1, s).sum(axis=0), pool[0] @ pool[1])
