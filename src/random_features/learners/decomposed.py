"""Ridge regression on the singular values of the features: every penalty, however small, on either side of D = n.

With Z = U S V' the coefficients of (Z'Z + shift I) w = Z'y are V S (S^2 + shift)^-1 U'y, whether there are more columns
or more rows. Nothing is squared, so a shift far below the rounding errors of a Gram matrix is exact. The limit of no
shift is the interpolator with the least norm (or the least squares fit). The features have to be in memory.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import svd

from random_features.arrays import check_numbers


class Decomposed(NamedTuple):
    """Features Z (n, D) as ``left`` (n, r) @ diag(``values`` (r,), largest first) @ ``right`` (r, D), r = min(n, D)."""

    left: np.ndarray
    values: np.ndarray
    right: np.ndarray


def decompose(Z) -> Decomposed:
    """Return the thin singular value decomposition of finite features Z (n, D) in float64; ``ValueError`` otherwise."""
    Z = np.asarray(check_numbers(Z, "Z"), dtype=np.float64)
    return Decomposed(*svd(Z, full_matrices=False))


def ridge_coefficients(Z: Decomposed, y: np.ndarray, shift: float) -> np.ndarray:
    """Return the minimiser w (D,) of |Z w - y|^2 + shift |w|^2 for targets y (n,).

    For a shift of zero it has the least norm. Directions whose singular value is zero to working precision do not
    count, as in ``numpy.linalg.pinv``.
    """
    y = _vector(y, Z)
    smallest = max(len(Z.left), Z.right.shape[1]) * np.finfo(np.float64).eps * Z.values[0]
    values = np.where(Z.values > smallest, Z.values, np.inf)
    return ((Z.left.T @ y) / (values + shift / values)) @ Z.right


def leave_one_out(Z: Decomposed, y: np.ndarray, shifts) -> np.ndarray:
    """Return the errors (g, n) of y (n,) at every row by the ridge regressions on the other rows.

    ``shifts`` (g,) are positive; ``ValueError`` otherwise. The error is the residual over one minus the leverage, (y -
    H y)_i / (1 - H_ii) (Allen 1974). Both vanish with the shift if there are at least as many columns as rows. They are
    summed from what the shift leaves of every direction, so that their ratio keeps its digits.
    """
    y = _vector(y, Z)
    shifts = np.asarray(shifts, dtype=np.float64)
    if not (shifts > 0).all():
        raise ValueError(f"leave-one-out errors need positive shifts, got {shifts.tolist()}")
    kept = shifts[:, None] / (Z.values**2 + shifts[:, None])
    along, squares = Z.left.T @ y, Z.left**2
    residuals, complement = (kept * along) @ Z.left.T, kept @ squares.T
    if len(Z.values) < len(Z.left):
        residuals += y - Z.left @ along
        complement += 1.0 - squares.sum(axis=1)
    return residuals / complement


def _vector(y, Z):
    """Return targets y as float64 (n,); ``ValueError`` for another shape, which would be broadcast."""
    y = np.asarray(check_numbers(y, "y"), dtype=np.float64)
    if y.shape != (len(Z.left),):
        raise ValueError(f"y must have the shape {(len(Z.left),)}, got {y.shape}")
    return y
