r"""The Hessian of logistic losses on a stream of features: its products, and what preconditions them.

With the probabilities p of a row (of one column, or of c classes) and the weights q of the rows it takes a direction V
(D, c) to

.. math:: \lambda V + \sum_i q_i \, z_i \, (p_i (f_i - \langle p_i, f_i \rangle))^T, \quad f_i = V' z_i,

for several groups of probabilities, weights and penalties at once, see ``softmax``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from random_features.learners import streams
from random_features.learners.design import Design, solve


class CurvedDesign(Design):
    """A ``Design`` with the products that Newton's method for logistic losses needs beside."""

    def forward(self, weights) -> np.ndarray:
        """Z weights, float64 (n, m), in one pass."""
        coef, intercepts = weights[: self.n_columns], weights[self.n_columns :].sum(axis=0)
        blocks = streams.checked(self.blocks, self.n_rows, self.n_columns)
        return np.concatenate([block @ coef.astype(block.dtype) for _rows, block in blocks]) + intercepts


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
        penalties = np.repeat(self.penalty, n_classes)
        for number, factor in enumerate(self.design.weighted_factors(weights.reshape(n_rows, -1), penalties)):
            factors[groups[number // n_classes]].append(factor)

        def apply(residual, groups):
            solved = np.empty_like(residual)
            for at, group in enumerate(groups):
                for k, factor in enumerate(factors[group]):
                    solved[:, at, k] = solve(factor, residual[:, at, k])
            return balanced(solved)

        return apply

    def bytes_of_blocks(self) -> int:
        """What ``block_inverse`` holds."""
        _, n_groups, n_classes = self.probabilities.shape
        return self.design.bytes_of_factors(n_groups * n_classes)

    def _curvatures(self) -> np.ndarray:
        """The diagonals of diag(p) - pp', (n, g, c)."""
        return self.probabilities * (1 - self.probabilities)


def balanced(vectors) -> np.ndarray:
    """The nearest vectors (D, g, c) whose classes add up to zero, as those of gradients do; of one column the same."""
    return vectors - vectors.mean(axis=2, keepdims=True) if vectors.shape[2] > 1 else vectors
