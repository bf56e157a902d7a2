"""The pool: its features, its subsets and the scores on features that are ready, against the formulas written out."""

import numpy as np
import pytest
from map_variants import build

from random_features.kernels import ArcCosine, Gaussian
from random_features.maps import make_map, pool
from random_features.maps.pool import Pool

J, D, N = 6, 3, 20


def drawn(layout="phase", kernel=None, with_phases=True, scale=0.5):
    rng = np.random.default_rng(0)
    W, b = rng.normal(size=(J, D)), rng.uniform(0, 6, size=J)
    return Pool(kernel or Gaussian(), W, b if with_phases else None, layout, scale, "cpu"), W, b


def data(dtype=np.float64):
    return np.random.default_rng(1).normal(size=(N, D)).astype(dtype)


X = data()


def features(pool, X):
    return np.concatenate([block for _, block in pool.blocks(X)])


def test_features_are_the_formulas():
    _, W, b = drawn()
    angles, shifted = X @ W.T, X @ W.T + b
    for (drawn_pool, *_), expected in (
        (drawn(), np.cos(shifted)),
        (drawn("cos_sin", with_phases=False), np.hstack([np.cos(angles), np.sin(angles)])),
        (drawn("cos_sin"), np.hstack([np.cos(shifted), np.sin(shifted)])),
        (drawn("split"), np.hstack([np.cos(shifted[:, :3]), np.sin(shifted[:, 3:])])),
        (drawn(kernel=ArcCosine(1), with_phases=False), np.maximum(angles, 0)),
    ):
        np.testing.assert_allclose(features(drawn_pool, X), 0.5 * expected, atol=1e-14)
        assert drawn_pool.n_columns == expected.shape[1]


@pytest.mark.parametrize("layout", ["phase", "cos_sin"])
def test_a_subset_has_the_columns_of_its_frequencies_times_their_weights(layout):
    whole, *_ = drawn(layout)
    indices, weights = np.array([4, 1, 4, 0]), np.array([2.0, 3.0, 0.5, 1.0])
    columns = indices if layout == "phase" else np.concatenate([indices, J + indices])
    expected = features(whole, X)[:, columns] * np.resize(weights, len(columns))
    subset = whole.subset(indices, weights)
    np.testing.assert_allclose(features(subset, X), expected, atol=1e-14)
    assert subset.n_columns == len(columns)
    # the pool stays as it was, and so does a subset of a subset
    np.testing.assert_allclose(features(whole.subset(np.arange(J), np.ones(J)), X), features(whole, X), atol=1e-14)


def test_columns_in_their_own_order_are_weighted_one_by_one():
    whole, *_ = drawn("cos_sin")
    weights = np.arange(1.0, 2 * J + 1)
    found = features(whole.reordered(np.arange(2 * J), weights), X)
    np.testing.assert_allclose(found, features(whole, X) * weights, atol=1e-13)


def test_columns_in_another_order_are_cosines_and_then_sines_with_the_phases_in_the_old_order():
    whole, W, b = drawn("cos_sin")
    columns = np.random.default_rng(2).permutation(2 * J)
    angles = X @ W[columns % J].T + np.tile(b, 2)
    expected = 0.5 * np.hstack([np.cos(angles[:, :J]), np.sin(angles[:, J:])])
    np.testing.assert_allclose(features(whole.reordered(columns, np.ones(2 * J)), X), expected, atol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_cover_the_rows_in_the_type_of_the_data(dtype, monkeypatch):
    whole, *_ = drawn("cos_sin")
    expected = features(whole, data())
    asked = []
    monkeypatch.setattr(pool, "block_rows", lambda bytes_per_row: asked.append(bytes_per_row) or 7)
    parts = list(whole.blocks(data(dtype)))
    assert asked == [2 * J * np.dtype(dtype).itemsize]
    assert [(part.start, part.stop) for part, _ in parts] == [(0, 7), (7, 14), (14, 20)]
    assert all(block.dtype == dtype for _, block in parts)
    np.testing.assert_allclose(np.concatenate([block for _, block in parts]), expected, atol=2e-6)


@pytest.mark.parametrize("name", ["karff", "kprff", "clrff", "ses", "lsrff", "slsrff"])
def test_a_map_keeps_its_pool_when_it_has_chosen(name):
    phi = build(name, n_components=5).fit(X, X[:, 0])
    before = features(phi.pool_, X)
    assert phi.pool_.frequencies.shape == (50 if name in ("karff", "kprff", "clrff") else 5, D)
    indices, weights = phi.learned_["indices"], phi.learned_["weights"]
    np.testing.assert_array_equal(phi.chosen_.frequencies, phi.pool_.frequencies[indices])
    chosen = features(phi.pool_.subset(indices, weights), X)
    np.testing.assert_array_equal(phi.transform(X), chosen)
    phi.learn(-X, X[:, 1])
    np.testing.assert_array_equal(features(phi.pool_, X), before)


def test_what_another_map_learned_is_not_restored():
    X = np.random.default_rng(0).normal(size=(30, 4))
    phi = make_map("lsrff", n_components=6, random_state=0).fit(X)
    other = make_map("lsrff", n_components=6, random_state=0)
    with pytest.raises(ValueError, match="lsrff: this map did not learn nothing"):
        other.restore(4, {})
    with pytest.raises(ValueError, match="it was learned by an unknown map"):
        other.restore(4, {"weights": phi.learned_["weights"]})
    with pytest.raises(ValueError, match="did not learn indices, weights: index"):
        other.restore(4, phi.learned_ | {"indices": phi.learned_["indices"] + 1000})
    with pytest.raises(ValueError, match="holds NaN or infinity, in weights"):
        other.restore(4, phi.learned_ | {"weights": phi.learned_["weights"] * np.nan})
