"""Frequencies on a sphere in nearly uniform position (SSF): directions of least energy times radii.

The directions are columns of a structured matrix that a set of integers determines. Coordinate descent on the
logarithmic energy finds the set, once per dimension and number of directions. It is kept for the process.
"""

from functools import lru_cache
from typing import Literal

import numpy as np
from scipy.stats import chi

from random_features.maps.montecarlo import haar_rows
from random_features.maps.spectral import SpectralMap

#: Energies that one step of the descent evaluates exactly, as candidates times the terms of one energy: all unused
#: integers up to n = 256, above that the most promising ones.
EVALUATED_TERMS = 2**16

MOST_SWEEPS = 3


class SphericalStructured(SpectralMap):
    r"""Spherical structured features: nearly uniform directions times radii.

    For even d, m = d / 2, a prime n > m and a set Lambda of m integers in 1..n-1, the 2 n directions are the columns of

    .. math:: V = \frac{1}{\sqrt m} \begin{pmatrix} \Re F & -\Im F \\ \Im F & \Re F \end{pmatrix},
       \qquad F = [e^{2 \pi i k j / n}]_{k \in \Lambda,\, 0 \le j < n}

    and :math:`w_i = (r_i / \ell)\, v_i`, :math:`\phi(x) = s^{-1/2} [\cos(Wx) \,|\, \sin(Wx)]`. Lambda minimises the
    logarithmic energy of the directions; n is the smallest prime above m with 2 n >= s, and the first s columns are
    used. For odd d a coordinate is added and dropped again. Biased for finite s; W is held as a matrix, because the
    product with it is faster than a Fourier transform of prime length up to several hundred columns.

    Parameters
    ----------
    kernel : kernel object, default None
        None is ``Gaussian(1.0)``.
    n_components : int, default 100
        s, the number of frequencies.
    radii : {"perm", "single", "grid"}
        "perm": the quantiles of chi_d at (i - 1/2) / s in random order, and a random rotation. "single": sqrt(d) for
        all, as in the survey; deterministic, and for the Gaussian kernel the error stops falling with s. "grid":
        ``n_radii`` quantiles at j / (n_radii + 1) for every direction; deterministic.
    n_radii : int, default 2
        Radii per direction, for ``radii="grid"`` only.
    layout : {"cos_sin", "phase"}
        D = 2 s or D = s columns.
    device : {"auto", "cpu", "cuda"}
    random_state : int, RandomState instance or None

    References
    ----------
    Lyu, Spherical structured feature maps for kernel approximation, ICML 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from random_features.maps.spherical import SphericalStructured
    >>> phi = SphericalStructured(n_components=22, radii="single").fit(np.zeros((1, 8)))
    >>> bool(np.allclose((phi.frequencies_**2).sum(axis=1), 8))
    True
    """

    radii: Literal["perm", "single", "grid"] = "perm"
    n_radii: int = 2

    def _check_options(self):
        if self.radii != "grid" and self.n_radii != type(self).n_radii:
            raise ValueError(f"radii={self.radii!r} does not read n_radii={self.n_radii!r}: it is of radii='grid'")

    def _draw_frequencies(self, n_features, rng):
        s, d = self.n_components, n_features + n_features % 2
        if self.radii == "perm":
            directions = spherical_directions(d, s) @ haar_rows(rng, 1, d, d)[0]
            radii = rng.permutation(chi.ppf((np.arange(s) + 0.5) / s, d))
        elif self.radii == "single":
            directions = spherical_directions(d, s)
            radii = np.full(s, np.sqrt(d))
        else:
            n_directions = -(-s // self.n_radii)
            directions = np.repeat(spherical_directions(d, n_directions), self.n_radii, axis=0)[:s]
            quantiles = chi.ppf(np.arange(1, self.n_radii + 1) / (self.n_radii + 1), d)
            radii = np.tile(quantiles, n_directions)[:s]
        return (self.kernel_.frequency_scale * radii[:, None] * directions)[:, :n_features]


def spherical_directions(d: int, n_directions: int) -> np.ndarray:
    """Return the first ``n_directions`` columns of V for an even dimension d, as rows (n_directions, d) of length 1."""
    m = d // 2
    n = next_prime(max(m + 1, -(-n_directions // 2)))
    # The product is reduced modulo n before the division, for the accuracy of the angles.
    angles = 2.0 * np.pi / n * (np.outer(np.arange(n), lowest_energy_indices(m, n)) % n)
    cosines, sines = np.cos(angles), np.sin(angles)
    columns = np.concatenate([np.hstack([cosines, sines]), np.hstack([-sines, cosines])])
    return columns[:n_directions] / np.sqrt(m)


def next_prime(n: int) -> int:
    """Return the smallest prime that is at least n >= 2."""
    while any(n % divisor == 0 for divisor in range(2, int(n**0.5) + 1)):
        n += 1
    return n


def inner_products(indices, n: int) -> np.ndarray:
    """Return f(p) = mean over k of exp(2 pi i k p / n) for p = 0..n-1, complex (n,).

    The inner product of columns j and l of V is Re f(j - l) in the same half, +-Im f(j - l) across the halves.
    """
    counts = np.zeros(n)
    counts[np.asarray(indices)] = 1.0 / len(indices)
    return n * np.fft.ifft(counts)


def logarithmic_energy(f) -> np.ndarray:
    """Return the sum of log(1 / distance) over ordered pairs of the 2 n columns of V, from f (..., n)."""
    n = f.shape[-1]
    same_half, across = np.log(2.0 - 2.0 * f.real[..., 1:]), np.log(2.0 - 2.0 * f.imag)
    return -n * (same_half.sum(axis=-1) + across.sum(axis=-1))


@lru_cache(maxsize=64)
def lowest_energy_indices(m: int, n: int) -> np.ndarray:
    """Return m integers out of 1..n-1 with low energy, by coordinate descent from a fixed random set.

    One step exchanges one integer for the best unused one. Candidates are ranked by the first-order change of the
    energy, which one Fourier transform gives for all of them. The best are evaluated exactly. A sweep then costs O(m n
    log n) for large n and tries everything for small n. The energy never rises.

    Returns
    -------
    ndarray of shape (m,), read-only
    """
    chosen = np.random.default_rng(0).permutation(np.arange(1, n))[:m]
    roots = np.exp(2j * np.pi * np.arange(n) / n)
    f = inner_products(chosen, n)
    energy = logarithmic_energy(f)
    for _ in range(MOST_SWEEPS):
        before = energy
        for slot in range(m):
            rest = f - roots[chosen[slot] * np.arange(n) % n] / m
            unused = np.setdiff1d(np.arange(1, n), chosen)
            candidates = _most_promising(rest, unused, max(1, EVALUATED_TERMS // n))
            trials = rest + roots[np.outer(candidates, np.arange(n)) % n] / m
            energies = logarithmic_energy(trials)
            if len(candidates) and energies.min() < energy:
                best = energies.argmin()
                chosen[slot], f, energy = candidates[best], trials[best], energies[best]
        if energy > before - 1e-9 * abs(before):
            break
    chosen = np.sort(chosen)
    chosen.flags.writeable = False
    return chosen


def _most_promising(rest, unused, n_candidates):
    """Return the unused integers whose first-order change of the energy at ``rest`` is lowest."""
    if len(unused) <= n_candidates:
        return unused
    slopes = 1.0 / (1.0 - rest.real) + 1j / (1.0 - rest.imag)
    slopes[0] = 1j / (1.0 - rest.imag[0])
    return unused[np.argpartition(np.fft.fft(slopes).real[unused], n_candidates)[:n_candidates]]
