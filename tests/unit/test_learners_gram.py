"""Kernel SVM on a kernel matrix against scikit-learn, what both fits on it refuse, and multiple-kernel learning."""

import numpy as np
import pytest
from linear_problems import problem, stream
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from random_features.learners import gram, multiple_kernel
from random_features.learners.gram import MAX_ROWS, fit_kernel_ridge, fit_kernel_svm
from random_features.learners.l1_svm import cross_validate_l1_svm, fit_l1_svm
from random_features.learners.multiple_kernel import GAP, fit_multiple_kernel_svm


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_kernel_svm_equals_svc(C):
    X, labels, Y = problem(150, 3)
    new = problem(60, 3, seed=1)[0]
    model = fit_kernel_svm(rbf_kernel(X), Y, C)
    reference = SVC(C=C, gamma=1 / X.shape[1], tol=1e-6).fit(X, labels)
    # libsvm stops where the optimality conditions are violated by 1e-4 of a margin
    np.testing.assert_allclose(model.decision(rbf_kernel(new, X))[:, 0], reference.decision_function(new), atol=1e-2)


def test_the_steps_of_libsvm_have_a_limit(monkeypatch):
    (Z, _, Y), folds = problem(60, 5), np.arange(60) % 3
    K = 1e4 * Z @ Z.T
    monkeypatch.setattr(gram, "LIBSVM_MAX_ITERATIONS", 3)
    for model in (fit_kernel_svm(K, Y, 1.0), fit_l1_svm(stream(100 * Z), Y, 1.0, n_columns=5)):
        assert (model.converged, model.n_iter) == (False, 3)
    with pytest.warns(ConvergenceWarning, match="6 of 6 l1-SVM fits of a cross-validation did not converge"):
        cross_validate_l1_svm(stream(Z), Y, [1.0, 9.0], folds, n_columns=5)


both = pytest.mark.parametrize("fit", [fit_kernel_ridge, fit_kernel_svm])


@both
def test_a_matrix_that_is_no_kernel_matrix_is_refused(fit):
    X, _, Y = problem(20, 3)
    K = X @ X.T
    missing = np.where(np.arange(400).reshape(20, 20) == 0, np.nan, K)
    for wrong, message in (
        (K[:, :19], r"shape \(20, 20\)"), (missing, "kernel matrix holds NaN"), (np.triu(K), "symmetric"),
        (K + 1j * K, "no real number"), (K.astype(str), "no real number"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            fit(wrong, Y, 1.0)
    assert fit(K.astype(np.float32), Y, 1.0).converged


@both
def test_more_rows_than_fit_are_refused_before_anything_is_computed(fit):
    n = MAX_ROWS + 1
    K = np.broadcast_to(0.0, (n, n))  # no memory behind it
    with pytest.raises(ValueError, match="15001 rows are more than the 15000"):
        fit(K, np.where(np.arange(n) % 2, 1.0, -1.0), 1.0)


def test_options_and_targets_are_checked():
    X, _, Y = problem(20, 3)
    K = rbf_kernel(X)
    with pytest.raises(ValueError, match="center must be"):
        fit_kernel_ridge(K, Y, 1.0, center="features")
    with pytest.raises(ValueError, match="one class only"):
        fit_kernel_svm(K, np.ones(20), 1.0)


RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, (120, 2))
Y = np.where(np.sin(4 * X[:, :1]) + 0.2 * RNG.standard_normal((120, 1)) > 0, 1.0, -1.0)
GRAMS = np.stack([X @ X.T, rbf_kernel(X, gamma=0.5), rbf_kernel(X, gamma=50.0)])


def optimum(K, y, C):
    """The objective of the machine on one kernel matrix, by scikit-learn."""
    dual = np.zeros(len(y))
    model = SVC(kernel="precomputed", C=C, tol=1e-8).fit(K, y)
    dual[model.support_] = model.dual_coef_[0]
    return np.abs(dual).sum() - 0.5 * dual @ K @ dual


@pytest.mark.parametrize("C", [0.3, 1.0, 10.0])
def test_no_weights_on_a_grid_are_better_by_more_than_the_gap(C):
    with pytest.raises(ValueError, match="the targets must have one column, got 2: fit one machine for each"):
        fit_multiple_kernel_svm(GRAMS, np.hstack([Y, -Y]), C)
    model, weights = fit_multiple_kernel_svm(GRAMS, Y, C)
    assert model.converged
    assert weights.min() >= 0
    assert weights.sum() == pytest.approx(1)
    own = optimum(np.tensordot(weights, GRAMS, 1), Y[:, 0], C)
    steps = [i / 10 for i in range(11)]
    on_grid = [np.array([a, b, 1 - a - b]) for a in steps for b in steps if a + b <= 1 + 1e-9]
    best = min(optimum(np.tensordot(np.clip(each, 0, 1), GRAMS, 1), Y[:, 0], C) for each in on_grid)
    assert own <= best + GAP * own * 1.1  # libsvm stops at 1e-4 of a margin
    alone = min(optimum(gram, Y[:, 0], C) for gram in GRAMS)
    assert own <= alone + GAP * own * 1.1


def test_the_machine_is_that_of_the_combined_kernel():
    model, weights = fit_multiple_kernel_svm(GRAMS, Y, 1.0)
    combined = np.tensordot(weights, GRAMS, 1)
    reference = SVC(kernel="precomputed", C=1.0, tol=1e-6).fit(combined, Y[:, 0])
    np.testing.assert_allclose(model.decision(combined)[:, 0], reference.decision_function(combined), atol=1e-2)


def test_a_kernel_that_says_nothing_gets_little_weight_and_one_kernel_all():
    useful = rbf_kernel(X, gamma=2.0)
    noise = np.eye(len(X)) * 1e-6
    _, weights = fit_multiple_kernel_svm(np.stack([useful, noise]), Y, 1.0)
    assert weights[0] > 0.9
    model, weights = fit_multiple_kernel_svm(useful[None], Y, 1.0)
    assert weights.tolist() == [1.0]
    assert model.n_iter == 1


def test_turns_that_end_before_the_gap_is_closed_are_reported(monkeypatch):
    monkeypatch.setattr(multiple_kernel, "MAX_TURNS", 1)
    model, weights = fit_multiple_kernel_svm(GRAMS, Y, 10.0)
    assert not model.converged
    np.testing.assert_allclose(weights, 1 / 3)
