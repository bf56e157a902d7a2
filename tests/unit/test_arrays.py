"""Elementwise functions of tensors against NumPy's in float64, seeds, and the settings of threads."""

import threading

import numpy as np
import pytest
import scipy
import torch
from map_variants import MAPS, build, data
from threadpoolctl import ThreadpoolController, threadpool_info

from random_features import arrays
from random_features.arrays import one_blas_thread, seed_of, seed_sequence
from random_features.kernels import Gaussian
from random_features.learners.kernel_ridge import kernel_product
from random_features.length_scales import relevance
from random_features.machines import KernelMachineClassifier, KernelMachineRegressor
from random_features.maps import compression, make_map
from random_features.tensors import cosine, exponential, sine


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("function", "exact"), [(cosine, np.cos), (sine, np.sin), (exponential, np.exp)])
def test_functions_of_tensors_are_right_to_the_last_digits(function, exact, dtype):
    values = np.random.default_rng(0).normal(scale=20.0, size=(50, 40)).astype(dtype)
    out = np.full((50, 100), np.nan, dtype=dtype)
    function(torch.from_numpy(values), torch.from_numpy(out)[:, 30:70])
    # four units in the last place, of 1 where the function is bounded by it
    expected = exact(values.astype(np.float64))
    tolerance = 4 * np.finfo(dtype).eps * (1.0 if function is not exponential else expected)
    assert (np.abs(out[:, 30:70] - expected) <= tolerance).all()
    assert np.isnan(out[:, :30]).all()
    assert np.isnan(out[:, 70:]).all()


@pytest.mark.parametrize(("function", "exact"), [(cosine, np.cos), (sine, np.sin)])
def test_angles_far_from_zero_keep_their_digits(function, exact):
    angles = np.float32([1e4, 1e5, 1e6, 3e7, -1e9])
    out = torch.empty(5)
    function(torch.from_numpy(angles), out)
    np.testing.assert_allclose(out.numpy(), exact(angles.astype(np.float64)), rtol=0, atol=4 * np.finfo(np.float32).eps)


def test_a_seed_is_that_of_its_values_with_any_numpy_type():
    """Every journal and every published row has these numbers: no change of the code may move them."""
    assert seed_of(2021, "features", 4, 0.5, True) == 1589111322
    assert seed_sequence(1).entropy == seed_sequence(np.int64(1)).entropy
    alike = [np.int64(2021), np.str_("features"), np.int32(4), np.float64(0.5), np.bool_(True)]
    assert seed_of(*alike) == seed_of(2021, "features", 4, 0.5, True)
    assert len({seed_of(axis) for axis in (1, 1.0, "1", True)}) == 4


def settings():
    return sorted((pool["internal_api"], pool["num_threads"]) for pool in threadpool_info()), torch.get_num_threads()


def test_contexts_of_one_thread_restore_the_setting_in_any_order():
    before = settings()
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"} == {1}
    second.__exit__(None, None, None)
    assert settings() == before


@pytest.mark.parametrize("work", ["transform", "kernel product"])
def test_threads_that_work_at_once_leave_every_pool_as_it_was(work):
    """Each saved the setting that another had changed, and restored it last: one thread for everyone, for good."""
    torch.set_num_threads(max(2, torch.get_num_threads()))
    X = np.random.default_rng(0).normal(size=(20_000 if work == "transform" else 2000, 10)).astype(np.float32)
    phi = make_map("rff", n_components=200, random_state=0).fit(X)
    before, seen = settings(), []

    def call():
        if work == "transform":
            phi.transform(X)
        else:
            kernel_product(Gaussian(), X, np.ones((len(X), 1)))

    for _ in range(3):
        threads = [threading.Thread(target=call) for _ in range(3)]
        threads.append(threading.Thread(target=lambda: seen.append(torch.get_num_threads())))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert settings() == before
    assert set(seen) == {before[1]}


X, Y = np.random.default_rng(0).normal(size=(150, 4)), np.arange(150.0) % 7
PHI = make_map("rff", n_components=100, random_state=0)
FITS = {
    "ridge": lambda: KernelMachineRegressor(PHI).fit(X, Y),
    "logistic": lambda: KernelMachineClassifier(PHI, loss="logistic").fit(X, Y),
    "svm": lambda: KernelMachineClassifier(PHI, loss="squared_hinge").fit(X, Y),
    "exact": lambda: KernelMachineRegressor("rbf").fit(X, Y),
    "posterior": lambda: KernelMachineRegressor(PHI, 1e-3, uncertainty=True).fit(X, Y),
    "posterior of a kernel": lambda: KernelMachineRegressor("rbf", 1e-3, uncertainty=True).fit(X, Y),
    "relevance": lambda: relevance(X, Y),
    **{name: lambda name=name: build(name).fit(*data()) for name in MAPS},
}
#: The maps that decompose nothing.
DIRECT = set(MAPS) - {"orf", "prf", "ssf", "lsrff", "mm", "sgq", "ssr", "ses", "nystroem"}
DECOMPOSITIONS = [
    *((np.linalg, name) for name in ("cholesky", "eigh", "qr", "svd")), (compression, "cholesky"),
    *((scipy.linalg.lapack, name) for name in ("dpotrf", "dpotri", "dsytrd")),
]  # fmt: skip


@pytest.mark.parametrize("name", FITS)
def test_one_thread_decomposes_a_small_matrix(name, monkeypatch):
    """Threads that wait for each other at each step made it up to a hundred times slower next to another process."""
    controller, seen = ThreadpoolController().select(user_api="blas"), []
    monkeypatch.setattr(arrays, "_blas_threads", None)
    for module, function in DECOMPOSITIONS:
        original = getattr(module, function)

        def noted(*args, original=original, **options):
            seen.extend(pool["num_threads"] for pool in controller.info())
            return original(*args, **options)

        monkeypatch.setattr(module, function, noted)
    with controller.limit(limits=2):
        FITS[name]()
    assert set(seen) == (set() if name in DIRECT else {1})
