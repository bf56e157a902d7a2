"""Properties of ridge regression that hold for every problem: scalings, duality, invariances."""

import numpy as np
import pytest

from random_features.learners.ridge import cross_validate_ridge, fit_ridge


def stream(Z, rows):
    return lambda: ((slice(i, min(i + rows, len(Z))), Z[i : i + rows]) for i in range(0, len(Z), rows))


def draw(seed):
    rng = np.random.default_rng(seed)
    n, n_columns = rng.integers(10, 80), rng.integers(2, 60)
    return rng.standard_normal((n, n_columns)), rng.standard_normal((n, 2)), 10.0 ** rng.uniform(-3, 1)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("center", ["targets", "both", "none"])
def test_the_two_scalings_agree_when_the_sum_penalty_is_n_times_the_mean_penalty(seed, center):
    Z, Y, penalty = draw(seed)
    text = fit_ridge(stream(Z, 9), Y, penalty, n_columns=Z.shape[1], scaling="mean", center=center)
    code = fit_ridge(stream(Z, 9), Y, len(Z) * penalty, n_columns=Z.shape[1], scaling="sum", center=center)
    np.testing.assert_array_equal(text.coef, code.coef)
    np.testing.assert_array_equal(text.intercept, code.intercept)


@pytest.mark.parametrize("seed", range(4))
def test_longer_features_are_a_smaller_penalty(seed):
    """Features sqrt(D) times as long under a penalty predict as the features under that penalty over D."""
    Z, Y, penalty = draw(seed)
    D = Z.shape[1]
    longer = fit_ridge(stream(np.sqrt(D) * Z, 9), Y, penalty, n_columns=D, scaling="sum")
    smaller = fit_ridge(stream(Z, 9), Y, penalty, n_columns=D, scaling="per_column")
    np.testing.assert_allclose(longer.decision(np.sqrt(D) * Z), smaller.decision(Z), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_the_two_scalings_agree_in_cross_validation_with_the_rows_of_the_training_part(seed):
    Z, Y, penalty = draw(seed)
    n = len(Z) // 4 * 4
    Z, Y, folds = Z[:n], Y[:n], np.arange(n) % 4
    grid = penalty * np.geomspace(0.1, 10, 7)
    text = cross_validate_ridge(stream(Z, 9), Y, grid, folds, n_columns=Z.shape[1], scaling="mean", score="mse")
    n_training = n * 3 // 4
    code = cross_validate_ridge(
        stream(Z, 9), Y, n_training * grid, folds, n_columns=Z.shape[1], scaling="sum", score="mse"
    )
    np.testing.assert_array_equal(text, code)


@pytest.mark.parametrize("seed", range(4))
def test_a_constant_added_to_targets_moves_the_intercept_only_where_they_are_centred(seed):
    Z, Y, penalty = draw(seed)
    plain = fit_ridge(stream(Z, 9), Y, penalty, n_columns=Z.shape[1])
    moved = fit_ridge(stream(Z, 9), Y + 5.0, penalty, n_columns=Z.shape[1])
    # rounding of the shifted targets (5 eps a row) through the inverse, at most 1 / (n penalty)
    bound = 1e2 * np.finfo(float).eps * 5 * np.abs(Z).sum() / (len(Z) * penalty)
    np.testing.assert_allclose(moved.coef, plain.coef, rtol=0, atol=bound)
    np.testing.assert_allclose(moved.intercept, plain.intercept + 5.0, rtol=1e-13)


@pytest.mark.parametrize("seed", range(4))
def test_a_constant_added_to_features_changes_no_prediction_where_both_are_centred(seed):
    Z, Y, penalty = draw(seed)
    plain = fit_ridge(stream(Z, 9), Y, penalty, n_columns=Z.shape[1], center="both").decision(Z)
    moved = fit_ridge(stream(Z + 3.0, 9), Y, penalty, n_columns=Z.shape[1], center="both").decision(Z + 3.0)
    # the centred Gram matrix loses eps n (3^2 + 1) D of its digits, divided by the diagonal term n penalty
    bound = 1e2 * np.finfo(float).eps * 10 * Z.shape[1] * (1 + 1 / penalty) ** 2 * max(1.0, np.abs(plain).max())
    np.testing.assert_allclose(moved, plain, rtol=0, atol=bound)


@pytest.mark.parametrize("seed", range(4))
def test_the_objective_is_at_its_minimum(seed):
    Z, Y, penalty = draw(seed)
    model = fit_ridge(stream(Z, 9), Y, penalty, n_columns=Z.shape[1], center="both")

    def objective(coef, intercept):
        return ((Z @ coef + intercept - Y) ** 2).sum() / len(Z) + penalty * (coef**2).sum()

    lowest = objective(model.coef, model.intercept)
    rng = np.random.default_rng(seed)
    for _ in range(20):
        coef = model.coef + 1e-3 * rng.standard_normal(model.coef.shape)
        intercept = model.intercept + 1e-3 * rng.standard_normal(model.intercept.shape)
        # strictly convex in the coefficients: the objective rises by at least penalty |change|^2
        assert objective(coef, intercept) >= lowest + 0.999 * penalty * ((coef - model.coef) ** 2).sum()
