"""The generalised Cauchy kernel."""

from dataclasses import dataclass

import numpy as np

from random_features.kernels.base import ScaleMixture, positive_stable


@dataclass(frozen=True)
class GeneralisedCauchy(ScaleMixture):
    r"""The generalised Cauchy kernel :math:`k(x, y) = (1 + (\|x - y\| / \ell)^\alpha)^{-\beta / \alpha}`.

    With alpha = 2 it is the rational quadratic kernel.

    Parameters
    ----------
    length_scale : float, "median" or "scale", default 1.0
        As for :class:`Gaussian`.
    exponent : float, default 2.0
        alpha, above 0 and at most 2: the smoothness at 0. Raises ``ValueError`` otherwise.
    decay : float, default 1.0
        beta > 0: far away, k falls as the power -beta of the distance. Raises ``ValueError`` otherwise.

    Notes
    -----
    It is a mixture of exponential-power kernels with a gamma-distributed G of shape beta / alpha. The squared random
    factor of a frequency (``ScaleMixture``) is :math:`2 A G^{2 / \alpha}` with a positive stable A of the index
    alpha / 2 (arXiv 2411.02770).

    Examples
    --------
    >>> from random_features.kernels import GeneralisedCauchy
    >>> GeneralisedCauchy(length_scale=2.0, exponent=2.0, decay=4.0)([[0.0, 0.0]], [[2.0, 0.0]])
    array([[0.25]])
    """

    exponent: float = 2.0
    decay: float = 1.0

    def of_distance(self, r):
        return (1.0 + r**self.exponent) ** (-self.decay / self.exponent)

    def draw_scales(self, rng, size):
        stable = positive_stable(rng, 0.5 * self.exponent, size)
        return np.sqrt(2.0 * stable) * rng.gamma(self.decay / self.exponent, size=size) ** (1.0 / self.exponent)
