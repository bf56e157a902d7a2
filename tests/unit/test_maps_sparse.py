"""Sparse data: every map makes of them what it makes of the same numbers held dense, in memory for what they store."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from map_variants import VARIANTS, build, data
from scipy import sparse

from random_features import arrays, length_scales
from random_features.kernels import Cauchy, Gaussian, Laplacian
from random_features.maps import base, make_map

ROOT = Path(__file__).resolve().parents[2]

#: Maps whose search holds all training rows dense.
HOLD_ROWS = {"nsrf"}

every_map = pytest.mark.parametrize("variant", VARIANTS)
every_container = pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csr_array])
every_type = pytest.mark.parametrize("dtype", [np.float64, np.float32])


def sparse_data(dtype=np.float64, container=sparse.csr_array):
    """The same numbers dense and sparse, most of them zero: a row without any, a zero that is stored, and targets."""
    X, y = data(dtype=dtype)
    X[np.random.default_rng(2).random(X.shape) < 0.6] = 0.0
    X[3] = 0.0
    X[4] = [-0.0, 1.0, 0.0, -2.0, 0.0]
    stored = X != 0
    stored[4] = True
    rows, columns = np.nonzero(stored)
    return X, container(sparse.coo_array((X[rows, columns], (rows, columns)), X.shape)), y


def tolerance(variant, dtype):
    """Some roundings of projections, as in test_maps_estimator.py; those of the Laplacian kernel have no bound."""
    if dtype == np.float64:
        return 1e-11
    return 5e-3 if "laplacian" in variant else 5e-5


@every_map
@every_type
@every_container
def test_the_features_of_sparse_data_are_those_of_the_same_numbers(variant, dtype, container):
    X, S, y = sparse_data(dtype, container)
    assert S.nnz > np.count_nonzero(X)
    phi = build(variant).fit(X, y)
    dense, of_sparse = phi.transform(X), phi.transform(S)
    assert (type(of_sparse), of_sparse.dtype) == (np.ndarray, dtype)
    np.testing.assert_allclose(of_sparse, dense, rtol=0, atol=tolerance(variant, dtype) * np.abs(dense).max())


@every_map
@every_container
def test_a_map_learns_from_sparse_data_what_it_learns_from_the_same_numbers(variant, container):
    X, S, y = sparse_data(container=container)
    dense, of_sparse = build(variant).fit(X, y), build(variant).fit(S, y)
    assert of_sparse.learned_.keys() == dense.learned_.keys()
    for name, learned in dense.learned_.items():
        assert type(of_sparse.learned_[name]) is np.ndarray
        if learned.dtype.kind == "U":
            assert of_sparse.learned_[name] == learned
        else:
            np.testing.assert_allclose(of_sparse.learned_[name], learned, rtol=1e-9, atol=1e-12)
    Z = dense.transform(X)
    np.testing.assert_allclose(of_sparse.transform(S), Z, rtol=0, atol=1e-9 * np.abs(Z).max())


@every_map
@pytest.mark.parametrize("threads", [1, 3])
def test_sparse_blocks_are_the_transform(variant, threads, monkeypatch):
    _, S, y = sparse_data()
    phi = build(variant).fit(S, y)
    whole = phi.transform(S)
    close = {"rtol": 0, "atol": 1e-11 * np.abs(whole).max()}
    np.testing.assert_allclose(np.concatenate([Z for _, Z in phi.transform_blocks(S, rows=7)]), whole, **close)
    monkeypatch.setattr(base, "CACHE_BYTES", 3 * 8 * phi._work_columns())
    monkeypatch.setattr(arrays, "CPU_BLOCK_BYTES", 2 * 8 * S.shape[1])
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        np.testing.assert_allclose(phi.transform(S), whole, **close)
    finally:
        torch.set_num_threads(before)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@every_map
@every_type
def test_sparse_data_are_mapped_on_cuda_as_on_the_cpu(variant, dtype):
    X, S, y = sparse_data(dtype)
    phi = build(variant, device="cpu").fit(X, y)
    other = build(variant, device="cuda").restore(5, phi.learned_, dtype=dtype)
    expected = phi.transform(X)
    close = max(tolerance(variant, dtype), 1e-10) * np.abs(expected).max()
    np.testing.assert_allclose(other.transform(S), expected, rtol=0, atol=close)


@pytest.mark.parametrize("variant", [v for v, (name, _) in VARIANTS.items() if name not in HOLD_ROWS])
def test_maps_that_project_never_make_data_dense(variant, monkeypatch):
    _, S, y = sparse_data()
    phi = build(variant).fit(S, y)
    Z = phi.transform(S)

    def refused(*arguments, **options):
        raise MemoryError("the data were made dense")

    monkeypatch.setattr(sparse.csr_array, "toarray", refused)
    if phi._takes_sparse_rows:
        np.testing.assert_array_equal(build(variant).fit(S, y).transform(S), Z)
    else:
        with pytest.raises(MemoryError, match="made dense"):
            phi.transform(S)


@every_map
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_sparse_data_that_are_no_numbers_are_refused(variant, value):
    _, S, y = sparse_data()
    phi = build(variant).fit(S, y)
    S.data[5] = value
    with pytest.raises(ValueError, match="NaN" if np.isnan(value) else "infinity"):
        phi.transform(S)
    with pytest.raises(ValueError, match="NaN" if np.isnan(value) else "infinity"):
        phi.fit(S, y)


@pytest.mark.parametrize("variant", ["rff", "sorf", "lprff", "ts", "kprff", "nystroem"])
def test_entries_that_are_stored_in_parts_are_added_up_and_the_data_stay_as_they_are(variant):
    X, S, y = sparse_data()
    S.eliminate_zeros()
    parts = sparse.csr_array((np.repeat(S.data / 2, 2), np.repeat(S.indices, 2), 2 * S.indptr), shape=S.shape)
    assert parts.nnz == 2 * S.nnz
    phi = build(variant).fit(X, y)
    np.testing.assert_allclose(phi.transform(parts), phi.transform(X), atol=1e-12)
    assert parts.nnz == 2 * S.nnz


@pytest.mark.parametrize("form", ["csc", "coo", "lil", "dok", "bsr", "dia"])
def test_other_sparse_forms_are_taken(form):
    X, S, y = sparse_data()
    np.testing.assert_allclose(build("slsrff").fit_transform(S.asformat(form), y), build("slsrff").fit_transform(X, y))


@pytest.mark.parametrize("name", ["rff", "rm", "ts", "lprff", "nystroem"])
def test_data_without_a_number_are_rows_of_zeros(name):
    empty = sparse.csr_array((6, 4))
    phi = make_map(name, n_components=8, random_state=0).fit(np.eye(4))
    np.testing.assert_allclose(phi.transform(empty), phi.transform(np.zeros((6, 4))), atol=1e-12)


@pytest.mark.parametrize("kernel", [Gaussian, Laplacian, Cauchy])
@pytest.mark.parametrize("rule", length_scales.RULES)
def test_rules_find_the_same_length_scale_in_sparse_data(kernel, rule):
    X, S, _ = sparse_data()
    scales = [make_map("rff", kernel(rule)).fit(each).kernel_.length_scale for each in (X, S)]
    np.testing.assert_allclose(scales[1], scales[0], rtol=1e-7)


def test_the_variance_of_sparse_numbers_has_no_cancellation():
    X = 1e8 + np.random.default_rng(0).normal(size=(50, 4))
    np.testing.assert_allclose(length_scales.spread(sparse.csr_array(X)), length_scales.spread(X), rtol=1e-9)


#: Prints by how many bytes the memory of a process grows where a map is fitted on wide sparse data and maps them.
WIDE = """
import resource, sys
import numpy as np
from scipy import sparse
from random_features.maps import make_map

def wide(n, d, per_row=10):
    rng = np.random.default_rng(0)
    entries = rng.normal(size=n * per_row), rng.integers(d, size=n * per_row), np.arange(n + 1) * per_row
    return sparse.csr_array(entries, shape=(n, d)), np.arange(n) % 2

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

name, n, d = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
options = {"n_components": 50, "random_state": 0, "device": "cpu"}
X, y = wide(40, 20)
make_map(name, **options).fit(X, y).transform(X)
X, y = wide(n, d)
before = peak()
Z = make_map(name, **options).fit(X, y).transform(X)
assert Z.shape[0] == n and np.isfinite(Z).all()
print(peak() - before)
"""


@pytest.mark.parametrize(
    ("name", "n"),
    [
        *((name, 20_000) for name in ("rff", "orf", "lprff", "slsrff", "sgq", "rm", "trp")),
        *((name, 8000) for name in ("ts", "nystroem")),
        # which take s log d operations a row, whatever it stores
        *((name, 1000) for name in ("sorf", "pmodel")),
    ],
)
def test_wide_sparse_data_are_mapped_in_an_eighth_of_the_memory_that_they_take_dense(name, n):
    d = 50_000
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WIDE, name, str(n), str(d)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 8 * n * d / 8
