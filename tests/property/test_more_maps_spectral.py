"""NRFF, MM, SCRF, the P-model and LP-RFF against closed forms.

One fit with many blocks gives many independent draws of one block: the products of the features of two points, summed
over the columns of a block.
"""

from itertools import product

import numpy as np
import pytest
from closed_forms import assert_mean, assert_variance, by_seed, cosines_by_seed, direction, rff_variance
from scipy.integrate import quad
from scipy.linalg import circulant, hadamard, sqrtm, toeplitz

from random_features.kernels import ArcCosine, Cauchy, Gaussian, Laplacian
from random_features.maps import base, make_map
from random_features.maps.lowprecision import lloyd_max_levels

D = 8
#: Draws of a map: the standard error of a variance is some 4 % of it.
DRAWS = 1500
DISTANCES = np.array([0.3, 0.7, 1.3, 2.0])


def block_cosines(phi, tau, block):
    """The estimates of the kernel at tau by every block of frequencies."""
    return np.cos(phi.dense_frequencies() @ tau).reshape(-1, block).mean(axis=1)


def circulant_variance(tau, lags):
    """s times the variance for full circulant blocks: RFF's and the covariances of rows 1, ..., lags apart."""
    z = np.linalg.norm(tau)
    correlations = np.array([tau @ np.roll(tau, lag) for lag in range(1, lags + 1)])
    return rff_variance(z) + np.exp(-(z**2)) * np.sum(np.cosh(correlations) - 1)


@pytest.fixture(scope="module")
def normalised_estimates():
    """Draws of NRFF with s = 200 at the distances, (draws, distances)."""
    x = direction(0)
    rows = np.stack([x, *(x + np.outer(DISTANCES, direction(1)))])
    draws = (phi.transform(rows) for phi in by_seed(make_map("nrff", n_components=200), D, DRAWS))
    return np.array([Z[1:] @ Z[0] for Z in draws])


@pytest.mark.parametrize("column", range(len(DISTANCES)))
def test_nrff_variance(column, normalised_estimates):
    """The formula is the limit for large s: its relative remainder is a few multiples of 1 / s."""
    z = DISTANCES[column]
    phase = 0.5 + rff_variance(z)
    reduction = np.exp(-(z**2)) * (3 - np.exp(-2 * z**2)) / 4
    assert_variance(normalised_estimates[:, column] * np.sqrt(200), phase - reduction, remainder=5 / 200)
    # At equal columns, [cos | sin] with s / 2 frequencies varies still less.
    assert normalised_estimates[:, column].var() * 200 > 2 * rff_variance(z) * 0.9


def test_nrff_mean(normalised_estimates):
    error = normalised_estimates.std(axis=0) / np.sqrt(DRAWS)
    bias = np.abs(normalised_estimates.mean(axis=0) - np.exp(-(DISTANCES**2) / 2))
    # The bias is of order 1 / s.
    assert np.all(bias < 4 * error + 1 / 200)


@pytest.mark.parametrize("kernel", [Gaussian(0.7), Cauchy(0.7), ArcCosine(1)], ids=repr)
@pytest.mark.parametrize("s", [D + 1, 50])
def test_mm_moments_are_exact(kernel, s):
    W = make_map("mm", kernel, n_components=s, random_state=3).fit(np.zeros((1, D))).frequencies_
    np.testing.assert_allclose(W.mean(axis=0), 0.0, atol=1e-10)
    np.testing.assert_allclose(W.T @ W / s, kernel.frequency_scale**2 * np.eye(D), atol=1e-10)


def test_mm_whitens_by_the_symmetric_root():
    G = make_map("rff", n_components=30, random_state=5).fit(np.zeros((1, 4))).frequencies_
    W = make_map("mm", n_components=30, random_state=5).fit(np.zeros((1, 4))).frequencies_
    centred = G - G.mean(axis=0)
    np.testing.assert_allclose(W, centred @ np.linalg.inv(sqrtm(centred.T @ centred / 30).real), atol=1e-12)


def test_mm_bias_falls_and_variance_is_below_rff():
    few, many = (cosines_by_seed(make_map("mm", n_components=s), 1.3 * direction(2), DRAWS) for s in (16, 64))
    kernel = np.exp(-(1.3**2) / 2)
    error = 4 * few.std() / np.sqrt(DRAWS)
    # -0.020 at s = 16; a quarter of that is left at four times s.
    assert few.mean() - kernel < -error
    assert abs(many.mean() - kernel) < abs(few.mean() - kernel) / 2
    # Four standard errors of a variance are 4 sqrt(2 / 1500) = 15 % and the ratio is near 1/7.
    assert 16 * few.var() < 0.2 * rff_variance(1.3)


@pytest.mark.parametrize("s", [1, 2, 4])
def test_mm_matches_the_mean_where_the_covariance_is_singular(s):
    with pytest.warns(UserWarning, match=f"mm matches the mean only: n_components={s} frequencies for 4 columns"):
        W = make_map("mm", n_components=s, random_state=0).fit(np.zeros((1, 4))).frequencies_
    assert np.linalg.norm(W) > 0.1
    if s > 1:
        np.testing.assert_allclose(W.mean(axis=0), 0.0, atol=1e-12)


def dense_scrf(phi):
    """W, built from the generators and signs entry by entry."""
    blocks = []
    for generator, signs in zip(phi.generators_, phi.signs_, strict=True):
        matrix = circulant(generator).T  # row i, column j: c[(j - i) mod d]
        blocks.append(matrix * signs if phi.sign_side == "input" else signs[:, None] * matrix)
    return np.concatenate(blocks)[: phi.n_components]


@pytest.mark.parametrize("tau", [1.3 * direction(3), 1.3 * np.full(D, D**-0.5)], ids=["random", "constant"])
def test_scrf_variance_with_output_signs(tau):
    phi = make_map("scrf", n_components=10_000 * D, sign_side="output", random_state=1).fit(np.zeros((1, D)))
    sample = block_cosines(phi, tau, D)
    assert_mean(sample, np.exp(-(1.3**2) / 2))
    assert_variance(np.sqrt(D) * sample, circulant_variance(tau, D - 1))


def test_scrf_output_signs_do_nothing_to_the_cosine_kernel():
    phi = make_map("scrf", n_components=24, sign_side="output", random_state=1).fit(np.zeros((1, D)))
    X = np.random.default_rng(1).normal(size=(9, D))
    Z = phi.transform(X)
    phi.signs_ = np.ones_like(phi.signs_)
    unsigned = phi.transform(X)
    np.testing.assert_allclose(Z @ Z.T, unsigned @ unsigned.T, atol=1e-12)


@pytest.mark.parametrize("tau", [1.3 * direction(4, 4), 1.3 * np.full(4, 0.5)], ids=["random", "constant"])
def test_scrf_variance_with_input_signs(tau):
    """Given the signs it is the formula for the signed difference; its mean over all 16 sign patterns."""
    sample = block_cosines(make_map("scrf", n_components=40_000, random_state=2).fit(np.zeros((1, 4))), tau, 4)
    expected = np.mean([circulant_variance(tau * signs, 3) for signs in product([-1, 1], repeat=4)])
    assert_mean(sample, np.exp(-(1.3**2) / 2))
    assert_variance(2 * sample, expected)


@pytest.mark.parametrize("sign_side", ["input", "output"])
@pytest.mark.parametrize("kernel", [Laplacian(1.5), Cauchy(1.5)], ids=repr)
def test_scrf_is_unbiased_for_other_shift_invariant_kernels(kernel, sign_side):
    phi = make_map("scrf", kernel, n_components=5 * 20_000, sign_side=sign_side, random_state=3)
    tau = direction(5, 5)
    sample = block_cosines(phi.fit(np.zeros((1, 5))), tau, 5)
    assert_mean(sample, kernel(tau[None], np.zeros((1, 5)))[0, 0])


def dense_pmodel(phi, d):
    p = phi.signs_.shape[1]
    if phi.structure == "circulant":
        G = np.concatenate([circulant(generator).T for generator in phi.generators_])[: phi.n_components]
    else:
        generator = phi.generators_[0]
        G = toeplitz(generator[p - 1 :], generator[p - 1 :: -1])
    first, second = phi.signs_
    return (G * second @ (hadamard(p) / np.sqrt(p)) * first)[:, :d]


OF_SCRF = [("scrf", {"sign_side": side}) for side in ("input", "output")]
OF_PMODEL = [("pmodel", {"structure": structure}) for structure in ("circulant", "toeplitz")]


@pytest.mark.parametrize(("name", "options"), OF_SCRF + OF_PMODEL)
@pytest.mark.parametrize(("d", "s"), [(1, 1), (1, 3), (3, 2), (5, 4), (6, 17), (8, 16)])
def test_circulant_maps_are_their_dense_products(name, options, d, s):
    phi = make_map(name, n_components=s, random_state=0, **options).fit(np.zeros((1, d)))
    X = np.random.default_rng(1).normal(size=(9, d))
    W = dense_scrf(phi) if name == "scrf" else dense_pmodel(phi, d)
    np.testing.assert_allclose(phi.dense_frequencies(), W, atol=1e-12)
    expected = np.hstack([np.cos(X @ W.T), np.sin(X @ W.T)]) / np.sqrt(s)
    np.testing.assert_allclose(phi.transform(X), expected, atol=1e-12)


def preconditioned(phi, tau):
    p = phi.signs_.shape[1]
    padded = np.zeros(p)
    padded[: len(tau)] = tau
    return phi.signs_[1] * (hadamard(p) @ (phi.signs_[0] * padded)) / np.sqrt(p)


def test_pmodel_circulant_variance():
    """All blocks of a fit share the signs: the blocks are draws of the numbers g, given the signs."""
    tau = 1.3 * direction(6, 6)
    phi = make_map("pmodel", n_components=10_000 * 8, random_state=4).fit(np.zeros((1, 6)))
    sample = block_cosines(phi, tau, 8)
    assert_mean(sample, np.exp(-(1.3**2) / 2))
    assert_variance(np.sqrt(8) * sample, circulant_variance(preconditioned(phi, tau), 7))


def test_pmodel_toeplitz_variance():
    """Given the signs the mean is the kernel, so that the variance is the mean of the variances given the signs."""
    s, tau = 6, 1.3 * direction(7, 4)
    sample, expected = [], []
    for phi in by_seed(make_map("pmodel", n_components=s, structure="toeplitz"), 4, DRAWS):
        sample.append(np.cos(phi.dense_frequencies() @ tau).mean())
        v = preconditioned(phi, tau)
        lags = np.array([v[lag:] @ v[: len(v) - lag] for lag in range(1, 4)])
        pairs = 2 * (s - np.arange(1, 4))
        covariances = np.exp(-(1.3**2)) * (np.cosh(lags) - 1)
        expected.append(rff_variance(1.3) / s + pairs @ covariances / s**2)
    assert_mean(sample, np.exp(-(1.3**2) / 2))
    assert_variance(sample, np.mean(expected))


def rounded_and_exact(X, n_components, n_bits, seed=0):
    """The rounded features and the features of RFF with the same seed, which draws the same frequencies and phases."""
    low = make_map("lprff", n_components=n_components, n_bits=n_bits, random_state=seed).fit(X)
    exact = make_map("rff", n_components=n_components, layout="phase", random_state=seed).fit(X)
    np.testing.assert_array_equal(low.frequencies_, exact.frequencies_)
    return low.transform(X), exact.transform(X)


@pytest.mark.parametrize("n_bits", [1, 2, 4])
def test_lprff_rounds_to_a_grid_of_its_bits(n_bits):
    Z, exact = rounded_and_exact(np.random.default_rng(0).normal(size=(500, 3)), 40, n_bits)
    c = np.sqrt(2 / 40)
    grid = np.linspace(-c, c, 2**n_bits)
    steps = (Z + c) / (grid[1] - grid[0])
    np.testing.assert_allclose(steps, steps.round(), atol=1e-9)
    assert len(np.unique(steps.round())) == 2**n_bits
    assert np.all(np.abs(Z - exact) < grid[1] - grid[0])


@pytest.mark.parametrize("n_bits", [1, 3, 24])
def test_lprff_rounding_is_unbiased_with_the_variance_of_its_fraction(n_bits):
    Z, exact = rounded_and_exact(np.random.default_rng(1).normal(size=(20_000, 3)), 6, n_bits)
    c = np.sqrt(2 / 6)
    delta = 2 * c / (2**n_bits - 1)
    fraction = (exact + c) / delta % 1
    assert_mean(Z - exact, 0.0)
    assert_mean((Z - exact) ** 2 - delta**2 * fraction * (1 - fraction), 0.0)


@pytest.mark.parametrize("distance", [1e-9, 1.0])
def test_lprff_rounds_different_rows_independently(distance):
    """However near: the errors of two rows are uncorrelated, so that the kernel between them is unbiased."""
    x = direction(8, 3)
    Z, exact = rounded_and_exact(np.stack([x, x + distance * np.eye(3)[0]]), 40_000, 2)
    errors = (Z - exact) * np.sqrt(20_000)
    assert_mean(errors[0] * errors[1], 0.0)
    # On the diagonal the rounding variances add up, to at most s delta^2 / 4.
    excess = (Z**2).sum(axis=1) - (exact**2).sum(axis=1)
    assert np.all(excess > 0)
    assert np.all(excess < 40_000 * (2 * np.sqrt(2 / 40_000) / 3) ** 2 / 4)


def test_lprff_is_a_function_of_the_row(monkeypatch):
    X = np.random.default_rng(2).normal(size=(600, 5))
    X[300:] = X[:300]
    phi = make_map("lprff", n_components=31, n_bits=2, random_state=0).fit(X)
    Z = phi.transform(X)
    np.testing.assert_array_equal(Z, phi.transform(X))
    np.testing.assert_array_equal(Z[:300], Z[300:])
    np.testing.assert_array_equal(Z[::-1], phi.transform(X[::-1]))
    np.testing.assert_array_equal(Z[7:8], phi.transform(X[7:8]))
    np.testing.assert_array_equal(Z, np.concatenate([block for _, block in phi.transform_blocks(X, rows=7)]))
    monkeypatch.setattr(base, "CACHE_BYTES", 5000)
    np.testing.assert_array_equal(Z, phi.transform(X))
    assert np.any(make_map("lprff", n_components=31, n_bits=2, random_state=1).fit(X).transform(X) != Z)
    # zero and minus zero are one
    X[:, 0] = 0.0
    np.testing.assert_array_equal(phi.transform(X), phi.transform(X * [-1.0, 1, 1, 1, 1]))


#: Mean squared errors of the best quantisers of the cosine of a uniform angle: for one bit the values are -2 / pi and
#: 2 / pi, and the error 1/2 - 4 / pi^2. For many bits Bennett's integral gives c^3 / (12 N^2), N = 2^b values, with c
#: the integral of the cube root of the density.
ONE_BIT = 0.5 - 4 / np.pi**2


@pytest.mark.parametrize("n_bits", [1, 2, 4, 8])
def test_lloyd_max_levels_are_the_means_of_their_cells(n_bits):
    """The two conditions of Lloyd and Max, by numerical integration, and the mean squared error."""
    levels = lloyd_max_levels(n_bits)
    assert len(levels) == 2**n_bits
    np.testing.assert_allclose(levels, -levels[::-1], atol=1e-12)
    angles = (np.arange(2_000_000) + 0.5) * np.pi / 2_000_000
    cells = np.searchsorted((levels[1:] + levels[:-1]) / 2, np.cos(angles))
    means = np.bincount(cells, np.cos(angles)) / np.bincount(cells)
    np.testing.assert_allclose(levels, means, atol=1e-6)
    error = np.mean((np.cos(angles) - levels[cells]) ** 2)
    if n_bits == 1:
        assert error == pytest.approx(ONE_BIT, rel=1e-6)
    integral = np.pi ** (-1 / 3) * quad(lambda x: (1 - x**2) ** (-1 / 6), -1, 1)[0]
    assert error == pytest.approx(integral**3 / (12 * 4**n_bits), rel={1: 0.3, 2: 0.15, 4: 0.05, 8: 0.01}[n_bits])


@pytest.mark.parametrize("n_bits", [1, 2, 4])
@pytest.mark.parametrize("z", [0.2, 0.5, 1.5])
def test_lloyd_max_rounding_has_the_mean_of_its_cosine_series(n_bits, z):
    """E Q(cos t) Q(cos u) = sum of a_k^2 E cos k(t - u) / 2 for a uniform angle t, twice that by the scale."""
    X, s = np.stack([direction(0), direction(0) + z * direction(1)]), 40_000
    Z = make_map("lprff", n_components=s, n_bits=n_bits, rounding="lloyd_max", random_state=0).fit_transform(X)
    levels = lloyd_max_levels(n_bits) * np.sqrt(2 / s)
    assert np.isin(Z.round(12), levels.round(12)).all()
    borders = np.arccos(np.concatenate([[-1.0], (levels[1:] + levels[:-1]) / np.sqrt(8 / s), [1.0]]))
    k = np.arange(1, 2000)[:, None]
    series = 2 / np.pi * (np.sin(k * borders[:-1]) - np.sin(k * borders[1:])) / k @ levels / np.sqrt(2 / s)
    assert_mean(s * Z[0] * Z[1], np.sum(series**2 * np.exp(-((k[:, 0] * z) ** 2) / 2)))


def test_lloyd_max_rounding_has_less_error_than_stochastic_rounding():
    X = np.random.default_rng(0).normal(size=(60, D))
    exact = make_map("rff", n_components=500, layout="phase", random_state=0).fit(X)
    errors = {}
    for rounding in ("stochastic", "lloyd_max"):
        phi = make_map("lprff", n_components=500, n_bits=2, rounding=rounding, random_state=0).fit(X)
        np.testing.assert_array_equal(phi.frequencies_, exact.frequencies_)
        errors[rounding] = np.square(phi.transform(X) - exact.transform(X)).sum(axis=1).mean()
    # per feature of variance 1/2 and scale 2: 2 x 0.0209 against the mean of delta^2 f (1 - f) over the angles
    assert errors["lloyd_max"] == pytest.approx(2 * 0.020905, rel=0.02)
    assert errors["stochastic"] > 2.5 * errors["lloyd_max"]
