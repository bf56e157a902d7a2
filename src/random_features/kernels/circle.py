"""A kernel on the circle whose eigenvalues are known."""

from dataclasses import dataclass
from functools import cache
from numbers import Integral

import numpy as np
from sklearn.utils import check_scalar

from random_features.arrays import row_blocks
from random_features.errors import NotDefinedError, check_choice
from random_features.kernels.base import SpectralKernel

#: Unnormalised distributions over the harmonics j = 1, 2, ... of :class:`Circle`: those whose kernel matrices of n
#: points have the eigenvalues lambda_i ~ n exp(-c i), n i^(-2t) with t = 1, and n / i.
DECAYS = {"exponential": lambda j: np.exp(-0.5 * j), "polynomial": lambda j: j**-2.0, "slowest": lambda j: 1.0 / j}

#: Harmonics that are computed together.
HARMONICS_BLOCK = 1024


@dataclass(frozen=True)
class Circle(SpectralKernel):
    r"""The kernel :math:`k(x, y) = \sum_j \mu_j \cos(2 \pi j (x - y))` on the circle [0, 1), with known eigenvalues.

    With x uniform on [0, 1) its eigenfunctions are :math:`\cos(2 \pi j x)` and :math:`\sin(2 \pi j x)` with the
    eigenvalues :math:`\mu_j / 2`, and :math:`\mu` is the distribution of the frequencies :math:`2 \pi j`; k(x, x) = 1.
    Data have one column; ``ValueError`` for more.

    Parameters
    ----------
    decay : {"exponential", "polynomial", "slowest"}
        How mu falls: as exp(-j / 2), j^-2 or 1 / j. Raises ``ValueError`` for any other value.
    terms : int
        The number of harmonics, at least 1.

    Notes
    -----
    The decays are the ones in Table 1 of Liu et al., AAAI 2020.

    Examples
    --------
    >>> from random_features.kernels import Circle
    >>> Circle("slowest", 2)([[0.0]], [[0.5]]).round(4)
    array([[-0.3333]])
    >>> Circle("slowest", 2).name
    'circle-slowest'
    """

    decay: str
    terms: int
    #: Properties for maps: shift-invariant, and frequencies with a distribution of its own.
    like = "laplacian"

    def __post_init__(self):
        check_choice("decay", self.decay, DECAYS)
        check_scalar(self.terms, "terms", Integral, min_val=1)

    def frequencies(self) -> np.ndarray:
        """Return all frequencies 2 pi j, shape (terms,)."""
        return 2.0 * np.pi * np.arange(1, self.terms + 1)

    def frequency_quantile(self, probabilities):
        _check_one_column(np.shape(probabilities))
        return self.frequencies()[np.searchsorted(np.cumsum(spectrum(self.decay, self.terms))[:-1], probabilities)]

    def draw_frequencies(self, rng, shape):
        _check_one_column(shape)
        return rng.choice(self.frequencies(), size=shape, p=spectrum(self.decay, self.terms))

    def _values(self, X, Y):
        _check_one_column(X.shape)
        X, Y = X.astype(np.float64, copy=False), Y.astype(np.float64, copy=False)
        frequencies, weights = self.frequencies(), np.sqrt(spectrum(self.decay, self.terms))
        K = np.zeros((len(X), len(Y)))
        for part in row_blocks(self.terms, HARMONICS_BLOCK):
            K += harmonics(X, frequencies[part], weights[part]) @ harmonics(Y, frequencies[part], weights[part]).T
        return K


def _check_one_column(shape) -> None:
    """Raise ``NotDefinedError``, a ``ValueError``, for data, or frequencies, of several columns (..., d)."""
    if tuple(shape[1:]) not in ((), (1,)):
        raise NotDefinedError(f"the circle kernel is for data of one column, got {shape[-1]}")


@cache
def spectrum(decay: str, terms: int) -> np.ndarray:
    """Return the distribution of the harmonics 1 to ``terms`` for a ``decay``: (terms,), sums to 1, read-only."""
    weights = DECAYS[decay](np.arange(1.0, terms + 1))
    weights /= weights.sum()
    weights.flags.writeable = False
    return weights


def harmonics(X: np.ndarray, frequencies: np.ndarray, weights) -> np.ndarray:
    """Return [a_j cos(w_j x) | a_j sin(w_j x)] for X (n, 1), w (m,) and a (m,) or one number; shape (n, 2 m)."""
    angles = X * frequencies
    return np.concatenate([np.cos(angles) * weights, np.sin(angles) * weights], axis=1)
