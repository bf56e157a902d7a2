"""Which rows train, which test, and the folds of a cross-validation: from seeds only, the same for every method."""

from __future__ import annotations

import numpy as np

from rfstudy.arrays import seed_sequence


def split(
    n: int,
    n_train_published: int | None,
    repeat: int,
    seed: int,
    rule: str,
    counts: tuple[int, int] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Training and test rows of one repeat.

    Parameters
    ----------
    n : int
        Number of rows.
    n_train_published : int or None
        Number of rows of the published training part, which come first.
    repeat, seed : int
        The repeat and the study's seed; nothing else enters, so that every method sees the same rows.
    rule : {"published", "half", "random"}
        "published": the published parts, the same in every repeat. "half": a random permutation of all rows, of which
        the first half (rounded up) trains, as in the papers' code. "random": a random permutation, of which the first
        rows train and the next ones test, as many as ``counts`` says; rows that are left over are left out.
    counts : (int, int), optional
        Training and test rows of "random".

    Returns
    -------
    train_rows, test_rows : ndarray of int
        Disjoint, of "published" and "half" together all rows. Those of "half" and "random" are in random order.

    Raises
    ------
    ValueError
        Unknown rule, or one that lacks its numbers of rows, or has numbers that leave a part empty.
    """
    if rule == "published":
        if n_train_published is None:
            raise ValueError("the split 'published' needs the number of published training rows")
        if not 1 <= n_train_published < n:
            raise ValueError(f"of {n} rows {n_train_published} cannot be published training rows, and others test")
        return np.arange(n_train_published), np.arange(n_train_published, n)
    if rule not in ("half", "random"):
        raise ValueError(f"the split must be 'published', 'half' or 'random', got {rule!r}")
    if rule == "random" and (counts is None or min(counts) < 1 or sum(counts) > n):
        raise ValueError(f"the split 'random' needs the numbers of training and test rows out of {n}, got {counts}")
    n_train, n_test = ((n + 1) // 2, n // 2) if rule == "half" else counts
    order = np.random.default_rng(seed_sequence(seed, "split", repeat)).permutation(n)
    return order[:n_train], order[n_train : n_train + n_test]


def fold_of_row(n: int, n_folds: int, seed: int, *axes) -> np.ndarray:
    """The fold of each row for a cross-validation: (n,) int, random, sizes that differ by one at most.

    ``axes`` are what the folds should vary with, e.g. a repeat. Raises ``ValueError`` unless 2 <= n_folds <= n.
    """
    if not 2 <= n_folds <= n:
        raise ValueError(f"n_folds must be between 2 and the number of rows ({n}), got {n_folds}")
    order = np.random.default_rng(seed_sequence(seed, "folds", *axes)).permutation(n)
    folds = np.empty(n, dtype=np.int64)
    folds[order] = np.arange(n) % n_folds
    return folds
