"""The result of a learner: a linear model, of features or of kernel values."""

from dataclasses import dataclass

import numpy as np

from random_features.arrays import check_numbers


@dataclass(frozen=True)
class LinearModel:
    """A linear model of features Z or of kernel values Z = kernel(X, X_train), ``decision(Z) = Z coef + intercept``.

    Attributes
    ----------
    coef : float64 ndarray of shape (n_columns, c), of kernel values (n_train, c): the dual coefficients
    intercept : float64 ndarray of shape (c,)
    solver : the solver that was used
    converged : False if an iterative solver stopped before it met its tolerance
    n_iter : iterations of that solver (the largest over the columns), 0 for a direct one
    """

    coef: np.ndarray
    intercept: np.ndarray
    solver: str
    converged: bool = True
    n_iter: int = 0

    def decision(self, Z) -> np.ndarray:
        """Return decision values (n, c), float64, of features or kernel values of shape (n, n_columns)."""
        check_numbers(Z, "Z")
        return np.asarray(Z) @ self.coef + self.intercept
