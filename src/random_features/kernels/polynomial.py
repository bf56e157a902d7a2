"""The polynomial kernel."""

from dataclasses import dataclass
from numbers import Integral

import numpy as np
from sklearn.metrics.pairwise import polynomial_kernel
from sklearn.utils import check_scalar

from random_features.kernels.base import Kernel


@dataclass(frozen=True)
class Polynomial(Kernel):
    r"""The polynomial kernel :math:`k(x, y) = (\langle x, y \rangle + c)^p`.

    Parameters
    ----------
    degree : int, default 2
        p >= 1.
    coef0 : float, default 1.0
        c >= 0; with a negative c the kernel would not be positive definite.

    Examples
    --------
    >>> from random_features.kernels import Polynomial
    >>> Polynomial(degree=2, coef0=1.0)([[1.0, 2.0]], [[1.0, 1.0]])
    array([[16.]])
    """

    degree: int = 2
    coef0: float = 1.0
    takes_sparse_rows = True

    def __post_init__(self):
        for name in ("degree", "coef0"):
            if isinstance(getattr(self, name), bool):
                raise TypeError(f"{name} must be a number, got {getattr(self, name)!r}")
        check_scalar(self.degree, "degree", Integral, min_val=1)
        if not 0 <= self.coef0 < np.inf:
            raise ValueError(f"coef0 must be finite and at least 0, got {self.coef0!r}")

    def _values(self, X, Y):
        return polynomial_kernel(X, Y, degree=self.degree, gamma=1.0, coef0=self.coef0)
