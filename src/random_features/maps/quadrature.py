"""Frequencies at the nodes of a Gauss-Hermite rule (GQ)."""

from numbers import Integral

import numpy as np
from sklearn.utils import check_scalar

from random_features.maps.spectral import SpectralMap


class GaussianQuadrature(SpectralMap):
    r"""Gaussian quadrature features: frequencies sampled from the dense grid of a Gauss-Hermite rule.

    Every coordinate of every frequency is drawn independently from the L nodes of the rule for N(0, 1), with the
    weights as probabilities, and multiplied by 1 / l:

    .. math:: \phi(x) = s^{-1/2} [\cos(Wx) \,|\, \sin(Wx)], \qquad
       E \tilde k(\tau) = \prod_{j=1}^{d} \sum_{m=1}^{L} a_m \cos(\gamma_m \tau_j / \ell)

    which agrees with the Gaussian kernel up to the order 2 L - 1 in each coordinate. L = 2 are random signs, L = 3
    the nodes 0 and +-sqrt(3) with the weights 2/3, 1/6 and 1/6. Sampling the grid replaces its L^d nodes, and because
    the weights are the probabilities, all features have equal weight.

    Parameters
    ----------
    kernel : kernel object, default None
        None is ``Gaussian(1.0)``.
    n_components : int, default 100
        s, the number of frequencies.
    n_nodes : int, default 3
        L, from 2 to 370: the nodes of the rule in each coordinate.
    layout : {"cos_sin", "phase"}
        D = 2 s or D = s columns.
    device : {"auto", "cpu", "cuda"}
    random_state : int, RandomState instance or None

    References
    ----------
    Dao, De Sa and Re, Gaussian quadrature for kernel features, NIPS 2017, section 4 (subsampled dense grids).

    Examples
    --------
    >>> import numpy as np
    >>> from random_features.maps.quadrature import GaussianQuadrature
    >>> phi = GaussianQuadrature(n_components=1000, random_state=0).fit(np.zeros((1, 2)))
    >>> np.unique(phi.frequencies_.round(3) + 0.0)
    array([-1.732,  0.   ,  1.732])
    """

    n_nodes: Integral = 3

    def _check_options(self):
        check_scalar(self.n_nodes, "n_nodes", Integral, min_val=2, max_val=370)  # weights of more overflow

    def _draw_frequencies(self, n_features, rng):
        nodes, weights = np.polynomial.hermite_e.hermegauss(self.n_nodes)
        chosen = rng.choice(nodes, p=weights / weights.sum(), size=(self.n_components, n_features))
        return self.kernel_.frequency_scale * chosen
