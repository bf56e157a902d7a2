"""Frequencies drawn from the kernel's spectral measure: independent (RFF) and orthogonal in blocks (ORF)."""

from typing import Literal

import numpy as np
from scipy.stats import chi

from random_features.arrays import DIAGONALISED_ALONE, decomposing
from random_features.maps.spectral import SpectralMap


class RandomFourier(SpectralMap):
    r"""Random Fourier features: independent frequencies from the kernel's spectral measure.

    .. math:: \phi(x) = s^{-1/2} [\cos(Wx) \,|\, \sin(Wx)], \qquad w_i \sim p(w) \text{ i.i.d.}

    Unbiased. For the Gaussian kernel and z = ``|x - y| / l`` the variance of an entry of the approximate kernel matrix
    is (1 - e^{-z^2})^2 / (2 s), in the layout "phase" (1/2 + (1 - e^{-z^2})^2 / 2) / s.

    Parameters
    ----------
    kernel : kernel object, default None
        None is ``Gaussian(1.0)``.
    n_components : int, default 100
        s, the number of frequencies.
    layout : {"cos_sin", "phase"}
        [cos | sin] with D = 2 s columns, or sqrt(2/s) cos(Wx + b) with D = s (random kitchen sinks).
    device : {"auto", "cpu", "cuda"}
    random_state : int, RandomState instance or None

    References
    ----------
    Rahimi and Recht, Random features for large-scale kernel machines, NIPS 2007; Weighted sums of random kitchen
    sinks, NIPS 2008 (the layout "phase").

    Examples
    --------
    >>> import numpy as np
    >>> from random_features.kernels import Gaussian
    >>> from random_features.maps.montecarlo import RandomFourier
    >>> X = np.random.default_rng(0).normal(size=(20, 5))
    >>> Z = RandomFourier(Gaussian(2.0), n_components=4000, random_state=0).fit_transform(X)
    >>> Z.shape
    (20, 8000)
    >>> bool(np.abs(Z @ Z.T - Gaussian(2.0)(X)).max() < 0.06)
    True
    """

    def _draw_frequencies(self, n_features, rng):
        return self.kernel_.draw_coordinates(rng, (self.n_components, n_features))


class OrthogonalRandom(SpectralMap):
    r"""Orthogonal random features: blocks of d orthogonal frequencies with the lengths of Gaussian vectors.

    .. math:: W = \frac{1}{\ell} S Q \quad\text{per block}, \qquad \phi(x) = s^{-1/2} [\cos(Wx) \,|\, \sin(Wx)]

    with Q a Haar-distributed orthogonal matrix and S_ii ~ chi_d independent. Unbiased, because every row is N(0, I /
    l^2); the orthogonality inside a block lowers the variance by about (d - 1) e^{-z^2} z^4 / (2 d s). The last block
    is truncated if s is not a multiple of d.

    Paired lengths are the quantiles of u and 1 - u for two rows of a block, with u uniform: a long row comes with a
    short one. Every row keeps its distribution. Up to about two length scales this doubles the negative covariance of
    the two rows; farther away it may raise the variance for small d.

    Parameters
    ----------
    kernel : kernel object, default None
        None is ``Gaussian(1.0)``.
    n_components : int, default 100
        s, the number of frequencies.
    lengths : {"independent", "paired"}
    layout : {"cos_sin", "phase"}
        D = 2 s or D = s columns.
    device : {"auto", "cpu", "cuda"}
    random_state : int, RandomState instance or None

    References
    ----------
    Yu et al., Orthogonal random features, NIPS 2016; Reid et al., Variance-reducing couplings for random features, ICLR
    2025 (arXiv 2405.16541; paired lengths).

    Examples
    --------
    >>> import numpy as np
    >>> from random_features.maps.montecarlo import OrthogonalRandom
    >>> W = OrthogonalRandom(n_components=4, random_state=0).fit(np.zeros((1, 4))).frequencies_
    >>> gram = W @ W.T
    >>> bool(np.allclose(gram, np.diag(np.diag(gram))))
    True
    """

    lengths: Literal["independent", "paired"] = "independent"

    def _draw_frequencies(self, n_features, rng):
        s, d = self.n_components, n_features
        directions = haar_rows(rng, s // d, d, d).reshape(-1, d)
        if s % d:
            directions = np.concatenate([directions, haar_rows(rng, 1, s % d, d)[0]])
        lengths = np.sqrt(rng.chisquare(d, size=(s, 1))) if self.lengths == "independent" else paired(rng, s, d)
        return self.kernel_.frequency_scale * lengths * directions


def paired(rng: np.random.Generator, n_rows: int, n_features: int) -> np.ndarray:
    """Draw chi-distributed lengths (n_rows, 1): in a block of d rows, rows 2 i and 2 i + 1 have opposite quantiles."""
    lower = rng.uniform(size=(-(-n_rows // n_features), -(-n_features // 2)))
    probabilities = np.stack([lower, 1.0 - lower], axis=2).reshape(len(lower), -1)[:, :n_features]
    return chi.ppf(probabilities, n_features).reshape(-1, 1)[:n_rows]


def haar_rows(rng: np.random.Generator, n_blocks: int, n_rows: int, n_features: int) -> np.ndarray:
    """Draw ``n_rows`` <= ``n_features`` rows of independent Haar matrices, (n_blocks, n_rows, n_features).

    The Q of a Gaussian matrix is Haar-distributed if the diagonal of R is made positive (Mezzadri, Notices of the AMS
    2007).
    """
    if n_blocks == 0:  # LAPACK would ask for the room of one
        return np.empty((0, n_rows, n_features))
    gaussian = rng.standard_normal((n_blocks, n_features, n_rows))
    with decomposing(n_features, DIAGONALISED_ALONE):
        orthogonal, triangular = np.linalg.qr(gaussian)
    signs = np.sign(np.diagonal(triangular, axis1=1, axis2=2))
    return (orthogonal * signs[:, None, :]).transpose(0, 2, 1)
