r"""Newton's method for linear classifiers on a stream of features: squared hinge, logistic and multinomial losses.

It minimises :math:`\lambda |W|^2 / 2 + \sum_i q_i \, L(f_i)` with the decision values :math:`f_i = W' z_i + b` and the
weights :math:`q_i` of the rows. It does so for several *groups* at once, such as the folds of a cross-validation. They
are problems with their own targets, weights of rows and solutions that share every product with the features. Features,
targets and solutions are arrays, or tensors of one device; one number per group is on the host.

Conjugate gradients solve for Newton's steps, one pass over the features each. The Gram matrix of the features, with the
mean curvature of the loss over the rows, preconditions them. (With an upper bound of the curvature in its place, the
preconditioner alone is the fixed Hessian step of Boehning 1992, "Multinomial logistic regression algorithm", which
always descends.) If that takes many steps, the blocks of the Hessian that couple no classes precondition the next ones:
a Gram matrix for each class.

The decision values of all rows are kept, so that a line search needs no pass. Without them every pass computes its
own again: then no array grows with the rows, and the passes of a fit that was killed can be stored.

A group is solved where half the square of the Newton decrement, the fall of the objective that its quadratic model
promises, is below the tolerance times the objective (Boyd & Vandenberghe 2004, section 9.5.1); that last step is taken.
Conjugate gradients stop by the same measure: the falls of their last steps estimate the fall that is still to come
(Hestenes & Stiefel 1952; Strakos & Tichy 2002), with any preconditioner.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
import torch

from random_features.arrays import block_rows, row_blocks
from random_features.learners import streams
from random_features.learners.design import COLUMNS_PER_STEP, HESSIAN_BYTES, Design
from random_features.learners.linear_model import LinearModel
from random_features.learners.scoring import held_out_mean
from random_features.learners.targets import log_partition
from random_features.tensors import like, namespace, on_host, zeros

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
#: The share of the gradient's length at which a group is solved that conjugate gradients may leave of it.
RESIDUAL = 0.5


def squared_hinge(targets, decision):
    """Return the losses max(0, 1 - y f)^2 (n, g), their slopes and curvatures by f (n, g, 1); y is -1 or +1."""
    slack = (1.0 - targets * decision).clip(0.0)
    return (slack**2)[..., 0], -2.0 * targets * slack, 2.0 * (slack > 0)


def logistic(targets, decision):
    """Return the losses log sum_k exp(f_k) - f_y (n, g), and their slopes and curvatures by f (n, g, c).

    ``targets`` (n, g, c), bool, mark the class y of a row. With one column the loss is log(1 + exp(f)) - y f. With
    several, the second derivative is diag(h) - h h' for the curvature h of a row, the probabilities.
    """
    xp, log_sums = namespace(decision), log_partition(decision)
    probabilities = xp.exp(decision - log_sums)
    values = log_sums[..., 0] - xp.where(targets, decision, 0.0).sum(axis=2)
    slopes = xp.where(targets, probabilities - 1.0, probabilities)
    return values, slopes, probabilities if decision.shape[2] > 1 else probabilities * (1.0 - probabilities)


@dataclass(frozen=True, eq=False)
class Problem:
    """The objective of g groups: features, the loss and its targets (n, g, c), weights of the rows (n, g).

    Attributes
    ----------
    penalty : ndarray (g,)
    each_pass : callable
        It is called with a function that makes a pass, and returns what this function returns, a dict of arrays.
    """

    design: Design
    loss: Callable
    targets: np.ndarray
    row_weights: np.ndarray
    penalty: np.ndarray
    each_pass: Callable = lambda make: make()
    #: The last weights without decision values, and the result of ``at``.
    last: list = field(default_factory=list)

    def of(self, groups) -> Self:
        """Return the same problem for some of its groups."""
        own = {"targets": self.targets[:, groups], "row_weights": self.row_weights[:, groups]}
        return replace(self, penalty=self.penalty[groups], **own)

    def value(self, weights, decision):
        """Return the objective of every group, (g,)."""
        if decision is None:
            return self.at(weights)[0]
        return self._with_penalty((self.row_weights * self.loss(self.targets, decision)[0]).sum(axis=0), weights)

    def at(self, weights, decision=None):
        """Return the objective (g,), its gradient (D, g, c) by the weights, and the ``Hessian``, in one pass."""
        if self.last and self.last[0] is weights:
            return self.last[1]
        curvature = None if decision is None else namespace(decision).empty_like(decision)
        value = mean = zeros(weights.shape[1], weights)

        def pull(rows, *forward):
            nonlocal value, mean
            f = forward[0] if decision is None else decision[rows]
            losses, slopes, h = self.loss(self.targets[rows], f)
            if decision is not None:
                curvature[rows] = h
            q = self.row_weights[rows]
            value, mean = value + (q * losses).sum(axis=0), mean + (q * diagonals(h).sum(axis=2)).sum(axis=0)
            return q[:, :, None] * slopes

        def make():
            product = self.design.transposed(pull, *([weights] if decision is None else []))
            return {"value": on_host(value), "mean": on_host(mean), "product": product}

        found = self.each_pass(make)
        gradient = found["product"] + self.design.penalised(self.penalty, weights)
        hessian = Hessian(self, weights, curvature, found["mean"] / max(1, weights.shape[2] - 1) / self.design.n_rows)
        result = self._with_penalty(found["value"], weights), gradient, hessian
        if decision is None:
            self.last[:] = weights, result
        return result

    def _with_penalty(self, value, weights):
        squares = (weights[: self.design.n_columns] ** 2).sum(axis=(0, 2))
        return 0.5 * self.penalty * on_host(squares) + on_host(value)


@dataclass(frozen=True, eq=False)
class Hessian:
    """The Hessian of a ``problem`` at its weights (D, g, c).

    Attributes
    ----------
    curvature : (n, g, c), or None, where every pass computes the curvature of its rows
    mean : ndarray (g,)
        The mean of the second derivatives over the rows. The trace of diag(h) - h h' is spread over max(1, c - 1)
        directions, because the weights of the classes add up to zero.
    """

    problem: Problem
    weights: np.ndarray
    curvature: np.ndarray | None
    mean: np.ndarray

    def of(self, groups) -> Self:
        """Return the Hessian of some of the groups."""
        curvature = None if self.curvature is None else self.curvature[:, groups]
        return Hessian(self.problem.of(groups), self.weights[:, groups], curvature, self.mean[groups])

    def times(self, direction):
        """Return the product with a direction (D, g, c), of the same shape, in one pass."""
        problem, xp = self.problem, namespace(direction)

        def rowwise(rows, along, *forward):
            h = self.curvature[rows] if not forward else problem.loss(problem.targets[rows], forward[0])[2]
            if h.shape[2] > 1:
                along -= xp.einsum("ngc,ngc->ng", h, along)[:, :, None]
            along *= h
            along *= problem.row_weights[rows][:, :, None]
            return along

        more = [self.weights] if self.curvature is None else []
        found = problem.each_pass(lambda: {"product": problem.design.transposed(rowwise, direction, *more)})
        return found["product"] + problem.design.penalised(problem.penalty, direction)

    def mean_inverse(self, groups):
        """Return a function that applies the inverse of the Hessian with the mean curvature of all rows.

        Up to a factor per group, and to a factor of two of penalty over curvature, so that groups and steps share it.
        It takes a residual (D, g, c) and the numbers of its groups, which are among ``groups``, the Hessian's own.
        """
        with np.errstate(divide="ignore"):  # without any curvature the Hessian is the penalty
            powers = np.log2(self.problem.penalty / self.mean).round().clip(-1000, 1000)
        inverses = self.problem.design.preconditioners(np.unique(powers))

        def apply(residual, some):
            solved, of_some = namespace(residual).empty_like(residual), powers[np.searchsorted(groups, some)]
            for power, inverse in inverses.items():
                own = slice(None) if len(inverses) == 1 else np.flatnonzero(of_some == power)
                part = residual[:, own]
                solved[:, own] = inverse(part.reshape(len(part), -1)).reshape(part.shape)
            return balanced(solved)

        return apply

    def block_inverse(self, groups):
        """Return a function that applies the inverse of the blocks that couple no classes; parameters as above."""
        (n_rows, _, n_classes), problem = self.curvature.shape, self.problem
        weights = (problem.row_weights[:, :, None] * diagonals(self.curvature)).reshape(n_rows, -1)
        inverses = problem.design.weighted_inverses(weights, np.repeat(problem.penalty, n_classes))

        def apply(residual, some):
            solved = namespace(residual).empty_like(residual)
            for at, place in enumerate(np.searchsorted(groups, some)):
                for k in range(n_classes):
                    solved[:, at, k] = inverses[place * n_classes + k](residual[:, at, k : k + 1])[:, 0]
            return balanced(solved)

        return apply

    def steps_for_blocks(self) -> float:
        """Return how many conjugate gradient steps cost as much as ``block_inverse``; infinite if it is too large."""
        design, (_, n_groups, n_classes) = self.problem.design, self.weights.shape
        if self.curvature is None or 8 * n_groups * n_classes * len(self.weights) ** 2 > HESSIAN_BYTES:
            return np.inf
        used = (self.curvature * self.problem.row_weights[:, :, None] > 0).sum(axis=0) / design.n_rows
        return design.n_columns * float(used.mean()) / COLUMNS_PER_STEP


def diagonals(curvature):
    """Return the second derivatives by each decision value, (n, g, c)."""
    return curvature * (1.0 - curvature) if curvature.shape[2] > 1 else curvature


def balanced(vectors):
    """Return the nearest vectors (D, g, c) whose classes add up to zero, as in gradients; one column is unchanged."""
    return vectors - vectors.mean(axis=2, keepdims=True) if vectors.shape[2] > 1 else vectors


def fit(blocks, loss, targets, used, penalties, *, n_columns, **how) -> LinearModel:
    """Return the model of all groups of targets (n, m, c); parameters are as in ``minimise``, for one penalty."""
    blocks, n_used, back = streams.in_row_space(blocks, len(targets), n_columns, targets.device)
    solutions = minimise(blocks, loss, targets, used, penalties, n_columns=n_used, **how)
    coef, intercept, _, converged, n_iter = next(solutions)
    coef = back(coef.reshape(n_used, -1))
    return LinearModel(coef, intercept.ravel(), "newton", bool(converged.all()), n_iter)


def cross_validate(blocks, loss, targets, used, penalties, Y, folds, score, weights, *, n_columns, **how) -> tuple:
    """Return scores (grid, k) on the held-out rows of k folds, and how many fits did not converge.

    All groups of a fold together predict the columns of Y (n, c). ``weights`` (n,), or None, weigh held-out
    rows; other parameters are as in ``minimise``. The fits go from the largest penalty to the smallest.
    """
    blocks, n_used, _ = streams.in_row_space(blocks, len(Y), n_columns, Y.device)
    order, n_folds = np.argsort(penalties[:, 0])[::-1], used.shape[1]
    scores, unconverged = np.empty(penalties.shape), 0
    solutions = minimise(blocks, loss, targets, used, penalties[order], n_columns=n_used, **how)
    for i, (_, _, decision, converged, _) in zip(order, solutions, strict=True):
        unconverged += int((~converged).reshape(n_folds, -1).any(axis=1).sum())
        of_folds = decision.reshape(len(Y), n_folds, Y.shape[1])
        for fold in range(n_folds):
            rows = np.flatnonzero(folds == fold)
            scores[i, fold] = float(held_out_mean(Y, of_folds[rows, fold][:, None], score, weights, rows)[0])
    return scores, unconverged


def minimise(blocks, loss, targets, used, penalties, *, n_columns, has_intercept=False, tolerance=None):
    """Yield the solution for every row of a grid of penalties, with g = k m groups: the groups of the first fold first.

    It is coefficients (D, g, c), intercepts (g, c), the decision values of all rows (n, g, c), convergence by group
    (g,) and the number of Newton steps. The decision values change when the next solution is requested.

    Each fit starts from the one before. On a GPU, whose passes take as long for one column as for many, all fits of the
    grid are groups of one.

    Parameters
    ----------
    blocks : callable, the stream of features
    loss : ``squared_hinge`` or ``logistic``
    targets : (n, m, c), as the loss takes them
    used : ndarray (n, k), the q above for each of k folds: 0 where a fold does not use a row, whose decision value is
        computed
    penalties : ndarray (grid, k) of positive numbers, in descending order
    has_intercept : whether b is free (unpenalised) or 0
    tolerance : number or None
        A group, with targets -1 and +1, is also solved where its gradient is at most this number, times the share of
        the rarer sign, of the gradient without any weights.

    Raises
    ------
    ValueError
        Features that are not finite.
    """
    n_targets, xp = targets.shape[1], namespace(targets)
    used, penalties = np.repeat(used, n_targets, axis=1), np.repeat(penalties, n_targets, axis=1)
    n_groups = used.shape[1]
    if fits_at_once(targets, n_groups // n_targets * len(penalties)):
        used, penalties = np.tile(used, (1, len(penalties))), penalties.reshape(1, -1)
    targets, used = xp.tile(targets, (1, used.shape[1] // n_targets, 1)), like(used, targets)
    design = Design(blocks, len(used), n_columns, has_intercept, targets)
    weights, decision = zeros((n_columns + has_intercept, *targets.shape[1:]), targets), zeros(targets.shape, targets)
    limits = np.zeros(targets.shape[1])
    if tolerance is not None:
        signs = [on_host(((used > 0) & (targets[:, :, 0] == sign)).sum(axis=0)) for sign in (-1.0, 1.0)]
        first = norms(Problem(design, loss, targets, used, limits).at(weights, decision)[1])
        limits = first * tolerance * np.min(signs, axis=0) / np.sum(signs, axis=0)
    for penalty in penalties:
        problem = Problem(design, loss, targets, used, penalty)
        converged, n_iter = solve(problem, weights, decision, lambda groups, _: limits[groups])
        for own in row_blocks(len(penalty), n_groups):
            W, b = 1.0 * weights[:n_columns, own], 1.0 * weights[n_columns:, own].sum(axis=0)
            yield W, b, decision[:, own], converged[own], n_iter


def fits_at_once(targets, n_fits: int) -> bool:
    """Return whether the fits of a grid are groups of one: from zero, in as many passes as the slowest one takes.

    A GPU that has the memory for six arrays of all decision values makes them so.
    """
    device, bytes_of_all = torch.device(targets.device), 48 * n_fits * int(np.prod(targets.shape))
    return device.type == "cuda" and bytes_of_all <= block_rows(1, device)


def norms(vectors) -> np.ndarray:
    """Return the lengths (g,) of vectors (D, g, c), on the host."""
    return np.sqrt(on_host((vectors**2).sum(axis=(0, 2))))


def solve(problem, weights, decision, limit):
    """Update ``weights`` and ``decision`` (Z weights on entry, or None) in place; return convergence (g,) and steps.

    ``limit`` is a function of the numbers of some groups and their objectives. It returns the lengths of their
    gradients at which they are solved; groups above them go on to the ``TOLERANCE``.
    """
    live = np.arange(weights.shape[1])
    converged = np.zeros(len(live), dtype=bool)
    part, W, f, first_norm, iteration, blocks = problem, weights, decision, None, 0, None

    def reduced(to):
        return live[to], part.of(to), W[:, to], None if f is None else f[:, to]

    while len(live) and iteration < MAX_ITERATIONS:
        value, gradient, hessian = part.at(W, f)
        norm = norms(gradient)
        first_norm = np.maximum(norm, np.finfo(float).tiny) if first_norm is None else first_norm
        if (done := norm <= limit(live, value)).any():
            converged[live[done]] = True
            live, part, W, f = reduced(~done)
            continue
        forcing = np.minimum(0.5, np.sqrt(norm / first_norm[live]))
        enough = NEGLIGIBLE * TOLERANCE * value, RESIDUAL * limit(live, value)
        step, blocks = _conjugate_gradients(hessian, live, gradient, forcing, *enough, blocks)
        slope = on_host((gradient * step).sum(axis=(0, 2)))
        length, W, f = _line_search(part, W, f, step, slope, value)
        weights[:, live] = W
        if f is not None:
            decision[:, live] = f
        solved = -0.5 * slope <= TOLERANCE * value
        converged[live] = solved
        # at the limit of the features' precision no step lowers the objective, so more steps are useless
        if not (unfinished := ~solved & (length > 0)).all():
            live, part, W, f = reduced(unfinished)
        iteration += 1
    return converged, iteration


def _conjugate_gradients(hessian, groups, gradient, forcing, negligible, shortest, blocks):
    """Return solutions S (D, g, c) of H S = -gradient, and the ``block_inverse`` for the next iterations, if any.

    A group is done when the remaining decrease of its quadratic model is at most forcing^2 of the decrease so far, or
    ``negligible`` (g,), or the gradient of the model not longer than ``shortest`` (g,). New blocks are made after as
    many steps without them, or with old ones, as they cost. ``groups`` are the numbers of the groups, which the
    preconditioners use.
    """
    precondition = blocks or hessian.mean_inverse(groups)
    patience = hessian.steps_for_blocks()
    step, residual = 0.0 * gradient, -gradient
    direction = precondition(residual, groups)
    product = _dot(residual, direction)
    smallest = np.finfo(np.float64).eps * product
    falls: list[np.ndarray] = []
    live, part = np.flatnonzero(product > 0), hessian
    while len(live) and len(falls) < MAX_CONJUGATE_GRADIENTS:
        if len(falls) >= patience:
            precondition, patience = hessian.block_inverse(groups), np.inf
            blocks, direction = precondition, precondition(residual, groups)
            product = _dot(residual, direction)
        part = part if len(part.mean) == len(live) else hessian.of(live)
        along = direction[:, live]
        curved = part.times(along)
        length = product[live] / _dot(along, curved)
        falls.append(np.zeros(len(groups)))
        falls[-1][live] = 0.5 * length * product[live]
        step[:, live] += like(length[:, None], step) * along
        residual[:, live] -= like(length[:, None], step) * curved
        preconditioned = precondition(residual[:, live], groups[live])
        previous = product[live]
        product[live] = _dot(residual[:, live], preconditioned)
        direction[:, live] = preconditioned + like((product[live] / previous)[:, None], step) * along
        enough = still_to_come(falls) <= np.maximum(forcing**2 * np.sum(falls, axis=0), negligible)
        enough |= norms(residual) <= shortest
        live = live[~enough[live] & (product[live] > smallest[live])]
    return step, blocks


def _dot(one, other) -> np.ndarray:
    """Return the inner products (g,) of vectors (D, g, c), on the host."""
    return on_host((one * other).sum(axis=(0, 2)))


def still_to_come(falls: list[np.ndarray]) -> np.ndarray:
    """Return an estimate of the remaining decrease after some conjugate gradient steps.

    It is the sum of the decreases of the last quarter of the steps, and of at least two of them.
    """
    return np.sum(falls[-max(2, len(falls) // 4) :], axis=0) if len(falls) > 2 else np.full(falls[0].shape, np.inf)


def _line_search(problem, weights, decision, step, slope, before):
    """Return the largest of 1, 1/2, 1/4, ... for each group (g,) with a sufficient decrease (0 if none has one).

    The other results are the weights and the decision values there.
    """
    change = None if decision is None else problem.design.forward(step)

    def moved():
        by = like(length[:, None], step)
        return weights + by * step, None if decision is None else decision + by * change

    length = np.ones(len(slope))
    for _ in range(MAX_HALVINGS):
        point = moved()
        short = ~(problem.value(*point) <= before + SUFFICIENT * length * slope)
        if not short.any():
            return length, *point
        length[short] /= 2
    length[short] = 0.0
    return length, *moved()
