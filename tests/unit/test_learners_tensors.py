"""Learners on tensors: the results of arrays, on the device of the features, which do not visit the host.

Numbers of which there is one per group, such as steps of Newton's method, may be on the host: a hundred at most.
"""

import itertools
from functools import partial

import linear_problems
import numpy as np
import pytest
import torch
from in_memory import keep_tensors_in_place

from random_features.kernels import Gaussian
from random_features.learners import gram, kernel_ridge, logistic, ridge, svm
from random_features.learners.ridge import cross_validate_ridge, fit_ridge, ridge_sums
from random_features.learners.shifted import refuse_singular, solve_shifted

PENALTIES = [1e-6, 1e-3, 1.0, 100.0]
stream = partial(linear_problems.stream, rows=130)


def data(dtype=np.float64, n=900, D=40, c=2):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(n, D)).astype(dtype)
    Y = np.where(Z[:, :c] + 0.3 * rng.normal(size=(n, c)) > 0, 1.0, -1.0)
    return Z, Y, rng.integers(0, 3, n), rng.integers(1, 4, n).astype(float)


@pytest.fixture
def host_is_far(monkeypatch):
    keep_tensors_in_place(monkeypatch, 100, ["numpy", "cpu", "tolist", "__array__"])
    monkeypatch.setattr("random_features.tensors.numpy_reads", lambda tensor: False)


DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.cuda)]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("dtype", "n"), [(np.float64, 900), (np.float32, 900), (np.float64, 120)])
@pytest.mark.parametrize(("center", "weighted"), [*itertools.product(("both", "targets", "none"), (False, True))])
def test_ridge_regression_of_tensors(device, dtype, n, center, weighted, host_is_far):
    Z, Y, folds, weights = data(dtype, n, D=150 if n < 150 else 40)
    how = {"n_columns": Z.shape[1], "center": center, "weights": weights if weighted else None}
    tensors = [torch.from_numpy(each).to(device).requires_grad_(weighted) for each in (Z, Y)]
    tensors[0] = stream(tensors[0])
    close = {"rtol": 1e-9, "atol": 1e-11} if dtype == np.float64 else {"rtol": 1e-4, "atol": 1e-6}
    expected, model = fit_ridge(stream(Z), Y, 1e-3, **how), fit_ridge(*tensors, 1e-3, **how)
    assert (model.coef.device.type, model.coef.requires_grad) == (device, False)
    np.testing.assert_allclose(torch.flatten(model.coef)[:80].tolist(), expected.coef.ravel()[:80], **close)
    for score in ("accuracy", "mse"):
        found = cross_validate_ridge(*tensors, PENALTIES, folds, score=score, **how)
        scores = cross_validate_ridge(stream(Z), Y, PENALTIES, folds, score=score, **how)
        np.testing.assert_allclose(found, scores, 1e-6)
    decision = model.decision(torch.from_numpy(Z[:3]).to(device))
    np.testing.assert_allclose(decision.tolist(), expected.decision(Z[:3]), **close)
    assert ridge.have_solutions(*tensors, [1e-3, 0.0], n_columns=Z.shape[1]).tolist() == [True, n == 900]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("weighted", [False, True])
def test_kernel_ridge_regression_of_tensors(device, weighted, host_is_far):
    X, Y, _, weights = data(n=120, D=3)
    K, new, weights = Gaussian(2.0)(X), Gaussian(2.0)(X[:7], X), weights if weighted else None
    there = [torch.from_numpy(each).to(device) for each in (K, Y, new)]
    for center in gram.CENTERS:
        model = gram.fit_kernel_ridge(*there[:2], 1e-3, center=center, weights=weights)
        assert model.coef.device.type == device
        expected = gram.fit_kernel_ridge(K, Y, 1e-3, center=center, weights=weights).decision(new)
        np.testing.assert_allclose(model.decision(there[2]).tolist(), expected, rtol=1e-8)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("weighted", [False, True])
def test_conjugate_gradients_on_tensors(device, weighted, monkeypatch):
    X, Y, _, weights = data(n=300, D=3)
    monkeypatch.setattr(kernel_ridge, "TILE", 100)
    there, new = torch.from_numpy(X).to(device), torch.from_numpy(X[:7]).to(device)
    how = {"rank": 30, "tolerance": 1e-10, "weights": weights + 1 if weighted else None}
    model = kernel_ridge.fit_kernel_ridge_by_tiles(Gaussian(2.0), there, torch.from_numpy(Y).to(device), 1e-3, **how)
    expected = kernel_ridge.fit_kernel_ridge_by_tiles(Gaussian(2.0), X, Y, 1e-3, **how)
    assert (model.coef.device.type, model.converged) == (device, True)
    assert model.residual.max() <= 1e-10
    found = kernel_ridge.predict_by_tiles(Gaussian(2.0), there, model, new)
    assert found.device.type == device
    decision = kernel_ridge.predict_by_tiles(Gaussian(2.0), X, expected, X[:7])
    np.testing.assert_allclose(found.tolist(), decision, rtol=1e-7)


@pytest.mark.parametrize("device", DEVICES)
def test_libsvm_gets_copies_on_the_host_and_its_solution_is_on_the_device(device):
    X, Y, _, _ = data(n=120, D=3, c=2)
    K = Gaussian(2.0)(X)
    model = gram.fit_kernel_svm(torch.from_numpy(K).to(device), torch.from_numpy(Y).to(device), 1.0)
    assert (model.coef.device.type, model.solver) == (device, "libsvm")
    np.testing.assert_array_equal(model.coef.tolist(), gram.fit_kernel_svm(K, Y, 1.0).coef)
    for other in (K, torch.from_numpy(K).to("meta")):
        with pytest.raises(ValueError, match=r"the kernel matrix is on .*, the targets on .*: make both"):
            gram.fit_kernel_ridge(other, torch.from_numpy(Y), 1.0)


#: The options of Newton's method, by the learner that fits and that cross-validates, with its grid and scores.
SVM, LOGISTIC = (svm.fit_svm, svm.cross_validate_svm), (logistic.fit_logistic, logistic.cross_validate_logistic)
NEWTON = {
    "svm": (*SVM, {"solver": "newton"}, [0.1, 10.0], ("accuracy", "mse")),
    "svm, LIBLINEAR's rule": (*SVM, {"solver": "newton", "tolerance": 1e-6}, [0.1, 10.0], ("accuracy",)),
    "logistic": (*LOGISTIC, {"intercept": "unpenalised"}, [1e-4, 0.1], ("accuracy", "log_loss")),
    "one against the rest": (*LOGISTIC, {"classes": "one_vs_rest"}, [1e-4], ("accuracy",)),
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("dtype", "n"), [(np.float64, 900), (np.float32, 900), (np.float64, 110)])
@pytest.mark.parametrize("learner", NEWTON)
def test_newtons_method_on_tensors(learner, dtype, n, weighted, device, host_is_far):
    fit, cross_validate, options, grid, scores = NEWTON[learner]
    Z, labels, folds, weights = data(dtype, n, D=120, c=1)
    Y = np.where((labels + 1 + 2 * (Z[:, 3:4] > 1)) // 2 == np.arange(3), 1.0, -1.0)
    how = {"n_columns": 120, "weights": weights if weighted else None, **options}
    tensors = [torch.from_numpy(each).to(device).requires_grad_(weighted) for each in (Z, Y)]
    tensors[0] = stream(tensors[0])
    expected, model = fit(stream(Z), Y, grid[0], **how), fit(*tensors, grid[0], **how)
    assert (model.coef.device.type, model.solver, model.converged, model.coef.requires_grad) == (device, "newton", 1, 0)
    # both stop within 1e-7 of the objective
    np.testing.assert_allclose(torch.flatten(model.coef)[:90].tolist(), expected.coef.ravel()[:90], rtol=0, atol=2e-3)
    for score in scores:
        found = cross_validate(*tensors, grid, folds, score=score, **how)
        np.testing.assert_allclose(found, cross_validate(stream(Z), Y, grid, folds, score=score, **how), 2e-3, 0.5)


def test_liblinear_is_refused_for_tensors():
    Z, Y, _, _ = data(c=1)
    with pytest.raises(ValueError, match="solver='liblinear' takes no tensors, on CUDA or elsewhere: use 'newton'"):
        svm.fit_svm(stream(torch.from_numpy(Z)), torch.from_numpy(Y), 1.0, n_columns=40, solver="liblinear")
    model = svm.fit_svm(stream(torch.from_numpy(Z[:20])), torch.from_numpy(Y[:20]), 1.0, n_columns=40)
    assert model.solver == "newton"


def test_tensors_on_the_cpu_take_the_faster_ways_of_arrays(monkeypatch):
    Z, Y, _, _ = data()
    for way_of_a_gpu in ("random_features.learners.shifted._solve_on_device", "torch.matmul"):
        monkeypatch.setattr(way_of_a_gpu, None)
    model = fit_ridge(stream(torch.from_numpy(Z)), torch.from_numpy(Y), 1e-3, n_columns=40)
    np.testing.assert_allclose(model.coef, fit_ridge(stream(Z), Y, 1e-3, n_columns=40).coef, rtol=1e-9)


def test_a_singular_system_of_tensors_for_which_the_host_does_not_wait(host_is_far):
    system, shifts = [torch.ones(3, columns, dtype=torch.float64) for columns in (3, 1)], np.array([0.0, 1.0])
    found = solve_shifted(*system, shifts)
    with pytest.raises(np.linalg.LinAlgError, match="singular to working precision"):
        refuse_singular(found, shifts)
    np.testing.assert_allclose(found.tolist(), [[[np.nan]] * 3, [[0.25]] * 3])
    assert solve_shifted(*(each.to("meta") for each in system), shifts).shape == (2, 3, 1)  # has no numbers to read


def test_features_and_targets_of_tensors_are_checked():
    Z, Y, _, _ = data()
    Z[7, 3] = np.nan
    with pytest.raises(ValueError, match="the features hold NaN"):
        fit_ridge(stream(torch.from_numpy(Z)), torch.from_numpy(Y), 1e-3, n_columns=40)
    with pytest.raises(ValueError, match="the targets hold NaN"):
        fit_ridge(stream(torch.from_numpy(Z)), torch.full((900,), np.nan), 1e-3, n_columns=40)


#: Every learner as a function of a stream, the number of its columns, and targets.
OF_STREAMS = {
    "fit_ridge": lambda blocks, D, Y: fit_ridge(blocks, Y, 1e-3, n_columns=D),
    "cross_validate_ridge": lambda Z, D, Y: cross_validate_ridge(Z, Y, [1.0], np.arange(len(Y)) % 3, n_columns=D),
    "have_solutions": lambda blocks, D, Y: ridge.have_solutions(blocks, Y, PENALTIES, n_columns=D),
    "ridge_sums": lambda blocks, D, Y: ridge_sums(blocks, Y, n_columns=D),
    "fit_logistic": lambda blocks, D, Y: logistic.fit_logistic(blocks, Y, 1e-3, n_columns=D),
    "liblinear": lambda blocks, D, Y: svm.fit_svm(blocks, Y, 1.0, n_columns=D, solver="liblinear"),
    "newton": lambda blocks, D, Y: svm.fit_svm(blocks, Y, 1.0, n_columns=D, solver="newton"),
}
ONE_LIBRARY = "features are .* in place of .*: the targets must be of their library|takes no tensors"


@pytest.mark.parametrize("n_rows", [30, 900], ids=["fewer rows than columns", "more"])
@pytest.mark.parametrize("features", ["array", "cpu", "meta"])
@pytest.mark.parametrize("learn", OF_STREAMS.values(), ids=OF_STREAMS)
def test_features_and_targets_are_of_one_library_and_device(learn, features, n_rows):
    Z, Y, _, _ = data(n=n_rows, c=1)
    there = Z if features == "array" else torch.from_numpy(Z).to(features)
    others = {"array": [torch.from_numpy(Y)], "cpu": [Y], "meta": [Y, torch.from_numpy(Y)]}
    for targets in others[features]:
        with pytest.raises(ValueError, match=ONE_LIBRARY):
            learn(stream(there), Z.shape[1], targets)
