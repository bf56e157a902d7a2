"""The kinds of experiment about EERF's scores, against closed forms, brute force and scikit-learn on the features."""

from types import SimpleNamespace

import numpy as np
import pytest
import study_toys as toys
from sklearn.linear_model import LassoLars, OrthogonalMatchingPursuit, lars_path
from sklearn.preprocessing import StandardScaler

from random_features.arrays import seed_sequence
from random_features.kernels import Gaussian
from random_features.maps import make_map
from rfstudy.data.target import Target
from rfstudy.study.engine import Job
from rfstudy.study.kinds import energy, ranking

ENERGY = {
    "dimension": 2, "candidates": 30, "terms": 4, "rows": 4000, "input_scales": [0.2, 8.0], "fixed_input_scale": 0.7,
    "sample_sizes": [500],
}  # fmt: skip


def entry(method, variant="", **options):
    return {"method": method, "variant": variant, "options": options}


def energy_job(**grid):
    spec = toys.part(kernel={"name": "gaussian", "length_scale": 1}, seed=3, device="cpu", repeats=[0])
    return Job("measure", spec | {"methods": [entry("kprff")], "grid": ENERGY | grid}, None, None)


def test_expected_scores_are_the_mean_over_many_rows():
    rng = np.random.default_rng(0)
    frequencies, phases, coefficients = rng.normal(size=(6, 2)), rng.uniform(0, 2 * np.pi, 6), np.array([1.0, 0.5])
    X = 0.7 * rng.standard_normal((200_000, 2))
    candidates = np.sqrt(2) * np.cos(X @ frequencies.T + phases)
    products = (candidates[:, :2] / np.sqrt(2) @ coefficients)[:, None] * candidates
    error = products.std(axis=0) / np.sqrt(len(X))
    expected = energy.expected_scores(frequencies, phases, coefficients, 0.7)
    assert (np.abs(products.mean(axis=0) - expected) < 4.5 * error).all()
    assert (np.abs(expected) > 10 * error).any()  # the bound above is no bound on zeros alone


def test_the_deviation_is_that_of_the_scores_of_the_map_from_their_expectation():
    job = energy_job()
    *_, cell = energy.cells(job)
    (row,), _ = energy.measure(job, cell, None)
    assert (row["axis"], row["at"], row["n_train"], row["metric"]) == ("rows", 500, 500, "score_deviation")
    # every term is bounded by 2.1 standard errors of a mean of products below sqrt(2) * 6 in size; 30 candidates
    assert 0 < row["value"] < 5 * np.sqrt(2) * 6 / np.sqrt(500)


def test_scores_follow_the_spectrum_where_inputs_are_wide():
    job = energy_job()
    narrow, wide, _ = (energy.measure(job, cell, None)[0][0] for cell in energy.cells(job))
    assert [row["at"] for row in (narrow, wide)] == [0.2, 8.0]
    assert narrow["value"] < 0.6 < 0.95 < wide["value"] <= 1


def test_a_cell_is_the_naive_computation_on_its_rows():
    """The seed, the rows and the target as the kind draws them, and numbers from features that are written out."""
    job = energy_job()
    for cell in energy.cells(job):
        (row,), _ = energy.measure(job, cell, None)
        n, scale = cell.conditions["rows"], cell.conditions["input_scale"]
        assert (n, scale) == {0.2: (4000, 0.2), 8.0: (4000, 8.0), 500: (500, 0.7)}[row["at"]]
        frequencies, phases, _ = energy.candidates_of(job.spec, cell)
        rng = np.random.default_rng(seed_sequence(3, "energy", 2, n, scale, 0))
        X, coefficients = scale * rng.standard_normal((n, 2)), rng.uniform(0.5, 1.5, 4)
        y = sum(c * np.cos(X @ w + b) for c, w, b in zip(coefficients, frequencies, phases, strict=False))
        scores = np.array(
            [np.mean(y * np.sqrt(2) * np.cos(X @ w + b)) for w, b in zip(frequencies, phases, strict=True)]
        )
        spectrum = np.r_[coefficients, np.zeros(26)]
        expected = (
            np.abs(scores - energy.expected_scores(frequencies, phases, coefficients, scale)).max()
            if row["metric"] == "score_deviation"
            else np.corrcoef(np.abs(scores), spectrum)[0, 1]
        )
        np.testing.assert_allclose(row["value"], expected, rtol=1e-9)
        assert row["settings"] == {"terms": 4, "input_scale": scale}


def test_deviations_fall_as_the_rows_grow():
    job = energy_job(sample_sizes=[200, 20_000])
    few, many = (energy.measure(job, cell, None)[0][0]["value"] for cell in energy.cells(job)[-2:])
    assert many < few / 4  # 10 of the rate


def test_a_target_has_no_more_terms_than_the_pool_candidates():
    with pytest.raises(ValueError, match="terms must be at most candidates"):
        energy.check(toys.part(grid=ENERGY | {"terms": 31}))
    assert energy.check(toys.part(grid=ENERGY | {"terms": 30})) is None


# the ranking


def classified(n=300, d=3):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, d)).astype(np.float32)
    return X, np.where(np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=n) > 0.2, 1, -1)


def pool_and_moments(n_candidates=40, seed=5):
    X, y = classified()
    phi = make_map("kprff", Gaussian(1.0), n_components=8, n_candidates=n_candidates, random_state=seed).fit(X, y)
    return X, y, phi, ranking.Moments(phi.pool_, X, y[:, None].astype(float))


def features(phi, X):
    return np.concatenate([block for _, block in phi.pool_.blocks(X)]).astype(np.float64)


def test_moments_are_the_covariances_of_the_candidates():
    X, y, phi, moments = pool_and_moments()
    Z = features(phi, X)
    np.testing.assert_allclose(moments.covariance, np.cov(Z.T, ddof=0), atol=1e-10)
    np.testing.assert_allclose(moments.with_targets, (y - y.mean()) @ Z / len(y), atol=1e-10)
    scaled, cross = moments.standardised()
    standard = StandardScaler().fit_transform(Z)
    np.testing.assert_allclose(scaled, standard.T @ standard, atol=1e-6)
    np.testing.assert_allclose(cross, (y - y.mean()) @ standard, atol=1e-6)


def test_the_choice_by_score_is_that_of_the_map():
    _, _, phi, moments = pool_and_moments()
    chosen = ranking.choose("score", moments, 8, np.random.default_rng(0))
    np.testing.assert_array_equal(chosen, phi.learned_["indices"])


@pytest.mark.parametrize("how", ["lasso", "omp"])
def test_paths_are_those_of_scikit_learn_on_the_features(how):
    X, y, phi, moments = pool_and_moments()
    standard, centred = StandardScaler().fit_transform(features(phi, X)), y - y.mean()
    chosen = ranking.choose(how, moments, 6, np.random.default_rng(0))
    if how == "omp":
        coef = OrthogonalMatchingPursuit(n_nonzero_coefs=6).fit(standard, centred).coef_
        np.testing.assert_array_equal(chosen, np.flatnonzero(coef))
    else:
        path = LassoLars(alpha=0.0, max_iter=24, fit_intercept=False).fit(standard, centred).coef_path_
        first = np.flatnonzero(np.count_nonzero(path, axis=0) >= 6)[0]
        np.testing.assert_array_equal(chosen, np.flatnonzero(path[:, first]))
    assert len(chosen) == 6


def test_a_path_goes_on_until_as_many_features_have_entered_as_are_wanted():
    """A candidate that another stands for leaves the path again: it takes more steps than features."""
    rng = np.random.default_rng(8)
    for _ in range(100):
        Z = StandardScaler().fit_transform(rng.normal(size=(60, 12)) @ (np.eye(12) + 0.9 * rng.normal(size=(12, 12))))
        y = Z @ rng.normal(size=12)
        path = lars_path(Z, y, method="lasso")[2]
        if (np.count_nonzero(path[:, :11], axis=0) < 10).all():
            break
    else:
        raise AssertionError("no problem in which ten steps find fewer than ten features")
    moments = SimpleNamespace(n_rows=60, with_targets=y @ Z / 60, standardised=lambda: (Z.T @ Z, y @ Z))
    assert len(ranking.choose("lasso", moments, 10, rng)) == 10


def test_random_choices_and_the_whole_pool():
    _, _, _, moments = pool_and_moments()
    chosen = ranking.choose("random", moments, 8, np.random.default_rng(0))
    assert len(set(chosen.tolist())) == 8
    np.testing.assert_array_equal(ranking.choose("pool", moments, 8, None), np.arange(40))


def test_effective_rank_counts_directions():
    assert ranking.effective_rank(np.eye(5)) == pytest.approx(5)
    assert ranking.effective_rank(np.ones((4, 4))) == pytest.approx(1, abs=1e-9)
    assert ranking.effective_rank(np.diag([1.0, 1.0, 0.0])) == pytest.approx(2)


def test_a_cell_is_ridge_regression_on_the_chosen_candidates():
    X, y = classified(400)
    sample = SimpleNamespace(
        X_train=X[:300], y_train=y[:300], X_test=X[300:], y_test=y[300:], capped=False,
        size_columns={"n_train": 300, "n_test": 100, "d": 3},
    )  # fmt: skip
    samples = SimpleNamespace(of=lambda repeat, steps: sample, length_scale=lambda repeat, steps, rule: 1.0)
    spec = toys.part(
        kind="ranking", dataset="made", repeats=[0], preprocess=["none"],
        bandwidth={"rule": "fixed", "length_scale": 1.0},
        methods=[entry("kprff", choice="score"), entry("rff", choice="random"), entry("rff", "pool", choice="pool")],
        grid={"candidates": [30], "n_features": 6, "penalties": [0.5], "n_folds": 3},
    )  # fmt: skip
    job = Job("measure", spec, None, None, SimpleNamespace(target=Target("binary")), samples)
    score, random, whole = (
        {row["metric"]: row for row in ranking.measure(job, cell, None)[0]} for cell in ranking.cells(job)
    )
    assert score["overlap_pct"]["value"] == 100
    assert 0 <= random["overlap_pct"]["value"] < 100
    assert whole["overlap_pct"]["value"] == pytest.approx(100 * 6 / 30)
    assert [each["error_pct"]["n_features"] for each in (score, random, whole)] == [6, 6, 30]
    assert {row["at"] for row in score.values()} == {30}

    (cell, *_) = ranking.cells(job)
    pool = ranking.pool_of(job, cell)
    Z = np.concatenate([block for _, block in pool.blocks(sample.X_train)]).astype(np.float64)
    order = np.argsort(-np.abs((sample.y_train - sample.y_train.mean()) @ Z))[:6]
    Z, T = Z[:, order] / np.sqrt(6), np.concatenate([b for _, b in pool.blocks(sample.X_test)])[:, order] / np.sqrt(6)
    mean, offset = Z.mean(axis=0), sample.y_train.mean()
    weights = np.linalg.solve(
        (Z - mean).T @ (Z - mean) + 300 * 0.5 * np.eye(6), (Z - mean).T @ (sample.y_train - offset)
    )
    spectrum = np.linalg.eigvalsh(np.cov(np.sqrt(6) * Z.T, ddof=0))
    entropy = -sum(share * np.log(share) for share in spectrum / spectrum.sum())
    assert score["effective_rank"]["value"] == pytest.approx(np.exp(entropy))
    predicted = np.where((T - mean) @ weights + offset > 0, 1, -1)
    assert score["error_pct"]["value"] == pytest.approx(100 * np.mean(predicted != sample.y_test))


def test_a_pool_that_is_too_small_is_refused():
    with pytest.raises(ValueError, match="candidates must be at least n_features"):
        ranking.check(toys.part(grid={"candidates": [200, 50], "n_features": 51}))
    ranking.check(toys.part(grid={"candidates": [200, 51], "n_features": 51}))
