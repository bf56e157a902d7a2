"""The kernel of a map as people state it: by scikit-learn's names, by rules, in a search over a pipeline."""

import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch
from map_variants import KERNELS, MAPS, build
from scipy import sparse
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF
from sklearn.gaussian_process.kernels import Matern as SklearnMatern
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from random_features import maps
from random_features.kernels import Cauchy, Gaussian, Laplacian, Linear, Matern, Polynomial, make_kernel
from random_features.machines import KernelMachineClassifier, KernelMachineRegressor
from random_features.maps import list_maps, make_map
from random_features.maps.montecarlo import OrthogonalRandom
from random_features.maps.registry import REGISTRY
from random_features.maps.stated import as_kernel


def data(n=60, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * [1.0, 2.0, 0.5, 3.0]
    return X, np.sign(np.sin(X[:, 0]) + 0.1 * rng.normal(size=n))


X, Y = data()


def test_a_search_goes_through_length_scales_sizes_and_options_of_a_pipeline():
    X, y = data(120)
    shared = Gaussian(1.0)
    pipeline = make_pipeline(make_map("rom", kernel=shared, n_components=8, random_state=0), RidgeClassifier())
    step = pipeline.steps[0][0]
    grid = {
        f"{step}__kernel__length_scale": [0.01, 2.0],
        f"{step}__n_components": [8, 32],
        f"{step}__n_factors": [2, 3],
    }
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert len(search.cv_results_["params"]) == 8
    # with a length scale far below the distances all rows are alike, so that half of the test rows are wrong
    assert search.best_params_[f"{step}__kernel__length_scale"] == 2.0
    assert shared == Gaussian(1.0)
    assert search.best_estimator_[0].kernel_ == Gaussian(2.0)


def test_another_parameter_of_a_shared_or_of_the_default_kernel_leaves_other_maps_alone():
    kernel = Gaussian(1.0)
    one, other = make_map("rff", kernel=kernel), make_map("orf", kernel=kernel)
    one.set_params(kernel__length_scale=3.0, n_components=7)
    assert (one.kernel, one.n_components, other.kernel) == (Gaussian(3.0), 7, kernel)
    phi = make_map("rff").set_params(kernel__length_scale=0.5)
    assert phi.kernel == Gaussian(0.5)
    assert make_map("ts").set_params(kernel__degree=3).kernel == Polynomial(3, 1.0)
    assert clone(phi).kernel == Gaussian(0.5)


NO_LENGTHSCALE = r"gaussian has no parameter 'lengthscale'; did you mean length_scale\? known are length_scale"
NO_NUMBER = "length_scale must be a number or one of 'median', 'scale', 'ard', got 'mean'"
NO_KERNEL = r"kernel must be an object from random_features.kernels, a function .* known are cauchy, gaussian"
EQUAL, LABELLED = np.full((5, 2), 0.3), make_map("orf", Gaussian("ard"))
GAMMA, WAITS = r"gamma is 1 / \(2 l\^2\) for a length scale l", "length_scale='median' waits for data"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: make_map("rff").set_params(kernel__lengthscale=1.0), ValueError, NO_LENGTHSCALE),
        (lambda: make_map("rff").set_params(kernel__length_scale=-1.0), ValueError, "length_scale must be positive"),
        (lambda: make_map("rff").set_params(kernel__length_scale="mean"), TypeError, NO_NUMBER),
        (lambda: make_map("rff").set_params(components=3), ValueError, "Invalid parameter 'components'"),
        (lambda: make_map("fastfod"), ValueError, r"no feature map is called 'fastfod'; did you mean fastfood\?"),
        (lambda: make_map("rom", n_factor=2), TypeError, r"rom has no parameter 'n_factor'; did you mean n_factors\?"),
        (lambda: maps.OrthogonalRandm, AttributeError, r"no 'OrthogonalRandm'; did you mean OrthogonalRandom\?"),
        (lambda: make_map("rff", gamma=0.5), TypeError, GAMMA),
        (lambda: make_map("rff").set_params(kernel__gamma=0.5), ValueError, GAMMA),
        (lambda: Gaussian().with_params(gamma=0.5), ValueError, GAMMA),
        (lambda: make_kernel({"name": "gaussian", "gamma": 0.5}), ValueError, GAMMA),
        (lambda: Gaussian("median")([[0.0]]), ValueError, WAITS),
        (lambda: make_map("rff", kernel=Gaussian("median")).draw(2), ValueError, WAITS),
        *((lambda k=k: make_map("rff", k), TypeError, NO_KERNEL) for k in ("gauss", "poly", SklearnMatern(0.5), 3.0)),
        (lambda: make_map("rff", kernel=Gaussian), TypeError, r"got the class Gaussian: write Gaussian\(\)"),
        (lambda: make_map("rff", kernel=Gaussian("scale")).fit(EQUAL), ValueError, "are equal"),
        (lambda: make_map("rff", kernel=Gaussian("median")).fit(EQUAL), ValueError, "the median distance .* is 0"),
        (lambda: LABELLED.fit(X[:1], Y[:1]), ValueError, "finds nothing in rows that are equal"),
        (lambda: LABELLED.fit(X), ValueError, r"length_scale='ard' learns from targets: fit\(X, y\)"),
        (lambda: LABELLED.fit(X, Y[:3]), ValueError, "X has 60 rows, y 3"),
        (lambda: LABELLED.fit(X, np.append(Y[:59], np.nan)), ValueError, "Input y contains NaN"),
        (lambda: make_map("rff", kernel=chi), ValueError, "rff does not apply to the kernel callable"),
    ],
)
def test_what_is_wrong_is_named_with_what_is_meant_or_known(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("method", ["rff", "sorf", "ssf", "nystroem", "slsrff", "kprff"])
@pytest.mark.parametrize("rule", ["median", "scale"])
def test_a_rule_is_learned_from_the_data_that_fit_sees(method, rule):
    distances = np.linalg.norm(X[:, None] - X, axis=2)[np.triu_indices(len(X), 1)]
    expected = {"median": np.median(distances), "scale": np.sqrt(X.shape[1] * X.var() / 2)}[rule]
    phi = make_map(method, kernel=Gaussian(rule), n_components=16, random_state=0).fit(X, Y)
    np.testing.assert_allclose(phi.kernel_.length_scale, expected, rtol=1e-12)
    stated = make_map(method, kernel=Gaussian(phi.kernel_.length_scale), n_components=16, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(phi.transform(X), stated.transform(X))
    # the stated kernel stays a rule, so that another fit learns anew
    assert phi.kernel == Gaussian(rule)
    np.testing.assert_allclose(phi.fit(2 * X, Y).kernel_.length_scale, 2 * expected, rtol=1e-12)


@pytest.mark.parametrize("kernel", [Gaussian("median"), Laplacian("scale"), Cauchy("median"), Gaussian("ard")])
def test_a_map_that_has_learned_its_length_scale_is_restored_from_what_it_learned(kernel):
    phi = make_map("rff", kernel=kernel, n_components=5, random_state=3).fit(X, Y)
    again = make_map("rff", kernel=kernel, n_components=5, random_state=3).restore(4, phi.learned_, dtype=np.float64)
    np.testing.assert_array_equal(again.transform(X), phi.transform(X))
    assert again.kernel_ == phi.kernel_
    assert set(again.learned_) == set(phi.learned_) == {"length_scale", "learned_by"}


def test_scale_is_the_gamma_of_scikit_learn():
    gamma = SVC(gamma="scale").fit(X, Y)._gamma
    np.testing.assert_allclose(Gaussian("scale").completed_by(X)(X), rbf_kernel(X, gamma=gamma), rtol=1e-12)


@pytest.mark.parametrize(
    "form",
    [np.ndarray.tolist, pd.DataFrame, torch.tensor, sparse.coo_array, sparse.lil_array,
     lambda rows: pa.table(dict(zip("abcd", rows.T, strict=True)))],
    ids=["list", "frame", "tensor", "coo", "lil", "table"],
)  # fmt: skip
@pytest.mark.parametrize("rule", ["median", "scale", "ard"])
def test_a_rule_takes_the_data_that_a_kernel_takes(form, rule):
    kernel, expected = (Gaussian(rule).completed_by(each, Y) for each in (form(X), X))
    np.testing.assert_allclose(kernel(form(X)), expected(X), rtol=1e-6)
    with pytest.raises(ValueError, match="NaN"):
        Gaussian(rule).completed_by([[np.nan, 1.0], [0.0, 1.0]], [0.0, 1.0])


@pytest.mark.parametrize(("stated", "kernel"), [
    ("rbf", Gaussian("scale")), ("linear", Linear()), (RBF(0.7), Gaussian(0.7)), (Gaussian(2.0), Gaussian(2.0)),
    (RBF([0.7, 1.0]), Gaussian([0.7, 1.0])), ("gaussian", Gaussian("scale")), ("matern32", Matern("scale", 1.5)),
    ("matern12", Matern("scale", 0.5)), ("laplacian", Laplacian("scale")), ("polynomial", Polynomial()),
])  # fmt: skip
def test_kernels_of_scikit_learn_are_taken_where_they_mean_the_same(stated, kernel):
    assert as_kernel(stated) == kernel


def test_classes_are_imported_from_the_package():
    assert maps.OrthogonalRandom is OrthogonalRandom
    assert {"OrthogonalRandom", "Nystroem", "make_map"} <= set(dir(maps))


def test_the_list_of_maps_is_shown_as_a_table():
    lines = str(list_maps()).splitlines()
    assert len(lines) == len(list_maps()) + 1
    assert lines[0].split() == ["name", "family", "kernels", "fit", "cost", "reference"]
    place = lines[0].index("fit")
    assert all(line[place : place + 2] == "O(" and line[place - 1] == " " for line in lines[1:])


@pytest.mark.parametrize("state", [np.random.default_rng, np.random.RandomState])
def test_a_generator_is_a_seed_that_moves_on(state):
    phi, other = make_map("rff", random_state=state(3)), make_map("rff", random_state=state(3))
    first, second = phi.fit(X).transform(X), clone(phi).fit(X).transform(X)
    np.testing.assert_array_equal(other.fit(X).transform(X), first)
    assert not np.array_equal(first, second)
    again = phi.transform(X)
    np.testing.assert_array_equal(again, first)
    machine = KernelMachineRegressor(make_map("rff", random_state=0), [1e-3, 1e-2], random_state=state(0))
    assert machine.fit(X, X[:, 0]).penalty_ in (1e-3, 1e-2)


def chi(X, Y):
    return np.broadcast_to(np.exp(-np.abs(X[:, None] - Y).sum(axis=2)), (len(X), len(Y)))  # read-only: it may keep them


@pytest.mark.filterwarnings("error::UserWarning")
def test_nystroem_takes_a_function_and_a_matrix():
    for kernel, rows, new in [(chi, X, X[:7]), ("precomputed", chi(X, X), chi(X[:7], X))]:
        phi = make_map("nystroem", kernel, n_components=60, random_state=0).fit(rows)
        np.testing.assert_allclose(phi.transform(new) @ phi.transform(rows).T, chi(X[:7], X), atol=1e-8)
        few = make_map("nystroem", kernel, n_components=20, random_state=0).fit(rows.astype(np.float32))
        again = make_map("nystroem", kernel, n_components=20, random_state=0)
        again.restore(rows.shape[1], few.learned_, dtype=np.float32)
        np.testing.assert_array_equal(again.transform(new.astype(np.float32)), few.transform(new.astype(np.float32)))
    assert KernelMachineRegressor(chi, penalties=1e-6).fit(X, X[:, 0]).score(X, X[:, 0]) > 0.99


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (lambda X, Y: np.tanh(X @ Y.T - 3.0), "not symmetric and positive semi-definite: on landmarks its eigenvalues"),
        (lambda X, Y: X[:, :1] + 0 * Y[:, 0], "not symmetric and positive semi-definite"),
        (lambda X, Y: np.ones(3), "a kernel must return the matrix"),
        ("precomputed", r"needs a matrix \(n, n\) and landmarks='uniform', got \(60, 4\)"),
    ],
)
def test_what_is_no_kernel_matrix_is_refused(kernel, message):
    with pytest.raises(ValueError, match=message):
        make_map("nystroem", kernel, random_state=0).fit(data()[0])


SCALES = [0.5, 1.0, 2.0, 4.0]
STATIONARY = [kernel for kernel in KERNELS.values() if hasattr(kernel, "length_scale")]
by_kernel = pytest.mark.parametrize("kernel", [pytest.param(kernel, id=kernel.name) for kernel in STATIONARY])


@by_kernel
def test_a_length_scale_per_column_divides_the_columns(kernel):
    ard, unit = kernel.with_params(length_scale=SCALES), kernel.with_params(length_scale=1.0)
    np.testing.assert_allclose(ard(X, X[:5]), unit(X / SCALES, X[:5] / SCALES), rtol=1e-12)
    np.testing.assert_allclose(ard(sparse.csr_matrix(X)), unit(X / SCALES), rtol=1e-9)
    how = 60, torch.device("cpu"), torch.float64
    np.testing.assert_allclose(ard.against(X[:5], *how)(torch.from_numpy(X)).numpy(), ard(X, X[:5]), rtol=1e-9)
    assert ard == clone(ard) == pickle.loads(pickle.dumps(ard))
    assert ard == kernel.with_params(length_scale=np.array(SCALES))
    for refused in (ard, lambda X: ard.against(X, *how)(torch.from_numpy(X))):
        with pytest.raises(ValueError, match="length_scale has 4 numbers, one per column, and X has 3"):
            refused(X[:, :3])
    with pytest.raises(ValueError, match="length_scale must be positive"):
        kernel.with_params(length_scale=[1.0, -1.0])


@pytest.mark.filterwarnings("ignore:mm matches the mean only")
@pytest.mark.parametrize("method", MAPS)
def test_every_map_divides_the_columns_by_their_length_scales(method):
    stationary = [kernel for kernel in STATIONARY if kernel.name in REGISTRY[method].kernels]
    for kernel in stationary[:1]:
        ard, unit = (
            build(method, kernel=kernel.with_params(length_scale=scales), n_components=8) for scales in (SCALES, 1.0)
        )
        unit.fit(X / SCALES, Y)
        expected = unit.transform(X / SCALES)
        np.testing.assert_allclose(ard.fit(X, Y).transform(X), expected, atol=1e-12)
        np.testing.assert_allclose(ard.transform(sparse.csr_matrix(X)), expected, atol=1e-12)
        np.testing.assert_allclose(ard.transform(torch.from_numpy(X)).numpy(), expected, atol=1e-12)
        np.testing.assert_allclose(np.concatenate([b for _, b in ard.transform_blocks(X, 7)]), expected, atol=1e-12)
        restored = clone(ard).restore(4, ard.learned_, dtype=np.float64)
        np.testing.assert_array_equal(restored.transform(X), ard.transform(X))
        if hasattr(ard, "dense_frequencies"):
            np.testing.assert_allclose(ard.dense_frequencies(), unit.dense_frequencies() / SCALES, rtol=1e-12)
        with pytest.raises(ValueError, match="length_scale has 4 numbers, one per column, and X has 3"):
            clone(ard).fit(X[:, :3], Y)


def irrelevant(task, seed):
    """Return rows of which 3 of 20 columns matter, in other units each, and their targets."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(600, 20))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    y = y + 0.1 * rng.normal(size=600) if task == "regression" else np.sign(y).astype(int)
    return X * np.logspace(-2, 2, 20), y


@pytest.mark.parametrize("task", ["regression", "classes"])
@pytest.mark.parametrize("seed", range(3))
def test_learned_length_scales_beat_the_isotropic_one_where_columns_are_irrelevant(task, seed):
    X, y = irrelevant(task, seed)
    machine = KernelMachineRegressor if task == "regression" else KernelMachineClassifier
    penalties, scores = np.logspace(-7, 0, 8), {}
    scaled = X / X.std(axis=0)  # the isotropic kernel needs it
    for rule, rows in (("ard", X), ("median", scaled), ("scale", scaled)):
        for features in (Gaussian(rule), make_map("orf", Gaussian(rule), n_components=150, random_state=0)):
            fitted = machine(features, penalties=penalties).fit(rows[:400], y[:400])
            scores.setdefault(rule, []).append(fitted.score(rows[400:], y[400:]))
    assert min(scores["ard"]) > max(scores["median"] + scores["scale"]) + 0.03


def test_learned_length_scales_stay_isotropic_or_better_where_all_columns_matter():
    X = np.random.default_rng(0).normal(size=(500, 6))
    y = np.sin(X.sum(axis=1))
    scores = [KernelMachineRegressor(Gaussian(rule), 1e-5).fit(X[:300], y[:300]).score(X[300:], y[300:])
              for rule in ("ard", "median")]  # fmt: skip
    assert scores[0] > scores[1] - 0.02
    assert len({*Gaussian("ard").completed_by(X[:100], np.full(100, 0.1)).length_scale}) == 1


@pytest.mark.parametrize("kind", [int, bool, str, object])
def test_length_scales_are_learned_from_the_classes_of_each_column(kind):
    """Two classes are as good as the numbers 0 and 1."""
    X = np.insert(irrelevant("regression", 0)[0], 20, 0.3, axis=1)  # and a constant that rounding may let vary
    labels = X[:150, :3] > 0
    expected = Gaussian("ard").completed_by(X[:150], labels.astype(float)).length_scale
    found = Gaussian("ard").completed_by(X[:150], labels.astype(kind)).length_scale
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert found[-1] > 1e-3
    assert make_map("orf", Gaussian("ard")).fit(X[:150], labels.astype(kind)).learned_["length_scale"].shape == (21,)


def test_counts_next_to_classes_stay_numbers():
    X, _ = irrelevant("regression", 0)
    both = np.column_stack([np.arange(150), np.arange(150) % 2])
    indicators = np.column_stack([both[:, 0], both[:, 1] == 0, both[:, 1]]).astype(float)
    found, expected = (Gaussian("ard").completed_by(X[:150], y).length_scale for y in (both, indicators))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
