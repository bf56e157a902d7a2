"""The exponential-power kernel."""

from dataclasses import dataclass

import numpy as np

from random_features.kernels.base import ScaleMixture, positive_stable


@dataclass(frozen=True)
class ExponentialPower(ScaleMixture):
    r"""The exponential-power kernel :math:`k(x, y) = \exp(-(\|x - y\| / \ell)^\alpha)`.

    Parameters
    ----------
    length_scale : float, "median" or "scale", default 1.0
        As for :class:`Gaussian`, whose length scale l is sqrt(2) l here, with alpha = 2.
    exponent : float, default 1.0
        alpha, above 0 and at most 2. Raises ``ValueError`` otherwise.

    Notes
    -----
    R is twice a positive stable number of the index alpha / 2 (arXiv 2411.02770). Below alpha = 2 the frequencies have
    no variance.

    Examples
    --------
    >>> from random_features.kernels import ExponentialPower
    >>> ExponentialPower(length_scale=2.0, exponent=1.0)([[0.0, 0.0]], [[2.0, 0.0]]).round(4)
    array([[0.3679]])
    """

    exponent: float = 1.0

    def of_distance(self, r):
        return np.exp(-(r**self.exponent))

    def draw_scales(self, rng, size):
        return np.sqrt(2.0 * positive_stable(rng, 0.5 * self.exponent, size))
