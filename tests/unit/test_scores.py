"""Scores of predictions: values by hand, and arrays that do not belong together."""

import numpy as np
import pytest

from random_features.learners.targets import class_index
from rfstudy import scores
from rfstudy.data.target import Target

SCORES = (scores.accuracy_pct, scores.error_pct, scores.mse, scores.rmse, scores.relative_error)


def test_one_column_is_decided_by_its_sign_and_several_by_the_largest():
    assert class_index(np.array([[-1.0], [0.0], [1e-300]])).tolist() == [0, 0, 1]
    decision = np.array([[[0.2, 0.1, 0.2], [-3.0, -1.0, -2.0]]])
    assert class_index(decision).tolist() == [[0, 1]]  # of equal ones the first


def test_errors_of_numbers():
    assert scores.relative_squared_error_pct([6.0, 8.0], [3.0, 4.0]) == 25.0  # differences 3 and 4, |y| = 10
    with pytest.raises(ValueError, match="all targets are zero"):
        scores.relative_error([0.0, 0.0], [1.0, 0.0])
    # in float64 for any input: 16777217 is no float32, and integers must not wrap around
    assert scores.mse(np.array([200], dtype=np.uint8), np.array([201], dtype=np.uint8)) == 1.0
    assert scores.mse(np.array([16777216.0], dtype=np.float32), np.array([16777217])) == 1.0


@pytest.mark.parametrize("score", SCORES)
def test_arrays_of_another_shape_are_refused(score):
    for y, predicted in ([1, 2], [[1], [2]]), ([1, 2], [1]), ([], []), ([[1, 2]], [[1, 2]]), (1, 1):
        with pytest.raises(ValueError, match="one shape"):
            score(y, predicted)


@pytest.mark.parametrize(("y_true", "predicted"), [([1.0, 2.0], [1.0, np.nan]), ([1.0, np.inf], [1.0, 2.0])])
def test_what_cannot_be_equal_has_no_score(y_true, predicted):
    for score in (scores.accuracy_pct, scores.error_pct):
        with pytest.raises(ValueError, match="NaN or infinity"):
            score(y_true, predicted)


def test_the_area_under_the_roc_curve_is_the_share_of_pairs_in_order():
    rng = np.random.default_rng(0)
    y, decision = rng.integers(2, size=50), rng.integers(5, size=50) / 2
    pairs = [(a, b) for a in decision[y == 1] for b in decision[y == 0]]
    share = np.mean([(a > b) + 0.5 * (a == b) for a, b in pairs])
    assert scores.auc_pct(y, decision) == pytest.approx(100 * share)
    assert Target("binary").evaluate("auc_pct", y, y, decision[:, None]) == pytest.approx(100 * share)
    with pytest.raises(ValueError, match="needs two labels"):
        scores.auc_pct([1, 1], [0.2, 0.3])
    with pytest.raises(ValueError, match="no metric of a classes target"):
        Target("classes").evaluate("auc_pct", y, y, decision)


@pytest.mark.parametrize("norm", ["frobenius", "spectral", "sup", "l2"])
def test_matrices_that_have_no_error_relative_to_each_other(norm):
    K = np.eye(3)
    for approximate in (K[:, :1], K[0], 1.0):
        with pytest.raises(ValueError, match="must have one shape"):
            scores.approximation_error(K, approximate, norm)
    for other in (np.nan, np.inf):
        with pytest.raises(ValueError, match="NaN or infinity"):
            scores.approximation_error(K, np.where(K > 0, other, K), norm)
    for exact in (0 * K, np.empty((0, 0))):
        with pytest.raises(ValueError, match="no error relative to a matrix of norm 0"):
            scores.approximation_error(exact, K[: len(exact), : len(exact)], norm)
