"""The quality of a ranking of candidates: one pool, and the same number of features chosen from it in several ways.

EERF ranks every candidate alone, by its correlation with the labels. It is compared with a random choice, the features
that enter the Lasso's path first, those of orthogonal matching pursuit, and the whole pool. Lasso and orthogonal
matching pursuit are scikit-learn's, on candidates of zero mean and unit variance. They choose features jointly. All
ways see all training rows of a data set with two classes. Ridge regression on the chosen candidates, with a
cross-validated penalty, measures their quality.
"""

import warnings

import numpy as np
from scipy.stats import entropy
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lars_path_gram, orthogonal_mp_gram

from random_features.arrays import seed_of
from random_features.errors import UserError
from random_features.learners import streams
from random_features.learners.penalties import best_penalty
from random_features.learners.ridge import cross_validate_ridge, fit_ridge
from rfstudy.study.engine import Job, Measured
from rfstudy.study.job import Part
from rfstudy.study.kinds.grid import folds_of

#: Steps of the Lasso's path per wanted feature: some features leave the path again.
LASSO_STEPS = 4


def check(spec: Part) -> None:
    """Raise ``ValueError`` for a pool that has fewer candidates than are to be chosen."""
    if min(spec.grid["candidates"]) < spec.grid["n_features"]:
        raise ValueError("candidates must be at least n_features: so many are chosen of them")


def measure(
    job: Job, entry: dict, *, n_candidates: int, repeat: int, n_features: int, penalties: list[float], n_folds: int
) -> Measured:
    """Return the rows of one cell: error of ridge regression on the chosen candidates, their effective rank, and the
    share of them that EERF also chooses.
    """
    spec, target, choice = job.spec, job.data.target, entry["options"]["choice"]
    sample, kernel, _ = job.sample_and_kernel(repeat)
    Y, classes = target.encode(sample.y_train)
    if Y.shape[1] > 1:
        raise UserError(f"{spec.dataset} has {Y.shape[1]} classes; a ranking needs two")
    # the same candidates for all entries, as EERF draws them
    eerf = {"method": "kprff", "options": {"n_candidates": n_candidates}}
    phi = job.entry_map(eerf, kernel, n_features, "ranking", spec.dataset, n_candidates, repeat)
    pool = phi.draw(sample.X_train.shape[1], dtype=sample.X_train.dtype).pool_
    moments = Moments(pool, sample.X_train, Y)
    rng = np.random.default_rng(seed_of(spec.seed, "random choice", spec.dataset, n_candidates, repeat))
    chosen = choose(choice, moments, n_features, rng)
    part = pool.subset(chosen, np.full(len(chosen), len(chosen) ** -0.5))
    how = {"n_columns": len(chosen), "scaling": "mean", "center": "both"}
    folds = folds_of(spec, len(Y), n_folds, repeat)
    train = streams.kept(lambda: part.blocks(sample.X_train), len(Y), len(chosen))
    penalty = best_penalty(cross_validate_ridge(train, Y, penalties, folds, **how), penalties)
    model = fit_ridge(train, Y, penalty, **how)
    decision = np.concatenate([model.decision(block) for _rows, block in part.blocks(sample.X_test)])
    error = target.evaluate("error_pct", sample.y_test, target.decode(decision, classes))
    by_score = choose("score", moments, n_features, rng)
    settings = {"choice": choice, "capped": sample.capped}
    shared = sample.size_columns | {"n_features": len(chosen), "n_columns": len(chosen)}
    shared |= {"axis": "candidates", "at": n_candidates, "split": "train", "settings": settings}
    of_error = {"split": "test", "learner": "ridge", "settings": settings | {"penalty": penalty}}
    return [
        shared | of_error | {"metric": "error_pct", "value": error},
        shared | {"metric": "effective_rank", "value": effective_rank(moments.covariance[np.ix_(chosen, chosen)])},
        shared | {"metric": "overlap_pct", "value": 100.0 * np.isin(chosen, by_score).mean()},
    ], {}


class Moments:
    """Covariances of the candidates of a pool on rows X (n, d), (J, J), and with the targets Y (n, 1), (J,)."""

    def __init__(self, pool, X, Y):
        n, one_group = len(X), np.zeros(len(X), dtype=int)
        targets = np.column_stack([Y - Y.mean(axis=0), np.ones(n)])
        (gram,), (cross,) = streams.grams_by_group(lambda: pool.blocks(X), targets, one_group, 1, pool.n_columns)
        means = cross[:, 1] / n
        self.n_rows = n
        self.covariance = gram / n - np.outer(means, means)
        self.with_targets = cross[:, 0] / n

    def standardised(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the covariances for candidates of unit variance, times the number of rows. A constant candidate keeps
        its zeros.
        """
        deviations = np.sqrt(np.diagonal(self.covariance).clip(min=0))
        scale = np.divide(1.0, deviations, out=np.zeros_like(deviations), where=deviations > 0)
        return self.n_rows * self.covariance * np.outer(scale, scale), self.n_rows * self.with_targets * scale


def choose(how: str, moments: Moments, n_features: int, rng: np.random.Generator) -> np.ndarray:
    """Return the candidates that a way of choosing selects, int (M,); fewer if the way ends early."""
    n_candidates = len(moments.with_targets)
    if how == "pool":
        return np.arange(n_candidates)
    if how == "random":
        return rng.choice(n_candidates, n_features, replace=False)
    if how == "score":
        return np.argsort(-np.abs(moments.with_targets), kind="stable")[:n_features]
    gram, cross = moments.standardised()
    with warnings.catch_warnings():
        # near-copies among the candidates end a path early; the rows state the number of features
        warnings.filterwarnings("ignore", category=ConvergenceWarning)
        warnings.filterwarnings("ignore", category=RuntimeWarning, module="sklearn.linear_model")
        if how == "omp":
            return np.flatnonzero(orthogonal_mp_gram(gram, cross, n_nonzero_coefs=n_features))
        _, _, path = lars_path_gram(
            cross, gram, n_samples=moments.n_rows, method="lasso", max_iter=LASSO_STEPS * n_features
        )
    sizes = np.count_nonzero(path, axis=0)
    enough = np.flatnonzero(sizes >= n_features)
    return np.flatnonzero(path[:, enough[0] if len(enough) else np.argmax(sizes)])


def effective_rank(covariance: np.ndarray) -> float:
    """Return the exponential of the entropy of the eigenvalues, scaled to add up to one (Roy and Vetterli, 2007)."""
    return float(np.exp(entropy(np.linalg.eigvalsh(covariance).clip(min=0))))
