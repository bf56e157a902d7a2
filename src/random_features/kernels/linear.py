"""The linear kernel."""

from dataclasses import dataclass

import numpy as np
import torch
from sklearn.metrics.pairwise import linear_kernel

from random_features.kernels.base import Kernel
from random_features.tensors import write


@dataclass(frozen=True)
class Linear(Kernel):
    r"""The linear kernel :math:`k(x, y) = \langle x, y \rangle`.

    Notes
    -----
    It is :math:`2\, E[a(w^T x)\, a(w^T y)]` with :math:`a(u) = u / \sqrt 2` and w uniform on the scaled unit vectors
    :math:`\sqrt d\, e_1, \dots, \sqrt d\, e_d`: the features are the columns of the data.

    Examples
    --------
    >>> from random_features.kernels import Linear
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    takes_sparse_rows = True

    def activation(self, projections, out):
        """Write projections / sqrt(2) into ``out``; tensors of one shape."""
        write(torch.mul, projections, 0.5**0.5, out=out)

    def draw_frequencies(self, rng: np.random.Generator, shape) -> np.ndarray:
        """Draw unit vectors times sqrt(d), float64 of ``shape`` (s, d): columns are drawn with replacement."""
        n_frequencies, n_features = shape
        return np.sqrt(n_features) * np.eye(n_features)[rng.integers(n_features, size=n_frequencies)]

    def _values(self, X, Y):
        return linear_kernel(X, Y)
