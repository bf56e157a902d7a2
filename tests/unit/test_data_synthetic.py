"""Generated stand-ins: a boundary that a linear classifier misses and random features find."""

import numpy as np
import pytest

from rfstudy.data.scale import fit_steps
from rfstudy.data.synthetic import binary, digits, numeric

N_TRAIN, N_TEST = 400, 2000


def ridge_accuracy(Z, y, penalty=1e-2):
    """Percent of right test rows of ridge regression on the first ``N_TRAIN`` rows."""
    A, target = Z[:N_TRAIN], y[:N_TRAIN]
    offset = target.mean()
    weights = np.linalg.solve(A.T @ A + penalty * np.eye(A.shape[1]), A.T @ (target - offset))
    return 100 * np.mean(np.sign(Z[N_TRAIN:] @ weights + offset) == y[N_TRAIN:])


def random_features(X, s, length_scale=1.0):
    W = np.random.default_rng(1).standard_normal((X.shape[1], s)) / length_scale
    return np.hstack([np.cos(X @ W), np.sin(X @ W)]) / np.sqrt(s)


@pytest.mark.parametrize("steps", [["none"], ["standard_rows"], ["minmax_symmetric"]])
def test_random_features_learn_what_a_linear_classifier_cannot(steps):
    X, y = numeric(N_TRAIN + N_TEST, 14, 3, 0.45, np.random.default_rng(0))
    X = fit_steps(steps, X[:N_TRAIN])(X).astype(np.float64)
    # the larger class has 55 %; the standard error of an accuracy on 2,000 rows is 1.1 points at most
    few, many = ridge_accuracy(random_features(X, 5), y), ridge_accuracy(random_features(X, 224), y)
    assert ridge_accuracy(X, y) < 55 + 5 * 1.1 + 5
    assert many > 85
    assert many > few + 4 * 1.1


def test_binary_columns_are_one_category_of_each_attribute():
    X, y = binary(600, 123, 3, 0.24, np.random.default_rng(0))
    assert set(np.unique(X)) == {0, 1}
    assert (X.sum(1) == 14).all()
    assert (X.sum(0) > 0).all()
    assert np.sum(y == 1) == 144


def test_digits_fill_the_range_of_bytes():
    X, labels = digits()
    assert (X.dtype, X.min(), X.max(), X.shape) == (np.uint8, 0, 255, (1797, 64))
    assert sorted(set(labels)) == list(range(10))
