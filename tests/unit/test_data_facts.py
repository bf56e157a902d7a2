"""The facts about a data set equal counts made the slow way."""

from collections import Counter

import numpy as np
import pytest

from rfstudy.data.facts import SPIKE_DEVIATIONS, describe, row_codes, spikes


@pytest.fixture
def small():
    """Rows of few values, so that many repeat: (200, 3) and classes that often contradict each other."""
    generator = np.random.default_rng(0)
    return generator.integers(0, 4, (200, 3)).astype(np.float32), generator.choice([-1, 1], 200)


def as_tuples(X, y):
    return [(*row, label) for row, label in zip(X.tolist(), y.tolist(), strict=True)]


def test_repeated_rows_of_a_set_without_parts(small):
    X, y = small
    rows, facts = as_tuples(X, y), describe(X, y, None)
    counts = Counter(rows)
    assert facts["duplicate_rows_all"] == len(rows) - len(counts) > 0
    assert facts["rows_with_twin"] == sum(counts[row] > 1 for row in rows)
    assert facts["rows_with_twin_pct"] == round(100 * facts["rows_with_twin"] / 200, 4)


@pytest.mark.parametrize("n_train", [100, 40])
def test_the_share_of_test_rows_that_a_random_split_has_trained_on(small, n_train):
    X, y = small
    rows = as_tuples(X, y)
    generator = np.random.default_rng(1)
    seen = []
    for _ in range(400):
        order = generator.permutation(200)
        train = {rows[i] for i in order[:n_train]}
        seen.append(100 * np.mean([rows[i] in train for i in order[n_train:]]))
    # the formula takes the copies as independent (each in training with 1/2, not 100/199): off by less than 1 %
    # of the share; the mean of 400 splits is known to 4 standard errors
    tolerance = 4 * np.std(seen) / np.sqrt(400) + 0.01 * np.mean(seen)
    found = describe(X, y, None, train_share=n_train / 200)["expected_test_rows_in_training_pct"]
    assert found == pytest.approx(np.mean(seen), abs=tolerance)


def test_rows_with_numbers_as_targets_repeat_and_conflict_by_their_exact_values():
    X = np.array([[1], [1], [1], [2], [2], [3]], dtype=np.float32)
    facts = describe(X, np.array([0.25, 0.25, 0.75, -0.0, 0.0, 0.25]), None)
    # the first two and the two zeros are pairs; three rows have the column 1 and not all the same target
    assert (facts["duplicate_rows_all"], facts["rows_with_twin"], facts["conflicting_rows"]) == (2, 4, 3)


def test_the_distribution_of_a_regression_target_by_part():
    facts = describe(np.arange(6, dtype=np.float32)[:, None], np.array([1.5, 2.5, 3.5, 4.5, 10.0, 10.0]), 4)
    moments = {key: facts[f"target_{key}_train"] for key in ("mean", "deviation", "minimum", "maximum")}
    assert moments == {"mean": 3.0, "deviation": pytest.approx(np.sqrt(1.25)), "minimum": 1.5, "maximum": 4.5}
    assert facts["neighbours_correlation_train"] == 1.0
    assert (facts["target_mean_test"], facts["target_deviation_test"]) == (10.0, 0.0)
    assert facts["neighbours_correlation_test"] == 0.0
    assert not [key for key in facts if "class" in key]


def test_the_order_of_a_regression_target_shows():
    y = np.random.default_rng(0).normal(size=1000)
    X = np.zeros((1000, 1), dtype=np.float32)
    # of independent neighbours the correlation is 0 with a deviation of 1 / sqrt(1000)
    assert abs(describe(X, y, None)["neighbours_correlation_all"]) < 5 / np.sqrt(1000)
    assert describe(X, np.sort(y), None)["neighbours_correlation_all"] > 0.99
    alternating = np.tile([1.0, -1.0], 50)
    assert describe(X[:100], alternating, None)["neighbours_correlation_all"] == -1.0


def test_test_rows_that_occur_in_the_published_training_part(small):
    X, y = small
    rows, facts = as_tuples(X, y), describe(X, y, 120)
    train = set(rows[:120])
    assert facts["test_rows_in_training"] == sum(row in train for row in rows[120:]) > 0
    assert facts["test_rows_in_training_pct"] == round(100 * facts["test_rows_in_training"] / 80, 4)
    assert facts["duplicate_rows_train"] == 120 - len(train)
    assert facts["duplicate_rows_test"] == 80 - len(set(rows[120:]))


def test_rows_whose_columns_repeat_with_another_class(small):
    X, y = small
    classes = {}
    for *row, label in as_tuples(X, y):
        classes.setdefault(tuple(row), set()).add(label)
    expected = sum(len(classes[tuple(row)]) > 1 for row in X.tolist())
    assert describe(X, y, None)["conflicting_rows"] == expected > 0


def test_the_codes_of_rows_tell_them_apart():
    X = np.unique(np.random.default_rng(0).integers(0, 50, (5000, 4)), axis=0).astype(np.float32)
    assert len(np.unique(row_codes(X))) == len(X)
    assert row_codes(np.array([[0.0, 1.0]])) == row_codes(np.array([[-0.0, 1.0]]))
    assert row_codes(np.array([[0.0, 1.0]])) != row_codes(np.array([[1.0, 0.0]]))


def test_constant_columns_are_listed_by_part():
    X = np.array([[1, 5, 0], [2, 5, 1], [3, 5, 7], [4, 6, 7]], dtype=np.float32)
    facts = describe(X, np.array([0, 1, 0, 1]), 2)
    assert (facts["n_constant_columns_train"], facts["constant_columns_train"]) == (1, [2])
    assert (facts["n_constant_columns_test"], facts["constant_columns_test"]) == (1, [3])
    assert (facts["minimum_train"], facts["maximum_train"], facts["maximum_test"]) == (0, 5, 7)


def test_spikes_are_rows_far_from_the_median_of_a_column():
    X = np.random.default_rng(0).normal(4000, 20, (1000, 5)).astype(np.float32)
    # the deviation of 1,000 normal cells is known to about 20 (1 +- 0.04): 10 % on both sides of the bound is enough
    X[[7, 300], [1, 4]] = 4000 + 1.1 * 20 * SPIKE_DEVIATIONS
    X[20, 0] = 4000 - 1.1 * 20 * SPIKE_DEVIATIONS
    X[21, 0] = 4000 + 0.9 * 20 * SPIKE_DEVIATIONS
    found = spikes(X)
    assert (found["spike_rows"], found["spike_row_numbers"]) == (3, [7, 20, 300])
    sparse = np.zeros((100, 2), dtype=np.float32)
    sparse[3, 0] = 1e6  # more than half of the cells are equal: there is no deviation
    assert spikes(sparse)["spike_rows"] == spikes(np.full((100, 2), 255, dtype=np.uint8))["spike_rows"] == 0


@pytest.mark.parametrize(("value", "spikes"), [(148.2, 0), (148.3, 1)])
def test_a_spike_is_further_off_than_a_hundred_robust_deviations(value, spikes):
    # the median is 0, the median distance from it 1, so that the robust deviation is 1.4826
    column = np.array([-1.0] * 11 + [1.0] * 10 + [value])
    assert np.median(column) == 0.0
    assert np.median(np.abs(column)) == 1.0
    assert describe(column[:, None], np.arange(22) % 2, None)["spike_rows"] == spikes
