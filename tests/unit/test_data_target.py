"""Targets: labels and numbers become columns and come back, and what is no target is refused."""

import numpy as np
import pytest

from rfstudy.data.target import Target


@pytest.mark.parametrize("labels", [[3, 7, 7, 3], [0, 1, 2, 3, 9], np.array([200, 0, 200], dtype=np.uint8)], ids=str)
def test_labels_come_back_from_their_columns(labels):
    columns, classes = Target("classes").encode(labels)
    assert columns.dtype == np.float64
    assert columns.shape == (len(labels), 1 if len(set(labels)) == 2 else len(set(labels)))
    assert set(np.unique(columns)) == {-1.0, 1.0}
    np.testing.assert_array_equal(Target("classes").decode(columns, classes), labels)


@pytest.mark.parametrize("decision", [[[1.0, 2.0]], [1.0, 2.0], [[1.0, 2.0, 3.0, 4.0]]])
@pytest.mark.parametrize("classes", [None, np.array([0, 1]), np.array([0, 1, 2])])
def test_decision_values_of_another_width_predict_nothing(decision, classes):
    with pytest.raises(ValueError, match="predictions need decision values"):
        Target("classes").decode(decision, classes)


def test_decisions_that_are_none_predict_nothing():
    for decision, classes in (([[np.nan], [1.0]], [0, 1]), ([[np.nan, 1.0, 2.0]], [0, 1, 2])):
        with pytest.raises(ValueError, match="the decision values hold NaN"):
            Target("classes").decode(decision, np.array(classes))


@pytest.mark.parametrize("labels", [[1, 1, 1], np.array([], dtype=int)])
@pytest.mark.parametrize("kind", ["binary", "classes"])
def test_labels_of_one_class_are_refused(kind, labels):
    with pytest.raises(ValueError, match="two classes"):
        Target(kind).encode(labels)


def test_numbers_come_back_as_they_are():
    y = np.array([1.5, -2.0, 1e-300, 7.0])
    columns, classes = Target("regression").encode(y)
    assert (columns.shape, columns.dtype, classes) == ((4, 1), np.float64, None)
    np.testing.assert_array_equal(Target("regression").decode(columns, classes), y)
    for wrong in ([1.0, np.nan], [1.0, np.inf], []):
        with pytest.raises(ValueError, match=r"NaN or infinity|shape"):
            Target("regression").encode(wrong)


@pytest.mark.parametrize(
    ("kind", "metric"), [("binary", "mse"), ("classes", "accuracy"), ("regression", "accuracy_pct")]
)
def test_a_metric_that_does_not_apply_is_refused(kind, metric):
    with pytest.raises(ValueError, match=f"'{metric}' is no metric of a {kind} target; known are"):
        Target(kind).evaluate(metric, [1, 2], [1, 2])
