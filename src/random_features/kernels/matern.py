"""The Matern kernel."""

from dataclasses import dataclass

import numpy as np
from scipy.special import gamma, kv

from random_features.kernels.base import ScaleMixture

#: The nu above which Gamma(nu) and K_nu(z) soon overflow. The expansion in 1 / nu is then exact to 1e-9.
LARGE_NU = 50.0


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

    def of_distance(self, r):
        if self.nu > LARGE_NU:
            return _of_large_nu(r, self.nu)
        z = np.sqrt(2.0 * self.nu) * r
        with np.errstate(over="ignore", invalid="ignore"):
            values = 2.0 ** (1.0 - self.nu) / gamma(self.nu) * z**self.nu * kv(self.nu, z)
        return np.where(np.isfinite(values), values, r < 1.0)  # next to 0 and far away a factor overflows

    def draw_scales(self, rng, size):
        return np.sqrt(2.0 * self.nu / rng.chisquare(2.0 * self.nu, size))


def _of_large_nu(r, nu: float):
    """Return the kernel at distances r by the uniform expansion of K_nu(nu x) (DLMF 10.41.4) and Stirling's series."""
    excess = 2.0 * r**2 / nu / (1.0 + np.sqrt(1.0 + 2.0 * r**2 / nu))  # sqrt(1 + x^2) - 1 for x^2 = 2 r^2 / nu

    def series(t):
        first = (3.0 - 5.0 * t**2) * t / 24.0
        second = (81.0 - 462.0 * t**2 + 385.0 * t**4) * t**2 / 1152.0
        third = (30375.0 - 369603.0 * t**2 + 765765.0 * t**4 - 425425.0 * t**6) * t**3 / 414720.0
        return 1.0 - (first - (second - third / nu) / nu) / nu

    t = 1.0 / (1.0 + excess)
    return np.exp(nu * (np.log1p(0.5 * excess) - excess)) * np.sqrt(t) * series(t) / series(1.0)
