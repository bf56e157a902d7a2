"""The Gaussian kernel."""

from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np
import torch
from scipy.sparse import issparse
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel
from sklearn.utils.extmath import row_norms

from random_features.arrays import dense
from random_features.kernels.base import GaussianSpectrum, Scaled
from random_features.tensors import constant, exponential, product

#: |x|^2 / (2 l^2) from which rounding takes half of the digits of a squared distance |x|^2 - 2 x.y + |y|^2.
FAR = 0.5 / np.sqrt(np.finfo(np.float64).eps)

#: Exponents below which the exponential is 0 in float64, and the error of an exponent in roundings of |x|^2 + |y|^2.
LOWEST, ROUNDINGS = -746.0, 64.0

#: Numbers that are held at a time while pairs are recomputed.
PAIRS_PER_BLOCK = 2**22


@dataclass(frozen=True)
class Gaussian(Scaled, GaussianSpectrum):
    r"""The Gaussian kernel :math:`k(x, y) = \exp(-\|x - y\|^2 / (2 \ell^2))`.

    Parameters
    ----------
    length_scale : float, array of d floats, "median", "scale" or "ard", default 1.0
        :math:`\ell > 0`, in the units of the data; scikit-learn's ``gamma`` is 1 / (2 l^2). An array has one for each
        column. With a rule, ``fit`` of a map learns the median distance between rows, the length scale of
        ``gamma="scale"``, or one per column from the targets (``length_scales.relevance``). Raises ``ValueError`` if it
        is not positive.

    Notes
    -----
    The frequencies are N(0, I / l^2) (Bochner's theorem; Rahimi and Recht, NIPS 2007, Figure 1).

    Examples
    --------
    >>> from random_features.kernels import Gaussian
    >>> Gaussian(length_scale=2.0)([[0.0, 0.0]], [[2.0, 0.0]]).round(4)
    array([[0.6065]])
    """

    name: ClassVar[str] = "gaussian"
    takes_sparse_rows: ClassVar[bool] = True

    @property
    def frequency_scale(self) -> float:
        return 1.0 / self.ell

    def _values(self, X, Y):
        gamma = 0.5 / self.ell**2
        farthest = max(row_norms(rows, squared=True).max() for rows in (X, Y))
        if farthest <= FAR / gamma:
            return rbf_kernel(X, Y, gamma=gamma)
        centre = 0.0 if issparse(X) or issparse(Y) else np.median(X, axis=0).astype(np.float64)
        U = _moved(X, centre)
        V = U if Y is X else _moved(Y, centre)
        u, v = (row_norms(rows, squared=True) for rows in (U, V))
        self.check_distance(float(np.sqrt(max(u.max(), v.max()))))
        exponents = euclidean_distances(U, None if Y is X else V, squared=True)
        exponents *= -gamma
        _recompute_near_pairs(exponents, gamma * u, gamma * v, X, Y, gamma)
        return np.exp(exponents, out=exponents).astype(X.dtype, copy=False)

    def against(self, Y, rows, device, dtype):
        of_sparse = super().against(Y, rows, device, dtype)
        of_dense = cache(lambda: self._against_dense(dense(Y), rows, device, dtype))
        return lambda X: of_sparse(X) if X.is_sparse else of_dense()(X)

    def _against_dense(self, Y, rows, device, dtype):
        # The exponents are one matrix product, [u, |u|^2, 1] with [v, -1/2, -|v|^2 / 2], for u and v the rows of X and
        # of Y in length scales, relative to the median of Y so that |u|^2 is not large compared with |u - v|^2.
        kernel, columns = self.isotropic()
        if columns is not None:
            values, scales = kernel.against(np.asarray(Y) / columns, rows, device, dtype), constant(columns, device)
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
            product(block, right, result)
            if max(farthest, 0.5 * float(squares.max())) > FAR:
                exact, u_lengths = result.cpu().numpy(), 0.5 * squares.cpu().numpy()
                _recompute_near_pairs(exact, u_lengths, lengths, X.cpu().numpy(), landmarks, 0.5 / self.ell**2)
                result.copy_(torch.from_numpy(exact))
            if rounded is not None:
                result = rounded[: len(X)].copy_(result)
            exponential(result, result)
            return result

        return values


def _moved(X, centre) -> np.ndarray:
    """Return the rows of X (n, d) in float64, relative to a centre (d,) or 0."""
    return X.astype(np.float64) if issparse(X) else np.asarray(X, dtype=np.float64) - centre


def _recompute_near_pairs(exponents, u, v, X, Y, gamma) -> None:
    """Recompute exponents -gamma |x - y|^2 of shape (n, m) that rounding has spoiled, unless they are too low to count.

    A squared distance computed as |x|^2 - 2 x.y + |y|^2 has an error of a few roundings of |x|^2 + |y|^2. Where that is
    too much, it is computed again from the difference x - y. Most pairs with a distant row need no more: their kernel
    value is known to be 0.

    Parameters
    ----------
    exponents : float64 array of shape (n, m), changed in place
    u, v : gamma times the squared norms of the rows (n,) and (m,) that the exponents were computed from
    X, Y : arrays or csr matrices of shape (n, d) and (m, d)
    """
    np.minimum(exponents, 0.0, out=exponents)
    doubtful = np.flatnonzero(u > FAR) if (v <= FAR).all() else np.arange(len(u))
    rows_per_block = max(1, PAIRS_PER_BLOCK // len(v))
    for start in range(0, len(doubtful), rows_per_block):
        rows = doubtful[start : start + rows_per_block]
        lengths = u[rows, None] + v
        error = ROUNDINGS * np.finfo(np.float64).eps * lengths
        i, j = np.nonzero((lengths > FAR) & (exponents[rows] + error > LOWEST))
        for first in range(0, len(i), PAIRS_PER_BLOCK // X.shape[1] + 1):
            pairs = slice(first, first + PAIRS_PER_BLOCK // X.shape[1] + 1)
            difference = _dense_rows(X, rows[i[pairs]]) - _dense_rows(Y, j[pairs])
            exponents[rows[i[pairs]], j[pairs]] = -gamma * np.einsum("ij,ij->i", difference, difference)


def _dense_rows(X, rows) -> np.ndarray:
    """Return rows of an array or csr matrix as a dense float64 array."""
    chosen = X[rows]
    return (chosen.toarray() if issparse(chosen) else chosen).astype(np.float64)
