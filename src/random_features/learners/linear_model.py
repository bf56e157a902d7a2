"""The result of a learner: a linear model, of features or of kernel values."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import torch

from random_features.arrays import check_numbers
from random_features.tensors import cast, like


@dataclass(frozen=True)
class LinearModel:
    """A linear model of features Z or of kernel values Z = kernel(X, X_train), ``decision(Z) = Z coef + intercept``.

    Attributes
    ----------
    coef : float64 ndarray, or tensor, of shape (n_columns, c), of kernel values (n_train, c): the dual coefficients
    intercept : the same of shape (c,)
    solver : the solver that was used
    converged : False if an iterative solver stopped before it met its tolerance
    n_iter : iterations of that solver (the largest over the columns), 0 for a direct one
    """

    coef: np.ndarray
    intercept: np.ndarray
    solver: str
    converged: bool = True
    n_iter: int = 0

    def __post_init__(self):
        if torch.is_inference_mode_enabled() and isinstance(self.coef, torch.Tensor):
            with torch.inference_mode(False):  # a tensor of inference mode can have no part in a later gradient
                for name in ("coef", "intercept"):
                    object.__setattr__(self, name, getattr(self, name).clone())

    def in_unit(self, unit: float, origin) -> Self:
        """Return the model of targets that are these times a unit, plus an origin (c,)."""
        intercept = unit * self.intercept
        return replace(self, coef=unit * self.coef, intercept=intercept + like(origin, intercept))

    def decision(self, Z) -> np.ndarray:
        """Return decision values (n, c), float64, of features or kernel values (n, n_columns); of tensors a tensor."""
        Z = check_numbers(Z, "Z")
        Z = cast(Z if isinstance(Z, torch.Tensor) else np.asarray(Z), "float64")
        return Z @ like(self.coef, Z) + like(self.intercept, Z)
