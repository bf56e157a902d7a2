"""Every map of the registry as an estimator: scikit-learn's checks, types, blocks, restoring and learning again.

What a map is fitted on and what ``map_variants.fitted`` shares is only read here. What all maps inherit, and what is
refused, is in test_maps_parameters.py.
"""

from copy import copy
from functools import partial

import numpy as np
import pytest
from closed_forms import activation
from in_memory import torch_threads
from map_variants import EVERY, GAMES, MAPS, VARIANTS, build, data, every_map, fitted, slow_unless_plain, tolerance
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from random_features.kernels import Gaussian
from random_features.maps import base, make_map
from random_features.maps.registry import REGISTRY

#: Maps of frequencies and nothing else, with all of their kernels and layouts.
PLAIN = [
    variant
    for variant, (name, _) in EVERY.items()
    if name in ("rff", "orf", "sorf", "rom", "fastfood", "qmc", "ssf", "gq", "mm", "scrf", "pmodel", "nsrf")
    and not variant.endswith("-linear")
]

#: Maps that no seed changes.
DETERMINISTIC = {"ssf-single", "ssf-grid", "karff-linear", "kprff-linear"}

mean_only = pytest.mark.filterwarnings("ignore:mm matches the mean only")

#: One map for each family of code: frequencies, a transform, chosen candidates, landmarks, a polynomial kernel.
SMOKE = ("rff", "sorf", "kprff", "nystroem", "ts")


def checked(names):
    return [build(name, n_components=4) for name in names]


@parametrize_with_checks(checked(SMOKE))
def test_scikit_learn_checks_of_some(estimator, check):
    check(estimator)


@pytest.mark.slow
@mean_only
@parametrize_with_checks(checked(name for name in MAPS if name not in SMOKE))
def test_scikit_learn_checks_of_the_others(estimator, check):
    check(estimator)


@pytest.mark.parametrize("variant", slow_unless_plain(EVERY))
def test_shapes_and_types_of_a_fitted_map_and_of_what_is_restored_from_it(variant):
    phi, Z = fitted(variant, np.float32)
    assert Z.shape == (40, phi.n_columns_) == (40, len(phi.get_feature_names_out()))
    assert Z.dtype == getattr(phi, "frequencies_", Z).dtype == np.float32
    assert np.isfinite(Z).all()
    assert bool(phi.learned_) == REGISTRY[phi.method].data_dependent
    assert all(isinstance(value, np.ndarray) for value in phi.learned_.values())
    restored = build(variant).restore(5, phi.learned_, dtype=np.float32)
    assert restored.n_columns_ == phi.n_columns_
    assert restored.learned_.keys() == phi.learned_.keys()
    np.testing.assert_array_equal(restored.transform(data(dtype=np.float32)[0]), Z)


@pytest.mark.parametrize("variant", slow_unless_plain(v for v in VARIANTS if not v.startswith("lprff")))
def test_float32_agrees_with_float64(variant):
    """The map stays the same, because rounded data may teach another one; LP-RFF rounds by the bits of a row."""
    phi, double = fitted(variant)
    single = build(variant).restore(5, phi.learned_, dtype=np.float32).transform(data(dtype=np.float32)[0])
    np.testing.assert_allclose(single, double, atol=tolerance(variant, np.float32) * np.abs(double).max())


@pytest.mark.parametrize("variant", [v for v in VARIANTS if REGISTRY[VARIANTS[v][0]].data_dependent])
def test_what_is_not_of_the_same_map_is_not_restored(variant):
    learned = fitted(variant)[0].learned_
    name = next(name for name in learned if name != "learned_by")
    without = {key: value for key, value in learned.items() if key != name}
    for phi, d, arrays in [
        (build(variant), 4, learned),
        (build(variant, random_state=1), 5, learned),
        (build(variant), 5, without),
        (build(variant), 5, learned | {"another": np.zeros(3)}),
        (build(variant), 5, learned | {name: np.atleast_1d(learned[name])[:-1]}),
    ]:
        with pytest.raises(ValueError, match=r"cannot be restored|did not learn"):
            phi.restore(d, arrays, dtype=np.float64)


@every_map
def test_to_fit_is_to_draw_and_to_learn_after_any_earlier_fit(variant):
    """From other rows in between and after ``restore``, too: learning depends on the draw and the data."""
    X, y = data()
    others = -2.0 * X[:30], np.roll(y, 3)[:30]
    expected, Z = fitted(variant)

    def check(phi):
        assert phi.learned_.keys() == expected.learned_.keys()
        assert all(np.array_equal(phi.learned_[name], value) for name, value in expected.learned_.items())
        np.testing.assert_array_equal(phi.transform(X), Z)

    phi = build(variant).draw(5, dtype=np.float64)
    assert phi.learn(X, y) is phi
    check(phi)
    learned = phi.learn(*others).learned_
    check(phi.learn(X, y))
    check(build(variant).restore(5, learned, dtype=np.float64).learn(X, y))


@pytest.mark.parametrize("variant", EVERY)
def test_a_fit_leaves_nothing_of_one_with_other_options(variant):
    (X, y), name = data(), EVERY[variant][0]
    phi = build(variant).fit(X, y).set_params(**build(name).get_params(deep=False)).fit(X, y)
    attributes = [{key for key, value in vars(each).items() if value is not None} for each in (phi, fitted(name)[0])]
    assert attributes[0] == attributes[1]


@every_map
def test_a_draw_looks_at_no_data_and_completes_no_map(variant):
    phi, (other, _) = build(variant).draw(5, dtype=np.float64), fitted(variant)
    for holder, of_other in ((phi, other), (getattr(phi, "pool_", phi), getattr(other, "pool_", other))):
        for name, drawn in vars(holder).items():
            if isinstance(drawn, np.ndarray):
                np.testing.assert_array_equal(vars(of_other)[name], drawn)
    for incomplete in (phi, copy(other).draw(5)):
        with pytest.raises(NotFittedError, match="learn or restore after draw"):
            incomplete.transform(data()[0])


@pytest.mark.parametrize("variant", PLAIN)
def test_features_are_a_fixed_function_of_the_projections(variant):
    X, (phi, Z) = data()[0], fitted(variant)
    projections = X @ phi.dense_frequencies().T
    if phi.kernel_.name.startswith("arccos"):
        expected = np.sqrt(2) * activation(projections, phi.kernel_.order)
    elif phi.layout == "phase":
        expected = np.sqrt(2) * np.cos(projections + phi.phases_)
    else:
        expected = np.hstack([np.cos(projections), np.sin(projections)])
    np.testing.assert_allclose(Z, expected / np.sqrt(21), atol=1e-10)


@every_map
@torch_threads(3)
def test_blocks_and_threads_are_the_transform(variant, monkeypatch):
    X, (phi, Z) = data()[0][:16], fitted(variant)
    # Blocks of other sizes let a matrix product add in another order.
    close = {"rtol": 0, "atol": 1e-11 * np.abs(Z).max()}
    for rows in (1, 7, 1000):
        parts = list(phi.transform_blocks(X, rows=rows))
        assert [part.start for part, _ in parts] == list(range(0, 16, rows))
        np.testing.assert_allclose(np.concatenate([block for _, block in parts]), Z[:16], **close)
    for rows in (1, 7):
        monkeypatch.setattr(base, "CACHE_BYTES", rows * 8 * phi._work_columns())
        np.testing.assert_allclose(phi.transform(X), Z[:16], **close)


@torch_threads(3)
def test_an_error_in_a_thread_is_raised(monkeypatch):
    X, _ = data()
    phi = build("rff").fit(X)
    monkeypatch.setattr(base, "CACHE_BYTES", 1)
    del phi.frequencies_
    with pytest.raises(AttributeError, match="frequencies_"):
        phi.transform(X)


@every_map
@mean_only
def test_small_sizes_with_negative_strides(variant):
    for n, d, s in [(9, 3, 1), (1, 1, 2), (1, 3, 4), (3, 1, 9), (3, 7, 8), (2, 7, 33)]:
        X, y = data(n, d)
        if VARIANTS[variant][1].get("kernel", Gaussian()).name == "linear":
            s = min(s, d)
        Z = build(variant, n_components=s).fit_transform(X[::-1] if n == 1 else X[:, ::-1], y)
        assert Z.shape[0] == n
        assert np.isfinite(Z).all()


@pytest.mark.parametrize("variant", slow_unless_plain(v for v in VARIANTS if v not in DETERMINISTIC))
def test_another_seed_is_another_map(variant):
    other, (_, Z) = build(variant, random_state=1).fit_transform(*data()), fitted(variant)
    assert other.shape != Z.shape or np.abs(other - Z).max() > 1e-3


@every_map
def test_length_scale_divides_the_frequencies(variant):
    name, options = VARIANTS[variant]
    # LP-RFF rounds by the bits of a row, and the starts of nsrf-code are of a fixed length
    if "kernel" in options or "gaussian" not in REGISTRY[name].kernels or name == "lprff" or variant == "nsrf-code":
        return
    (X, y), (_, Z) = data(), fitted(variant)
    wide = build(variant, kernel=Gaussian(2.0)).fit(2 * X, y).transform(2 * X)
    np.testing.assert_allclose(wide, Z, atol=1e-12 * np.abs(Z).max())


@pytest.mark.cuda
@every_map
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_cuda_agrees_with_the_cpu(variant, dtype):
    phi, expected = fitted(variant, dtype)
    other = build(variant, device="cuda").restore(5, phi.learned_, dtype=dtype)
    close = max(tolerance(variant, dtype), 1e-10) * np.abs(expected).max()
    np.testing.assert_allclose(other.transform(data(dtype=dtype)[0]), expected, atol=close)


class Changed:
    """A parameter that was set after the fit: a use of it as the fitted one fails."""

    def __repr__(self):
        return "changed"


@every_map
def test_what_is_set_after_a_fit_is_for_the_next_one(variant):
    X, y = data()
    phi = copy(fitted(variant)[0]).set_params(device="cpu")  # another device rounds otherwise
    blocks = phi.transform_blocks(X, rows=40)
    reading = {
        "features": lambda: phi.transform(X),
        "block": lambda: next(iter(phi.transform_blocks(X, rows=40)))[1],
        "names": lambda: phi.get_feature_names_out(),
    }
    for name, arguments in {"dense_frequencies": (), "approximate_kernel": (X,)}.items():
        if hasattr(phi, name):
            reading[name] = partial(getattr(phi, name), *arguments)
    for name in dir(type(phi)):
        # what has an underscore at its end tells of the fitted map
        if name.endswith("_") and not name.endswith("__") and isinstance(getattr(type(phi), name), property):
            reading[name] = partial(getattr, phi, name)
    if REGISTRY[phi.method].prefix and getattr(phi, "n_candidates", True) is not None:
        reading["prefix"] = lambda: phi.prefix(4).transform(X)
    if phi.method in GAMES:
        reading["replay"] = lambda: list(phi.replay(X, y))[-1].payoff
        reading["answer"] = lambda: phi.best_response(X, y, np.ones(len(y)))["frequencies"]
    if hasattr(phi, "pool_scores"):
        reading["scores"] = lambda: phi.pool_scores(phi.pool_.blocks(X), y, n_rows=len(X))
    before = {name: read() for name, read in reading.items()}
    phi.set_params(**dict.fromkeys(phi.get_params(deep=False).keys() - {"device"}, Changed()))
    for name, read in reading.items():
        np.testing.assert_array_equal(read(), before[name], err_msg=name)
    np.testing.assert_array_equal(next(iter(blocks))[1], before["block"])
    with pytest.raises((ValueError, TypeError)):
        phi.fit(X, y)


@pytest.mark.parametrize("name", [name for name in MAPS if name not in GAMES])
def test_every_map_gives_data_frames(name):
    phi, (X, y) = build(name), data()
    frame = phi.set_output(transform="pandas").fit(0.1 * X, y).transform(0.1 * X)
    assert list(frame.columns) == list(phi.get_feature_names_out())
    if hasattr(phi, "approximate_kernel"):
        assert isinstance(phi.approximate_kernel(X, X[:3]), np.ndarray)


def test_length_scales_that_the_type_cannot_hold_are_refused():
    kernel = Gaussian((1e-40, 1.0))
    with pytest.raises(ValueError, match="length_scale has numbers outside the range of float32"):
        make_map("rff", kernel).fit(np.eye(2, dtype=np.float32))
    assert np.isfinite(make_map("rff", kernel).fit_transform(np.eye(2))).all()
