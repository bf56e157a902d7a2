"""One guard at every public door: masked entries, dates and durations are refused, not taken as numbers."""

from functools import partial
from typing import Literal, get_args, get_origin

import numpy as np
import pandas as pd
import pytest
import torch
from map_variants import KERNELS as MADE
from map_variants import MAPS, build, data, fitted

from random_features.arrays import check_numbers
from random_features.kernels import KERNELS, Circle, Gaussian
from random_features.learners import (
    decomposed,
    entry,
    gram,
    kernel_ridge,
    logistic,
    multiple_kernel,
    penalties,
    ridge,
    scoring,
    svm,
)
from random_features.learners.linear_model import LinearModel
from random_features.machines import KernelMachineClassifier, KernelMachineRegressor
from random_features.maps import make_map
from random_features.maps.candidates import target_columns
from random_features.maps.options import hints_of
from random_features.maps.registry import REGISTRY
from random_features.pivoted_cholesky import pivoted_cholesky


class Frame:
    """A frame of another library, as polars makes it: the types of its columns have names of their own."""

    def __init__(self, values, dtype):
        self.values, self.columns, self.dtypes = values, list("abcdefgh"), [dtype]

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype=dtype)


def masked(values):
    mask = np.zeros(np.shape(values), dtype=bool)
    mask.flat[0] = True
    return np.ma.array(values, mask=mask)


def dates(values):
    return np.asarray(values).astype("datetime64[s]")


#: Ways in which plain numbers are no longer plain.
SPOILT = {
    "masked": masked, "masked rows": lambda values: list(masked(values)), "dates": dates,
    "durations": lambda values: np.asarray(values).astype("timedelta64[s]"),
    "list of dates": lambda values: list(map(list, dates(values))) if np.ndim(values) == 2 else list(dates(values)),
    "objects": lambda values: dates(values).astype(object), "pandas": lambda values: pd.DataFrame(dates(values)),
    "categories": lambda values: pd.DataFrame(dates(values)).astype("category"),
    "polars": lambda values: Frame(values, "Duration(time_unit='ms')"),
}  # fmt: skip

EVERY_KERNEL = {**MADE, "circle": Circle("slowest", 5)}
X, Y = data()


def whole(Z):
    """The stream of features that is one block."""
    return lambda: iter([(slice(0, 40), Z)])


ONES = np.ones(40)
SIGNS = Y[:, None].astype(np.float64)
SMALL = Gaussian()(X)
FOLDS = np.arange(40) % 2
#: The functions of the learners that have no entry, with their data and targets.
LEARNERS = {
    "kernel ridge K": lambda spoil: gram.fit_kernel_ridge(spoil(SMALL), SIGNS, 1.0),
    "kernel ridge y": lambda spoil: gram.fit_kernel_ridge(SMALL, spoil(SIGNS), 1.0),
    "kernel svm K": lambda spoil: gram.fit_kernel_svm(spoil(SMALL), SIGNS, 1.0),
    "kernel svm y": lambda spoil: gram.fit_kernel_svm(SMALL, spoil(SIGNS), 1.0),
    "streamed X": lambda spoil: kernel_ridge.fit_kernel_ridge_by_tiles(Gaussian(), spoil(X), SIGNS, 1.0),
    "streamed y": lambda spoil: kernel_ridge.fit_kernel_ridge_by_tiles(Gaussian(), X, spoil(SIGNS), 1.0),
    "streamed new X": lambda spoil: kernel_ridge.predict_by_tiles(Gaussian(), X, LinearModel(SIGNS, 0.0, ""), spoil(X)),
    "multiple kernels": lambda spoil: multiple_kernel.fit_multiple_kernel_svm([spoil(SMALL)], SIGNS, 1.0),
    "multiple kernels y": lambda spoil: multiple_kernel.fit_multiple_kernel_svm([SMALL], spoil(SIGNS), 1.0),
    "decomposed Z": lambda spoil: decomposed.decompose(spoil(X)),
    "decomposed y": lambda spoil: decomposed.ridge_coefficients(decomposed.decompose(X), spoil(Y), 1.0),
    "left out y": lambda spoil: decomposed.leave_one_out(decomposed.decompose(X), spoil(Y), [1.0]),
    "on a stream Z": lambda spoil: logistic.fit_on_stream(whole(spoil(X)), (Y > 0) * 1, 2, 1.0, n_columns=5),
    "on a stream y": lambda spoil: logistic.fit_on_stream(whole(X), spoil((Y > 0) * 1), 2, 1.0, n_columns=5),
    "ridge weights": lambda spoil: ridge.fit_ridge(whole(X), SIGNS, 1.0, n_columns=5, weights=spoil(ONES)),
    "svm weights": lambda spoil: svm.fit_svm(whole(X), SIGNS, 1.0, n_columns=5, weights=spoil(ONES)),
    "logistic weights": lambda spoil: logistic.fit_logistic(whole(X), SIGNS, 1.0, n_columns=5, weights=spoil(ONES)),
    "kernel ridge weights": lambda spoil: gram.fit_kernel_ridge(SMALL, SIGNS, 1.0, weights=spoil(ONES)),
    "kernel svm weights": lambda spoil: gram.fit_kernel_svm(SMALL, SIGNS, 1.0, weights=spoil(ONES)),
    "streamed weights": lambda spoil: kernel_ridge.fit_kernel_ridge_by_tiles(
        Gaussian(), X, SIGNS, 1.0, weights=spoil(ONES)
    ),
    "folds": lambda spoil: scoring.check_folds(spoil(FOLDS), SIGNS, "mse"),
    "penalties": lambda spoil: penalties.check_grid(spoil(Y > 0), "penalties"),
    "decision": lambda spoil: LinearModel(np.ones((5, 1)), np.zeros(1), "").decision(spoil(X)),
}


def some_options(learner):
    """The grid of a learner, the first value of every option that is one of a few words, and 1 for plain numbers."""
    hints = hints_of(learner.options).items()
    words = {each: get_args(hint)[0] for each, hint in hints if get_origin(hint) is Literal}
    return words | {each: hint(1) for each, hint in hints if hint in (int, float)} | {learner.grid: [1.0]}


def with_entries():
    """The fit and the cross-validation of every learner that has an entry."""
    for name in entry.LEARNERS:
        learner = entry.load(name)
        fit = partial(learner.fit, n_columns=5, options=some_options(learner))
        validate = partial(learner.cross_validate, n_columns=5, score="accuracy", options=some_options(learner))
        yield f"{name} fit Z", lambda spoil, fit=fit: fit(whole(spoil(X)), SIGNS, 1.0)
        yield f"{name} fit y", lambda spoil, fit=fit: fit(whole(X), spoil(SIGNS), 1.0)
        yield f"{name} validate Z", lambda spoil, validate=validate: validate(whole(spoil(X)), SIGNS, FOLDS)
        yield f"{name} validate y", lambda spoil, validate=validate: validate(whole(X), spoil(SIGNS), FOLDS)
        yield f"{name} penalty", lambda spoil, fit=fit: fit(whole(X), SIGNS, spoil(ONES))


def of_kernels():
    for name, kernel in EVERY_KERNEL.items():
        rows = X[:, :1] if name == "circle" else X
        yield f"{name} X", lambda spoil, kernel=kernel, rows=rows: kernel(spoil(rows))
        yield f"{name} Y", lambda spoil, kernel=kernel, rows=rows: kernel(rows, spoil(rows))
        yield f"{name} against", lambda spoil, kernel=kernel, rows=rows: kernel.against(spoil(rows), 5, "cpu", None)
        yield f"{name} completed", lambda spoil, kernel=kernel, rows=rows: kernel.completed_by(spoil(rows))
        if hasattr(kernel, "length_scale"):
            yield f"{name} lengths", lambda spoil, kernel=kernel: kernel.with_params(length_scale=spoil(ONES))


def of_maps():
    for name in MAPS:
        phi = build(name)
        yield f"{name} fit X", lambda spoil, phi=phi: phi.fit(spoil(X), Y)
        yield f"{name} learn X", lambda spoil, name=name: build(name).draw(5).learn(spoil(X), Y)
        yield f"{name} transform", lambda spoil, name=name: fitted(name)[0].transform(spoil(X))
        yield f"{name} blocks", lambda spoil, name=name: fitted(name)[0].transform_blocks(spoil(X))
        if "gaussian" in REGISTRY[name].kernels:
            of_y = build(name, kernel=Gaussian("ard"))
            yield f"{name} ard y", lambda spoil, of_y=of_y: of_y.fit(X, spoil(Y))
        if phi._requires_y:
            yield f"{name} fit y", lambda spoil, phi=phi: phi.fit(X, spoil(Y))
            yield f"{name} learn y", lambda spoil, name=name: build(name).draw(5).learn(X, spoil(Y))


OTHERS = {
    "classes": lambda spoil: KernelMachineClassifier(build("orf")).partial_fit(X, Y, classes=spoil(np.unique(Y))),
    "landmarks": lambda spoil: make_map("nystroem", landmarks=spoil(X)).fit(X),
    "restore": lambda spoil: make_map("nystroem", random_state=0).restore(5, {"landmarks": spoil(X)}),
    "target columns": lambda spoil: target_columns(spoil(Y)),
    "pivoted Cholesky": lambda spoil: pivoted_cholesky(Gaussian(), spoil(X), 3, np.random.default_rng(0)),
    **{
        f"{machine.__name__} {door}": lambda spoil, machine=machine, call=call: call(machine(Gaussian(1.0)), spoil)
        for machine in (KernelMachineRegressor, KernelMachineClassifier)
        for door, call in {
            "X": lambda machine, spoil: machine.fit(spoil(X), Y),
            "y": lambda machine, spoil: machine.fit(X, spoil(Y)),
            "predict": lambda machine, spoil: machine.fit(X, Y).predict(spoil(X)),
            "score y": lambda machine, spoil: machine.fit(X, Y).score(X, spoil(Y)),
            "weights": lambda machine, spoil: machine.fit(X, Y, spoil(ONES)),
            "partial_fit": lambda machine, spoil: machine.set_params(features=build("orf")).partial_fit(spoil(X), Y),
            "score X": lambda machine, spoil: machine.fit(X, Y).score(spoil(X), Y),
            "score weights": lambda machine, spoil: machine.fit(X, Y).score(X, Y, spoil(ONES)),
            "penalties": lambda machine, spoil: machine.set_params(penalties=spoil(ONES)).fit(X, Y),
        }.items()
    },
}
DOORS = {**LEARNERS, **dict(with_entries()), **dict(of_kernels()), **dict(of_maps()), **OTHERS}


def test_every_kernel_is_among_the_doors():
    assert {type(kernel).__name__ for kernel in EVERY_KERNEL.values()} == {each.class_name for each in KERNELS.values()}


@pytest.mark.parametrize("door", DOORS)
def test_masked_entries_and_dates_are_refused_at_every_door(door):
    for how in SPOILT.values():
        with pytest.raises((ValueError, TypeError), match=r"masked entries|the dtype"):
            DOORS[door](how)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    ("change", "same"),
    [(lambda tensor: torch._neg_view(-tensor), torch.clone), (torch.Tensor.bfloat16, torch.Tensor.double)],
    ids=["negative of its memory", "bfloat16"],
)
def test_a_tensor_that_numpy_cannot_read_is_like_any_other(change, same, door):
    def outcome(change):
        try:
            return type(DOORS[door](lambda values: change(torch.tensor(values * 1))))
        except Exception as error:
            return repr(error)

    assert outcome(change) == outcome(same)


def test_length_scales_with_names_are_refused_and_those_in_the_order_of_the_columns_taken():
    lengths, frame = pd.Series([3.0, 1.0, 2.0], index=["c", "a", "b"]), pd.DataFrame(columns=["a", "b", "c"])
    with pytest.raises(ValueError, match=r"\Alength_scale has names.*length_scale\[X.columns\]\.to_numpy\(\)\Z"):
        Gaussian(lengths)
    assert Gaussian(lengths[frame.columns].to_numpy()) == Gaussian(pd.Series([1.0, 2.0, 3.0]))


@pytest.mark.parametrize("how", SPOILT)
def test_the_guard_names_the_argument_in_one_line(how):
    with pytest.raises((ValueError, TypeError), match=r"\Alandmarks has .*(leave these rows out|a stated unit)\Z"):
        check_numbers(SPOILT[how](X), "landmarks")


@pytest.mark.parametrize(
    "plain",
    [X, X.tolist(), np.ma.array(X), pd.DataFrame(X), pd.Series(["date", "time"]), ["a", "b"], [1, "a"], None, [],
     pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}), Frame(X, "Float64")],
)  # fmt: skip
def test_plain_numbers_and_labels_pass(plain):
    check_numbers(plain)
