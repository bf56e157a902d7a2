"""Structured maps against their naive twins: explicit matrix products, and all sign patterns of small blocks."""

from itertools import product

import numpy as np
import pytest
from closed_forms import drawn
from scipy.linalg import hadamard

from random_features.hadamard import sequency_order
from random_features.kernels import Gaussian


def signed_hadamard_blocks(signs, order):
    """sqrt(p) H D_1 ... H D_t per block by explicit products; signs (t, blocks, p), the first applied first."""
    p = signs.shape[2]
    H = hadamard(p)[sequency_order(p)] if order == "sequency" else hadamard(p)
    W = np.sqrt(p) * np.tile(np.eye(p), (signs.shape[1], 1, 1))
    for diagonals in signs:
        W = H / np.sqrt(p) @ (diagonals[:, :, None] * W)
    return np.concatenate(W)


sizes = pytest.mark.parametrize(("d", "s"), [(1, 1), (1, 3), (2, 2), (5, 8), (5, 21), (8, 3), (100, 130), (128, 256)])
OF_ROM = ({}, {"n_factors": 1}, {"n_factors": 4}, {"n_factors": 2, "order": "sequency"})


@sizes
@pytest.mark.parametrize(("name", "options"), [("sorf", {}), *(("rom", each) for each in OF_ROM)])
def test_signed_hadamard_maps_are_the_matrix_product(name, options, d, s):
    phi = drawn(name, d, s, Gaussian(1.3), **options)
    expected = signed_hadamard_blocks(phi.signs_, options.get("order", "natural"))[:s, :d] / 1.3
    np.testing.assert_allclose(phi.dense_frequencies(), expected, atol=1e-12)
    X = np.random.default_rng(0).normal(size=(3, d))
    expected = np.hstack([np.cos(X @ expected.T), np.sin(X @ expected.T)]) / np.sqrt(s)
    np.testing.assert_allclose(phi.transform(X), expected, atol=1e-12)


@sizes
def test_fastfood_is_the_matrix_product(d, s):
    phi = drawn("fastfood", d, s, Gaussian(1.3))
    p, H, blocks = phi.block_size_, hadamard(phi.block_size_), []
    drawn_blocks = zip(phi.signs_, phi.permutations_, phi.gaussians_, phi.row_scales_, strict=True)
    for signs, permutation, gaussians, scales in drawn_blocks:
        # The form with H of entries +-1 and the correction 1 / sqrt(p).
        second = scales[:, None] * H * gaussians
        blocks.append(second @ np.eye(p)[permutation] @ (H * signs) / np.sqrt(p))
    np.testing.assert_allclose(phi.dense_frequencies(), np.concatenate(blocks)[:s, :d] / 1.3, atol=1e-11)
    assert all(np.array_equal(np.sort(permutation), np.arange(p)) for permutation in phi.permutations_)


def test_rom_with_three_factors_is_sorf():
    np.testing.assert_array_equal(drawn("sorf", 6, 20).dense_frequencies(), drawn("rom", 6, 20).dense_frequencies())


@pytest.mark.parametrize("p", [2, 4])
def test_all_sign_patterns_have_the_mean_that_is_sampled(p):
    """2^(3p) patterns: the exact expectation; the bias bound 6 z / sqrt(d) holds, and sampling agrees."""
    patterns = np.array(list(product((-1, 1), repeat=3 * p)), dtype=np.int8)
    phi = drawn("sorf", p, p * len(patterns))
    sampled = phi.dense_frequencies()
    phi.signs_ = patterns.reshape(len(patterns), 3, p).transpose(1, 0, 2)
    enumerated = phi.dense_frequencies()
    np.testing.assert_allclose(enumerated, signed_hadamard_blocks(phi.signs_, "natural"), atol=1e-12)
    for z in (0.3, 1.0, 2.0):
        tau = z * np.linspace(1, 2, p) / np.linalg.norm(np.linspace(1, 2, p))
        exact = np.cos(enumerated @ tau).mean()
        assert abs(exact - np.exp(-(z**2) / 2)) < 6 * z / np.sqrt(p)
        estimates = np.cos(sampled @ tau).reshape(-1, p).mean(axis=1)
        # At p = 2 all patterns give one value, and only roundings are left.
        assert abs(estimates.mean() - exact) < 4 * estimates.std() / np.sqrt(len(estimates)) + 1e-14


@pytest.mark.parametrize("name", ["sorf", "rom", "fastfood"])
def test_memory_is_linear_in_s(name):
    """Every stored array has at most a few numbers per frequency, never s x d."""
    phi = drawn(name, 256, 512)
    assert sum(value.size for value in vars(phi).values() if isinstance(value, np.ndarray)) <= 4 * 512
