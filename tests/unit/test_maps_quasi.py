"""Point sets: quasi-Monte Carlo sequences and the directions of spherical structured features."""

import numpy as np
import pytest
from closed_forms import drawn
from scipy.special import ndtr
from scipy.stats import chi, qmc

from random_features.maps import make_map
from random_features.maps.quasi import scrambled_points
from random_features.maps.spherical import (
    inner_products,
    logarithmic_energy,
    lowest_energy_indices,
    next_prime,
    spherical_directions,
)


@pytest.mark.parametrize("sequence", ["halton", "sobol"])
def test_every_coordinate_is_uniform_in_many_dimensions(sequence):
    """A leaped Halton sequence has a constant 126th coordinate; none here has.
    Four standard errors of the standard deviation of 1000 uniform numbers, sigma sqrt((kurtosis - 1) / (4 n)) with
    sigma = 1 / sqrt(12), kurtosis = 1.8; a sequence is more even than independent numbers."""
    points = scrambled_points(sequence, 1000, 130, np.random.default_rng(0))
    sigma = 1 / np.sqrt(12)
    assert points.shape == (1000, 130)
    np.testing.assert_allclose(points.std(axis=0), sigma, atol=4 * sigma * np.sqrt(0.8 / 4000))


@pytest.mark.parametrize("sequence", ["halton", "sobol"])
@pytest.mark.parametrize("s", [1, 2, 100, 1000])
def test_frequencies_are_finite(sequence, s):
    W = make_map("qmc", n_components=s, sequence=sequence, random_state=0).restore(130, {}).frequencies_
    assert W.shape == (s, 130)
    assert np.isfinite(W).all()


def test_points_on_the_border_are_moved_inside(monkeypatch):
    monkeypatch.setattr(qmc.Sobol, "random_base2", lambda self, m: np.array([[0.0, 1.0]]))
    points = scrambled_points("sobol", 1, 2, np.random.default_rng(0))
    assert 0 < points[0, 0] < points[0, 1] < 1


def test_sobol_points_are_stratified():
    """Every interval of length 2^-m has one of 2^m points, in every coordinate."""
    W = drawn("qmc", 3, 64, seed=1, sequence="sobol").frequencies_
    cells = np.sort(np.floor(64 * ndtr(W)), axis=0)
    np.testing.assert_array_equal(cells, np.arange(64)[:, None].repeat(3, axis=1))


@pytest.mark.parametrize(("d", "s"), [(2, 2), (2, 14), (8, 10), (8, 64), (10, 22)])
def test_directions_have_unit_length_and_the_gram_matrix_of_f(d, s):
    m, n = d // 2, next_prime(max(d // 2 + 1, -(-s // 2)))
    assert n > m
    assert 2 * n >= s
    V = spherical_directions(d, 2 * n)
    f = inner_products(lowest_energy_indices(m, n), n)
    differences = np.arange(n)[:, None] - np.arange(n)[None, :]
    same, across = f.real[differences], f.imag[differences]
    np.testing.assert_allclose(V @ V.T, np.block([[same, across], [-across, same]]), atol=1e-12)
    np.testing.assert_allclose((V**2).sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(spherical_directions(d, s), V[:s])


def test_directions_are_a_fourier_transform():
    """V x is the discrete Fourier transform of the complex vector (x_k - i x_{m+k}) placed at the integers Lambda."""
    d, s = 12, 26
    indices = lowest_energy_indices(d // 2, 13)
    x = np.random.default_rng(0).normal(size=d)
    placed = np.zeros(13, dtype=complex)
    placed[indices] = x[: d // 2] - 1j * x[d // 2 :]
    spectrum = 13 * np.fft.ifft(placed) / np.sqrt(d // 2)
    np.testing.assert_allclose(spherical_directions(d, s) @ x, np.concatenate([spectrum.real, -spectrum.imag]))


@pytest.mark.parametrize(("m", "n"), [(1, 2), (1, 5), (4, 11), (8, 67)])
def test_energy_is_that_of_all_pairs(m, n):
    V = spherical_directions(2 * m, 2 * n)
    distances = np.linalg.norm(V[:, None, :] - V[None, :, :], axis=-1)
    off_diagonal = ~np.eye(2 * n, dtype=bool)
    brute_force = -np.log(distances[off_diagonal]).sum()
    np.testing.assert_allclose(logarithmic_energy(inner_products(lowest_energy_indices(m, n), n)), brute_force)


@pytest.mark.slow
@pytest.mark.parametrize(("m", "n"), [(4, 11), (8, 67), (20, 601)])
def test_descent_ends_where_no_exchange_helps(m, n):
    """Also at n = 601, where only the most promising candidates of a step are evaluated."""
    chosen = lowest_energy_indices(m, n)
    assert len(set(chosen)) == m
    assert chosen.min() >= 1
    assert chosen.max() < n
    energy = logarithmic_energy(inner_products(chosen, n))
    random = np.random.default_rng(0).permutation(np.arange(1, n))[:m]
    assert energy <= logarithmic_energy(inner_products(random, n))
    for slot in range(m):
        for other in np.setdiff1d(np.arange(1, n), chosen):
            exchanged = chosen.copy()
            exchanged[slot] = other
            assert logarithmic_energy(inner_products(exchanged, n)) > energy - 1e-9 * abs(energy)


@pytest.mark.parametrize("d", [1, 4, 7])
def test_radii(d):
    even, s = d + d % 2, 20

    def lengths(**options):
        # Doubling the columns shows the coordinate that an odd dimension drops.
        return np.linalg.norm(drawn("ssf", even, s, **options).frequencies_, axis=1)

    np.testing.assert_allclose(lengths(radii="single"), np.sqrt(even))
    np.testing.assert_allclose(np.sort(lengths(radii="perm")), chi.ppf((np.arange(s) + 0.5) / s, even))
    np.testing.assert_allclose(lengths(radii="grid", n_radii=3)[:3], chi.ppf([0.25, 0.5, 0.75], even))
    assert drawn("ssf", d, s).frequencies_.shape == (s, d)
