"""Features as a stream, classes that overlap on them, and naive fits: what the tests of the learners share."""

import tracemalloc
from collections.abc import Callable

import numpy as np
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC

from rfstudy.data.target import Target


def stream(Z, rows=None):
    rows = rows or len(Z)
    return lambda: ((slice(i, min(i + rows, len(Z))), Z[i : i + rows]) for i in range(0, len(Z), rows))


def overwritten(Z, rows):
    """One pass over the stream; its blocks share their memory."""
    memory = np.empty_like(Z[:rows])
    for part, block in stream(Z, rows)():
        memory[: len(block)] = block
        yield part, memory[: len(block)]


def counted(Z, reads, rows=None):
    """The stream, which adds to ``reads`` whenever it is read."""
    return lambda: reads.append(rows) or stream(Z, rows)()


def problem(n=400, n_columns=15, n_classes=2, seed=0, dtype=np.float64):
    """Overlapping classes of unequal size on cosine features with a mean: labels and their columns of +-1."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    Z = np.cos(X @ rng.standard_normal((3, n_columns)) + rng.uniform(0, 2, n_columns)) / np.sqrt(n_columns / 2)
    evidence = X @ rng.standard_normal((3, n_classes)) + 0.5 * rng.standard_normal((n, n_classes))
    labels = (evidence + 0.3 * np.arange(n_classes)).argmax(axis=1)
    return Z.astype(dtype), labels, Target("classes").encode(labels)[0]


def peak_of(call):
    """The most bytes that a call holds at a time."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def ridge(options: dict, Z: np.ndarray, Y: np.ndarray, penalty: float) -> Callable:
    """Ridge regression by its normal equations; ``LinAlgError`` where they have no solution that means anything."""
    n, n_columns = Z.shape
    shift = {"mean": n * penalty, "sum": penalty, "per_column": penalty / n_columns}[options["scaling"]]
    z_mean = Z.mean(axis=0) if options["center"] == "both" else np.zeros(n_columns)
    y_mean = np.zeros(Y.shape[1]) if options["center"] == "none" else Y.mean(axis=0)
    system = (Z - z_mean).T @ (Z - z_mean) + shift * np.eye(n_columns)
    lengths = np.sqrt(np.diag(system))
    if np.linalg.cond(system / np.outer(lengths, lengths)) > 1 / (n_columns * np.finfo(float).eps):
        raise np.linalg.LinAlgError("singular")
    weights = np.linalg.solve(system, (Z - z_mean).T @ (Y - y_mean))
    return lambda Z: (Z - z_mean) @ weights + y_mean


def svm(options: dict, Z: np.ndarray, Y: np.ndarray, C: float) -> Callable:
    """Linear support vector machines with the squared hinge loss and no intercept, one per column."""
    C *= Z.shape[1] if options.get("scaling") == "per_column" else 1.0
    machines = [
        LinearSVC(C=C, loss="squared_hinge", dual=False, fit_intercept=False, tol=1e-8, max_iter=10**7).fit(Z, y)
        for y in Y.T
    ]
    return lambda Z: np.column_stack([Z @ machine.coef_[0] for machine in machines])


def l1_svm(options: dict, Z: np.ndarray, Y: np.ndarray, C: float) -> Callable:
    """Linear support vector machines with the hinge loss and a free intercept, one per column."""
    machines = [SVC(kernel="linear", C=C, tol=1e-8).fit(Z, y) for y in Y.T]
    return lambda Z: np.column_stack([machine.decision_function(Z) for machine in machines])


def least_squares(Z: np.ndarray, y: np.ndarray, shift: float) -> np.ndarray:
    """The minimiser of |Z w - y|^2 + shift |w|^2, as least squares with a row more for every column: for any sides."""
    more = np.sqrt(shift) * np.eye(Z.shape[1])
    return np.linalg.lstsq(np.vstack([Z, more]), np.concatenate([y, np.zeros(len(more))]), rcond=None)[0]


def logistic_objective(coef, intercept, Z, Y, penalty):
    """penalty |W|^2 / 2 + mean of -log P(y | z), written out."""
    F = Z.astype(np.float64) @ coef + intercept
    losses = np.logaddexp(0, -Y * F)[:, 0] if Y.shape[1] == 1 else logsumexp(F, axis=1) - F[Y > 0]
    return penalty / 2 * (coef**2).sum() + losses.mean()


def lowest_logistic_objective(Z, labels, Y, penalty, intercept="none"):
    """The lowest objective that scikit-learn finds, at a tolerance far below what is compared."""
    C = 1 / (penalty * len(Z))
    free = intercept == "unpenalised"
    model = LogisticRegression(C=C, fit_intercept=free, tol=1e-8, max_iter=20_000).fit(Z.astype(np.float64), labels)
    return logistic_objective(model.coef_.T, model.intercept_, Z, Y, penalty)
