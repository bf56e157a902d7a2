"""The maps that fit weights to the data, against brute force: CLR-RFF and SES."""

import numpy as np
import pytest
from closed_forms import candidates

from random_features.kernels import Gaussian
from random_features.maps import make_map
from random_features.maps.compression import geodesic_ascent, shrunken_weights


def data(n=60, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def naive_ascent(vectors, n_steps):
    """GIGA with the vectors on the sphere written out."""
    lengths = np.linalg.norm(vectors, axis=1)
    units = vectors / lengths[:, None]
    total = vectors.sum(axis=0)
    goal = total / np.linalg.norm(total)
    weights = np.zeros(len(vectors))
    weights[np.argmax(units @ goal)] = 1.0
    for _ in range(n_steps - 1):
        current = weights @ units
        residual = goal - (goal @ current) * current
        tangents = units - np.outer(units @ current, current)
        norms = np.linalg.norm(tangents, axis=1)
        gains = np.where(norms > 1e-7, tangents @ residual / np.maximum(norms, 1e-7), -np.inf)
        best = np.argmax(gains)
        if gains[best] <= 1e-7:
            break
        a, b, c = units[best] @ goal, units[best] @ current, goal @ current
        share = (a - c * b) / ((a - c * b) + (c - a * b))
        weights = (1 - share) * weights
        weights[best] += share
        weights /= np.linalg.norm(weights @ units)
    scale = np.linalg.norm(total) * (goal @ (weights @ units))
    return weights * scale / lengths


@pytest.mark.parametrize("seed", range(3))
def test_geodesic_ascent_is_the_naive_one(seed):
    vectors = np.random.default_rng(seed).normal(size=(15, 40)) + 0.3
    for n_steps in (1, 2, 5, 12):
        indices, weights = geodesic_ascent(vectors, n_steps)
        dense = np.zeros(15)
        dense[indices] = weights
        np.testing.assert_allclose(dense, naive_ascent(vectors, n_steps), atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_geodesic_ascent_errors_fall(seed):
    vectors = np.random.default_rng(seed).normal(size=(60, 200)) + 0.2
    total, errors = vectors.sum(axis=0), []
    for n_steps in range(1, 41):
        indices, weights = geodesic_ascent(vectors, n_steps)
        assert len(indices) <= n_steps
        assert np.all(weights > 0)
        combination = weights @ vectors[indices]
        # The length is the best one: the error is orthogonal to the combination.
        assert abs((total - combination) @ combination) < 1e-9 * (total @ total)
        errors.append(np.linalg.norm(total - combination))
    assert np.all(np.diff(errors) <= 1e-9 * errors[0])
    assert errors[-1] < 0.5 * errors[0]


def test_geodesic_ascent_skips_zero_vectors_and_refuses_a_zero_sum():
    indices, weights = geodesic_ascent(np.array([[0.0, 0.0], [2.0, 0.0]]), 5)
    assert (indices.tolist(), weights.tolist()) == ([1], [1.0])
    with pytest.raises(ValueError, match="sum to zero"):
        geodesic_ascent(np.array([[1.0, 0.0], [-1.0, 0.0]]), 1)


def test_clrff_is_nearer_to_the_candidates_than_a_random_subset():
    X = data(200)
    compressed, random = [], []
    for seed in range(5):
        phi = make_map("clrff", n_components=20, n_candidates=300, n_pairs=3000, random_state=seed).fit(X)
        Z, C = phi.transform(X), candidates(phi, X) / np.sqrt(300)
        exact = C @ C.T
        compressed.append(np.linalg.norm(Z @ Z.T - exact))
        random.append(np.linalg.norm(15 * C[:, :20] @ C[:, :20].T - exact))
    assert np.max(compressed) < np.min(random)


def test_shrunken_weights_meet_the_optimality_conditions():
    rng = np.random.default_rng(0)
    A, h = rng.normal(size=(80, 12)), rng.normal(size=80)
    weights = shrunken_weights(A, h, 3.0)
    gradient = A.T @ (A @ weights - h) + 3.0 * (weights - 1 / 12)
    assert np.all(weights >= 0)
    assert 0 < np.count_nonzero(weights) < 12
    np.testing.assert_allclose(gradient[weights > 0], 0.0, atol=1e-10)
    assert np.all(gradient[weights == 0] >= -1e-10)


def test_shrunken_weights_limits():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(80, 6))
    np.testing.assert_allclose(shrunken_weights(A, rng.normal(size=80), 1e9), 1 / 6, atol=1e-6)
    truth = np.array([0.5, 1.0, 2.0, 0.1, 0.3, 0.7])
    np.testing.assert_allclose(shrunken_weights(A, A @ truth, 1e-9), truth, rtol=1e-8)


def test_ses_has_less_error_than_equal_weights_on_its_data():
    X = data(200)
    weighted, equal = [], []
    for seed in range(8):
        phi = make_map("ses", n_components=60, random_state=seed).fit(X)
        assert phi.n_columns_ <= 60
        Z, C = phi.transform(X), candidates(phi, X) / np.sqrt(60)
        weighted.append(np.linalg.norm(Z @ Z.T - Gaussian()(X)))
        equal.append(np.linalg.norm(C @ C.T - Gaussian()(X)))
    # Seven or eight of eight, were both equally likely to be nearer, have the probability 9 / 256.
    assert np.sum(np.less(weighted, equal)) >= 7
