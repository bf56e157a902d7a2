"""Randomly pivoted Cholesky: rows of the data whose kernel columns span nearly the whole kernel matrix.

The kernel matrix is never held: only its columns at the pivots are computed, one block of rows at a time. Landmarks and
preconditioners come from here.
"""

import numpy as np
import torch

from random_features.arrays import block_rows, check_numbers, is_sparse, row_blocks
from random_features.tensors import concatenated, empty, like, on_host, row_reader

#: Candidates that one pass over the factor tries. With 50 to 200 a pass runs at the speed of matrix products and few
#: candidates are rejected.
CANDIDATES = 100

#: Residual of a row, relative to its kernel value, that is nothing but rounding errors.
ROUNDING = 1e-12

#: Rows whose kernel values with themselves are read off one small kernel matrix.
DIAGONAL_ROWS = 64


def pivoted_cholesky(kernel, X, rank: int, rng: np.random.Generator, *, tolerance: float = 0.0):
    r"""Return pivots and the factor F of a low-rank approximation :math:`K \approx F F^T` of a kernel matrix.

    A row is the next pivot with a probability in proportion to its residual, the diagonal of :math:`K - F F^T`.
    Candidates are drawn in blocks from the residuals at the start of the block, and each is accepted with the
    probability "residual now / residual then". The pivots therefore have the distribution of single draws, while the
    work is in matrix products. Time O(n k (d + k)), memory O(n k).

    Parameters
    ----------
    kernel : kernel object
        K = kernel(X).
    X : ndarray, csr matrix or tensor of shape (n, d)
        The factor of a tensor is a tensor on its device. What is on the host is one number per row, from which NumPy
        draws, and the rows of one block of candidates.
    rank : int
        k, the largest number of pivots.
    rng : numpy.random.Generator
    tolerance : float, default 0.0
        Stops where the trace of :math:`K - F F^T` is at most this.

    Returns
    -------
    pivots : int ndarray of shape (m,), m <= k
        Different rows, in the order of their choice. There are fewer than k where the residual is at most the
        ``tolerance``, or rounding errors only.
    factor : float64 ndarray or tensor of shape (n, m)
        F. :math:`F F^T` agrees with K in the rows and columns of the pivots.

    References
    ----------
    Chen, Epperly, Tropp and Webber, Randomly pivoted Cholesky, 2023 (arXiv 2207.06503); Epperly, Tropp and Webber,
    Embrace rejection: kernel matrix approximation by accelerated randomly pivoted Cholesky, 2024 (arXiv 2410.03969),
    Algorithm 2.2.

    Examples
    --------
    >>> import numpy as np
    >>> from random_features.kernels import Gaussian
    >>> from random_features.pivoted_cholesky import pivoted_cholesky
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> pivots, F = pivoted_cholesky(Gaussian(2.0), X, 40, np.random.default_rng(0))
    >>> bool(np.abs(F @ F.T - Gaussian(2.0)(X)).max() < 1e-3)
    True
    """
    X = check_numbers(X)
    n = X.shape[0]
    rank = min(rank, n)
    residual = diagonal(kernel, X)
    smallest = ROUNDING * residual
    pivots, factor, found = np.empty(rank, dtype=np.intp), empty((n, rank), "float64", X), 0
    while found < rank and residual.sum() > max(tolerance, 0.0):
        candidates = rng.choice(n, size=min(CANDIDATES, n), p=residual / residual.sum())
        points, known = on_host(X[candidates]), on_host(factor[candidates, :found])
        schur = kernel(points.astype(np.float64)) - known @ known.T
        accepted, root = _accepted(schur, residual[candidates], smallest[candidates], rng)
        accepted, root = accepted[: rank - found], root[: rank - found, : rank - found]
        chosen = candidates[accepted]
        after = found + len(chosen)
        # columns of the residual matrix times the inverse of root', one block of rows at a time
        inverse = np.linalg.inv(root).T
        for part, values in kernel_columns(kernel, X, points[accepted]):
            values -= factor[part, :found] @ like(known[accepted].T, values)
            factor[part, found:after] = values @ like(inverse, values)
            residual[part] -= on_host((factor[part, found:after] ** 2).sum(1))
        residual[residual < smallest] = 0.0
        residual[chosen] = 0.0
        pivots[found:after] = chosen
        found = after
    return pivots[:found], factor[:, :found]


def _accepted(schur, proposed, smallest, rng):
    """Return the accepted candidates (m,), in order, and the Cholesky factor (m, m) of their residual matrix.

    ``schur`` (b, b), overwritten, is the residual matrix of the candidates, ``proposed`` (b,) the residuals that they
    were drawn by. Candidate i is accepted if a uniform share of ``proposed[i]`` is below its residual given the
    accepted ones before it. At least one is accepted, because the first one's residual is ``proposed[0]``.
    """
    limits = np.maximum(rng.uniform(size=len(proposed)) * proposed, smallest)
    limits[0] = 0.0
    columns, accepted = np.zeros_like(schur), []
    for i in range(len(schur)):
        row = columns[i, : len(accepted)]
        if (left := schur[i, i] - row @ row) > limits[i]:
            columns[:, len(accepted)] = (schur[:, i] - columns[:, : len(accepted)] @ row) / np.sqrt(left)
            accepted.append(i)
    return np.array(accepted), np.tril(columns[accepted, : len(accepted)])


def kernel_columns(kernel, X, points):
    """Yield (slice, kernel(X[slice], points)) for blocks of rows of X (n, d): float64, valid until the next one.

    X is an array, a csr matrix or a tensor. The values of a tensor are tensors on its device.
    """
    device = getattr(X, "device", "cpu")
    sparse = is_sparse(X) and kernel.takes_sparse_rows
    rows = min(X.shape[0], block_rows(8 * (X.shape[1] * (not sparse) + 2 * points.shape[0]), device))
    read = row_reader(X, sparse=sparse)
    values = kernel.against(points, rows, torch.device(device), torch.float64)
    for part in row_blocks(X.shape[0], rows):
        found = values(read(part))
        yield part, found if isinstance(X, torch.Tensor) else found.numpy()


def kernel_matrix(kernel, X, points=None):
    """Return kernel(X, points), float64 (n, m) also of float32 numbers; points are X by default.

    The matrix is a tensor on the device of X if X is a tensor.
    """
    points = on_host(X if points is None else points)
    if not isinstance(X, torch.Tensor):
        return kernel(X.astype(np.float64, copy=False), None if points is X else points)
    return concatenated(values.clone() for _, values in kernel_columns(kernel, X, points))


def diagonal(kernel, X) -> np.ndarray:
    """Return kernel(x, x) for every row of X (n, d), an array, csr matrix or tensor: float64 ndarray of shape (n,)."""
    if isinstance(X, torch.Tensor) and getattr(kernel, "activation", False) is None:  # it is shift-invariant
        return np.full(len(X), kernel(np.zeros((1, X.shape[1])))[0, 0])
    blocks = (on_host(X[part]).astype(np.float64) for part in row_blocks(X.shape[0], DIAGONAL_ROWS))
    return np.concatenate([np.diagonal(kernel(block)) for block in blocks])
