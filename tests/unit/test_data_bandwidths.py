"""The rules for the bandwidth against brute force, what they refuse, and the memory that they take."""

import numpy as np
import pytest
from linear_problems import peak_of

from random_features.errors import UserError
from rfstudy.data.bandwidths import fixed, median, neighbour


def points(n, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)


def rng():
    return np.random.default_rng(7)


def distances(X):
    """All distances between rows, one by one, in float64."""
    X = X.astype(np.float64)
    return np.array([[np.sqrt(((a - b) ** 2).sum()) for b in X] for a in X])


def test_the_fixed_rule_is_what_it_says():
    assert fixed.length_scale(points(5), rng(), length_scale=3) == 3.0


@pytest.mark.parametrize("n", [2, 3, 30])
def test_the_median_is_that_of_all_pairs(n):
    X = points(n)
    expected = np.median(distances(X)[np.triu_indices(n, 1)])
    assert median.length_scale(X, rng()) == pytest.approx(expected, rel=1e-12)
    assert median.length_scale(X, rng(), factor=0.5) == pytest.approx(expected / 2, rel=1e-12)


def test_of_more_rows_a_random_part_is_looked_at():
    X = points(100)
    X[50:] *= 10  # the first rows alone would give another number
    found = median.length_scale(X, rng(), rows=40)
    chosen = rng().choice(100, 40, replace=False)
    assert found == pytest.approx(np.median(distances(X[chosen])[np.triu_indices(40, 1)]), rel=1e-12)
    assert found == median.length_scale(X, rng(), rows=40)
    assert found != median.length_scale(X, np.random.default_rng(8), rows=40)


@pytest.mark.parametrize(("n", "k"), [(2, 1), (30, 1), (30, 5), (30, 29)])
def test_the_neighbour_rule_is_the_mean_distance_to_the_kth_nearest_other_row(n, k):
    X = points(n)
    expected = np.mean([sorted(np.delete(row, i))[k - 1] for i, row in enumerate(distances(X))])
    assert neighbour.length_scale(X, rng(), k=k) == pytest.approx(expected, rel=1e-6)
    assert neighbour.length_scale(X, rng(), k=k, factor=3.0) == pytest.approx(3 * expected, rel=1e-6)


def test_a_twin_of_a_row_is_its_neighbour_and_the_row_itself_is_not():
    X = np.float32([[0.0], [0.0], [5.0], [7.0]])
    # nearest: 0, 0, 2, 2; second nearest: 5, 5, 5, 7
    assert neighbour.length_scale(X, rng(), k=1) == pytest.approx(1.0)
    assert neighbour.length_scale(X, rng(), k=2) == pytest.approx(5.5)


def test_blocks_of_rows_give_what_one_block_gives(monkeypatch):
    X = points(500)
    whole = neighbour.length_scale(X, rng(), k=3)
    monkeypatch.setattr(neighbour, "WORKING_MEMORY", 0.05)  # 13 rows a block
    assert neighbour.length_scale(X, rng(), k=3) == pytest.approx(whole, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "parameters", "n", "most"),
    [(median, {}, 60_000, 60e6), (neighbour, {"k": 5, "rows": 1500}, 60_000, 250e6)],
)
def test_memory_does_not_grow_with_the_square_of_the_rows(rule, parameters, n, most):
    """All distances of these rows would be 29 gigabytes, and those of the rows that are looked at 720 megabytes."""
    X = points(n, 2)
    found = []
    assert peak_of(lambda: found.append(rule.length_scale(X, rng(), **parameters))) < most
    assert found[0] > 0


@pytest.mark.parametrize(
    ("rule", "parameters", "X", "message"),
    [
        (median, {}, np.zeros((5, 2), np.float32), "the median distance between training rows is 0: state a length"),
        (neighbour, {"k": 2}, np.zeros((5, 2), np.float32), "the mean distance to the 2-th nearest neighbour is 0"),
        (neighbour, {"k": 5}, points(5), "the 5-th nearest neighbour needs more than 5 training rows, there are 5"),
    ],
)
def test_rows_without_a_scale_are_an_error_that_says_what_to_do(rule, parameters, X, message):
    with pytest.raises(UserError, match=message):
        rule.length_scale(X, rng(), **parameters)
