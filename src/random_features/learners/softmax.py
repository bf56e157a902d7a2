r"""A primal Newton method for logistic regression on a stream of features, binary and multinomial.

It minimises :math:`\lambda |W|^2 / 2 + \sum_i q_i \, (A(f_i) - \langle y_i, f_i \rangle)`, :math:`f_i = W' z_i + b`,
with the weights :math:`q_i` of the rows, which add up to one, and

* :math:`A(f) = \log(1 + e^f)`, y = 0 or 1, for one column of decision values (binary), or
* :math:`A(f) = \log \sum_k e^{f_k}`, y the indicator of the class, for several (multinomial),

for several *groups* at once, problems with weights of rows, targets and solutions of their own that share every
product with the features: the folds of a cross-validation, and the classes where each is a binary problem of its own.
In both cases :math:`p = e^{f - A}` is the gradient of A, and :math:`v \mapsto p (v - \langle p, v \rangle)` its
Hessian.

Newton's steps are solved by conjugate gradients, a pass over the features each, which the Gram matrix of the features
preconditions: in place of p p' stands its mean over the rows. (With its bound 1/4, multinomial 1/2, in that place the
preconditioner alone is the fixed Hessian step of Boehning 1992, "Multinomial logistic regression algorithm", which
always descends.) Where that takes many steps, the blocks of the Hessian that couple no classes precondition the next
ones, a Gram matrix for each class. The decision values of all rows are carried along, so that a line search needs no
pass.

It stops where half the square of the Newton decrement, the fall of the objective that its quadratic model promises, is
below the tolerance times the objective (Boyd & Vandenberghe 2004, section 9.5.1), and takes that last step. Conjugate
gradients stop by the same measure: the fall of the last of them estimates the one that is still to come (Hestenes &
Stiefel 1952; Strakos & Tichy 2002), whatever preconditions them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from random_features.learners.curvature import CurvedDesign, Hessian
from random_features.learners.design import COLUMNS_PER_STEP, HESSIAN_BYTES

#: Half the squared Newton decrement over the objective at which a group is solved.
TOLERANCE = 1e-7
#: Newton steps (under twenty are usual), conjugate gradient steps in one of them, and halvings of a step.
MAX_ITERATIONS = 100
MAX_CONJUGATE_GRADIENTS = 500
MAX_HALVINGS = 40
#: Share of the fall that the slope promises which a step must bring (Armijo's rule).
SUFFICIENT = 1e-4
#: Share of the tolerance by which conjugate gradients may miss the fall of the quadratic model.
NEGLIGIBLE = 0.002


@dataclass
class Solution:
    """Coefficients (D, g, c) and intercepts (g, c) of g groups, decision values of all rows (n, g, c), convergence by
    group (g,), Newton steps.

    The decision values are those of the solver at work: they change when the next solution is asked for.
    """

    coef: np.ndarray
    intercept: np.ndarray
    decision: np.ndarray
    converged: np.ndarray
    n_iter: int


def minimise_logistic(
    blocks, targets, row_weights, penalties, *, n_columns, has_intercept, tolerance=TOLERANCE, max_iter=MAX_ITERATIONS
):
    """A ``Solution`` for every row of a grid of penalties, one after the other; each starts from the one before.

    Parameters
    ----------
    blocks : callable, the stream of features
    targets : bool ndarray (n, g, c): whether a row is of the class
    row_weights : ndarray (n, g), the q above: 0 where a group does not use a row (its decision value is computed)
    penalties : ndarray (grid, g) of positive numbers, in descending order
    has_intercept : whether b is free (unpenalised) or 0
    tolerance : of the Newton decrement;  max_iter : Newton steps per penalty

    Raises ``ValueError`` for features that are not finite.
    """
    problem = _Problem(CurvedDesign(blocks, len(targets), n_columns, has_intercept), targets, row_weights)
    weights = np.zeros((n_columns + has_intercept, *targets.shape[1:]))
    decision = np.zeros(targets.shape)
    for penalty in penalties:
        converged, n_iter = _newton(problem, penalty, weights, decision, tolerance, max_iter)
        intercept = weights[n_columns].copy() if has_intercept else np.zeros(targets.shape[1:])
        yield Solution(weights[:n_columns].copy(), intercept, decision, converged, n_iter)


def log_partition(decision):
    """A of decision values (..., c): the logarithm of the sum of the exponentials, of one column and 0; (..., 1)."""
    if decision.shape[-1] == 1:
        return np.logaddexp(0.0, decision)
    return logsumexp(decision, axis=-1, keepdims=True)


@dataclass
class _Problem:
    """What is minimised but for the penalty: features, targets (n, g, c), weights of the rows (n, g)."""

    design: CurvedDesign
    targets: np.ndarray
    row_weights: np.ndarray

    def of(self, groups) -> _Problem:
        """The same problem for some of its groups."""
        return _Problem(self.design, self.targets[:, groups], self.row_weights[:, groups])

    def objective(self, penalty, weights, decision):
        """The objective of every group, (g,), and A of the decision values, (n, g, 1)."""
        partition = log_partition(decision)
        losses = partition[..., 0] - np.where(self.targets, decision, 0.0).sum(axis=2)
        squares = (weights[: self.design.n_columns] ** 2).sum(axis=(0, 2))
        return 0.5 * penalty * squares + (self.row_weights * losses).sum(axis=0), partition

    def gradient(self, penalty, weights, probabilities):
        """Of the objective by the weights (D, g, c)."""
        pull = self.row_weights[:, :, None] * (probabilities - self.targets)
        by_group = self.design.transposed(lambda rows, _: pull[rows].reshape(rows.stop - rows.start, -1))
        return by_group.reshape(weights.shape) + self.design.penalised[:, :, None] * penalty[:, None] * weights


def _newton(problem, penalty, weights, decision, tolerance, max_iter):
    """Converged (g,) and steps; ``weights`` and ``decision`` (Z weights on entry) are updated in place."""
    live = np.arange(weights.shape[1])
    converged = np.zeros(len(live), dtype=bool)
    value, partition = problem.objective(penalty, weights, decision)
    iteration, blocks = 0, None
    while len(live) and iteration < max_iter:
        part, own = problem.of(live), penalty[live]
        W, f = weights[:, live], decision[:, live]
        p = np.exp(f - partition)
        gradient = part.gradient(own, W, p)
        norm = np.sqrt((gradient**2).sum(axis=(0, 2)))
        if iteration == 0:
            first_norm = np.maximum(norm, np.finfo(float).tiny)
        forcing = np.minimum(0.5, np.sqrt(norm / first_norm[live]))
        hessian = Hessian(problem.design, own, part.row_weights, p)
        step, blocks = _conjugate_gradients(hessian, live, gradient, forcing, NEGLIGIBLE * tolerance * value, blocks)
        change = problem.design.forward(step.reshape(len(step), -1)).reshape(f.shape)
        slope = (gradient * step).sum(axis=(0, 2))
        length, after, partition = _line_search(part, own, W, f, step, change, slope, value)
        weights[:, live] += length[:, None] * step
        decision[:, live] += length[:, None] * change
        solved = -0.5 * slope <= tolerance * value
        converged[live] = solved
        # at the limit of the features' precision no step brings a fall: more of them are in vain
        unfinished = ~solved & (length > 0)
        live, value, partition = live[unfinished], after[unfinished], partition[:, unfinished]
        iteration += 1
    return converged, iteration


def _conjugate_gradients(hessian, groups, gradient, forcing, negligible, blocks):
    """Solutions S (D, g, c) of H S = -gradient, and the ``block_inverse`` that the next iterations begin with, if any.

    A group is done where the fall of its quadratic model that is still to come is at most forcing^2 of that so far, or
    ``negligible`` (g,). New blocks are made after as many steps without them, or with old ones, as they cost.
    ``groups`` are the numbers of the groups, by which blocks know them.
    """
    precondition = blocks or hessian.mean_inverse()
    patience = len(gradient) / COLUMNS_PER_STEP if hessian.bytes_of_blocks() <= HESSIAN_BYTES else np.inf
    step, residual = np.zeros_like(gradient), -gradient
    direction = precondition(residual, groups).copy()  # of the residual, where there is no preconditioner
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
    """An estimate of the fall after some steps of conjugate gradients from those that each of them brought: that of the
    last quarter, and of two at least.
    """
    return np.sum(falls[-max(2, len(falls) // 4) :], axis=0) if len(falls) > 2 else np.full(falls[0].shape, np.inf)


def _line_search(problem, penalty, weights, decision, step, change, slope, before):
    """The largest of 1, 1/2, 1/4, ... for each group (g,) that brings a sufficient fall, 0 where none does; and what
    ``_Problem.objective`` says there.
    """
    length = np.ones(len(slope))
    for _ in range(MAX_HALVINGS):
        there = weights + length[:, None] * step, decision + length[:, None] * change
        after, partition = problem.objective(penalty, *there)
        short = ~(after <= before + SUFFICIENT * length * slope)
        if not short.any():
            break
        length[short] /= 2
    length[short] = 0.0
    return length, after, partition
