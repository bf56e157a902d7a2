"""Choose training rows, test rows and the folds of a cross-validation: from seeds only, the same for every method."""

import numpy as np

from random_features.arrays import seed_sequence
from rfstudy.data.facts import row_codes
from rfstudy.data.tasks import OF_BLOCKS, halves

#: Rules that give the same rows in every repeat.
FIXED = ("published", "first_blocks", "last_blocks")


def split(n: int, n_train_published, repeat: int, seed: int, rule: str, counts=None, n_blocks=None, folds=None):
    """Return the training and test rows of one repeat.

    Parameters
    ----------
    n : int
        Number of rows.
    n_train_published : int or None
        Number of rows of the published training part, which come first.
    repeat, seed : int
        The repeat and the study's seed; nothing else enters, so that every method sees the same rows.
    rule : {"published", "half", "random", "folds", "blocks", "first_blocks", "last_blocks", "block_folds"}
        "published": the published parts, the same in every repeat. "half": a random permutation of all rows, of which
        the first half trains (``tasks.halves``). "random": a random permutation, of which the first
        rows train and the next ones test, as many as ``counts`` says; rows that are left over are left out. "folds":
        repeat r tests on fold r, counted from 0 again after the last one. "blocks", "first_blocks", "last_blocks",
        "block_folds": rows in their order fall into ``n_blocks`` blocks (``block_of_row``). Half of them train: random
        ones, the first, or the last; or all but one, which tests as a fold does.
    counts : (int, int), optional
        Training and test rows of "random".
    n_blocks : int, optional
        Of the rules of blocks.
    folds : ndarray (n,) of int, optional
        The fold of each row, from 0, of "folds"; -1 leaves a row out.

    Returns
    -------
    train_rows, test_rows : ndarray of int
        Disjoint, together all rows but for "random" and for "folds" with rows of fold -1. The parts of "half" and
        "random" are in random order.

    Raises
    ------
    ValueError
        A rule that lacks its numbers of rows, or has numbers that leave a part empty.

    Examples
    --------
    >>> folds = np.array([1, 0, 2, 1, 0])
    >>> [split(5, None, repeat, 0, "folds", folds=folds)[1].tolist() for repeat in range(4)]
    [[1, 4], [0, 3], [2], [1, 4]]
    >>> [rows.tolist() for rows in split(5, None, 0, 0, "folds", folds=np.array([1, 0, -1, 1, -1]))]
    [[0, 3], [1]]
    >>> for repeat in range(3):
    ...     print(*split(5, None, repeat, 0, "block_folds", n_blocks=2))
    [3 4] [0 1 2]
    [0 1 2] [3 4]
    [3 4] [0 1 2]
    """
    if rule == "published":
        if n_train_published is None:
            raise ValueError("the split 'published' needs the number of published training rows")
        if not 1 <= n_train_published < n:
            raise ValueError(f"of {n} rows {n_train_published} cannot be published training rows, and others test")
        return np.arange(n_train_published), np.arange(n_train_published, n)
    random = np.random.default_rng(seed_sequence(seed, "split", repeat))
    if rule in OF_BLOCKS:
        folds = block_of_row(n, n_blocks)
    if rule in ("folds", "block_folds"):
        tests = folds == repeat % (folds.max() + 1)
        return np.flatnonzero(~tests & (folds >= 0)), np.flatnonzero(tests)
    if rule in OF_BLOCKS:
        blocks = np.arange(n_blocks)
        order = {"blocks": random.permutation(n_blocks), "first_blocks": blocks, "last_blocks": blocks[::-1]}[rule]
        trains = np.isin(folds, order[: halves(n_blocks)[0]])
        return np.flatnonzero(trains), np.flatnonzero(~trains)
    if rule == "random" and (counts is None or min(counts) < 1 or sum(counts) > n):
        raise ValueError(f"the split 'random' needs the numbers of training and test rows out of {n}, got {counts}")
    n_train, n_test = halves(n) if rule == "half" else counts
    order = random.permutation(n)
    return order[:n_train], order[n_train : n_train + n_test]


def block_of_row(n: int, n_blocks: int | None) -> np.ndarray:
    """Return the block of each row, (n,) int from 0: contiguous blocks, whose sizes differ by at most one.

    Raise ``ValueError`` unless 2 <= n_blocks <= n.

    >>> block_of_row(5, 2)
    array([0, 0, 0, 1, 1])
    """
    if n_blocks is None or not 2 <= n_blocks <= n:
        raise ValueError(f"n_blocks must be between 2 and the number of rows ({n}), got {n_blocks}")
    return np.arange(n) * n_blocks // n


def fold_of_row(n: int, n_folds: int, seed: int, *axes) -> np.ndarray:
    """Return the fold of each row for a cross-validation: (n,) int, random, with sizes that differ by at most one.

    ``axes`` are the values with which the folds vary, e.g. a repeat. Raise ``ValueError`` unless 2 <= n_folds <= n.
    """
    if not 2 <= n_folds <= n:
        raise ValueError(f"n_folds must be between 2 and the number of rows ({n}), got {n_folds}")
    order = np.random.default_rng(seed_sequence(seed, "folds", *axes)).permutation(n)
    return np.argsort(order) % n_folds


def stratified_folds(X: np.ndarray, y: np.ndarray, n_folds: int, seed: int) -> np.ndarray:
    """Return the fold of each row, (n,) int from 0: the same in all repeats, and for rows whose columns are equal.

    The different rows of a class are dealt out in random order, one to each fold in turn. Numbers as targets (floating
    point) are one class. Raise ``ValueError`` unless there are two folds or more, and as many different rows.
    """
    _, first, row = np.unique(row_codes(X), return_index=True, return_inverse=True)
    if not 2 <= n_folds <= len(first):
        raise ValueError(f"{n_folds} folds of {len(first)} different rows")
    random = np.random.default_rng(seed_sequence(seed, "stratified folds")).random(len(first))
    classes = np.zeros(len(first)) if y.dtype.kind == "f" else y[first]
    return np.argsort(np.lexsort((random, classes)))[row] % n_folds


def fold_of_block(blocks: np.ndarray, n_folds: int, seed: int, *axes) -> np.ndarray:
    """Return the fold of each row, (n,) int, if the rows of a block are held out together: ``fold_of_row`` of the
    blocks.

    ``blocks`` (n,) are the blocks of the rows. Raise ``ValueError`` if there are fewer blocks than folds.
    """
    present, block_of = np.unique(blocks, return_inverse=True)
    if len(present) < n_folds:
        raise ValueError(f"{n_folds} folds need as many blocks of training rows, there are {len(present)}")
    return fold_of_row(len(present), n_folds, seed, *axes)[block_of]
