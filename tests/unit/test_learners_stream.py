"""Logistic regression on a stream of any length: its minimum, what it holds, and how it goes on after a kill."""

import numpy as np
import pytest
from in_memory import Checkpoints
from linear_problems import counted, logistic_objective, lowest_logistic_objective, peak_of, problem, stream

from random_features.learners import design, newton
from random_features.learners.logistic import GAP_TOLERANCE, fit_logistic, fit_on_stream


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
    gram = design.Design(stream(Z, 500), 6000, 10, False, Z).gram
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
    with pytest.raises(ValueError, match="labels must be 0 to 1, got 0 to 2"):
        fit_on_stream(stream(Z), labels, 2, 1e-3, n_columns=4)
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
