"""The inheritance of all maps: names and types, the parameters that they take, and the data that they refuse."""

from copy import copy
from numbers import Integral, Real
from typing import Literal, get_args, get_origin, get_type_hints

import numpy as np
import pandas as pd
import pytest
import torch
from map_variants import GAMES, MAPS, build, data, fitted
from scipy import sparse
from sklearn.exceptions import NotFittedError

from random_features.kernels import ArcCosine, Gaussian, Laplacian, Linear, Polynomial
from random_features.maps import make_map
from random_features.maps.leverage import COLUMN_MODES
from random_features.maps.registry import REGISTRY, map_class, resolved_options

X, Y = data()


def test_names_of_columns_are_those_of_the_last_fit():
    frame = pd.DataFrame(X, columns=list("abcde"))
    phi = build("rff").fit(frame)
    assert list(phi.feature_names_in_) == list("abcde")
    assert phi.learn(frame).n_features_in_ == 5
    phi.draw(3)
    assert phi.n_features_in_ == 3
    assert not hasattr(phi, "feature_names_in_")


@pytest.mark.parametrize("name", MAPS)
def test_a_class_without_options_of_its_own_keeps_the_init_that_it_inherits(name):
    class Own(map_class(name)):
        def __init__(self, kernel=None, n_components=100, *, power=2, **options):
            super().__init__(kernel, n_components, **options)
            self.power = power

    assert (type("Child", (Own,), {})(power=3).power, type("Child", (Own,), {})().power) == (3, 2)


@pytest.mark.parametrize("name", MAPS)
def test_a_map_that_learns_after_a_draw_knows_the_names_of_the_columns(name):
    frame = pd.DataFrame(X, columns=list("abcde"))
    phi = build(name).draw(5, dtype=np.float64).learn(frame, Y)
    for use in (phi.transform, lambda other: phi.learn(other, Y)):
        with pytest.raises(ValueError, match="feature names should match"):
            use(frame[list("edcba")])
    np.testing.assert_array_equal(phi.transform(frame), fitted(name)[1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        *((lambda d=d: build("rff").draw(d), "n_features_in") for d in (0, 2.5)),
        (lambda: build("kprff").draw(5).learn(X[:, :4], Y), r"4 features, but .* expecting 5 features"),
        (lambda: build("kprff").draw(5).learn(X), "requires y to be passed"),
        (lambda: build("kprff").draw(5).learn(np.where(X > 1.0, np.nan, X), Y), "NaN"),
        (lambda: make_map("rff").restore(3), "integer random_state"),
        *(
            (lambda dtype=dtype: build("rff").restore(3, dtype=dtype), f"dtype must be .*, got {np.dtype(dtype).name}")
            for dtype in (int, np.float16, bool, complex)
        ),
        (lambda: fitted("rff")[0].transform_blocks(X[:, :3]), "features"),
        (lambda: fitted("rff")[0].transform_blocks(X, rows=0), "rows"),
    ],
)
def test_what_a_map_is_given_is_checked_at_once(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


@pytest.mark.parametrize("variant", ["rff", "kprff", "nystroem"])
def test_to_learn_a_map_must_have_been_drawn(variant):
    with pytest.raises(NotFittedError, match="call draw before learn, or fit for both"):
        build(variant).learn(*data())


@pytest.mark.parametrize("variant", ["rff", "slsrff", "nystroem", "ses"])
def test_data_to_learn_from_are_cast_to_the_type_of_the_draw(variant):
    phi, expected = build(variant).draw(5).learn(X, Y), fitted(variant, np.float32)[0]
    np.testing.assert_array_equal(phi.transform(X), expected.transform(X))


@pytest.mark.parametrize("variant", ["rff", "scrf", "pmodel", "ssr", "ts", "nystroem"])
def test_the_type_of_an_integer_does_not_matter(variant):
    """200 features have more columns, and 200 columns more bytes, than an integer of eight bits can say."""
    other = build(variant, n_components=np.uint8(200)).fit(X, Y)
    np.testing.assert_array_equal(other.transform(X), build(variant, n_components=200).fit(X, Y).transform(X))


@pytest.mark.parametrize("variant", ["slsrff", "slsrff-code", "karff", "kprff", "kprff-linear", "nsrf"])
def test_targets_are_required_and_may_be_of_any_kind(variant):
    with pytest.raises(ValueError, match="requires y to be passed"):
        build(variant).fit(X)
    more = [] if variant in GAMES else [np.arange(40) % 3, X[:, 0] ** 2]  # a game has two sides
    for targets in (Y, np.where(Y > 0, "a", "b"), np.ones(40), *more):
        assert np.isfinite(build(variant).fit_transform(X, targets)).all()
    np.testing.assert_array_equal(build(variant).fit(X, pd.Series(Y)).transform(X), fitted(variant)[1])


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        *(("rff", {"device": device}, "device must be") for device in ("tpu", "cuda:x", 0)),
        *(("gq", {"n_nodes": number}, "n_nodes == .* (>= 2|<= 370)") for number in (-1, 1, 371)),
        *(("lsrff", {"mode": mode, "layout": "phase"}, f"'{mode}' .* the layout 'cos_sin'") for mode in COLUMN_MODES),
        ("lsrff", {"pool_multiple": 0}, "pool_multiple == 0, must be >= 1"),
        ("lsrff", {"pool_multiple": 2, "mode": "code"}, "keeps the whole pool: pool_multiple is of the mode 'text'"),
        *(("lprff", {"n_bits": bits}, "n_bits == .* (>= 1|<= 32)") for bits in (-1, 0, 33)),
        ("sgq", {"node": "sqrt_3"}, "no real features for 5 columns"),
        ("nsrf", {"n_copies": 8, "n_peaks": 9}, "n_copies=8 copies find no 9 peaks a round"),
        ("nystroem", {"kernel": lambda X, Z: -X @ Z.T}, "not symmetric and positive semi-definite"),
        ("karff", {"n_candidates": 99}, "n_candidates"),
        *((name, {"scoring_fraction": part}, "scoring_fraction") for name, part in [("karff", 0.0), ("kprff", 1.5)]),
        ("kprff", {"kernel": Linear()}, "the candidates of the linear kernel are the 5 columns"),
        ("kprff", {"kernel": Linear(), "n_candidates": 200}, "n_candidates must be None for the linear kernel"),
        # a search over options that are not read gave equal scores without a word
        *(("ssf", {"n_radii": 3, "radii": radii}, "n_radii") for radii in ("perm", "single")),
        *((name, {"scoring_rows": "first"}, "scoring_rows") for name in ("kprff", "karff")),
        ("nystroem", {"landmarks": np.eye(3, 5), "n_components": 7}, "n_components"),
    ],
)
def test_options_outside_their_range_or_that_would_not_be_read_are_refused(name, options, message):
    with pytest.raises(ValueError, match=message):
        make_map(name, **options).fit(X, Y).transform(X)


#: Values that an option of a type refuses: of another type, out of its range, neither a number nor a truth value.
WRONG = {
    bool: ["False", 0], int: [0, 2.5, "10", True, None], float: [0.0, -1.0, np.nan, np.inf, True, None],
    Integral: [-1, 2.5, True, None], Real: [-1.0, np.nan, np.inf, True, "10"],
}  # fmt: skip


@pytest.mark.parametrize("name", REGISTRY)
def test_options_have_the_type_and_the_range_of_their_annotation(name):
    for option, hint in get_type_hints(map_class(name)).items():
        kinds = get_args(hint) or (hint,)
        for value in [value for kind in WRONG.keys() & set(kinds) for value in WRONG[kind]]:
            if value is not None or type(None) not in kinds:
                with pytest.raises((ValueError, TypeError), match=option):
                    make_map(name, **{option: value}).check_parameters()


@pytest.mark.parametrize("name", MAPS)
def test_options_are_among_their_choices(name):
    hints = get_type_hints(map_class(name)).items()
    literals = ((option, each) for option, hint in hints for each in (hint, *get_args(hint)))  # or an array
    choices = {option: get_args(hint) for option, hint in literals if get_origin(hint) is Literal}
    assert set(choices) == {key for key, value in resolved_options(name, {}).items() if isinstance(value, str)}
    for option, allowed in choices.items():
        with pytest.raises(ValueError, match=f"{option} must be one of {', '.join(allowed)}, got 'else'"):
            make_map(name, **{option: "else"}).fit(*data())


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


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
def test_maps_that_need_the_squares_of_the_data_refuse_those_that_overflow():
    X = 1e160 * np.random.default_rng(0).normal(size=(40, 3))
    for name, kernel in ("nystroem", Gaussian()), ("nystroem", Polynomial(2)), ("nsrf", Gaussian()):
        with pytest.raises(ValueError, match="scale the data"):
            make_map(name, kernel, n_components=4, random_state=0, device="cpu").fit(X, np.arange(40) % 2)


def test_large_numbers_whose_features_are_numbers_are_mapped():
    X = np.full((4, 2), 1e100)
    assert np.isfinite(make_map("rff", n_components=8, random_state=0, device="cpu").fit(X).transform(X)).all()


def test_parameters_can_be_checked_without_a_draw():
    make_map("rom", n_components=4, n_factors=2).check_parameters()
    make_map("kprff", center_targets=np.bool_(False)).check_parameters()
    with pytest.raises(ValueError, match="supports"):
        make_map("rom").set_params(kernel=Laplacian(1.0)).check_parameters()


@pytest.mark.parametrize("variant", ["rff", "kprff", "nsrf"])
def test_a_draw_that_does_not_know_a_parameter_is_not_completed(variant):
    phi = build(variant).draw(5)
    assert phi.set_params(device="cpu").learn(X, Y) is phi
    phi.set_params(n_components=phi.n_components + 1, random_state=7)
    with pytest.raises(ValueError, match="n_components, random_state changed since draw: draw again"):
        phi.learn(X, Y)


def test_parameters_that_are_refused_leave_a_fitted_map_as_it_was():
    phi = build("rff").fit(X)
    expected = phi.transform(X)
    phi.set_params(kernel=ArcCosine(1), layout="none")
    with pytest.raises(ValueError, match="layout"):
        phi.check_parameters()
    with pytest.raises(ValueError, match="layout"):
        phi.fit(X)
    assert phi.kernel_ == Gaussian(1.0)
    np.testing.assert_array_equal(phi.transform(X), expected)


def test_parts_of_an_entry_whose_sum_is_infinite_are_refused():
    parts = sparse.csr_matrix(([1e308, 1e308], [1, 1], [0] + [2] * 6), shape=(6, 2))
    phi = make_map("rff", n_components=4, random_state=0).fit(np.ones((6, 2)))
    for call in (phi.fit, phi.transform):
        with pytest.raises(ValueError, match="infinity"):
            call(parts)


@pytest.mark.parametrize("landmarks", [np.eye(3, 2), np.eye(3, 2).tolist(), pd.DataFrame(np.eye(3, 2))])
def test_landmarks_are_taken_as_they_are_when_the_map_is_drawn(landmarks):
    """Their array was the map's own: ``landmarks += 5`` changed what was learned, and ``restore`` took it."""
    X = np.random.default_rng(0).normal(size=(6, 2))
    phi = make_map("nystroem", landmarks=landmarks, random_state=0).fit(X)
    Z, learned = phi.transform(X), {name: array.copy() for name, array in phi.learned_.items()}
    if isinstance(landmarks, list):
        landmarks[0][0] += 5.0
    else:
        landmarks += 5.0
    np.testing.assert_array_equal(phi.transform(X), Z)
    np.testing.assert_array_equal(phi.learned_["landmarks"], learned["landmarks"])
    np.testing.assert_array_equal(phi.learned_["landmarks"], np.eye(3, 2))


@pytest.mark.skipif(torch.cuda.device_count() > 7, reason="this machine has such a device")
@pytest.mark.parametrize("name", MAPS)
def test_a_device_that_is_absent_is_refused_by_fit(name):
    with pytest.raises(RuntimeError, match=r"\Adevice='cuda:7': .*use 'auto' or 'cpu'\Z"):
        build(name, device="cuda:7").fit(X, Y)


@pytest.mark.parametrize("landmarks", ["uniform", "kmeans", "rpcholesky"])
@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_rows_of_zeros_are_no_landmarks_of_the_linear_kernel(landmarks):
    with pytest.raises(ValueError, match="the kernel matrix of the landmarks is near 0"):
        make_map("nystroem", Linear(), n_components=4, landmarks=landmarks, random_state=0).fit(np.zeros((9, 2)))


@pytest.mark.parametrize("name", MAPS)
def test_a_fitted_map_does_not_change_behind_the_users_back(name):
    """By changes of the data that it was fitted on or restored from, a failed refit, a refit while blocks are read."""
    (X, y), (_, Z) = data(), fitted(name)
    mutated, targets = X.copy(), y.copy()
    phi = build(name).fit(mutated, targets)
    mutated += 5.0
    targets[:] = 1
    np.testing.assert_array_equal(phi.transform(X), Z)
    learned = {key: array.copy() for key, array in phi.learned_.items()}
    restored = build(name).restore(5, learned, dtype=np.float64)
    for array in learned.values():
        if array.dtype.kind in "fi":
            array += 1
    np.testing.assert_array_equal(restored.transform(X), Z)
    assert all(np.array_equal(restored.learned_[key], array) for key, array in phi.learned_.items())
    with pytest.raises(ValueError, match="NaN"):
        phi.fit(np.full((4, 5), np.nan), y[:4])
    np.testing.assert_array_equal(phi.transform(X), Z)
    blocks = phi.transform_blocks(X, rows=25)
    first = next(blocks)[1]
    phi.fit(X[::-1] + 1.0, y)
    np.testing.assert_allclose(np.concatenate([first, *(Z for _, Z in blocks)]), Z, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", MAPS)
def test_what_fails_leaves_the_map_as_it_was(name, monkeypatch):
    """It fails by a parameter, by the type of a draw, or at the end, when all is drawn and learned."""
    (X, y), (phi, Z) = data(), fitted(name)
    phi = copy(phi).set_params(device="cpu")
    kernel, n_components, before = phi.kernel, phi.n_components, dict(vars(phi))

    def check(message, attempt):
        with pytest.raises(ValueError, match=message):
            attempt()
        assert {key: vars(phi)[key] is value for key, value in before.items()} == dict.fromkeys(vars(phi), True)

    phi.n_components = before["n_components"] = -1
    check("n_components", lambda: phi.fit(X[:, :3], y))
    phi.n_components = before["n_components"] = n_components
    if phi.kernel_.name == "gaussian":
        phi.kernel = before["kernel"] = Gaussian([0.1])
        check("one per column", lambda: phi.fit(X, y))
        phi.kernel = before["kernel"] = kernel
    check("dtype must be", lambda: phi.draw(3, dtype=np.int64))
    monkeypatch.setattr(type(phi), "_check_drawn", lambda self: np.linalg.cholesky(-np.eye(2)))
    check("positive definite", lambda: phi.fit(2.0 * X[:30], y[:30]))
    check("positive definite", lambda: phi.learn(2.0 * X[:30], y[:30]))
    check("positive definite", lambda: phi.restore(5, phi.learned_))
    np.testing.assert_allclose(phi.transform(X), Z, atol=1e-12 * np.abs(Z).max())
