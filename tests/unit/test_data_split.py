"""Splits and folds: parts that cover all rows, halves as the papers round them, seeds that keep apart."""

import numpy as np
import pytest

from rfstudy.data.split import block_of_row, fold_of_block, fold_of_row, split, stratified_folds
from rfstudy.data.tasks import halves, rows_of_blocks
from rfstudy.planning.problems import rows_of_split


def test_half_splits_depend_on_seed_and_repeat_only():
    first = split(1000, None, 3, seed=1, rule="half")[0]
    assert np.array_equal(first, split(1000, None, 3, seed=1, rule="half")[0])
    # a published part does not enter
    assert np.array_equal(first, split(1000, 700, 3, seed=1, rule="half")[0])
    for other in (split(1000, None, 4, seed=1, rule="half")[0], split(1000, None, 3, seed=2, rule="half")[0]):
        # the overlap of two random halves of 1,000 rows is 250 with a standard deviation below 8
        assert abs(len(np.intersect1d(first, other)) - 250) < 5 * 8


@pytest.mark.parametrize(("rule", "counts", "expected"), [("half", None, (200, 200)), ("random", (15, 10), (120, 80))])
def test_rows_are_random_in_both_parts(rule, counts, expected):
    # how often a row is in a part of 400 repeats has a deviation of 10 at most; the bound is 5 of them
    parts = [split(50, None, repeat, 0, rule, counts) for repeat in range(400)]
    assert {(len(train), len(test), len(np.union1d(train, test))) for train, test in parts} == {
        (expected[0] / 8, expected[1] / 8, sum(expected) / 8)
    }
    for part in (0, 1):
        found = sum(np.isin(np.arange(50), rows[part]).astype(int) for rows in parts)
        assert np.abs(found - expected[part]).max() <= 50


COUNTS = "needs the numbers of training and test rows out of 10"
BLOCKS = "n_blocks must be between 2 and the number of rows"
PARTS = "cannot be published training rows"


@pytest.mark.parametrize(
    ("rule", "own", "message"),
    [
        ("published", {}, "needs the number of published training rows"),
        *[("published", {"n_train_published": n}, PARTS) for n in (-1, 0, 10, 19)],
        *[("random", {"counts": counts}, COUNTS) for counts in (None, (8, 3), (0, 3), (3, 0), (-1, 3))],
        *[("blocks", {"n_blocks": n_blocks}, BLOCKS) for n_blocks in (None, 1, 11)],
    ],
)
def test_what_cannot_be_split_is_refused(rule, own, message):
    with pytest.raises(ValueError, match=message):
        split(10, **{"n_train_published": None, "repeat": 0, "seed": 1, "rule": rule} | own)


@pytest.mark.parametrize(("n", "groups"), [(100, 10), (101, 10), (14980, 50), (7, 3), (2, 2), (11, 3), (5, 5)])
def test_blocks_are_contiguous_and_folds_random_both_of_equal_size(n, groups):
    block, fold = block_of_row(n, groups), fold_of_row(n, groups, 0, "tune", 1)
    assert np.array_equal(block, np.sort(block))
    for group in (block, fold):
        sizes = np.bincount(group, minlength=groups)
        assert len(sizes) == groups
        assert sizes.max() - sizes.min() <= 1


@pytest.mark.parametrize("n_blocks", [2, 3, 10])
def test_half_of_the_blocks_train_whole(n_blocks):
    n, block = 101, block_of_row(101, n_blocks)
    parts = {
        (rule, repeat): split(n, None, repeat, seed=1, rule=rule, n_blocks=n_blocks)
        for rule in ("blocks", "first_blocks", "last_blocks")
        for repeat in range(6)
    }
    for (rule, _), (train, test) in parts.items():
        assert np.array_equal(np.sort(np.concatenate([train, test])), np.arange(n))
        assert not set(block[train]) & set(block[test])
        assert len(set(block[train])) == (n_blocks + 1) // 2
        if rule == "first_blocks":
            assert train.max() < test.min()
        elif rule == "last_blocks":
            assert test.max() < train.min()
    chosen = {tuple(train) for (rule, _), (train, _) in parts.items() if rule == "blocks"}
    assert len(chosen) > 1
    assert len({tuple(train) for (rule, _), (train, _) in parts.items() if rule != "blocks"}) == 2


def test_folds_of_blocks_hold_them_out_whole():
    for n, n_folds in ((10, 1), (10, 0), (3, 4)):
        with pytest.raises(ValueError, match="n_folds must be between 2 and the number of rows"):
            fold_of_row(n, n_folds, 0)
    blocks = np.repeat([3, 7, 8, 20, 21, 40, 41], [5, 4, 6, 5, 5, 4, 6])
    fold = fold_of_block(blocks, 3, 1, "train", 0)
    for block in np.unique(blocks):
        assert len(set(fold[blocks == block])) == 1
    assert sorted(np.bincount([fold[blocks == block][0] for block in np.unique(blocks)])) == [2, 2, 3]
    assert not np.array_equal(fold, fold_of_block(blocks, 3, 1, "train", 1))
    with pytest.raises(ValueError, match="8 folds need as many blocks of training rows, there are 7"):
        fold_of_block(blocks, 8, 1, "train", 0)


@pytest.mark.parametrize("n", [10, 11, 100, 101, 245057])
@pytest.mark.parametrize("n_blocks", [2, 3, 7, 10])
def test_the_plan_counts_the_training_rows_that_a_split_has(n, n_blocks):
    task = {"n": n, "n_train": n, "n_test": 0, "split": "half"}
    train, test = split(n, None, 0, 0, "half")
    assert halves(n) == (len(train), len(test)) == rows_of_split({}, task, {"data": "original"})
    for rule in ("first_blocks", "last_blocks"):
        train, test = split(n, None, 0, 0, rule, n_blocks=n_blocks)
        planned = rows_of_split({"split": {"rule": rule, "n_blocks": n_blocks}}, task, {"data": "original"})
        assert planned == (len(train), len(test))
    drawn = [len(split(n, None, repeat, 0, "blocks", n_blocks=n_blocks)[0]) for repeat in range(60 if n < 200 else 3)]
    assert rows_of_blocks(n, n_blocks, "blocks") <= min(drawn)
    if n < 200:
        assert rows_of_blocks(n, n_blocks, "blocks") == min(drawn)


def test_folds_have_equal_shares_of_the_classes_and_keep_equal_rows_together():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((300, 2)), 2, axis=0)
    y = np.repeat(rng.random(300) < 0.2, 2).astype(int)
    folds = stratified_folds(X, y, 10, seed=3)
    assert np.array_equal(folds[::2], folds[1::2])
    for rows in (y == 0, y == 1):  # dealt out in turn: sizes differ by one different row, which is there twice
        assert np.ptp(np.bincount(folds[rows], minlength=10)) <= 2
    assert np.array_equal(folds, stratified_folds(X, y, 10, seed=3))
    assert not np.array_equal(folds, stratified_folds(X, y, 10, seed=4))
    numbers = stratified_folds(X, rng.standard_normal(600), 7, seed=0)
    assert np.ptp(np.bincount(numbers)) <= 2
    with pytest.raises(ValueError, match="301 folds of 300 different rows"):
        stratified_folds(X, y, 301, seed=0)
