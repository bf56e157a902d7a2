"""The stages on a regression: what is chosen, fitted and reported, against the normal equations written out."""

import json

import numpy as np
import pytest

from rfstudy import tidy
from rfstudy.data.split import fold_of_row
from rfstudy.study import generate, train, tune
from rfstudy.study.cells import cell_map, cells_of
from rfstudy.study.journal import Journal
from rfstudy.study.sample import draw_sample, load_prepared

N_TRAIN, D, LENGTH_SCALE = 60, 3, 1.5
PENALTIES = [1e-6, 1e-3, 0.1, 10.0]
RIDGE = {"scaling": "mean", "center": "targets", "penalties": PENALTIES, "n_folds": 4}

SPEC = {
    "preset": "quick", "paper": "eerf", "experiment": "e", "protocol": "text", "dataset": "made", "kernel": "gaussian",
    "preprocess": ["none"], "length_scale": LENGTH_SCALE, "max_rows": None, "seed": 0, "device": "cpu",
    "methods": [{"method": "rff", "variant": "", "options": {}, "map": "montecarlo.RandomFourier"}],
    "sizes": {"multiples_of_d": [4]},
}  # fmt: skip


@pytest.fixture
def prepared(tmp_path):
    """A target that is a smooth function of the data, far from zero, with some noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2 * N_TRAIN, D)).astype(np.float32)
    folder = tmp_path / "prepared"
    folder.mkdir()
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", 5 + np.sin(X[:, 0]) + 0.3 * X[:, 1] + 0.1 * rng.normal(size=len(X)))
    facts = {"status": "ok", "stand_in": "made", "d": D, "n_train_published": N_TRAIN, "split": "published",
             "sha256": "0", "target": "regression"}  # fmt: skip
    (folder / "facts.json").write_text(json.dumps(facts))
    return folder


def run(prepared, tmp_path, learners=None, **changes):
    spec = SPEC | changes
    arrays = tmp_path / "arrays.npz"
    errors = {"repeats": [0], "approximation": {"norm": "frobenius", "rows": 30}, "timing_runs": 1}
    generate.run(spec | errors, prepared, {}, tmp_path / "journal", tmp_path / "g.csv", arrays, 1)
    learners = learners or {"ridge": RIDGE}
    trained = {"repeats": {name: [0] for name in learners}, "learners": learners, "tuning": "per_cell"}
    train.run(spec | trained, prepared, {}, arrays, tmp_path / "journal", tmp_path / "t.csv", 1)
    return tidy.read(tmp_path / "t.csv")


def features(prepared):
    """Features and targets of the training and of the test rows, in float64."""
    sample = draw_sample(load_prepared(prepared), SPEC, 0)
    phi = cell_map(SPEC, cells_of(SPEC, D, [0])[0], LENGTH_SCALE).fit(sample.X_train)
    training, test = (phi.transform(X).astype(np.float64) for X in (sample.X_train, sample.X_test))
    return training, sample.y_train, test, sample.y_test


def predicted(Z, y, penalty, new):
    """Ridge regression on centred targets."""
    coef = np.linalg.solve(Z.T @ Z + len(Z) * penalty * np.eye(Z.shape[1]), Z.T @ (y - y.mean()))
    return new @ coef + y.mean()


def squared_errors_by_penalty(Z, y, folds):
    """Mean over the folds of the mean squared error of the held-out rows."""
    return [
        np.mean(
            [
                np.mean(
                    (y[folds == fold] - predicted(Z[folds != fold], y[folds != fold], penalty, Z[folds == fold])) ** 2
                )
                for fold in range(RIDGE["n_folds"])
            ]
        )
        for penalty in PENALTIES
    ]


def test_a_regression_is_chosen_by_its_squared_error_and_reported_by_three_measures(prepared, tmp_path):
    rows = run(prepared, tmp_path).set_index("metric")
    Z, y, Z_test, y_test = features(prepared)
    errors = squared_errors_by_penalty(Z, y, fold_of_row(N_TRAIN, 4, 0, "train", 0))
    penalty = PENALTIES[int(np.argmin(errors))]
    assert penalty not in (PENALTIES[0], PENALTIES[-1])  # else a choice by the largest error would pass
    difference = y_test - predicted(Z, y, penalty, Z_test)
    expected = {
        "mse": np.mean(difference**2),
        "rmse": np.sqrt(np.mean(difference**2)),
        "relative_error": np.sqrt((difference**2).sum() / (y_test**2).sum()),
    }
    measured = rows.drop(index="time_train_s")
    assert measured["value"].to_dict() == pytest.approx(expected, rel=1e-5)  # features in float32
    assert expected["rmse"] < 0.6 * y_test.std()  # something was learned
    assert measured["split"].eq("test").all()
    assert measured["status"].eq("ok").all()
    for settings in map(json.loads, rows["settings"]):
        assert (settings["penalty"], settings["solver"]) == (penalty, "primal")


def test_the_bandwidth_of_a_regression_is_the_one_with_the_smallest_error(prepared, tmp_path):
    rule = {"rule": "cross_validated", "grid": [0.05, 1.5, 50.0], "multiple_of_d": 4}
    made = SPEC | {"bandwidth": rule, "max_tuning_rows": 1000, "learners": {"ridge": RIDGE}, "share_penalties": True}
    choices = tune.tune(made, load_prepared(prepared), Journal(tmp_path / "journal"))
    sample = draw_sample(load_prepared(prepared), SPEC, 0)
    errors = {}
    for length_scale in rule["grid"]:
        phi = cell_map(SPEC, cells_of(SPEC, D, [0])[0], length_scale).fit(sample.X_train)
        Z = phi.transform(sample.X_train).astype(np.float64)
        errors[length_scale] = squared_errors_by_penalty(Z, sample.y_train, fold_of_row(N_TRAIN, 4, 0, "tune"))
        np.testing.assert_allclose(choices["bandwidth_scores"][str(length_scale)], errors[length_scale], rtol=1e-4)
    best = min(errors, key=lambda length_scale: min(errors[length_scale]))
    assert choices["length_scale"] == best == 1.5
    assert choices["penalties"]["ridge"]["4d"] == PENALTIES[int(np.argmin(errors[best]))]


def test_every_method_of_a_regression_is_tuned_to_the_smallest_error(prepared, tmp_path):
    rule = {"rule": "each_method", "grid": [0.05, 1.5, 50.0], "preprocess": [["none"], ["standard_rows"]]}
    made = SPEC | {"bandwidth": rule, "max_tuning_rows": 1000, "learners": {"ridge": RIDGE}, "share_penalties": True}
    chosen = tune.tune(made, load_prepared(prepared), Journal(tmp_path / "journal"))["methods"]["rff"]["4d"]
    assert (chosen["length_scale"], chosen["preprocess"]) == (1.5, ["none"])
    sample = draw_sample(load_prepared(prepared), SPEC, 0)
    Z = cell_map(SPEC, cells_of(SPEC, D, [0])[0], 1.5).fit(sample.X_train).transform(sample.X_train).astype(np.float64)
    errors = squared_errors_by_penalty(Z, sample.y_train, fold_of_row(N_TRAIN, 4, 0, "tune"))
    assert chosen["score"] == pytest.approx(min(errors), rel=1e-4)
    assert chosen["penalties"]["ridge"] == PENALTIES[int(np.argmin(errors))]


def test_a_penalty_that_was_raised_is_in_the_settings(prepared, tmp_path, monkeypatch):
    monkeypatch.setattr(train, "choose", lambda *arguments: 1e-300)
    learners = {"ridge": RIDGE | {"scaling": "sum", "penalties": [1e-300, 1e-3, 1.0]}}
    # more features than a constant map can fill: all columns are the same
    rows = run(prepared, tmp_path, learners, length_scale=1e12)
    measured = rows[rows["metric"].eq("mse")].iloc[0]
    settings = json.loads(measured["settings"])
    assert (settings["singular_at"], settings["penalty"]) == (1e-300, 1e-3)


def test_the_code_of_the_learner_is_in_the_key_of_what_it_computes(prepared, tmp_path, monkeypatch):
    digested = []
    monkeypatch.setattr("rfstudy.study.code.digest", lambda *modules: str(digested.append(modules)))
    run(prepared, tmp_path)
    assert digested == [("study.generate", "maps.montecarlo"), ("study.train", "maps.montecarlo", "learners.ridge")]
    digested.clear()
    rule = {"rule": "cross_validated", "grid": [1.5], "multiple_of_d": 4}
    made = SPEC | {"bandwidth": rule, "max_tuning_rows": 1000, "learners": {"ridge": RIDGE}, "share_penalties": False}
    tune.tune(made, load_prepared(prepared), Journal(tmp_path / "journal"))
    assert digested == [("study.tune", "maps.montecarlo", "learners.ridge")]


def test_a_learner_that_is_left_out_has_a_row_for_every_metric(prepared, tmp_path):
    svm = {"loss": "squared_hinge", "intercept": "none", "solver": "auto", "C": [1.0], "n_folds": 2, "max_entries": 100}
    rows = run(prepared, tmp_path, {"svm": svm})
    assert rows["metric"].tolist() == ["mse", "rmse", "relative_error"]
    assert rows["status"].eq("skipped").all()
    assert rows["value"].isna().all()
    reason = f"{N_TRAIN} rows x {2 * 4 * D} columns are over the max_entries that the preset allows"
    assert {json.loads(settings)["reason"] for settings in rows["settings"]} == {reason}


def test_a_learner_that_does_not_serve_the_target_is_an_error(prepared, tmp_path):
    svm = {"loss": "squared_hinge", "intercept": "none", "solver": "auto", "C": [1.0], "n_folds": 2}
    with pytest.raises(ValueError, match="not by 'mse'"):
        run(prepared, tmp_path, {"svm": svm})


def test_a_missing_source_leaves_a_row_for_every_metric(prepared, tmp_path):
    facts = json.loads((prepared / "facts.json").read_text()) | {"status": "skipped", "reason": "not to be had"}
    (prepared / "facts.json").write_text(json.dumps(facts))
    rows = run(prepared, tmp_path)
    assert rows["metric"].tolist() == ["mse", "rmse", "relative_error"]
    assert rows["status"].eq("skipped").all()
