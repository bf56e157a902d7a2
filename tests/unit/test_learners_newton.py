"""Newton's method for linear classifiers: derivatives, preconditioners, and what ends the conjugate gradients."""

from dataclasses import replace

import numpy as np
import pytest
from linear_problems import problem, stream

from random_features.learners import newton
from random_features.learners.design import Design

#: The losses, by how many classes the problem has.
LOSSES = {"squared_hinge": 2, "binary": 2, "multinomial": 3}
PENALTY = np.array([0.3, 0.01])


def grouped(loss, has_intercept, seed=1):
    """A problem of two groups of rows on 60 rows with penalties, and weights away from the start."""
    rng = np.random.default_rng(seed)
    Z, _, Y = problem(n=60, n_columns=4, n_classes=LOSSES[loss], seed=seed)
    training = rng.integers(0, 2, 60)[:, None] != np.arange(2)
    targets = np.tile(Y[:, None, :], (1, 2, 1))
    own = (newton.squared_hinge, targets) if loss == "squared_hinge" else (newton.logistic, targets > 0)
    design = Design(stream(Z, 17), 60, 4, has_intercept, targets)
    whole = newton.Problem(design, *own, training / training.sum(axis=0), PENALTY)
    return whole, Z, rng.standard_normal((4 + has_intercept, 2, Y.shape[1]))


def decision_values(Z, weights):
    ones = np.ones((len(Z), len(weights) - Z.shape[1]))
    return np.einsum("nd,dgc->ngc", np.hstack([Z, ones]), weights)


def balanced(vectors):
    return vectors - (vectors.mean(axis=2, keepdims=True) if vectors.shape[2] > 1 else 0.0)


@pytest.mark.parametrize("kept", [True, False], ids=["decision values", "none"])
@pytest.mark.parametrize("has_intercept", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_gradient_and_hessian_are_those_of_finite_differences(loss, has_intercept, kept):
    whole, Z, weights = grouped(loss, has_intercept)
    step = 1e-5

    def decided(moved):
        return decision_values(Z, moved) if kept else None

    def gradient(moved):
        return whole.at(moved, decided(moved))[1]

    def value(moved):
        found = whole.value(moved, decided(moved))
        np.testing.assert_allclose(found, whole.at(moved, decided(moved))[0], rtol=1e-12)
        return found

    found, numeric = gradient(weights), np.zeros(weights.shape)
    for where in np.ndindex(weights.shape):
        nudge = np.zeros(weights.shape)
        nudge[where] = step
        numeric[where] = ((value(weights + nudge) - value(weights - nudge)) / (2 * step))[where[1]]
    np.testing.assert_allclose(found, numeric, rtol=0, atol=1e-9)
    direction = np.random.default_rng(2).standard_normal(weights.shape)
    hessian = whole.at(weights, decided(weights))[2]
    curved = hessian.times(direction)
    numeric = (gradient(weights + step * direction) - gradient(weights - step * direction)) / (2 * step)
    np.testing.assert_allclose(curved, numeric, rtol=0, atol=1e-8)
    np.testing.assert_allclose(hessian.of([1]).times(direction[:, 1:]), curved[:, 1:], rtol=1e-10)
    np.testing.assert_allclose(whole.design.forward(direction), decision_values(Z, direction), rtol=0, atol=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_at_equal_curvature_the_preconditioner_is_the_inverse_of_the_hessian_up_to_a_factor(loss):
    whole, _Z, weights = grouped(loss, has_intercept=False)
    everywhere = replace(whole, row_weights=np.full((60, 2), 1 / 60))
    decision = np.zeros((60, *weights.shape[1:]))
    mean = everywhere.at(weights, decision)[2].mean
    hessian = replace(everywhere, penalty=mean * [0.5, 4.0]).at(weights, decision)[2]
    direction, numbers = balanced(weights), np.array([4, 7])  # of groups among others
    precondition = hessian.mean_inverse(numbers)
    found = precondition(hessian.times(direction), numbers)
    np.testing.assert_allclose(found / mean[:, None], direction, rtol=1e-10)
    np.testing.assert_allclose(precondition(hessian.times(direction)[:, 1:], numbers[1:]), found[:, 1:], rtol=1e-10)


@pytest.mark.parametrize("has_intercept", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_blocks_are_those_of_the_hessian_written_out(loss, has_intercept):
    whole, Z, weights = grouped(loss, has_intercept)
    hessian = whole.at(weights, decision_values(Z, weights))[2]
    residual = np.random.default_rng(3).standard_normal(weights.shape)
    expected = np.empty(weights.shape)
    for group, k in np.ndindex(weights.shape[1:]):
        columns = []
        for unit in np.eye(len(weights)):
            direction = np.zeros(weights.shape)
            direction[:, group, k] = unit
            columns.append(hessian.times(direction)[:, group, k])
        expected[:, group, k] = np.linalg.solve(np.column_stack(columns), residual[:, group, k])
    expected = balanced(expected)
    numbers = np.array([4, 7])  # of groups among others
    found = hessian.block_inverse(numbers)
    # the diagonal is raised by what float32 could have lost
    np.testing.assert_allclose(found(residual, numbers), expected, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(found(residual[:, 1:], numbers[1:]), expected[:, 1:], rtol=1e-3, atol=1e-5)


def test_what_is_still_to_come_is_estimated_from_the_last_quarter_of_the_steps():
    falls = [np.array([16.0 / 2**k, 1.0]) for k in range(12)]
    assert np.isinf(newton.still_to_come(falls[:2])).all()
    np.testing.assert_allclose(newton.still_to_come(falls[:4]), [4.0 + 2.0, 2.0])
    np.testing.assert_allclose(newton.still_to_come(falls), [sum(16.0 / 2**k for k in (9, 10, 11)), 3.0])
