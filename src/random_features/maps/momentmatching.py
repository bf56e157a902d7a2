"""Frequencies with the sample mean and the covariance of the spectral measure (MM)."""

import warnings

import numpy as np

from random_features.arrays import DIAGONALISED_ALONE, decomposing
from random_features.maps.spectral import SpectralMap


class MomentMatching(SpectralMap):
    r"""Moment matching: independent frequencies, shifted and transformed to the exact first two moments.

    .. math:: w_i = \sigma A^{-1} (g_i - \bar g), \qquad A^2 = \frac{1}{s} \sum_i (g_i - \bar g)(g_i - \bar g)^T,
       \qquad \phi(x) = s^{-1/2} [\cos(Wx) \,|\, \sin(Wx)]

    with g_i independent frequencies, A the symmetric root and sigma the standard deviation of a coordinate of the
    frequencies (1 / l for the Gaussian kernel), so that :math:`\sum_i w_i = 0` and :math:`\frac1s \sum_i w_i w_i^T =
    \sigma^2 I`. Biased by O(1/s), with less variance than RFF at short distances. Set-up O(s d^2), time O(s d) per row.
    It does not exist for the Laplacian kernel, whose frequencies have no moments. For a mixture of Gaussian kernels,
    such as the Matern kernel, the moments are exact before the frequencies are multiplied by their random factors.

    Parameters
    ----------
    kernel : kernel object, default None
        None is ``Gaussian(1.0)``.
    n_components : int, default 100
        s, the number of frequencies. The sample covariance of s <= d is singular: then only the mean is matched
        (nothing for s = 1), with a warning.
    layout : {"cos_sin", "phase"}
        D = 2 s or D = s columns.
    device : {"auto", "cpu", "cuda"}
    random_state : int, RandomState instance or None

    References
    ----------
    Shen, Yang and Wang, Random features for shift-invariant kernels with moment matching, AAAI 2017; the survey,
    section 3.2.

    Examples
    --------
    >>> import numpy as np
    >>> from random_features.maps.momentmatching import MomentMatching
    >>> W = MomentMatching(n_components=9, random_state=0).fit(np.zeros((1, 3))).frequencies_
    >>> bool(np.allclose(W.T @ W / 9, np.eye(3)))
    True
    """

    def _draw_frequencies(self, n_features, rng):
        s = self.n_components
        frequencies = self.kernel_.draw_coordinates(rng, (s, n_features))
        if s <= n_features:
            warnings.warn(
                f"mm matches the mean only: n_components={s} frequencies for {n_features} columns have a singular "
                "sample covariance",
                stacklevel=4,
            )
        if s > 1:
            frequencies -= frequencies.mean(axis=0)
        if s > n_features:
            # With the singular value decomposition U S V^T, whitening by the symmetric root leaves sqrt(s) U V^T.
            with decomposing(s, DIAGONALISED_ALONE):
                left, _, right = np.linalg.svd(frequencies, full_matrices=False)
            frequencies = self.kernel_.frequency_scale * np.sqrt(s) * (left @ right)
        return frequencies
