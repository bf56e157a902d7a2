"""Logistic regression preconditioned by one bound of the Hessian: its minimum, its certificate, and how it goes on."""

import numpy as np
import pytest
from linear_problems import problem, stream
from scipy.linalg import cho_solve
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegression

from random_features.learners import boehning
from random_features.learners.boehning import Problem, duality_gap, fit_on_stream
from random_features.learners.logistic import fit_logistic


class Kept(list):
    """Checkpoints in memory."""

    def append(self, **arrays):
        super().append({name: np.array(value) for name, value in arrays.items()})

    def load(self):
        return list(self)


def objective(coef, Z, labels, penalty):
    """penalty |W|^2 / 2 + mean of -log P(y | z), written out."""
    F = Z.astype(np.float64) @ coef
    if coef.shape[1] == 1:
        losses = np.logaddexp(0, np.where(labels == 1, -F[:, 0], F[:, 0]))
    else:
        losses = logsumexp(F, axis=1) - F[np.arange(len(Z)), labels]
    return penalty / 2 * (coef**2).sum() + losses.mean()


@pytest.mark.parametrize(("n_classes", "dtype"), [(2, np.float64), (5, np.float32)])
@pytest.mark.parametrize("penalty", [1e-2, 5e-4])
def test_the_objective_is_that_of_scikit_learn_to_the_tolerance_on_five_thousand_rows(penalty, n_classes, dtype):
    Z, labels, _ = problem(n=5000, n_columns=40, n_classes=n_classes, dtype=dtype)
    model = fit_on_stream(stream(Z, 700), labels, n_classes, penalty, n_columns=40)
    assert model.converged
    assert model.solver == "boehning"
    assert model.coef.shape == (40, 1 if n_classes == 2 else n_classes)
    sklearn = LogisticRegression(C=1 / (penalty * len(Z)), fit_intercept=False, tol=1e-8, max_iter=20_000)
    lowest = objective(sklearn.fit(Z.astype(np.float64), labels).coef_.T, Z, labels, penalty)
    ours = objective(model.coef, Z, labels, penalty)
    # the tolerance on one side, an error of scikit-learn's on the other
    assert lowest * (1 - 1e-6) <= ours <= lowest * (1 + boehning.GAP_TOLERANCE)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_coefficients_are_those_of_the_newton_method_where_the_gap_is_closed(n_classes):
    Z, labels, Y = problem(n=600, n_columns=20, n_classes=n_classes)
    exact = fit_logistic(stream(Z), Y, 1e-2, n_columns=20)
    model = fit_on_stream(stream(Z, 100), labels, n_classes, 1e-2, n_columns=20, tolerance=1e-12)
    # both are within sqrt(2 gap / lambda) of the solution; Newton's tolerance is 1e-7 of an objective of about 1
    np.testing.assert_allclose(model.coef, exact.coef, atol=2 * np.sqrt(2 * 1e-7 / 1e-2))


def test_the_gap_is_the_duality_gap_and_bounds_the_distance_to_the_optimum():
    Z, labels, _ = problem(n=300, n_columns=12, n_classes=3)
    penalty, rng = 1e-2, np.random.default_rng(0)
    lowest = objective(
        fit_on_stream(stream(Z), labels, 3, penalty, n_columns=12, tolerance=1e-13).coef, Z, labels, penalty
    )
    for _ in range(5):
        weights = rng.standard_normal((12, 3))
        value, gradient = Problem(stream(Z), labels, 3, penalty, 12).at(weights)
        probabilities = np.exp(Z @ weights - logsumexp(Z @ weights, axis=1, keepdims=True))
        entropy = -(probabilities * np.log(probabilities)).sum(axis=1).mean()
        dual = Z.T @ (probabilities - np.eye(3)[labels]) / len(Z)
        # the dual objective at the probabilities: the mean entropy less |dual|^2 / (2 penalty)
        gap = objective(weights, Z, labels, penalty) - (entropy - (dual**2).sum() / (2 * penalty))
        assert duality_gap(gradient, penalty) == pytest.approx(gap, rel=1e-9)
        assert 0 <= value - lowest <= gap


def test_the_gradient_is_that_of_the_objective():
    Z, labels, _ = problem(n=200, n_columns=6, n_classes=3)
    at = Problem(stream(Z, 64), labels, 3, 0.1, 6).at
    weights, direction = np.random.default_rng(1).standard_normal((2, 6, 3))
    step = 1e-6
    value, gradient = at(weights)
    slope = (at(weights + step * direction)[0] - at(weights - step * direction)[0]) / (2 * step)
    assert slope == pytest.approx((gradient * direction).sum(), rel=1e-6)
    assert value == pytest.approx(objective(weights, Z, labels, 0.1), rel=1e-12)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_step_by_the_bound_always_brings_the_fall_that_it_promises(n_classes):
    Z, labels, _ = problem(n=200, n_columns=8, n_classes=n_classes)
    own = Problem(stream(Z), labels, n_classes, 1e-3, 8)
    weights = np.zeros((8, own.n_weights))
    for _ in range(20):
        value, gradient = own.at(weights)
        step = -cho_solve((own.factor_of_bound(), True), gradient)
        weights = weights + step
        # the bound is above the objective: f(w + step) <= f(w) + <g, step> / 2
        assert own.at(weights)[0] <= value + 0.5 * (gradient * step).sum() + 1e-14


@pytest.mark.parametrize(
    ("n_classes", "weights", "direction"), [(2, [0.0], [1.0]), (3, [0.0, 0.0, -60.0], [1.0, -1.0, 0.0])]
)
def test_no_smaller_bound_would_do(n_classes, weights, direction):
    """If two classes have half of the probability each, the curvature between them is the bound."""
    own = Problem(stream(np.ones((6, 1))), np.arange(6) % n_classes, n_classes, 1e-3, 1)
    at, along, step = np.array([weights]), np.array([direction]), 1e-5
    change = own.at(at + step * along)[1] - own.at(at - step * along)[1]
    curvature = (change * along).sum() / (2 * step * (along**2).sum())
    np.testing.assert_allclose(own.factor_of_bound() ** 2, curvature, rtol=1e-6)


@pytest.mark.parametrize("rows", [1, 37, 128, 400])
def test_any_cut_of_the_stream_gives_the_same_model(rows):
    Z, labels, _ = problem(n=400, n_columns=10, n_classes=3)
    whole = fit_on_stream(stream(Z), labels, 3, 1e-3, n_columns=10)
    cut = fit_on_stream(stream(Z, rows), labels, 3, 1e-3, n_columns=10)
    assert cut.n_iter == whole.n_iter
    np.testing.assert_allclose(cut.coef, whole.coef, rtol=1e-10, atol=1e-10)


def test_a_fit_that_was_killed_at_any_pass_goes_on_to_the_same_bits():
    Z, labels, _ = problem(n=400, n_columns=10, n_classes=3)
    kept = Kept()
    whole = fit_on_stream(stream(Z), labels, 3, 1e-4, n_columns=10, checkpoints=kept)
    assert len(kept) > 5
    for done in (1, 3, len(kept)):
        passes = []

        def counted(passes=passes):
            passes.append(1)
            return stream(Z)()

        again = fit_on_stream(counted, labels, 3, 1e-4, n_columns=10, checkpoints=Kept(kept[:done]))
        np.testing.assert_array_equal(again.coef, whole.coef)
        assert again.n_iter == whole.n_iter
        assert len(passes) == len(kept) - done + 1  # one pass more is that of the Gram matrix


def test_the_bound_saves_most_of_the_passes(monkeypatch):
    """Columns of different lengths, as those of features with weights have."""
    Z, labels, _ = problem(n=2000, n_columns=30, n_classes=5)
    Z = Z * np.geomspace(0.03, 3, 30)
    own = fit_on_stream(stream(Z), labels, 5, 1e-4, n_columns=30)
    monkeypatch.setattr(Problem, "factor_of_bound", lambda self: np.eye(30))
    plain = fit_on_stream(stream(Z), labels, 5, 1e-4, n_columns=30)
    assert plain.converged
    assert 2 * own.n_iter < plain.n_iter


def test_the_gram_matrix_of_some_chunks_replaces_that_of_all(monkeypatch):
    Z, labels, _ = problem(n=6000, n_columns=10, n_classes=3)
    whole = fit_on_stream(stream(Z, 500), labels, 3, 1e-3, n_columns=10)
    monkeypatch.setattr(boehning, "GRAM_ROWS", 1000)
    some = fit_on_stream(stream(Z, 500), labels, 3, 1e-3, n_columns=10)
    assert some.converged
    assert abs(objective(some.coef, Z, labels, 1e-3) - objective(whole.coef, Z, labels, 1e-3)) <= 1e-4
    factor = Problem(stream(Z, 500), labels, 3, 1e-3, 10).factor_of_bound()
    rows = np.concatenate([Z[i : i + 500] for i in (0, 3000)])
    system = 1e-3 * np.eye(10) + 0.5 * rows.T @ rows / len(rows)
    np.testing.assert_allclose(factor @ factor.T, system, rtol=1e-9)


def test_no_block_is_longer_than_it_came():
    Z, labels, _ = problem(n=3000, n_columns=10, n_classes=3)
    largest = []

    def watched():
        for rows, block in stream(Z, 256)():
            largest.append(len(block))
            yield rows, block

    own = Problem(watched, labels, 3, 1e-3, 10)
    _, gradient = own.at(np.zeros((10, 3)))
    assert max(largest) == 256
    assert gradient.shape == (10, 3)
    assert own.factor_of_bound().shape == (10, 10)
    assert "gram" not in vars(own.design)


def test_labels_that_are_no_class_and_features_that_are_not_finite_are_refused():
    Z, labels, _ = problem(n=50, n_columns=4, n_classes=3)
    with pytest.raises(ValueError, match="labels must be 0 to 1, got 0 to 2"):
        fit_on_stream(stream(Z), labels, 2, 1e-3, n_columns=4)
    Z[7, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        fit_on_stream(stream(Z), labels, 3, 1e-3, n_columns=4)


def test_a_fit_that_gives_up_says_so_and_shows_every_step():
    Z, labels, _ = problem(n=200, n_columns=8, n_classes=3)
    shown = []
    model = fit_on_stream(
        stream(Z), labels, 3, 1e-5, n_columns=8, max_passes=3, progress=lambda *each: shown.append(each)
    )
    assert not model.converged
    assert model.n_iter <= 5
    assert [passes for passes, _, _ in shown] == sorted({passes for passes, _, _ in shown})
    assert shown[-1][2] == pytest.approx(objective(model.coef, Z, labels, 1e-5))
