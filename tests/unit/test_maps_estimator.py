"""Every map of the registry as an estimator: scikit-learn's checks, kernels, types, blocks, restoring and errors."""

import threading
from functools import partial
from typing import Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest
import torch
from closed_forms import activation
from map_variants import GAMES, MAPS, QUICK_SEARCH, VARIANTS, build, data, needs_targets
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from random_features.kernels import ArcCosine, Gaussian, Laplacian, Linear, Polynomial
from random_features.maps import base, list_maps, make_map
from random_features.maps.registry import ALIASES, REGISTRY, map_class, resolve, resolved_options

#: For the Gaussian kernel, and without LP-RFF, which rounds by the bits of a row.
GAUSSIAN = [
    variant
    for variant, (name, options) in VARIANTS.items()
    if "kernel" not in options and "gaussian" in REGISTRY[name].kernels and name != "lprff"
]

#: Maps of frequencies and nothing else.
PLAIN = [
    variant
    for variant, (name, _) in VARIANTS.items()
    if name in ("rff", "orf", "sorf", "rom", "fastfood", "qmc", "ssf", "gq", "mm", "scrf", "pmodel")
    and not variant.endswith("-linear")
]

#: What no seed changes.
DETERMINISTIC = {"ssf-single", "ssf-grid", "karff-linear", "kprff-linear"}

every_map = pytest.mark.parametrize("variant", VARIANTS)
mean_only = pytest.mark.filterwarnings("ignore:mm matches the mean only")
every_type = pytest.mark.parametrize("dtype", [np.float64, np.float32])

#: What is given to scikit-learn.
CHECKED = [
    *(make_map(name, n_components=12, random_state=0) for name in MAPS if name not in ("clrff", *GAMES)),
    make_map("clrff", n_components=12, n_pairs=100, random_state=0),
    make_map("ssr", n_components=12, rotation="butterfly", random_state=0),
    make_map("pmodel", n_components=12, structure="toeplitz", random_state=0),
    make_map("slsrff", n_components=12, mode="code", random_state=0),
    make_map("kprff", ArcCosine(1), n_components=12, random_state=0),
    *(make_map("nsrf", n_components=12, random_state=0, mode=mode, **QUICK_SEARCH) for mode in ("text", "code")),
]


@mean_only
@parametrize_with_checks(CHECKED)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_the_registry_has_all_maps_of_the_survey():
    assert len(list_maps()) >= 25
    assert (resolve("lkrf"), resolve("eerf")) == (("karff", {}), ("kprff", {}))
    assert set(ALIASES) >= {"rks", "lkrf", "eerf"}


@every_map
@every_type
def test_shapes_and_types_of_a_fitted_map_and_of_what_is_restored_from_it(variant, dtype):
    X, y = data(dtype=dtype)
    phi = build(variant).fit(X, y)
    Z = phi.transform(X)
    assert Z.shape == (40, phi.n_columns_) == (40, len(phi.get_feature_names_out()))
    assert Z.dtype == dtype
    assert np.isfinite(Z).all()
    assert bool(phi.learned_) == REGISTRY[phi.method].data_dependent
    assert all(isinstance(value, np.ndarray) for value in phi.learned_.values())
    restored = build(variant).restore(5, phi.learned_, dtype=dtype)
    assert restored.n_columns_ == phi.n_columns_
    assert restored.learned_.keys() == phi.learned_.keys()
    np.testing.assert_array_equal(restored.transform(X), Z)


@pytest.mark.parametrize("variant", [v for v in VARIANTS if not v.startswith("lprff")])
def test_float32_agrees_with_float64(variant):
    """Of one and the same map, because rounded data may teach another one; LP-RFF rounds by the bits of a row."""
    X, y = data()
    fitted = build(variant).fit(X, y)
    single = build(variant).restore(5, fitted.learned_, dtype=np.float32).transform(X.astype(np.float32))
    double = fitted.transform(X)
    # Some roundings of angles up to about 50, where a float32 is 4e-6 apart; the frequencies of the Laplacian kernel
    # have no bound: angles reach thousands.
    tolerance = 5e-3 if "laplacian" in variant else 5e-5
    np.testing.assert_allclose(single, double, atol=tolerance * np.abs(double).max())


@pytest.mark.parametrize("variant", [v for v in VARIANTS if REGISTRY[VARIANTS[v][0]].data_dependent])
def test_what_is_not_of_the_same_map_is_not_restored(variant):
    X, y = data()
    learned = build(variant).fit(X, y).learned_
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


@pytest.mark.parametrize("variant", MAPS)
def test_the_type_of_an_integer_does_not_matter(variant):
    """200 features have more columns, and 200 columns more bytes, than an integer of eight bits can say."""
    X, y = data()
    other = build(variant, n_components=np.uint8(200)).fit(X, y)
    np.testing.assert_array_equal(other.transform(X), build(variant, n_components=200).fit(X, y).transform(X))


@every_map
@every_type
def test_to_fit_is_to_draw_and_to_learn(variant, dtype):
    X, y = data(dtype=dtype)
    fitted = build(variant).fit(X, y)
    phi = build(variant).draw(5, dtype=dtype)
    assert phi.learn(X, y) is phi
    first = phi.transform(X)
    assert first.dtype == dtype
    assert phi.learned_.keys() == fitted.learned_.keys()
    for name, learned in fitted.learned_.items():
        np.testing.assert_array_equal(phi.learned_[name], learned)
    np.testing.assert_array_equal(first, fitted.transform(X))
    np.testing.assert_array_equal(phi.learn(X, y).transform(X), first)


@every_map
def test_a_map_learns_again_whatever_it_learned_before(variant):
    """From other rows in between, after ``fit`` and after ``restore``: learning depends on the draw and the data."""
    X, y = data()
    fitted = build(variant).fit(X, y)
    learned, Z = fitted.learned_, fitted.transform(X)
    others = -2.0 * X[:30], np.roll(y, 3)[:30]
    restored = build(variant).restore(5, build(variant).fit(*others).learned_, dtype=np.float64)
    for phi in (fitted.learn(*others), restored):
        np.testing.assert_array_equal(phi.learn(X, y).transform(X), Z)
        assert all(np.array_equal(phi.learned_[name], value) for name, value in learned.items())


@every_map
def test_a_draw_looks_at_no_data_and_completes_no_map(variant):
    X, y = data()
    phi, fitted = build(variant).draw(5, dtype=np.float64), build(variant).fit(-3.0 * X, y)
    for holder, other in ((phi, fitted), (getattr(phi, "pool_", phi), getattr(fitted, "pool_", fitted))):
        for name, drawn in vars(holder).items():
            if isinstance(drawn, np.ndarray):
                np.testing.assert_array_equal(vars(other)[name], drawn)
    for incomplete in (phi, fitted.draw(5)):
        with pytest.raises(NotFittedError):
            incomplete.transform(X)


@every_map
def test_to_learn_a_map_must_have_been_drawn(variant):
    with pytest.raises(NotFittedError, match="call draw before learn, or fit for both"):
        build(variant).learn(*data())


def test_learning_checks_its_data():
    X, y = data()
    phi = build("kprff").draw(5)
    with pytest.raises(ValueError, match=r"4 features, but .* expecting 5 features"):
        phi.learn(X[:, :4], y)
    with pytest.raises(ValueError, match="requires y to be passed"):
        phi.learn(X)
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        phi.learn(X, y)


@every_map
def test_data_to_learn_from_are_cast_to_the_type_of_the_draw(variant):
    X, y = data()
    expected = build(variant).fit(X.astype(np.float32), y)
    phi = build(variant).draw(5).learn(X, y)
    np.testing.assert_array_equal(phi.transform(X), expected.transform(X))


@pytest.mark.parametrize("variant", PLAIN)
def test_features_are_a_fixed_function_of_the_projections(variant):
    X, _ = data()
    phi = build(variant).fit(X)
    projections = X @ phi.dense_frequencies().T
    if phi.kernel_.name.startswith("arccos"):
        expected = np.sqrt(2) * activation(projections, phi.kernel_.order)
    elif phi.layout == "phase":
        expected = np.sqrt(2) * np.cos(projections + phi.phases_)
    else:
        expected = np.hstack([np.cos(projections), np.sin(projections)])
    np.testing.assert_allclose(phi.transform(X), expected / np.sqrt(21), atol=1e-10)


def test_names_of_columns_are_those_of_the_last_fit():
    frame = pytest.importorskip("pandas").DataFrame(data()[0], columns=list("abcde"))
    phi = build("rff").fit(frame)
    assert list(phi.feature_names_in_) == list("abcde")
    assert phi.learn(frame).n_features_in_ == 5
    phi.draw(3)
    assert phi.n_features_in_ == 3
    assert not hasattr(phi, "feature_names_in_")


@pytest.mark.parametrize("width", [0, 2.5])
def test_a_draw_needs_a_width(width):
    with pytest.raises((ValueError, TypeError), match="n_features_in"):
        build("rff").draw(width)


@every_map
@pytest.mark.parametrize("rows", [1, 7, 1000])
def test_blocks_are_the_transform(variant, rows, monkeypatch):
    X, y = data()
    phi = build(variant).fit(X, y)
    whole = phi.transform(X)
    # Blocks of other sizes let a matrix product add in another order.
    tolerance = 1e-11 * np.abs(whole).max()
    parts = list(phi.transform_blocks(X, rows=rows))
    assert [part.start for part, _ in parts] == list(range(0, len(X), rows))
    np.testing.assert_allclose(np.concatenate([block for _, block in parts]), whole, atol=tolerance)
    monkeypatch.setattr(base, "CACHE_BYTES", rows * 8 * phi._work_columns())
    np.testing.assert_allclose(phi.transform(X), whole, atol=tolerance)


def test_restore_needs_a_seed():
    with pytest.raises(ValueError, match="integer random_state"):
        make_map("rff").restore(3)


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
    np.testing.assert_allclose(phi.transform(X), whole, atol=1e-11 * np.abs(whole).max())
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
@mean_only
@pytest.mark.parametrize(("n", "d", "s"), [(9, 3, 1), (1, 1, 2), (1, 3, 4), (3, 1, 9), (3, 7, 8), (2, 7, 33)])
def test_small_sizes(variant, n, d, s):
    X, y = data(n, d)
    if VARIANTS[variant][1].get("kernel", Gaussian()).name == "linear":
        s = min(s, d)
    Z = build(variant, n_components=s).fit_transform(X, y)
    assert Z.shape[0] == n
    assert np.isfinite(Z).all()


@every_map
def test_same_seed_same_map_other_seed_other_map(variant):
    X, y = data()
    first = build(variant).fit_transform(X, y)
    np.testing.assert_array_equal(first, build(variant).fit_transform(X, y))
    if variant in DETERMINISTIC:
        return
    other = build(variant, random_state=1).fit_transform(X, y)
    assert other.shape != first.shape or np.abs(first - other).max() > 1e-3


@pytest.mark.parametrize("variant", [v for v in GAUSSIAN if v != "nsrf-code"])  # whose starts are of a fixed length
def test_length_scale_divides_the_frequencies(variant):
    X, y = data()
    expected = build(variant).fit(X, y).transform(X)
    wide = build(variant, kernel=Gaussian(2.0)).fit(2 * X, y).transform(2 * X)
    np.testing.assert_allclose(wide, expected, atol=1e-12 * np.abs(expected).max())


def test_frequencies_are_stored_in_the_type_of_the_data():
    X, _ = data(dtype=np.float32)
    assert build("rff").fit(X).frequencies_.dtype == np.float32


@pytest.mark.parametrize("value", [2.5, "10", None])
def test_n_components_must_be_an_integer(value):
    with pytest.raises(TypeError, match="n_components"):
        build("rff", n_components=value).fit(*data())


@pytest.mark.parametrize("variant", [v for v in VARIANTS if needs_targets(v)])
def test_targets_are_required_and_may_be_of_any_kind(variant):
    X, y = data()
    with pytest.raises(ValueError, match="requires y to be passed"):
        build(variant).fit(X)
    more = [] if VARIANTS[variant][0] in GAMES else [np.arange(40) % 3, X[:, 0] ** 2]  # a game has two sides
    for targets in (y, np.where(y > 0, "a", "b"), np.ones(40), *more):
        assert np.isfinite(build(variant).fit_transform(X, targets)).all()


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("rff", {"n_components": 0}, "n_components"),
        ("rff", {"device": "tpu"}, "device must be"),
        ("rom", {"n_factors": 0}, "n_factors"),
        ("ssf", {"radii": "grid", "n_radii": 0}, "n_radii"),
        ("gq", {"n_nodes": 1}, "n_nodes"),
        ("lsrff", {"mode": "code", "layout": "phase"}, "mode='code' is defined for the layout 'cos_sin'"),
        ("lsrff", {"penalty": 0.0}, "penalty must be positive"),
        ("lprff", {"n_bits": 0}, "n_bits"),
        ("lprff", {"n_bits": 33}, "n_bits"),
        ("sgq", {"node": "sqrt_3"}, "no real features for 5 columns"),
        ("karff", {"rho": 0.0}, "rho must be positive"),
        ("karff", {"n_candidates": 99}, "n_candidates"),
        ("karff", {"scoring_fraction": 0.0}, "scoring_fraction"),
        ("kprff", {"scoring_fraction": 1.5}, "scoring_fraction"),
        ("kprff", {"kernel": Linear()}, "the candidates of the linear kernel are the 5 columns"),
        ("kprff", {"kernel": Linear(), "n_candidates": 200}, "n_candidates must be None for the linear kernel"),
        ("clrff", {"n_pairs": 0}, "n_pairs"),
        ("ses", {"penalty": -1.0}, "penalty must be positive"),
    ],
)
def test_options_outside_their_range_are_refused(name, options, message):
    X, y = data()
    with pytest.raises(ValueError, match=message):
        make_map(name, **options).fit(X, y).transform(X)


@pytest.mark.parametrize("name", MAPS)
def test_options_are_among_their_choices(name):
    hints = get_type_hints(map_class(name))
    choices = {option: get_args(hint) for option, hint in hints.items() if get_origin(hint) is Literal}
    assert set(choices) == {key for key, value in resolved_options(name, {}).items() if isinstance(value, str)}
    for option, allowed in choices.items():
        with pytest.raises(ValueError, match=f"{option} must be one of {', '.join(allowed)}, got 'else'"):
            make_map(name, **{option: "else"}).fit(*data())


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@every_map
@every_type
def test_cuda_agrees_with_the_cpu(variant, dtype):
    X, y = data(dtype=dtype)
    fitted = build(variant, device="cpu").fit(X, y)
    other = build(variant, device="cuda").restore(5, fitted.learned_, dtype=dtype)
    expected = fitted.transform(X)
    # As between float32 and float64 above.
    tolerance = (5e-3 if "laplacian" in variant else 5e-5) if dtype == np.float32 else 1e-10
    np.testing.assert_allclose(other.transform(X), expected, atol=tolerance * np.abs(expected).max())


@pytest.mark.parametrize("name", ["rm", "ts", "trp"])
@pytest.mark.parametrize(("dtype", "large"), [(np.float64, 1e300), (np.float32, 1e30)])
def test_polynomial_features_that_overflow_are_refused(name, dtype, large):
    X = np.full((5, 3), 1.0, dtype=dtype)
    X[3] = -large
    phi = make_map(name, Polynomial(2), n_components=16, random_state=0, device="cpu").fit(X)
    with pytest.raises(ValueError, match=f"as large as .* overflow {dtype.__name__}: scale the data"):
        phi.transform(X)
    with pytest.raises(ValueError, match="overflow"):
        list(phi.transform_blocks(X, rows=2))
    assert np.isfinite(phi.transform(X[:3])).all()


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
@pytest.mark.parametrize("name", ["rff", "sorf", "nrff", "karff", "gq"])
def test_features_whose_projections_overflow_are_refused(name):
    X = np.random.default_rng(0).uniform(-3e38, 3e38, (40, 3)).astype(np.float32)
    with pytest.raises(ValueError, match="overflow float32: scale the data"):
        make_map(name, n_components=16, random_state=0, device="cpu").fit(X, np.arange(40) % 2).transform(X)


def test_large_numbers_whose_features_are_numbers_are_mapped():
    X = np.full((4, 2), 1e100)
    assert np.isfinite(make_map("rff", n_components=8, random_state=0, device="cpu").fit(X).transform(X)).all()


@pytest.mark.parametrize("dtype", [int, np.float16, bool, complex])
def test_a_map_is_restored_for_the_types_that_it_can_be_fitted_on(dtype):
    with pytest.raises(ValueError, match=f"dtype must be float32 or float64, got {np.dtype(dtype).name}"):
        make_map("rff", n_components=4, random_state=0).restore(3, dtype=dtype)


def test_parameters_can_be_checked_without_a_draw():
    make_map("rom", n_components=4, n_factors=2).check_parameters()
    for wrong in ({"n_components": 0}, {"n_factors": 0}, {"order": "none"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            make_map("rom", **wrong).check_parameters()
    with pytest.raises(ValueError, match="supports"):
        make_map("rom").set_params(kernel=Laplacian(1.0)).check_parameters()


class Changed:
    """A parameter that was set after the fit: whoever takes it for the fitted one fails."""

    def __repr__(self):
        return "changed"


def change_parameters(phi):
    """Set all parameters of a map to what is none; where it works may be chosen at any time."""
    others = phi.get_params(deep=False).keys() - {"device"}
    return phi.set_params(device="cpu", **{name: Changed() for name in others})


@every_map
@every_type
def test_what_is_set_after_a_fit_is_for_the_next_one(variant, dtype):
    X, y = data(dtype=dtype)
    phi = build(variant).fit(X, y)
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
    before = {name: read() for name, read in reading.items()}
    change_parameters(phi)
    for name, read in reading.items():
        np.testing.assert_array_equal(read(), before[name], err_msg=name)
    np.testing.assert_array_equal(next(iter(blocks))[1], before["block"])
    with pytest.raises((ValueError, TypeError)):
        phi.fit(X, y)


@every_map
def test_a_draw_that_does_not_know_a_parameter_is_not_completed(variant):
    X, y = data()
    phi = build(variant).draw(5)
    assert phi.set_params(device="cpu").learn(X, y) is phi
    phi.set_params(n_components=phi.n_components + 1, random_state=7)
    with pytest.raises(ValueError, match="n_components, random_state changed since draw: draw again"):
        phi.learn(X, y)


def test_parameters_that_are_refused_leave_a_fitted_map_as_it_was():
    X, _ = data()
    phi = build("rff").fit(X)
    expected = phi.transform(X)
    phi.set_params(kernel=ArcCosine(1), layout="none")
    with pytest.raises(ValueError, match="layout"):
        phi.check_parameters()
    with pytest.raises(ValueError, match="layout"):
        phi.fit(X)
    assert phi.kernel_ == Gaussian(1.0)
    np.testing.assert_array_equal(phi.transform(X), expected)


@pytest.mark.parametrize(
    ("refused", "error"),
    [
        (np.ma.array(np.ones((6, 2)), mask=np.eye(6, 2, dtype=bool)), ValueError),
        (np.ones((6, 2)).astype("datetime64[s]"), TypeError),
        (np.ones((6, 2)).astype("timedelta64[s]"), TypeError),
    ],
)
def test_masked_entries_and_dates_are_no_numbers(refused, error):
    fitted = make_map("rff", n_components=4, random_state=0).fit(np.ones((6, 2)))
    for call in (fitted.fit, fitted.transform):
        with pytest.raises(error, match=r"masked|dtype"):
            call(refused)
