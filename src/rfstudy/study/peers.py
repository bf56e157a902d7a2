"""References for the speed of the maps: scikit-learn's transformers, and the arithmetic that every map has to do.

All have ``fit`` and ``transform``. The peer of a map of s frequencies has 2 s columns, cosines and sines. The peer of a
map of s features or landmarks has s.
"""

from typing import Self

import numpy as np
import torch
from sklearn.kernel_approximation import Nystroem, PolynomialCountSketch, RBFSampler

from random_features.errors import check_known


class Arithmetic:
    """The product with a dense matrix and the two trigonometric passes of random Fourier features, in torch, into a
    newly allocated result.

    Parameters
    ----------
    n_frequencies : s
    """

    def __init__(self, n_frequencies: int):
        self.n_frequencies = n_frequencies

    def fit(self, X: np.ndarray) -> Self:
        """Draw the matrix (d, s) in the type of X."""
        self.frequencies_ = torch.randn(X.shape[1], self.n_frequencies, dtype=torch.from_numpy(X[:0]).dtype)
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Return the features (n, 2 s): the cosines and the sines of the products."""
        Z = np.empty((len(X), 2 * self.n_frequencies), dtype=X.dtype)
        target = torch.from_numpy(Z)
        projections = torch.from_numpy(X) @ self.frequencies_
        torch.cos(projections, out=target[:, : self.n_frequencies])
        torch.sin(projections, out=target[:, self.n_frequencies :])
        return Z


#: Constructors by name: (kernel, s) -> transformer.
PEERS = {
    "arithmetic": lambda kernel, s: Arithmetic(s),
    "RBFSampler": lambda kernel, s: RBFSampler(gamma=gamma_of(kernel), n_components=2 * s, random_state=0),
    "Nystroem": lambda kernel, s: Nystroem(gamma=gamma_of(kernel), n_components=s, random_state=0),
    "PolynomialCountSketch": lambda kernel, s: PolynomialCountSketch(
        degree=kernel.degree, coef0=kernel.coef0, n_components=s, random_state=0
    ),
}


def make_peer(name: str, kernel, n_features: int):
    """Return the unfitted transformer with a name in ``PEERS``, as the peer of a map of ``n_features``. Otherwise raise
    ``ValueError``, which lists the names.
    """
    check_known("no peer of a map is called", name, PEERS)
    return PEERS[name](kernel, n_features)


def gamma_of(kernel) -> float:
    """Return scikit-learn's parameter of a Gaussian kernel, exp(-gamma |x - y|^2)."""
    return 0.5 / kernel.length_scale**2
