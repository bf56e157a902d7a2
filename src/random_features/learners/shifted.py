"""Symmetric systems (A + shift I) X = B for one right-hand side and a whole grid of shifts.

A few shifts take a Cholesky factorisation each (D^3 / 3 operations). Many share one Householder
tridiagonalisation A = Q T Q' (4 D^3 / 3 operations, half of them in matrix-vector products; the first step of
every symmetric eigensolver, without the three to eight D^3 that follow there): then each shift costs one
tridiagonal solve, O(D) per right-hand side, because (A + shift I)^-1 = Q (T + shift I)^-1 Q'.
"""

import numpy as np
from scipy.linalg import lapack

from random_features.arrays import one_blas_thread

#: What one tridiagonalisation costs in Cholesky factorisations of the same size: 4 by the count of operations, 5
#: measured. That holds up to the size whose matrix stays in the cache; at D = 4000 its matrix-vector products wait
#: for the memory and one costs 10, which is as many as a grid has penalties.
CHOLESKYS_PER_TRIDIAGONALISATION = 5
SIZE_IN_CACHE = 2048


def solve_shifted(matrix: np.ndarray, rhs: np.ndarray, shifts: np.ndarray, singular: str = "raise") -> np.ndarray:
    """Solutions X of (A + shift I) X = rhs for every shift, shape (len(shifts), D, c).

    Parameters
    ----------
    matrix : float64 ndarray (D, D), symmetric (both triangles), positive semi-definite up to rounding; overwritten
    rhs : float64 ndarray (D, c)
    shifts : ndarray of non-negative numbers
    singular : what happens where a shifted matrix is singular to working precision (with a unit diagonal, which a
        scaling of the unknowns gives it, its condition number is above 1 / (D eps)): "raise"
        ``numpy.linalg.LinAlgError``, or "nan" for its solution, which leaves the others alone

    The caller has checked that the numbers are finite.
    """
    matrix = np.asfortranarray(matrix.T)  # no copy: the transpose of a symmetric C-ordered matrix
    if len(matrix) > SIZE_IN_CACHE:
        return _solve_one_by_one(matrix, rhs, shifts, singular)
    # the steps of a small factorisation are too short to be shared: where other processes hold the cores, threads
    # that wait for each other at every one of them made it up to a hundred times slower
    with one_blas_thread():
        if len(shifts) <= CHOLESKYS_PER_TRIDIAGONALISATION or len(matrix) < 3:
            return _solve_one_by_one(matrix, rhs, shifts, singular)
        return _solve_by_tridiagonalisation(matrix, rhs, shifts, singular)


def _solve_one_by_one(matrix, rhs, shifts, singular):
    solutions = []
    for shift in shifts:
        try:
            solutions.append(_solve_by_cholesky(matrix, rhs, shift))
        except np.linalg.LinAlgError:
            if singular == "raise":
                raise
            solutions.append(np.full(rhs.shape, np.nan))
    return np.stack(solutions)


def _solve_by_cholesky(matrix, rhs, shift):
    shifted = np.array(matrix, order="F")
    diagonal = np.einsum("ii->i", shifted)
    diagonal += shift
    if shift > _negligible(matrix):
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


def _solve_by_tridiagonalisation(matrix, rhs, shifts, singular):
    size, n_rhs = rhs.shape
    solutions = np.empty((len(shifts), size, n_rhs))
    # the rotation mixes long features with short ones; where a shift does not outweigh its rounding errors, a
    # factorisation that keeps them apart decides
    small = shifts <= _negligible(matrix)
    if small.any():
        solutions[small] = _solve_one_by_one(matrix, rhs, shifts[small], singular)
    if small.all():
        return solutions
    lwork = int(lapack.dsytrd_lwork(size, lower=1)[0])
    reflectors, diagonal, off_diagonal, tau, _ = lapack.dsytrd(matrix, lower=1, lwork=lwork, overwrite_a=1)
    # Q leaves the first coordinate alone; on the others it is the Q of a QR factorisation with these reflectors
    reflectors = np.asfortranarray(reflectors[1:, :-1])

    def rotate(columns, transpose):
        rotated = np.array(columns, order="F")
        lwork = int(lapack.dormqr("L", transpose, reflectors, tau, rotated[1:], -1)[1][0])
        rotated[1:] = lapack.dormqr("L", transpose, reflectors, tau, rotated[1:], lwork)[0]
        return rotated

    projected = rotate(rhs, "T")
    large = shifts[~small]
    found = [lapack.dptsv(diagonal + shift, off_diagonal, projected)[2:] for shift in large]
    failed = np.array([info != 0 for _, info in found])  # a matrix that is not semi-definite
    if failed.any() and singular == "raise":
        raise _singular(large[failed].min())
    solved = np.stack([solution for solution, _ in found], axis=1)
    solved = rotate(solved.reshape(size, -1), "N").reshape(solved.shape)
    solved[:, failed] = np.nan
    solutions[~small] = solved.swapaxes(0, 1)
    return solutions


def _negligible(matrix):
    """Shifts up to this do not outweigh the rounding errors of a matrix of that size and trace (a bound of the largest
    eigenvalue).
    """
    return len(matrix) * np.finfo(np.float64).eps * np.trace(matrix)


def _singular(shift):
    return np.linalg.LinAlgError(
        f"the ridge system is singular to working precision at a diagonal term of {shift:g}: "
        "the features are linearly dependent on these rows; use a larger penalty"
    )
