r"""Newton's method for linear classifiers on a stream of features: squared hinge, logistic and multinomial losses.

It minimises :math:`\lambda |W|^2 / 2 + \sum_i q_i \, L(f_i)` with the decision values :math:`f_i = W' z_i + b` and the
weights :math:`q_i` of the rows. It does so for several *groups* at once, such as the folds of a cross-validation. They
are problems with their own losses, weights of rows and solutions that share every product with the features.

Conjugate gradients solve for Newton's steps, one pass over the features each. The Gram matrix of the features, with the
mean curvature of the loss over the rows, preconditions them. (With an upper bound of the curvature in its place, the
preconditioner alone is the fixed Hessian step of Boehning 1992, "Multinomial logistic regression algorithm", which
always descends.) If that takes many steps, the blocks of the Hessian that couple no classes precondition the next ones:
a Gram matrix for each class. The decision values of all rows are updated in every step, so a line search needs no pass.

A group is solved where half the square of the Newton decrement, the fall of the objective that its quadratic model
promises, is below the tolerance times the objective (Boyd & Vandenberghe 2004, section 9.5.1); that last step is taken.
Conjugate gradients stop by the same measure: the falls of their last steps estimate the fall that is still to come
(Hestenes & Stiefel 1952; Strakos & Tichy 2002), with any preconditioner.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from scipy.special import logsumexp

from random_features.learners.design import COLUMNS_PER_STEP, HESSIAN_BYTES, Design, solve
from random_features.learners.scoring import held_out_mean

#: Half the squared Newton decrement over the objective at which a group is solved.
TOLERANCE = 1e-7
#: Newton steps (under twenty are usual), conjugate gradient steps in one of them, and halvings of a step.
MAX_ITERATIONS = 100
MAX_CONJUGATE_GRADIENTS = 500
MAX_HALVINGS = 40
#: The share of the decrease predicted by the slope that a step must achieve (Armijo's rule).
SUFFICIENT = 1e-4
#: The share of the tolerance by which conjugate gradients may miss the decrease of the quadratic model.
NEGLIGIBLE = 0.002


@dataclass(frozen=True, eq=False)
class SquaredHinge:
    """The loss max(0, 1 - y f)^2; ``targets`` (n, g, 1) are -1 or +1."""

    targets: np.ndarray
    #: Whether the second derivative is diag(h) - h h' for the curvature h of a row, and not diag(h).
    couples_classes: ClassVar[bool] = False

    def values(self, decision):
        """Return the losses (n, g)."""
        return (np.maximum(0.0, 1.0 - self.targets * decision) ** 2)[..., 0]

    def derivatives(self, decision):
        """Return the gradient by the decision values, and the curvature: (n, g, 1) each."""
        slack = np.maximum(0.0, 1.0 - self.targets * decision)
        return -2.0 * self.targets * slack, 2.0 * (slack > 0)


@dataclass(frozen=True, eq=False)
class Logistic:
    """The loss log sum_k exp(f_k) - f_y; ``targets`` (n, g, c), bool, mark the class y of a row.

    With one column it is log(1 + exp(f)) - y f.
    """

    targets: np.ndarray
    couples_classes: ClassVar[bool] = True

    def values(self, decision):
        """Return the losses (n, g)."""
        return log_partition(decision)[..., 0] - np.where(self.targets, decision, 0.0).sum(axis=2)

    def derivatives(self, decision):
        """Return the gradient by the decision values, and the curvature, here the probabilities: (n, g, c) each."""
        probabilities = np.exp(decision - log_partition(decision))
        return probabilities - self.targets, probabilities


def log_partition(decision):
    """Return the log of the sum of the exponentials of decision values (..., c), for one column also of 0; (..., 1)."""
    if decision.shape[-1] == 1:
        return np.logaddexp(0.0, decision)
    return logsumexp(decision, axis=-1, keepdims=True)


@dataclass
class Solution:
    """The result of a fit, for g groups.

    It holds coefficients (D, g, c), intercepts (g, c), the decision values of all rows (n, g, c), convergence by group
    (g,) and the number of Newton steps. The decision values belong to the running solver: they change when the next
    solution is requested.
    """

    coef: np.ndarray
    intercept: np.ndarray
    decision: np.ndarray
    converged: np.ndarray
    n_iter: int


def minimise(blocks, loss, row_weights, penalties, *, n_columns, has_intercept):
    """Yield a ``Solution`` for every row of a grid of penalties; each fit starts from the one before.

    Parameters
    ----------
    blocks : callable, the stream of features
    loss : ``SquaredHinge`` or ``Logistic``
    row_weights : ndarray (n, g), the q above: 0 where a group does not use a row (its decision value is computed)
    penalties : ndarray (grid, g) of positive numbers, in descending order
    has_intercept : whether b is free (unpenalised) or 0

    Raises
    ------
    ValueError
        Features that are not finite.
    """
    shape = loss.targets.shape
    problem = Problem(Design(blocks, len(row_weights), n_columns, has_intercept), loss, row_weights)
    weights, decision = np.zeros((n_columns + has_intercept, *shape[1:])), np.zeros(shape)
    for penalty in penalties:
        converged, n_iter = _newton(problem, penalty, weights, decision)
        intercept = weights[n_columns].copy() if has_intercept else np.zeros(shape[1:])
        yield Solution(weights[:n_columns].copy(), intercept, decision, converged, n_iter)


def held_out_scores(solutions, order, Y, folds, score="accuracy", weights=None) -> tuple[np.ndarray, int]:
    """Return scores (grid, n_folds) on the held-out rows, by weights (n,) or None, and how many fits did not converge.

    ``solutions`` of ``minimise`` come in the ``order`` of the grid (g,). The groups of the first fold come first, then
    those of the second, and so on. All groups of a fold together predict the columns of Y (n, c).
    """
    n_folds = folds.max() + 1
    scores, unconverged = np.empty((len(order), n_folds)), 0
    for i, solution in zip(order, solutions, strict=True):
        unconverged += int((~solution.converged).reshape(n_folds, -1).any(axis=1).sum())
        of_folds = solution.decision.reshape(len(Y), n_folds, Y.shape[1])
        for fold in range(n_folds):
            rows = folds == fold
            scores[i, fold] = held_out_mean(Y, of_folds[rows, fold, None], score, weights, rows)[0]
    return scores, unconverged


@dataclass
class Problem:
    """The objective without the penalty: features, losses, weights of the rows (n, g)."""

    design: Design
    loss: SquaredHinge | Logistic
    row_weights: np.ndarray

    def of(self, groups) -> Self:
        """Return the same problem for some of its groups."""
        return Problem(
            self.design, replace(self.loss, targets=self.loss.targets[:, groups]), self.row_weights[:, groups]
        )

    def objective(self, penalty, weights, decision):
        """Return the objective of every group, (g,)."""
        squares = (weights[: self.design.n_columns] ** 2).sum(axis=(0, 2))
        return 0.5 * penalty * squares + (self.row_weights * self.loss.values(decision)).sum(axis=0)

    def derivatives(self, penalty, weights, decision):
        """Return the gradient (D, g, c) of the objective by the weights, and the ``Hessian``."""
        slopes, curvature = self.loss.derivatives(decision)
        pull = self.row_weights[:, :, None] * slopes
        by_group = self.design.transposed(lambda rows, _: pull[rows].reshape(rows.stop - rows.start, -1))
        gradient = by_group.reshape(weights.shape) + self.design.penalised[:, :, None] * penalty[:, None] * weights
        return gradient, Hessian(self.design, penalty, self.row_weights, curvature, self.loss.couples_classes)


@dataclass(frozen=True, eq=False)
class Hessian:
    """The Hessian of g groups: penalties (g,), weights (n, g) and curvatures (n, g, c) of the rows."""

    design: Design
    penalty: np.ndarray
    row_weights: np.ndarray
    curvature: np.ndarray
    couples_classes: bool

    def of(self, groups) -> Self:
        """Return the Hessian of some of the groups."""
        own = {"row_weights": self.row_weights[:, groups], "curvature": self.curvature[:, groups]}
        return replace(self, penalty=self.penalty[groups], **own)

    def times(self, direction) -> np.ndarray:
        """Return the product with a direction (D, g, c), of the same shape, in one pass."""

        def rowwise(rows, forward):
            h = self.curvature[rows]
            along = forward.reshape(h.shape)
            if self.couples_classes:
                along -= np.einsum("ngc,ngc->ng", h, along)[:, :, None]
            along *= h
            along *= self.row_weights[rows, :, None]
            return forward

        product = self.design.transposed(rowwise, direction.reshape(len(direction), -1))
        return product.reshape(direction.shape) + self.design.penalised[:, :, None] * self.penalty[:, None] * direction

    def diagonals(self) -> np.ndarray:
        """Return the second derivatives by each decision value, (n, g, c)."""
        return self.curvature * (1 - self.curvature) if self.couples_classes else self.curvature

    def mean_inverse(self):
        """Return a function that applies the inverse of the Hessian with the mean curvature of all rows and groups.

        It takes a residual (D, g, c) and the numbers of its groups. The trace of diag(p) - pp' is that of max(1, c - 1)
        directions, because the weights of the classes add up to zero.
        """
        directions = max(1, self.curvature.shape[2] - 1)
        traces = self.diagonals().sum(axis=2) / directions
        curvature = (self.row_weights * traces).sum(axis=0).mean() / self.design.n_rows
        apply = self.design.preconditioner(curvature, self.penalty.mean())
        return lambda residual, groups: balanced(apply(residual.reshape(len(residual), -1)).reshape(residual.shape))

    def block_inverse(self, groups):
        """Return a function that applies the inverse of the blocks that couple no classes.

        It takes a residual (D, g, c) and the numbers of its groups; ``groups`` are the numbers of the Hessian's own
        groups.
        """
        n_rows, _, n_classes = self.curvature.shape
        weights = self.row_weights[:, :, None] * self.diagonals()
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

    def steps_for_blocks(self) -> float:
        """Return how many conjugate gradient steps cost as much as ``block_inverse``; infinite if it is too large."""
        _, n_groups, n_classes = self.curvature.shape
        if self.design.bytes_of_factors(n_groups * n_classes) > HESSIAN_BYTES:
            return np.inf
        return self.design.n_columns * np.mean(self.curvature * self.row_weights[:, :, None] > 0) / COLUMNS_PER_STEP


def balanced(vectors) -> np.ndarray:
    """Return the nearest vectors (D, g, c) whose classes add up to zero, as in gradients; one column is unchanged."""
    return vectors - vectors.mean(axis=2, keepdims=True) if vectors.shape[2] > 1 else vectors


def _newton(problem, penalty, weights, decision):
    """Update ``weights`` and ``decision`` (Z weights on entry) in place; return convergence (g,) and steps."""
    live = np.arange(weights.shape[1])
    converged = np.zeros(len(live), dtype=bool)
    value = problem.objective(penalty, weights, decision)
    iteration, blocks = 0, None
    while len(live) and iteration < MAX_ITERATIONS:
        part, own = problem.of(live), penalty[live]
        W, f = weights[:, live], decision[:, live]
        gradient, hessian = part.derivatives(own, W, f)
        norm = np.sqrt((gradient**2).sum(axis=(0, 2)))
        if iteration == 0:
            first_norm = np.maximum(norm, np.finfo(float).tiny)
        forcing = np.minimum(0.5, np.sqrt(norm / first_norm[live]))
        step, blocks = _conjugate_gradients(hessian, live, gradient, forcing, NEGLIGIBLE * TOLERANCE * value, blocks)
        change = problem.design.forward(step.reshape(len(step), -1)).reshape(f.shape)
        slope = (gradient * step).sum(axis=(0, 2))
        length, after = _line_search(part, own, W, f, step, change, slope, value)
        weights[:, live] += length[:, None] * step
        decision[:, live] += length[:, None] * change
        solved = -0.5 * slope <= TOLERANCE * value
        converged[live] = solved
        # at the limit of the features' precision no step lowers the objective, so more steps are useless
        unfinished = ~solved & (length > 0)
        live, value = live[unfinished], after[unfinished]
        iteration += 1
    return converged, iteration


def _conjugate_gradients(hessian, groups, gradient, forcing, negligible, blocks):
    """Return solutions S (D, g, c) of H S = -gradient, and the ``block_inverse`` for the next iterations, if any.

    A group is done when the remaining decrease of its quadratic model is at most forcing^2 of the decrease so far, or
    ``negligible`` (g,). New blocks are made after as many steps without them, or with old ones, as they cost.
    ``groups`` are the numbers of the groups, which the blocks use.
    """
    precondition = blocks or hessian.mean_inverse()
    patience = hessian.steps_for_blocks()
    step, residual = np.zeros_like(gradient), -gradient
    direction = precondition(residual, groups).copy()  # of the residual, if there is no preconditioner
    product = (residual * direction).sum(axis=(0, 2))
    smallest = np.finfo(np.float64).eps * product
    falls: list[np.ndarray] = []
    live, part = np.flatnonzero(product > 0), hessian
    while len(live) and len(falls) < MAX_CONJUGATE_GRADIENTS:
        if len(falls) >= patience:
            precondition, patience = hessian.block_inverse(groups), np.inf
            blocks, direction = precondition, precondition(residual, groups)
            product = (residual * direction).sum(axis=(0, 2))
        part = part if len(part.penalty) == len(live) else hessian.of(live)
        along = direction[:, live]
        curved = part.times(along)
        length = product[live] / (along * curved).sum(axis=(0, 2))
        falls.append(np.zeros(len(groups)))
        falls[-1][live] = 0.5 * length * product[live]
        step[:, live] += length[:, None] * along
        residual[:, live] -= length[:, None] * curved
        preconditioned = precondition(residual[:, live], groups[live])
        previous = product[live]
        product[live] = (residual[:, live] * preconditioned).sum(axis=(0, 2))
        direction[:, live] = preconditioned + (product[live] / previous)[:, None] * along
        enough = still_to_come(falls) <= np.maximum(forcing**2 * np.sum(falls, axis=0), negligible)
        live = live[~enough[live] & (product[live] > smallest[live])]
    return step, blocks


def still_to_come(falls: list[np.ndarray]) -> np.ndarray:
    """Return an estimate of the remaining decrease after some conjugate gradient steps.

    It is the sum of the decreases of the last quarter of the steps, and of at least two of them.
    """
    return np.sum(falls[-max(2, len(falls) // 4) :], axis=0) if len(falls) > 2 else np.full(falls[0].shape, np.inf)


def _line_search(problem, penalty, weights, decision, step, change, slope, before):
    """Return the largest of 1, 1/2, 1/4, ... for each group (g,) with a sufficient decrease (0 if none has one).

    The second result is the objective there.
    """
    length = np.ones(len(slope))
    for _ in range(MAX_HALVINGS):
        after = problem.objective(penalty, weights + length[:, None] * step, decision + length[:, None] * change)
        short = ~(after <= before + SUFFICIENT * length * slope)
        if not short.any():
            break
        length[short] /= 2
    length[short] = 0.0
    return length, after
