"""The Gaussian kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from scipy.sparse import issparse
from sklearn.metrics.pairwise import check_pairwise_arrays, rbf_kernel
from sklearn.utils.extmath import row_norms

from random_features.arrays import exponential, product
from random_features.kernels.base import GaussianSpectrum, Scaled
from random_features.length_scales import check_length_scale

KERNEL = {"class": "Gaussian", "parameters": ("length_scale",)}


@dataclass(frozen=True)
class Gaussian(Scaled, GaussianSpectrum):
    r"""The Gaussian kernel :math:`k(x, y) = \exp(-\|x - y\|^2 / (2 \ell^2))`.

    Parameters
    ----------
    length_scale : float, "median" or "scale", default 1.0
        :math:`\ell > 0`, in the units of the data; scikit-learn's ``gamma`` is 1 / (2 l^2). A map
        that is fitted learns the median distance between rows, or what ``gamma="scale"`` is there. Raises
        ``ValueError`` when it is not positive.

    Notes
    -----
    The frequencies are N(0, I / l^2) (Bochner's theorem; Rahimi and Recht, NIPS 2007, Figure 1).

    Examples
    --------
    >>> from random_features.kernels import Gaussian
    >>> Gaussian(length_scale=2.0)([[0.0, 0.0]], [[2.0, 0.0]]).round(4)
    array([[0.6065]])
    """

    length_scale: float | str = 1.0
    name: ClassVar[str] = "gaussian"

    def __post_init__(self):
        check_length_scale(self.length_scale)

    @property
    def frequency_scale(self) -> float:
        return 1.0 / self.ell

    def __call__(self, X, Y=None):
        return rbf_kernel(*self._nearby(*check_pairwise_arrays(X, Y)), gamma=0.5 / self.ell**2)

    def _nearby(self, X, Y):
        """X and Y, both moved by the mean of X where they lie so many length scales from the origin that rounding would
        take half of the digits of a squared distance, which is found as |x|^2 - 2 x.y + |y|^2.
        """
        farthest = np.sqrt(max(row_norms(rows, squared=True).max() for rows in (X, Y)))
        if farthest * np.finfo(np.float64).eps ** 0.25 < self.ell or issparse(X) or issparse(Y):
            return X, Y
        centre = X.mean(axis=0, dtype=np.float64)
        moved = (X - centre).astype(X.dtype, copy=False)
        return moved, moved if Y is X else (Y - centre).astype(Y.dtype, copy=False)

    def against(self, Y, rows, device, dtype):
        # The exponents are one matrix product, [u, |u|^2, 1] with [v, -1/2, -|v|^2 / 2], for u and v the rows of X and
        # of Y in length scales, seen from the mean of Y so that |u|^2 is not large beside |u - v|^2.
        Y = np.asarray(Y, dtype=np.float64)
        (m, d), centre = Y.shape, Y.mean(axis=0)
        v = (Y - centre) / self.ell
        right = np.concatenate([v.T, np.full((1, m), -0.5), -0.5 * (v**2).sum(axis=1)[None]])
        right, centre = torch.from_numpy(right).to(device), torch.from_numpy(centre).to(device)
        left = torch.ones(rows, d + 2, device=device, dtype=torch.float64)
        exponents = torch.empty(rows, m, device=device, dtype=torch.float64)
        rounded = torch.empty(rows, m, device=device, dtype=dtype) if dtype != torch.float64 else None

        def values(X):
            block, result = left[: len(X)], exponents[: len(X)]
            u = block[:, :d]
            torch.sub(X, centre, out=u).div_(self.ell)
            torch.sum(u * u, dim=1, out=block[:, d])
            product(block, right, result)
            if rounded is not None:
                result = rounded[: len(X)].copy_(result)
            exponential(result, result)
            return result

        return values
