"""The features of a linear model as a matrix that is never held as a whole: the products that Newton's methods need.

They take many columns of weights at once, which share every pass over the features.
"""

from functools import cached_property

import numpy as np
from scipy.linalg import lapack

from random_features.learners import streams

#: Up to this many columns Z'Z (one more pass of n D^2 operations) preconditions the conjugate gradients. It takes
#: 3 to 7 times fewer passes over the features (measured on ijcnn1, D = 704, squared hinge, C = 0.01 to 100).
PRECONDITIONED_COLUMNS = 4096
#: The largest size in bytes of the exact Hessians of a Newton step.
HESSIAN_BYTES = 2**27
#: Columns of the features, divided by the steps of conjugate gradients that cost as much as the exact Hessian of a
#: column (measured for logistic regression; the squared hinge loss has the same products).
COLUMNS_PER_STEP = 8


class Design:
    """Features Z (n, D) as a stream, followed by a column of ones if there is an intercept.

    Weights have shape (D, m), or (D + 1, m) with the intercepts in the last row.

    Attributes
    ----------
    n_rows, n_columns, has_intercept : n, D, and whether there is a column of ones
    penalised : ndarray (D, 1) or (D + 1, 1), 1 for a feature and 0 for the column of ones
    """

    def __init__(self, blocks, n_rows: int, n_columns: int, has_intercept: bool):
        self.blocks, self.n_rows, self.n_columns, self.has_intercept = blocks, n_rows, n_columns, has_intercept
        self.penalised = np.ones((n_columns + has_intercept, 1))
        self.penalised[n_columns:] = 0

    @cached_property
    def gram(self) -> np.ndarray | None:
        """Return Z'Z with the column of ones, float64; None above ``PRECONDITIONED_COLUMNS`` or n columns."""
        if self.n_columns > min(PRECONDITIONED_COLUMNS, self.n_rows):
            return None
        one_group, ones = np.zeros(self.n_rows, dtype=int), np.ones((self.n_rows, 1))
        (gram,), (totals,) = streams.grams_by_group(self.blocks, ones, one_group, 1, self.n_columns)
        if not self.has_intercept:
            return gram
        return np.block([[gram, totals], [totals.T, np.array([[self.n_rows]])]])

    def preconditioner(self, curvature: float, penalty: float):
        """Return a function that applies (penalty I + curvature Z'Z)^-1 to columns; intercepts are not penalised.

        It does nothing if Z'Z is not held, or if that matrix is singular in float64 (an extremely small penalty).
        """
        if self.gram is None:
            return lambda residual: residual
        return inverse(curvature * self.gram, penalty * self.penalised[:, 0])

    def bytes_of_factors(self, n: int) -> int:
        """Return the bytes that ``weighted_factors`` of n columns take."""
        return 8 * n * len(self.penalised) ** 2

    def weighted_factors(self, weights, penalties) -> list[np.ndarray]:
        """Return Cholesky factors, for ``solve``, of penalty I + Z' diag(w) Z, in one pass.

        There is one for every column w >= 0 of weights (n, m) and its penalty of (m,). Products have the type of the
        features. The column of ones is not penalised.
        """
        width = len(self.penalised)
        grams = [np.zeros((width, width)) for _ in penalties]
        for rows, chunk in streams.cache_chunks(self.blocks, self.n_rows, self.n_columns):
            columns = np.hstack([chunk, np.ones((len(chunk), width - self.n_columns), dtype=chunk.dtype)])
            for gram, weight in zip(grams, weights[rows].T, strict=True):
                taken = np.flatnonzero(weight)
                scaled = columns[taken] * np.sqrt(weight[taken])[:, None].astype(chunk.dtype)
                gram += scaled.T @ scaled
        for gram, penalty in zip(grams, penalties, strict=True):
            diagonal = np.einsum("ii->i", gram)
            # products in float32 have errors of this size, which must not make a matrix indefinite
            diagonal *= 1 + width * np.finfo(np.float32).eps
            diagonal += penalty * np.maximum(self.penalised[:, 0], np.finfo(np.float32).eps)
        return [lapack.dpotrf(gram.T, lower=1, clean=0, overwrite_a=1)[0] for gram in grams]

    def forward(self, weights) -> np.ndarray:
        """Return Z weights, float64 (n, m), in one pass."""
        coef, intercepts = weights[: self.n_columns], weights[self.n_columns :].sum(axis=0)
        blocks = streams.checked(self.blocks, self.n_rows, self.n_columns)
        return np.concatenate([block @ coef.astype(block.dtype) for _rows, block in blocks]) + intercepts

    def transposed(self, rowwise, weights=None):
        """Return Z' rowwise(rows, Z weights), float64, in one pass.

        ``rowwise`` takes a slice of rows and their product with the weights (None without weights), and returns
        (rows, m). Raises ``ValueError`` for features that are not finite.
        """
        total, D = 0.0, self.n_columns
        for rows, chunk in streams.cache_chunks(self.blocks, self.n_rows, D):
            with np.errstate(over="ignore", invalid="ignore"):  # values that are not finite raise an error below
                forward = None
                if weights is not None:
                    forward = (chunk @ weights[:D].astype(chunk.dtype)).astype(np.float64) + weights[D:].sum(axis=0)
                factors = rowwise(rows, forward)
                product = (chunk.T @ factors.astype(chunk.dtype)).astype(np.float64)
            total = total + (np.vstack([product, factors.sum(axis=0)]) if self.has_intercept else product)
        streams.refuse_non_finite(total)
        return total


def inverse(matrix: np.ndarray, diagonal):
    """Return a function that applies (matrix + diag(diagonal))^-1 to columns.

    It does nothing if that matrix is singular. ``matrix`` (D, D) is symmetric positive semi-definite and overwritten;
    ``diagonal`` is a number or (D,).
    """
    system = np.asfortranarray(matrix.T)  # no copy: the transpose of a symmetric C-ordered matrix
    np.einsum("ii->i", system)[:] += diagonal
    factor, failed = lapack.dpotrf(system, lower=1, clean=0, overwrite_a=1)
    return (lambda residual: residual) if failed else (lambda residual: solve(factor, residual))


def solve(factor, residual):
    """Solve the system of a Cholesky factor (D, D), from ``Design.weighted_factors``, for columns (D,) or (D, m)."""
    return lapack.dpotrs(factor, residual, lower=1)[0]
