"""The exact kernels: values, types, the rules for their parameters, and kernels by their names."""

from dataclasses import fields
from itertools import product

import map_variants
import numpy as np
import pandas as pd
import pytest
import torch
from scipy.integrate import quad
from scipy.sparse import csr_matrix
from scipy.spatial.distance import cdist
from scipy.stats import cauchy, chi2, kstest, laplace, norm
from sklearn.base import clone
from sklearn.metrics.pairwise import pairwise_kernels, rbf_kernel
from sklearn.svm import SVC

from random_features import arrays, kernels, make_map
from random_features.kernels import (
    KERNELS,
    ArcCosine,
    Cauchy,
    Circle,
    ExponentialPower,
    Gaussian,
    GeneralisedCauchy,
    Laplacian,
    Linear,
    Matern,
    NeuralTangent,
    Polynomial,
    make_kernel,
)
from random_features.kernels.base import ScaleMixture
from random_features.kernels.circle import DECAYS, spectrum
from random_features.learners.kernel_ridge import kernel_product
from random_features.pivoted_cholesky import kernel_matrix

#: The list of kernels in messages.
KNOWN = ", ".join(sorted(KERNELS))
#: Every kernel as an experiment asks for it.
MADE = [
    ({"name": "gaussian", "length_scale": 0.7}, Gaussian(0.7)),
    ({"name": "laplacian", "length_scale": 2}, Laplacian(2)), ({"name": "cauchy", "length_scale": 2.5}, Cauchy(2.5)),
    ({"name": "matern", "length_scale": 2, "nu": 2.5}, Matern(2, 2.5)),
    ({"name": "exponential_power", "length_scale": 2, "exponent": 1.5}, ExponentialPower(2, 1.5)),
    ({"name": "generalised_cauchy", "length_scale": 2, "exponent": 1.5, "decay": 3}, GeneralisedCauchy(2, 1.5, 3)),
    ({"name": "arc_cosine", "order": 2}, ArcCosine(2)), ({"name": "neural_tangent"}, NeuralTangent()),
    ({"name": "polynomial", "degree": 3, "coef0": 0.5}, Polynomial(3, 0.5)), ({"name": "linear"}, Linear()),
    ({"name": "circle", "decay": "slowest", "terms": 5}, Circle("slowest", 5)),
]  # fmt: skip
#: What rows of results call those that are not called by their names alone.
OF_ROWS = {"arc_cosine": "arccos2", "circle": "circle-slowest"}

#: Values that parameters refuse, with the message after the name of the parameter.
REFUSED = [
    *((each, "length_scale", [0, -1.0, np.inf, np.nan], "must be positive") for each in (Gaussian, Laplacian, Cauchy)),
    (Gaussian, "length_scale", [1e-300, 1e300], "must be between 1e-150 and 1e"),
    (Gaussian, "length_scale", ["1", None, True], "must be a number"),
    *((Polynomial, name, [True, False], "must be a number, got") for name in ("degree", "coef0")),
    (ArcCosine, "order", [True, 3, -1, 1.5, "1", None], "must be 0, 1 or 2"),
    (Matern, "nu", [0.0], "must be positive"), (ExponentialPower, "exponent", [2.1], "must be at most 2"),
    *((GeneralisedCauchy, name, [0.0, -1.0], "must be positive") for name in ("decay", "exponent")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kernel", "name", "value", "message"),
    [(*of, value, message) for *of, values, message in REFUSED for value in values],
)
def test_values_that_a_parameter_cannot_have_are_refused(kernel, name, value, message):
    with pytest.raises(TypeError if "must be a number" in message else ValueError, match=f"{name} {message}"):
        kernel(**{name: value})


def test_kernels_are_values():
    kernel = Gaussian(length_scale=2)
    assert clone(kernel) == kernel == Gaussian(2) != Gaussian(3)
    assert kernel.get_params() == {"length_scale": 2}
    with pytest.raises(AttributeError):
        kernel.length_scale = 3
    with pytest.warns(FutureWarning, match=r"a kernel does not change: .* list kernels: kernel=\[Gaussian\(1.0\)"):
        assert SVC(kernel=kernel).set_params(kernel__length_scale=3).kernel == kernel


@pytest.mark.parametrize("decay", DECAYS)
def test_the_kernel_on_the_circle_has_the_stated_eigenvalues(decay):
    kernel, mu, points = Circle(decay, 10), spectrum(decay, 10), np.arange(32)[:, None] / 32
    # on equidistant points the harmonics stay orthogonal: m mu_j / 2 twice each, and 0
    expected = np.sort(np.concatenate([np.repeat(32 * mu / 2, 2), np.zeros(12)]))
    assert np.linalg.eigvalsh(kernel(points)) == pytest.approx(expected, abs=1e-12)
    assert np.diag(kernel(points)) == pytest.approx(np.ones(32))
    assert kernel(points[:1], points[:3])[0, 2] == pytest.approx(sum(mu * np.cos(4 * np.pi * np.arange(1, 11) / 32)))


def test_the_frequencies_follow_their_distribution():
    kernel, mu = Circle("slowest", 5), spectrum("slowest", 5)
    drawn = kernel.draw_frequencies(np.random.default_rng(0), (5000, 1)) / (2 * np.pi)
    shares = np.array([np.mean(np.isclose(drawn, j)) for j in range(1, 6)])
    assert np.all(np.abs(shares - mu) < 4 * np.sqrt(mu * (1 - mu) / 5000))
    middles = np.cumsum(mu) - mu / 2
    assert kernel.frequency_quantile(middles) / (2 * np.pi) == pytest.approx([1, 2, 3, 4, 5])
    for fit in (kernel, *(make_map(name, kernel).fit for name in ("rff", "qmc", "scrf", "nystroem"))):
        with pytest.raises(ValueError, match="the circle kernel is for data of one column, got 5"):
            fit(np.eye(5))


@pytest.mark.parametrize(("asked", "kernel"), MADE, ids=[asked["name"] for asked, _ in MADE])
def test_make_kernel(asked, kernel):
    made = make_kernel(asked)
    assert made == kernel
    assert made(np.float32([[0.0], [0.5]])).dtype == np.float32
    assert made.name == kernel.name == OF_ROWS.get(asked["name"], asked["name"])
    assert type("Own", (type(kernel),), {})(**kernel.get_params()).name == kernel.name
    assert not hasattr(type(type(kernel).__name__, (kernels.base.Kernel,), {"_values": None})(), "name")


@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_has_an_example_here_and_states_the_fields_of_its_class(name):
    assert name in [asked["name"] for asked, _ in MADE]
    cls = getattr(kernels, KERNELS[name].class_name)
    assert KERNELS[name].parameters == tuple(field.name for field in fields(cls))


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"length_scale": 1.0}, f"a kernel needs a name, got {{'length_scale': 1.0}}; there are {', '.join(KERNELS)}"),
        ({"name": "gausian", "length_scale": 1.0}, rf"'gausian'; did you mean gaussian\? known are {KNOWN}"),
        ({"name": "wavelet"}, f"no kernel is called 'wavelet'; known are {KNOWN}"),
        ({"name": "arccos1"}, "no kernel is called 'arccos1'.*arc_cosine"),
        (
            {"name": "gaussian", "lengthscale": 1.0},
            r"gaussian has no parameter 'lengthscale'; did you mean length_scale\? known are length_scale",
        ),
        ({"name": "linear", "order": 1}, "the kernel linear has no parameter 'order'; known are none"),
        ({"name": "gaussian"}, "the kernel gaussian needs length_scale, got .*; it has length_scale"),
        ({"name": "polynomial", "degree": 2}, "the kernel polynomial needs coef0, got .*; it has degree, coef0"),
        ({"name": "polynomial"}, "the kernel polynomial needs degree and coef0"),
        ({"name": "gaussian", "length_scale": 0.0}, "length_scale must be positive"),
        ({"name": "arc_cosine", "order": 3}, "order must be 0, 1 or 2"),
        ({"name": "polynomial", "degree": 0, "coef0": 1.0}, "degree"),
        *(({"name": "polynomial", "degree": 2, "coef0": c}, "coef0 must be finite and") for c in (-1.0, np.inf)),
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
    for form, size in product([np.asarray, csr_matrix], [1e-170, 1e170]):  # the products of lengths are the same
        np.testing.assert_allclose(kernel(form(size * X), form(X[:5] / size)), against, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("Y", [None, 7])
def test_a_gaussian_kernel_of_ordinary_data_is_that_of_scikit_learn_to_the_last_bit(Y):
    for dtype in (np.float64, np.float32):
        X = np.random.default_rng(0).normal(size=(40, 6)).astype(dtype)
        X += dtype(1000)
        np.testing.assert_array_equal(Gaussian(2.0)(X, Y and X[:Y]), rbf_kernel(X, Y and X[:Y], gamma=0.125))


def exact_gaussian(X, Y, length_scale):
    return np.exp(-0.5 * cdist(X.astype(float), Y.astype(float), "sqeuclidean") / length_scale**2)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("far", [0.0, 1e6, 1e7, 1e9, 1e15])
@pytest.mark.parametrize("n_far", [1, 20, 40])
@pytest.mark.parametrize("container", [np.asarray, csr_matrix])
def test_rows_that_are_far_off_leave_the_gaussian_kernel_of_the_others_as_it_is(dtype, far, n_far, container):
    X = np.random.default_rng(0).normal(size=(40, 6))
    X[:n_far] += far
    X = X.astype(dtype)
    tolerance = 10 * np.finfo(dtype).eps
    for Y in (X, X[::3]):
        matrix = Gaussian(1.5)(container(X), container(Y))
        np.testing.assert_allclose(matrix, exact_gaussian(X, Y, 1.5), atol=tolerance)
    np.testing.assert_allclose(Gaussian(1.5)(container(X)), exact_gaussian(X, X, 1.5), atol=tolerance)


EVERY_KERNEL = list(map_variants.KERNELS.values())

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(7, 3)), RNG.normal(size=(5, 3))


def test_kernels_are_the_formulas():
    differences = X[:, None, :] - Y[None, :, :]
    # Squared distances come from |x|^2 - 2 x.y + |y|^2, a few roundings of numbers of order 10.
    np.testing.assert_allclose(Gaussian(1.7)(X, Y), np.exp(-(differences**2).sum(axis=-1) / (2 * 1.7**2)), rtol=1e-13)
    np.testing.assert_allclose(Laplacian(1.7)(X, Y), np.exp(-np.abs(differences).sum(axis=-1) / 1.7), rtol=1e-13)
    np.testing.assert_allclose(Cauchy(1.7)(X, Y), np.prod(1 / (1 + (differences / 1.7) ** 2), axis=-1), rtol=1e-13)
    np.testing.assert_allclose(Polynomial(3, 0.5)(X, Y), (X @ Y.T + 0.5) ** 3, rtol=1e-12)
    np.testing.assert_allclose(Linear()(X, Y), X @ Y.T, rtol=1e-12)
    gradients = (X @ Y.T) * ArcCosine(0)(X, Y) + ArcCosine(1)(X, Y)
    np.testing.assert_allclose(NeuralTangent()(X, Y), gradients, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("kernel", EVERY_KERNEL, ids=repr)
def test_matrices_are_symmetric_positive_and_keep_their_type(kernel):
    K = kernel(X)
    assert kernel(X, Y).shape == (7, 5)
    frame, other, unnamed = pd.DataFrame(X, columns=list("abc")), pd.DataFrame(Y, columns=list("cab")), pd.DataFrame(Y)
    for call in (kernel, lambda one, two: kernel_product(kernel, two, np.ones((5, 1)), one)):
        with pytest.raises(ValueError, match=r"another order: give Y\[X.columns\]"):
            call(frame, other)
        for same in (Y, unnamed, other.set_axis(list("abc"), axis=1)):
            np.testing.assert_allclose(call(frame, same), call(X, Y), rtol=1e-12)
    np.testing.assert_allclose(K, K.T, rtol=1e-12)
    # Rounding of eigenvalues is a few units in the last place of the largest one.
    assert np.linalg.eigvalsh(K).min() > -1e-13 * np.abs(K).max()
    np.testing.assert_allclose(pairwise_kernels(X, metric=kernel), K, rtol=1e-12, atol=1e-12)  # pair by pair
    rows = X.astype(np.float32)
    single, double = kernel(rows), kernel(rows.astype(np.float64))
    of_tensor = torch.no_grad()(kernel.__call__)(torch.from_numpy(rows).requires_grad_())
    assert (single.dtype, of_tensor.dtype) == (np.float32, torch.float32)
    np.testing.assert_allclose(single, double, rtol=2e-5)
    np.testing.assert_array_equal(of_tensor, single)
    with pytest.raises(ValueError, match="have no gradient"):
        kernel(rows, torch.from_numpy(rows).requires_grad_())
    for points, form in product((None, rows), (np.asarray, csr_matrix, torch.from_numpy)):  # of an exact machine
        np.testing.assert_allclose(kernel_matrix(kernel, form(rows), points), double, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("kernel", "dist"), [(Gaussian(0.8), norm), (Laplacian(0.8), cauchy), (Cauchy(0.8), laplace)])
def test_spectral_distributions(kernel, dist):
    """The Laplacian kernel has Cauchy frequencies, the Cauchy kernel Laplace frequencies: not the other way round."""
    dist = dist(scale=1 / kernel.length_scale)
    probabilities = np.linspace(0.001, 0.999, 57)
    np.testing.assert_allclose(kernel.frequency_quantile(probabilities), dist.ppf(probabilities), rtol=1e-9, atol=1e-14)
    draws = kernel.draw_frequencies(np.random.default_rng(0), (4000, 2))
    assert draws.shape == (4000, 2)
    assert kstest(draws.ravel(), dist.cdf).pvalue > 1e-3
    for tau in (0.3, 1.1, 2.7):
        transform = 2 * quad(dist.pdf, 0, np.inf, weight="cos", wvar=tau, limlst=200)[0]
        np.testing.assert_allclose(transform, kernel([[0.0]], [[tau]])[0, 0], rtol=1e-6)


def angular_mean(order, theta):
    """2 E[a(w.x) a(w.y)] for unit vectors at an angle: in polar coordinates of their plane, r is a chi with 2."""
    radial = 2.0**order * np.prod(np.arange(1, order + 1))  # E r^(2 order)
    integral = quad(lambda phi: (np.cos(phi) * np.cos(phi - theta)) ** order, theta - np.pi / 2, np.pi / 2)[0]
    return 2 * radial * integral / (2 * np.pi)


@pytest.mark.parametrize("order", [0, 1, 2])
def test_arc_cosine_is_twice_the_mean_product_of_activations(order):
    for theta in (0.0, 0.4, np.pi / 2, 2.5, np.pi):
        x, y = np.array([[2.0, 0.0]]), 3.0 * np.array([[np.cos(theta), np.sin(theta)]])
        expected = 6.0**order * angular_mean(order, theta)
        np.testing.assert_allclose(ArcCosine(order)(x, y)[0, 0], expected, rtol=1e-10, atol=1e-12)
    origin = np.zeros((1, 2))  # the step is 1/2 there, as in features: its mean product with a step is 1/4
    assert ArcCosine(order)(x, origin)[0, 0] == ArcCosine(order)(origin)[0, 0] == (0.5 if order == 0 else 0.0)


def test_arc_cosine_diagonal_is_exact():
    rows = 100 * X
    lengths = np.linalg.norm(rows, axis=1)
    np.testing.assert_array_equal(np.diag(ArcCosine(0)(rows)), 1.0)
    np.testing.assert_allclose(np.diag(ArcCosine(1)(rows)), lengths**2, rtol=1e-14)
    np.testing.assert_allclose(np.diag(ArcCosine(2)(rows)), 3 * lengths**4, rtol=1e-14)


@pytest.mark.parametrize("angle", [1e-3, 1e-6, 1e-9])
def test_arc_cosine_of_nearly_parallel_rows_keeps_its_digits(angle):
    """1 - angle / pi for order 0; through the cosine, an angle of 1e-9 would be lost altogether."""
    x, y = np.array([[3.0, 0.0]]), np.array([[np.cos(angle), np.sin(angle)]])
    np.testing.assert_allclose(1 - ArcCosine(0)(x, y)[0, 0], angle / np.pi, atol=2e-16, rtol=1e-9)
    np.testing.assert_allclose(ArcCosine(0)(x, -y)[0, 0], angle / np.pi, atol=2e-16)


@pytest.mark.parametrize("kernel", [ArcCosine(0), ArcCosine(1), ArcCosine(2)], ids=repr)
def test_activations(kernel):
    projections = torch.tensor([-2.0, 0.0, 3.0])
    out = torch.empty(3)
    kernel.activation(projections, out)
    assert out.tolist() == {0: [0.0, 0.5, 1.0], 1: [0.0, 0.0, 3.0], 2: [0.0, 0.0, 9.0]}[kernel.order]
    assert projections.tolist() == [-2.0, 0.0, 3.0]


@pytest.mark.parametrize("offset", [0.0, 100.0])
@pytest.mark.parametrize("kernel", EVERY_KERNEL, ids=repr)
def test_values_against_one_matrix_are_the_kernel(kernel, offset):
    """In both types, block after block, and far from the origin, where squared distances are small differences; of data
    in single precision in double precision."""
    rows, others = X + offset, Y + offset
    expected = kernel(rows, others)
    cpu = torch.device("cpu")
    for dtype, tolerance in ((torch.float64, 1e-10), (torch.float32, 1e-10 + 2**-23)):
        values = kernel.against(others, 4, cpu, dtype)
        for part in (slice(0, 4), slice(4, 7), slice(0, 2)):
            block = values(torch.from_numpy(rows[part]))
            assert block.dtype == dtype
            np.testing.assert_allclose(block.numpy(), expected[part], atol=tolerance * np.abs(expected).max())
    single = X.astype(np.float32)
    found = kernel.against(Y, 7, cpu, torch.float64)(torch.from_numpy(single))
    np.testing.assert_allclose(found.numpy(), kernel(single.astype(np.float64), Y), rtol=1e-12)


FAR_APART = np.array([[0.0, 0.0], [3.0, 1.0], [-2.0, 5.0]])


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Matern(1.0), ExponentialPower(1.0), GeneralisedCauchy(1.0)])
@pytest.mark.parametrize(("size", "length_scale"), [(1e154, 1.0), (1e160, 1.0), (1e300, 1e100), (1e60, 1e-100)])
def test_distances_whose_squares_overflow_are_refused_without_a_warning(kernel, size, length_scale):
    kernel, X = kernel.with_params(length_scale=length_scale), size * FAR_APART
    for arrays_of_rows in [(X,), (X, FAR_APART), (FAR_APART, X)]:
        with pytest.raises(ValueError, match=r"distances above .* overflow: scale the data"):
            kernel(*arrays_of_rows)
    assert np.isfinite(kernel(FAR_APART * length_scale)).all()


@pytest.mark.parametrize("kernel", EVERY_KERNEL, ids=repr)
@pytest.mark.parametrize(("size", "dtype"), [(1e25, np.float32), (1e200, np.float64)])
@pytest.mark.parametrize("form", [np.asarray, csr_matrix])
def test_values_are_finite_or_refused_without_a_warning(kernel, size, dtype, form):
    try:
        is_right = np.isfinite(kernel(form((size * FAR_APART).astype(dtype)))).all()
    except ValueError as error:
        is_right = str(error).endswith(": scale the data")
    assert is_right


@pytest.mark.parametrize(
    "kernel", [Gaussian(1.0), Laplacian(1.0), Cauchy(1.0), Matern(1.0, 50.0), ExponentialPower(1.0)]
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_far_rows_have_the_value_0_without_a_warning(kernel, dtype):
    X = (1e30 * FAR_APART).astype(dtype)
    np.testing.assert_array_almost_equal(kernel(X), np.eye(3), decimal=30)


SCALED = [kernel for kernel in EVERY_KERNEL if hasattr(kernel, "length_scale")]


@pytest.mark.parametrize("kernel", SCALED, ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("number", [np.float16, np.float32, np.float64, np.int8])
def test_a_length_scale_is_the_same_number_in_any_type(kernel, number):
    of_type, plain = (kernel.with_params(length_scale=each) for each in (number(3), float(number(3))))
    np.testing.assert_array_equal(of_type(FAR_APART), plain(FAR_APART))
    assert isinstance(of_type.length_scale, int | float)
    far = np.float32([[20240.0], [20240.01]])  # quotients in float32 would be rounded to 0.06
    scalar, per_column = (kernel.with_params(length_scale=each)(far) for each in (0.03, [0.03]))
    np.testing.assert_allclose(per_column, scalar, rtol=1e-5)


@pytest.mark.parametrize("kernel", SCALED, ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("length_scale", [1e-19, 1e-20, 1e-60, 1e-140])
def test_short_length_scales_of_single_precision_data_give_no_nan(kernel, length_scale):
    X = np.float32([[0.0], [0.0], [1e-30]])
    expected = [[1, 1, 0], [1, 1, 0], [0, 0, 1]] if length_scale < 1e-40 else np.ones((3, 3))
    for each in (length_scale, [length_scale]) if kernel.name == "gaussian" else (length_scale,):
        of_single = kernel.with_params(length_scale=each)(X)
        assert of_single.dtype == np.float32
        np.testing.assert_allclose(of_single, expected, atol=1e-6)


@pytest.mark.parametrize("nu", [49.0, 50.1, 100.0, 159.0, 160.0, 1e3, 1e6, 1e300])
def test_the_matern_kernel_of_a_large_nu_is_the_mean_of_gaussian_kernels(nu):
    """From nu = 160 on Gamma(nu) overflowed, and the kernel was 0 between different points; from 100 on 1 nearby."""
    for r in (0.0, 1e-3, 0.05, 1.0, 3.0, 9.0):
        expected = np.exp(-(r**2) / 2)
        if nu < 1e5:
            spread = np.sqrt(2 * nu)  # of R, a chi-squared number over 2 nu, about 1
            density = lambda u: np.exp(-(r**2) / 2 / u) * 2 * nu * chi2.pdf(2 * nu * u, 2 * nu)  # noqa: B023, E731
            low, high = max(1e-9, 1 - 20 / spread), 1 + 30 / spread
            expected = quad(density, low, high, points=[1.0], epsabs=1e-13, limit=200)[0]
        np.testing.assert_allclose(Matern(2.0, nu)([[0.0]], [[2 * r]]), expected, rtol=1e-5, atol=2e-9)


def test_a_mixture_that_draws_no_factors_is_refused():
    with pytest.raises(TypeError, match="draw_scales"):
        type("Mixture", (ScaleMixture,), {"of_distance": lambda self, r: r})()
