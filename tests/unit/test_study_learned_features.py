"""The kinds of experiments on learned features against naive computations: the game by rounds, exact kernels, peaks,
budgets."""

import numpy as np
import pytest
import study_toys as toys
from closed_forms import projected_dual
from sklearn.svm import SVC

from random_features.errors import UserError
from random_features.maps.registry import make_map
from rfstudy.study.engine import kind_cells
from rfstudy.study.kinds import evaluations, exact, rounds

N, N_TEST = 120, 300
SEARCH = {"mode": "text", "n_copies": 20, "n_steps": 15, "n_peaks": 5, "initial_std": 8}


def windmill(n, seed=0):
    X = np.random.default_rng(seed).uniform(-1, 1, (n, 2)).astype(np.float32)
    return X, np.where(np.sin(3 * np.arctan2(X[:, 1], X[:, 0])) >= 0, 1, -1)


@pytest.fixture
def job_of(tmp_path):
    prepared = toys.write_data(tmp_path / "prepared", *windmill(N + N_TEST), n_train_published=N)

    def make(kind, methods, grid, repeats=(0,)):
        entries = [{"variant": "", "options": {}} | each for each in methods]
        spec = toys.part(
            paper="nsrf", kind=kind, dataset="made", seed=1, preprocess=["none"], repeats=list(repeats),
            bandwidth={"rule": "fixed", "length_scale": 0.5}, methods=entries, grid=grid,
        )  # fmt: skip
        return toys.job("measure", spec, prepared, tmp_path / "journal")

    return make


def measured(kind, job):
    return [(cell, *toys.measured(kind, job, cell)) for cell in kind_cells(job)]


def value(rows, metric, **where):
    (found,) = [row["value"] for row in rows if row["metric"] == metric and all(row[k] == v for k, v in where.items())]
    return found


def sample():
    X, y = windmill(N + N_TEST)
    return X[:N], y[:N], X[N:], y[N:]


GRID = {"n_features": [5, 15, 30], "pictures": [0, 5, 25], "resolution": 11}


def frequencies_and_weights(arrays, C=0.5):
    """The dual weights of every round from the frequencies alone: Algorithm 2 written out."""
    X, y, *_ = sample()
    X, alpha, found = X.astype(float), projected_dual(np.full(N, C / 2), y, C), []
    for start in range(0, 30, 5):
        found.append(alpha)
        gradient = np.zeros(N)
        for w in arrays["frequencies"][start : start + 5].astype(float):
            wave = np.exp(1j * X @ w)
            gradient += (1 - 2 * y * (np.conj((y * alpha) @ wave) * wave).real) / 5
        alpha = projected_dual(alpha + gradient / N, y, C)
    return found


def test_what_is_drawn_of_a_game_is_what_it_was(job_of):
    options = SEARCH | {"C": 0.5, "n_copies": 100, "n_steps": 40}
    ((_, rows, arrays),) = measured(rounds, job_of("rounds", [{"method": "nsrf", "options": options}], GRID))
    X, y, *_ = sample()
    weights = dict(zip((0, 5, 10, 15, 20, 25), frequencies_and_weights(arrays), strict=True))
    half = float(arrays["window"])
    assert half == pytest.approx(1.2 * np.abs(arrays["frequencies"][:25]).max())
    ticks = np.linspace(-half, half, 11)
    for m in (0, 5, 25):
        np.testing.assert_allclose(arrays[f"weights-{m}"], weights[m], atol=1e-4)
        grid = np.array([[(a, b) for a in ticks] for b in ticks])
        naive = np.abs(np.exp(1j * grid @ X.T.astype(float)) @ (y * weights[m])) ** 2 / N**2
        np.testing.assert_allclose(arrays[f"potential-{m}"], naive, atol=2e-3 * naive.max())
        area = np.mean(naive > naive.max() / 2) * (2 * half) ** 2
        assert value(rows, "peak_area", n_features=m) == pytest.approx(area, rel=0.1)
    assert arrays["decision-25"].shape == (11, 11)
    assert "decision-0" not in arrays


def test_a_distance_to_the_plane_and_out_of_the_box():
    y = np.array([1.0, 1.0, -1.0, -1.0])
    assert rounds.dual_violation(np.array([0.5, 0.5, 0.5, 0.5]), y, 1.0) == 0.0
    assert rounds.dual_violation(np.array([1.25, 0.5, 0.75, 1.0]), y, 1.0) == 0.25
    assert rounds.dual_violation(np.array([-0.5, 0.5, 0.0, 0.0]), y, 1.0) == 0.5
    assert rounds.dual_violation(np.array([1.0, 1.0, 0.0, 0.0]), y, 1.0) == 1.0  # 2 / sqrt(4)


def test_a_game_in_the_plane_that_is_never_looked_at_has_no_harmonics(job_of):
    job = job_of("rounds", [{"method": "nsrf", "options": SEARCH}], GRID | {"n_features": [5], "pictures": []})
    ((_, rows, arrays),) = measured(rounds, job)
    assert set(arrays) == {"X", "y", "frequencies", "window", "extent", "kept"}
    assert not any(row["metric"] in ("peak_area", "boundary_weight_ratio") for row in rows)


def test_only_the_first_repeat_of_the_method_itself_is_drawn(job_of):
    entries = [{"method": "nsrf", "options": SEARCH}, {"method": "nsrf", "variant": "still", "options": SEARCH}]
    found = measured(rounds, job_of("rounds", entries, GRID | {"n_features": [5]}, repeats=(0, 1)))
    drawn = [(cell.entry["variant"], cell.coordinates["repeat"], bool(arrays)) for cell, _, arrays in found]
    assert drawn == [("", 0, True), ("still", 0, False), ("", 1, False), ("still", 1, False)]


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ({"pictures": [0, 30]}, "the game is over with 30 features, so that 30 cannot be looked at"),
        ({"n_features": [5, 12, 30]}, "nsrf finds 5 features a round, so that no round ends with 12"),
        ({"pictures": [1]}, "no round ends with 1"),
    ],
)
def test_a_reading_that_no_round_ends_with_is_refused(grid, message):
    spec = toys.part(methods=[{"method": "nsrf", "options": SEARCH}], grid=GRID | grid)
    with pytest.raises(ValueError, match=message):
        rounds.check(spec)
    rounds.check(spec | {"grid": GRID | {"n_features": [5, 28]}})  # the last round may find fewer


def test_a_combination_of_kernels_is_that_of_its_weights(job_of):
    grid = {"kernels": [{"name": "linear"}], "factors": [0.5, 2], "n_features": 40, "C": 2.0, "combined": True}
    (combined, rows, _), (mapped, *_) = measured(exact, job_of("exact", [{"method": "rff"}], grid))
    assert combined.coordinates == {"repeat": 0, "kernel": "combination"}
    assert mapped.entry["method"] == "rff"
    X, y, X_test, y_test = (part.astype(float) for part in sample())
    weights = rows[0]["settings"]["weights"]
    assert list(weights) == ["linear", "gaussian x 0.5", "gaussian x 2"]
    assert sum(weights.values()) == pytest.approx(1, abs=2e-4)

    def kernel(A):
        square = ((A[:, None] - X) ** 2).sum(axis=2)
        linear = A @ X.T / (X**2).sum(axis=1).mean()
        each = linear, np.exp(-square / (2 * 0.25**2)), np.exp(-square / 2)
        return sum(weight * values for weight, values in zip(weights.values(), each, strict=True))

    right = 100 * SVC(kernel="precomputed", C=2.0, tol=1e-8).fit(kernel(X), y).score(kernel(X_test), y_test)
    # weights are given to four digits
    assert value(rows, "accuracy_pct") == pytest.approx(right, abs=2 * 100 / N_TEST)
    assert {(row["kernel"], row["learner"]) for row in rows} == {("combination", "kernel_svm")}


def test_a_combination_is_timed_with_its_kernel_matrices_next_to_maps_and_their_learning(job_of):
    grid = {"kernels": [{"name": "linear"}], "factors": [1], "n_features": 10, "C": 1.0, "combined": True}
    units = exact.timed(job_of("exact", [{"method": "nsrf", "options": SEARCH}], grid), {})
    assert [(unit.entry.get("method"), list(unit.phases), unit.learner) for unit in units] == [
        (None, ["transform", "fit"], "kernel_svm"),
        ("nsrf", ["draw", "learn", "transform", "fit"], "l1_svm"),
    ]
    for unit in units:
        for phase in unit.phases.values():
            phase()
    assert units[0].columns["kernel"] == "combination"
    assert units[1].columns["n_features"] == 10


@pytest.mark.parametrize("budget", [480, 1000, 5000])
def test_a_budget_is_spent_and_not_exceeded(budget):
    s, entry = 13, {"method": "nsrf", "options": SEARCH}
    options = evaluations.spent(entry, s, max(budget, 5 * 3 * 16))
    X, y, *_ = sample()
    phi = make_map("nsrf", n_components=s, random_state=0, **options).fit(X, y)
    assert budget - 3 * 16 < phi.evaluations_ <= budget
    of_pool = evaluations.spent({"method": "karff", "options": {"rho": 1.0}}, s, budget)
    assert of_pool == {"rho": 1.0, "n_candidates": budget}
    assert evaluations.spent(entry, s, 240)["n_copies"] == 5
    grid = {"n_features": s, "evaluations": [480, 239]}
    with pytest.raises(UserError, match="evaluations: 239 are under the 240 that one copy a peak takes"):
        evaluations.check(toys.part(methods=[{"method": "rff", "options": {}}, entry], grid=grid))


@pytest.mark.parametrize("options", [{"mode": "code"}, {"search": "random"}, {}])
def test_a_budget_is_that_of_the_map_for_any_mode(options):
    X, y, *_ = sample()
    options = evaluations.spent({"method": "nsrf", "options": options | {"n_steps": 9}}, 4, 400)
    assert 360 < make_map("nsrf", n_components=4, random_state=0, **options).fit(X, y).evaluations_ <= 400
