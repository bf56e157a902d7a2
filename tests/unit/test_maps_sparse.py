"""Sparse data: every map makes of them what it makes of the same numbers held dense, in memory for what they store."""

import os
import subprocess
import sys
from functools import cache

import numpy as np
import pytest
import torch
from checkouts import ROOT
from in_memory import torch_threads
from map_variants import KERNELS, VARIANTS, build, data, every_map, tolerance
from scipy import sparse

from random_features import arrays, length_scales, tensors
from random_features.kernels import ArcCosine, Cauchy, Gaussian, Laplacian, Linear, Polynomial
from random_features.maps import base, make_map
from random_features.pivoted_cholesky import diagonal
from random_features.tensors import row_reader

FORMS = [(np.float64, sparse.csr_array), (np.float32, sparse.csr_matrix)]
both_types = pytest.mark.parametrize(("dtype", "container"), FORMS)


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


@cache
def fitted(variant, dtype=np.float64):
    """The map of a variant fitted on the dense data, and its features: shared, so only to be read."""
    X, _, y = sparse_data(dtype)
    phi = build(variant).fit(X, y)
    return phi, phi.transform(X)


@every_map
@both_types
def test_the_features_of_sparse_data_are_those_of_the_same_numbers(variant, dtype, container):
    X, S, _ = sparse_data(dtype, container)
    assert S.nnz > np.count_nonzero(X)
    phi, Z = fitted(variant, dtype)
    of_sparse = phi.transform(S)
    assert (type(of_sparse), of_sparse.dtype) == (np.ndarray, dtype)
    np.testing.assert_allclose(of_sparse, Z, rtol=0, atol=tolerance(variant, dtype) * np.abs(Z).max())


@every_map
def test_a_map_learns_from_sparse_data_what_it_learns_from_the_same_numbers(variant):
    (_, S, y), (dense, Z) = sparse_data(), fitted(variant)
    of_sparse = build(variant).fit(S, y)
    assert of_sparse.learned_.keys() == dense.learned_.keys()
    for name, learned in dense.learned_.items():
        assert type(of_sparse.learned_[name]) is np.ndarray
        if learned.dtype.kind == "U":
            assert of_sparse.learned_[name] == learned
        else:
            np.testing.assert_allclose(of_sparse.learned_[name], learned, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(of_sparse.transform(S), Z, rtol=0, atol=1e-9 * np.abs(Z).max())


@every_map
def test_sparse_blocks_are_the_transform(variant, monkeypatch):
    (_, S, _), (phi, Z) = sparse_data(), fitted(variant)
    close = {"rtol": 0, "atol": 1e-11 * np.abs(Z).max()}
    np.testing.assert_allclose(np.concatenate([block for _, block in phi.transform_blocks(S, rows=7)]), Z, **close)
    monkeypatch.setattr(base, "CACHE_BYTES", 3 * 8 * phi._work_columns())
    monkeypatch.setattr(arrays, "CPU_BLOCK_BYTES", 2 * 8 * S.shape[1])
    for threads in (1, 3):
        with torch_threads(threads):
            np.testing.assert_allclose(phi.transform(S), Z, **close)


@pytest.mark.cuda
@every_map
@both_types
def test_sparse_data_are_mapped_on_cuda_as_on_the_cpu(variant, dtype, container):
    (_, S, _), (phi, Z) = sparse_data(dtype, container), fitted(variant, dtype)
    other = build(variant, device="cuda").restore(5, phi.learned_, dtype=dtype)
    close = max(tolerance(variant, dtype), 1e-10) * np.abs(Z).max()
    np.testing.assert_allclose(other.transform(S), Z, rtol=0, atol=close)


@every_map
def test_maps_that_project_never_make_data_dense(variant, monkeypatch):
    _, S, y = sparse_data()
    phi, Z = fitted(variant)

    def refused(*arguments, **options):
        raise MemoryError("the data were made dense")

    monkeypatch.setattr(sparse.csr_array, "toarray", refused)
    if not phi._takes_sparse_rows:
        with pytest.raises(MemoryError, match="made dense"):
            phi.transform(S)
    # these hold training rows dense: all in a search, landmarks where they are learned
    elif VARIANTS[variant][0] not in ("nsrf", "nystroem"):
        np.testing.assert_allclose(build(variant).fit(S, y).transform(S), Z, rtol=0, atol=1e-9 * np.abs(Z).max())


@pytest.mark.parametrize("variant", ["rff", "sorf", "ts", "kprff", "nystroem"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_sparse_data_that_are_no_numbers_are_refused(variant, value):
    _, S, y = sparse_data()
    S.data[5] = value
    for call in (fitted(variant)[0].transform, lambda X: build(variant).fit(X, y)):
        with pytest.raises(ValueError, match="NaN" if np.isnan(value) else "infinity"):
            call(S)


@pytest.mark.parametrize("variant", ["rff", "sorf", "lprff", "ts", "kprff", "nystroem"])
def test_entries_that_are_stored_in_parts_are_added_up_and_the_data_stay_as_they_are(variant):
    X, S, y = sparse_data()
    S.eliminate_zeros()
    parts = in_parts(S)
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
@pytest.mark.parametrize(("rule", "offset"), [*((rule, 0.0) for rule in length_scales.RULES), ("scale", 1e8)])
def test_rules_find_the_same_length_scale_in_sparse_data(kernel, rule, offset):
    X, S, _ = sparse_data()
    X, S, y = X + offset, sparse.csr_array(S.toarray() + offset), X.sum(axis=1)
    scales = [kernel(rule).completed_by(each, y).length_scale for each in (X, S)]
    np.testing.assert_allclose(scales[1], scales[0], rtol=1e-7)


#: Prints by how many bytes the memory of a process grows where maps are fitted on wide sparse data and map them; blocks
#: of rows that are made dense take 8 MiB.
WIDE = """
import resource, sys
import numpy as np
from scipy import sparse
from random_features import arrays
from random_features.maps import make_map

def wide(n, d, per_row=10):
    rng = np.random.default_rng(0)
    entries = rng.normal(size=n * per_row), rng.integers(d, size=n * per_row), np.arange(n + 1) * per_row
    return sparse.csr_array(entries, shape=(n, d)), np.arange(n) % 2

def map_by_all(X, y, names):
    for name in names:
        Z = make_map(name, n_components=20, random_state=0, device="cpu").fit(X, y).transform(X)
        assert Z.shape[0] == X.shape[0] and np.isfinite(Z).all()

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

arrays.CPU_BLOCK_BYTES = 2**23
d, *groups = sys.argv[1:]
groups = [(int(n), names) for n, *names in map(str.split, groups)]
for _, names in groups:
    map_by_all(*wide(40, 20), names)
for n, names in groups:
    X, y = wide(n, int(d))
    before = peak()
    map_by_all(X, y, names)
    print(peak() - before)
"""


@pytest.mark.slow
def test_wide_sparse_data_are_mapped_in_an_eighth_of_the_memory_that_they_take_dense():
    # the first ones take s log d operations per row, for any number of stored values
    d, rows = 20_000, {2000: "sorf pmodel", 4000: "rff orf lprff slsrff sgq rm trp ts nystroem"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WIDE, str(d), *(f"{n} {names}" for n, names in rows.items())],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    for n, growth in zip(rows, done.stdout.split(), strict=True):
        assert int(growth) < 8 * n * d / 8


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_kernels_of_sparse_rows_are_those_of_dense_rows(kernel):
    """All three doors: the matrix, many blocks against the same rows, and Nystroem features, with a row of zeros."""
    X, S, _ = sparse_data()
    X[3], S = 0.0, sparse.csr_array(np.where(np.arange(len(X))[:, None] == 3, 0.0, X))
    exact = kernel(X, X[:9])
    for rows, others in ((S, S[:9]), (S, X[:9]), (X, S[:9])):
        np.testing.assert_allclose(kernel(rows, others), exact, rtol=0, atol=1e-12 * np.abs(exact).max())
    block = row_reader(S, sparse=kernel.takes_sparse_rows)(slice(0, 7))
    assert block.is_sparse == kernel.takes_sparse_rows
    for others in (S[:9], X[:9]):
        values = kernel.against(others, 7, torch.device("cpu"), torch.float64)(block)
        np.testing.assert_allclose(values, exact[:7], rtol=0, atol=1e-12 * np.abs(exact).max())
    for landmarks in ("uniform", "rpcholesky"):
        phi = make_map("nystroem", kernel, n_components=9, landmarks=landmarks, random_state=0)
        assert phi.fit(S)._takes_sparse_rows == kernel.takes_sparse_rows
        Z = phi.transform(S)
        np.testing.assert_allclose(phi.transform(X), Z, rtol=0, atol=1e-6 * np.abs(Z).max())


def in_parts(S):
    return sparse.csr_array((np.repeat(S.data / 2, 2), np.repeat(S.indices, 2), 2 * S.indptr), shape=S.shape)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_kernels_add_up_entries_that_are_stored_in_parts_and_leave_the_data_as_they_are(kernel):
    X, S, y = sparse_data()
    S.eliminate_zeros()
    parts, close = in_parts(S), {"rtol": 1e-9, "atol": 1e-9}
    np.testing.assert_allclose(kernel(parts), kernel(X), **close)
    np.testing.assert_allclose(kernel(parts, X[:9]), kernel(X, X[:9]), **close)
    np.testing.assert_allclose(diagonal(kernel, parts), diagonal(kernel, X), **close)
    assert parts.nnz == 2 * S.nnz
    for rule in length_scales.RULES if hasattr(kernel, "length_scale") else ():
        waiting = kernel.with_params(length_scale=rule)
        scales = [waiting.completed_by(each, y).length_scale for each in (X, parts)]
        np.testing.assert_allclose(scales[1], scales[0], rtol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix])
def test_kernels_take_indices_of_64_bits(kernel, container):
    X, S, _ = sparse_data(container=container)
    S.indices, S.indptr = S.indices.astype(np.int64), S.indptr.astype(np.int64)
    np.testing.assert_allclose(kernel(S), kernel(X), rtol=1e-9, atol=1e-9)
    assert S.indices.dtype == np.int64


@pytest.mark.parametrize("kernel", [Gaussian(2.0), Polynomial(2, 1.0), Linear(), ArcCosine(1)])
def test_nystroem_of_wide_sparse_data_holds_no_dense_block(kernel, monkeypatch):
    """A row of a million columns is 8 MB when dense: only the landmarks are, where they are learned."""
    rng = np.random.default_rng(0)
    stored = rng.normal(size=600), rng.integers(10**6, size=600), np.arange(0, 601, 20)
    S = sparse.csr_array(stored, shape=(30, 10**6))
    phi = make_map("nystroem", kernel, n_components=2, random_state=0).fit(S)
    monkeypatch.setattr(tensors.torch, "from_numpy", _refuse_wide)
    assert phi.transform(S).shape == (30, 2)


def _refuse_wide(array, from_numpy=torch.from_numpy):
    assert array.size < 10**5
    return from_numpy(array)
