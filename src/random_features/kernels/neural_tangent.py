"""The neural tangent kernel of a network with one hidden layer."""

from dataclasses import dataclass

import numpy as np

from random_features.kernels.arc_cosine import of_angles
from random_features.kernels.base import Kernel


@dataclass(frozen=True)
class NeuralTangent(Kernel):
    r"""The neural tangent kernel of a ReLU network with one hidden layer.

    .. math:: k(x, y) = \|x\| \|y\| \, [u \kappa_0(u) + \kappa_1(u)], \qquad u = \cos\theta,

    with kappa_0 and kappa_1 the arc-cosine kernels of orders 0 and 1 on unit vectors (the survey, section 2.2; Bietti
    and Mairal, NeurIPS 2019). kappa_1 comes from the gradient of the output weights, u kappa_0 from the gradient of the
    hidden weights.

    Examples
    --------
    >>> from random_features.kernels import NeuralTangent
    >>> NeuralTangent()([[3.0, 4.0]])
    array([[50.]])
    """

    takes_sparse_rows = True

    def _values(self, X, Y):
        return of_angles(X, Y, self._at)

    def _at(self, theta, lengths):
        """Return the kernel at angles and products of lengths."""
        return lengths * (2.0 * np.cos(theta) * (np.pi - theta) + np.sin(theta)) / np.pi
