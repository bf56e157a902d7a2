"""SGQ and SSR: exactness of the rules, their weights, and the estimates they give."""

import numpy as np
import pytest
from closed_forms import assert_mean, by_seed, direction, drawn, rff_variance

from random_features.kernels import ArcCosine, Gaussian
from random_features.maps import make_map
from random_features.maps.cubature import simplex_corners


@pytest.mark.parametrize("node", ["sqrt_d_plus_2", "sqrt_d", "sqrt_3"])
@pytest.mark.parametrize(("d", "s"), [(1, 1), (3, 3), (3, 9), (7, 7), (7, 21)])
def test_sgq_is_exact_on_monomials_up_to_degree_three(node, d, s):
    """E 1 = 1, E w_i w_j = delta_ij / l^2; odd monomials vanish, because every point represents a pair w, -w."""
    if node == "sqrt_3" and d > 3:
        with pytest.raises(ValueError, match="sgq with node='sqrt_3' has no real features for 7 columns"):
            drawn("sgq", d, s, node=node)
        return
    phi = drawn("sgq", d, s, Gaussian(1.6), node=node)
    W = phi.dense_frequencies()
    np.testing.assert_allclose(phi.origin_weight_ + phi.point_weights_.sum(), 1.0, rtol=1e-14)
    np.testing.assert_allclose((W.T * phi.point_weights_) @ W, np.eye(d) / 1.6**2, atol=1e-14)
    assert phi.origin_weight_ >= 0
    if node == "sqrt_d_plus_2":
        # The radial moment of degree 4: E |w|^4 = d (d + 2) / l^4.
        fourth = phi.point_weights_ @ (W**2).sum(axis=1) ** 2
        np.testing.assert_allclose(fourth, d * (d + 2) / 1.6**4, rtol=1e-13)


def test_sgq_with_the_hermite_node_is_the_hermite_rule_in_one_dimension():
    phi = drawn("sgq", 1, 1, node="sqrt_3")
    nodes, weights = np.polynomial.hermite_e.hermegauss(3)
    weights = weights / weights.sum()
    np.testing.assert_allclose(phi.dense_frequencies(), [[nodes[2]]])
    np.testing.assert_allclose([phi.origin_weight_, phi.point_weights_[0] / 2], [weights[1], weights[2]])


@pytest.mark.parametrize(("node", "squared"), [("sqrt_d_plus_2", 6), ("sqrt_d", 4)])
def test_sgq_is_its_formula(node, squared):
    """w_0 + 2 a_1 sum_j cos(p tau_j / l), with a column for the origin where it has a weight."""
    X = np.random.default_rng(0).normal(size=(6, 4))
    Z = drawn("sgq", 4, 4, Gaussian(1.6), node=node).transform(X)
    assert Z.shape == (6, 9 if node == "sqrt_d_plus_2" else 8)
    differences = X[:, None, :] - X[None, :, :]
    cosines = np.cos(np.sqrt(squared) * differences / 1.6).sum(axis=-1)
    np.testing.assert_allclose(Z @ Z.T, 1 - 4 / squared + cosines / squared, atol=1e-13)
    # with all axes it is deterministic
    np.testing.assert_array_equal(drawn("sgq", 4, 4, Gaussian(1.6), seed=1, node=node).transform(X), Z)


def test_sgq_with_few_axes_samples_them():
    """A random subset of the axes, without repetition, has the full rule as its mean."""
    X = np.random.default_rng(1).normal(size=(2, 5))
    full = drawn("sgq", 5, 5).transform(X)
    sample = []
    for seed in range(300):
        phi = drawn("sgq", 5, 2, seed=seed)
        assert len(set(phi.axes_)) == 2
        Z = phi.transform(X)
        sample.append(Z[0] @ Z[1])
    assert_mean(sample, full[0] @ full[1])


def test_sgq_adds_rotated_rules():
    W = drawn("sgq", 4, 10, Gaussian(2.0), node="sqrt_d").dense_frequencies()
    np.testing.assert_array_equal(W[:4], np.eye(4))  # sqrt(d) / l = 1
    np.testing.assert_allclose(W[4:8] @ W[4:8].T, np.eye(4), atol=1e-13)
    np.testing.assert_allclose(W[8:] @ W[8:].T, np.eye(2), atol=1e-13)


@pytest.mark.parametrize(
    ("order", "node", "expected"),
    [
        (0, "sqrt_d", lambda k: k),
        (0, "sqrt_d_plus_2", lambda k: (1 / 3) / 2 + (2 / 3) * k),  # w_0 = 2 / (d + 2), f(0) = 1 / 2
        *((1, node, lambda k: k) for node in ("sqrt_d", "sqrt_d_plus_2")),
        (2, "sqrt_d", lambda k: k * 4 / 6),  # E |w|^4 is d^2 instead of d (d + 2)
        (2, "sqrt_d_plus_2", lambda k: k),
    ],
)
def test_sgq_arc_cosine_mean_over_rotations(order, node, expected):
    d, rules = 4, 6000
    X = np.random.default_rng(order).normal(size=(2, d))
    phi = drawn("sgq", d, d * (rules + 1), ArcCosine(order), node=node)
    Z = phi.transform(X)
    s = phi.n_components
    assert Z.shape[1] == 2 * s + (order == 0 and node == "sqrt_d_plus_2")
    constant = float(Z[0, 2 * s :] @ Z[1, 2 * s :])
    products = (Z[0] * Z[1])[: 2 * s].reshape(2, rules + 1, d).sum(axis=(0, 2)) * (rules + 1)
    assert_mean(products[1:] + constant, expected(ArcCosine(order)(X)[0, 1]))


@pytest.mark.parametrize("d", [1, 2, 3, 8])
def test_ssr_simplex(d):
    corners = simplex_corners(d)
    expected = np.full((d + 1, d + 1), -1 / d)
    np.fill_diagonal(expected, 1.0)
    np.testing.assert_allclose(corners @ corners.T, expected, atol=1e-14)


@pytest.mark.parametrize("rotation", ["haar", "butterfly"])
@pytest.mark.parametrize(("d", "simplices"), [(1, 1), (2, 2), (8, 3)])
def test_ssr_is_exact_on_monomials_up_to_degree_three(rotation, d, simplices):
    """In every draw; odd monomials vanish, because every point represents a pair."""
    phi = drawn("ssr", d, simplices * (d + 1), Gaussian(1.6), rotation=rotation)
    W = phi.dense_frequencies()
    weights = (1 - phi.signed_origin_weight_) * phi.point_weights_
    np.testing.assert_allclose(weights.sum() + phi.signed_origin_weight_, 1.0, rtol=1e-14)
    np.testing.assert_allclose((W.T * weights) @ W, np.eye(d) / 1.6**2, atol=1e-13)


@pytest.mark.parametrize("rotation", ["haar", "butterfly"])
def test_ssr_rows_are_rotated_simplices(rotation):
    """The weights are d / rho^2 in the signed rule, so that w |omega|^2 is the same for all points."""
    phi = drawn("ssr", 8, 27, rotation=rotation)
    W = phi.dense_frequencies()
    lengths = np.linalg.norm(W, axis=1)
    np.testing.assert_allclose(27 * (1 - phi.signed_origin_weight_) * phi.point_weights_, 8 / lengths**2, rtol=1e-12)
    units = (W / lengths[:, None]).reshape(3, 9, 8)
    corners = simplex_corners(8)
    assert units.all()  # a permutation of the columns alone would keep the zeros of the corners
    for block in units:
        np.testing.assert_allclose(block @ block.T, corners @ corners.T, atol=1e-13)


def test_ssr_butterflies_on_padded_data():
    """Five columns are eight with three zeros: the frequencies are drawn for d = 8, and cut."""
    X = np.random.default_rng(0).normal(size=(7, 5))
    padded = np.hstack([X, np.zeros((7, 3))])
    short = drawn("ssr", 5, 20, rotation="butterfly").transform(X)
    np.testing.assert_allclose(short, drawn("ssr", 8, 20, rotation="butterfly").transform(padded), atol=1e-14)


@pytest.mark.parametrize("weights", ["signed", "selfnorm"])
def test_ssr_estimates_are_their_formulas(weights):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(6, 4)), rng.normal(size=(3, 4))
    phi = drawn("ssr", 4, 13, weights=weights)
    Z = phi.transform(X)
    assert Z.shape == (6, 26)
    np.testing.assert_allclose((Z**2).sum(axis=1), 1.0, rtol=1e-13)
    W = phi.dense_frequencies()
    inverse = 4 / (W**2).sum(axis=1)  # d / rho^2 for l = 1
    cosines = np.cos((X[:, None, :] - Y[None, :, :]) @ W.T)
    if weights == "signed":
        expected = 1 - inverse.mean() + (cosines * inverse).mean(axis=-1)
    else:
        expected = cosines @ inverse / inverse.sum()
        np.testing.assert_allclose(phi.approximate_kernel(X), Z @ Z.T, atol=1e-14)
    np.testing.assert_allclose(phi.approximate_kernel(X, Y), expected, atol=1e-12)


def ssr_draws(X, draws, **options):
    phi = make_map("ssr", n_components=X.shape[1] + 1, **options)
    return np.array([each.approximate_kernel(X)[0, 1] for each in by_seed(phi, X.shape[1], draws)])


def pair(z):
    return np.stack([np.zeros(8), z * direction(1)])


@pytest.mark.parametrize(("z", "rotation"), [(0.3, "haar"), (1.3, "haar"), (1.3, "butterfly")])
def test_ssr_signed_estimate_is_unbiased(z, rotation):
    sample = ssr_draws(pair(z), 800, weights="signed", rotation=rotation)
    assert_mean(sample, np.exp(-(z**2) / 2))
    # A fifth of RFF's variance at 1.3, far less below; a standard error of a variance is some 10 % here.
    assert 9 * sample.var() < 0.4 * rff_variance(z)


def test_ssr_selfnormalised_features_have_a_small_bias():
    sample = ssr_draws(pair(0.7), 1200, weights="selfnorm")
    bias = sample.mean() - np.exp(-(0.7**2) / 2)
    error = sample.std() / np.sqrt(len(sample))
    # -0.0077 with one simplex in d = 8, six standard errors; the variance is a fifth of RFF's, up to some 10 %.
    assert -0.0077 - 4 * error < bias < -4 * error
    assert 9 * sample.var() < 0.25 * rff_variance(0.7)


@pytest.mark.parametrize("order", [0, 1, 2])
def test_ssr_arc_cosine(order):
    """f(0) is 2 H(0)^2 = 1/2 for the step and 0 for the others, whose features are the unbiased estimate itself."""
    X = np.random.default_rng(order).normal(size=(2, 5))
    sample = ssr_draws(X, 600, kernel=ArcCosine(order), weights="signed")
    Z = drawn("ssr", 5, 6, ArcCosine(order), seed=599, weights="signed").transform(X)
    assert Z.shape[1] == 12
    if order > 0:
        np.testing.assert_allclose(Z[0] @ Z[1], sample[-1], rtol=1e-12, atol=1e-12)
    assert_mean(sample, ArcCosine(order)(X)[0, 1])
