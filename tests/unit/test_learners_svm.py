"""Linear SVMs: the Newton solver against LIBLINEAR and a general optimiser, the routes, and what they report."""

import warnings

import numpy as np
import pytest
from linear_problems import counted, problem, stream
from scipy.optimize import minimize

from random_features.learners import design, newton, streams, svm
from random_features.learners.svm import cross_validate_svm, fit_svm

CS = [0.01, 0.1, 1.0, 10.0, 100.0]


def objective(model, Z, Y, C):
    """|w|^2 / 2 + C sum max(0, 1 - y w.z)^2 for every column, written out."""
    slack = np.maximum(0, 1 - Y * (Z.astype(np.float64) @ model.coef))
    return 0.5 * (model.coef**2).sum(axis=0) + C * (slack**2).sum(axis=0)


def options(Z, **more):
    return {"n_columns": Z.shape[1], **more}


@pytest.mark.parametrize(("n_classes", "dtype"), [(2, np.float64), (4, np.float32)])
@pytest.mark.parametrize("C", CS)
def test_newton_is_within_its_certificate_of_a_general_optimiser_and_liblinear_close_to_it(C, n_classes, dtype):
    Z, _, Y = problem(n_classes=n_classes, dtype=dtype)
    ours, theirs = (fit_svm(stream(Z, 37), Y, C, **options(Z, solver=each)) for each in ("newton", "liblinear"))

    def value_and_gradient(w, y):
        slack = np.maximum(0, 1 - y * (Z @ w))
        return 0.5 * w @ w + C * slack @ slack, w - 2 * C * Z.T @ (y * slack)

    start, how = np.zeros(Z.shape[1]), {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 20_000, "maxfun": 40_000}
    fits = [minimize(value_and_gradient, start, y, jac=True, method="L-BFGS-B", options=how) for y in Y.T]
    lowest, found = np.array([each.fun for each in fits]), objective(ours, Z, Y, C)
    assert (found <= lowest * (1 + newton.TOLERANCE)).all()
    assert (found >= lowest * (1 - 1e-8)).all()  # the optimiser's own error
    np.testing.assert_allclose(objective(theirs, Z, Y, C), lowest, rtol=1e-4)
    assert (ours.solver, theirs.solver) == ("newton", "liblinear")
    assert (ours.converged, theirs.converged, np.any(ours.intercept)) == (True, True, False)
    # Newton's method on a piecewise quadratic ends once the active rows are found, in about ten steps
    assert ours.n_iter <= 12


@pytest.mark.parametrize("tolerance", [0.01, 0.1, 1.0])
@pytest.mark.parametrize("C", [0.1, 100.0])
def test_both_solvers_stop_by_the_rule_of_liblinear(C, tolerance):
    Z, _, Y = problem(n=2000, n_columns=60, n_classes=3)

    def gradients(coef):
        slack = np.maximum(0, 1 - Y * (Z @ coef))
        return np.linalg.norm(coef - 2 * C * Z.T @ (Y * slack), axis=0)

    positive = (Y > 0).sum(axis=0)
    limits = tolerance * np.minimum(positive, len(Y) - positive) / len(Y) * gradients(np.zeros((60, 3)))
    lowest = objective(fit_svm(stream(Z), Y, C, **options(Z, solver="newton")), Z, Y, C)
    steps = []
    for solver in ("newton", "liblinear"):
        model = fit_svm(stream(Z, 300), Y, C, **options(Z, solver=solver, tolerance=tolerance))
        assert (gradients(model.coef) <= 1.001 * limits).all()
        assert model.converged
        steps.append(model.n_iter)
        # gradients of one length leave objectives of one size: the strong convexity bounds them
        assert (objective(model, Z, Y, C) <= lowest + limits**2 / 2 + 1e-6 * lowest).all()
    assert steps[0] <= fit_svm(stream(Z), Y, C, **options(Z, solver="newton")).n_iter
    scores = [
        cross_validate_svm(stream(Z), Y, [C], np.arange(2000) % 3, **options(Z, solver=solver, tolerance=tolerance))
        for solver in ("newton", "liblinear")
    ]
    np.testing.assert_allclose(*scores, atol=1.0 if tolerance < 1 else 5.0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_features_streamed_in_odd_blocks_and_kept_give_one_objective(dtype, monkeypatch):
    Z, _, Y = problem(n=200, n_columns=30, dtype=dtype)
    reads = []
    kept = fit_svm(counted(Z, reads, 200), Y, 10.0, **options(Z, solver="newton"))
    # one block holds all rows: it is read once, for its size and for good
    assert len(reads) == 1
    monkeypatch.setattr(streams, "MEMORY_BUDGET", 0)
    for rows in (1, 7, 199):
        reads.clear()
        streamed = fit_svm(counted(Z, reads, rows), Y, 10.0, **options(Z, solver="newton"))
        assert len(reads) > 10
        np.testing.assert_allclose(objective(streamed, Z, Y, 10.0), objective(kept, Z, Y, 10.0), rtol=1e-6)


def test_without_a_preconditioner_the_solution_is_the_same(monkeypatch):
    Z, _, Y = problem()
    chosen = options(Z, solver="newton")
    with_it = fit_svm(stream(Z), Y, 10.0, **chosen)
    monkeypatch.setattr(design, "PRECONDITIONED_COLUMNS", 0)
    without = fit_svm(stream(Z), Y, 10.0, **chosen)
    assert without.converged
    found, expected = (objective(model, Z, Y, 10.0) for model in (without, with_it))
    np.testing.assert_allclose(found, expected, rtol=2 * newton.TOLERANCE)


def test_the_newton_cross_validation_reads_a_stream_as_often_as_its_slowest_fold(monkeypatch):
    monkeypatch.setattr(streams, "MEMORY_BUDGET", 0)
    Z, _, Y = problem(n=300)
    together, alone, folds = [], [], np.arange(300) % 5
    cross_validate_svm(counted(Z, together, 100), Y, [1.0], folds, **options(Z, solver="newton"))
    for part in (folds != fold for fold in range(5)):
        fit_svm(counted(Z[part], alone, 100), Y[part], 1.0, **options(Z[part], solver="newton"))
    assert len(together) < len(alone) / 2


def test_fits_of_a_grid_at_once_are_those_one_after_the_other(monkeypatch):
    """As on a GPU: every value of C is a group of its own, from zero."""
    Z, _, Y = problem(n=600, n_columns=20, n_classes=3)
    folds, how = np.arange(600) % 3, options(Z, solver="newton", score="mse")
    expected = cross_validate_svm(stream(Z), Y, CS[::-1], folds, **how)
    passes, transposed = [], design.Design.transposed
    monkeypatch.setattr(design.Design, "transposed", lambda self, *each: passes.append(1) or transposed(self, *each))
    cross_validate_svm(stream(Z), Y, CS[::-1], folds, **how)
    one_by_one, passes[:] = len(passes), []
    monkeypatch.setattr(newton, "fits_at_once", lambda *_: True)
    np.testing.assert_allclose(cross_validate_svm(stream(Z), Y, CS[::-1], folds, **how), expected, rtol=1e-3)
    assert len(passes) < one_by_one / 2


def test_the_route_follows_the_size():
    assert svm.choose_solver(99_999, "auto") == "liblinear"
    assert svm.choose_solver(100_000, "auto") == "newton"
    assert svm.choose_solver(10, "newton") == "newton"
    assert svm.choose_solver(10**9, "liblinear") == "liblinear"
    with pytest.raises(ValueError, match="solver must be"):
        svm.choose_solver(10, "smo")


def test_an_absurd_c_ends_with_finite_numbers():
    Z, _, Y = problem(n=60)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fit_svm(stream(Z), Y, 1e18, **options(Z, solver="newton"))
    assert np.isfinite(model.coef).all()


def test_targets_and_folds_are_checked():
    Z, _, Y = problem(n=40)
    with pytest.raises(ValueError, match="one class only"):
        fit_svm(stream(Z), np.ones(40), 1.0, **options(Z))
    with pytest.raises(ValueError, match="ended after 40 of 41 rows"):
        fit_svm(stream(Z), np.append(Y, 1.0), 1.0, **options(Z))
    with pytest.raises(ValueError, match="one class only"):  # LIBLINEAR took the sign that is left for +1
        fit_svm(stream(Z), Y, 1.0, solver="liblinear", weights=(Y[:, 0] < 0).astype(float), **options(Z))
    sorted_labels = np.where(np.arange(40) < 20, 1.0, -1.0)
    with pytest.raises(ValueError, match="fold 0 hold one class only"):
        cross_validate_svm(stream(Z), sorted_labels, [1.0], (np.arange(40) >= 20).astype(int), **options(Z))


def test_newton_on_the_rows_and_on_the_columns_find_one_minimum(monkeypatch):
    Z, _, Y = problem(n=100, n_columns=200)
    grid, folds = [0.01, 1.0, 100.0], np.arange(len(Z)) % 4
    how = options(Z, solver="newton")
    on_rows = [fit_svm(stream(Z), Y, C, **how) for C in grid]
    scores = cross_validate_svm(stream(Z), Y, grid, folds, **how)
    monkeypatch.setattr(streams, "MEMORY_BUDGET", 0)
    for C, dual in zip(grid, on_rows, strict=True):
        primal = fit_svm(stream(Z), Y, C, **how)
        assert (dual.converged, primal.converged) == (True, True)
        # both stop within 1e-6 of the optimum, by the duality gap
        np.testing.assert_allclose(objective(dual, Z, Y, C), objective(primal, Z, Y, C), rtol=1e-6)
    # a row of a fold is 4 points; the two may differ on one that lies on the boundary
    np.testing.assert_allclose(scores, cross_validate_svm(stream(Z), Y, grid, folds, **how), atol=4.0)


@pytest.mark.parametrize(("C", "factor"), [(1e-200, 1.0), (1e200, 1.0), (1.0, 1e100), (1.0, 1e-150), (1e-200, 1e160)])
def test_where_liblinear_would_not_end_the_fit_has_no_solution(C, factor, monkeypatch):
    def called(**_):
        raise AssertionError("LIBLINEAR is called, which would go on for ever")

    monkeypatch.setattr(svm, "LinearSVC", called)
    Z, _, Y = problem(60, 3)
    Z = factor * Z
    with pytest.raises(np.linalg.LinAlgError, match="LIBLINEAR does not end at C = "):
        fit_svm(stream(Z), Y, C, solver="liblinear", **options(Z))
    scores = cross_validate_svm(stream(Z), Y, [C], np.arange(60) % 3, solver="liblinear", **options(Z))
    assert np.isnan(scores).all()


@pytest.mark.parametrize(
    ("C", "largest", "ends"),
    [
        (1.1e-100, 1.0, True), (0.9e-100, 1.0, False), (0.9e99, 1.0, True), (1.1e99, 1.0, False),
        (1.0, 0.9e-100, False), (1.0, 1e-50, True), (1e-50, 1.1e-50, False), (1.0, 1e49, True), (1.0, 1e50, False),
        (1.1e-100, 0.0, True), (0.9e-100, 0.0, False), (1e100, 0.0, True), (1.1e100, 0.0, False),
    ],
)  # fmt: skip
def test_the_range_that_liblinear_is_called_in_has_both_ends(C, largest, ends):
    """C, C times the largest of 10 rows of features, and 10 times C times its square."""
    Z = np.full((10, 2), largest) * [1.0, -0.5]
    if ends:
        assert svm.check_liblinear(Z, C) is None
    else:
        with pytest.raises(np.linalg.LinAlgError, match="LIBLINEAR does not end at C = "):
            svm.check_liblinear(Z, C)


def test_features_that_are_all_zero_are_no_reason_to_refuse():
    Z, _, Y = problem(60, 3)
    assert not fit_svm(stream(0.0 * Z), Y, 1.0, solver="liblinear", **options(Z)).coef.any()
