"""The stages generate and train on made data: maps that need targets, that have an estimate of their own, or no map."""

import itertools
import json

import numpy as np
import pytest

from rfstudy import tidy
from rfstudy.data.split import fold_of_row
from rfstudy.data.target import make_target
from rfstudy.kernels import Gaussian
from rfstudy.learners.entry import load
from rfstudy.maps.registry import REGISTRY
from rfstudy.metrics import approximation_error
from rfstudy.study import generate, spec, train, tune
from rfstudy.study.cells import Cell, cell_map, cells_of, code_of, conditions_of
from rfstudy.study.code import PACKAGE
from rfstudy.study.journal import Journal
from rfstudy.study.sample import draw_sample, load_prepared

N_TRAIN, D, LENGTH_SCALE = 40, 5, 2.0
ROOT = PACKAGE.parents[1]


def entry(method, **options):
    known = REGISTRY[method]
    return {"method": method, "variant": "", "options": options, "map": f"{known.module}.{known.class_name}"}


@pytest.fixture
def prepared(tmp_path):
    rng = np.random.default_rng(0)
    folder = tmp_path / "prepared"
    folder.mkdir()
    X = rng.normal(size=(2 * N_TRAIN, D)).astype(np.float32)
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", np.where(X[:, 0] + 0.1 * rng.normal(size=len(X)) > 0, 1, -1))
    facts = {"status": "ok", "stand_in": "made", "d": D, "n_train_published": N_TRAIN, "split": "published",
             "sha256": "0"}  # fmt: skip
    (folder / "facts.json").write_text(json.dumps(facts))
    return folder


def stages(prepared, tmp_path, *methods):
    """Rows of both stages at s = 2d and 16d, the latter more than there are training rows."""
    common = {
        "preset": "quick", "paper": "survey", "experiment": "e", "protocol": "text", "dataset": "eeg",
        "kernel": "gaussian", "preprocess": ["none"], "length_scale": None, "max_rows": None, "seed": 0,
        "device": "cpu", "methods": list(methods), "sizes": {"multiples_of_d": [2, 16]},
    }  # fmt: skip
    generate_spec = common | {"repeats": [0], "approximation": {"norm": "frobenius", "rows": 30}, "timing_runs": 1}
    learners = {
        "ridge": {"scaling": "mean", "center": "targets", "penalties": [0.01], "n_folds": 2},
        "svm": {"loss": "squared_hinge", "intercept": "none", "solver": "auto", "C": [1.0], "n_folds": 2},
    }
    train_spec = common | {"repeats": {"ridge": [0], "svm": [0]}, "learners": learners, "tuning": "shared"}
    shared = {"2d": 0.01, "16d": 0.01}
    tuned = {"length_scale": LENGTH_SCALE, "penalties": {"ridge": shared, "svm": shared}}
    arrays, journal = tmp_path / "arrays.npz", tmp_path / "journal"
    generate.run(generate_spec, prepared, tuned, journal, tmp_path / "g.csv", arrays, 1)
    train.run(train_spec, prepared, tuned, arrays, journal, tmp_path / "t.csv", 1)
    return generate_spec, tidy.read(tmp_path / "g.csv"), tidy.read(tmp_path / "t.csv")


def test_maps_that_learn_from_targets_or_rows_are_trained(prepared, tmp_path):
    methods = ("slsrff", "karff", "kprff", "ses", "nystroem")
    _, errors, accuracies = stages(prepared, tmp_path, *map(entry, methods))
    for rows, count in ((errors, 2), (accuracies, 4)):  # error and time; accuracy and time of two learners
        assert rows["status"].eq("ok").all()
        assert rows.groupby("method").size().to_dict() == dict.fromkeys(methods, 2 * count)
    told = [json.loads(text) for text in accuracies["settings"]]
    assert {(settings["shared_by"], *settings["chosen_on"]) for settings in told} == {("size", 0)}
    # every row is a landmark, and the kernel matrix of 40 rows is exact up to float32
    exact = errors[errors["method"].eq("nystroem") & errors["n_features_label"].eq("16d")].set_index("metric")
    assert exact.loc["approximation_error_frobenius", "n_columns"] <= N_TRAIN
    assert exact.loc["approximation_error_frobenius", "value"] < 1e-4


def test_the_error_is_that_of_the_maps_own_estimate_where_it_has_one(prepared, tmp_path):
    made, errors, _ = stages(prepared, tmp_path, entry("ssr", weights="signed"))
    row = errors[errors["metric"].eq("approximation_error_frobenius") & errors["n_features_label"].eq("2d")].iloc[0]
    assert json.loads(row["settings"])["estimate"] == "approximate_kernel"
    loaded = load_prepared(prepared)
    sample = draw_sample(loaded, made, 0)
    cell = cells_of(made, D, [0])[0]
    phi = cell_map(made, cell, LENGTH_SCALE).fit(sample.X_train)
    rows = generate.approximation_rows(made, cell, N_TRAIN)
    exact = Gaussian(LENGTH_SCALE)(sample.X_train[rows].astype(np.float64))
    Z = phi.transform(sample.X_train[rows]).astype(np.float64)
    own = approximation_error(exact, phi.approximate_kernel(sample.X_train[rows]).astype(np.float64), "frobenius")
    assert row["value"] == pytest.approx(own, rel=1e-6)
    assert row["value"] != pytest.approx(approximation_error(exact, Z @ Z.T, "frobenius"), rel=1e-3)


def test_a_map_that_does_not_exist_for_the_data_is_skipped_with_its_reason(prepared, tmp_path):
    _, errors, accuracies = stages(prepared, tmp_path, entry("rff"), entry("sgq", node="sqrt_3"))
    for rows, count in ((errors, 2), (accuracies, 2)):
        left_out = rows[rows["method"] == "sgq"]
        assert len(left_out) == 2 * count
        assert left_out["status"].eq("skipped").all()
        assert left_out["value"].isna().all()
        assert left_out["settings"].str.contains("no real features for 5 columns").all()
        assert rows.loc[rows["method"] == "rff", "status"].eq("ok").all()


def test_a_system_without_a_solution_is_a_failure_with_its_reason(prepared, tmp_path, monkeypatch):
    def fail(*arguments):
        raise np.linalg.LinAlgError("singular matrix")

    monkeypatch.setattr(generate, "cell_map", fail)
    _, errors, accuracies = stages(prepared, tmp_path, entry("rff"))
    for rows in (errors, accuracies):
        assert rows["status"].eq("failed").all()
        assert rows["settings"].str.contains("singular matrix").all()


def test_an_option_that_does_not_exist_is_no_row_but_an_error(prepared, tmp_path):
    with pytest.raises(ValueError, match="mode must be one of"):
        stages(prepared, tmp_path, entry("slsrff", mode="resample"))


def test_every_map_for_the_gaussian_kernel_is_in_the_surveys_experiments():
    experiments = spec.load_experiments(ROOT / "config")
    names = ("survey-gaussian-text", "survey-gaussian-others")
    listed = [e["method"] for name in names for e in experiments[name]["methods"]]
    assert sorted(listed) == sorted(name for name, known in REGISTRY.items() if "gaussian" in known.kernels)


def test_the_key_of_a_cell_has_the_code_of_the_learner_that_it_trains():
    digests = {code_of("train", cell_of(), learner) for learner in ("ridge", "svm", "")}
    assert len(digests) == 3


def test_a_cell_is_named_after_its_variant():
    assert Cell(entry("rff") | {"variant": "phase"}, 10, "2d", 3).name == "rff-phase/2d/3"


RIDGE = {"scaling": "mean", "center": "none", "penalties": [0.1, 1.0], "n_folds": 5}
CONDITIONS_SPEC = {"preprocess": ["minmax"], "length_scale": None, "learners": {"ridge": RIDGE}, "tuning": "shared"}


def cell_of(**own):
    return Cell(entry("rff") | own, 10, "2d", 0)


def test_conditions_are_the_entrys_then_the_methods_then_everyones():
    everyones = {"length_scale": 2.0, "penalties": {"ridge": {"2d": 0.1}}}
    methods = {"methods": {"rff": {"2d": {"length_scale": 3.0, "preprocess": ["unit"], "penalties": {"ridge": 1.0}}}}}
    given = conditions_of(CONDITIONS_SPEC, everyones, cell_of(), "ridge")
    assert (given.preprocess, given.length_scale, given.penalty) == (["minmax"], 2.0, 0.1)
    given = conditions_of(CONDITIONS_SPEC, methods, cell_of(), "ridge")
    assert (given.preprocess, given.length_scale, given.penalty) == (["unit"], 3.0, 1.0)
    own = cell_of(preprocess=["center"], length_scale=4.0, learners={"ridge": {"center": "both"}})
    given = conditions_of(CONDITIONS_SPEC, methods, own, "ridge")
    assert (given.preprocess, given.length_scale, given.learner["center"]) == (["center"], 4.0, "both")
    fixed = conditions_of(CONDITIONS_SPEC | {"length_scale": 5.0, "tuning": "per_cell"}, {}, cell_of(), "ridge")
    assert (fixed.length_scale, fixed.penalty, fixed.learner) == (5.0, None, RIDGE)


def test_the_number_of_folds_decides_nothing_where_the_penalty_is_given():
    tuned = {"length_scale": 2.0, "penalties": {"ridge": {"2d": 0.1}}}
    assert "n_folds" not in conditions_of(CONDITIONS_SPEC, tuned, cell_of(), "ridge").learner


def test_each_method_is_tuned_at_every_size_by_itself(prepared, tmp_path):
    """The best of the grid by the same scores, computed here one by one."""
    rule = {"rule": "each_method", "grid": [0.5, 2.0], "preprocess": [["none"], ["standard_rows"]]}
    made = {
        **CONDITIONS_SPEC, "dataset": "eeg", "kernel": "gaussian", "seed": 0, "device": "cpu", "max_rows": None,
        "bandwidth": rule, "methods": [entry("rff"), entry("slsrff")], "max_tuning_rows": 1000,
        "share_penalties": True, "sizes": {"multiples_of_d": [1, 2]},
    }  # fmt: skip
    choices = tune.tune(made, load_prepared(prepared), Journal(tmp_path / "journal"))["methods"]
    assert set(choices) == {"rff", "slsrff"}
    assert set(choices["rff"]) == {"d", "2d"}
    for preprocess, length_scale in itertools.product(rule["preprocess"], rule["grid"]):
        sample = draw_sample(load_prepared(prepared), made | {"preprocess": preprocess}, 0)
        phi = cell_map(made, Cell(entry("slsrff"), 2 * D, "2d", 0), length_scale).fit(sample.X_train, sample.y_train)
        folds = fold_of_row(N_TRAIN, 5, 0, "tune")
        target = make_target("binary")
        scores = tune.cross_validate(load("ridge"), RIDGE, phi, sample.X_train, sample.y_train, folds, target)
        scores = scores.mean(axis=1)
        chosen = choices["slsrff"]["2d"]
        assert chosen["score"] >= scores.max() - 1e-9
        if (chosen["preprocess"], chosen["length_scale"]) == (preprocess, length_scale):
            np.testing.assert_allclose(chosen["score"], scores.max())
            assert chosen["penalties"]["ridge"] in np.array(RIDGE["penalties"])[scores >= scores.max() - 1e-9]
