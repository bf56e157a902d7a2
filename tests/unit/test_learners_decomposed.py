"""Ridge regression on singular values: limits and digits; the twin of the kind path compares the fits."""

import numpy as np
import pytest

from random_features.learners.decomposed import decompose, leave_one_out, ridge_coefficients

N = 12


def problem(n_columns, n=N, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, n_columns)), rng.choice([-1.0, 1.0], n)


def test_without_a_shift_it_is_the_interpolator_of_the_least_norm():
    Z, y = problem(40)
    coef = ridge_coefficients(decompose(Z), y, 0.0)
    np.testing.assert_allclose(Z @ coef, y, atol=1e-12)
    # of all interpolators the one without a part that the rows do not see: any other is longer
    np.testing.assert_allclose(coef, Z.T @ np.linalg.solve(Z @ Z.T, y), rtol=1e-10)
    unseen = np.eye(40) - np.linalg.pinv(Z) @ Z
    other = coef + unseen @ np.random.default_rng(1).normal(size=40)
    np.testing.assert_allclose(Z @ other, y, atol=1e-12)
    assert np.linalg.norm(coef) < np.linalg.norm(other)
    # and what it tends to as the shift vanishes
    near = [np.linalg.norm(ridge_coefficients(decompose(Z), y, shift) - coef) for shift in (1e-2, 1e-4, 1e-6)]
    assert near[0] > 50 * near[1] > 2500 * near[2]


def test_columns_that_depend_on_one_another_take_the_least_norm():
    Z, y = problem(5)
    twice = np.hstack([Z, Z])
    np.testing.assert_allclose(ridge_coefficients(decompose(twice), y, 0.0), np.linalg.pinv(twice) @ y, atol=1e-12)
    # rows that are twins with other labels cannot be interpolated: the mean of their labels is
    rows, labels = np.vstack([problem(40)[0]] * 2), np.concatenate([np.ones(N), -np.ones(N)])
    np.testing.assert_allclose(rows @ ridge_coefficients(decompose(rows), labels, 0.0), 0.0, atol=1e-12)


def test_a_shift_that_a_gram_matrix_would_lose_is_exact():
    rng = np.random.default_rng(2)
    left, _ = np.linalg.qr(rng.normal(size=(N, 3)))
    right, _ = np.linalg.qr(rng.normal(size=(6, 3)))
    values, shift = np.array([1.0, 1e-4, 1e-9]), 1e-18
    y = left @ np.array([1.0, 2.0, 3.0])
    expected = right @ (values / (values**2 + shift) * np.array([1.0, 2.0, 3.0]))
    # rounding of Z, 1e-16, moves a singular value of 1e-9 by 1e-7 of itself
    np.testing.assert_allclose(ridge_coefficients(decompose((left * values) @ right.T), y, shift), expected, rtol=1e-5)


def test_leave_one_out_errors_keep_their_digits_where_the_rows_are_interpolated():
    Z, y = problem(40)
    inverse = np.linalg.inv(Z @ Z.T)
    # the limit of no shift: (K^-1 y)_i / (K^-1)_ii
    found = leave_one_out(decompose(Z), y, [1e-14])[0]
    np.testing.assert_allclose(found, (inverse @ y) / inverse.diagonal(), rtol=1e-10)


@pytest.mark.parametrize("shift", [0.0, -1.0, float("nan")])
def test_leave_one_out_errors_need_a_shift(shift):
    with pytest.raises(ValueError, match="positive shifts"):
        leave_one_out(decompose(problem(5)[0]), problem(5)[1], [shift])


@pytest.mark.parametrize("solve", [ridge_coefficients, leave_one_out])
def test_targets_of_another_shape_are_refused(solve):
    Z, y = problem(5)
    for wrong in (y[:, None], y[:4]):
        with pytest.raises(ValueError, match=r"y must have the shape \(12,\), got"):
            solve(decompose(Z), wrong, np.ones(1))


def test_features_with_nan_are_refused():
    Z, _ = problem(5)
    Z[0, 0] = np.nan
    with pytest.raises(ValueError, match="infs or NaNs"):
        decompose(Z)
