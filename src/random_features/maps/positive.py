"""Positive random features (PRF): exponentials of projections, with directions that repel each other."""

import warnings
from typing import ClassVar, Literal

import numpy as np
import torch

from random_features.maps.cubature import simplex_corners
from random_features.maps.montecarlo import haar_rows
from random_features.maps.spectral import SpectralMap
from random_features.tensors import as_tensor, write


class PositiveRandom(SpectralMap):
    r"""Positive random features: exponentials of random projections instead of cosines and sines.

    .. math:: \phi(x) = s^{-1/2} \exp(W x - \|x\|^2 / \ell^2), \qquad W = \frac{1}{\ell} S Q \quad\text{per block}

    for the Gaussian kernel, because :math:`E\, e^{w^T (x + y)} = e^{\|x + y\|^2 / (2 \ell^2)}`. All features are
    positive, and so are all entries of the approximate kernel matrix. S_ii ~ chi_d are independent lengths and Q are
    unit rows in random positions, d per block: independent ones, orthogonal ones, or the corners of a regular simplex
    in d - 1 dimensions, with inner products -1 / (d - 1), which have the smallest variance of all joint directions.
    Unbiased.

    With independent directions, l = 1 and ``v = x + y`` the variance of an entry of the approximate kernel matrix is
    :math:`\frac{1}{s} k^2 (e^{\|v\|^2} - 1)`; the variance with RFF is :math:`\frac{1}{2 s} (1 - k^2)^2`. Two rows of a
    block with the inner product c of their directions add the covariance

    .. math:: k^2 \Big( e^{-\|v\|^2} \sum_{i \ge 0} \frac{\|v\|^{2 i}}{(2 i)!} E[u_1^{2 i}]\,
       E[(r^2 + t^2 + 2 c r t)^i] - 1 \Big), \qquad u \text{ uniform on the sphere},\; r, t \sim \chi_d.

    The variance is small where k is, and depends on the origin: centre the data. It grows exponentially with the
    squared length of the data in length scales. Rows of many length scales have features of about 0: the rare
    directions that make up their mean are not drawn. ``transform`` warns of the share of rows whose features underflow.

    Parameters
    ----------
    kernel : kernel object, default None
        None is ``Gaussian(1.0)``.
    n_components : int, default 100
        s; D = s columns.
    directions : {"orthogonal", "independent", "simplex"}
        Q. The last block is truncated if s is not a multiple of d.
    device : {"auto", "cpu", "cuda"}
    random_state : int, RandomState instance or None

    References
    ----------
    Choromanski et al., Rethinking attention with Performers, ICLR 2021, lemma 1; Reid, Choromanski, Likhosherstov and
    Weller, Simplex random features, ICML 2023 (arXiv 2301.13856).

    Examples
    --------
    >>> import numpy as np
    >>> from random_features.kernels import Gaussian
    >>> from random_features.maps.positive import PositiveRandom
    >>> X = 0.1 * np.random.default_rng(0).normal(size=(20, 6))
    >>> Z = PositiveRandom(n_components=4000, random_state=0).fit_transform(X)
    >>> bool(Z.min() > 0), bool(np.abs(Z @ Z.T - Gaussian()(X)).max() < 0.1)
    (True, True)
    """

    layout: ClassVar[str] = "exponential"
    directions: Literal["orthogonal", "independent", "simplex"] = "orthogonal"

    def _draw_frequencies(self, n_features, rng):
        s, d = self.n_components, n_features
        if self.directions == "independent":
            return self.kernel_.draw_coordinates(rng, (s, d))
        rotations = haar_rows(rng, -(-s // d), d, d)
        if self.directions == "simplex" and d > 1:
            rotations = simplex_corners(d - 1) @ rotations[:, : d - 1]
        lengths = np.sqrt(rng.chisquare(d, size=(s, 1)))
        return self.kernel_.frequency_scale * lengths * rotations.reshape(-1, d)[:s]

    def _mapper(self, rows, device, dtype):
        project, length_scale = self._scaled_projector(rows, device, dtype), self.kernel_.ell

        def fill(X, out):
            lengths = torch.sparse.sum(X * X, dim=1).to_dense() if X.is_sparse else (X * X).sum(dim=1)
            write(torch.sub, project(X), lengths[:, None] / length_scale**2, out=out)
            write(torch.exp, out, out=out)
            out.mul_(self.n_components**-0.5)

        return fill

    def transform(self, X):
        ((_, features),) = checked([(slice(None), super().transform(X))])
        return features

    def transform_blocks(self, X, rows=None):
        return checked(super().transform_blocks(X, rows))


def checked(blocks):
    """Yield blocks of features, arrays or tensors; ``ValueError`` if they overflow.

    It warns at the end of the share of rows whose features are all 0 or nearly so.
    """
    lost = n_rows = 0
    for part, features in blocks:
        largest = (features if isinstance(features, torch.Tensor) else as_tensor(features)).detach().amax(dim=1)
        if not torch.isfinite(largest).all():
            raise ValueError("prf: exponentials of the projections overflow: centre the data or scale them")
        lost += int((largest < torch.finfo(largest.dtype).tiny).sum())
        n_rows += len(features)
        yield part, features
    if lost:
        warnings.warn(
            f"prf: the features of {100 * lost / n_rows:.3g} % of the rows underflow, too far from the origin: centre"
            " the data, take a larger length scale or another map",
            stacklevel=2,
        )
