"""The features of a linear model as a matrix that is never held as a whole: the products that Newton's methods need.

They take many columns of weights at once, which share every pass over the features.
"""

from functools import cached_property

import numpy as np

from random_features import tensors
from random_features.arrays import row_blocks
from random_features.learners import streams
from random_features.tensors import cast, cholesky, cholesky_solve, concatenated, dtype_name, like, namespace, zeros

#: Up to this many columns Z'Z (one more pass of n D^2 operations) preconditions the conjugate gradients. It takes
#: 3 to 7 times fewer passes over the features (measured on ijcnn1, D = 704, squared hinge, C = 0.01 to 100).
PRECONDITIONED_COLUMNS = 8192
#: The number of rows that are enough for Z'Z, and for each column. With twice as many, every second chunk is used.
GRAM_ROWS, ROWS_PER_COLUMN = 2**14, 32
#: The largest size in bytes of the exact Hessians of a Newton step.
HESSIAN_BYTES = 2**27
#: Columns of the features, divided by the steps of conjugate gradients that cost as much as the exact Hessian of a
#: column (measured for logistic regression; the squared hinge loss has the same products).
COLUMNS_PER_STEP = 8


class Design:
    """Features Z (n, D) as a stream, followed by a column of ones if there is an intercept.

    Weights have shape (D, ...), or (D + 1, ...) with the intercepts in the last row. They, the features and all results
    are arrays or tensors as ``other`` is, on its device.
    """

    def __init__(self, blocks, n_rows: int, n_columns: int, has_intercept: bool, other):
        self.blocks, self.n_rows, self.n_columns, self.has_intercept = blocks, n_rows, n_columns, has_intercept
        self.other, self.inverses = other, {}

    def penalised(self, penalty, weights):
        """Return the penalties (g,) times the weights (D, g, c), 0 for the column of ones."""
        product = like(penalty[:, None], weights) * weights
        product[self.n_columns :] = 0.0
        return product

    @cached_property
    def gram(self):
        """Return Z'Z with the column of ones, float64; None above ``PRECONDITIONED_COLUMNS`` or n columns.

        With more rows than are enough it is computed from some of them, times all rows over these.
        """
        if self.n_columns > min(PRECONDITIONED_COLUMNS, self.n_rows):
            return None
        enough = max(GRAM_ROWS, ROWS_PER_COLUMN * self.n_columns)
        chunk, every = np.arange(self.n_rows) // streams.CHUNK_ROWS, max(1, self.n_rows // enough)
        left_out, ones = -(chunk % every > 0).astype(int), 1.0 + zeros((self.n_rows, 1), self.other)
        (gram,), (totals,) = streams.grams_by_group(self.blocks, ones, left_out, 1, self.n_columns)
        if self.has_intercept:
            xp, count = namespace(gram), like(np.array([[float((left_out == 0).sum())]]), gram)
            gram = xp.concatenate([xp.concatenate([gram, totals], 1), xp.concatenate([totals.T, count], 1)])
        return gram * (self.n_rows / (left_out == 0).sum())

    def preconditioners(self, powers) -> dict:
        """Return functions that apply (2^power I + Z'Z)^-1 to columns, by power; intercepts are not penalised.

        A function does nothing if Z'Z is not held, or if that matrix is singular in float64 (an extremely small power).
        """
        self.inverses = {power: self.inverses.get(power) or self._inverse(2.0**power) for power in powers}
        return self.inverses

    def _inverse(self, shift):
        if self.gram is None:
            return lambda residual: residual
        system = 1.0 * self.gram
        namespace(system).einsum("ii->i", system)[: self.n_columns] += shift
        return inverse(system)

    @tensors.full_precision
    def weighted_inverses(self, weights, penalties) -> list:
        """Return functions that apply (penalty I + Z' diag(w) Z)^-1 to columns, from one pass.

        There is one for every column w >= 0 of weights (n, m) and its penalty of (m,). Products have the type of the
        features. The column of ones is not penalised.
        """
        width, xp, smallest = self.n_columns + self.has_intercept, namespace(weights), float(np.finfo(np.float32).eps)
        grams = [zeros((width, width), weights) for _ in penalties]
        for rows, block in streams.checked(self.blocks, self.n_rows, self.n_columns, self.other.device):
            for gram, weight in zip(grams, xp.sqrt(weights[rows]).T, strict=True):
                used = xp.argwhere(weight)[:, 0]
                for part in row_blocks(len(used), streams.chunk_rows(self.n_columns, block.device)):
                    roots = cast(weight[used[part]], dtype_name(block))[:, None]
                    scaled = block[used[part]] * roots
                    scaled = xp.concatenate([scaled, roots], 1) if self.has_intercept else scaled
                    with np.errstate(over="ignore", invalid="ignore"):  # numbers that are not finite are refused below
                        gram += scaled.T @ scaled
        for gram, penalty in zip(grams, penalties, strict=True):
            diagonal = xp.einsum("ii->i", gram)
            streams.refuse_non_finite(diagonal)
            # products in float32 have errors of this size, which must not make a matrix indefinite
            diagonal *= 1 + width * smallest
            diagonal += penalty * smallest
            diagonal[: self.n_columns] += penalty * (1 - smallest)
        return [inverse(gram) for gram in grams]

    @tensors.full_precision
    def forward(self, weights):
        """Return Z weights, float64 (n, ...), in one pass."""
        blocks = streams.checked(self.blocks, self.n_rows, self.n_columns, self.other.device)
        products = concatenated(self._times(block, weights.reshape(len(weights), -1)) for _, block in blocks)
        return products.reshape(-1, *weights.shape[1:])

    def _times(self, block, weights):
        """Return a block of rows (r, D) times weights (D, m), with their intercepts."""
        products = cast(block @ cast(weights[: self.n_columns], dtype_name(block)), "float64")
        return products + weights[self.n_columns] if self.has_intercept else products

    @tensors.full_precision
    def transposed(self, rowwise, *weights):
        """Return Z' rowwise(rows, Z weights, ...), float64 (D, ...), in one pass.

        ``rowwise`` takes a slice of rows and their products with each of the weights (D, ...), which it may overwrite,
        and returns (rows, ...). Raises ``ValueError`` for features that are not finite.
        """
        total, xp = 0.0, namespace(self.other)
        side_by_side = xp.concatenate([each.reshape(len(each), -1) for each in weights], 1) if weights else None
        for rows, chunk in streams.checked(self.blocks, self.n_rows, self.n_columns, self.other.device, twice=True):
            with np.errstate(over="ignore", invalid="ignore"):  # values that are not finite raise an error below
                forward = []
                if weights:
                    products = self._times(chunk, side_by_side).reshape(len(chunk), len(weights), -1)
                    forward = [products[:, i].reshape(-1, *each.shape[1:]) for i, each in enumerate(weights)]
                factors = rowwise(rows, *forward)
                shape, factors = factors.shape[1:], factors.reshape(len(chunk), -1)
                product = cast(chunk.T @ cast(factors, dtype_name(chunk)), "float64")
                if self.has_intercept:
                    product = xp.concatenate([product, factors.sum(axis=0)[None]])
                total = total + product
        streams.refuse_non_finite(total)
        return total.reshape(-1, *shape)


def inverse(matrix):
    """Return a function that applies the inverse of a symmetric matrix (D, D), which is overwritten, to columns (D, m).

    It does nothing if the matrix is not positive definite.
    """
    try:
        factor = cholesky(matrix)
    except np.linalg.LinAlgError:
        return lambda residual: residual
    return lambda residual: cholesky_solve(factor, residual)
