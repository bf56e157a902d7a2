"""Kernel ridge regression by conjugate gradients: equal to Cholesky, certified, resumed, and streamed."""

import numpy as np
import pytest
import torch
from in_memory import Checkpoints, torch_threads
from scipy.sparse import csc_array, csr_matrix

from random_features.kernels import Gaussian, Laplacian, Polynomial
from random_features.learners import kernel_ridge
from random_features.learners.gram import fit_kernel_ridge
from random_features.learners.kernel_ridge import fit_kernel_ridge_by_tiles, kernel_product, predict_by_tiles

N, D, PENALTY = 700, 4, 1e-5
KERNEL = Gaussian(1.5)
RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(N, D)), RNG.normal(size=(50, D))
Y = np.column_stack([np.sin(2 * X[:, 0]), X[:, 1] + 3.0]) + 0.1 * RNG.normal(size=(N, 2))


@pytest.mark.parametrize(("penalty", "weight"), [(PENALTY, 1), (PENALTY, 1e9), (100.0, 1), (100.0, 1e-9)])
@pytest.mark.parametrize("center", ["targets", "none"])
@pytest.mark.parametrize("kernel", [KERNEL, Laplacian(2.0), Polynomial(2, 1.0)], ids=repr)
def test_it_is_the_solution_by_cholesky(kernel, center, penalty, weight):
    how = {"center": center, "weights": np.full(N, weight)}
    model = fit_kernel_ridge_by_tiles(kernel, X, Y, penalty, rank=100, tolerance=1e-10, **how)
    exact = fit_kernel_ridge(kernel(X), Y, penalty, **how)
    assert (model.converged, exact.solver) == (True, "dual")
    # dual coefficients differ by the residual over the shift at most
    atol = 2e-10 * np.linalg.norm(Y) / (N * penalty)
    np.testing.assert_allclose(model.coef, exact.coef, atol=atol)
    np.testing.assert_allclose(model.intercept, exact.intercept)
    with pytest.warns(FutureWarning, match="predict_streamed is now called predict_by_tiles; the old name will go"):
        found = kernel_ridge.predict_streamed(kernel, X, model, NEW)
    np.testing.assert_allclose(found, exact.decision(kernel(NEW, X)), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("max_iter", [0, 1, 5])
def test_the_residual_and_the_bound_of_a_fit_that_stops_early_are_true(max_iter):
    """From the kernel matrix; the bound of the error of predictions is kept at new rows, and not by a wide margin."""
    model = fit_kernel_ridge_by_tiles(KERNEL, X, Y, PENALTY, rank=5, max_iter=max_iter)
    assert (model.converged, model.n_iter) == (False, max_iter)
    K, targets = KERNEL(X), Y - Y.mean(axis=0)
    residual = targets - K @ model.coef - N * PENALTY * model.coef
    left, whole = (np.linalg.norm(each, axis=0) for each in (residual, targets))
    np.testing.assert_allclose(model.residual, left / whole, rtol=1e-9)
    exact = fit_kernel_ridge(K, Y, PENALTY).decision(KERNEL(NEW, X))
    errors = np.abs(predict_by_tiles(KERNEL, X, model, NEW) - exact).max(axis=0)
    assert (errors < model.prediction_error).all()
    assert (errors > model.prediction_error / 1000).all()


def test_the_preconditioner_makes_the_steps_few():
    """At a rank that leaves a trace below the shift, the condition number is at most 2: each step divides the error by
    (sqrt(2) + 1) / (sqrt(2) - 1) = 5.8, that is by 1e8 in eleven steps; without it hundreds are needed."""
    steps = [fit_kernel_ridge_by_tiles(KERNEL, X, Y, 1e-3, rank=rank, weights=np.full(N, weight)).n_iter
             for rank, weight in ((1, 1), (700, 1), (700, 100))]  # fmt: skip
    assert max(steps[1:]) <= 12 < 40 < steps[0]


def test_a_killed_fit_continues_from_its_last_iterate(monkeypatch):
    monkeypatch.setattr(kernel_ridge, "CHECKPOINT_SECONDS", 0)
    how = {"rank": 20, "checkpoints": (store := Checkpoints())}
    whole = fit_kernel_ridge_by_tiles(KERNEL, X, Y, PENALTY, **how)
    assert len(store) == whole.n_iter > 20
    half = whole.n_iter // 2
    resumed = fit_kernel_ridge_by_tiles(KERNEL, X, Y, PENALTY, rank=20, checkpoints=Checkpoints(store[:half]))
    assert resumed.converged
    assert half < resumed.n_iter
    np.testing.assert_allclose(resumed.coef, whole.coef, atol=2e-8 * np.linalg.norm(Y) / (N * PENALTY))
    done = fit_kernel_ridge_by_tiles(KERNEL, X, Y, PENALTY, rank=20, checkpoints=Checkpoints(store))
    np.testing.assert_array_equal(done.coef, whole.coef)
    assert done.n_iter == whole.n_iter


@pytest.mark.parametrize("tile", [64, 700, 1000])
@pytest.mark.parametrize("threads", [1, 3])
def test_products_do_not_depend_on_tiles_threads_and_sparse_rows(tile, threads, monkeypatch):
    monkeypatch.setattr(kernel_ridge, "TILE", tile)
    with torch_threads(threads):
        for rows in (X, csr_matrix(X), csc_array(X)):
            np.testing.assert_allclose(kernel_product(KERNEL, rows, Y), KERNEL(X) @ Y, rtol=1e-11, atol=1e-11)
            np.testing.assert_allclose(kernel_product(KERNEL, rows, Y, NEW), KERNEL(NEW, X) @ Y, atol=1e-11)
        assert torch.get_num_threads() == threads


def test_a_constant_target_needs_no_step():
    model = fit_kernel_ridge_by_tiles(KERNEL, X, np.ones(N), PENALTY, rank=10)
    assert (model.converged, model.n_iter, *model.residual) == (True, 0, 0.0)
    both = fit_kernel_ridge_by_tiles(KERNEL, X, np.column_stack([np.ones(N), Y[:, 0]]), PENALTY, rank=10)
    np.testing.assert_array_equal(both.coef[:, 0], 0.0)
    assert both.converged


@pytest.mark.parametrize(("changed", "message"), [
    ({"penalty": 0.0}, "penalty"), ({"center": "both"}, "center must be one of targets, none"),
    ({"Y": np.ones(N - 1)}, "X has 700 rows, the targets 699"), ({"Y": np.full(N, np.nan)}, "NaN"),
])  # fmt: skip
def test_what_has_no_solution_is_refused(changed, message):
    with pytest.raises(ValueError, match=message):
        fit_kernel_ridge_by_tiles(**({"kernel": KERNEL, "X": X, "Y": Y, "penalty": PENALTY} | changed))
    with pytest.raises(ValueError, match="X has 50 rows, and 700 rows are multiplied by their kernel values"):
        kernel_product(KERNEL, NEW, Y)
