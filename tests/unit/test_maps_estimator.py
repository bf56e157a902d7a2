"""The maps that draw or choose frequencies, as estimators: scikit-learn's checks, types, blocks, restoring, errors."""

import threading

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from rfstudy.kernels import Gaussian
from rfstudy.maps import base, make_map
from rfstudy.maps.registry import REGISTRY

MAPS = ("rff", "orf", "sorf", "rom", "fastfood", "qmc", "ssf", "gq", "lsrff")

#: Every map with its defaults, and the options that take another path through the code.
VARIANTS = {
    **{name: (name, {}) for name in MAPS},
    **{f"{name}-phase": (name, {"layout": "phase"}) for name in MAPS},
    "rom-sequency": ("rom", {"n_factors": 2, "order": "sequency"}),
    "qmc-sobol": ("qmc", {"sequence": "sobol"}),
    "ssf-single": ("ssf", {"radii": "single"}),
    "ssf-grid": ("ssf", {"radii": "grid", "n_radii": 3}),
    "lsrff-code": ("lsrff", {"mode": "code"}),
}

every_map = pytest.mark.parametrize("variant", VARIANTS)


def build(variant, **params):
    name, options = VARIANTS[variant]
    return make_map(name, **{"n_components": 21, "random_state": 0, **options, **params})


def data(n=40, d=5, dtype=np.float64):
    rng = np.random.default_rng(1)
    return rng.normal(size=(n, d)).astype(dtype), np.where(rng.random(n) < 0.5, -1, 1)


@parametrize_with_checks([make_map(name, n_components=4, random_state=0) for name in MAPS])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@every_map
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_shapes_and_types(variant, dtype):
    X, y = data(dtype=dtype)
    phi = build(variant).fit(X, y)
    Z = phi.transform(X)
    assert Z.shape == (40, phi.n_columns_) == (40, len(phi.get_feature_names_out()))
    assert Z.dtype == dtype
    assert np.isfinite(Z).all()


@every_map
def test_float32_agrees_with_float64(variant):
    X, y = data()
    double = build(variant).fit(X, y).transform(X)
    single = build(variant).fit(X.astype(np.float32), y).transform(X.astype(np.float32))
    # Angles reach about 20, where a float32 is 2e-6 apart; a few roundings, times the amplitude of a column.
    np.testing.assert_allclose(single, double, atol=2e-5 * np.abs(double).max())


@every_map
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_restored_map_is_the_fitted_map(variant, dtype):
    X, y = data(dtype=dtype)
    fitted = build(variant).fit(X, y)
    restored = build(variant).restore(X.shape[1], fitted.learned_, dtype=dtype)
    assert restored.n_columns_ == fitted.n_columns_
    assert restored.learned_.keys() == fitted.learned_.keys()
    np.testing.assert_array_equal(restored.transform(X), fitted.transform(X))


@every_map
def test_learned_is_empty_unless_the_map_depends_on_data(variant):
    X, y = data()
    phi = build(variant).fit(X, y)
    assert bool(phi.learned_) == REGISTRY[phi.method].data_dependent
    assert all(isinstance(value, np.ndarray) for value in phi.learned_.values())


def test_restore_needs_a_seed():
    with pytest.raises(ValueError, match="integer random_state"):
        make_map("rff").restore(3)


@every_map
@pytest.mark.parametrize("rows", [1, 7, 1000])
def test_blocks_are_the_transform(variant, rows):
    X, y = data()
    phi = build(variant).fit(X, y)
    parts = list(phi.transform_blocks(X, rows=rows))
    assert [part.start for part, _ in parts] == list(range(0, len(X), rows))
    # Blocks of other sizes let a matrix product add in another order.
    np.testing.assert_allclose(np.concatenate([Z for _, Z in parts]), phi.transform(X), atol=1e-12)


@every_map
def test_cache_blocks_do_not_matter(variant, monkeypatch):
    X, y = data()
    phi = build(variant).fit(X, y)
    whole = phi.transform(X)
    monkeypatch.setattr(base, "CACHE_BYTES", 3 * 8 * phi._work_columns())
    np.testing.assert_allclose(phi.transform(X), whole, atol=1e-12)


@pytest.fixture
def three_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


@every_map
def test_threads_do_not_matter(variant, monkeypatch, three_threads):
    X, y = data()
    phi = build(variant).fit(X, y)
    whole = phi.transform(X)
    monkeypatch.setattr(base, "CACHE_BYTES", 3 * 8 * phi._work_columns())
    np.testing.assert_allclose(phi.transform(X), whole, atol=1e-12)
    seen = []
    later = threading.Thread(target=lambda: seen.append(torch.get_num_threads()))
    later.start()
    later.join()
    assert [torch.get_num_threads(), *seen] == [3, 3]


def test_an_error_in_a_thread_is_raised(monkeypatch, three_threads):
    X, _ = data()
    phi = build("rff").fit(X)
    monkeypatch.setattr(base, "CACHE_BYTES", 1)
    del phi.frequencies_
    with pytest.raises(AttributeError, match="frequencies_"):
        phi.transform(X)


def test_blocks_check_their_data_at_once():
    phi = build("rff").fit(data()[0])
    with pytest.raises(ValueError, match="features"):
        phi.transform_blocks(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="rows"):
        phi.transform_blocks(np.zeros((2, 5)), rows=0)


@every_map
@pytest.mark.parametrize(("n", "d", "s"), [(1, 1, 1), (1, 3, 1), (3, 1, 9), (3, 8, 8), (2, 7, 33)])
def test_small_sizes(variant, n, d, s):
    X, y = data(n, d)
    Z = build(variant, n_components=s).fit_transform(X, y)
    assert Z.shape[0] == n
    assert np.isfinite(Z).all()


@pytest.mark.parametrize("variant", [v for v in VARIANTS if not v.startswith("lsrff")])
def test_features_are_the_trigonometry_of_the_projections(variant):
    X, _ = data(d=6)
    phi = build(variant, kernel=Gaussian(1.5)).fit(X)
    W = phi.dense_frequencies()
    assert W.shape == (21, 6)
    if phi.layout == "phase":
        expected = np.sqrt(2 / 21) * np.cos(X @ W.T + phi.phases_)
    else:
        expected = np.hstack([np.cos(X @ W.T), np.sin(X @ W.T)]) / np.sqrt(21)
        # cos^2 + sin^2 = 1
        np.testing.assert_allclose((phi.transform(X) ** 2).sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(phi.transform(X), expected, atol=1e-12)


@every_map
def test_same_seed_same_map_other_seed_other_map(variant):
    X, y = data()
    first = build(variant).fit_transform(X, y)
    np.testing.assert_array_equal(first, build(variant).fit_transform(X, y))
    if variant not in ("ssf-single", "ssf-grid"):  # deterministic
        assert np.abs(first - build(variant, random_state=1).fit_transform(X, y)).max() > 1e-3


@every_map
def test_length_scale_divides_the_frequencies(variant):
    X, y = data()
    wide = build(variant, kernel=Gaussian(2.0)).fit(2 * X, y).transform(2 * X)
    np.testing.assert_allclose(wide, build(variant).fit(X, y).transform(X), atol=1e-12)


@every_map
def test_clone_keeps_the_parameters(variant):
    phi = build(variant, kernel=Gaussian(3.0))
    assert clone(phi).get_params() == phi.get_params()


def test_read_only_data_are_read_without_a_warning(recwarn):
    X, _ = data()
    X.flags.writeable = False
    build("rff").fit(X).transform(X)
    assert not recwarn.list


def test_frequencies_are_stored_in_the_type_of_the_data():
    X, _ = data(dtype=np.float32)
    assert build("rff").fit(X).frequencies_.dtype == np.float32


@every_map
@pytest.mark.parametrize("value", [0, -3])
def test_n_components_must_be_positive(variant, value):
    with pytest.raises(ValueError, match="n_components"):
        build(variant, n_components=value).fit(*data())


@pytest.mark.parametrize("value", [2.5, "10", None])
def test_n_components_must_be_an_integer(value):
    with pytest.raises(TypeError, match="n_components"):
        build("rff", n_components=value).fit(*data())


@every_map
def test_bad_data_are_refused(variant):
    X, y = data()
    phi = build(variant)
    with pytest.raises(NotFittedError):
        phi.transform(X)
    phi.fit(X, y)
    with pytest.raises(ValueError, match=r"4 features, but .* expecting 5 features"):
        phi.transform(X[:, :4])
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        phi.transform(X)
    with pytest.raises(ValueError, match="NaN"):
        phi.fit(X, y)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("rff", {"layout": "sin_cos"}, "layout must be one of cos_sin, phase"),
        ("rff", {"device": "tpu"}, "device must be"),
        ("rom", {"n_factors": 0}, "n_factors"),
        ("rom", {"order": "random"}, "order must be one of natural, sequency"),
        ("qmc", {"sequence": "faure"}, "sequence must be one of halton, sobol"),
        ("ssf", {"radii": "two"}, "radii must be one of perm, single, grid"),
        ("ssf", {"radii": "grid", "n_radii": 0}, "n_radii"),
        ("gq", {"n_nodes": 1}, "n_nodes"),
        ("lsrff", {"mode": "resample"}, "mode must be one of text, code"),
        ("lsrff", {"mode": "code", "layout": "phase"}, "mode='code' is defined for the layout 'cos_sin'"),
        ("lsrff", {"penalty": 0.0}, "penalty must be positive"),
    ],
)
def test_options_outside_their_range_are_refused(name, options, message):
    X, y = data()
    with pytest.raises(ValueError, match=message):
        make_map(name, **options).fit(X, y).transform(X)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@every_map
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_cuda_agrees_with_the_cpu(variant, dtype):
    X, y = data(dtype=dtype)
    fitted = build(variant, device="cpu").fit(X, y)
    other = build(variant, device="cuda").restore(X.shape[1], fitted.learned_, dtype=dtype)
    expected = fitted.transform(X)
    # As between float32 and float64 above; float64 leaves roundings of the same count.
    np.testing.assert_allclose(other.transform(X), expected, atol=100 * np.finfo(dtype).eps * np.abs(expected).max())
