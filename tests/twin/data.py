"""Data sets of the naive twin: which rows train and test in a repeat, how they are scaled, how far apart they are."""

from dataclasses import dataclass, field

import numpy as np
from scipy.spatial.distance import cdist, pdist

from random_features.arrays import seed_sequence


@dataclass(frozen=True)
class Data:
    """A data set: rows and labels, how it is split, and what is known of it."""

    X: np.ndarray  # (n, d) float32
    y: np.ndarray  # (n,) int
    n_train: int | None = None  # published training rows, which come first; None: random halves
    stand_in: str = ""
    facts: dict = field(default_factory=dict)
    missing: str = ""  # why it could not be had

    @property
    def rule(self) -> str:
        """The name of the rule that splits it."""
        return "half" if self.n_train is None else "published"


@dataclass(frozen=True)
class Sample:
    """Scaled training and test rows, float32, and whether a cap left rows out."""

    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    capped: bool

    @property
    def counts(self) -> dict:
        """Rows and columns as columns of the table."""
        return {"n_train": len(self.y_train), "n_test": len(self.y_test), "d": self.X_train.shape[1]}


def draw_sample(study, dataset: str, scaling: list[str], repeat: int) -> Sample:
    """Split, cap, and scale by what the training rows say."""
    data = study.data[dataset]
    n = len(data.y)
    if data.rule == "published":
        train, test = np.arange(n)[: data.n_train], np.arange(n)[data.n_train :]
    else:
        order = np.random.default_rng(seed_sequence(study.seed, "split", repeat)).permutation(n)
        train, test = order[: (n + 1) // 2], order[(n + 1) // 2 :]
    cap = study.cap or n
    generator, capped = (
        np.random.default_rng(seed_sequence(study.seed, "cap", repeat)),
        max(len(train), len(test)) > cap,
    )
    train, test = (
        np.sort(generator.choice(part, cap, replace=False)) if len(part) > cap else part for part in (train, test)
    )
    X_train, X_test = data.X[train].astype(np.float64), data.X[test].astype(np.float64)
    for step in scaling:
        X_train, X_test = scaled(step, X_train, X_train), scaled(step, X_test, X_train)
    return Sample(X_train.astype(np.float32), data.y[train], X_test.astype(np.float32), data.y[test], capped)


def scaled(step: str, X: np.ndarray, X_train: np.ndarray) -> np.ndarray:
    """X (n, d) after one step that is fitted on X_train; a column that is constant there becomes 0."""
    low, high = X_train.min(axis=0), X_train.max(axis=0)
    varies = np.where(high > low, 1.0, 0.0)
    width = np.where(high > low, high - low, 1.0)
    if step == "none":
        return X
    if step == "minmax":
        return (X - low) / width * varies
    if step == "minmax_symmetric":
        return (2 * (X - low) / width - 1) * varies
    if step == "standard":
        return (X - X_train.mean(axis=0)) / np.where(high > low, X_train.std(axis=0), 1.0) * varies
    if step == "standard_rows":
        return (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, ddof=1, keepdims=True)
    raise NotImplementedError(step)


def length_scale_by(rule: dict, study, dataset: str, scaling: list[str], repeat: int) -> float:
    """Return the length scale of a bandwidth rule on the training rows of a repeat."""
    return length_scale_of(rule, draw_sample(study, dataset, scaling, repeat).X_train, study.seed, repeat)


def length_scale_of(rule: dict, X: np.ndarray, seed: int, repeat: int) -> float:
    """Return the length scale of a rule on the rows X (n, d) of a repeat: a factor times the median distance of two of
    them, or times the mean distance of a row to its k-th nearest other one.
    """
    X = X.astype(np.float64)
    generator = np.random.default_rng(seed_sequence(seed, "bandwidth", rule["rule"], repeat))
    chosen = generator.choice(len(X), min(rule.get("rows", len(X)), len(X)), replace=False)
    if rule["rule"] == "median":
        found = np.median(pdist(X[chosen]))
    elif rule["rule"] == "neighbour":
        # the nearest of all is the row itself
        found = np.mean([np.sort(cdist(X[[row]], X)[0])[rule["k"]] for row in chosen])
    else:
        raise NotImplementedError(rule["rule"])
    return float(rule.get("factor", 1.0) * found)


def folds(n: int, n_folds: int, *axes) -> np.ndarray:
    """The fold of every row: rows in random order are dealt to the folds in turn."""
    fold = np.empty(n, dtype=int)
    fold[np.random.default_rng(seed_sequence(*axes)).permutation(n)] = np.arange(n) % n_folds
    return fold


def held_out_rows(n: int, share: float, *axes) -> np.ndarray:
    """Return whether a row is kept from map and learner to score them on, for a share of the n rows."""
    taken = np.random.default_rng(seed_sequence(*axes)).choice(n, round(share * n), replace=False)
    return np.isin(np.arange(n), taken)
