"""Preprocessing steps: fitted on training rows, exact at the ends, 0 where nothing varies."""

import numpy as np
import pytest

from rfstudy.data.scale import STEPS, fit_steps

SEEDS = range(5)
TYPES = (np.float32, np.float64, np.uint8)


def rows(seed, dtype=np.float64, n=40, d=7):
    """Columns of very different offset and width; integers for bytes."""
    generator = np.random.default_rng(seed)
    if dtype == np.uint8:
        return generator.integers(0, 256, (n, d), dtype=np.uint8)
    return (10.0 ** generator.integers(-3, 4, d) * generator.normal(3, 1, (n, d))).astype(dtype)


def accuracy(dtype):
    """Rounding of a result of order 1."""
    return 1e-12 if dtype == np.float64 else 4 * np.finfo(np.float32).eps


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("step", "ends"), [("minmax", (0, 1)), ("minmax_symmetric", (-1, 1))])
def test_minmax_hits_both_ends_exactly(seed, dtype, step, ends):
    X = rows(seed, dtype)
    Z = fit_steps([step], X)(X)
    assert (Z.min(0) == ends[0]).all()
    assert (Z.max(0) == ends[1]).all()
    # the order of a column's values is kept
    assert (np.diff(np.take_along_axis(Z, X.argsort(0), 0), axis=0) >= 0).all()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", TYPES)
def test_standard_columns(seed, dtype):
    X = rows(seed, dtype)
    Z = fit_steps(["standard"], X)(X).astype(np.float64)
    np.testing.assert_allclose(Z.mean(0), 0, atol=accuracy(dtype))
    np.testing.assert_allclose(Z.std(0), 1, atol=accuracy(dtype))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", TYPES)
def test_standard_rows_has_the_deviation_of_a_sample(seed, dtype):
    X = rows(seed, dtype)
    Z = fit_steps(["standard_rows"], X)(X).astype(np.float64)
    np.testing.assert_allclose(Z.mean(1), 0, atol=accuracy(dtype))
    np.testing.assert_allclose(Z.std(1, ddof=1), 1, atol=accuracy(dtype))


def test_standard_rows_by_hand():
    # mean 2, sum of squares 2, so the deviation with ddof = 1 is 1
    assert fit_steps(["standard_rows"], np.ones((1, 3)))(np.array([[1.0, 2.0, 3.0]])).tolist() == [[-1, 0, 1]]


@pytest.mark.parametrize("step", ["minmax", "minmax_symmetric", "standard"])
@pytest.mark.parametrize("value", [0.0, 4329.23, -1e30])
def test_a_column_that_is_constant_in_training_becomes_zero(step, value):
    X = rows(0, np.float32)
    X[:, 2] = value
    scale = fit_steps([step], X)
    other = rows(1, np.float32)
    other[:, 2] = np.linspace(-1, 1, len(other))
    assert (scale(X)[:, 2] == 0).all()
    assert (scale(other)[:, 2] == 0).all()
    assert np.isfinite(scale(other)).all()


@pytest.mark.parametrize(("step", "constant"), [("standard_rows", 4329.23), ("standard_rows", 0.0), ("unit", 0.0)])
def test_a_row_without_spread_or_length_becomes_zero(step, constant):
    X = rows(0)
    X[3] = constant
    Z = fit_steps([step], X)(X)
    assert (Z[3] == 0).all()
    assert (np.delete(Z, 3, axis=0) != 0).any(axis=1).all()
    assert (fit_steps([step], X[3:4])(X[3:4]) == 0).all()


def test_rows_of_one_column_are_constant():
    assert (fit_steps(["standard_rows"], rows(0, d=1))(rows(0, d=1)) == 0).all()


@pytest.mark.parametrize("step", ["minmax", "minmax_symmetric", "standard", "center"])
def test_only_the_training_rows_are_fitted(step):
    train, test = rows(0), rows(1) * 5
    alone = fit_steps([step], train)(test)
    # scaling the test rows together, one by one or in other company gives the same
    np.testing.assert_array_equal(alone, np.vstack([fit_steps([step], train)(row[None]) for row in test]))
    assert np.abs(alone).max() > np.abs(fit_steps([step], train)(train)).max()


def test_the_other_steps():
    X = rows(0)
    np.testing.assert_array_equal(fit_steps(["none"], X)(X), X)
    np.testing.assert_array_equal(fit_steps([], X)(X), X)
    np.testing.assert_allclose(fit_steps(["center"], X)(rows(1)), rows(1) - X.mean(0), atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(fit_steps(["unit"], X)(X), axis=1), 1, atol=1e-12)
    pixels = np.array([[0, 51, 255]], dtype=np.uint8)
    np.testing.assert_array_equal(fit_steps(["divide_255"], pixels)(pixels), np.array([[0, 0.2, 1]], dtype=np.float32))


def test_steps_compose_and_each_is_fitted_on_the_outcome_of_the_last():
    train, test = rows(0), rows(1)
    first = fit_steps(["unit"], train)
    second = fit_steps(["standard"], first(train))
    np.testing.assert_allclose(fit_steps(["unit", "standard"], train)(test), second(first(test)), atol=1e-12)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("dtype", TYPES)
def test_type_and_input_are_kept(step, dtype):
    X = rows(0, dtype)
    before = X.copy()
    Z = fit_steps([step], X)(X)
    assert Z.dtype == (np.float64 if dtype == np.float64 else np.float32)
    assert Z is not X
    np.testing.assert_array_equal(X, before)


def test_blocks_do_not_show(monkeypatch):
    X = rows(0, np.float32)
    whole = fit_steps(["standard_rows", "minmax"], X)(X)
    monkeypatch.setattr("rfstudy.data.scale.block_rows", lambda bytes_per_row: 3)
    np.testing.assert_array_equal(fit_steps(["standard_rows", "minmax"], X)(X), whole)


def test_what_makes_no_sense_is_refused():
    X = rows(0)
    with pytest.raises(ValueError, match=r"unknown preprocessing 'mapstd'; choose from none, minmax"):
        fit_steps(["mapstd"], X)
    for wrong in (X[:0], X[0]):
        with pytest.raises(ValueError, match="at least one training row"):
            fit_steps(["minmax"], wrong)
    with pytest.raises(ValueError, match="fitted on 7 columns"):
        fit_steps(["minmax"], X)(X[:, :5])
