"""The Laplacian kernel."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.metrics.pairwise import laplacian_kernel

from random_features.kernels.base import Scaled, SpectralKernel


@dataclass(frozen=True)
class Laplacian(Scaled, SpectralKernel):
    r"""The Laplacian kernel :math:`k(x, y) = \exp(-\|x - y\|_1 / \ell)`.

    Parameters
    ----------
    length_scale : float, "median" or "scale", default 1.0
        :math:`\ell > 0`, in the units of the data, or a rule as for :class:`Gaussian`. Raises ``ValueError`` if it is
        not positive.

    Notes
    -----
    The coordinates of the frequencies are independent with the Cauchy density :math:`\ell / (\pi (1 + \ell^2 w^2))`
    (Rahimi and Recht, NIPS 2007, Figure 1). They have no moments.

    Examples
    --------
    >>> from random_features.kernels import Laplacian
    >>> Laplacian(length_scale=2.0)([[0.0, 0.0]], [[2.0, 2.0]]).round(4)
    array([[0.1353]])
    """

    takes_sparse_rows = True

    def frequency_quantile(self, probabilities):
        return np.tan(np.pi * (np.asarray(probabilities) - 0.5)) / self.ell

    def draw_frequencies(self, rng, shape):
        return rng.standard_cauchy(shape) / self.ell

    def _values(self, X, Y):
        X, Y = (_in_short_indices(rows) if issparse(rows) else rows for rows in (X, Y))
        return laplacian_kernel(X, Y, gamma=1.0 / self.ell).astype(X.dtype, copy=False)


def _in_short_indices(X):
    """Return a csr matrix with indices of 32 bits, which scikit-learn's distances need, if they are small enough."""
    return csr_matrix((X.data, X.indices, X.indptr), shape=X.shape)
