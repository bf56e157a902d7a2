"""Random Fourier features of a few bits each (LP-RFF): stochastic rounding by a hash of the data."""

from functools import cache
from numbers import Integral
from typing import ClassVar, Literal

import numpy as np
import torch
from scipy.optimize import root
from scipy.special import betaincinv
from sklearn.utils import check_scalar

from random_features.maps.montecarlo import RandomFourier
from random_features.tensors import constant

#: Odd constants of the 64-bit mixer SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), as signed integers.
MIXERS = (0xBF58476D1CE4E5B9 - 2**64, 0x94D049BB133111EB - 2**64)


class LowPrecisionFourier(RandomFourier):
    r"""Low-precision random Fourier features: features with phases, rounded at random to 2^b values.

    .. math:: \phi(x) = Q\big(\sqrt{2/s} \cos(Wx + b)\big)

    Q rounds to the grid :math:`-c + j \delta`, :math:`0 \le j < 2^b`, with :math:`c = \sqrt{2/s}` and :math:`\delta =
    2c / (2^b - 1)`: to the upper neighbour with the fraction of the way to it as probability. Hence E Q is the
    identity, and different rows are rounded independently, so that an entry of the approximate kernel matrix off the
    diagonal is unbiased; an entry on the diagonal is too large by the sum of the rounding variances, at most :math:`s
    \delta^2 / 4`. A row needs b s bits, although it is returned as floating-point numbers here.

    The random bits are a hash of the seed and of the content of the row (pairwise independent over rows), so that
    ``transform`` is a function: equal rows get equal features, in any order and any block. Projections are computed in
    float64, so that the order of summation, which depends on the shape of a block and on the device, decides a rounding
    with a probability of about 1e-14 only. Time O(s d) per row.

    Rounding by Lloyd and Max instead replaces :math:`\cos\theta` by the nearest of the 2^b values with the least mean
    squared error for a uniform angle, for every kernel. It adds no variance, but has a bias: with the cosine series
    :math:`Q(\cos\theta) = \sum_k a_k \cos k \theta` an entry of the approximate kernel matrix has the mean
    :math:`\sum_k a_k^2 e^{-k^2 z^2 / 2}` at :math:`z = \|x - y\| / \ell`.

    Parameters
    ----------
    kernel : kernel object, default None
        None is ``Gaussian(1.0)``.
    n_components : int, default 100
        s, the number of frequencies; D = s columns.
    n_bits : int, default 4
        b, from 1 to 32 bits per feature, at most 8 for ``rounding="lloyd_max"``.
    rounding : {"stochastic", "lloyd_max"}
    device : {"auto", "cpu", "cuda"}
    random_state : int, RandomState instance or None

    References
    ----------
    Zhang, May, Dao and Re, Low-precision random Fourier features for memory-constrained kernel approximation,
    AISTATS 2019; Li and Li, Quantization algorithms for random Fourier features, ICML 2021 (arXiv 2102.13079; Lloyd
    and Max).

    Examples
    --------
    >>> import numpy as np
    >>> from random_features.maps.lowprecision import LowPrecisionFourier
    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> Z = LowPrecisionFourier(n_components=50, n_bits=1, random_state=0).fit_transform(X)
    >>> np.unique(Z)
    array([-0.2,  0.2])
    """

    _has_gradient = False

    layout: ClassVar[str] = "phase"
    n_bits: Integral = 4
    rounding: Literal["stochastic", "lloyd_max"] = "stochastic"

    def _check_options(self):
        check_scalar(self.n_bits, "n_bits", Integral, min_val=1, max_val=32 if self.rounding == "stochastic" else 8)

    def _draw(self, n_features, rng):
        super()._draw(n_features, rng)
        words = np.iinfo(np.int64)
        self._row_factors = rng.integers(words.min, words.max, size=n_features, endpoint=True) | 1
        self._column_factors = rng.integers(words.min, words.max, size=self.n_components, endpoint=True) | 1
        self._column_offsets = rng.integers(words.min, words.max, size=self.n_components, endpoint=True)

    def _work_columns(self):
        # float64 values and 64-bit hashes
        return 4 * self.n_components

    def _mapper(self, rows, device, dtype):
        fill_exact = super()._mapper(rows, device, torch.float64)
        exact = torch.empty(rows, self.n_components, device=device, dtype=torch.float64)
        rounded = self._at_random(device) if self.rounding == "stochastic" else self._to_nearest(device)

        def fill(X, out):
            X, values = X.double(), exact[: len(X)]
            fill_exact(X, values)
            out.copy_(rounded(X, values))

        return fill

    def _to_nearest(self, device):
        """Return a function of rows and their features, which are rounded to the nearest level."""
        levels = constant(lloyd_max_levels(self.n_bits) * np.sqrt(2.0 / self.n_components), device)
        borders = (levels[1:] + levels[:-1]) / 2
        return lambda X, values: levels[torch.bucketize(values, borders)]

    def _at_random(self, device):
        """Return a function of rows and their features, which are rounded by a hash of the rows."""
        amplitude, steps = np.sqrt(2.0 / self.n_components), 2**self.n_bits - 1
        drawn = self._row_factors, self._column_factors, self._column_offsets
        row_factors, column_factors, column_offsets = (constant(words, device) for words in drawn)

        def rounded(X, position):
            words = _mix(_key_of_rows(X, row_factors)) * column_factors + column_offsets
            uniform = _shift_right(words, 11).double() * 2.0**-53  # in [0, 1), from the upper 53 bits
            position.add_(amplitude).mul_(steps / (2.0 * amplitude)).add_(uniform).floor_().clamp_(0, steps)
            return position.mul_(2.0 * amplitude / steps).sub_(amplitude)

        return rounded


@cache
def lloyd_max_levels(n_bits: int) -> np.ndarray:
    """Return the 2^b values, rising, that approximate the cosine of a uniform angle with the least squared error.

    Each is the mean of the cosines nearest to it, (sin b - sin a) / (b - a) for angles from a to b, and every border is
    half-way between two of them. The borders are found by Newton's method, from those that are best for many values.
    """

    def means(inner):
        borders = np.concatenate([[0.0], inner, [np.pi]])
        return np.diff(np.sin(borders)) / np.diff(borders)

    def misfit(inner):
        levels = means(inner)
        return 2.0 * np.cos(inner) - levels[1:] - levels[:-1]

    shares = np.arange(1, 2**n_bits) / 2**n_bits
    start = np.arccos(1.0 - 2.0 * betaincinv(5 / 6, 5 / 6, shares))
    return means(root(misfit, start, tol=1e-14).x)[::-1].copy()


def _key_of_rows(X, factors):
    """Return a 64-bit word for each row of X (r, d), dense or sparse, from its content: (r, 1). Zeros add nothing."""
    if not X.is_sparse:
        return (_mix(_bits(X)) * factors).sum(dim=1, keepdim=True)
    rows, columns = X.indices()
    words = _mix(_bits(X.values())) * factors[columns]
    return words.new_zeros(len(X)).index_add_(0, rows, words)[:, None]


def _bits(X):
    """Return the bit patterns of float64 numbers as integers, one pattern for the two zeros."""
    return (X + 0.0).view(torch.int64)


def _mix(words):
    """Map 64-bit words one to one so that each output bit depends on all input bits (SplitMix64's finaliser)."""
    words = (words ^ _shift_right(words, 30)) * MIXERS[0]
    words = (words ^ _shift_right(words, 27)) * MIXERS[1]
    return words ^ _shift_right(words, 31)


def _shift_right(words, bits):
    """Return the logical shift, which PyTorch lacks for signed words."""
    return (words >> bits) & (2 ** (64 - bits) - 1)
