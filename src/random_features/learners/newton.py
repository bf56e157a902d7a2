"""A primal Newton method for linear SVMs with the squared hinge loss, on a stream of float32 or float64 features.

It minimises |w|^2 / 2 + C sum max(0, 1 - y (w.z + b))^2, the objective of LIBLINEAR's solver 2, for many columns
of targets at once: all of them share every product with the features. The objective is convex and piecewise
quadratic: a Newton step is a ridge regression on the active rows (y f < 1), solved by conjugate gradients, and an
exact line search makes it converge from any start (Mangasarian 2002; Keerthi & DeCoste 2005, "A modified finite
Newton method for fast solution of large scale linear SVMs"). The decision values of all rows are carried along:
a conjugate gradient step costs one pass over the features, a line search none. The Gram matrix of all rows
preconditions the conjugate gradients, and once they have taken as many steps as it costs, that of the active ones,
which is the Hessian itself.

It stops at a certificate: with the dual variables 2 C max(0, 1 - y f) the duality gap is |gradient|^2 / 2 exactly
(the objective is 1-strongly convex in w; b is minimised exactly at every step), so that the objective is within
the tolerance of the optimum, not only the gradient small.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from random_features.learners.design import COLUMNS_PER_STEP, HESSIAN_BYTES, Design, solve

#: Relative duality gap at which a column is solved.
GAP_TOLERANCE = 1e-6
#: Newton steps (about ten are usual), and conjugate gradient steps in one of them.
MAX_ITERATIONS = 100
MAX_CONJUGATE_GRADIENTS = 500


@dataclass
class Solution:
    """Coefficients (D, m), bias (m,), decision values of all rows (n, m), convergence by column (m,), Newton steps.

    The decision values are those of the solver at work: they change when the next solution is asked for.
    """

    coef: np.ndarray
    bias: np.ndarray
    decision: np.ndarray
    converged: np.ndarray
    n_iter: int


def minimise_squared_hinge(
    blocks, targets, grid, *, n_columns, has_intercept, tolerance=GAP_TOLERANCE, max_iter=MAX_ITERATIONS
):
    """A ``Solution`` for every C of an ascending grid, one after the other; each starts from the one before.

    Parameters
    ----------
    blocks : callable, the stream of features
    targets : ndarray (n, m) of -1 and +1, and 0 where a column does not use a row (its decision value is computed)
    grid : positive numbers
    has_intercept : whether b is free (unpenalised) or 0
    tolerance : relative duality gap;  max_iter : Newton steps per C

    Raises ``ValueError`` for features that are not finite.
    """
    problem = _Problem(blocks, targets, n_columns, has_intercept)
    weights = np.zeros((n_columns + has_intercept, targets.shape[1]))
    decision = np.zeros(targets.shape, order="F")
    for C in grid:
        weights, converged, n_iter = _newton(problem, C, weights, decision, tolerance, max_iter)
        bias = weights[n_columns] if has_intercept else np.zeros(targets.shape[1])
        yield Solution(weights[:n_columns], bias, decision, converged, n_iter)


class _Problem:
    """The targets (n, m) of a design, and the rows that each column uses."""

    def __init__(self, blocks, targets, n_columns, has_intercept):
        self.design = Design(blocks, len(targets), n_columns, has_intercept)
        self.targets, self.used = targets, targets != 0

    def mean_inverse(self, C, active):
        """A function of residuals (D, m), and of the numbers of their columns, that applies the inverse of
        I + 2 C share Z'Z, share = the mean share of active rows.
        """
        inverse = self.design.preconditioner(2 * C * max(active.mean(), 1 / active.size), 1.0)
        return lambda residual, _columns: inverse(residual)

    def exact_inverse(self, C, active, columns):
        """The same for I + 2 C Z_active' Z_active; ``columns`` are the numbers of the columns of ``active``."""
        factors = self.design.weighted_factors(2.0 * C * active, np.ones(len(columns)))
        factor_of = dict(zip(columns, factors, strict=True))
        return lambda residual, columns: np.column_stack(
            [solve(factor_of[j], residual[:, k]) for k, j in enumerate(columns)]
        )


def _newton(problem, C, weights, decision, tolerance, max_iter):
    """Weights, converged (m,) and steps; ``decision`` (Z weights on entry) is updated in place."""
    y, used, design = problem.targets, problem.used, problem.design
    D = design.n_columns
    weights = weights.copy()
    ones = np.ones(len(y))
    lowest, first_norm = np.full(y.shape[1], np.inf), None
    iteration, exact = 0, None
    while True:
        if design.has_intercept:
            for j, rows in enumerate(used.T):
                shift = exact_step(y[rows, j], decision[rows, j], ones[rows], C, 0.0, 0.0)
                weights[D, j] += shift
                decision[:, j] += shift
        slack = np.where(used, np.maximum(0.0, 1.0 - y * decision), 0.0)
        objective = 0.5 * (weights[:D] ** 2).sum(axis=0) + C * (slack**2).sum(axis=0)
        active, pull = slack > 0, y * slack
        gradient = design.penalised * weights - 2 * C * design.transposed(lambda rows, _, q=pull: q[rows])
        norm = np.sqrt((gradient[:D] ** 2).sum(axis=0))
        if first_norm is None:
            first_norm = norm
        converged = 0.5 * norm**2 <= tolerance * objective
        # at the limit of the features' precision the objective stops falling: more steps are in vain
        unfinished = np.flatnonzero(~converged & (objective < lowest * (1 - 1e-12)))
        lowest = objective
        if len(unfinished) == 0 or iteration == max_iter:
            return weights, converged, iteration
        forcing = np.minimum(0.1, np.sqrt(norm[unfinished] / first_norm[unfinished]))
        step, change, exact = _conjugate_gradients(
            problem, C, unfinished, active[:, unfinished], gradient[:, unfinished], forcing, exact
        )
        for k, j in enumerate(unfinished):
            rows = used[:, j]
            slope, curvature = weights[:D, j] @ step[:D, k], step[:D, k] @ step[:D, k]
            length = exact_step(y[rows, j], decision[rows, j], change[rows, k], C, slope, curvature)
            weights[:, j] += length * step[:, k]
            decision[:, j] += length * change[:, k]
        iteration += 1


def _conjugate_gradients(problem, C, columns, active, gradient, forcing, exact):
    """Steps S (D, m) and Z S (n, m), with |H S + gradient| <= forcing |gradient| for every column, and the
    ``exact_inverse`` that the next ones begin with, if any.

    H = I + 2 C Z_active' Z_active is the column's generalised Hessian. Its inverse is made after as many steps without
    it, or with that of earlier active rows, as it costs. ``columns`` are the numbers of the columns, by which it knows
    them.
    """
    design, precondition = problem.design, exact or problem.mean_inverse(C, active)
    patience = np.inf
    if design.bytes_of_factors(len(columns)) <= HESSIAN_BYTES:
        patience = design.n_columns * active.mean() / COLUMNS_PER_STEP
    step, change = np.zeros_like(gradient), np.zeros(active.shape, order="F")
    residual = -gradient
    direction = precondition(residual, columns).copy()  # of the residual, where there is no preconditioner
    product = (residual * direction).sum(axis=0)
    goal = forcing * np.linalg.norm(gradient, axis=0)
    live = np.arange(len(columns))
    for taken in range(MAX_CONJUGATE_GRADIENTS):
        if taken >= patience:
            exact, patience = problem.exact_inverse(C, active, columns), np.inf
            precondition, direction = exact, exact(residual, columns)
            product = (residual * direction).sum(axis=0)
        forward = np.empty((design.n_rows, len(live)), order="F")

        def on_active(rows, values, forward=forward, live=live):
            forward[rows] = values
            return values * active[rows][:, live]

        along = direction[:, live]
        curved = design.penalised * along + 2 * C * design.transposed(on_active, along)
        length = product[live] / (along * curved).sum(axis=0)
        step[:, live] += length * along
        change[:, live] += length * forward
        residual[:, live] -= length * curved
        live = live[np.linalg.norm(residual[:, live], axis=0) > goal[live]]
        if len(live) == 0:
            break
        preconditioned = precondition(residual[:, live], columns[live])
        previous = product[live]
        product[live] = (residual[:, live] * preconditioned).sum(axis=0)
        direction[:, live] = preconditioned + product[live] / previous * direction[:, live]
    return step, change, exact


def exact_step(y, decision, direction, C, slope, curvature) -> float:
    """The t that minimises slope t + curvature t^2 / 2 + C sum max(0, 1 - y (decision + t direction))^2.

    All arrays have shape (n,). The derivative rises and is piecewise linear: Newton's method, held inside the bracket
    that the signs of the derivative have shown so far, ends exactly after finitely many steps.
    """
    low, high, t, start = -np.inf, np.inf, 0.0, None
    for _ in range(100):
        slack = np.maximum(0.0, 1.0 - y * (decision + t * direction))
        active = slack > 0
        derivative = slope + curvature * t - 2 * C * np.dot(y * direction, slack)
        second = curvature + 2 * C * np.dot(direction**2, active)
        start = abs(derivative) if start is None else start
        if abs(derivative) <= 1e-12 * start or second == 0:
            break
        low, high = (low, t) if derivative > 0 else (t, high)
        proposal = t - derivative / second
        if not low < proposal < high:
            proposal = 0.5 * (low + high)
        if proposal == t:
            break
        t = proposal
    return float(t)
