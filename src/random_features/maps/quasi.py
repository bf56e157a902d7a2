"""Frequencies that fill the space more evenly than independent draws: quasi-Monte Carlo sequences (QMC)."""

from typing import Literal

import numpy as np
from scipy.stats import qmc

from random_features.maps.spectral import SpectralMap

#: The smallest distance of a point of a sequence from 0 and 1, where quantiles are infinite: half the spacing of the
#: Sobol points, which are multiples of 2^-30.
MARGIN = 2.0**-31


class QuasiMonteCarlo(SpectralMap):
    r"""Quasi-Monte Carlo features: a randomised low-discrepancy sequence through the quantiles of the frequencies.

    .. math:: w_{ij} = F^{-1}(t_{ij}), \qquad \phi(x) = s^{-1/2} [\cos(Wx) \,|\, \sin(Wx)]

    with F the distribution of a coordinate (for the Gaussian kernel N(0, 1 / l^2)) and t_1, ..., t_s the first points
    of a scrambled sequence in d dimensions. Scrambling makes every single point uniform, so that the map is unbiased
    and repeats differ.

    Parameters
    ----------
    kernel : kernel object, default None
        None is ``Gaussian(1.0)``.
    n_components : int, default 100
        s, the number of frequencies.
    sequence : {"halton", "sobol"}
        Halton with permuted digits, or Sobol with a linear scramble and a digital shift.
    layout : {"cos_sin", "phase"}
        D = 2 s or D = s columns.
    device : {"auto", "cpu", "cuda"}
    random_state : int, RandomState instance or None

    References
    ----------
    Yang, Sindhwani, Avron and Mahoney, Quasi-Monte Carlo feature maps for shift-invariant kernels, ICML 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from random_features.maps.quasi import QuasiMonteCarlo
    >>> phi = QuasiMonteCarlo(n_components=128, random_state=0).fit(np.zeros((1, 2)))
    >>> bool(np.abs(phi.frequencies_.mean(axis=0)).max() < 0.05)
    True
    """

    sequence: Literal["halton", "sobol"] = "halton"

    def _draw_frequencies(self, n_features, rng):
        points = scrambled_points(self.sequence, self.n_components, n_features, rng)
        return self.kernel_.frequency_quantile(points)


def scrambled_points(sequence: str, n_points: int, n_features: int, rng: np.random.Generator) -> np.ndarray:
    """Return the first points of a scrambled sequence, (n_points, n_features), strictly between 0 and 1."""
    if sequence == "halton":
        points = qmc.Halton(n_features, scramble=True, seed=rng).random(n_points)
    else:
        points = qmc.Sobol(n_features, scramble=True, seed=rng).random_base2((n_points - 1).bit_length())[:n_points]
    return np.clip(points, MARGIN, 1.0 - MARGIN)
