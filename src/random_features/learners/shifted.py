"""Symmetric systems (A + shift I) X = B for one right-hand side and a whole grid of shifts.

A few shifts take a Cholesky factorisation each (D^3 / 3 operations). Many share one tridiagonalisation A = Q T Q'
(4 D^3 / 3), after which a shift costs O(D) per right-hand side: (A + shift I)^-1 = Q (T + shift I)^-1 Q'. With 25
shifts on one thread this takes half the time at D = 2048, and a third at D = 1024 (measured).
"""

import numpy as np
import torch
from scipy.linalg import lapack

from random_features import tensors
from random_features.arrays import FACTORISED_ALONE, decomposing
from random_features.tensors import namespace

#: From this number of shifts on, one tridiagonalisation is faster than their Cholesky factorisations. Half of its work
#: waits for the memory, so the matrix has to be in the cache. It took as long as 5 to 7 of them at D = 512 to 2048; in
#: November 2026, on one thread, as long as 3 to 5.
MANY = 8


def solve_shifted(matrix: np.ndarray, rhs: np.ndarray, shifts: np.ndarray) -> np.ndarray:
    """Return the solutions X of (A + shift I) X = rhs for every shift, shape (len(shifts), D, c).

    A solution is NaN where its matrix is singular to working precision: with a unit diagonal, which a scaling of the
    unknowns gives it, its condition number is above 1 / (D eps). ``refuse_singular`` makes an error of it. The caller
    has checked that the numbers are finite.

    Parameters
    ----------
    matrix : float64 ndarray or tensor (D, D), symmetric (both triangles), positive semi-definite up to rounding
    rhs : float64 ndarray or tensor (D, c)
    shifts : ndarray of non-negative numbers
    """
    if isinstance(matrix, torch.Tensor):
        if tensors.numpy_reads(matrix):
            return torch.from_numpy(solve_shifted(matrix.numpy(), rhs.numpy(), shifts))
        return torch.stack([_solve_on_device(matrix, rhs, float(shift)) for shift in shifts])
    matrix = np.asfortranarray(matrix.T)  # no copy: the transpose of a symmetric C-ordered matrix
    solutions = np.full((len(shifts), *rhs.shape), np.nan)
    together = shifts > _rounding(matrix)
    together &= 1 < len(matrix) <= FACTORISED_ALONE and np.count_nonzero(together) >= MANY
    with decomposing(len(matrix)):
        if together.any():
            solutions[together] = _solve_by_tridiagonalisation(matrix, rhs, shifts[together])
        for i in np.flatnonzero(~together):
            solutions[i] = _solve_by_cholesky(matrix, rhs, shifts[i])
    return solutions


def refuse_singular(solutions, shifts) -> None:
    """Raise ``numpy.linalg.LinAlgError`` if a solution of ``solve_shifted``, or what follows from it, is NaN."""
    for solution, shift in zip(solutions, shifts, strict=True):
        if namespace(solution).isnan(solution).any():
            raise np.linalg.LinAlgError(
                f"the ridge system is singular to working precision at a diagonal term of {shift:g}: "
                "the features are linearly dependent on these rows; use a larger penalty"
            )


def _rounding(matrix):
    """Return the largest rounding error of an eigenvalue: with a larger shift the system has a solution."""
    return len(matrix) * np.finfo(np.float64).eps * np.trace(matrix)


def _solve_by_tridiagonalisation(matrix, rhs, shifts):
    """Return the solutions for shifts above ``_rounding(matrix)``, (len(shifts), D, c)."""
    lwork = int(lapack.dsytrd_lwork(len(matrix), lower=1)[0])
    packed, diagonal, off_diagonal, tau, _ = lapack.dsytrd(matrix, lower=1, lwork=lwork)
    reflectors = np.asfortranarray(packed[1:, :-1])  # of Q, which leaves the first row as it is

    def turned(columns, transposed):
        """Return Q X or Q'X."""
        found = np.array(columns, order="F")
        lwork = int(lapack.dormqr("L", transposed, reflectors, tau, found[1:], -1)[1][0])
        found[1:] = lapack.dormqr("L", transposed, reflectors, tau, found[1:], lwork)[0]
        return found

    turned_rhs = turned(rhs, "T")
    solved = (lapack.dpttrs(*lapack.dpttrf(diagonal + shift, off_diagonal)[:2], turned_rhs)[0] for shift in shifts)
    found = turned(np.hstack([columns.reshape(rhs.shape) for columns in solved]), "N")
    return found.reshape(len(matrix), len(shifts), rhs.shape[1]).transpose(1, 0, 2)


def _solve_by_cholesky(matrix, rhs, shift):
    shifted = np.array(matrix, order="F")
    diagonal = np.einsum("ii->i", shifted)
    diagonal += shift
    if shift > _rounding(matrix):
        factor, failed = lapack.dpotrf(shifted, lower=1, clean=0, overwrite_a=1)
        return np.nan if failed else lapack.dpotrs(factor, rhs, lower=1)[0]
    # Lengths of the features that differ widely do no harm by themselves: a Cholesky factorisation is as accurate
    # as for the matrix with a unit diagonal (Higham, Accuracy and Stability of Numerical Algorithms, section 10.1.1).
    if diagonal.min() <= 0:
        return np.nan
    scale = diagonal[:, None] ** -0.5
    shifted *= scale
    shifted *= scale.T
    norm = lapack.dlange("1", shifted)
    factor, failed = lapack.dpotrf(shifted, lower=1, clean=0, overwrite_a=1)
    if failed or lapack.dpocon(factor, norm, uplo="L")[0] <= len(matrix) * np.finfo(np.float64).eps:
        return np.nan
    return scale * lapack.dpotrs(factor, scale * rhs, lower=1)[0]


def _solve_on_device(matrix, rhs, shift):
    """Return the solution for tensors: a Cholesky factorisation each is faster than one tridiagonalisation on a GPU."""
    shifted = matrix.clone()
    shifted.diagonal().add_(shift)
    scale = shifted.diagonal().clamp(min=torch.finfo(torch.float64).tiny)[:, None] ** -0.5
    factor, failed = torch.linalg.cholesky_ex(shifted.mul_(scale * scale.T))
    # with a unit diagonal, the smallest pivot bounds the condition number from below; the host does not wait for it,
    # so that the next factorisation is in the queue
    is_singular = (failed > 0) | (factor.diagonal().min() ** 2 <= len(matrix) * torch.finfo(torch.float64).eps)
    return torch.where(is_singular, torch.nan, scale * torch.cholesky_solve(scale * rhs, factor))
