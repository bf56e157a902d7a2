"""The stages on a regression: what is chosen, fitted and reported, against the normal equations written out."""

import importlib
import json
from dataclasses import replace

import numpy as np
import pytest
import study_toys as toys
import torch

from random_features.arrays import seed_of
from random_features.kernels import Gaussian
from random_features.maps import make_map
from rfstudy.data.split import fold_of_row
from rfstudy.study.kinds import grid
from rfstudy.study.sample import draw_sample, load_prepared

N_TRAIN, D, LENGTH_SCALE = 60, 3, 1.5
PENALTIES = [1e-6, 1e-3, 0.1, 10.0]
RIDGE = {"scaling": "mean", "center": "targets", "penalties": PENALTIES, "n_folds": 4}
METRICS = ["mse", "rmse", "relative_error", "relative_squared_error_pct"]
SVM_OF_ROWS = {"C": [1.0], "n_folds": 2}
SVM = toys.SVM | {"solver": "auto", "C": [1.0], "n_folds": 2}


@pytest.fixture
def prepared(tmp_path):
    """A target that is a smooth function of the data, far from zero, with some noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2 * N_TRAIN, D)).astype(np.float32)
    y = 5 + np.sin(X[:, 0]) + 0.3 * X[:, 1] + 0.1 * rng.normal(size=len(X))
    return toys.write_data(tmp_path / "prepared", X, y, n_train_published=N_TRAIN)


def run(prepared, tmp_path, repeats=1, **changes):
    """The rows of train and what was chosen: ridge regression on 4d features, in one repeat."""
    changes = {
        "sizes": {"multiples_of_d": [4]},
        "bandwidth": {"length_scale": LENGTH_SCALE},
        "learners": {"ridge": RIDGE},
    } | changes
    _, scores, chosen = toys.run_grid(toys.selected(repeats=repeats, **changes), {"made": prepared}, tmp_path)
    return scores, chosen.get("made")


@pytest.fixture
def labels(tmp_path):
    """Two classes."""
    return toys.write_data(tmp_path / "labels", *toys.labelled(2 * N_TRAIN, D), n_train_published=N_TRAIN)


def reason_of(rows, status):
    """The reason why none of some rows has a value."""
    assert rows["status"].eq(status).all()
    assert rows["value"].isna().all()
    (reason,) = {settings["reason"] for settings in toys.settings_of(rows)}
    return reason


def features(prepared, repeat=0, length_scale=LENGTH_SCALE):
    """Features and targets of the training and of the test rows, in float64."""
    sample = draw_sample(load_prepared(prepared), toys.part(), repeat, ["none"])
    seed = seed_of(3, "features", "made", "rff", 4 * D, repeat)
    phi = make_map("rff", Gaussian(length_scale), n_components=4 * D, device="cpu", random_state=seed)
    phi.fit(sample.X_train)
    training, test = (phi.transform(X).astype(np.float64) for X in (sample.X_train, sample.X_test))
    return training, sample.y_train, test, sample.y_test


def predicted(Z, y, penalty, new):
    """Ridge regression on centred targets."""
    coef = np.linalg.solve(Z.T @ Z + len(Z) * penalty * np.eye(Z.shape[1]), Z.T @ (y - y.mean()))
    return new @ coef + y.mean()


def squared_errors_by_penalty(Z, y, folds):
    """Mean over the folds of the mean squared error of the held-out rows."""
    held_out = [folds == fold for fold in range(RIDGE["n_folds"])]

    def error(penalty, out):
        return np.mean((y[out] - predicted(Z[~out], y[~out], penalty, Z[out])) ** 2)

    return [np.mean([error(penalty, out) for out in held_out]) for penalty in PENALTIES]


def test_a_regression_is_chosen_by_its_squared_error_and_reported_by_four_measures(prepared, tmp_path):
    rows = run(prepared, tmp_path)[0].set_index("metric")
    Z, y, Z_test, y_test = features(prepared)
    errors = squared_errors_by_penalty(Z, y, fold_of_row(N_TRAIN, 4, 3, "train", 0))
    penalty = PENALTIES[int(np.argmin(errors))]
    assert penalty not in (PENALTIES[0], PENALTIES[-1])  # else a choice by the largest error would pass
    difference = y_test - predicted(Z, y, penalty, Z_test)
    expected = {
        "mse": np.mean(difference**2),
        "rmse": np.sqrt(np.mean(difference**2)),
        "relative_error": np.sqrt((difference**2).sum() / (y_test**2).sum()),
        "relative_squared_error_pct": 100 * (difference**2).sum() / (y_test**2).sum(),
    }
    assert rows["value"].to_dict() == pytest.approx(expected, rel=1e-5)  # features in float32
    assert expected["rmse"] < 0.6 * y_test.std()  # something was learned
    assert rows["split"].eq("test").all()
    assert rows["status"].eq("ok").all()
    for settings in map(json.loads, rows["settings"]):
        assert (settings["penalty"], settings["solver"]) == (penalty, "primal")


def test_what_is_searched_for_a_regression_is_what_has_the_smallest_error(prepared, tmp_path):
    grid = [0.05, 1.5, 50.0]
    search = {"tune_per": "method_and_size", "length_scale": {"grid": grid}, "penalty": {}}
    search["preprocess"] = {"grid": [["none"], ["standard_rows"]]}
    search["penalty"] = {"tune_per": "method_and_size"}
    rows, chosen = run(prepared, tmp_path, repeats=2, search=search)
    found = chosen["method_and_size"]["rff"]["4d"]
    errors = {}
    for length_scale in grid:
        per_repeat = []
        for repeat in (0, 1):
            Z, y, *_ = features(prepared, repeat, length_scale)
            per_repeat.append(squared_errors_by_penalty(Z, y, fold_of_row(N_TRAIN, 4, 3, "train", repeat)))
        errors[length_scale] = np.mean(per_repeat, axis=0)
    best = min(grid, key=lambda length_scale: errors[length_scale].min())
    assert found["chosen"] == {
        "preprocess": ["none"],
        "length_scale": best,
        "penalty": {"ridge": PENALTIES[int(np.argmin(errors[best]))]},
    }
    assert best == 1.5
    assert found["score"] == pytest.approx(errors[best].min(), rel=1e-4)
    assert found["chosen_on"] == [0, 1]
    assert {settings["length_scale"] for settings in toys.settings_of(rows)} == {1.5}


#: More features than a constant map can fill: all columns are the same.
CONSTANT = {"bandwidth": {"length_scale": 1e12}}


def test_a_shared_penalty_that_leaves_a_singular_system_is_a_failure_and_is_not_raised(prepared, tmp_path, monkeypatch):
    monkeypatch.setattr("rfstudy.study.tune.best_penalty", lambda *arguments: 1e-300)
    learners = {"ridge": RIDGE | {"scaling": "sum", "penalties": [1e-300, 1e-3, 1.0]}}
    search = {"penalty": {"tune_per": "method_and_size"}}
    rows, _ = run(prepared, tmp_path, learners=learners, search=search, **CONSTANT)
    assert "singular to working precision at a diagonal term of 1e-300" in reason_of(rows, "failed")


def test_a_choice_that_is_singular_on_all_rows_is_made_among_the_others(prepared, tmp_path, monkeypatch):
    """Folds do not see it: their scores are made up, and the smallest value has the best."""
    module = importlib.import_module("random_features.learners.ridge")
    scores = np.array([[0.1] * 4, [0.3] * 4, [0.2] * 4])
    learner = replace(module.LEARNER, cross_validate=lambda *arguments, **how: scores.copy())
    monkeypatch.setattr(module, "LEARNER", learner)
    learners = {"ridge": RIDGE | {"scaling": "sum", "penalties": [1e-300, 1e-3, 1.0]}}
    rows, _ = run(prepared, tmp_path, learners=learners, **CONSTANT)
    settings = toys.settings_of(rows)
    assert {each["penalty"] for each in settings} == {1.0}
    assert all(each["at_edge"] == {"penalty": True} for each in settings)


def test_a_learner_that_is_left_out_has_a_row_for_every_metric(labels, tmp_path):
    learners = {"svm": SVM | {"max_entries": 100}, "ridge": None}
    rows, _ = run(labels, tmp_path, learners=learners, scores=["error_pct", "accuracy_pct"])
    assert rows["metric"].tolist() == ["error_pct", "accuracy_pct"]
    assert f"{N_TRAIN} rows x {2 * 4 * D} columns are over" in reason_of(rows, "skipped")


def test_test_rows_of_one_class_have_an_accuracy_and_no_roc_curve(tmp_path):
    X, y = toys.labelled(2 * N_TRAIN, D)
    y[N_TRAIN:] = y.max()
    folder = toys.write_data(tmp_path / "labels", X, y, n_train_published=N_TRAIN)
    rows, _ = run(folder, tmp_path, scores=["accuracy_pct", "auc_pct"])
    assert rows["status"].tolist() == ["ok", "skipped"]
    assert rows["value"].isna().tolist() == [False, True]
    with_value, without = toys.settings_of(rows)
    assert without == with_value | {"reason": "the ROC curve needs two labels among the test rows"}


def test_a_learner_that_does_not_serve_the_target_says_so(prepared, tmp_path):
    rows, _ = run(prepared, tmp_path, learners={"svm": SVM, "ridge": None})
    assert rows["metric"].tolist() == METRICS
    assert reason_of(rows, "skipped") == "the learner serves targets that are binary or classes, not regression"


def test_a_missing_source_leaves_a_row_for_every_metric(prepared, tmp_path):
    toys.lose(prepared)
    rows, _ = run(prepared, tmp_path)
    assert rows["metric"].tolist() == METRICS
    assert reason_of(rows, "skipped") == "not to be had"


def test_the_learners_of_a_map_share_its_features_and_never_anothers(labels, tmp_path, monkeypatch):
    """A cell maps the data once for any number of learners and passes. Features that are too large to keep come from
    streams and give the same numbers.
    """
    learners = {"ridge": RIDGE, "svm": SVM | {"C": [0.1, 1.0]}}
    methods = [{"method": "rff"}, {"method": "orf"}, {"method": "rff", "variant": "wide", "length_scale": 9.0}]
    mapped = []
    transform = type(make_map("rff")).transform_blocks
    monkeypatch.setattr(
        "random_features.maps.base.RandomFeatureMap.transform_blocks",
        lambda self, X: (mapped.append(len(X)), transform(self, X))[1],
    )
    changes = {"learners": learners, "methods": methods, "sizes": {"multiples_of_d": [2, 4]}}
    kept, _ = run(labels, tmp_path / "kept", repeats=2, **changes)
    assert len(mapped) == 3 * 2 * 2 * 2  # methods, sizes, repeats; training and test rows
    monkeypatch.setattr(grid, "KEPT_BYTES", 0)
    streamed, _ = run(labels, tmp_path / "streamed", repeats=2, **changes)
    assert len(mapped) > 4 * 3 * 2 * 2 * 2
    one, other = (rows.drop(columns="run") for rows in (kept, streamed))
    assert one.equals(other)


@pytest.mark.parametrize("learner", ["ridge", "svm"])
@pytest.mark.parametrize("tune_per", ["cell", "method_and_size"])
def test_a_class_with_one_row_skips_its_data_set_and_no_other(tmp_path, learner, tune_per):
    """The fold that holds this row out leaves one class to train on."""
    X, y = toys.labelled(40, D)
    rare = np.where(np.arange(40) == 7, 1, -1)
    datasets = {
        "made": toys.write_data(tmp_path / "made", X, y, n_train_published=20),
        "rare": toys.write_data(tmp_path / "rare", X, rare, n_train_published=20, task="rare"),
    }
    toy = toys.selected(
        repeats=1,
        datasets={"made": {}, "rare": {}},
        learners={"ridge": None, learner: {"ridge": RIDGE, "svm": SVM}[learner]},
        search={"penalty": {"tune_per": tune_per}},
    )
    _, rows, _ = toys.run_grid(toy, datasets, tmp_path)
    assert dict(zip(rows["dataset"], rows["status"], strict=True)) == {"made": "ok", "rare": "skipped"}
    (reason,) = [json.loads(text)["reason"] for text in rows.loc[rows["dataset"].eq("rare"), "settings"].unique()]
    assert "one class" in reason


def test_features_on_a_gpu_go_to_learners_there(tmp_path, monkeypatch):
    """As on a GPU, with tensors of the CPU: the search, the fits and the predictions get tensors."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(240, D)).astype(np.float32)
    y = (X[:, 0] + rng.normal(size=240) > 0) * 1
    prepared = toys.write_data(tmp_path / "prepared", X, y, n_train_published=120)
    logistic = {"scaling": "mean", "intercept": "none", "classes": "one_vs_rest", "n_folds": 2}
    logistic["penalties"] = [1e-3, 1e-1]
    changes = {
        "methods": [{"method": "rff"}, {"method": "lsrff"}],
        "learners": {"ridge": RIDGE, "svm": SVM | {"solver": "newton"}, "logistic": logistic, "l1_svm": SVM_OF_ROWS},
        "search": {"method": {"method": "rff"}, "penalty": {"tune_per": "size"}},
    }
    expected, _ = run(prepared, tmp_path / "arrays", **changes)
    tensors = []

    def placed(phi, array):
        tensors.append(torch.from_numpy(np.ascontiguousarray(array)))
        return tensors[-1]

    monkeypatch.setattr(grid, "placed", placed)
    found, _ = run(prepared, tmp_path / "tensors", **changes)
    assert tensors
    assert found["value"].notna().all()
    np.testing.assert_allclose(found["value"], expected["value"], atol=2.0)  # two of 120 rows, in percent
    assert [*found["learner"]] == [*expected["learner"]]
