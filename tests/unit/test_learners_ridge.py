"""Ridge regression on streams against explicit matrices, scikit-learn and itself in other arrangements."""

import numpy as np
import pytest
import torch
from linear_problems import counted, peak_of, problem, stream

from random_features.arrays import FLOAT32_TOLERANCE, float32_is_harmless
from random_features.learners import ridge, streams
from random_features.learners.penalties import best_penalty
from random_features.learners.ridge import cross_validate_ridge, fit_ridge, ridge_sums, solve_ridge

GRID = np.array([1e-8, 1e-6, 1e-4, 1e-3, 1e-2, 0.05, 0.1, 0.5, 1, 5, 10])


def test_the_size_of_the_blocks_does_not_matter():
    n = 2 * streams.CHUNK_ROWS + 333
    Z, _, Y = problem(n, 6, dtype=np.float32)
    folds = np.arange(n) % 3
    whole = cross_validate_ridge(stream(Z), Y, GRID, folds, n_columns=6, score="mse")
    coef = fit_ridge(stream(Z), Y, 1e-6, n_columns=6).coef
    for rows in (1, 7, 501):  # chunks are filled to the same rows for any blocks: the same sums, to the bit
        blocks = stream(Z, rows)
        found = cross_validate_ridge(blocks, Y, GRID, folds, n_columns=6, score="mse")
        np.testing.assert_array_equal(found, whole)
        np.testing.assert_array_equal(fit_ridge(blocks, Y, 1e-6, n_columns=6).coef, coef)


def test_cross_validation_reads_the_stream_twice():
    (Z, _, Y), reads = problem(200, 10), []
    cross_validate_ridge(counted(Z, reads, 50), Y, GRID, np.arange(200) % 5, n_columns=10)
    assert len(reads) == 2


def test_memory_does_not_grow_with_the_rows():
    n_columns, rows = 40, 500
    block = np.random.default_rng(0).standard_normal((rows, n_columns), dtype=np.float32)

    def peak(n):
        Y, folds = np.tile([[1.0], [-1.0], [1.0]], (n // 3, 1)), np.arange(n) % 5
        blocks = lambda: ((slice(i, i + rows), block) for i in range(0, n, rows))  # noqa: E731
        return peak_of(lambda: cross_validate_ridge(blocks, Y, GRID[-3:], folds, n_columns=n_columns))

    few, many = 15_000, 45_000
    # only the targets and the folds grow: at most six arrays of one number a row; the features would be forty
    assert peak(many) - peak(few) <= 6 * 8 * (many - few)


def in_single_precision(monkeypatch, fit, *arguments, **options):
    """Return a fit on float32 features that treats rounding as harmless."""
    with monkeypatch.context() as patch:
        patch.setattr(ridge, "float32_is_harmless", lambda rows, trace, shift: True)
        return fit(*arguments, **options)


def test_float32_is_used_where_it_is_harmless_and_nowhere_else(monkeypatch):
    Z, _, Y = problem(3000, 30, dtype=np.float32)
    for penalty, is_harmless in ((1.0, True), (1e-6, False)):
        auto = fit_ridge(stream(Z, 1000), Y + 1e6, penalty, n_columns=30).coef
        single = in_single_precision(monkeypatch, fit_ridge, stream(Z, 1000), Y + 1e6, penalty, n_columns=30).coef
        double = fit_ridge(stream(Z.astype(np.float64), 1000), Y + 1e6, penalty, n_columns=30).coef
        assert (single != double).any()
        np.testing.assert_array_equal(auto, single if is_harmless else double)
        if is_harmless:
            assert np.linalg.norm(single - double) <= FLOAT32_TOLERANCE * np.linalg.norm(double)


def test_at_the_limit_of_the_rule_float32_changes_the_coefficients_by_less_than_the_tolerance(monkeypatch):
    Z, _, Y = problem(4000, 60, dtype=np.float32, seed=4)
    trace = float((Z.astype(np.float64) ** 2).sum())
    limit = np.sqrt(streams.CHUNK_ROWS) * np.finfo(np.float32).eps * trace / FLOAT32_TOLERANCE
    assert [float32_is_harmless(streams.CHUNK_ROWS, trace, by * limit) for by in (1.001, 0.999)] == [True, False]
    options = {"n_columns": 60, "scaling": "sum", "center": "none"}
    single = in_single_precision(monkeypatch, fit_ridge, stream(Z), Y, limit, **options).coef
    double = fit_ridge(stream(Z.astype(np.float64)), Y, limit, **options).coef
    assert np.linalg.norm(single - double) <= FLOAT32_TOLERANCE * np.linalg.norm(double)


@pytest.mark.parametrize(("setting", "on", "off"), [("allow_tf32", True, False), ("fp32_precision", "tf32", "none")])
def test_factors_of_tf32_have_13_bits_fewer(setting, on, off):
    limit = 2.0**-10 / FLOAT32_TOLERANCE
    setattr(torch.backends.cuda.matmul, setting, on)
    found = [float32_is_harmless(1, 1.0, shift) for shift in (limit, limit * 0.999)]
    setattr(torch.backends.cuda.matmul, setting, off)
    assert [*found, float32_is_harmless(1, 1.0, limit / 2**13)] == [True, False, True]


def test_a_first_block_that_is_no_fair_sample_does_not_lower_the_precision(monkeypatch):
    Z, _, Y = problem(2000, 10, dtype=np.float32)
    Z[:500] *= 1e-3
    Z[500:] *= 10
    auto = fit_ridge(stream(Z, 500), Y, 0.02, n_columns=10).coef
    np.testing.assert_array_equal(auto, fit_ridge(stream(Z.astype(np.float64), 500), Y, 0.02, n_columns=10).coef)
    alone = stream(Z[:500], 500), Y[:500], 0.02
    single = in_single_precision(monkeypatch, fit_ridge, *alone, n_columns=10)
    # alone, that block is summed in float32
    np.testing.assert_array_equal(fit_ridge(*alone, n_columns=10).coef, single.coef)


def test_cross_validation_in_float32_scores_as_in_float64():
    Z, _, Y = problem(3000, 30, dtype=np.float32)
    Y, folds, grid = Y + 1e6, np.arange(3000) % 5, [0.05, 0.1, 0.5, 1.0]  # harmless: rows of unit norm need 0.0054
    auto = cross_validate_ridge(stream(Z), Y, grid, folds, n_columns=30, score="mse")
    double = cross_validate_ridge(stream(Z.astype(np.float64)), Y, grid, folds, n_columns=30, score="mse")
    assert (auto != double).any()
    # decisions are within 2 of the mean and change by at most the tolerance, the squared error by 2 x (1 + 2) x that
    np.testing.assert_allclose(auto, double, rtol=0, atol=6 * FLOAT32_TOLERANCE)
    small, large = (fit_ridge(stream(Z), unit * Y, 0.1, n_columns=30).coef for unit in (2.0**-300, 2.0**300))
    np.testing.assert_array_equal(2.0**300 * small, 2.0**-300 * large)  # targets that float32 cannot hold


def test_features_too_large_for_float32_are_refused_there(monkeypatch):
    Z, _, Y = problem(60, 5, dtype=np.float32)
    Z[-1] = 1e25  # after a block that promises nothing of the kind
    with pytest.raises(ValueError, match="too large for their precision"):
        in_single_precision(monkeypatch, fit_ridge, stream(Z, 30), Y, 1.0, n_columns=5)


@pytest.mark.parametrize("as_tensors", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_columns", [12, 200])  # fewer and more than rows
@pytest.mark.parametrize("kind", ["all", "some, next to a wide and a constant one", "float32"])
def test_features_far_from_zero_lose_no_digits(n_columns, weighted, as_tensors, kind):
    _, _, Y = problem(60)
    Z = np.random.default_rng(0).standard_normal((60, n_columns)) / np.sqrt(n_columns)
    far = np.round(2.0**30 * np.random.default_rng(1).uniform(1, 2, n_columns))
    Z = np.round(2.0**16 * Z) / 2.0**16  # with the offset, too, it has no rounding
    grid = GRID
    if kind == "float32":
        grid = [0.1, 10.0]  # float32 is harmless
        Z, far = (np.round(2.0**5 * Z) / 2.0**5).astype(np.float32), (2.0**-14 * far).round().astype(np.float32)
    elif kind != "all":
        far[::2] = 0.0
        Z[:, 2] *= 2.0 ** (33 if n_columns < 60 else 5)  # in the dual form the widest column rounds all others
        Z[:, 3] = 0.1
    weights = np.random.default_rng(2).uniform(0.1, 2.0, 60) if weighted else None
    here, there, targets = (torch.from_numpy(each) if as_tensors else each for each in (Z, Z + far, Y))
    how = {"n_columns": n_columns, "center": "both", "weights": weights}
    near, moved = (fit_ridge(stream(each, 7), targets, 1e-6, **how) for each in (here, there))
    np.testing.assert_allclose(moved.coef, near.coef, rtol=1e-6, atol=1e-7 * abs(np.asarray(near.coef)).max())
    decision = [np.asarray(model.decision(each)) for model, each in ((near, here), (moved, there))]
    np.testing.assert_allclose(*decision, atol=1e-4)
    folds = np.arange(60) % 3 - (np.arange(60) % 4 == 0)
    for of_rows in (np.arange(60) % 3, folds):
        scores = [
            cross_validate_ridge(stream(each, 7), targets, grid, of_rows, score="mse", **how) for each in (here, there)
        ]
        np.testing.assert_allclose(*scores, rtol=1e-5)


def test_sums_of_features_far_from_zero_add_up_to_the_fit_of_all_rows():
    Z, _, Y = problem(90, 8)
    Z = np.round(2.0**16 * Z) / 2.0**16 + 2.0**30 * np.arange(1, 9)
    parts = [ridge_sums(stream(Z[rows], 5), Y[rows], n_columns=8) for rows in (slice(40), slice(40, 41), slice(41, 90))]
    whole = fit_ridge(stream(Z), Y, 1e-6, n_columns=8, center="both")
    added = solve_ridge(parts[0] + parts[1] + parts[2], 1e-6)
    np.testing.assert_allclose(added.coef, whole.coef, rtol=1e-6)


@pytest.mark.parametrize(("n", "n_columns"), [(60, 5), (10, 20)])
@pytest.mark.parametrize("center", ["targets", "both"])
def test_penalty_zero_on_dependent_features_is_one_clear_error_and_never_chosen(n, n_columns, center):
    Z, _, Y = problem(n, n_columns)
    Z[:, 1] = Z[:, 0]
    folds, how = np.arange(n) % 2, {"n_columns": n_columns, "center": center}
    with pytest.raises(np.linalg.LinAlgError, match="singular to working precision at a diagonal term of 0"):
        fit_ridge(stream(Z), Y, 0.0, **how)
    for grid in ([*GRID[-2:], 0.0], [*GRID, 0.0]):
        scores = cross_validate_ridge(stream(Z), Y, grid, folds, **how)
        assert np.isnan(scores[-1]).all()
        regular = cross_validate_ridge(stream(Z), Y, grid[:-1], folds, **how)
        assert np.isfinite(regular).all()
        np.testing.assert_array_equal(scores[:-1], regular)
        assert best_penalty(scores, grid) == best_penalty(regular, grid[:-1])
    with pytest.raises(np.linalg.LinAlgError, match="singular at every value"):
        best_penalty(cross_validate_ridge(stream(Z), Y, [0.0], folds, **how), [0.0])


def test_scores_are_checked():
    Z, _, Y = problem(40, 5)
    with pytest.raises(ValueError, match="score must be"):
        cross_validate_ridge(stream(Z), Y, [1.0], np.arange(40) % 2, n_columns=5, score="r2")
