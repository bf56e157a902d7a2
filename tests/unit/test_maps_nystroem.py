"""Nystroem features: exact where all rows are landmarks, and in float32 as accurate as float32 allows."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
import torch
from in_memory import torch_threads
from scipy import sparse
from sklearn.base import clone

from random_features.kernels import ArcCosine, Cauchy, Gaussian, Laplacian, Linear, NeuralTangent, Polynomial
from random_features.machines import KernelMachineRegressor
from random_features.maps import make_map, nystroem
from random_features.maps.nystroem import SINGLE_PRECISION_RANGE, split

N, D, S, NAN = 400, 8, 150, np.full((2, 8), np.nan)


def data():
    """Columns of falling scale, so that eigenvalues fall as with real data; float32 numbers."""
    X = np.random.default_rng(0).normal(size=(N, D)) / np.arange(1, D + 1)
    return X.astype(np.float32)


def fitted(kernel):
    return make_map("nystroem", kernel, n_components=S, device="cpu", random_state=0).fit(data())


#: Feature j is the product of a vector r (s,) with a column w_j of length 1 / sqrt(eigenvalue j), and r, what is left
#: of the kernel vector, is no longer than the root of the largest eigenvalue that is left times the row of features.
#: Each of the s terms and sums has rounding errors of 2^-24 in relation to |r| |w_j|; as random signs they add up to
#: sqrt(s) 2^-24 |r| |w_j|, and |r| |w_j| <= sqrt(SINGLE_PRECISION_RANGE) |z|. Twice that, for the roundings of r and w.
TOLERANCE = 2 * np.sqrt(S) * 2.0**-24 * np.sqrt(SINGLE_PRECISION_RANGE)

#: Kernels with their eigenvalues: within the range, with leading ones above it, and falling down to rounding errors.
SPECTRA = {
    "flat": Laplacian(1.0), "steep": Gaussian(1.5), "steeper": Gaussian(4.0),
    "falls to rounding errors": Gaussian(20.0), "polynomial": Polynomial(4, 1.0), "arc-cosine": ArcCosine(1),
}  # fmt: skip


@pytest.mark.parametrize("kernel", SPECTRA.values(), ids=SPECTRA)
def test_float32_is_accurate(kernel):
    """By the largest error of a feature, over the length of its row; the map is the same for both types."""
    phi, X = fitted(kernel), data()
    exact, single = phi.transform(X.astype(np.float64)), phi.transform(X)
    assert single.dtype == np.float32
    assert (np.abs(single - exact).max(axis=1) / np.linalg.norm(exact, axis=1)).max() < TOLERANCE


@pytest.mark.parametrize("kernel", SPECTRA.values(), ids=SPECTRA)
def test_features_are_whitened_kernel_values(kernel):
    """The definition, with the inverse root written out: inner products do not see the rotation between the two."""
    X = data().astype(np.float64)
    phi = fitted(kernel)
    L = phi.learned_["landmarks"].astype(np.float64)
    assert len(np.unique(L, axis=0)) == S
    assert {tuple(row) for row in L} <= {tuple(row) for row in X}
    eigenvalues, U = np.linalg.eigh(kernel(L))
    kept = eigenvalues > 1e-12 * eigenvalues[-1]
    naive = kernel(X, L) @ (U[:, kept] / np.sqrt(eigenvalues[kept]))
    Z = phi.transform(X)
    assert Z.shape == naive.shape
    # Kernel values are accurate to 1e-15 or so, and whitening enlarges that by up to the root of 1e12.
    np.testing.assert_allclose(Z @ Z.T, naive @ naive.T, atol=1e-8 * np.abs(naive @ naive.T).max())


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("orders", [1, 4, 8, 12])
def test_the_split_is_the_cheapest_that_keeps_the_range(seed, orders):
    rng = np.random.default_rng(seed)
    eigenvalues = np.sort(10.0 ** -rng.uniform(0, orders, size=30))
    n_last, n_leading = split(eigenvalues)
    middle = eigenvalues[n_last : len(eigenvalues) - n_leading]
    assert middle[-1] / middle[0] <= SINGLE_PRECISION_RANGE

    def cost(first, after):
        kept = eigenvalues[first:after]
        allowed = kept[-1] / kept[0] <= SINGLE_PRECISION_RANGE
        return first + 2 * (30 - after) if allowed else np.inf

    assert n_last + 2 * n_leading == min(cost(first, after) for first in range(30) for after in range(first + 1, 31))


def test_blocks_of_any_size_have_the_leading_directions_taken_out_once(monkeypatch):
    X = data()
    phi = fitted(Gaussian(4.0))
    assert min(split(phi._eigenvalues)) > 0
    whole = phi.transform(X)
    rows = list(phi.transform_blocks(X, rows=7))
    np.testing.assert_allclose(np.concatenate([block for _, block in rows]), whole, atol=TOLERANCE)
    monkeypatch.setattr("random_features.maps.base.CACHE_BYTES", 5 * 4 * 2 * S)
    with torch_threads(2):
        np.testing.assert_allclose(phi.transform(X), whole, atol=TOLERANCE)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("far", [1e6, 1e8, 1e9])
@pytest.mark.parametrize("length_scale", [1.5, [1.5] * 6])
def test_a_far_row_and_a_far_column_leave_the_kernel_matrix_as_it_is(dtype, far, length_scale):
    X = np.random.default_rng(0).normal(size=(40, 6)).astype(dtype)
    X[:, 1] += 1000.0
    X[0] = far
    Z = nystroem.Nystroem(Gaussian(length_scale), n_components=40, random_state=0).fit_transform(X).astype(float)
    np.testing.assert_allclose(Z @ Z.T, Gaussian(1.5)(X.astype(float)), atol=20 * np.finfo(dtype).eps)


def normal(n):
    return np.random.default_rng(0).normal(size=(n, 3))


@pytest.mark.parametrize(
    "kernel",
    [Gaussian(1.5), Laplacian(2.0), Cauchy(2.0), ArcCosine(1), NeuralTangent(), Polynomial(2, 1.0), Linear()],
    ids=repr,
)
def test_with_all_rows_is_exact_also_where_there_are_fewer_than_asked_for(kernel):
    X = normal(40)
    phi = make_map("nystroem", kernel, n_components=60, random_state=0).fit(X)
    assert phi.learned_["landmarks"].shape == (40, 3)
    Z = phi.transform(X)
    # Eigenvalues below 1e-12 of the largest are left out.
    np.testing.assert_allclose(Z @ Z.T, kernel(X), atol=1e-9 * np.abs(kernel(X)).max())
    if kernel.name == "linear":
        assert phi.n_columns_ == 3


def test_drops_what_repeated_rows_add_nothing_to():
    X = np.repeat(normal(5), 4, axis=0)
    phi = make_map("nystroem", n_components=20, random_state=0).fit(X)
    assert phi.n_columns_ == 5
    Z = phi.transform(X)
    np.testing.assert_allclose(Z @ Z.T, Gaussian()(X), atol=1e-10)


def error_of(landmarks, X, seed=0):
    """Relative trace error of 30 landmarks for a kernel with the diagonal 1."""
    Z = make_map("nystroem", Gaussian(1.5), n_components=30, landmarks=landmarks, random_state=seed).fit_transform(X)
    return 1 - np.square(Z).sum() / len(X)


@pytest.mark.parametrize(("landmarks", "outliers"), [("kmeans", 0), ("rpcholesky", 20)])
def test_landmarks_that_look_at_the_data_are_better_than_uniform_ones(landmarks, outliers):
    X = data().astype(np.float64)
    X[outliers:] *= 0.2 if outliers else 1.0
    seeds = range(5)
    uniform = np.mean([error_of("uniform", X, seed) for seed in seeds])
    assert np.mean([error_of(landmarks, X, seed) for seed in seeds]) < 0.8 * uniform


def test_landmarks_may_be_points():
    X = data()
    points = X[::4] + np.float32(0.5)
    phi = make_map("nystroem", Gaussian(1.5), landmarks=points, random_state=0).draw(D).learn(X)
    np.testing.assert_array_equal(phi.learned_["landmarks"], points)
    # the kernel values of a landmark are its row in the kernel matrix, which is exact there
    at_points = phi.transform(points.astype(np.float64))
    np.testing.assert_allclose(at_points @ at_points.T, Gaussian(1.5)(points.astype(np.float64)), atol=1e-6)
    restored = make_map("nystroem", Gaussian(1.5), landmarks=points, random_state=0).restore(D, phi.learned_)
    np.testing.assert_array_equal(restored.transform(X), phi.transform(X))
    with pytest.raises(ValueError, match="landmarks changed since draw"):
        phi.set_params(landmarks=points + 1).learn(X)


@pytest.mark.parametrize(
    ("landmarks", "message"),
    [
        (np.zeros(3), r"landmarks must be a finite array of shape \(s, 8\), got the shape \(3,\)"),
        *((points, "landmarks must be a finite array") for points in (NAN, sparse.dok_array(NAN), np.eye(3, D + 1))),
    ],
)
def test_landmarks_that_are_none_are_refused(landmarks, message):
    with pytest.raises(ValueError, match=message):
        make_map("nystroem", landmarks=landmarks).fit(data())


#: The ways to state landmarks, whose numbers are exact in all of these types.
FORMS = {
    "list": np.ndarray.tolist, "frame": pd.DataFrame, "csr": sparse.csr_matrix, "coo": sparse.coo_array,
    "csc": sparse.csc_array, "lil": sparse.lil_array, "dok": sparse.dok_array, "tensor": torch.tensor,
    "bfloat16": lambda points: torch.tensor(points, dtype=torch.bfloat16),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("length_scale", [2.0, (0.5, 2.0, 5.0)], ids=["one", "per column"])
def test_landmarks_are_stated_as_data_are(form, length_scale):
    points, X = np.array([[0.0, 1.0, 0.5], [2.0, 0.0, 0.0], [0.0, -1.5, 4.0]]), normal(30)
    maps = [make_map("nystroem", Gaussian(length_scale), landmarks=each) for each in (points, form(points))]
    expected, found = (phi.draw(3, dtype=np.float64).learn(X).transform(X) for phi in maps)
    np.testing.assert_array_equal(found, expected)
    Z = maps[1].transform(points)  # exact at the points, in the units of the data
    np.testing.assert_allclose(Z @ Z.T, Gaussian(length_scale)(points), atol=1e-10)
    with pytest.raises(ValueError, match="landmarks changed since draw"):
        maps[1].set_params(landmarks=form(points + 1.0)).learn(X)


@pytest.mark.filterwarnings("error")
def test_landmarks_have_the_columns_of_the_data():
    frame = pd.DataFrame(normal(30), columns=list("abc"))
    other = make_map("nystroem", landmarks=frame[:5][list("cab")])
    exact, on_map = (KernelMachineRegressor(each, uncertainty=True) for each in (Gaussian(), clone(other)))
    exact.fit(frame, frame.a)
    in_machines = partial(on_map.fit, y=frame.a), lambda _: exact.sample_functions(prior=clone(other))
    for fit in (other.fit, other.draw(3, dtype=np.float64).learn, *in_machines):
        with pytest.raises(ValueError, match=r"another order: give landmarks\[X.columns\]"):
            fit(frame)
    named, unnamed = (make_map("nystroem", landmarks=each) for each in (frame[:5], frame[:5].to_numpy()))
    np.testing.assert_array_equal(named.fit_transform(frame), unnamed.fit_transform(frame))
    np.testing.assert_array_equal(named.fit_transform(frame.to_numpy()), unnamed.transform(frame))
