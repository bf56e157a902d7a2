"""Targets: labels and numbers become columns and come back, and what is no target is refused."""

import numpy as np
import pandas as pd
import pytest

from rfstudy.data.target import KINDS, Target, decode_labels, encode_labels, encode_numbers, make_target

LABELS = [
    [3, 7, 7, 3],
    ["b", "a", "c", "a"],
    [0, 1, 2, 3, 9],
    [False, True, True],
    [-1.0, 1.0, 1.0],
    np.array(["no", "yes", "no"], dtype=object),
    np.array([5, -5, 5], dtype=object),
    pd.Series(["x", "y", "z"]),
]


@pytest.mark.parametrize("labels", LABELS, ids=lambda labels: f"{np.asarray(labels).dtype}-{len(labels)}")
def test_labels_come_back_from_their_columns(labels):
    columns, classes = encode_labels(labels)
    assert columns.dtype == np.float64
    assert columns.shape == (len(labels), 1 if len(set(labels)) == 2 else len(set(labels)))
    assert set(np.unique(columns)) == {-1.0, 1.0}
    np.testing.assert_array_equal(decode_labels(columns, classes), labels)


def test_two_classes_are_decided_by_the_sign_and_more_by_the_largest_value():
    assert decode_labels([[-0.1], [0.0], [0.2]], ["no", "yes"]).tolist() == ["no", "no", "yes"]
    assert decode_labels([[-3.0, -2.0, -9.0]], [10, 20, 30]).tolist() == [20]


@pytest.mark.parametrize("decision", [[[1.0, 2.0]], [1.0, 2.0], [[1.0, 2.0, 3.0, 4.0]]])
def test_decision_values_of_another_width_are_no_decision_between_these_classes(decision):
    for classes in ([0, 1], [0, 1, 2]):
        with pytest.raises(ValueError, match=rf"{len(classes)} classes are decided by"):
            decode_labels(decision, classes)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1, 1, 1], "two classes"),
        ([], "two classes"),
        (np.array([], dtype=object), "two classes"),
        ([0.0, np.nan], "NaN"),
        ([0.0, -np.inf], "NaN or infinity"),
        ([[0], [1]], "shape"),
        ([0.0, 1.5, 1.0], r"labels must be integers or texts, got 1\.5"),
        (np.array([0, 1.5], dtype=object), r"labels must be integers or texts, got 1\.5"),
        (np.array(["a", np.nan], dtype=object), "labels must be integers or texts, got nan"),
        (np.array(["a", None], dtype=object), "labels must be integers or texts, got None"),
        (np.array([None, "a"], dtype=object), "labels must be integers or texts, got None"),
        (np.array(["a", 1], dtype=object), "labels must be integers or texts, got 1"),
        ([1j, 2j], "labels must be integers or texts"),
        (np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]"), "labels must be integers or texts"),
    ],
)
@pytest.mark.parametrize("kind", ["binary", "classes"])
def test_labels_that_are_none(kind, labels, message):
    with pytest.raises(ValueError, match=message):
        make_target(kind).encode(labels)


def test_a_binary_target_has_two_classes():
    with pytest.raises(ValueError, match=r"two classes, the labels hold 3: \[0, 1, 2\]"):
        Target("binary").encode([0, 1, 2])
    for kind in ("binary", "classes"):
        columns, classes = Target(kind).encode([4, 2, 4])
        assert columns.tolist() == [[1.0], [-1.0], [1.0]]
        assert classes.tolist() == [2, 4]


def test_numbers_come_back_as_they_are():
    y = np.array([1.5, -2.0, 1e-300, 7.0])
    target = Target("regression")
    columns, classes = target.encode(y)
    assert (columns.shape, columns.dtype, classes) == ((4, 1), np.float64, None)
    decoded = target.decode(columns, classes)
    assert decoded.shape == (4,)
    np.testing.assert_array_equal(decoded, y)
    assert target.encode(np.array([1, 2], dtype=np.int8))[0].tolist() == [[1.0], [2.0]]


@pytest.mark.parametrize(
    ("y", "message"),
    [([1.0, np.nan], "NaN"), ([1.0, np.inf], "NaN or infinity"), ([[1.0], [2.0]], "shape"), ([], "shape")],
)
def test_numbers_that_are_none(y, message):
    with pytest.raises(ValueError, match=message):
        Target("regression").encode(y)


@pytest.mark.parametrize("decision", [[1.0, 2.0], [[1.0, 2.0]]])
def test_a_regression_predicts_one_column(decision):
    with pytest.raises(ValueError, match="one column"):
        Target("regression").decode(decision, None)


def test_a_regression_has_no_classes():
    with pytest.raises(ValueError, match="without classes"):
        Target("regression").decode([[1.0]], np.array([0, 1]))


def test_what_a_target_is_scored_by():
    assert {kind: Target(kind).score for kind in KINDS} == {
        "binary": "accuracy", "classes": "accuracy", "regression": "mse",
    }  # fmt: skip
    assert {kind: Target(kind).metrics for kind in KINDS} == {
        "binary": ("accuracy_pct",), "classes": ("accuracy_pct",),
        "regression": ("mse", "rmse", "relative_error", "relative_squared_error_pct"),
    }  # fmt: skip


def test_labels_are_evaluated_by_shares_of_rows():
    y, predicted = ["a", "b", "b", "c"], ["a", "b", "c", "c"]
    assert Target("classes").evaluate("accuracy_pct", y, predicted) == 75.0
    assert Target("classes").evaluate("error_pct", y, predicted) == 25.0


def test_numbers_are_evaluated_by_hand():
    y, predicted = [3.0, 0.0, -4.0], [2.0, 2.0, -2.0]  # differences 1, -2, -2: squares 1, 4, 4; |y| = 5
    target = Target("regression")
    assert target.evaluate("mse", y, predicted) == pytest.approx(3.0, rel=1e-15)
    assert target.evaluate("rmse", y, predicted) == pytest.approx(3.0**0.5, rel=1e-15)
    assert target.evaluate("relative_error", y, predicted) == pytest.approx(3 / 5, rel=1e-15)


@pytest.mark.parametrize(
    ("kind", "metric"), [("binary", "mse"), ("classes", "accuracy"), ("regression", "accuracy_pct")]
)
def test_a_metric_that_does_not_apply_is_refused(kind, metric):
    with pytest.raises(ValueError, match=f"'{metric}' is no metric of a {kind} target; known are"):
        Target(kind).evaluate(metric, [1, 2], [1, 2])


def test_a_kind_that_does_not_exist():
    with pytest.raises(ValueError, match="binary, classes, regression, got 'ordinal'"):
        make_target("ordinal")
    assert make_target("binary") == Target("binary")


@pytest.mark.parametrize(
    "labels",
    [["a", np.nan, "b"], ["a", None], [1, "a"], ["a", 1], (1.0, np.nan), [1, None], pd.Series(["a", None]),
     np.array(["a", np.nan], dtype=object), pd.array([1, None])],
    ids=str,
)  # fmt: skip
def test_what_is_missing_or_of_another_type_is_no_class(labels):
    with pytest.raises(ValueError, match="labels"):
        encode_labels(labels)


def test_a_list_of_texts_has_texts_as_classes():
    columns, classes = encode_labels(["ham", "spam", "ham"])
    assert (columns.ravel().tolist(), classes.tolist(), classes.dtype.kind) == ([-1, 1, -1], ["ham", "spam"], "U")


def test_decisions_that_are_none_predict_nothing():
    for decision, classes in (([[np.nan], [1.0]], [0, 1]), ([[np.nan, 1.0, 2.0]], [0, 1, 2])):
        with pytest.raises(ValueError, match="the decision values hold NaN"):
            decode_labels(decision, classes)


@pytest.mark.parametrize(
    "y",
    [[1 + 2j], ["1.5"], np.array(["2020-01-01"], dtype="datetime64[s]"), np.ma.array([1.0, 2.0], mask=[0, 1])],
    ids=["complex", "texts", "times", "masked"],
)
def test_what_is_no_real_number_is_no_target_of_a_regression(y):
    with pytest.raises(ValueError, match="must be real numbers, none masked"):
        encode_numbers(y)


def test_a_masked_label_is_no_label():
    with pytest.raises(ValueError, match="masked"):
        encode_labels(np.ma.array([1, 2, 1], mask=[0, 0, 1]))
