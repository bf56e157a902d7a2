"""The Cauchy kernel."""

from dataclasses import dataclass

import numpy as np

from random_features.kernels.base import Scaled, SpectralKernel


@dataclass(frozen=True)
class Cauchy(Scaled, SpectralKernel):
    r"""The Cauchy kernel :math:`k(x, y) = \prod_j 1 / (1 + (x_j - y_j)^2 / \ell^2)`.

    Parameters
    ----------
    length_scale : float, "median" or "scale", default 1.0
        :math:`\ell > 0`, in the units of the data, or a rule as for :class:`Gaussian`. Raises ``ValueError`` if it is
        not positive.

    Notes
    -----
    The coordinates of the frequencies are independent with the Laplace density :math:`\ell e^{-\ell |w|} / 2` (Rahimi
    and Recht, NIPS 2007, Figure 1).

    Examples
    --------
    >>> from random_features.kernels import Cauchy
    >>> Cauchy(length_scale=2.0)([[0.0, 0.0]], [[2.0, 2.0]])
    array([[0.25]])
    """

    @property
    def frequency_scale(self) -> float:
        """Return the standard deviation of one coordinate of the frequencies."""
        return np.sqrt(2.0) / self.ell

    def frequency_quantile(self, probabilities):
        centred = np.asarray(probabilities) - 0.5
        return -np.sign(centred) * np.log1p(-2.0 * np.abs(centred)) / self.ell

    def draw_frequencies(self, rng, shape):
        return rng.laplace(scale=1.0 / self.ell, size=shape)

    def _values(self, X, Y):
        product = np.ones((len(X), len(Y)), dtype=X.dtype)
        with np.errstate(over="ignore"):  # far away the kernel is 0
            for x, y in zip(X.T, Y.T, strict=True):
                product *= 1.0 + (np.subtract.outer(x, y) / self.ell) ** 2
        return 1.0 / product
