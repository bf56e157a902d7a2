"""Symmetric systems (A + shift I) X = B for one right-hand side and a whole grid of shifts.

Each shift takes a Cholesky factorisation (D^3 / 3 operations). One tridiagonalisation could serve all of them. It saved
a fifth of the time of a cross-validation over 11 penalties at D = 1408 (measured).
"""

from contextlib import nullcontext

import numpy as np
from scipy.linalg import lapack

from random_features.arrays import one_blas_thread

#: Up to this size a matrix stays in the cache, and one thread factorises it.
SIZE_IN_CACHE = 2048


def solve_shifted(matrix: np.ndarray, rhs: np.ndarray, shifts: np.ndarray, singular: str = "raise") -> np.ndarray:
    """Return the solutions X of (A + shift I) X = rhs for every shift, shape (len(shifts), D, c).

    Parameters
    ----------
    matrix : float64 ndarray (D, D), symmetric (both triangles), positive semi-definite up to rounding
    rhs : float64 ndarray (D, c)
    shifts : ndarray of non-negative numbers
    singular : what happens if a shifted matrix is singular to working precision (with a unit diagonal, which a scaling
        of the unknowns gives it, its condition number is above 1 / (D eps)): "raise" ``numpy.linalg.LinAlgError``, or
        "nan" for its solution, which leaves the others alone

    The caller has checked that the numbers are finite.
    """
    matrix = np.asfortranarray(matrix.T)  # no copy: the transpose of a symmetric C-ordered matrix
    solutions = np.full((len(shifts), *rhs.shape), np.nan)
    # the steps of a small factorisation are too short to be shared: when other processes use the cores, threads that
    # wait for each other at every step made it up to a hundred times slower
    with one_blas_thread() if len(matrix) <= SIZE_IN_CACHE else nullcontext():
        for solution, shift in zip(solutions, shifts, strict=True):
            try:
                solution[:] = _solve_by_cholesky(matrix, rhs, shift)
            except np.linalg.LinAlgError:
                if singular == "raise":
                    raise
    return solutions


def _solve_by_cholesky(matrix, rhs, shift):
    shifted = np.array(matrix, order="F")
    diagonal = np.einsum("ii->i", shifted)
    diagonal += shift
    if shift > len(matrix) * np.finfo(np.float64).eps * np.trace(matrix):  # more than rounding errors
        factor, failed = lapack.dpotrf(shifted, lower=1, clean=0, overwrite_a=1)
        if failed:
            raise _singular(shift)
        return lapack.dpotrs(factor, rhs, lower=1)[0]
    # Lengths of the features that differ widely do no harm by themselves: the accuracy of a Cholesky factorisation is
    # that of the matrix with a unit diagonal (Higham, Accuracy and Stability of Numerical Algorithms, section 10.1.1).
    if diagonal.min() <= 0:
        raise _singular(shift)
    scale = diagonal[:, None] ** -0.5
    shifted *= scale
    shifted *= scale.T
    norm = lapack.dlange("1", shifted)
    factor, failed = lapack.dpotrf(shifted, lower=1, clean=0, overwrite_a=1)
    if failed or lapack.dpocon(factor, norm, uplo="L")[0] <= len(matrix) * np.finfo(np.float64).eps:
        raise _singular(shift)
    return scale * lapack.dpotrs(factor, scale * rhs, lower=1)[0]


def _singular(shift):
    return np.linalg.LinAlgError(
        f"the ridge system is singular to working precision at a diagonal term of {shift:g}: "
        "the features are linearly dependent on these rows; use a larger penalty"
    )
