r"""Multinomial logistic regression on a stream of any length: L-BFGS, preconditioned by a bound of the Hessian.

It minimises :math:`f(W) = \lambda |W|^2 / 2 + \frac1n \sum_i (A(W'z_i) - \langle y_i, W'z_i \rangle)`, A the logarithm
of the sum of exponentials and y the indicator of the class (for one column :math:`A(f) = \log(1 + e^f)`, y = 0 or 1).

The Hessian of A is at most 1/2 (of one column 1/4) on vectors whose classes add up to zero, as those of all gradients
do (Boehning 1992, "Multinomial logistic regression algorithm"). With the Cholesky factor :math:`L` of that bound,
:math:`L L' = \lambda I + Z'Z / 2n`, the Hessian by the variables :math:`V = L'W` is at most the identity. SciPy's
L-BFGS descends in them, one pass over the features per step. One Gram matrix and one factor serve all classes and all
steps. The memory does not grow with n, except for the labels: one byte per row.

It stops at a certificate. With the probabilities P as dual variables the duality gap is

.. math:: \frac{\lambda}{2} |W|^2 + \langle W, Z'(P - Y)/n \rangle + \frac{1}{2\lambda} |Z'(P - Y)/n|^2
          = \frac{1}{2\lambda} |\nabla f(W)|^2,

because A(f) plus the entropy of p, its conjugate, is :math:`\langle p, f \rangle`: the objective is within
:math:`|\nabla f|^2 / 2\lambda` of the optimum.
"""

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import minimize

from random_features.arrays import check_numbers, row_blocks
from random_features.learners import streams
from random_features.learners.design import Design
from random_features.learners.linear_model import LinearModel
from random_features.learners.newton import log_partition

#: Duality gap over the objective at which the problem is solved.
GAP_TOLERANCE = 1e-4
#: The largest number of passes over the features (20 to 60 are usual), and the changes of the gradient that are stored.
MAX_PASSES = 1000
MEMORY = 20
#: The largest number of rows for the Gram matrix. With more rows, every k-th chunk is used. The result is then no
#: bound, but still a good metric, and every step has to lower the objective in any case.
GRAM_ROWS = 2**18


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
    """Fit multinomial logistic regression without an intercept: ``penalty`` |W|^2 / 2 plus the mean of the losses.

    Parameters
    ----------
    blocks : callable, the stream of features (see ``random_features.learners``)
    labels : integer ndarray (n,) of 0 to ``n_classes`` - 1
    n_classes : c; two classes have one column of weights, that of class 1
    penalty : lambda > 0
    n_columns : D
    tolerance : duality gap over the objective
    max_passes : passes over the features, not counting the one for the Gram matrix; the last step may take a few more
    checkpoints : object, optional, with ``append(**arrays)`` and ``load()``: the fit repeats the stored passes without
        reading the features, and continues as if it had not stopped
    progress : callable, optional, called after every step with the passes, the gap and the objective

    Returns
    -------
    LinearModel
        Its ``n_iter`` is the number of passes; ``converged`` is False if the fit stopped early.

    Raises
    ------
    ValueError
        Features that are not finite, or labels that are not a class.
    """
    check_numbers(labels, "labels")
    labels = np.asarray(labels)
    if labels.min() < 0 or labels.max() >= n_classes:
        raise ValueError(f"labels must be 0 to {n_classes - 1}, got {labels.min()} to {labels.max()}")
    problem = Problem(blocks, labels, n_classes, penalty, n_columns)
    passed = [] if checkpoints is None else list(checkpoints.load())
    factor, done, gap = problem.factor_of_bound(), 0, np.inf

    def weights_at(v):
        return solve_triangular(factor, v.reshape(n_columns, -1), lower=True, trans=1)

    def objective(v):
        nonlocal done, gap
        if done == len(passed):
            value, gradient = problem.at(weights_at(v))
            passed.append({"value": value, "gradient": gradient})
            if checkpoints is not None:
                checkpoints.append(**passed[-1])
        value, gradient = float(passed[done]["value"]), passed[done]["gradient"]
        done, gap = done + 1, duality_gap(gradient, penalty)
        return value, solve_triangular(factor, gradient, lower=True).ravel()

    def stop_where_solved(intermediate_result):
        if progress:
            progress(done, gap, intermediate_result.fun)
        if gap <= tolerance * intermediate_result.fun:
            raise StopIteration

    # SciPy's own criteria are disabled, because they do not bound the distance from the optimum
    limits = {"maxcor": MEMORY, "maxfun": max_passes, "maxiter": max_passes, "ftol": 0.0, "gtol": 0.0}
    start = np.zeros(n_columns * problem.n_weights)
    found = minimize(objective, start, jac=True, method="L-BFGS-B", callback=stop_where_solved, options=limits)
    weights = weights_at(found.x)
    is_solved = bool(gap <= tolerance * found.fun)
    return LinearModel(weights, np.zeros(problem.n_weights), "boehning", is_solved, done)


def duality_gap(gradient, penalty: float) -> float:
    """Return the duality gap at a gradient (D, c), see the module."""
    return float((gradient**2).sum()) / (2 * penalty)


class Problem:
    """The objective on a stream, and the bound on its Hessian."""

    def __init__(self, blocks, labels, n_classes: int, penalty: float, n_columns: int):
        self.labels, self.penalty = labels, penalty
        self.n_weights = 1 if n_classes == 2 else n_classes
        self.design = Design(blocks, len(labels), n_columns, has_intercept=False)

    def at(self, weights) -> tuple[float, np.ndarray]:
        """Return the objective and its gradient at weights (D, c), in one pass."""
        n, loss = len(self.labels), 0.0

        def pull(rows, decision):
            nonlocal loss
            y = self.indicator(rows)
            log_sums = log_partition(decision)
            loss += float(log_sums.sum() - decision[y].sum())
            return np.exp(decision - log_sums) - y

        product = self.design.transposed(pull, weights)
        value = 0.5 * self.penalty * (weights**2).sum() + loss / n
        return float(value), self.penalty * weights + product / n

    def indicator(self, rows) -> np.ndarray:
        """Return whether each of some rows belongs to the class of a column, bool (rows, c)."""
        if self.n_weights == 1:
            return self.labels[rows, None] == 1
        return self.labels[rows, None] == np.arange(self.n_weights)

    def factor_of_bound(self) -> np.ndarray:
        """Return the lower Cholesky factor (D, D) of penalty I + curvature Z'Z / n, from at most ``GRAM_ROWS`` rows.

        The products of a chunk are formed in the type of the features and summed in float64.
        """
        design, used = self.design, 0
        every = -(-design.n_rows // GRAM_ROWS)
        gram, product = np.zeros((design.n_columns, design.n_columns)), None
        for number, chunk in enumerate(chunks(design)):
            if number % every == 0:
                product = np.empty(gram.shape, dtype=chunk.dtype) if product is None else product
                gram += np.matmul(chunk.T, chunk, out=product)
                used += len(chunk)
        streams.refuse_non_finite(np.diagonal(gram))
        gram *= (0.25 if self.n_weights == 1 else 0.5) / used
        gram[np.diag_indices_from(gram)] += self.penalty
        return cholesky(gram, lower=True, overwrite_a=True, check_finite=False)


def chunks(design: Design):
    """Yield the features of one pass in chunks of at most ``CHUNK_ROWS`` rows."""
    for _, block in streams.checked(design.blocks, design.n_rows, design.n_columns):
        for rows in row_blocks(len(block), streams.CHUNK_ROWS):
            yield block[rows]
