r"""Multinomial logistic regression on a stream of any length: Newton's method with one bound in place of the Hessian.

It minimises :math:`f(W) = \lambda |W|^2 / 2 + \frac1n \sum_i (A(W'z_i) - \langle y_i, W'z_i \rangle)`, A the logarithm
of the sum of exponentials and y the indicator of the class (for one column :math:`A(f) = \log(1 + e^f)`, y = 0 or 1).

The Hessian of A is at most 1/2 (of one column 1/4) on vectors whose classes add up to zero, as those of all gradients
do. A step :math:`-(\lambda I + Z'Z / 2n)^{-1} \nabla f` therefore always descends (Boehning 1992, "Multinomial logistic
regression algorithm"): one Gram matrix and one Cholesky factor serve all classes and all steps, and a step costs one
pass over the features. Nothing that is held grows with n but the labels, one byte a row.

Where most rows are classified with certainty the bound is far above the Hessian, and the step too short. The last few
changes of the gradient correct it: the inverse of the bound is the initial matrix of the limited-memory BFGS update
(Nocedal 1980). A corrected step that brings no sufficient fall is given up for Boehning's own.

It stops at a certificate. With the probabilities P as dual variables the duality gap is

.. math:: \frac{\lambda}{2} |W|^2 + \langle W, Z'(P - Y)/n \rangle + \frac{1}{2\lambda} |Z'(P - Y)/n|^2
          = \frac{1}{2\lambda} |\nabla f(W)|^2,

because A(f) plus the entropy of p, its conjugate, is :math:`\langle p, f \rangle`: the objective is within
:math:`|\nabla f|^2 / 2\lambda` of the optimum.
"""

from dataclasses import dataclass

import numpy as np

from random_features.arrays import row_blocks
from random_features.learners import streams
from random_features.learners.design import Design, inverse
from random_features.learners.linear_model import LinearModel
from random_features.learners.newton import MAX_HALVINGS, SUFFICIENT, log_partition

#: Duality gap over the objective at which the problem is solved.
GAP_TOLERANCE = 1e-4
#: Passes over the features (20 to 60 are usual), and changes of the gradient that are remembered.
MAX_PASSES = 1000
MEMORY = 20
#: Rows of the Gram matrix at most. Of more rows every k-th chunk is taken: what is then no bound any more is still a
#: good metric, and a step has to bring a fall in any case.
GRAM_ROWS = 2**18


@dataclass
class Point:
    """Weights (D, c), the objective there and its gradient (D, c)."""

    weights: np.ndarray
    value: float
    gradient: np.ndarray


def fit_on_stream(
    blocks,
    labels,
    n_classes: int,
    penalty: float,
    *,
    n_columns: int,
    tolerance: float = GAP_TOLERANCE,
    max_passes: int = MAX_PASSES,
    checkpoints=None,
    progress=None,
) -> LinearModel:
    """Multinomial logistic regression without an intercept: ``penalty`` |W|^2 / 2 plus the mean of the losses.

    Parameters
    ----------
    blocks : callable, the stream of features (see ``random_features.learners``)
    labels : integer ndarray (n,) of 0 to ``n_classes`` - 1
    n_classes : c; two classes have one column of weights, that of class 1
    penalty : lambda > 0
    n_columns : D
    tolerance : duality gap over the objective;  max_passes : over the features, that of the Gram matrix apart
    checkpoints : object, optional, with ``append(**arrays)`` and ``load()``: the fit goes on from there, step by step
        as if it had not stopped
    progress : callable, optional, called after every step with the passes, the gap and the objective

    Returns a ``LinearModel`` whose ``n_iter`` are the passes; ``converged`` is False where it gave up. Raises
    ``ValueError`` for features that are not finite, and labels that are no class.
    """
    labels = np.asarray(labels)
    if labels.min() < 0 or labels.max() >= n_classes:
        raise ValueError(f"labels must be 0 to {n_classes - 1}, got {labels.min()} to {labels.max()}")
    problem = Problem(blocks, labels, n_classes, penalty, n_columns)
    descent = Descent(problem, checkpoints)
    while not (descent.is_solved(tolerance) or descent.is_stuck or descent.passes >= max_passes):
        descent.step()
        if progress:
            progress(descent.passes, descent.gap, descent.at.value)
    weights = descent.at.weights
    return LinearModel(weights, np.zeros(weights.shape[1]), "boehning", descent.is_solved(tolerance), descent.passes)


def inverse_bound(design: Design, curvature: float, penalty: float, most_rows: int):
    """A function that applies (penalty I + curvature Z'Z / n)^-1; Z'Z / n is that of at most so many rows.

    The products of a chunk are formed in the type of the features and summed in float64. The factor alone is kept.
    """
    every = -(-design.n_rows // most_rows)
    gram, product, used, number = np.zeros((design.n_columns, design.n_columns)), None, 0, 0
    for _, block in streams.checked(design.blocks, design.n_rows, design.n_columns):
        for rows in row_blocks(len(block), streams.CHUNK_ROWS):
            if number % every == 0:
                chunk = block[rows]
                product = np.empty(gram.shape, dtype=block.dtype) if product is None else product
                gram += np.matmul(chunk.T, chunk, out=product)
                used += len(chunk)
            number += 1
    streams.refuse_non_finite(np.diagonal(gram))
    gram *= curvature / used
    return inverse(gram, penalty)


class Problem:
    """The objective on a stream, and the inverse of the bound of its Hessian."""

    def __init__(self, blocks, labels, n_classes: int, penalty: float, n_columns: int):
        self.labels, self.penalty = labels, penalty
        self.n_weights = 1 if n_classes == 2 else n_classes
        self.design = Design(blocks, len(labels), n_columns, has_intercept=False)
        self._precondition = None

    def at(self, weights) -> Point:
        """The objective and its gradient at weights (D, c): one pass."""
        n, loss = len(self.labels), 0.0

        def pull(rows, decision):
            nonlocal loss
            y = self.indicator(rows)
            log_sums = log_partition(decision)
            loss += float(log_sums.sum() - decision[y].sum())
            return np.exp(decision - log_sums) - y

        product = self.design.transposed(pull, weights)
        value = 0.5 * self.penalty * (weights**2).sum() + loss / n
        return Point(weights, float(value), self.penalty * weights + product / n)

    def indicator(self, rows) -> np.ndarray:
        """Whether each of some rows is of the class of a column, bool (rows, c)."""
        if self.n_weights == 1:
            return self.labels[rows, None] == 1
        return self.labels[rows, None] == np.arange(self.n_weights)

    def precondition(self, gradient) -> np.ndarray:
        """The inverse of the bound times a gradient (D, c); the Gram matrix is made when it is first asked for."""
        if self._precondition is None:
            curvature = 0.25 if self.n_weights == 1 else 0.5
            self._precondition = inverse_bound(self.design, curvature, self.penalty, GRAM_ROWS)
        return self._precondition(gradient)


class Descent:
    """The descent to the solution: the current point, and the last changes of weights and gradient."""

    def __init__(self, problem: Problem, checkpoints=None):
        self.problem, self.checkpoints = problem, checkpoints
        self.changes: list[tuple[np.ndarray, np.ndarray]] = []
        self.passes, self.is_stuck = 0, False
        stored = [] if checkpoints is None else checkpoints.load()
        self.at = None
        for each in stored:
            self._arrive(Point(each["weights"], float(each["value"]), each["gradient"]), bool(each["forget"]))
            self.passes = int(each["passes"])
        if self.at is None:
            self.passes = 1
            self._keep(problem.at(np.zeros((problem.design.n_columns, problem.n_weights))), False)

    @property
    def gap(self) -> float:
        """The duality gap, see the module."""
        return float((self.at.gradient**2).sum()) / (2 * self.problem.penalty)

    def is_solved(self, tolerance: float) -> bool:
        """Whether the gap is at most so large a share of the objective."""
        return self.gap <= tolerance * self.at.value

    def step(self) -> None:
        """Go on to a point of a sufficiently lower objective; ``is_stuck`` where the precision of the features allows
        none.
        """
        forget, direction, length = False, self._corrected(), 1.0
        for _ in range(MAX_HALVINGS):
            slope = (direction * self.at.gradient).sum()
            trial = self.problem.at(self.at.weights + length * direction)
            self.passes += 1
            if trial.value <= self.at.value + SUFFICIENT * length * slope:
                self._keep(trial, forget)
                return
            if self.changes and not forget:
                forget, direction = True, -self.problem.precondition(self.at.gradient)
            else:
                length /= 2
        self.is_stuck = True

    def _corrected(self):
        """The direction of the limited-memory BFGS update (Nocedal 1980, the two loops)."""
        direction, taken = -self.at.gradient, []
        for moved, change in reversed(self.changes):
            share = (moved * direction).sum() / (moved * change).sum()
            direction = direction - share * change
            taken.append(share)
        direction = self.problem.precondition(direction)
        for (moved, change), share in zip(self.changes, reversed(taken), strict=True):
            back = (change * direction).sum() / (moved * change).sum()
            direction = direction + (share - back) * moved
        return direction

    def _keep(self, point: Point, forget: bool) -> None:
        self._arrive(point, forget)
        if self.checkpoints is not None:
            of_point = {"weights": point.weights, "value": point.value, "gradient": point.gradient}
            self.checkpoints.append(**of_point, forget=forget, passes=self.passes)

    def _arrive(self, point: Point, forget: bool) -> None:
        """Go to another point; forget the last changes where they led astray."""
        if forget:
            self.changes.clear()
        if self.at is not None:
            moved, change = point.weights - self.at.weights, point.gradient - self.at.gradient
            # the objective is strongly convex: only rounding makes this small
            if (moved * change).sum() > 0.5 * self.problem.penalty * (moved**2).sum():
                self.changes = [*self.changes, (moved, change)][-MEMORY:]
        self.at = point
