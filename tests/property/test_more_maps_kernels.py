"""The kernels beside the Gaussian one: values, spectral laws and activations."""

import numpy as np
import pytest
import torch
from scipy.integrate import quad
from scipy.stats import cauchy, kstest, laplace

from random_features.kernels import ArcCosine, Cauchy, Gaussian, Laplacian, Linear, NeuralTangent, Polynomial

EVERY_KERNEL = [
    Gaussian(1.3),
    Laplacian(2.0),
    Cauchy(2.0),
    ArcCosine(0),
    ArcCosine(1),
    ArcCosine(2),
    NeuralTangent(),
    Polynomial(3, 0.5),
    Linear(),
]


def points(seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(7, 3)), rng.normal(size=(5, 3))


def test_laplacian_and_cauchy_are_the_formulas():
    X, Y = points()
    differences = X[:, None, :] - Y[None, :, :]
    np.testing.assert_allclose(Laplacian(1.7)(X, Y), np.exp(-np.abs(differences).sum(axis=-1) / 1.7), rtol=1e-13)
    np.testing.assert_allclose(Cauchy(1.7)(X, Y), np.prod(1 / (1 + (differences / 1.7) ** 2), axis=-1), rtol=1e-13)


def test_polynomial_and_linear_are_the_formulas():
    X, Y = points()
    np.testing.assert_allclose(Polynomial(3, 0.5)(X, Y), (X @ Y.T + 0.5) ** 3, rtol=1e-12)
    np.testing.assert_allclose(Linear()(X, Y), X @ Y.T, rtol=1e-12)


@pytest.mark.parametrize("kernel", EVERY_KERNEL, ids=repr)
def test_matrices_are_symmetric_positive_and_keep_their_type(kernel):
    X, Y = points()
    K = kernel(X)
    assert kernel(X, Y).shape == (7, 5)
    np.testing.assert_allclose(K, K.T, rtol=1e-12)
    # Rounding of eigenvalues is a few units in the last place of the largest one.
    assert np.linalg.eigvalsh(K).min() > -1e-13 * np.abs(K).max()
    np.testing.assert_allclose(kernel(X, X.copy()), K, rtol=1e-12)
    single = kernel(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, kernel(X.astype(np.float32).astype(np.float64)), rtol=2e-5)


@pytest.mark.parametrize(
    ("kernel", "law"), [(Laplacian(0.8), cauchy), (Cauchy(0.8), laplace)], ids=["laplacian", "cauchy"]
)
def test_spectral_laws(kernel, law):
    """The Laplacian kernel has Cauchy frequencies, the Cauchy kernel Laplace frequencies: not the other way round."""
    law = law(scale=1 / kernel.length_scale)
    probabilities = np.linspace(0.001, 0.999, 57)
    np.testing.assert_allclose(kernel.frequency_quantile(probabilities), law.ppf(probabilities), rtol=1e-9, atol=1e-14)
    draws = kernel.draw_frequencies(np.random.default_rng(0), (4000, 2))
    assert draws.shape == (4000, 2)
    assert kstest(draws.ravel(), law.cdf).pvalue > 1e-3
    for tau in (0.3, 1.1, 2.7):
        transform = 2 * quad(law.pdf, 0, np.inf, weight="cos", wvar=tau, limlst=200)[0]
        np.testing.assert_allclose(transform, kernel([[0.0]], [[tau]])[0, 0], rtol=1e-6)


def test_frequency_scale_of_the_cauchy_kernel_is_the_standard_deviation():
    np.testing.assert_allclose(Cauchy(0.8).frequency_scale, laplace(scale=1 / 0.8).std())


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


@pytest.mark.parametrize("order", [0, 1, 2])
def test_arc_cosine_at_the_origin_is_that_of_the_features(order):
    """The step is 1/2 at 0: the mean product with a step that is 1 half of the time is 1/4."""
    x, origin = np.array([[1.0, 2.0]]), np.zeros((1, 2))
    expected = 0.5 if order == 0 else 0.0
    assert ArcCosine(order)(x, origin)[0, 0] == ArcCosine(order)(origin)[0, 0] == expected


def test_arc_cosine_diagonal_is_exact():
    X = 100 * points()[0]
    lengths = np.linalg.norm(X, axis=1)
    np.testing.assert_array_equal(np.diag(ArcCosine(0)(X)), 1.0)
    np.testing.assert_allclose(np.diag(ArcCosine(1)(X)), lengths**2, rtol=1e-14)
    np.testing.assert_allclose(np.diag(ArcCosine(2)(X)), 3 * lengths**4, rtol=1e-14)


@pytest.mark.parametrize("angle", [1e-3, 1e-6, 1e-9])
def test_arc_cosine_of_nearly_parallel_rows_keeps_its_digits(angle):
    """1 - angle / pi for order 0; through the cosine, an angle of 1e-9 would be lost altogether."""
    x, y = np.array([[3.0, 0.0]]), np.array([[np.cos(angle), np.sin(angle)]])
    np.testing.assert_allclose(1 - ArcCosine(0)(x, y)[0, 0], angle / np.pi, atol=2e-16, rtol=1e-9)
    np.testing.assert_allclose(ArcCosine(0)(x, -y)[0, 0], angle / np.pi, atol=2e-16)


def test_neural_tangent_is_built_from_two_arc_cosine_kernels():
    """Gradients by the output weights give order 1, by the hidden weights the inner product times order 0."""
    X, Y = points()
    expected = (X @ Y.T) * ArcCosine(0)(X, Y) + ArcCosine(1)(X, Y)
    np.testing.assert_allclose(NeuralTangent()(X, Y), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("kernel", [ArcCosine(0), ArcCosine(1), ArcCosine(2)], ids=repr)
def test_activations(kernel):
    projections = torch.tensor([-2.0, 0.0, 3.0])
    out = torch.empty(3)
    kernel.activation(projections, out)
    assert out.tolist() == {0: [0.0, 0.5, 1.0], 1: [0.0, 0.0, 3.0], 2: [0.0, 0.0, 9.0]}[kernel.order]
    assert projections.tolist() == [-2.0, 0.0, 3.0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Laplacian(0.0), "length_scale must be positive"),
        (lambda: Cauchy(np.nan), "length_scale must be positive"),
        (lambda: ArcCosine(3), "order must be 0, 1 or 2"),
        (lambda: Polynomial(0), "degree"),
        (lambda: Polynomial(2, -1.0), "coef0 must be finite and at least 0"),
        (lambda: Polynomial(2, np.inf), "coef0 must be finite and at least 0"),
    ],
)
def test_parameters_outside_their_range_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("offset", [0.0, 100.0])
@pytest.mark.parametrize("kernel", EVERY_KERNEL, ids=repr)
def test_values_against_one_matrix_are_the_kernel(kernel, offset):
    """In both types, block after block, and far from the origin, where squared distances are small differences."""
    X, Y = points()
    X, Y = X + offset, Y + offset
    expected = kernel(X, Y)
    cpu = torch.device("cpu")
    for dtype, tolerance in ((torch.float64, 1e-10), (torch.float32, 1e-10 + 2**-23)):
        values = kernel.against(Y, 4, cpu, dtype)
        for part in (slice(0, 4), slice(4, 7), slice(0, 2)):
            block = values(torch.from_numpy(X[part]))
            assert block.dtype == dtype
            np.testing.assert_allclose(block.numpy(), expected[part], atol=tolerance * np.abs(expected).max())


def test_values_of_single_precision_data_are_computed_in_double_precision():
    X, Y = points()
    X = X.astype(np.float32)
    for kernel in EVERY_KERNEL:
        values = kernel.against(Y, 7, torch.device("cpu"), torch.float64)(torch.from_numpy(X))
        np.testing.assert_allclose(values.numpy(), kernel(X.astype(np.float64), Y), rtol=1e-12)
