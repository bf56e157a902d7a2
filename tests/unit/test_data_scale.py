"""Preprocessing steps: fitted on training rows, exact at the ends, 0 where nothing varies."""

import numpy as np
import pytest
from refusals import message

from rfstudy.data import modules
from rfstudy.data.scale import columns_after, fit_steps
from rfstudy.data.target_scaling import fitted
from rfstudy.models import parameters

SEEDS = range(3)
TYPES = (np.float32, np.float64, np.uint8)
WITHOUT_PARAMETERS = [
    name for name in modules.names("steps") if not parameters(modules.load("steps", name).fit).model_fields
]


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
@pytest.mark.parametrize(("step", "axis", "ddof"), [("standard", 0, 0), ("standard_rows", 1, 1)])
def test_columns_or_rows_have_mean_0_and_deviation_1(seed, dtype, step, axis, ddof):
    X = rows(seed, dtype)
    Z = fit_steps([step], X)(X).astype(np.float64)
    np.testing.assert_allclose(Z.mean(axis), 0, atol=accuracy(dtype))
    np.testing.assert_allclose(Z.std(axis, ddof=ddof), 1, atol=accuracy(dtype))


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
    assert (fit_steps(["standard_rows"], rows(0, d=1))(rows(0, d=1)) == 0).all()  # of one column every row is constant


def test_the_other_steps():
    X = rows(0)
    np.testing.assert_array_equal(fit_steps(["none"], X)(X), X)
    np.testing.assert_array_equal(fit_steps([], X)(X), X)
    np.testing.assert_allclose(fit_steps(["center"], X)(rows(1)), rows(1) - X.mean(0), atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(fit_steps(["unit"], X)(X), axis=1), 1, atol=1e-12)
    pixels = np.array([[0, 51, 255]], dtype=np.uint8)
    np.testing.assert_array_equal(fit_steps(["divide_255"], pixels)(pixels), np.array([[0, 0.2, 1]], dtype=np.float32))


@pytest.mark.parametrize("step", [*WITHOUT_PARAMETERS, {"pca": {"n_components": 3}}])
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
    known = ", ".join(modules.names("steps"))
    with pytest.raises(ValueError, match=f"no preprocessing step 'mapstd'; known are {known}$"):
        fit_steps(["mapstd"], X)
    for wrong in ({"minmax": {}, "unit": {}}, {"pca": 3}):
        for found in (message(fit_steps, [wrong], X), message(columns_after, [wrong], 7)):
            assert "is a name or a mapping" in found
            assert found.endswith(f" not {wrong}")


def pca(n_components):
    return {"pca": {"n_components": n_components}}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("n", "d"), [(40, 7), (6, 7), (7, 7)])
def test_principal_components_are_those_of_the_singular_value_decomposition(seed, n, d):
    X = rows(seed, n=n, d=d)
    Z = fit_steps([pca(4)], X)(X)
    left, values, _ = np.linalg.svd(X - X.mean(0), full_matrices=False)
    # columns are known up to their signs; the small ones to the accuracy of the largest
    np.testing.assert_allclose(np.abs(Z), np.abs(left * values)[:, :4], atol=1e-9 * values[0])
    assert (np.diff(Z.var(0)) <= 0).all()


def test_all_components_turn_the_rows_and_nothing_else():
    X, other = rows(0), rows(1)
    turn = fit_steps([pca(7)], X)
    distances = [np.linalg.norm(A[:, None] - A[None], axis=2) for A in (other, turn(other))]
    np.testing.assert_allclose(distances[1], distances[0], atol=1e-9)
    # the mean of the training rows, not that of other rows, is the origin
    np.testing.assert_allclose(turn(X.mean(0)[None]), 0, atol=1e-9)
    assert np.abs(turn(other).mean(0)).max() > 1


@pytest.mark.parametrize(("n", "d", "n_components"), [(40, 7, 8), (5, 7, 6), (40, 7, 0)])
def test_more_components_than_there_can_be_are_refused(n, d, n_components):
    found = message(fit_steps, [pca(n_components)], rows(0, n=n, d=d))
    assert f"cannot keep {n_components} components of {n} training rows with {d} columns" in found


@pytest.mark.parametrize(
    ("steps", "columns"),
    [
        *((steps, 7) for steps in ([], ["none", "minmax", "unit"])),
        ([pca(3)], 3),
        (["divide_255", pca(5), "standard_rows", pca(2), "unit"], 2),
    ],
)
@pytest.mark.parametrize("dtype", TYPES)
def test_the_columns_after_the_steps_are_reported_and_come_out(steps, columns, dtype):
    X = rows(0, dtype)
    assert columns_after(steps, 7) == columns
    assert fit_steps(steps, X)(rows(1, dtype)).shape == (40, columns)
    assert fit_steps(steps, X)(X[:0]).shape == (0, columns)


def test_a_range_is_that_of_the_training_targets():
    def scaled(low, high, train, targets):
        return fitted({"interval": {"low": low, "high": high}}, np.array(train))(np.array(targets)).tolist()

    expected = pytest.approx([-1, 1, 0, 3])
    assert scaled(-1.0, 1.0, [1922.0, 2011.0, 1950.0], [1922.0, 2011.0, 1966.5, 2100.0]) == expected
    assert scaled(0.0, 10.0, [5.0, 7.0], [6.0]) == pytest.approx([5])
    # targets that are all equal become the middle
    assert scaled(-1.0, 3.0, [3.0, 3.0], [3.0, 9.0]) == [1, 1]
