"""Columns of targets, folds, penalties and streams: the small parts that all learners share."""

import numpy as np
import pytest
import torch
from linear_problems import stream
from scipy.sparse import csr_array

from random_features.learners import streams
from random_features.learners.entry import load
from random_features.learners.penalties import best_penalty, check_grid, effective_penalties
from random_features.learners.scoring import check_folds, score_sum
from random_features.learners.shifted import MANY, refuse_singular, solve_shifted
from random_features.learners.targets import as_columns
from rfstudy.data.target import Target

EPS = np.finfo(np.float64).eps


@pytest.mark.parametrize(
    ("targets", "message"),
    [([1.0, np.inf], "NaN or infinity"), (np.zeros((2, 2, 2)), "shape"), (np.zeros((0, 1)), "shape")],
)
def test_numeric_targets_that_are_none(targets, message):
    with pytest.raises(ValueError, match=message):
        as_columns(targets)


SCORES = np.array([[88.0, 92.0, 90.0], [90.0, 91.0, 92.0], [89.0, 91.0, 91.5], [80.0, 99.0, 91.0], [70.0, 71.0, 72.0]])
FLAT = [1.0, 0.1, 10.0, 100.0, 1000.0]
EQUAL = [[90.0, 80.0], [70.0, 70.0], [80.0, 90.0]]


@pytest.mark.parametrize(
    ("scores", "grid", "how", "best"),
    [
        # the largest of equal ones, in any order, and where the means differ by rounding
        (EQUAL, [0.1, 10.0, 1.0], (), 1.0), (EQUAL[::-1], [1.0, 10.0, 0.1], (), 1.0),
        (EQUAL, [1.0, 10.0, 0.1], (), 1.0),
        ([[100 / 3, 200 / 3, 10.0], [10.0, 100 / 3, 200 / 3]], [1.0, 2.0], (), 2.0),  # of errors the smallest
        ([[4.0, 2.0], [1.0, 1.0], [1.0, 1.0]], [0.1, 1.0, 10.0], ("mse",), 10.0),
        # the best mean is 91 with a standard error of 1 / sqrt(3): 90.5 is within, 90 is not
        (SCORES, FLAT, (), 0.1), (SCORES, FLAT, ("accuracy", "one_standard_error"), 10.0),
        (-SCORES, FLAT, ("mse", "one_standard_error"), 10.0),
        (np.where(np.arange(5)[:, None] == 2, np.nan, SCORES), FLAT, ("accuracy", "one_standard_error"), 0.1),
        # of equal ones the smallest has the standard error, in any order; one score has none
        ([[84, 84], [85, 85], [90, 80]], [10, 1, 0.1], ("accuracy", "one_standard_error"), 10),
        ([[90.0], [89.9]], [0.1, 1.0], ("accuracy", "one_standard_error"), 0.1),
        # a value that was singular in some fold is left out
        *(([[90.0, np.nan], [60.0] * 2, [50.0] * 2], [0.1, 1.0, 10.0], *of) for of in [((), 1.0), (("mse",), 10.0)]),
    ],
)  # fmt: skip
def test_the_best_penalty(scores, grid, how, best):
    assert best_penalty(scores, grid, *how) == best


def test_best_penalty_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match="do not belong"):
        best_penalty([[1.0]], [1.0, 2.0])
    for how, message in (["r2"], "score must be"), (["mse", "flat"], "one of best, one_standard_error, got 'flat'"):
        with pytest.raises(ValueError, match=message):
            best_penalty([[1.0]], [1.0], *how)
    with pytest.raises(np.linalg.LinAlgError, match="singular at every value of the grid"):
        best_penalty([[90.0, np.nan]], [0.1])


def test_grids_and_scalings_are_checked():
    for scaling, shifts in {"mean": [5.0, 10.0], "sum": [0.5, 1.0], "per_column": [0.125, 0.25]}.items():
        np.testing.assert_array_equal(effective_penalties([0.5, 1.0], 10, scaling, 4), shifts)
    with pytest.raises(ValueError, match="penalty times 10, by its scaling='mean', must be finite, got"):
        effective_penalties([0.5, 1e308], 10, "mean", 4)
    for bad in ([], [-1.0], [np.nan], [0.0]):
        with pytest.raises(ValueError, match="must be finite and positive"):
            check_grid(bad, "C")
    assert check_grid(0.0, "penalty", zero_allowed=True).tolist() == [0.0]
    assert check_grid(torch.tensor([0.5, 2.0], requires_grad=True), "C").tolist() == [0.5, 2.0]


def test_folds_are_checked():
    Y = np.array([[1.0], [1.0], [-1.0], [-1.0]])
    assert check_folds([0, 1, 0, 1], Y, "accuracy")[1].shape == (4, 2)
    with pytest.raises(ValueError, match="fold 1 hold one class only"):
        check_folds([0, 0, 1, 1], np.array([[1.0], [1.0], [-1.0], [1.0]]), "accuracy")
    assert check_folds([0, 0, 1, 1], np.array([[1.0], [1.0], [-1.0], [1.0]]), "mse")[1].shape == (4, 2)
    # rows of the fold -1 alone train; the others are parts of what is held out
    assert check_folds([-1, 0, -1, 1], Y, "accuracy")[1].tolist() == [[True, True], [False] * 2] * 2
    of_fold = [-1, 1, -1, 1], [-1, -1, -1, -1], [-2, 0, 1, 0]
    for folds in (*of_fold, [0, 0, 2, 2], [1, 1, 2, 2], [0, 0, 0, 0], [0, 1], [0.0, 1.0, 0.0, 1.0]):
        with pytest.raises(ValueError, match="folds must be"):
            check_folds(folds, Y, "accuracy")
    for weights in ([1, 0, 2, 0], [0, 3, 0, 1]):
        with pytest.raises(ValueError, match="fold 0, or the rows that train for it, have no weight"):
            check_folds([0, 1, 0, 1], Y, "mse", weights=np.array(weights))


@pytest.mark.parametrize(
    ("name", "n_columns", "score"),
    [("ridge", n_columns, score) for n_columns in (4, 60) for score in ("accuracy", "mse")]
    + [(name, 4, "accuracy") for name in ("svm", "logistic", "l1_svm")],
)
def test_held_out_rows_are_scored_in_parts_by_what_the_other_rows_train(name, n_columns, score):
    rng, learner = np.random.default_rng(0), load(name)
    Z, grid = rng.standard_normal((50, n_columns)), [0.1, 1.0]
    Y = np.where(Z[:, :1] + rng.standard_normal((50, 1)) > 0, 1.0, -1.0)
    folds = rng.permutation(np.where(np.arange(50) < 30, -1, np.arange(50) % 3))
    options = {
        "ridge": {"penalties": grid, "scaling": "mean", "center": "both"},
        "svm": {"C": grid, "solver": "newton"},
        "logistic": {"penalties": grid, "scaling": "mean", "intercept": "none", "classes": "multinomial"},
        "l1_svm": {"C": grid},
    }[name]
    how = {"n_columns": n_columns, "options": options}
    found = learner.cross_validate(stream(Z), Y, folds, score=score, **how)
    for scores, value in zip(found, grid, strict=True):
        decision = learner.fit(stream(Z[folds == -1]), Y[folds == -1], value, **how).decision(Z)
        each = {"accuracy": 100.0 * (np.sign(decision) == Y), "mse": (decision - Y) ** 2}[score]
        assert scores == pytest.approx([each[folds == part].mean() for part in range(3)])


def test_a_class_missing_from_the_training_rows_matters_where_every_column_is_trained():
    Y = Target("classes").encode([0, 0, 1, 1, 2, 2])[0]
    folds = [0, 1, 0, 1, 0, 0]
    assert check_folds(folds, Y, "accuracy")[1].shape == (6, 2)
    with pytest.raises(ValueError, match="fold 0 hold one class only in column 2"):
        check_folds(folds, Y, "accuracy", every_column=True)


def test_scores_count_classes_and_squared_errors():
    Y = np.array([[1.0], [-1.0]])
    decision = np.array([[[0.5], [-2.0]], [[-1.0], [1.0]]])  # two rows, two penalties
    np.testing.assert_allclose(score_sum(Y, decision, "accuracy"), [200.0, 0.0])
    np.testing.assert_allclose(score_sum(Y, decision, "mse"), [0.25 + 0.0, 9.0 + 4.0])
    decision[1, 0] = np.nan
    np.testing.assert_array_equal(score_sum(Y, decision, "accuracy"), [np.nan, 0.0])
    np.testing.assert_array_equal(score_sum(Y, decision, "mse"), [np.nan, 13.0])


@pytest.mark.parametrize("rows", [1, 3, 700, 5000])
def test_rows_are_grouped_for_any_blocks(rows):
    rng = np.random.default_rng(0)
    n = streams.CHUNK_ROWS * 2 + 333
    Z = rng.standard_normal((n, 3)).astype(np.float32)
    groups = rng.integers(0, 2, n)
    seen = np.zeros(n, dtype=int)
    for group, members, chunk in streams.grouped(stream(Z, rows), groups, 2, 3, np.float64):
        assert (groups[members] == group).all()
        assert len(chunk) <= streams.CHUNK_ROWS
        np.testing.assert_array_equal(chunk, Z[members])
        seen[members] += 1
    assert (seen == 1).all()


def test_chunks_are_larger_on_a_gpu_and_bounded_in_bytes():
    gpu, most = torch.device("cuda"), 8 * streams.CHUNK_ROWS
    assert streams.chunk_rows(1728, "cpu") == streams.chunk_rows(1728, torch.device("cpu")) == streams.CHUNK_ROWS
    assert streams.chunk_rows(1728, gpu) == most
    assert streams.CHUNK_ROWS < streams.chunk_rows(10_000, gpu) < most
    assert streams.chunk_rows(10**6, gpu) == streams.CHUNK_ROWS


def test_the_last_rows_of_a_group_are_not_forgotten_however_few():
    n = streams.CHUNK_ROWS + 1
    Z = np.ones((n + 1, 2), dtype=np.float32)
    groups = np.zeros(n + 1, dtype=int)
    groups[5] = 1
    grams, crosses = streams.grams_by_group(stream(Z, 100), Z[:, :1], groups, 2, 2)
    np.testing.assert_array_equal(grams[0], np.full((2, 2), n))
    np.testing.assert_array_equal(grams[1], np.ones((2, 2)))
    np.testing.assert_array_equal(np.squeeze(crosses), [[n, n], [1, 1]])


def test_features_are_kept_within_the_budget_only(monkeypatch):
    Z = np.arange(24, dtype=np.float32).reshape(8, 3)
    blocks = stream(Z, 3)
    monkeypatch.setattr(streams, "MEMORY_BUDGET", Z.nbytes - 1)
    assert streams.keep_within(blocks, 8, 3) is blocks
    monkeypatch.setattr(streams, "MEMORY_BUDGET", Z.nbytes)
    ((rows, block),) = streams.keep_within(blocks, 8, 3)()
    assert rows == slice(0, 8)
    assert block.dtype == np.float32
    np.testing.assert_array_equal(block, Z)


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        (lambda: iter([(slice(0, 4), np.zeros((4, 3)))]), "ended after 4 of 6 rows"),
        (lambda: iter([(slice(0, 6), np.zeros((6, 2)))]), r"shape \(rows, 3\)"),
        (lambda: iter([(slice(0, 6), np.zeros((6, 3), dtype=int))]), "float32 or float64"),
        (lambda: iter([(slice(0, 6), csr_array((6, 3)))]), r"must be dense, .* \(rows, 3\), got csr_array in float64"),
        (lambda: iter([(slice(0, 4), np.zeros((6, 3)))]), "a block of 6 rows is numbered"),
        (lambda: iter([(slice(2, 6), np.zeros((4, 3)))]), "row 0 of 6 was due"),
        (lambda: iter([(slice(0, 7), np.zeros((7, 3)))]), "a block of 7 rows is numbered"),
        (lambda: iter([]), "ended after 0 of 6 rows"),
        (iter([]), "must be a function that returns a stream"),
    ],
)
def test_a_stream_that_does_not_fit_is_refused(blocks, message):
    with pytest.raises((ValueError, TypeError), match=message):
        list(streams.checked(blocks, 6, 3))
    with pytest.raises((ValueError, TypeError), match=message):
        load("l1_svm").fit(blocks, torch.tensor([1.0, -1.0] * 3), 1.0, n_columns=3, options={})


@pytest.mark.parametrize("n_shifts", [3, MANY, 25])
@pytest.mark.parametrize("size", [1, 2, 3, 60])
def test_shifted_systems_equal_a_general_solver(size, n_shifts):
    rng = np.random.default_rng(size)
    A = rng.standard_normal((2 * size, size))
    matrix, rhs = A.T @ A, rng.standard_normal((size, 2))
    shifts = np.geomspace(1e-3, 10, n_shifts)
    solutions = solve_shifted(matrix, rhs, shifts)
    assert solutions.shape == (n_shifts, size, 2)
    for solution, shift in zip(solutions, shifts, strict=True):
        system = matrix + shift * np.eye(size)
        # backward stable solvers differ by a modest multiple of condition x eps
        bound = 100 * size * EPS * np.linalg.cond(system)
        expected = np.linalg.solve(system, rhs)
        np.testing.assert_allclose(solution, expected, rtol=0, atol=bound * np.abs(expected).max())


@pytest.mark.parametrize("n_shifts", [2, MANY])
def test_a_singular_system_is_an_error_or_nan_for_its_shift_alone(n_shifts):
    A = np.random.default_rng(2).standard_normal((40, 10))
    A[:, 3] = A[:, 4]
    matrix, rhs = A.T @ A, A.T @ np.ones((40, 1))
    shifts = np.append(np.geomspace(1e-3, 1.0, n_shifts), 0.0)
    solutions = solve_shifted(matrix, rhs, shifts)
    with pytest.raises(np.linalg.LinAlgError, match=r"singular to working precision at a diagonal term of 0"):
        refuse_singular(solutions, shifts)
    assert np.isnan(solutions[-1]).all()
    np.testing.assert_array_equal(solutions[:-1], solve_shifted(matrix, rhs, shifts[:-1]))
    refuse_singular(solutions[:-1], shifts[:-1])


def test_features_of_very_different_lengths_are_not_singular():
    A = np.random.default_rng(4).standard_normal((60, 12))
    lengths = 2.0 ** np.repeat([0, 15, 33], 4)  # powers of two: the scaled matrix has no rounding errors of its own
    long, rhs = (A * lengths).T @ (A * lengths), A.T @ np.ones((60, 1))
    shifts = np.concatenate([[1e-3, 1.0], [0.0]])
    assert np.linalg.cond(long) > 1 / EPS
    solution = solve_shifted(long, lengths[:, None] * rhs, shifts)[-1]
    expected = np.linalg.solve(A.T @ A, rhs)
    bound = 100 * 12 * EPS * np.linalg.cond(A.T @ A)
    np.testing.assert_allclose(lengths[:, None] * solution, expected, rtol=0, atol=bound * np.abs(expected).max())


def test_dependent_features_are_singular_for_any_lengths():
    A = np.random.default_rng(4).standard_normal((60, 12)) * 2.0 ** np.repeat([0, 15, 33], 4)
    A[:, 5] = 2.0**10 * A[:, 0]
    shifts = np.concatenate([[1e-3, 1.0], [0.0]])
    solutions = solve_shifted(A.T @ A, A.T @ np.ones((60, 1)), shifts)
    assert np.isnan(solutions[-1]).all()
    assert np.isfinite(solutions[:-1]).all()


def test_a_matrix_that_is_not_semi_definite_is_refused():
    matrix = np.diag([1.0, 2.0, -1.0, 3.0])
    shifts = np.array([0.5, 2.0])
    solutions = solve_shifted(matrix, np.ones((4, 1)), shifts)
    assert np.isnan(solutions[shifts < 1]).all()
    assert np.isfinite(solutions[shifts > 1]).all()
