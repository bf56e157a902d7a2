"""Leverage-score features: the scores, the resampling of the text and the weighting of the published code."""

import numpy as np
import pytest
from closed_forms import drawn, pool_columns

from random_features.kernels import ArcCosine, Gaussian
from random_features.maps import leverage, make_map, pool
from random_features.maps.leverage import ridge_leverage_scores

N, D, S, PENALTY = 60, 3, 10, 0.02

MODES = ("text", "keep", *leverage.COLUMN_MODES)


def data():
    return np.random.default_rng(0).normal(size=(N, D))


def fitted(X=None, **options):
    phi = make_map("lsrff", kernel=Gaussian(1.5), n_components=S, penalty=PENALTY, random_state=0, **options)
    return phi.fit(data() if X is None else X)


def naive_scores(Z):
    gram = Z.T @ Z
    return np.diag(gram @ np.linalg.inv(gram + len(Z) * PENALTY * np.eye(len(gram))))


@pytest.mark.parametrize(("n", "penalty"), [(2000, 1e-4), (2000, 1e-6), (150, 1e-5)])  # and fewer rows than columns
def test_scores_of_float32_data_are_those_of_float64_for_small_penalties(n, penalty):
    """Sums in float32 change these scores by up to 2 %. Rounding of the features alone averages out over the rows."""
    X = np.random.default_rng(3).normal(size=(n, 5)).astype(np.float32)
    phi = make_map("lsrff", Gaussian(4.0), n_components=100, penalty=penalty, random_state=0, mode="keep").fit(X)
    Z = pool_columns(phi, X.astype(np.float64))
    scores = ridge_leverage_scores(Z.T @ Z, len(X) * penalty).reshape(2, -1).sum(axis=0)
    q = scores / scores.sum()
    rounding = np.sqrt(len(X)) * np.finfo(np.float32).eps
    np.testing.assert_allclose(phi.learned_["weights"], np.sqrt(1 / (100 * q)), rtol=rounding)


def test_scores_of_long_float32_features_are_those_of_float64():
    """The features of this kernel have a mean square length of 10,000: sums in float32 change the weights by 8e-4."""
    X = (3 * np.random.default_rng(3).normal(size=(2000, 5))).astype(np.float32)
    options = {"kernel": ArcCosine(2), "n_components": 200, "penalty": 0.01, "random_state": 0, "mode": "keep"}
    X = X, *(scale * X.astype(np.float64) for scale in (1, 1e-3, 1e-8))
    single, double, *short = (make_map("lsrff", **options).fit(each).learned_["weights"] for each in X)
    np.testing.assert_allclose(single, double, rtol=np.sqrt(len(X[0])) * np.finfo(np.float32).eps)
    np.testing.assert_allclose(*short, rtol=1e-4)  # next to the penalty they are in proportion to the squares


@pytest.mark.parametrize("mode", MODES)
def test_fewer_rows_than_columns_give_the_same_choice(mode, monkeypatch):
    few = fitted(data()[: S + 3], mode=mode).learned_
    monkeypatch.setattr(leverage, "row_leverage_scores", lambda Z, ridge: ridge_leverage_scores(Z.T @ Z, ridge))
    naive = fitted(data()[: S + 3], mode=mode).learned_
    np.testing.assert_array_equal(few["indices"], naive["indices"])
    np.testing.assert_allclose(few["weights"], naive["weights"])


def test_text_weights_are_importance_weights_of_the_summed_scores():
    phi = fitted()
    q = naive_scores(pool_columns(phi, data())).reshape(2, S).sum(axis=0)
    q = q / q.sum()
    indices = phi.learned_["indices"]
    assert indices.shape == (S,)
    np.testing.assert_allclose(phi.learned_["weights"], np.sqrt(1 / (S * q[indices])))
    np.testing.assert_array_equal(phi.frequencies_, phi.pool_.frequencies[indices])
    angles = data() @ phi.frequencies_.T
    weighted = phi.learned_["weights"] * np.stack([np.cos(angles), np.sin(angles)]) / np.sqrt(S)
    np.testing.assert_allclose(phi.transform(data()), np.hstack(weighted), atol=1e-12)


def test_text_in_the_phase_layout_keeps_the_phases_of_the_drawn_frequencies():
    phi = fitted(layout="phase")
    pool_phases = drawn("rff", D, S, layout="phase").phases_
    np.testing.assert_array_equal(phi.chosen_.phases, pool_phases[phi.learned_["indices"]])
    angles = data() @ phi.frequencies_.T + phi.chosen_.phases
    expected = phi.learned_["weights"] * np.sqrt(2 / S) * np.cos(angles)
    np.testing.assert_allclose(phi.transform(data()), expected, atol=1e-12)


def test_text_is_unbiased_for_the_kernel():
    """Over pools and resamplings together, at pairs of the data that the scores were computed on."""
    X = data()[:20]
    kernel = Gaussian(1.5)
    phi = make_map("lsrff", kernel=kernel, n_components=4)
    sample = []
    for seed in range(1000):
        Z = phi.set_params(random_state=seed).fit(X).transform(X[:3])
        sample.append((Z @ Z.T)[np.triu_indices(3)])
    sample = np.array(sample)
    errors = sample.std(axis=0) / np.sqrt(len(sample))
    # Six entries: 4.5 standard errors.
    assert np.all(np.abs(sample.mean(axis=0) - kernel(X[:3])[np.triu_indices(3)]) < 4.5 * errors)


def test_code_keeps_all_features_sorted_by_their_separate_scores():
    phi = fitted(mode="code")
    q = naive_scores(pool_columns(phi, data(), phi.pool_.phases))
    q = q / q.sum()
    indices, weights = phi.learned_["indices"], phi.learned_["weights"]
    np.testing.assert_array_equal(np.sort(indices), np.arange(2 * S))
    np.testing.assert_allclose(weights, np.sqrt(1 / q[indices]))
    assert np.all(np.diff(weights) >= 0)
    assert phi.n_columns_ == 2 * S
    # the first half are cosines and the second half sines, with the phases in the old order
    W = phi.pool_.frequencies[indices % S]
    cosines = np.cos(data() @ W[:S].T + phi.pool_.phases)
    sines = np.sin(data() @ W[S:].T + phi.pool_.phases)
    expected = np.hstack([cosines, sines]) / np.sqrt(S) * weights
    np.testing.assert_allclose(phi.transform(data()), expected, rtol=1e-9, atol=1e-9)
    # the mode "sorted" has the missing factor
    normalised = fitted(mode="sorted")
    np.testing.assert_array_equal(normalised.learned_["indices"], indices)
    np.testing.assert_allclose(np.sqrt(2 * S) * normalised.transform(data()), phi.transform(data()), rtol=1e-9)


def test_keep_is_the_whole_pool_with_the_weights_of_the_resampling():
    phi = fitted(mode="keep")
    Z = pool_columns(phi, data())
    q = naive_scores(Z).reshape(2, S).sum(axis=0)
    weights = np.sqrt(q.sum() / (S * q))
    np.testing.assert_allclose(phi.learned_["weights"], weights)
    np.testing.assert_allclose(phi.transform(data()), Z * np.tile(weights, 2), rtol=1e-9, atol=1e-9)


def test_columns_weights_cosine_and_sine_apart():
    phi = fitted(mode="columns")
    Z = pool_columns(phi, data())
    q = naive_scores(Z)
    np.testing.assert_allclose(phi.transform(data()), Z * np.sqrt(q.sum() / (2 * S * q)), rtol=1e-9, atol=1e-9)


def of_mode(method, mode):
    """A map with its default penalty, fitted to signs."""
    phi = make_map(method, Gaussian(1.5), n_components=S, random_state=0, mode=mode)
    return phi.fit(data(), np.sign(data()[:, 0] + 0.3))


@pytest.mark.parametrize("method", ["lsrff", "slsrff"])
def test_columns_at_the_trace_of_rff_are_as_long_as_rff_in_the_mean(method):
    X, columns, trace = data(), of_mode(method, "columns"), of_mode(method, "trace")
    expected = columns.transform(X) / np.sqrt((columns.transform(X) ** 2).sum(axis=1).mean())
    np.testing.assert_allclose(trace.transform(X), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose((trace.transform(X) ** 2).sum(), N)
    rff = make_map("rff", Gaussian(1.5), n_components=S, random_state=0).fit_transform(X)
    np.testing.assert_allclose((rff**2).sum(), N)


@pytest.mark.parametrize("method", ["lsrff", "slsrff"])
def test_permuted_weights_are_those_of_the_columns_in_another_order(method):
    columns, permuted, again = (of_mode(method, mode) for mode in ("columns", "permuted", "permuted"))
    np.testing.assert_array_equal(np.sort(permuted.learned_["weights"]), np.sort(columns.learned_["weights"]))
    assert not np.array_equal(permuted.learned_["weights"], columns.learned_["weights"])
    np.testing.assert_array_equal(permuted.learned_["indices"], np.arange(2 * S))
    np.testing.assert_array_equal(permuted.frequencies_, np.tile(columns.pool_.frequencies, (2, 1)))
    np.testing.assert_array_equal(permuted.learned_["weights"], again.learned_["weights"])


@pytest.mark.parametrize("mode", MODES)
def test_scores_are_streamed(mode, monkeypatch):
    whole, asked = fitted(mode=mode).learned_, []
    monkeypatch.setattr(pool, "block_rows", lambda bytes_per_row: asked.append(bytes_per_row) or 7)
    streamed = fitted(mode=mode).learned_
    assert set(asked) == {2 * S * 8}
    np.testing.assert_array_equal(streamed["indices"], whole["indices"])
    np.testing.assert_allclose(streamed["weights"], whole["weights"], rtol=1e-10)


def test_a_feature_with_score_zero_gets_a_finite_weight():
    """At x = 0 all sines vanish; the phases of the mode "code" and the cosines keep the scores positive."""
    X = np.zeros((5, 2))
    for mode in MODES:
        assert np.isfinite(make_map("lsrff", n_components=4, mode=mode, random_state=0).fit_transform(X)).all()


@pytest.mark.parametrize("layout", ["cos_sin", "phase"])
@pytest.mark.parametrize("multiple", [1, 4, 16])
def test_from_a_larger_pool_s_frequencies_are_drawn_and_weighted_for_the_kernel_of_the_pool(multiple, layout):
    """The mean over the drawing, from the probabilities, is the kernel matrix of the pool."""
    X, phi = data(), fitted(pool_multiple=multiple, layout=layout)
    assert phi.pool_.frequencies.shape == (multiple * S, D)
    assert phi.learned_["indices"].shape == phi.learned_["weights"].shape == (S,)
    assert phi.transform(X).shape == (N, 2 * S if layout == "cos_sin" else S)
    assert phi.n_distinct_ == len(np.unique(phi.frequencies_, axis=0))
    pool = np.hstack([block for _, block in phi.pool_.blocks(X)]).reshape(N, -1)
    scores = phi.pool_scores(phi.pool_.blocks(X), n_rows=N)
    if layout == "cos_sin":
        scores = scores.reshape(2, -1).sum(axis=0)
    q = scores / scores.sum()
    np.testing.assert_allclose(phi.learned_["weights"], np.sqrt(1 / (S * q[phi.learned_["indices"]])), rtol=1e-6)
    # the mean of the products of a feature that is drawn with q and weighted so, s times
    columns = pool.reshape(N, -1, multiple * S)  # (rows, cosine and sine, frequency)
    of_pool = np.einsum("ncj,mcj->nmj", columns, columns)
    expected = S * np.einsum("j,nmj->nm", q / (S * q), of_pool)
    np.testing.assert_allclose(expected, pool @ pool.T, rtol=1e-6, atol=1e-9)
    Z = phi.transform(X)
    drawn = sum(of_pool[:, :, i] / (S * q[i]) for i in phi.learned_["indices"])
    np.testing.assert_allclose(Z @ Z.T, drawn, rtol=1e-5, atol=1e-7)
