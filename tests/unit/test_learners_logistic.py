"""Logistic regression: its minimum against scikit-learn's, hard cases, streams of any length, and kills."""

import numpy as np
import pytest
from in_memory import Checkpoints
from linear_problems import counted, logistic_objective, lowest_logistic_objective, peak_of, problem, stream

from random_features.learners import design, newton, streams
from random_features.learners.design import Design
from random_features.learners.logistic import GAP_TOLERANCE, cross_validate_logistic, fit_logistic, fit_on_stream
from rfstudy.data.target import Target

PENALTIES = [1e-1, 1e-3, 1e-5]


def of_model(model, Z, Y, penalty):
    return logistic_objective(model.coef, model.intercept, Z, Y, penalty)


@pytest.mark.parametrize(("intercept", "n_classes", "dtype"), [("none", 2, np.float64), ("unpenalised", 5, np.float32)])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_the_minimum_is_that_of_scikit_learn_on_five_thousand_rows(penalty, n_classes, dtype, intercept):
    Z, labels, Y = problem(n=5000, n_columns=40, n_classes=n_classes, dtype=dtype)
    model = fit_logistic(stream(Z, 700), Y, penalty, n_columns=40, intercept=intercept)
    assert model.converged
    assert model.n_iter <= 15
    assert model.solver == "newton"
    lowest = lowest_logistic_objective(Z, labels, Y, penalty, intercept)
    # one side is our own tolerance, with the rounding of float32; the other would be an error of scikit-learn's
    assert of_model(model, Z, Y, penalty) <= lowest * (1 + 1e-6)
    assert of_model(model, Z, Y, penalty) >= lowest * (1 - 1e-4)


def test_features_of_unequal_length_take_few_passes_with_blocks_and_the_same_solution_without(monkeypatch):
    """Rows distinguished with certainty next to others: few rows make the mean curvature of all."""
    Z, _, Y = problem(n=1000, n_columns=20, n_classes=8, dtype=np.float32)
    Z *= np.exp(2 * np.random.default_rng(4).standard_normal((1000, 1))).astype(np.float32)
    passes, transposed = [], Design.transposed
    monkeypatch.setattr(Design, "transposed", lambda self, *how: passes.append(1) or transposed(self, *how))
    with_blocks = fit_logistic(stream(Z), Y, 1e-4, n_columns=20, intercept="unpenalised")
    n_with, passes[:] = len(passes), []
    monkeypatch.setattr(newton, "HESSIAN_BYTES", 0)
    without = fit_logistic(stream(Z), Y, 1e-4, n_columns=20, intercept="unpenalised")
    assert n_with < len(passes) / 2
    lowest = lowest_logistic_objective(Z, np.argmax(Y, axis=1), Y, 1e-4, "unpenalised")
    for model in (with_blocks, without):
        assert model.converged
        np.testing.assert_allclose(of_model(model, Z, Y, 1e-4), lowest, rtol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("classes", ["multinomial", "one_vs_rest"])
def test_streamed_is_kept(classes, n_classes, monkeypatch):
    Z, _, Y = problem(n_classes=n_classes, dtype=np.float32)
    how = {"n_columns": Z.shape[1], "classes": classes, "intercept": "unpenalised"}
    passes = []
    kept = fit_logistic(stream(Z), Y, 1e-3, **how)
    monkeypatch.setattr(streams, "CACHE_BYTES", 2**12)
    folds = np.arange(len(Y)) % 3
    scores = cross_validate_logistic(stream(Z), Y, PENALTIES, folds, **how)
    monkeypatch.setattr(streams, "MEMORY_BUDGET", 0)
    streamed = fit_logistic(counted(Z, passes, 37), Y, 1e-3, **how)
    assert len(passes) > 10
    np.testing.assert_allclose(streamed.decision(Z), kept.decision(Z), rtol=0, atol=1e-4)
    np.testing.assert_array_equal(cross_validate_logistic(stream(Z, 37), Y, PENALTIES, folds, **how), scores)


def test_the_memory_of_a_streamed_fit_is_that_of_targets_and_gram_matrix(monkeypatch):
    monkeypatch.setattr(streams, "MEMORY_BUDGET", 0)
    n, n_columns = 20_000, 200
    Z, _, Y = problem(n=n, n_columns=n_columns, dtype=np.float32)
    peak = peak_of(lambda: fit_logistic(stream(Z, 512), Y, 1e-2, n_columns=n_columns))
    # in float64 numbers: a chunk of 2048 rows for the Gram matrix, five matrices of its size, 20 columns of n rows
    assert peak < 8 * (2048 * n_columns + 5 * n_columns**2 + 20 * n) < 8 * n * n_columns / 3


@pytest.mark.parametrize("intercept", ["none", "unpenalised"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_more_columns_than_rows_are_the_same_problem_in_the_space_of_the_rows(n_classes, intercept, monkeypatch):
    Z, labels, Y = problem(n=50, n_columns=80, n_classes=n_classes)
    Z = np.vstack([Z, Z[:5]])  # of lower rank than rows
    labels, Y = np.append(labels, labels[:5]), np.vstack([Y, Y[:5]])
    how = {"n_columns": 80, "intercept": intercept}
    folds = np.arange(len(Y)) % 3
    rotated = fit_logistic(stream(Z, 9), Y, 1e-4, **how)
    scores = cross_validate_logistic(stream(Z, 9), Y, PENALTIES, folds, **how)
    lowest = lowest_logistic_objective(Z, labels, Y, 1e-4, intercept)
    np.testing.assert_allclose(of_model(rotated, Z, Y, 1e-4), lowest, rtol=1e-6)
    monkeypatch.setattr(streams, "MEMORY_BUDGET", 0)
    as_it_is = fit_logistic(stream(Z, 9), Y, 1e-4, **how)
    np.testing.assert_allclose(as_it_is.decision(Z), rotated.decision(Z), rtol=0, atol=1e-2)
    np.testing.assert_allclose(scores, cross_validate_logistic(stream(Z, 9), Y, PENALTIES, folds, **how), atol=1e-9)


def test_features_that_are_zero_have_a_model():
    Y = np.where(np.arange(12) < 9, 1.0, -1.0)
    model = fit_logistic(stream(np.zeros((12, 20))), Y, 0.1, n_columns=20, intercept="unpenalised")
    assert model.converged
    np.testing.assert_array_equal(model.coef, 0.0)
    np.testing.assert_allclose(model.intercept, np.log(9 / 3), atol=1e-6)  # the log of the odds


@pytest.mark.parametrize("penalty", [1e-2, 1e-6, 1e-10])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_separable_classes_have_a_minimum_that_is_found(n_classes, penalty):
    rng = np.random.default_rng(0)
    labels = np.arange(90) % n_classes
    Z = np.eye(n_classes)[labels] + 0.05 * rng.standard_normal((90, n_classes))
    Y, classes = Target("classes").encode(labels)
    model = fit_logistic(stream(Z), Y, penalty, n_columns=n_classes, intercept="unpenalised")
    assert model.converged
    np.testing.assert_array_equal(Target("classes").decode(model.decision(Z), classes), labels)
    lowest = lowest_logistic_objective(Z, labels, Y, penalty, "unpenalised")
    assert of_model(model, Z, Y, penalty) <= lowest * (1 + 1e-6)


def test_rows_of_no_class_or_of_several_are_refused():
    Z, _, Y = problem(n_classes=3)
    Y[7] = [1, -1, 1]
    with pytest.raises(ValueError, match=r"row 7 of the targets names 2 classes"):
        fit_logistic(stream(Z), Y, 0.1, n_columns=15)
    assert fit_logistic(stream(Z), Y, 0.1, n_columns=15, classes="one_vs_rest").converged
    Y[7], Y[4] = [1, -1, -1], -1
    with pytest.raises(ValueError, match=r"row 4 of the targets names 0 classes"):
        fit_logistic(stream(Z), Y, 0.1, n_columns=15)


@pytest.mark.parametrize(("n_classes", "dtype"), [(2, np.float64), (5, np.float32)])
@pytest.mark.parametrize("penalty", [1e-2, 5e-4])
def test_the_objective_is_that_of_scikit_learn_to_the_tolerance_on_five_thousand_rows(penalty, n_classes, dtype):
    Z, labels, Y = problem(n=5000, n_columns=40, n_classes=n_classes, dtype=dtype)
    model = fit_on_stream(stream(Z, 700), labels, n_classes, penalty, n_columns=40)
    assert model.converged
    assert model.solver == "newton"
    assert model.coef.shape == (40, 1 if n_classes == 2 else n_classes)
    lowest = lowest_logistic_objective(Z, labels, Y, penalty)
    ours = logistic_objective(model.coef, 0.0, Z, Y, penalty)
    # the tolerance on one side, an error of scikit-learn's on the other
    assert lowest * (1 - 1e-6) <= ours <= lowest * (1 + GAP_TOLERANCE)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_coefficients_are_those_of_a_fit_that_keeps_all_decision_values(n_classes):
    Z, labels, Y = problem(n=600, n_columns=20, n_classes=n_classes)
    exact = fit_logistic(stream(Z), Y, 1e-2, n_columns=20)
    model = fit_on_stream(stream(Z, 100), labels, n_classes, 1e-2, n_columns=20, tolerance=1e-12)
    np.testing.assert_allclose(model.coef, exact.coef, atol=1e-4)


@pytest.mark.parametrize("rows", [1, 37, 128, 400])
def test_any_cut_of_the_stream_gives_the_same_model(rows):
    Z, labels, _ = problem(n=400, n_columns=10, n_classes=3)
    whole = fit_on_stream(stream(Z), labels, 3, 1e-3, n_columns=10)
    cut = fit_on_stream(stream(Z, rows), labels, 3, 1e-3, n_columns=10)
    assert cut.n_iter == whole.n_iter
    np.testing.assert_allclose(cut.coef, whole.coef, rtol=1e-10, atol=1e-10)


def test_a_fit_that_was_killed_at_any_pass_goes_on_to_the_same_bits():
    Z, labels, _ = problem(n=400, n_columns=10, n_classes=3)
    kept = Checkpoints()
    whole = fit_on_stream(stream(Z), labels, 3, 1e-4, n_columns=10, checkpoints=kept)
    assert len(kept) > 5
    for done in (1, 3, len(kept)):
        passes, how = [], {"n_columns": 10, "checkpoints": Checkpoints(kept[:done])}
        again = fit_on_stream(counted(Z, passes), labels, 3, 1e-4, **how)
        np.testing.assert_array_equal(again.coef, whole.coef)
        assert again.n_iter == whole.n_iter
        assert len(passes) == len(kept) - done + 1  # one pass more is for the Gram matrix


def test_the_gram_matrix_of_some_chunks_replaces_that_of_all(monkeypatch):
    Z, labels, Y = problem(n=6000, n_columns=10, n_classes=3)
    whole = fit_on_stream(stream(Z, 500), labels, 3, 1e-3, n_columns=10)
    monkeypatch.setattr(design, "GRAM_ROWS", 3000)
    some = fit_on_stream(stream(Z, 500), labels, 3, 1e-3, n_columns=10)
    assert some.converged
    reached = [logistic_objective(model.coef, 0.0, Z, Y, 1e-3) for model in (some, whole)]
    assert abs(reached[0] - reached[1]) <= 1e-4
    rows = np.r_[0:2048, 4096:6000]  # every second chunk of 2,048 rows
    gram = Design(stream(Z, 500), 6000, 10, False, Z).gram
    np.testing.assert_allclose(gram, Z[rows].T @ Z[rows] * (6000 / len(rows)), rtol=1e-9)


def test_nothing_but_labels_is_held_for_every_row(monkeypatch):
    n, c = 40_000, 3
    labels, part = np.arange(n) % c, np.random.default_rng(0).standard_normal((500, 10)).astype(np.float32)

    def blocks():
        return ((slice(at, at + 500), part) for at in range(0, n, 500))

    peak = peak_of(lambda: fit_on_stream(blocks, labels, c, 1e-3, n_columns=10))
    # 8 bytes of the column of ones and 8 of the groups for the Gram matrix, one for each class, and chunks; decision
    # values would be 24 more, their slopes and curvatures 48
    assert peak < n * (8 + 8 + 8 + c) + 10 * 2048 * 10 * 8


def test_labels_that_are_no_class_and_features_that_are_not_finite_are_refused():
    Z, labels, _ = problem(n=50, n_columns=4, n_classes=3)
    for wrong, message in [(labels, "0 to 1, got 0 to 2"), (labels / 2, r"integers of shape \(n,\), got float64")]:
        with pytest.raises(ValueError, match=f"labels must be {message}"):
            fit_on_stream(stream(Z), wrong, 2, 1e-3, n_columns=4)
    Z[7, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        fit_on_stream(stream(Z), labels, 3, 1e-3, n_columns=4)


def test_a_fit_that_gives_up_says_so_and_shows_every_pass(monkeypatch):
    Z, labels, _ = problem(n=200, n_columns=8, n_classes=3)
    shown = []
    monkeypatch.setattr(newton, "MAX_ITERATIONS", 1)
    model = fit_on_stream(stream(Z), labels, 3, 1e-5, n_columns=8, progress=shown.append)
    assert not model.converged
    assert shown == list(range(1, model.n_iter + 1))
