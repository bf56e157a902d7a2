"""The kernel of a map as people state it: by scikit-learn's names, by rules, in a search over a pipeline."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF, Matern
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from random_features import maps
from random_features.kernels import Cauchy, Gaussian, Laplacian, Linear, Polynomial
from random_features.maps import list_maps, make_map
from random_features.maps.montecarlo import OrthogonalRandom
from random_features.maps.stated import as_kernel


def data(n=60, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * [1.0, 2.0, 0.5, 3.0]
    return X, np.sign(np.sin(X[:, 0]) + 0.1 * rng.normal(size=n))


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


def test_another_parameter_of_a_shared_kernel_leaves_the_other_map_alone():
    kernel = Gaussian(1.0)
    one, other = make_map("rff", kernel=kernel), make_map("orf", kernel=kernel)
    one.set_params(kernel__length_scale=3.0, n_components=7)
    assert (one.kernel, one.n_components, other.kernel) == (Gaussian(3.0), 7, kernel)


def test_the_default_kernel_takes_parameters_too():
    phi = make_map("rff").set_params(kernel__length_scale=0.5)
    assert phi.kernel == Gaussian(0.5)
    assert make_map("ts").set_params(kernel__degree=3).kernel == Polynomial(3, 1.0)
    assert clone(phi).kernel == Gaussian(0.5)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"kernel__lengthscale": 1.0},
            r"gaussian has no parameter 'lengthscale'; did you mean length_scale\? known are length_scale",
        ),
        ({"kernel__length_scale": -1.0}, "length_scale must be positive"),
        ({"kernel__length_scale": "mean"}, "length_scale must be a number or one of 'median', 'scale', got 'mean'"),
        ({"components": 3}, "Invalid parameter 'components'"),
    ],
)
def test_a_wrong_parameter_is_named(params, message):
    with pytest.raises((TypeError, ValueError), match=message):
        make_map("rff").set_params(**params)


@pytest.mark.parametrize("method", ["rff", "sorf", "ssf", "nystroem", "slsrff", "kprff"])
@pytest.mark.parametrize("rule", ["median", "scale"])
def test_a_rule_is_learned_from_the_data_that_fit_sees(method, rule):
    X, y = data()
    distances = np.linalg.norm(X[:, None] - X, axis=2)[np.triu_indices(len(X), 1)]
    expected = {"median": np.median(distances), "scale": np.sqrt(X.shape[1] * X.var() / 2)}[rule]
    phi = make_map(method, kernel=Gaussian(rule), n_components=16, random_state=0).fit(X, y)
    np.testing.assert_allclose(phi.kernel_.length_scale, expected, rtol=1e-12)
    stated = make_map(method, kernel=Gaussian(phi.kernel_.length_scale), n_components=16, random_state=0).fit(X, y)
    np.testing.assert_array_equal(phi.transform(X), stated.transform(X))
    # the stated kernel stays a rule, so that another fit learns anew
    assert phi.kernel == Gaussian(rule)
    np.testing.assert_allclose(phi.fit(2 * X, y).kernel_.length_scale, 2 * expected, rtol=1e-12)


@pytest.mark.parametrize("kernel", [Gaussian("median"), Laplacian("scale"), Cauchy("median")])
def test_a_map_that_has_learned_its_length_scale_is_restored_from_what_it_learned(kernel):
    X, _ = data()
    phi = make_map("rff", kernel=kernel, n_components=5, random_state=3).fit(X)
    again = make_map("rff", kernel=kernel, n_components=5, random_state=3).restore(4, phi.learned_, dtype=np.float64)
    np.testing.assert_array_equal(again.transform(X), phi.transform(X))
    assert again.kernel_ == phi.kernel_
    assert set(again.learned_) == set(phi.learned_) == {"length_scale", "learned_by"}


def test_scale_is_the_gamma_of_scikit_learn():
    X, y = data()
    gamma = SVC(gamma="scale").fit(X, y)._gamma
    np.testing.assert_allclose(Gaussian("scale").completed_by(X)(X), rbf_kernel(X, gamma=gamma), rtol=1e-12)


@pytest.mark.parametrize("call", [lambda k: k([[0.0]]), lambda k: make_map("rff", kernel=k).draw(2)])
def test_a_rule_without_data_says_that_it_waits_for_them(call):
    with pytest.raises(ValueError, match="length_scale='median' waits for data"):
        call(Gaussian("median"))


@pytest.mark.parametrize(
    ("rule", "message"), [("median", "the median distance between training rows is 0"), ("scale", "are equal")]
)
def test_data_without_any_spread_give_no_length_scale(rule, message):
    with pytest.raises(ValueError, match=message):
        make_map("rff", kernel=Gaussian(rule)).fit(np.ones((5, 2)))


@pytest.mark.parametrize(
    ("stated", "kernel"),
    [("rbf", Gaussian("scale")), ("linear", Linear()), (RBF(0.7), Gaussian(0.7)), (Gaussian(2.0), Gaussian(2.0))],
)
def test_kernels_of_scikit_learn_are_taken_where_they_mean_the_same(stated, kernel):
    assert as_kernel(stated) == kernel


@pytest.mark.parametrize("stated", ["gauss", "poly", Matern(0.5), 3.0])
def test_what_is_no_kernel_is_refused_with_what_is_taken(stated):
    with pytest.raises(TypeError, match=r"kernel must be an object from random_features.kernels, 'rbf', 'linear'"):
        make_map("rff", kernel=stated)


def test_a_length_scale_a_column_is_refused():
    with pytest.raises(ValueError, match="one length scale"):
        make_map("rff", kernel=RBF([1.0, 2.0]))


def test_classes_are_imported_from_the_package():
    assert maps.OrthogonalRandom is OrthogonalRandom
    assert {"OrthogonalRandom", "Nystroem", "make_map"} <= set(dir(maps))
    with pytest.raises(AttributeError, match=r"no 'OrthogonalRandm'; did you mean OrthogonalRandom\?"):
        _ = maps.OrthogonalRandm


@pytest.mark.parametrize(
    ("name", "params", "error", "message"),
    [
        ("fastfod", {}, ValueError, r"no feature map is called 'fastfod'; did you mean fastfood\?"),
        ("rom", {"n_factor": 2}, TypeError, r"rom has no parameter 'n_factor'; did you mean n_factors\?"),
    ],
)
def test_a_misspelt_map_or_option_names_the_nearest(name, params, error, message):
    with pytest.raises(error, match=message):
        make_map(name, **params)


def test_the_list_of_maps_is_shown_as_a_table():
    lines = str(list_maps()).splitlines()
    assert len(lines) == len(list_maps()) + 1
    assert lines[0].split() == ["name", "family", "kernels", "fit", "cost", "reference"]
    place = lines[0].index("fit")
    assert all(line[place : place + 2] == "O(" and line[place - 1] == " " for line in lines[1:])


def test_the_class_of_a_kernel_is_refused_with_what_to_write():
    with pytest.raises(TypeError, match=r"kernel must be an object, got the class Gaussian: write Gaussian\(\)"):
        make_map("rff", kernel=Gaussian).fit(np.ones((3, 2)))
