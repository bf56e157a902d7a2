"""Kernel ridge and kernel SVM on a kernel matrix, against scikit-learn and their linear twins."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from random_features.learners.gram import MAX_ROWS, fit_kernel_ridge, fit_kernel_svm
from rfstudy.data.target import Target

EPS = np.finfo(np.float64).eps


def problem(n=150, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    evidence = np.sin(2 * X) @ rng.standard_normal((3, n_classes)) + 0.3 * rng.standard_normal((n, n_classes))
    labels = evidence.argmax(axis=1)
    return X, labels, Target("classes").encode(labels)[0]


def test_kernel_ridge_equals_scikit_learn():
    X, _, Y = problem(n_classes=3)
    new = problem(40, seed=1)[0]
    model = fit_kernel_ridge(rbf_kernel(X), Y, 0.01, center="none")
    reference = KernelRidge(alpha=0.01 * len(X), kernel="precomputed").fit(rbf_kernel(X), Y)
    # condition n / (n penalty) = 100, D eps of either solver
    bound = 100 * len(X) * EPS * 100
    np.testing.assert_allclose(model.coef, reference.dual_coef_, rtol=0, atol=bound)
    np.testing.assert_allclose(
        model.decision(rbf_kernel(new, X)), rbf_kernel(new, X) @ reference.dual_coef_, atol=bound
    )
    assert model.solver == "dual"


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_kernel_svm_equals_svc(C):
    X, labels, Y = problem()
    new = problem(60, seed=1)[0]
    model = fit_kernel_svm(rbf_kernel(X), Y, C)
    reference = SVC(C=C, gamma=1 / X.shape[1], tol=1e-6).fit(X, labels)
    assert model.converged
    # libsvm stops where the optimality conditions are violated by 1e-4 of a margin
    np.testing.assert_allclose(model.decision(rbf_kernel(new, X))[:, 0], reference.decision_function(new), atol=1e-2)


both = pytest.mark.parametrize("fit", [fit_kernel_ridge, fit_kernel_svm])


@both
def test_a_matrix_that_is_no_kernel_matrix_is_refused(fit):
    X, _, Y = problem(20)
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
    X, _, Y = problem(20)
    K = rbf_kernel(X)
    with pytest.raises(ValueError, match="center must be"):
        fit_kernel_ridge(K, Y, 1.0, center="features")
    with pytest.raises(ValueError, match="one class only"):
        fit_kernel_svm(K, np.ones(20), 1.0)
