"""The Gaussian kernel."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.extmath import row_norms

from random_features.arrays import dense
from random_features.kernels.base import GaussianSpectrum, Scaled
from random_features.length_scales import in_length_scales
from random_features.tensors import constant, exponential, product

#: |x|^2 / (2 l^2) from which rounding takes half of the digits of a squared distance |x|^2 - 2 x.y + |y|^2.
FAR = 0.5 / np.sqrt(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Gaussian(Scaled, GaussianSpectrum):
    r"""The Gaussian kernel :math:`k(x, y) = \exp(-\|x - y\|^2 / (2 \ell^2))`.

    Parameters
    ----------
    length_scale : float, array of d floats, "median", "scale" or "ard", default 1.0
        :math:`\ell > 0`, in the units of the data; scikit-learn's ``gamma`` is 1 / (2 l^2). An array has one for each
        column, in their order. With a rule, ``fit`` of a map learns the median distance between rows, the length scale
        of ``gamma="scale"``, or one per column from the targets (``length_scales.relevance``). Raises ``ValueError`` if
        it is not positive, or a Series with names.

    Notes
    -----
    Distances of rows that are long in length scales, where the square of a difference leaves few digits as a sum of
    products, are computed from the differences: slowly, and with sparse rows made dense.

    The frequencies are N(0, I / l^2) (Bochner's theorem; Rahimi and Recht, NIPS 2007, Figure 1).

    Examples
    --------
    >>> from random_features.kernels import Gaussian
    >>> Gaussian(length_scale=2.0)([[0.0, 0.0]], [[2.0, 0.0]]).round(4)
    array([[0.6065]])
    """

    takes_sparse_rows = True

    def _values(self, X, Y):
        gamma = 0.5 / self.ell**2
        if self._are_near(X, Y):
            return rbf_kernel(X, Y, gamma=gamma)
        centre = np.median(dense(X), axis=0).astype(np.float64)
        U = dense(X) - centre
        V = U if Y is X else dense(Y) - centre
        if self._are_near(U, V):
            return rbf_kernel(U, V, gamma=gamma).astype(X.dtype, copy=False)
        distances = cdist(dense(X), dense(Y))
        self.check_distance(float(distances.max()))
        return np.exp(-gamma * distances**2).astype(X.dtype, copy=False)

    def _are_near(self, *arrays) -> bool:
        """Return whether no row of some arrays is as long as ``FAR``."""
        return max(row_norms(rows, squared=True).max() for rows in arrays) <= 2.0 * self.ell**2 * FAR

    def against(self, Y, rows, device, dtype):
        slowly = super().against(Y, rows, device, dtype)
        of_dense = cache(lambda: self._against_dense(dense(Y), rows, device, dtype, slowly))
        return lambda X: slowly(X) if X.is_sparse else of_dense()(X)

    def _against_dense(self, Y, rows, device, dtype, slowly):
        # The exponents are one matrix product, [u, |u|^2, 1] with [v, -1/2, -|v|^2 / 2], for u and v the rows of X and
        # of Y in length scales, relative to the median of Y so that |u|^2 is not large compared with |u - v|^2.
        kernel, columns = self.isotropic()
        if columns is not None:
            scaled, scales = in_length_scales(np.asarray(Y), columns, in_double=True), constant(columns, device)
            values = kernel.against(scaled, rows, device, dtype)
            return lambda X: values(X / scales)
        landmarks = np.asarray(Y, dtype=np.float64)
        (m, d), centre = landmarks.shape, np.median(landmarks, axis=0)
        v = (landmarks - centre) / self.ell
        lengths = 0.5 * (v**2).sum(axis=1)
        right = np.concatenate([v.T, np.full((1, m), -0.5), -lengths[None]])
        right, centre = constant(right, device), constant(centre, device)
        left = torch.ones(rows, d + 2, device=device, dtype=torch.float64)
        exponents = torch.empty(rows, m, device=device, dtype=torch.float64)
        rounded = torch.empty(rows, m, device=device, dtype=dtype) if dtype != torch.float64 else None
        farthest = lengths.max()

        def values(X):
            block, result = left[: len(X)], exponents[: len(X)]
            u, squares = block[:, :d], block[:, d]
            torch.sub(X, centre, out=u).div_(self.ell)
            torch.sum(u * u, dim=1, out=squares)
            if max(farthest, 0.5 * float(squares.max())) > FAR:
                return slowly(X)
            product(block, right, result)
            if rounded is not None:
                result = rounded[: len(X)].copy_(result)
            exponential(result, result)
            return result

        return values
