"""The exact kernels: values, types, the rules for their parameters, and kernels by their names."""

from dataclasses import fields

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.sparse import csr_matrix
from scipy.spatial.distance import cdist
from scipy.stats import norm
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

from random_features import arrays, kernels
from random_features.kernels import (
    KERNELS,
    ArcCosine,
    Cauchy,
    Circle,
    Gaussian,
    Laplacian,
    Linear,
    NeuralTangent,
    Polynomial,
    make_kernel,
)
from random_features.kernels.circle import DECAYS, spectrum

#: Every kernel as an experiment asks for it.
MADE = [
    ({"name": "gaussian", "length_scale": 0.7}, Gaussian(0.7), "gaussian"),
    ({"name": "laplacian", "length_scale": 2}, Laplacian(2), "laplacian"),
    ({"name": "cauchy", "length_scale": 2.5}, Cauchy(2.5), "cauchy"),
    ({"name": "arc_cosine", "order": 2}, ArcCosine(2), "arccos2"),
    ({"name": "neural_tangent"}, NeuralTangent(), "neural_tangent"),
    ({"name": "polynomial", "degree": 3, "coef0": 0.5}, Polynomial(3, 0.5), "polynomial"),
    ({"name": "linear"}, Linear(), "linear"),
    ({"name": "circle", "decay": "slowest", "terms": 5}, Circle("slowest", 5), "circle-slowest"),
]


def test_gaussian_is_the_formula():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(7, 3)), rng.normal(size=(5, 3))
    squared = ((X[:, None, :] - Y[None, :, :]) ** 2).sum(axis=-1)
    # Squared distances come from |x|^2 - 2 x.y + |y|^2, a few roundings of numbers of order 10.
    np.testing.assert_allclose(Gaussian(1.7)(X, Y), np.exp(-squared / (2 * 1.7**2)), rtol=1e-13)
    np.testing.assert_allclose(Gaussian(1.7)(X), Gaussian(1.7)(X, X), rtol=1e-12)


def test_gaussian_keeps_float32():
    X = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
    assert Gaussian()(X).dtype == np.float32


def test_gaussian_is_the_transform_of_its_frequencies():
    kernel, tau = Gaussian(0.8), 1.1
    density = norm(scale=kernel.frequency_scale).pdf
    integral = quad(lambda w: np.cos(w * tau) * density(w), -20, 20)[0]
    np.testing.assert_allclose(integral, kernel([[0.0]], [[tau]])[0, 0], rtol=1e-8)


def test_gaussian_quantiles_and_draws_have_one_distribution():
    kernel = Gaussian(0.5)
    np.testing.assert_allclose(kernel.frequency_quantile([0.5, norm.cdf(1.0)]), [0.0, 2.0], atol=1e-12)
    draws = kernel.draw_frequencies(np.random.default_rng(0), (20_000, 2))
    # Standard error of a standard deviation: sigma / sqrt(2 N).
    np.testing.assert_allclose(draws.std(), 2.0, atol=4 * 2.0 / np.sqrt(2 * draws.size))


@pytest.mark.parametrize("value", [0, -1.0, np.inf, np.nan])
def test_length_scale_must_be_positive(value):
    with pytest.raises(ValueError, match="length_scale must be positive"):
        Gaussian(length_scale=value)


@pytest.mark.parametrize("value", ["1", None, True])
def test_length_scale_must_be_a_number(value):
    with pytest.raises(TypeError, match="length_scale must be a number"):
        Gaussian(length_scale=value)


def test_kernels_are_values():
    kernel = Gaussian(length_scale=2)
    assert kernel == Gaussian(2) != Gaussian(3)
    assert repr(kernel) == "Gaussian(length_scale=2)"
    assert kernel.get_params() == {"length_scale": 2}
    assert clone(kernel) == kernel
    with pytest.raises(AttributeError):
        kernel.length_scale = 3


@pytest.mark.parametrize("decay", DECAYS)
def test_the_kernel_on_the_circle_has_the_stated_eigenvalues(decay):
    kernel = Circle(decay, 10)
    points = np.arange(32)[:, None] / 32
    mu = spectrum(decay, 10)
    # on equidistant points the harmonics stay orthogonal: m mu_j / 2 twice each, and 0
    expected = np.sort(np.concatenate([np.repeat(32 * mu / 2, 2), np.zeros(12)]))
    assert np.linalg.eigvalsh(kernel(points)) == pytest.approx(expected, abs=1e-12)
    assert np.diag(kernel(points)) == pytest.approx(np.ones(32))
    assert kernel(points[:1], points[:3])[0, 2] == pytest.approx(sum(mu * np.cos(4 * np.pi * np.arange(1, 11) / 32)))


def test_the_frequencies_follow_their_distribution():
    kernel = Circle("slowest", 5)
    mu = spectrum("slowest", 5)
    drawn = kernel.draw_frequencies(np.random.default_rng(0), (5000, 1)) / (2 * np.pi)
    shares = np.array([np.mean(np.isclose(drawn, j)) for j in range(1, 6)])
    assert np.all(np.abs(shares - mu) < 4 * np.sqrt(mu * (1 - mu) / 5000))
    middles = np.cumsum(mu) - mu / 2
    assert kernel.frequency_quantile(middles) / (2 * np.pi) == pytest.approx([1, 2, 3, 4, 5])


@pytest.mark.parametrize(("asked", "kernel", "row_id"), MADE, ids=[row_id for _, _, row_id in MADE])
def test_make_kernel(asked, kernel, row_id):
    made = make_kernel(asked)
    assert made == kernel
    assert made.name == kernel.name == row_id


@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_has_an_example_here_and_states_the_fields_of_its_class(name):
    assert name in [asked["name"] for asked, _, _ in MADE]
    cls = getattr(kernels, KERNELS[name]["class"])
    assert KERNELS[name]["parameters"] == tuple(field.name for field in fields(cls))


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"length_scale": 1.0}, "a kernel needs a name, got {'length_scale': 1.0}; there are arc_cosine, cauchy"),
        ({"name": "gausian", "length_scale": 1.0}, r"'gausian' \(did you mean 'gaussian'\?\); there are arc_cosine, c"),
        ({"name": "matern"}, "no kernel is called 'matern'; there are arc_cosine, cauchy, circle, gaussian"),
        ({"name": "arccos1"}, "no kernel is called 'arccos1'.*arc_cosine"),
        (
            {"name": "gaussian", "lengthscale": 1.0},
            r"gaussian has no parameter 'lengthscale' \(did you mean 'length_scale'\?\); it has length_scale",
        ),
        ({"name": "linear", "order": 1}, "the kernel linear has no parameter 'order'; it has none"),
        ({"name": "gaussian"}, "the kernel gaussian needs length_scale, got .*; it has length_scale"),
        ({"name": "polynomial", "degree": 2}, "the kernel polynomial needs coef0, got .*; it has degree, coef0"),
        ({"name": "polynomial"}, "the kernel polynomial needs degree and coef0"),
        ({"name": "gaussian", "length_scale": 0.0}, "length_scale must be positive"),
        ({"name": "arc_cosine", "order": 3}, "order must be 0, 1 or 2"),
        ({"name": "circle", "decay": "fast", "terms": 5}, "decay must be one of exponential, polynomial, slowest"),
        ({"name": "circle", "decay": "slowest", "terms": 0}, "terms"),
    ],
)
def test_make_kernel_says_what_is_wrong_and_what_is_known(asked, message):
    with pytest.raises(ValueError, match=message):
        make_kernel(asked)


@pytest.mark.parametrize("kernel", [ArcCosine(0), ArcCosine(1), ArcCosine(2), NeuralTangent()])
def test_kernels_of_angles_do_not_depend_on_blocks(kernel, monkeypatch):
    X = np.random.default_rng(0).normal(size=(30, 4))
    X[7] = X[3]
    whole, against = kernel(X), kernel(X, X[:5])
    monkeypatch.setattr(arrays, "CPU_BLOCK_BYTES", 8 * 30 * 7)
    np.testing.assert_allclose(kernel(X), whole, rtol=1e-13)
    np.testing.assert_allclose(kernel(X, X[:5]), against, rtol=1e-13)


@pytest.mark.parametrize("parameters", [{"degree": True}, {"coef0": True}, {"coef0": False}])
def test_true_and_false_are_no_numbers_of_a_kernel(parameters):
    with pytest.raises(TypeError, match=f"{next(iter(parameters))} must be a number, got"):
        Polynomial(**parameters)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_gaussian_kernel_far_from_the_origin_keeps_its_distances(dtype):
    """Steps of a whole number of units of the last place, so that the data are the same after the move, too."""
    length_scale, far = 3.0, 3e8
    step = max(1.0, float(np.spacing(dtype(far))))
    near = step * np.random.default_rng(0).integers(0, 4, size=(30, 4)).astype(np.float64)
    X = (near + np.float64(dtype(far))).astype(dtype)
    kernel = Gaussian(length_scale * step)
    exact = np.exp(-0.5 * ((near[:, None] - near) ** 2).sum(axis=2) / (length_scale * step) ** 2)
    tolerance = 10 * np.finfo(dtype).eps
    assert kernel(X).dtype == dtype
    np.testing.assert_allclose(kernel(X), exact, atol=tolerance)
    np.testing.assert_allclose(kernel(X, X[:7]), exact[:, :7], atol=tolerance)
    np.testing.assert_array_equal(np.diag(kernel(X)), 1.0)
    # only one of the two is far
    np.testing.assert_array_equal(kernel(X, near[:5]), np.zeros((30, 5)))
    np.testing.assert_allclose(kernel(near[:5], X), np.zeros((5, 30)))


@pytest.mark.parametrize("Y", [None, 7])
def test_a_gaussian_kernel_of_ordinary_data_is_that_of_scikit_learn_to_the_last_bit(Y):
    for dtype in (np.float64, np.float32):
        X = np.random.default_rng(0).normal(size=(40, 6)).astype(dtype)
        X += dtype(1000)
        np.testing.assert_array_equal(Gaussian(2.0)(X, Y and X[:Y]), rbf_kernel(X, Y and X[:Y], gamma=0.125))


def exact_gaussian(X, Y, length_scale):
    return np.exp(-0.5 * cdist(X.astype(float), Y.astype(float), "sqeuclidean") / length_scale**2)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("far", [1e6, 1e9, 1e15])
@pytest.mark.parametrize("n_far", [1, 20])
def test_rows_that_are_far_off_leave_the_gaussian_kernel_of_the_others_as_it_is(dtype, far, n_far):
    X = np.random.default_rng(0).normal(size=(40, 6))
    X[:n_far] += far
    X = X.astype(dtype)
    tolerance = 10 * np.finfo(dtype).eps
    np.testing.assert_allclose(Gaussian(1.5)(X), exact_gaussian(X, X, 1.5), atol=tolerance)
    np.testing.assert_allclose(Gaussian(1.5)(X, X[::3]), exact_gaussian(X, X[::3], 1.5), atol=tolerance)


@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_sparse_rows_far_from_the_origin_keep_their_distances(offset):
    X = np.random.default_rng(0).normal(size=(50, 6)) + offset
    sparse = csr_matrix(X)
    np.testing.assert_allclose(Gaussian(1.5)(sparse), exact_gaussian(X, X, 1.5), atol=1e-14)
    np.testing.assert_allclose(Gaussian(1.5)(sparse, sparse[:7]), exact_gaussian(X, X[:7], 1.5), atol=1e-14)


@pytest.mark.parametrize("length_scale", [1e-300, 1e300])
def test_a_length_scale_whose_square_is_no_number_is_refused(length_scale):
    with pytest.raises(ValueError, match="length_scale must be between 1e-150 and 1e"):
        Gaussian(length_scale)
