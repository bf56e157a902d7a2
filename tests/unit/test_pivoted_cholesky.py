"""Randomly pivoted Cholesky: the factor, the distribution of the pivots, and where it stops."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.stats import chisquare

from random_features import pivoted_cholesky as module
from random_features.kernels import Gaussian, Laplacian, Linear, Polynomial
from random_features.pivoted_cholesky import pivoted_cholesky

KERNELS = [Gaussian(1.5), Laplacian(2.0), Polynomial(3, 1.0)]


def rows(n=200, d=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)) / np.arange(1, d + 1)


def pivots_of(kernel, X, rank, **options):
    return pivoted_cholesky(kernel, X, rank, np.random.default_rng(0), **options)


@pytest.mark.parametrize("candidates", [1, 7, 100])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_the_factor_is_the_projection_on_the_pivots(kernel, candidates, monkeypatch):
    """F F' = K(:, S) K(S, S)^-1 K(S, :), the Nystroem approximation, for any number of candidates a pass."""
    monkeypatch.setattr(module, "CANDIDATES", candidates)
    X = rows()
    pivots, F = pivots_of(kernel, X, 20)
    K = kernel(X)
    assert len(set(pivots)) == 20
    assert F.shape == (200, 20)
    expected = K[:, pivots] @ np.linalg.solve(K[np.ix_(pivots, pivots)], K[pivots])
    np.testing.assert_allclose(F @ F.T, expected, atol=1e-7 * K.max())


def chances(K, rank):
    """Return the probability of every sequence of pivots, from the residuals after each of them."""
    result = {}
    for sequence in permutations(range(len(K)), rank):
        residual, chance = K.copy(), 1.0
        for pivot in sequence:
            chance *= residual[pivot, pivot] / np.trace(residual)
            residual = residual - np.outer(residual[:, pivot], residual[pivot]) / residual[pivot, pivot]
        result[sequence] = chance
    return result


@pytest.mark.parametrize("candidates", [1, 4])
def test_pivots_have_the_distribution_of_single_draws(candidates, monkeypatch):
    """Against all sequences of three of four rows, at the level 1e-3. A pass that accepts all candidates fails."""
    monkeypatch.setattr(module, "CANDIDATES", candidates)
    X, draws = np.array([[0.0], [0.3], [1.0], [3.0]]), 4000
    rng = np.random.default_rng(1)
    seen = Counter(tuple(int(i) for i in pivoted_cholesky(Gaussian(), X, 3, rng)[0]) for _ in range(draws))
    expected = chances(Gaussian()(X), 3)
    assert sum(expected.values()) == pytest.approx(1)
    assert min(expected.values()) * draws > 5
    assert set(seen) <= set(expected)
    observed = [seen[sequence] for sequence in expected]
    assert chisquare(observed, draws * np.array(list(expected.values()))).pvalue > 1e-3


def test_it_stops_at_the_tolerance_and_at_rounding_errors():
    X = rows()
    pivots, F = pivots_of(Gaussian(1.5), X, 150, tolerance=2.0)
    assert 200 - np.square(F).sum() <= 2.0
    assert len(pivots) < 150
    assert len(pivots_of(Linear(), X, 50)[0]) == 4
    assert len(pivots_of(Linear(), np.zeros((5, 2)), 3)[0]) == 0
    repeated, _ = pivots_of(Gaussian(1.5), np.repeat(X[:6], 4, axis=0), 24)
    assert sorted(repeated // 4) == list(range(6))


def test_blocks_sparse_rows_and_types_do_not_matter(monkeypatch):
    X = rows().astype(np.float32)
    pivots, F = pivots_of(Gaussian(1.5), X, 30)
    monkeypatch.setattr("random_features.arrays.CPU_BLOCK_BYTES", 8 * 7 * 100)
    for same in (X, X.astype(np.float64), csr_matrix(X)):
        others, again = pivots_of(Gaussian(1.5), same, 30)
        np.testing.assert_array_equal(others, pivots)
        np.testing.assert_allclose(again, F, atol=1e-7)
