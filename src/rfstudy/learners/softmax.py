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
always descends.) The decision values of all rows are carried along, so that a line search needs no pass.

It stops where half the square of the Newton decrement, the fall of the objective that its quadratic model promises, is
below the tolerance times the objective (Boyd & Vandenberghe 2004, section 9.5.1), and takes that last step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from rfstudy.learners.design import Design

#: Half the squared Newton decrement over the objective at which a group is solved.
TOLERANCE = 1e-7
#: Newton steps (under ten are usual), conjugate gradient steps in one of them, and halvings of a step.
MAX_ITERATIONS = 100
MAX_CONJUGATE_GRADIENTS = 500
MAX_HALVINGS = 40
#: Share of the fall that the slope promises which a step must bring (Armijo's rule).
SUFFICIENT = 1e-4


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
    problem = _Problem(Design(blocks, len(targets), n_columns, has_intercept), targets, row_weights)
    weights = np.zeros((n_columns + has_intercept, *targets.shape[1:]))
    decision = np.zeros(targets.shape)
    for penalty in penalties:
        converged, n_iter = _newton(problem, penalty, weights, decision, tolerance, max_iter)
        intercept = weights[n_columns].copy() if has_intercept else np.zeros(targets.shape[1:])
        yield Solution(weights[:n_columns].copy(), intercept, decision, converged, n_iter)


def objective(penalty, coef, decision, targets, row_weights) -> np.ndarray:
    """The objective of every group, (g,): arrays are those of ``Solution`` and ``minimise_logistic``, penalty (g,)."""
    losses = log_partition(decision)[..., 0] - np.where(targets, decision, 0.0).sum(axis=2)
    return 0.5 * penalty * (coef**2).sum(axis=(0, 2)) + (row_weights * losses).sum(axis=0)


def log_partition(decision):
    """A of decision values (..., c): the logarithm of the sum of the exponentials, of one column and 0; (..., 1)."""
    if decision.shape[-1] == 1:
        return np.logaddexp(0.0, decision)
    return logsumexp(decision, axis=-1, keepdims=True)


@dataclass
class _Problem:
    """What is minimised but for the penalty: features, targets (n, g, c), weights of the rows (n, g)."""

    design: Design
    targets: np.ndarray
    row_weights: np.ndarray

    def of(self, groups) -> _Problem:
        """The same problem for some of its groups."""
        return _Problem(self.design, self.targets[:, groups], self.row_weights[:, groups])

    def objective(self, penalty, weights, decision):
        coef = weights[: self.design.n_columns]
        return objective(penalty, coef, decision, self.targets, self.row_weights)

    def penalty_gradient(self, penalty, weights):
        """The gradient of the penalty, and its Hessian times weights, (D, g, c)."""
        return self.design.penalised[:, :, None] * penalty[:, None] * weights

    def gradient(self, penalty, weights, probabilities):
        """Of the objective by the weights (D, g, c)."""
        pull = self.row_weights[:, :, None] * (probabilities - self.targets)
        by_group = self.design.transposed(lambda rows, _: pull[rows].reshape(rows.stop - rows.start, -1))
        return self.penalty_gradient(penalty, weights) + by_group.reshape(weights.shape)

    def curved(self, penalty, probabilities, direction):
        """The Hessian times a direction (D, g, c), and the change of the decision values along it (n, g, c)."""
        change = np.empty(probabilities.shape)

        def rowwise(rows, forward):
            p, q = probabilities[rows], self.row_weights[rows, :, None]
            change[rows] = forward.reshape(p.shape)
            along = p * change[rows]
            return (q * (along - p * along.sum(axis=2, keepdims=True))).reshape(len(p), -1)

        product = self.design.transposed(rowwise, direction.reshape(len(direction), -1))
        return self.penalty_gradient(penalty, direction) + product.reshape(direction.shape), change

    def preconditioner(self, penalty, probabilities):
        """A function that applies the inverse of the Hessian with the mean curvature of all rows and groups.

        The trace of diag(p) - pp' is that of max(1, c - 1) directions: the classes' weights add up to zero.
        """
        directions = max(1, probabilities.shape[2] - 1)
        traces = (probabilities.sum(axis=2) - (probabilities**2).sum(axis=2)) / directions
        curvature = (self.row_weights * traces).sum(axis=0).mean() / len(probabilities)
        solve = self.design.preconditioner(curvature, penalty.mean())
        return lambda residual: solve(residual.reshape(len(residual), -1)).reshape(residual.shape)


def _newton(problem, penalty, weights, decision, tolerance, max_iter):
    """Converged (g,) and steps; ``weights`` and ``decision`` (Z weights on entry) are updated in place."""
    live = np.arange(weights.shape[1])
    converged = np.zeros(len(live), dtype=bool)
    iteration = 0
    while len(live) and iteration < max_iter:
        part, own = problem.of(live), penalty[live]
        W, f = weights[:, live], decision[:, live]
        p = np.exp(f - log_partition(f))
        gradient = part.gradient(own, W, p)
        norm = np.sqrt((gradient**2).sum(axis=(0, 2)))
        if iteration == 0:
            first_norm = np.maximum(norm, np.finfo(float).tiny)
        forcing = np.minimum(0.1, np.sqrt(norm / first_norm[live]))
        step, change = _conjugate_gradients(part, own, p, gradient, forcing)
        slope = (gradient * step).sum(axis=(0, 2))
        before = part.objective(own, W, f)
        length = _line_search(part, own, W, f, step, change, slope, before)
        weights[:, live] += length[:, None] * step
        decision[:, live] += length[:, None] * change
        solved = -0.5 * slope <= tolerance * before
        converged[live] = solved
        # at the limit of the features' precision no step brings a fall: more of them are in vain
        live = live[~solved & (length > 0)]
        iteration += 1
    return converged, iteration


def _conjugate_gradients(problem, penalty, probabilities, gradient, forcing):
    """Steps S (D, g, c) and Z S (n, g, c), with |H S + gradient| <= forcing |gradient| in the norm of the inverse of
    the preconditioner, for every group.
    """
    precondition = problem.preconditioner(penalty, probabilities)
    step, change = np.zeros_like(gradient), np.zeros(probabilities.shape)
    residual = -gradient
    direction = precondition(residual).copy()  # of the residual, where there is no preconditioner
    product = (residual * direction).sum(axis=(0, 2))
    goal = forcing**2 * product
    live = np.flatnonzero(product > 0)
    for _ in range(MAX_CONJUGATE_GRADIENTS):
        if len(live) == 0:
            break
        along = direction[:, live]
        curved, forward = problem.of(live).curved(penalty[live], probabilities[:, live], along)
        length = (product[live] / (along * curved).sum(axis=(0, 2)))[:, None]
        step[:, live] += length * along
        change[:, live] += length * forward
        residual[:, live] -= length * curved
        preconditioned = precondition(residual[:, live])
        previous = product[live]
        product[live] = (residual[:, live] * preconditioned).sum(axis=(0, 2))
        direction[:, live] = preconditioned + (product[live] / previous)[:, None] * along
        live = live[product[live] > goal[live]]
    return step, change


def _line_search(problem, penalty, weights, decision, step, change, slope, before):
    """The largest of 1, 1/2, 1/4, ... for each group (g,) that brings a sufficient fall; 0 where none does."""
    length = np.ones(len(slope))
    for _ in range(MAX_HALVINGS):
        after = problem.objective(penalty, weights + length[:, None] * step, decision + length[:, None] * change)
        short = ~(after <= before + SUFFICIENT * length * slope)
        if not short.any():
            return length
        length[short] /= 2
    length[short] = 0.0
    return length
