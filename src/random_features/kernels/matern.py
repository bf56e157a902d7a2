"""The Matern kernel."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import gamma, kv

from random_features.kernels.base import ScaleMixture

KERNEL = {"class": "Matern", "parameters": ("length_scale", "nu")}


@dataclass(frozen=True)
class Matern(ScaleMixture):
    r"""The Matern kernel :math:`k = \frac{2^{1 - \nu}}{\Gamma(\nu)} z^\nu K_\nu(z)`, :math:`z = \sqrt{2 \nu}\, r`.

    Here :math:`r = \|x - y\| / \ell` and :math:`K_\nu` is a modified Bessel function. It is :math:`e^{-r}` for nu = 1/2
    and tends to the Gaussian kernel for large nu.

    Parameters
    ----------
    length_scale : float, "median" or "scale", default 1.0
        As for :class:`Gaussian`.
    nu : float, default 1.5
        The smoothness, > 0. Raises ``ValueError`` otherwise.

    Notes
    -----
    The frequencies have Student's t distribution with 2 nu degrees of freedom: R is 2 nu over a chi-squared number
    with 2 nu degrees of freedom (arXiv 2411.02770).

    Examples
    --------
    >>> from random_features.kernels import Matern
    >>> Matern(length_scale=2.0, nu=0.5)([[0.0, 0.0]], [[2.0, 0.0]]).round(4)
    array([[0.3679]])
    """

    nu: float = 1.5
    name: ClassVar[str] = "matern"

    def of_distance(self, r):
        z = np.sqrt(2.0 * self.nu) * r
        with np.errstate(over="ignore", invalid="ignore"):
            values = 2.0 ** (1.0 - self.nu) / gamma(self.nu) * z**self.nu * kv(self.nu, z)
        return np.where(np.isfinite(values), values, r < 1.0)  # next to 0 and far away a factor overflows

    def draw_scales(self, rng, size):
        return np.sqrt(2.0 * self.nu / rng.chisquare(2.0 * self.nu, size))
