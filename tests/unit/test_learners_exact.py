"""Kernel ridge and kernel SVM on a kernel matrix, against scikit-learn and their linear twins."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from random_features.learners import exact, gram
from random_features.learners.exact import (
    cross_validate_kernel_ridge,
    cross_validate_kernel_svm,
    fit_kernel_ridge,
    fit_kernel_svm,
)
from random_features.learners.ridge import cross_validate_ridge
from random_features.learners.svm import cross_validate_svm, fit_svm
from rfstudy.data.target import decode_labels, encode_labels

EPS = np.finfo(np.float64).eps


def stream(Z):
    return lambda: iter([(slice(0, len(Z)), Z)])


def problem(n=150, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    evidence = np.sin(2 * X) @ rng.standard_normal((3, n_classes)) + 0.3 * rng.standard_normal((n, n_classes))
    labels = evidence.argmax(axis=1)
    return X, labels, encode_labels(labels)[0]


def test_kernel_ridge_equals_scikit_learn():
    X, _, Y = problem(n_classes=3)
    new = problem(40, seed=1)[0]
    model = fit_kernel_ridge(rbf_kernel(X), Y, 0.01, center="none")
    reference = KernelRidge(alpha=0.01 * len(X), kernel="precomputed").fit(rbf_kernel(X), Y)
    # condition n / (n penalty) = 100, D eps of either solver
    bound = 100 * len(X) * EPS * 100
    np.testing.assert_allclose(model.dual_coef, reference.dual_coef_, rtol=0, atol=bound)
    np.testing.assert_allclose(
        model.decision(rbf_kernel(new, X)), rbf_kernel(new, X) @ reference.dual_coef_, atol=bound
    )
    assert model.solver == "dual"


@pytest.mark.parametrize("scaling", ["mean", "sum"])
@pytest.mark.parametrize("center", ["targets", "both", "none"])
def test_cross_validated_kernel_ridge_on_a_linear_kernel_is_cross_validated_ridge(center, scaling):
    X, _, Y = problem()
    folds = np.arange(len(X)) % 4
    grid = np.geomspace(1e-3, 10, 7)
    kernel = cross_validate_kernel_ridge(X @ X.T, Y, grid, folds, scaling=scaling, center=center, score="mse")
    linear = cross_validate_ridge(stream(X), Y, grid, folds, n_columns=3, scaling=scaling, center=center, score="mse")
    # K has condition |X|^2 / penalty = 450 / 1e-3 at worst, squared errors are about 1
    np.testing.assert_allclose(kernel, linear, rtol=0, atol=100 * len(X) * EPS * 5e5)


def test_cross_validated_kernel_ridge_leaves_out_a_singular_penalty():
    X, _, Y = problem(40)
    scores = cross_validate_kernel_ridge(X @ X.T, Y, [1.0, 0.0], np.arange(40) % 2)
    np.testing.assert_array_equal(np.isnan(scores), [[False, False], [True, True]])
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        fit_kernel_ridge(X @ X.T, Y, 0.0)


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_kernel_svm_equals_svc(C):
    X, labels, Y = problem()
    new = problem(60, seed=1)[0]
    model = fit_kernel_svm(rbf_kernel(X), Y, C)
    reference = SVC(C=C, gamma=1 / X.shape[1], tol=1e-6).fit(X, labels)
    assert model.converged
    # libsvm stops where the optimality conditions are violated by 1e-4 of a margin
    np.testing.assert_allclose(model.decision(rbf_kernel(new, X))[:, 0], reference.decision_function(new), atol=1e-2)


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("intercept", ["none", "unpenalised"])
def test_squared_hinge_on_a_linear_kernel_is_the_linear_svm(intercept, C):
    X, _, Y = problem(n_classes=3)
    kernel = fit_kernel_svm(X @ X.T, Y, C, loss="squared_hinge", intercept=intercept)
    linear = fit_svm(stream(X), Y, C, n_rows=len(X), n_columns=3, solver="newton", intercept=intercept)
    assert kernel.converged

    def objective(coef, bias):
        slack = np.maximum(0, 1 - Y * (X @ coef + bias))
        return 0.5 * (coef**2).sum(axis=0) + C * (slack**2).sum(axis=0)

    np.testing.assert_allclose(
        objective(X.T @ kernel.dual_coef, kernel.intercept),
        objective(linear.coef, linear.intercept),
        rtol=2 * gram.GAP_TOLERANCE,
    )
    if intercept == "none":
        assert (kernel.intercept == 0).all()
    else:
        # the multipliers of a free intercept add up to zero
        assert np.abs(kernel.dual_coef.sum(axis=0)).max() <= 1e-3 * np.abs(kernel.dual_coef).sum()


@pytest.mark.parametrize("C", [1.0, 1e3, 1e5])
@pytest.mark.parametrize("intercept", ["none", "unpenalised"])
def test_squared_hinge_meets_its_optimality_conditions_on_a_kernel_of_full_rank(intercept, C):
    X, _, Y = problem(300)
    K = rbf_kernel(X)
    model = fit_kernel_svm(K, Y, C, loss="squared_hinge", intercept=intercept)
    assert model.converged
    assert model.n_iter >= 2
    slack = np.maximum(0, 1 - Y * model.decision(K))
    residual = model.dual_coef - 2 * C * Y * slack
    value = 0.5 * (model.dual_coef * (K @ model.dual_coef)).sum() + C * (slack**2).sum()
    # the duality gap, half the squared norm of the gradient in the space of the kernel
    assert 0.5 * (residual * (K @ residual)).sum() <= 1.01 * gram.GAP_TOLERANCE * value


@pytest.mark.parametrize(("loss", "intercept"), [("hinge", "unpenalised"), ("squared_hinge", "none")])
def test_cross_validated_kernel_svm_equals_one_fit_per_fold(loss, intercept):
    X, labels, Y = problem(n_classes=3)
    K, folds = rbf_kernel(X), np.arange(len(X)) % 3
    scores = cross_validate_kernel_svm(K, Y, [0.1, 10.0], folds, loss=loss, intercept=intercept)
    for i, C in enumerate([0.1, 10.0]):
        for fold in range(3):
            out = folds == fold
            model = fit_kernel_svm(K[np.ix_(~out, ~out)], Y[~out], C, loss=loss, intercept=intercept)
            predicted = decode_labels(model.decision(K[np.ix_(out, ~out)]), np.unique(labels))
            assert scores[i, fold] == pytest.approx(100 * np.mean(predicted == labels[out]), rel=1e-12)


def test_the_linear_svm_and_the_kernel_svm_score_alike():
    X, _, Y = problem()
    folds = np.arange(len(X)) % 3
    chosen = {"loss": "hinge", "intercept": "unpenalised"}
    linear = cross_validate_svm(stream(X), Y, [1.0], folds, n_rows=len(X), n_columns=3, **chosen)
    np.testing.assert_array_equal(linear, cross_validate_kernel_svm(X @ X.T, Y, [1.0], folds, **chosen))


def test_bad_matrices_are_refused():
    X, _, Y = problem(20)
    K = rbf_kernel(X)
    with pytest.raises(ValueError, match=r"shape \(20, 20\)"):
        fit_kernel_ridge(K[:, :19], Y, 1.0)
    K[0, 0] = np.nan
    for fit in (fit_kernel_ridge, fit_kernel_svm):
        with pytest.raises(ValueError, match="kernel matrix holds NaN"):
            fit(K, Y, 1.0)


def test_more_rows_than_fit_are_refused_before_anything_is_computed():
    n = exact.MAX_ROWS + 1
    K = np.broadcast_to(0.0, (n, n))  # no memory behind it
    Y = np.where(np.arange(n) % 2, 1.0, -1.0)
    for call in (
        lambda: fit_kernel_ridge(K, Y, 1.0),
        lambda: fit_kernel_svm(K, Y, 1.0),
        lambda: cross_validate_kernel_ridge(K, Y, [1.0], np.arange(n) % 3),
        lambda: cross_validate_kernel_svm(K, Y, [1.0], np.arange(n) % 3),
    ):
        with pytest.raises(ValueError, match="15001 rows are more than the 15000"):
            call()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "hinge", "intercept": "none"}, "unpenalised intercept only"),
        ({"loss": "logistic"}, "loss must be"),
        ({"intercept": "penalised"}, "intercept 'none' or"),
    ],
)
def test_options_without_a_solver_say_so(options, message):
    X, _, Y = problem(20)
    with pytest.raises(ValueError, match=message):
        fit_kernel_svm(rbf_kernel(X), Y, 1.0, **options)


def test_options_and_targets_are_checked():
    X, _, Y = problem(20)
    K = rbf_kernel(X)
    with pytest.raises(ValueError, match="center must be"):
        fit_kernel_ridge(K, Y, 1.0, center="features")
    with pytest.raises(ValueError, match="scaling must be"):
        cross_validate_kernel_ridge(K, Y, [1.0], np.arange(20) % 2, scaling="half")
    with pytest.raises(ValueError, match="one class only"):
        fit_kernel_svm(K, np.ones(20), 1.0)


def test_a_matrix_that_is_no_kernel_matrix_is_refused():
    X, _, Y = problem(n_classes=2)
    K = X @ X.T
    for wrong in (np.triu(K), K + 1j * K, K.astype(str)):
        with pytest.raises(ValueError, match=r"symmetric|no real number"):
            fit_kernel_svm(wrong, Y, 1.0)
        with pytest.raises(ValueError, match=r"symmetric|no real number"):
            fit_kernel_ridge(wrong, Y, 1.0)
    assert fit_kernel_ridge(K.astype(np.float32), Y, 1.0).converged
