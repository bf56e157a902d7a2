"""Exact kernel ridge regression for tens of thousands of rows: conjugate gradients on a kernel matrix in tiles.

The kernel matrix is computed anew in every step, one tile after the other, and never held. A preconditioner by randomly
pivoted Cholesky makes the steps few. The residual of the result certifies its distance from the exact solution. Tensors
stay on their device but for the points of a tile; one number per target is on the host.
"""

import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import torch

from random_features.arrays import check_numbers, check_same_columns, one_blas_thread, row_blocks, work_alone
from random_features.errors import check_choice
from random_features.learners.linear_model import LinearModel
from random_features.learners.penalties import check_grid
from random_features.learners.targets import as_columns, as_weights, average
from random_features.pivoted_cholesky import pivoted_cholesky
from random_features.tensors import cholesky, cholesky_solve, like, on_host, row_reader, zeros

#: Rows and columns of a tile of the kernel matrix: 2 MiB that stay in the cache of a core, or 512 MiB on a GPU.
TILE, GPU_TILE = 512, 8192

#: Runs of conjugate gradients, each from the true residual of the one before, which rounding has made differ.
MOST_RUNS = 5

#: The former names of functions.
FORMER = {"fit_streamed_kernel_ridge": "fit_kernel_ridge_by_tiles", "predict_streamed": "predict_by_tiles"}

#: Seconds between checkpoints. A killed fit loses the work since the last one.
CHECKPOINT_SECONDS = 60


@dataclass(frozen=True)
class CertifiedModel(LinearModel):
    """Kernel ridge regression with bounds of its distance from the exact solution.

    Attributes
    ----------
    residual : float64 ndarray of shape (c,), ``|y - (K + n penalty I) dual| / |y|``, computed from the result itself
    prediction_error : float64 ndarray of shape (c,): a prediction at x differs from the exact solution by at
        most this times sqrt(kernel(x, x))
    """

    residual: np.ndarray | None = None
    prediction_error: np.ndarray | None = None

    def in_unit(self, unit, origin):
        return replace(super().in_unit(unit, origin), prediction_error=unit * self.prediction_error)


def fit_kernel_ridge_by_tiles(
    kernel, X, Y, penalty: float, *, center="targets", rank=1000, tolerance=1e-8, max_iter=1000, seed=0,
    checkpoints=None, weights=None,
) -> CertifiedModel:  # fmt: skip
    r"""Fit kernel ridge regression, (K + n penalty I) dual = y, without the kernel matrix K = kernel(X).

    The preconditioner is :math:`F F^T + \mu I` with :math:`\mu` = n penalty and :math:`K \approx F F^T` by randomly
    pivoted Cholesky. Where the trace of :math:`K - F F^T` is at most :math:`\mu`, the condition number is at most 2 and
    a digit takes two steps or so. With the residual r of the result, predictions at x are within
    :math:`\sqrt{k(x, x)}\, |r| / (2 \sqrt\mu)` of the exact ones, because
    :math:`\|K^{1/2} (K + \mu I)^{-1}\| \le 1 / (2 \sqrt\mu)`. Time O(n^2 d) per step, memory O(n rank).

    Parameters
    ----------
    kernel : kernel object
    X : float array, csr matrix or tensor of shape (n, d)
    Y : array (n,) or (n, c), numbers; of a tensor X a tensor on its device, where the solution is then
    penalty : positive number
    center : "targets", y is centred and the intercept is its mean; "none", the intercept is 0
    rank : int, the largest rank of F
    tolerance : float, the largest ``residual``
    max_iter : int, the largest number of steps
    seed : int, of the pivots
    weights : ndarray (n,) of numbers >= 0, or None, as for ``fit_ridge``: (K + n penalty W^-1) dual = y
    checkpoints : object, optional
        Store with ``append(**arrays)`` and ``load()``, as for ``RandomFeatureMap.fit``. A fit continues from the last
        iterate of a killed one.

    Returns
    -------
    CertifiedModel, not ``converged`` where ``max_iter`` steps or rounding left a larger residual than the tolerance

    Raises
    ------
    ValueError
        For NaN or infinity, shapes that do not match, and a penalty that is not positive.

    References
    ----------
    Diaz, Epperly, Frangella, Tropp and Webber, Robust, randomized preconditioning for kernel ridge regression, 2023
    (arXiv 2304.12465).

    Examples
    --------
    >>> import numpy as np
    >>> from random_features.kernels import Gaussian
    >>> from random_features.learners.kernel_ridge import fit_kernel_ridge_by_tiles
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> model = fit_kernel_ridge_by_tiles(Gaussian(2.0), X, X[:, 0], 1e-3, center="none")
    >>> exact = np.linalg.solve(Gaussian(2.0)(X) + 0.3 * np.eye(300), X[:, :1])
    >>> bool(np.allclose(model.coef, exact))
    True
    """
    X = check_numbers(X)
    Y, penalties = as_columns(Y), check_grid(penalty, "penalty")
    check_choice("center", center, ("targets", "none"))
    if X.shape[0] != len(Y):
        raise ValueError(f"X has {X.shape[0]} rows, the targets {len(Y)}")
    weights = like(np.ones(len(Y)) if weights is None else as_weights(weights, len(Y)), Y)
    shift, roots = float(weights.sum() * penalties[0]), weights[:, None] ** 0.5
    intercept = average(Y, weights) if center == "targets" else zeros(Y.shape[1], Y)
    targets = roots * (Y - intercept)
    precondition = preconditioner(kernel, X, shift, rank, np.random.default_rng(seed), roots)
    stored = checkpoints.load() if checkpoints is not None else []
    dual, n_iter = (like(stored[-1]["dual"], Y), int(stored[-1]["n_iter"])) if stored else (0.0 * targets, 0)
    saved, lengths = time.monotonic(), _lengths(targets)
    limits = tolerance * lengths

    def system(V):
        return roots * kernel_product(kernel, X, roots * V) + shift * V

    for _ in range(MOST_RUNS):
        residual = targets - system(dual)
        if (_lengths(residual) <= limits).all() or n_iter >= max_iter:
            break
        for dual in conjugate_gradients(system, precondition, dual, residual, limits):  # noqa: B020
            n_iter += 1
            if checkpoints is not None and time.monotonic() - saved >= CHECKPOINT_SECONDS:
                checkpoints.append(dual=on_host(dual), n_iter=np.array(n_iter))
                saved = time.monotonic()
            if n_iter >= max_iter:
                break
    residual = _lengths(targets - system(dual))
    converged, bound = bool((residual <= limits).all()), 0.5 * residual / np.sqrt(shift)
    relative = _ratio(residual, lengths)
    return CertifiedModel(roots * dual, intercept, "conjugate gradients", converged, n_iter, relative, bound)


def predict_by_tiles(kernel, X_train, model: LinearModel, X):
    """Return the decision values (m, c) of a kernel model at X (m, d), without its kernel matrix."""
    return kernel_product(kernel, X_train, like(model.coef, X), X) + like(model.intercept, X)


def preconditioner(kernel, X, shift: float, rank: int, rng: np.random.Generator, roots):
    """Return a function of R (n, c): (F F' + shift I)^-1 R, with F F' near the kernel matrix of X (n, d), whose rows
    and columns are multiplied by ``roots`` (n, 1).
    """
    _, factor = pivoted_cholesky(kernel, X, rank, rng, tolerance=shift / float(roots.max()) ** 2)
    if not factor.shape[1]:  # the matrix is small next to the shift
        return lambda R: R / shift
    factor = roots * factor
    small = cholesky(factor.T @ factor + like(shift * np.eye(factor.shape[1]), factor))
    return lambda R: (R - factor @ cholesky_solve(small, factor.T @ R)) / shift


def conjugate_gradients(system, precondition, solution, residual, limits):
    """Yield better and better solutions (n, c) of a positive definite system, all columns at once.

    ``system`` and ``precondition`` are functions of (n, c), ``residual`` (n, c) belongs to ``solution``. The columns
    share the products, not the steps. It ends where no column of the residual is longer than its limit.
    """
    direction = steepest = precondition(residual)
    decrease = on_host((residual * steepest).sum(axis=0))
    while (_lengths(residual) > limits).any():
        product = system(direction)
        step = like(_ratio(decrease, on_host((direction * product).sum(axis=0))), residual)
        solution, residual = solution + step * direction, residual - step * product
        yield solution
        steepest = precondition(residual)
        before, decrease = decrease, on_host((residual * steepest).sum(axis=0))
        direction = steepest + like(_ratio(decrease, before), residual) * direction


def _lengths(columns) -> np.ndarray:
    """Return the lengths (c,) of columns (n, c), on the host."""
    return np.sqrt(on_host((columns * columns).sum(axis=0)))


def _ratio(numerator, denominator):
    """Return the quotients, and 0 for a column that is solved exactly."""
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)


def kernel_product(kernel, X, V, Y=None):
    """Return kernel(Y, X) @ V of shape (m, c), float64; Y None means X, and every tile then serves two products.

    X (n, d) and Y (m, d) are arrays or csr matrices, V is (n, c); or all are tensors of one device. The threads of
    PyTorch share the columns of tiles on a CPU.
    """
    check_same_columns(X, Y)
    X, Y = check_numbers(X), check_numbers(Y, "Y")
    if V.shape[0] != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows, and {V.shape[0]} rows are multiplied by their kernel values")
    n_rows = X.shape[0] if Y is None else Y.shape[0]
    read = row_reader(X if Y is None else Y, sparse=kernel.takes_sparse_rows)
    device = torch.device(V.device)
    threads, side = (1, GPU_TILE) if device.type == "cuda" else (torch.get_num_threads(), TILE)
    column_tiles = list(row_blocks(X.shape[0], side))

    def share(first):
        total = zeros((n_rows, V.shape[1]), V)
        for columns in column_tiles[first::threads]:
            values = kernel.against(on_host(X[columns]), side, device, torch.float64)
            for rows in row_blocks(columns.stop if Y is None else n_rows, side):
                tile = values(read(rows))
                tile = tile if isinstance(V, torch.Tensor) else tile.numpy()
                total[rows] += tile @ V[columns]
                if Y is None and rows != columns:
                    total[columns] += tile.T @ V[rows]
        return total

    with one_blas_thread(), ThreadPoolExecutor(threads, initializer=work_alone) as pool:
        return sum(pool.map(share, range(threads)))


def __getattr__(name):
    """Return a function by its former name."""
    if name not in FORMER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warnings.warn(f"{name} is now called {FORMER[name]}; the old name will go", FutureWarning, stacklevel=2)
    return globals()[FORMER[name]]
