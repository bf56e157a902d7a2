r"""The Hessian of logistic losses on a stream of features: its products, and what preconditions them.

With the probabilities p of a row (of one column, or of c classes) and the weights q of the rows it takes a direction V
(D, c) to

.. math:: \lambda V + \sum_i q_i \, z_i \, (p_i (f_i - \langle p_i, f_i \rangle))^T, \quad f_i = V' z_i,

for several groups of probabilities, weights and penalties at once, see ``softmax``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from rfstudy.learners import streams
from rfstudy.learners.design import Design

#: Bytes that the blocks of a Hessian may take.
BLOCK_BYTES = 2**27


class CurvedDesign(Design):
    """A ``Design`` with the products that Newton's method for logistic losses needs beside."""

    def forward(self, weights) -> np.ndarray:
        """Z weights, float64 (n, m), in one pass."""
        coef, intercepts = weights[: self.n_columns], weights[self.n_columns :].sum(axis=0)
        blocks = streams.checked(self.blocks, self.n_rows, self.n_columns)
        return np.concatenate([block @ coef.astype(block.dtype) for _rows, block in blocks]) + intercepts

    def weighted_grams(self, weights) -> np.ndarray:
        """Z' diag(w) Z, with the column of ones, for every column w >= 0 of weights (n, m): float64 (m, D, D), products
        in the type of the features, in one pass.
        """
        width = len(self.penalised)
        grams, roots = np.zeros((weights.shape[1], width, width)), np.sqrt(weights)
        for rows, chunk in streams.cache_chunks(self.blocks, self.n_rows, self.n_columns):
            columns = np.hstack([chunk, np.ones((len(chunk), width - self.n_columns), dtype=chunk.dtype)])
            for gram, root in zip(grams, roots[rows].T, strict=True):
                scaled = columns * root[:, None].astype(chunk.dtype)
                gram += scaled.T @ scaled
        return grams


@dataclass(frozen=True, eq=False)
class Hessian:
    """The Hessian of g groups: their penalties (g,), weights of the rows (n, g) and probabilities (n, g, c)."""

    design: CurvedDesign
    penalty: np.ndarray
    row_weights: np.ndarray
    probabilities: np.ndarray

    def of(self, groups) -> Hessian:
        """That of some of the groups."""
        return Hessian(self.design, self.penalty[groups], self.row_weights[:, groups], self.probabilities[:, groups])

    def times(self, direction) -> np.ndarray:
        """The product with a direction (D, g, c), of the same shape, in one pass."""

        def rowwise(rows, forward):
            p = self.probabilities[rows]
            along = forward.reshape(p.shape)
            along -= np.einsum("ngc,ngc->ng", p, along)[:, :, None]
            along *= p
            along *= self.row_weights[rows, :, None]
            return forward

        product = self.design.transposed(rowwise, direction.reshape(len(direction), -1))
        return product.reshape(direction.shape) + self.design.penalised[:, :, None] * self.penalty[:, None] * direction

    def mean_inverse(self):
        """A function of a residual (D, g, c), and of the numbers of its groups, that applies the inverse of the Hessian
        with the mean curvature of all rows and groups.

        The trace of diag(p) - pp' is that of max(1, c - 1) directions: the classes' weights add up to zero.
        """
        directions = max(1, self.probabilities.shape[2] - 1)
        traces = self._curvatures().sum(axis=2) / directions
        curvature = (self.row_weights * traces).sum(axis=0).mean() / self.design.n_rows
        solve = self.design.preconditioner(curvature, self.penalty.mean())
        return lambda residual, groups: balanced(solve(residual.reshape(len(residual), -1)).reshape(residual.shape))

    def block_inverse(self, groups):
        """A function of a residual (D, g, c), and of the numbers of its groups, that applies the inverse of the blocks
        that couple no classes; ``groups`` are the numbers of the Hessian's own.
        """
        n_rows, _, n_classes = self.probabilities.shape
        weights = self.row_weights[:, :, None] * self._curvatures()
        factors: dict[int, list] = {group: [] for group in groups}
        for number, gram in enumerate(self.design.weighted_grams(weights.reshape(n_rows, -1))):
            own = number // n_classes
            diagonal = np.einsum("ii->i", gram)
            # products in float32 leave errors of this size, which must not make a block indefinite
            diagonal *= 1 + len(gram) * np.finfo(np.float32).eps
            diagonal += self.penalty[own] * np.maximum(self.design.penalised[:, 0], np.finfo(np.float32).eps)
            factors[groups[own]].append(lapack.dpotrf(gram.T, lower=1, clean=0, overwrite_a=1)[0])

        def apply(residual, groups):
            solved = np.empty_like(residual)
            for at, group in enumerate(groups):
                for k, factor in enumerate(factors[group]):
                    solved[:, at, k] = lapack.dpotrs(factor, residual[:, at, k], lower=1)[0]
            return balanced(solved)

        return apply

    def bytes_of_blocks(self) -> int:
        """What ``block_inverse`` holds."""
        _, n_groups, n_classes = self.probabilities.shape
        return 8 * n_groups * n_classes * len(self.design.penalised) ** 2

    def _curvatures(self) -> np.ndarray:
        """The diagonals of diag(p) - pp', (n, g, c)."""
        return self.probabilities * (1 - self.probabilities)


def balanced(vectors) -> np.ndarray:
    """The nearest vectors (D, g, c) whose classes add up to zero, as those of gradients do; of one column the same."""
    return vectors - vectors.mean(axis=2, keepdims=True) if vectors.shape[2] > 1 else vectors
