"""Ridge regression on streams against explicit matrices, scikit-learn and itself in other arrangements."""

import tracemalloc

import numpy as np
import pytest
from linear_problems import stream

from random_features.learners import ridge, streams
from random_features.learners.gram import fit_kernel_ridge
from random_features.learners.penalties import best_penalty
from random_features.learners.ridge import FLOAT32_TOLERANCE, cross_validate_ridge, fit_ridge, float32_is_harmless
from rfstudy.data.target import Target

EPS = np.finfo(np.float64).eps
GRID = np.array([1e-8, 1e-6, 1e-4, 1e-3, 1e-2, 0.05, 0.1, 0.5, 1, 5, 10])


def problem(n=300, n_columns=20, n_classes=2, seed=0, dtype=np.float64):
    """Features with a mean, labels that depend on them, and their columns of +-1."""
    rng = np.random.default_rng(seed)
    Z = (rng.standard_normal((n, n_columns)) + 0.5) / np.sqrt(n_columns)
    evidence = Z @ rng.standard_normal((n_columns, n_classes)) + 0.3 * rng.standard_normal((n, n_classes))
    labels = (evidence - evidence.mean(axis=0)).argmax(axis=1)
    return Z.astype(dtype), labels, Target("classes").encode(labels)[0]


def explicit_ridge(Z, Y, penalty, scaling, center):
    """The naive twin: the normal equations with every matrix written out."""
    Z, n_columns = Z.astype(np.float64), Z.shape[1]
    z_mean = Z.mean(axis=0) if center == "both" else np.zeros(n_columns)
    y_mean = np.zeros(Y.shape[1]) if center == "none" else Y.mean(axis=0)
    shift = penalty * {"mean": len(Z), "sum": 1, "per_column": 1 / Z.shape[1]}[scaling]
    system = (Z - z_mean).T @ (Z - z_mean) + shift * np.eye(n_columns)
    coef = np.linalg.solve(system, (Z - z_mean).T @ (Y - y_mean))
    return coef, y_mean - z_mean @ coef


def rounding(Z, shift):
    """Relative error of the coefficients that rounding allows: 100 D eps x condition of the (centred) system."""
    Z = Z.astype(np.float64)
    centred = Z - Z.mean(axis=0)
    smallest = max(0.0, np.linalg.eigvalsh(centred.T @ centred)[0])
    return 100 * Z.shape[1] * EPS * ((Z**2).sum() + shift) / (smallest + shift)


@pytest.mark.parametrize("shape", [(300, 20), (25, 40), (30, 30)], ids=["primal", "dual", "square"])
@pytest.mark.parametrize("center", ["targets", "both", "none"])
@pytest.mark.parametrize("scaling", ["mean", "sum", "per_column"])
def test_a_fit_equals_the_normal_equations(scaling, center, shape):
    Z, _, Y = problem(*shape, n_classes=3)
    model = fit_ridge(stream(Z, 7), Y, 0.01, n_columns=shape[1], scaling=scaling, center=center)
    assert model.solver == ("primal" if shape[0] > shape[1] else "dual")
    coef, intercept = explicit_ridge(Z, Y, 0.01, scaling, center)
    bound = rounding(Z, 0.01) * np.abs(coef).max()
    np.testing.assert_allclose(model.coef, coef, rtol=0, atol=bound)
    np.testing.assert_allclose(model.intercept, intercept, rtol=0, atol=bound)
    np.testing.assert_allclose(model.decision(Z), Z @ coef + intercept, rtol=0, atol=bound * shape[1])


@pytest.mark.parametrize("center", ["targets", "both", "none"])
def test_primal_and_dual_predict_the_same(center):
    Z, _, Y = problem(120, 15)
    new = problem(50, 15, seed=1)[0]
    primal = fit_ridge(stream(Z), Y, 1e-3, n_columns=15, center=center)
    dual = fit_kernel_ridge(Z @ Z.T, Y, 1e-3, center=center)
    bound = rounding(Z, 1e-3 * 120)
    np.testing.assert_allclose(primal.decision(new), dual.decision(new @ Z.T), rtol=0, atol=bound * len(Z))


@pytest.mark.parametrize("shape", [(311, 20), (30, 45)], ids=["primal", "dual"])
@pytest.mark.parametrize("n_penalties", [3, 11], ids=["cholesky", "tridiagonal"])
@pytest.mark.parametrize(("scaling", "center"), [("mean", "targets"), ("sum", "both"), ("per_column", "none")])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_cross_validation_equals_one_explicit_fit_per_fold_and_penalty(shape, n_penalties, scaling, center, n_classes):
    Z, labels, Y = problem(*shape, n_classes=n_classes)
    folds = np.random.default_rng(3).integers(0, 4, len(Z))
    penalties = GRID[-n_penalties:]
    options = {"n_columns": shape[1], "scaling": scaling, "center": center}
    accuracy = cross_validate_ridge(stream(Z, 17), Y, penalties, folds, score="accuracy", **options)
    mse = cross_validate_ridge(stream(Z, 17), Y, penalties, folds, score="mse", **options)
    assert accuracy.shape == mse.shape == (n_penalties, 4)
    for i, penalty in enumerate(penalties):
        for fold in range(4):
            out = folds == fold
            coef, intercept = explicit_ridge(Z[~out], Y[~out], penalty, scaling, center)
            decision = Z[out] @ coef + intercept
            expected = 100 * np.mean(Target("classes").decode(decision, np.unique(labels)) == labels[out])
            assert accuracy[i, fold] == pytest.approx(expected, rel=1e-12)
            # errors of the decision values, about 1, enter the squared error doubled
            bound = 2 * rounding(Z, penalty) * max(1, np.abs(decision).max()) * max(1, np.abs(coef).sum())
            assert mse[i, fold] == pytest.approx(np.mean((decision - Y[out]) ** 2), rel=0, abs=bound)


@pytest.mark.parametrize("rows", [1, 7, 501])
def test_the_size_of_the_blocks_does_not_matter(rows):
    n = 2 * streams.CHUNK_ROWS + 333
    Z, _, Y = problem(n, 6, dtype=np.float32)
    folds = np.arange(n) % 3
    whole = cross_validate_ridge(stream(Z), Y, GRID, folds, n_columns=6, score="mse")
    # chunks are filled to the same rows whatever the blocks: the same sums, to the bit
    np.testing.assert_array_equal(
        cross_validate_ridge(stream(Z, rows), Y, GRID, folds, n_columns=6, score="mse"), whole
    )
    np.testing.assert_array_equal(
        fit_ridge(stream(Z, rows), Y, 1e-6, n_columns=6).coef, fit_ridge(stream(Z), Y, 1e-6, n_columns=6).coef
    )


def test_cross_validation_reads_the_stream_twice_and_its_first_block_once_more():
    Z, _, Y = problem(200, 10)
    blocks_read = []

    def blocks():
        for rows, block in stream(Z, 50)():
            blocks_read.append(rows.start)
            yield rows, block

    cross_validate_ridge(blocks, Y, GRID, np.arange(200) % 5, n_columns=10)
    assert blocks_read == [0] + 2 * [0, 50, 100, 150]


def test_memory_does_not_grow_with_the_rows():
    n_columns, rows = 40, 500

    def peak(n):
        Y = np.tile([[1.0], [-1.0], [1.0]], (n // 3, 1))

        def blocks():
            rng = np.random.default_rng(0)
            for start in range(0, len(Y), rows):
                block = rng.standard_normal((min(rows, len(Y) - start), n_columns), dtype=np.float32)
                yield slice(start, start + len(block)), block

        folds = np.arange(len(Y)) % 5
        tracemalloc.start()
        cross_validate_ridge(blocks, Y, GRID[-3:], folds, n_columns=n_columns)
        highest = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return highest

    few, many = 15_000, 45_000
    # only the targets and the folds grow: at most six arrays of one number a row; the features would be forty
    assert peak(many) - peak(few) <= 6 * 8 * (many - few)


def in_single_precision(monkeypatch, fit, *arguments, **options):
    """What a fit on float32 features gives where rounding counts as harmless."""
    with monkeypatch.context() as patch:
        patch.setattr(ridge, "float32_is_harmless", lambda trace, smallest_shift: True)
        return fit(*arguments, **options)


def test_float32_is_used_where_it_is_harmless_and_nowhere_else(monkeypatch):
    Z, _, Y = problem(3000, 30, dtype=np.float32)
    for penalty, is_harmless in ((1.0, True), (1e-6, False)):
        auto = fit_ridge(stream(Z, 1000), Y, penalty, n_columns=30).coef
        single = in_single_precision(monkeypatch, fit_ridge, stream(Z, 1000), Y, penalty, n_columns=30).coef
        double = fit_ridge(stream(Z.astype(np.float64), 1000), Y, penalty, n_columns=30).coef
        assert (single != double).any()
        np.testing.assert_array_equal(auto, single if is_harmless else double)
        if is_harmless:
            assert np.linalg.norm(single - double) <= FLOAT32_TOLERANCE * np.linalg.norm(double)


def test_at_the_limit_of_the_rule_float32_changes_the_coefficients_by_less_than_the_tolerance(monkeypatch):
    Z, _, Y = problem(4000, 60, dtype=np.float32, seed=4)
    trace = float((Z.astype(np.float64) ** 2).sum())
    limit = np.sqrt(streams.CHUNK_ROWS) * np.finfo(np.float32).eps * trace / FLOAT32_TOLERANCE
    assert float32_is_harmless(trace, limit * 1.001)
    assert not float32_is_harmless(trace, limit * 0.999)
    assert not float32_is_harmless(trace, 0.0)
    options = {"n_columns": 60, "scaling": "sum", "center": "none"}
    single = in_single_precision(monkeypatch, fit_ridge, stream(Z), Y, limit, **options).coef
    double = fit_ridge(stream(Z.astype(np.float64)), Y, limit, **options).coef
    assert np.linalg.norm(single - double) <= FLOAT32_TOLERANCE * np.linalg.norm(double)


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
    folds = np.arange(3000) % 5
    grid = [0.05, 0.1, 0.5, 1.0]  # harmless: rows of unit norm need 0.0054
    auto = cross_validate_ridge(stream(Z), Y, grid, folds, n_columns=30, score="mse")
    double = cross_validate_ridge(stream(Z.astype(np.float64)), Y, grid, folds, n_columns=30, score="mse")
    assert (auto != double).any()
    # decision values are below 2 and change by at most the tolerance, the squared error by 2 x (1 + 2) x that
    np.testing.assert_allclose(auto, double, rtol=0, atol=6 * FLOAT32_TOLERANCE)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("shape", [(60, 5), (10, 20)], ids=["primal", "dual"])
def test_features_that_are_not_finite_are_refused(bad, shape):
    Z, _, Y = problem(*shape)
    Z[3, 2] = bad
    with pytest.raises(ValueError, match="features hold NaN, infinity"):
        fit_ridge(stream(Z, 4), Y, 1.0, n_columns=shape[1])
    with pytest.raises(ValueError, match="features hold NaN, infinity"):
        cross_validate_ridge(stream(Z, 4), Y, [1.0], np.arange(shape[0]) % 2, n_columns=shape[1])


def test_features_too_large_for_float32_are_refused_there(monkeypatch):
    Z, _, Y = problem(60, 5)
    with pytest.raises(ValueError, match="too large for their precision"):
        in_single_precision(monkeypatch, fit_ridge, stream((Z * 1e25).astype(np.float32)), Y, 1.0, n_columns=5)


def test_penalty_zero_on_dependent_features_is_one_clear_error_and_never_chosen():
    Z, _, Y = problem(60, 5)
    Z[:, 1] = Z[:, 0]
    folds = np.arange(60) % 2
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        fit_ridge(stream(Z), Y, 0.0, n_columns=5)
    for grid in ([*GRID[-2:], 0.0], [*GRID, 0.0]):
        scores = cross_validate_ridge(stream(Z), Y, grid, folds, n_columns=5)
        assert np.isnan(scores[-1]).all()
        regular = cross_validate_ridge(stream(Z), Y, grid[:-1], folds, n_columns=5)
        np.testing.assert_array_equal(scores[:-1], regular)
        assert best_penalty(scores, grid) == best_penalty(regular, grid[:-1])
    with pytest.raises(np.linalg.LinAlgError, match="singular at every value"):
        best_penalty(cross_validate_ridge(stream(Z), Y, [0.0], folds, n_columns=5), [0.0])


@pytest.mark.parametrize("center", ["targets", "both"])
def test_penalty_zero_with_more_columns_than_rows_is_the_same_error(center):
    Z, _, Y = problem(10, 20)
    with pytest.raises(np.linalg.LinAlgError, match="singular at penalty 0"):
        fit_ridge(stream(Z), Y, 0.0, n_columns=20, center=center)
    scores = cross_validate_ridge(stream(Z), Y, [0.0, 1.0], np.arange(10) % 2, n_columns=20, center=center)
    np.testing.assert_array_equal(np.isnan(scores), [[True, True], [False, False]])


def test_penalty_zero_on_independent_features_is_least_squares():
    Z, _, Y = problem(60, 5)
    model = fit_ridge(stream(Z), Y, 0.0, n_columns=5, center="none")
    expected = np.linalg.lstsq(Z, Y, rcond=None)[0]
    bound = 100 * EPS * np.linalg.cond(Z) ** 2  # of the normal equations
    np.testing.assert_allclose(model.coef, expected, rtol=0, atol=bound * np.abs(expected).max())


def test_penalties_and_scores_are_checked():
    Z, _, Y = problem(40, 5)
    for penalty in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="must be finite and non-negative"):
            fit_ridge(stream(Z), Y, penalty, n_columns=5)
    with pytest.raises(ValueError, match="score must be"):
        cross_validate_ridge(stream(Z), Y, [1.0], np.arange(40) % 2, n_columns=5, score="r2")
