"""RM, TS and TRP: mean and variance against closed forms.

The columns of RM and TRP are independent and equally distributed, so that the products of their features of two points,
times s, are draws of a map with one column. Those of TS are not: one fit is one draw.
"""

import numpy as np
import pytest
from closed_forms import assert_mean, assert_variance, products_by_seed

from random_features.kernels import Polynomial
from random_features.maps import make_map
from random_features.maps.polynomial import maclaurin_coefficients, power_probabilities


def pair(seed, d=4, length=1.0):
    X = np.random.default_rng(seed).normal(size=(2, d))
    return length * X / np.linalg.norm(X, axis=1, keepdims=True)


def products(name, kernel, X, s=40_000, **options):
    Z = make_map(name, kernel, n_components=s, random_state=0, **options).fit_transform(X)
    assert Z.shape == (2, s)
    return s * Z[0] * Z[1]


def square_mean(x, y):
    """E (r.x)^2 (r.y)^2 for random signs r."""
    return (x @ x) * (y @ y) + 2 * (x @ y) ** 2 - 2 * (x**2 @ y**2)


def augmented(X, coef0):
    return np.hstack([np.full((len(X), 1), np.sqrt(coef0)), X])


def maclaurin_variance(X, kernel):
    """s times the variance of RM."""
    coefficients = maclaurin_coefficients(kernel.degree, kernel.coef0)
    probabilities = power_probabilities(coefficients)
    moments = square_mean(*X) ** np.arange(kernel.degree + 1)
    present = coefficients > 0
    return (coefficients**2 * moments)[present] @ (1 / probabilities[present]) - kernel(X)[0, 1] ** 2


def test_probabilities_of_the_powers():
    np.testing.assert_allclose(power_probabilities(maclaurin_coefficients(2, 1.0)), np.array([4, 2, 1]) / 7)
    # (u + 0)^3 has the power 3 only.
    np.testing.assert_array_equal(power_probabilities(maclaurin_coefficients(3, 0.0)), [0, 0, 0, 1])


def projection_variance(X, kernel):
    """s times the variance of TRP."""
    return square_mean(*augmented(X, kernel.coef0)) ** kernel.degree - kernel(X)[0, 1] ** 2


KERNELS = [Polynomial(1, 2.0), Polynomial(2, 1.0), Polynomial(3, 0.5)]


@pytest.mark.parametrize("kernel", [*KERNELS, Polynomial(2, 0.0)], ids=repr)
@pytest.mark.parametrize(("name", "variance"), [("rm", maclaurin_variance), ("trp", projection_variance)])
def test_mean_and_variance(name, variance, kernel):
    X = pair({"rm": 1, "trp": 3}[name], length=1.2)
    sample, expected = products(name, kernel, X), variance(X, kernel)
    assert_mean(sample, kernel(X)[0, 1])
    if name == "trp" or expected > 1e-9:
        assert_variance(sample, expected)


def complex_moments(x, y):
    """E |u|^2 and E u^2 of u = (w.x) conj(w.y), for w of entries uniform on 1, i, -1 and -i."""
    diagonal = x**2 @ y**2
    return (x @ x) * (y @ y) + (x @ y) ** 2 - diagonal, 2 * (x @ y) ** 2 - diagonal


def test_moments_by_enumeration():
    x, y = pair(0, d=5)
    signs = np.array(np.meshgrid(*[[-1, 1]] * 5)).reshape(5, -1).T
    np.testing.assert_allclose(np.mean((signs @ x) ** 2 * (signs @ y) ** 2), square_mean(x, y))
    w = np.array(np.meshgrid(*[[1, 1j, -1, -1j]] * 5)).reshape(5, -1).T
    u = (w @ x) * (w @ y).conj()
    np.testing.assert_allclose(np.mean(np.abs(u) ** 2), complex_moments(x, y)[0])
    np.testing.assert_allclose(np.mean(u**2), complex_moments(x, y)[1], atol=1e-12)


@pytest.mark.parametrize("kernel", [*KERNELS, Polynomial(6, 0.5)], ids=repr)
def test_trp_with_complex_entries_mean_and_variance(kernel):
    X = np.abs(pair(3, length=0.8))
    columns = products("trp", kernel, X, s=80_000, entries="complex")
    k = kernel(X)[0, 1]
    assert_mean(columns, k)
    sample = columns.reshape(2, -1).mean(axis=0)  # a real and an imaginary part
    absolute, square = complex_moments(*augmented(X, kernel.coef0))
    expected = (absolute**kernel.degree + square**kernel.degree - 2 * k**2) / 2
    assert_variance(sample, expected)
    # with entries of one sign, less than as many real columns have, and the less the higher the degree
    assert expected < projection_variance(X, kernel) / 2 or kernel.degree == 1


def test_an_odd_number_of_complex_columns_is_unbiased():
    X, kernel = pair(6), Polynomial(2, 1.0)
    sample = products_by_seed(make_map("trp", kernel, n_components=3, entries="complex"), X, 3000)
    assert_mean(sample, kernel(X)[0, 1])


def sketch_variance(x, y, s):
    """The variance of a tensor sketch of degree 2 with s columns, from the coincidences of hashes and signs."""
    u, diagonal = x @ y, x**2 @ y**2
    parallel, crossed = (x @ x) * (y @ y) - diagonal, u**2 - diagonal
    both = 2 * parallel * crossed * (1 if s % 2 else 2) / s**2
    return (2 * u**2 * (parallel + crossed) + parallel**2 + crossed**2) / s + both


@pytest.mark.parametrize(
    ("s", "kernel"),
    [(2, Polynomial(2, 1.0)), (3, Polynomial(2, 1.0)), (8, Polynomial(2, 0.0)), (16, Polynomial(1, 1.0)),
     (16, Polynomial(3, 1.0))],
)  # fmt: skip
def test_ts_mean_and_variance(s, kernel):
    X = pair(4, length=1.2)
    sample = products_by_seed(make_map("ts", kernel, n_components=s), X, 1000)
    assert_mean(sample, kernel(X)[0, 1])
    if kernel.degree == 2:
        assert_variance(sample, sketch_variance(*augmented(X, kernel.coef0), s))


@pytest.mark.parametrize("s", [1, 6, 9])
def test_ts_is_the_sketch_of_the_tensor_product(s):
    """Entry (i, j) of the tensor product goes, with both signs, to the entry h_1(i) + h_2(j) modulo s."""
    X = pair(6)
    phi = make_map("ts", Polynomial(2, 1.0), n_components=s, random_state=0).fit(X)
    expected = np.zeros((2, s))
    for row, x in enumerate(augmented(X, 1.0)):
        for i, j in np.ndindex(5, 5):
            target = (phi.hashes_[0, i] + phi.hashes_[1, j]) % s
            expected[row, target] += phi.signs_[0, i] * phi.signs_[1, j] * x[i] * x[j]
    np.testing.assert_allclose(phi.transform(X), expected, atol=1e-13)
