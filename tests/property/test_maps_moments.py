"""Mean and variance of the approximate kernel against closed forms, for the maps that draw frequencies.

One fit with many blocks of frequencies gives many independent draws of a small map: the estimate of a draw is the
mean of cos(w . tau) over the frequencies of its block.
"""

import numpy as np
import pytest
from closed_forms import assert_mean, assert_variance, cosines_by_seed, direction, drawn, rff_variance
from scipy.integrate import quad
from scipy.special import gamma, jv
from scipy.stats import chi, chi2, kstest

from random_features.maps import make_map

DRAWS = 10_000
D = 8
DISTANCES = (0.3, 1.0, 1.3, 2.5)


def block_estimates(name, tau, block, draws=DRAWS, **options):
    """Independent draws of the approximate kernel at tau, each with one block of frequencies: (draws,)."""
    W = drawn(name, len(tau), draws * block, **options).dense_frequencies()
    return np.cos(W @ tau).reshape(draws, block).mean(axis=1)


def sphere_mean(d, u):
    """E cos(u v_1) for v uniform on the unit sphere in d dimensions."""
    return gamma(d / 2) * (2 / u) ** (d / 2 - 1) * jv(d / 2 - 1, u)


def orthogonal_covariance(d, z):
    """Covariance of cos(w_i . tau) and cos(w_j . tau) for two rows of one ORF block.
    cos a cos b = (cos(a + b) + cos(a - b)) / 2, and w_i +- w_j has a uniform direction and the length of a chi with
    2 d degrees of freedom."""
    mean = quad(lambda r: sphere_mean(d, z * r) * chi.pdf(r, 2 * d), 0, 40, points=[np.sqrt(2 * d)], limit=200)[0]
    return mean - np.exp(-(z**2))


@pytest.mark.parametrize("z", DISTANCES)
def test_rff_mean_and_variance_in_both_layouts(z):
    sample, x = block_estimates("rff", z * direction(0), 1), direction(3)
    assert_mean(sample, np.exp(-(z**2) / 2))
    assert_variance(sample, rff_variance(z))
    Z = drawn("rff", D, DRAWS, layout="phase").transform(np.stack([x, x + z * direction(4)])) * np.sqrt(DRAWS)
    assert_variance(Z[0] * Z[1], 0.5 + rff_variance(z))


@pytest.mark.parametrize("name", ["rff", "orf", "fastfood", pytest.param("qmc", marks=pytest.mark.slow)])
def test_phase_layout_is_unbiased(name):
    tau = 1.3 * direction(1)
    x = direction(2)
    draws = 1000 if name == "qmc" else 1  # one sequence is one draw; elsewhere one fit holds many blocks
    blocks = 1 if name == "qmc" else 8000
    sample, norms = [], []
    for seed in range(draws):
        phi = drawn(name, D, blocks * 8, layout="phase", seed=seed)
        Z = phi.transform(np.stack([x, x + tau])) * np.sqrt(blocks)  # columns scaled to maps of 8 frequencies
        sample.append((Z[0] * Z[1]).reshape(blocks, 8).sum(axis=1))
        norms.append((Z[0] ** 2).reshape(blocks, 8).sum(axis=1))
    assert_mean(np.concatenate(sample), np.exp(-(1.3**2) / 2))
    assert_mean(np.concatenate(norms), 1.0)


@pytest.mark.parametrize("z", DISTANCES)
@pytest.mark.parametrize("block", [3, D])
def test_orf_mean_and_exact_variance(z, block):
    """The first rows of a block are any subset of its orthogonal rows."""
    W = drawn("orf", D, DRAWS * D).dense_frequencies()
    sample = np.cos(W @ (z * direction(5))).reshape(DRAWS, D)[:, :block].mean(axis=1)
    assert_mean(sample, np.exp(-(z**2) / 2))
    assert_variance(sample, (rff_variance(z) + (block - 1) * orthogonal_covariance(D, z)) / block)


def paired_covariance(d, z):
    """The same for two rows with the lengths F^-1(u) and F^-1(1 - u) of the chi distribution F."""

    def given(u):
        return sphere_mean(d, z * np.hypot(chi.ppf(u, d), chi.ppf(1 - u, d)))

    return 2 * quad(given, 0, 0.5, limit=200)[0] - np.exp(-(z**2))


@pytest.mark.parametrize("z", DISTANCES)
def test_paired_lengths_of_orf_have_their_exact_variance(z):
    """A row is one of a pair in the block; the other rows have independent lengths. For a block of three, one row is
    left over. Pairs lower the variance at short distances and raise it at long ones."""
    W = drawn("orf", D, DRAWS * D, lengths="paired").dense_frequencies()
    cosines = np.cos(W @ (z * direction(5))).reshape(DRAWS, D)
    paired, orthogonal = paired_covariance(D, z), orthogonal_covariance(D, z)
    assert (paired < orthogonal) == (z < 2)
    for block, pairs in ((2, 1), (3, 1), (D, D // 2)):
        sample = cosines[:, :block].mean(axis=1)
        assert_mean(sample, np.exp(-(z**2) / 2))
        shared = 2 * pairs * paired + (block * (block - 1) - 2 * pairs) * orthogonal
        assert_variance(sample, (block * rff_variance(z) + shared) / block**2)


@pytest.mark.parametrize("d", [1, 5, 8])
def test_paired_lengths_are_opposite_quantiles_of_chi(d):
    W = drawn("orf", d, 2000 * d + 1, lengths="paired").dense_frequencies()
    lengths = np.linalg.norm(W[:-1], axis=1).reshape(2000, d)
    quantiles = chi(d).cdf(lengths)
    for row in range(0, d - 1, 2):
        np.testing.assert_allclose(quantiles[:, row] + quantiles[:, row + 1], 1, atol=1e-9)
    assert kstest(lengths[:, -1], chi(d).cdf).pvalue > 1e-4


def test_orf_blocks_are_independent():
    """Stacking two blocks halves the variance of one."""
    z = 1.3
    sample = block_estimates("orf", z * direction(6), 2 * D, draws=DRAWS // 2)
    assert_variance(sample, (rff_variance(z) + (D - 1) * orthogonal_covariance(D, z)) / (2 * D))


@pytest.mark.parametrize("name", ["rff", "orf", "fastfood"])
def test_lengths_of_the_frequencies_are_chi(name):
    """Kolmogorov-Smirnov at level 1e-4; the rows of different blocks are independent, so one row per block is used.
    The lengths of the rows of a Fastfood block are independent too, because only S decides them when p = d."""
    W = drawn(name, D, 2000 * D).dense_frequencies()[::D]
    assert kstest(np.linalg.norm(W, axis=1), chi(D).cdf).pvalue > 1e-4


@pytest.mark.parametrize("s", [5, 8, 19])
def test_orf_rows_of_a_block_are_orthogonal(s):
    W = drawn("orf", D, s).dense_frequencies()
    for start in range(0, s, D):
        gram = W[start : start + D] @ W[start : start + D].T
        np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-12)


def test_orf_directions_are_haar():
    """Entries of a Haar matrix have mean 0 and variance 1/d; without the sign of R the diagonal would be biased."""
    W = drawn("orf", D, DRAWS * D).dense_frequencies().reshape(DRAWS, D, D)
    Q = W / np.linalg.norm(W, axis=2, keepdims=True)
    # 2 x 64 comparisons: five standard errors instead of four.
    for sample, expected in ((Q, 0.0), (Q**2, 1 / D)):
        error = sample.std(axis=0) / np.sqrt(DRAWS)
        assert np.all(np.abs(sample.mean(axis=0) - expected) < 5 * error)


@pytest.mark.parametrize("d", [8, 16])
def test_bias_of_sorf_is_that_of_a_fixed_length(d):
    """All rows have the length sqrt(p), so the mean is near the mean of uniform directions, not near the kernel."""
    z = 1.3
    sample = block_estimates("sorf", z * direction(8, d), d, draws=20_000)
    error = sample.std(ddof=1) / np.sqrt(len(sample))
    sphere, kernel = sphere_mean(d, np.sqrt(d) * z), np.exp(-(z**2) / 2)
    assert abs(sample.mean() - sphere) + 4 * error < abs(sample.mean() - kernel) - 4 * error


@pytest.mark.parametrize("z", DISTANCES)
@pytest.mark.parametrize("tau", [direction(9), np.eye(D)[2]], ids=["random", "axis"])
def test_fastfood_is_unbiased_with_bounded_variance(z, tau):
    sample = block_estimates("fastfood", z * tau, D)
    assert_mean(sample, np.exp(-(z**2) / 2))
    # Le, Sarlos and Smola, Theorem 9: V1/s + (6 z^4 / s) (e^{-z^2} + z^2 / 3).
    assert D * sample.var() < rff_variance(z) + 6 * z**4 * (np.exp(-(z**2)) + z**2 / 3)


@pytest.mark.parametrize("n_nodes", [2, 3, 5])
@pytest.mark.parametrize("z", DISTANCES)
def test_quadrature_mean_is_the_product_of_the_rule(n_nodes, z):
    tau = z * direction(10)
    nodes, weights = np.polynomial.hermite_e.hermegauss(n_nodes)
    expected = np.prod((weights / weights.sum()) @ np.cos(np.outer(nodes, tau)))
    assert_mean(block_estimates("gq", tau, 1, draws=40_000, n_nodes=n_nodes), expected)


@pytest.mark.parametrize("sequence", ["halton", "sobol"])
def test_qmc_is_unbiased_and_better_than_independent(sequence):
    tau, s = np.array([0.7, -0.9, 0.6]), 16
    z = np.linalg.norm(tau)
    sample = cosines_by_seed(make_map("qmc", n_components=s, sequence=sequence), tau, 1500)
    assert_mean(sample, np.exp(-(z**2) / 2))
    assert s * sample.var() < rff_variance(z)


@pytest.mark.parametrize("d", [4, 5])
def test_ssf_mean_over_rotations_is_the_mean_over_its_radii(d):
    """A random rotation makes every direction uniform on the sphere of the even dimension above d."""
    tau, s, even = 1.3 * direction(11, d), 16, d + d % 2
    radii = np.sqrt(chi2.ppf((np.arange(s) + 0.5) / s, even))
    assert_mean(cosines_by_seed(make_map("ssf", n_components=s), tau, 1000), sphere_mean(even, 1.3 * radii).mean())
