"""The pool of a map: it stays as it was when the map has chosen, and what another map learned is refused."""

import numpy as np
import pytest
from map_variants import build

from random_features.maps import make_map

X = np.random.default_rng(1).normal(size=(20, 3))


def features(pool, X):
    return np.concatenate([block for _, block in pool.blocks(X)])


@pytest.mark.parametrize("name", ["karff", "kprff", "clrff", "ses", "lsrff", "slsrff"])
def test_a_map_keeps_its_pool_when_it_has_chosen(name):
    phi = build(name, n_components=5).fit(X, X[:, 0])
    before = features(phi.pool_, X)
    assert features(phi.pool_, X.astype(np.float32)).dtype == np.float32
    assert phi.pool_.frequencies.shape == (50 if name in ("karff", "kprff", "clrff") else 5, 3)
    indices, weights = phi.learned_["indices"], phi.learned_["weights"]
    np.testing.assert_array_equal(phi.chosen_.frequencies, phi.pool_.frequencies[indices])
    np.testing.assert_array_equal(phi.transform(X), features(phi.pool_.subset(indices, weights), X))
    phi.learn(-X, X[:, 1])
    np.testing.assert_array_equal(features(phi.pool_, X), before)


def test_what_another_map_learned_is_not_restored():
    phi = make_map("lsrff", n_components=6, random_state=0).fit(np.random.default_rng(0).normal(size=(30, 4)))
    other = make_map("lsrff", n_components=6, random_state=0)
    with pytest.raises(ValueError, match="lsrff: this map did not learn nothing"):
        other.restore(4, {})
    with pytest.raises(ValueError, match="it was learned by an unknown map"):
        other.restore(4, {"weights": phi.learned_["weights"]})
    with pytest.raises(ValueError, match="did not learn indices, weights: index"):
        other.restore(4, phi.learned_ | {"indices": phi.learned_["indices"] + 1000})
    with pytest.raises(ValueError, match="holds NaN or infinity, in weights"):
        other.restore(4, phi.learned_ | {"weights": phi.learned_["weights"] * np.nan})
