"""The arc-cosine kernels, and functions for kernels of the angles between rows."""

from dataclasses import dataclass

import numpy as np
import torch
from scipy.sparse import csr_matrix, issparse
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from random_features.arrays import block_rows, dense, row_blocks
from random_features.kernels.base import GaussianSpectrum
from random_features.tensors import write

#: Cosines this near to 1 or -1 lose half of their digits when they are turned into angles.
NEARLY_PARALLEL = 1e-6


@dataclass(frozen=True)
class ArcCosine(GaussianSpectrum):
    r"""The arc-cosine kernel of order b, :math:`k(x, y) = \|x\|^b \|y\|^b J_b(\theta) / \pi`.

    .. math:: J_0 = \pi - \theta, \quad J_1 = \sin\theta + (\pi - \theta) \cos\theta, \quad
       J_2 = 3 \sin\theta \cos\theta + (\pi - \theta) (1 + 2 \cos^2\theta)

    with theta the angle between x and y, pi / 2 where one of them is zero.

    Parameters
    ----------
    order : {0, 1, 2}, default 1
        b. Raises ``ValueError`` for any other value.

    Notes
    -----
    The kernel is :math:`2\, E[a(w^T x)\, a(w^T y)]` with w ~ N(0, I) and the activation a(u) = max(0, u)^b; for order
    0 the Heaviside step with a(0) = 1/2 (Cho and Saul, NIPS 2009, equation (1)). The survey's equation (6) lacks the
    factor 2.

    Examples
    --------
    >>> from random_features.kernels import ArcCosine
    >>> ArcCosine(order=0)([[1.0, 0.0]], [[0.0, 3.0]])
    array([[0.5]])
    >>> ArcCosine(order=1).name
    'arccos1'
    """

    order: int = 1
    takes_sparse_rows = True
    frequency_scale = 1.0

    def __post_init__(self):
        if self.order not in (0, 1, 2) or isinstance(self.order, bool):
            raise ValueError(f"order must be 0, 1 or 2, got {self.order!r}")

    def activation(self, projections, out):
        """Write max(0, projections)^b, for order 0 the step, into ``out``; tensors of one shape."""
        if self.order == 0:
            write(torch.sign, projections, out=out)
            out.add_(1.0).mul_(0.5)
            return
        write(torch.clamp_min, projections, 0.0, out=out)
        if self.order == 2:
            out.square_()

    def _values(self, X, Y):
        return of_angles(X, Y, self._at)

    def _at(self, theta, lengths):
        """Return the kernel at angles and products of lengths."""
        cosine, sine = np.cos(theta), np.sin(theta)
        if self.order == 0:
            angular = np.pi - theta
        elif self.order == 1:
            angular = sine + (np.pi - theta) * cosine
        else:
            angular = 3.0 * sine * cosine + (np.pi - theta) * (1.0 + 2.0 * cosine**2)
        return lengths**self.order * angular / np.pi


def of_angles(X, Y, function):
    """Return the matrix (n, m) of a function of angles and products of lengths.

    It takes blocks of rows of both, because intermediate arrays are several times as large as the result.
    """
    matrix = np.empty((X.shape[0], Y.shape[0]), dtype=X.dtype)
    for part in row_blocks(X.shape[0], block_rows(8 * Y.shape[0])):
        matrix[part] = function(*angles(X[part], Y))
    return matrix


def angles(X, Y):
    """Return the angles between rows and the products of their lengths, (n, m) float64.

    A zero vector is taken as orthogonal to all others. Angles of nearly parallel rows come from the difference of their
    directions, accurate to rounding, and are exactly 0 for equal rows.
    """
    X, Y = X.astype(np.float64, copy=False), Y.astype(np.float64, copy=False)
    (x_units, x_lengths), (y_units, y_lengths) = _units(X), _units(Y)
    lengths = np.outer(x_lengths, y_lengths)
    cosines = np.clip(safe_sparse_dot(x_units, y_units.T, dense_output=True), -1.0, 1.0)
    found = np.arccos(cosines)
    nearly_parallel = np.abs(cosines) > 1.0 - NEARLY_PARALLEL
    for row in np.flatnonzero(nearly_parallel.any(axis=1)):
        x, y = dense(x_units[[row]]), dense(y_units[nearly_parallel[row]])
        apart, together = np.linalg.norm(x - y, axis=1), np.linalg.norm(x + y, axis=1)
        found[row, nearly_parallel[row]] = 2.0 * np.arctan2(apart, together)
    return found, lengths


def _units(X):
    """Return the rows of X (n, d), an array or csr matrix, over their lengths, and these (n,); zero rows stay zero."""
    largest = abs(X).max(axis=1).toarray().ravel() if issparse(X) else np.abs(X).max(axis=1)
    X = _over(X, largest)  # whose squares neither underflow nor overflow
    norms = row_norms(X)
    return _over(X, norms), largest * norms


def _over(X, lengths):
    """Return the rows of X (n, d), an array or csr matrix, over lengths (n,); zero rows stay zero."""
    lengths = np.where(lengths > 0, lengths, 1.0)
    if not issparse(X):
        return X / lengths[:, None]
    return csr_matrix((X.data / np.repeat(lengths, np.diff(X.indptr)), X.indices, X.indptr), X.shape)
