"""Random Fourier features of unit length (NRFF)."""

from typing import ClassVar

import torch

from random_features.maps.montecarlo import RandomFourier
from random_features.tensors import needs_gradient, write


class NormalisedFourier(RandomFourier):
    r"""Normalised random Fourier features: features with random phases, divided by their length.

    .. math:: \phi(x) = \frac{\psi(x)}{\|\psi(x)\|}, \qquad \psi(x) = \sqrt{2/s}\, \cos(Wx + b),
       \qquad w_i \sim p(w),\; b_i \sim U[0, 2\pi)

    With z = ``|x - y| / l``, normalising takes :math:`\frac{1}{4s} e^{-z^2} (3 - e^{-2 z^2})` off the variance
    :math:`\frac1s [\frac12 + \frac12 (1 - e^{-z^2})^2]` of the features with phases, for large s; the map has a bias of
    O(1/s). (The survey says that the input is normalised, which would change nothing. It compares with the variance of
    [cos | sin] features, whose length is 1 anyway and whose variance at the same number of columns is even lower.) Time
    O(s d) per row.

    Parameters
    ----------
    kernel : kernel object, default None
        None is ``Gaussian(1.0)``.
    n_components : int, default 100
        s, the number of frequencies; D = s columns.
    device : {"auto", "cpu", "cuda"}
    random_state : int, RandomState instance or None

    References
    ----------
    Li, Linearized GMM kernels and normalized random Fourier features, KDD 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from random_features.maps.normalised import NormalisedFourier
    >>> Z = NormalisedFourier(n_components=50, random_state=0).fit_transform(np.eye(4))
    >>> bool(np.allclose((Z**2).sum(axis=1), 1))
    True
    """

    layout: ClassVar[str] = "phase"

    def _mapper(self, rows, device, dtype):
        fill_unnormalised = super()._mapper(rows, device, dtype)
        shortest = torch.finfo(dtype).tiny

        def fill(X, out):
            fill_unnormalised(X, out)
            features = out.clone() if needs_gradient(out) else out
            lengths = torch.linalg.vector_norm(features, dim=1, keepdim=True).clamp(min=shortest)
            write(torch.div, features, lengths, out=out)

        return fill
