"""What configuration and engine promise to kinds, learners and kernels that they do not know."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from random_features.learners.entry import load
from random_features.maps.registry import REGISTRY
from rfstudy import tidy
from rfstudy.data.prepared import write_facts
from rfstudy.study import config, measure, plan, selection
from rfstudy.study.engine import Cell, Job, cell_key
from rfstudy.study.journal import Journal

CONFIG = Path(__file__).resolve().parents[2] / "config"
EXPERIMENTS = config.load_experiments(CONFIG)
SPEC = {
    "preset": "quick", "paper": "study", "experiment": "toy", "protocol": "text", "kind": "decay", "dataset": "made",
    "kernel": {"name": "gaussian"}, "seed": 1, "device": "cpu", "methods": [], "repeats": [0],
    "preprocess": ["minmax"], "bandwidth": {"rule": "median"}, "max_rows": None,
}  # fmt: skip


def key(cell: Cell, **changes) -> str:
    return cell_key(Job("measure", SPEC | changes, Journal("unused"), None), cell)


def test_what_a_cell_is_given_counts_in_place_of_the_specification():
    bare, own = Cell({}, {"repeat": 0}), Cell({}, {"repeat": 0}, {"preprocess": ["standard"], "bandwidth": None})
    assert key(bare) != key(bare, preprocess=["standard"])
    assert key(bare) != key(bare, bandwidth={"rule": "median", "rows": 5})
    assert key(own) == key(own, preprocess=["none"], bandwidth={"rule": "median", "rows": 5})
    assert key(own) != key(replace(own, given=own.given | {"preprocess": ["minmax"]}))
    assert key(bare) == key(bare, experiment="another", repeats=[0, 1], learners={"ridge": {}})


def test_a_cell_without_a_map_has_a_name_without_one():
    assert Cell({}, {"n_features": [4, 8], "repeat": 0}).name == "4+8/0"
    assert Cell({"method": "rff", "variant": "x"}, {"repeat": 0}).name == "rff-x/0"


def test_tune_runs_the_code_of_the_methods_that_it_chooses_for_and_of_no_others():
    settings = config.load_settings(yaml.safe_load((CONFIG / "config.yaml").read_text("utf-8")), CONFIG)
    maps = {name: entry.module for name, entry in REGISTRY.items()}
    datasets = {name for experiment in EXPERIMENTS.values() for name in experiment.get("datasets", {})}
    chosen = selection.select(EXPERIMENTS, settings, maps, datasets)
    of_survey = {"montecarlo", "structured", "quasi", "spherical", "quadrature", "leverage"}  # they share a penalty
    for name, modules in (
        ("survey-gaussian-text", of_survey),
        ("slsrff-tuned", {"montecarlo", "quasi", "leverage", "alignment"}),
    ):
        experiment = chosen[name]
        (shard,) = plan.tune_shards(experiment, settings)
        assert set(plan.methods_in("tune", experiment, shard)) == modules
        assert set(plan.methods_in("generate", experiment, shard)) >= {"montecarlo", "quasi", "leverage"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"smv": {}}, "learners names the learner smv; did you mean svm?"),
        ({"svm": {"solvr": "newton"}}, "learners.svm.solvr: not a key here; did you mean solver?"),
        ({"svm": {"repeats": 0}}, "learners.svm.repeats: 0 is less than the minimum of 1"),
    ],
)
def test_options_of_learners_in_a_preset_are_checked(options, message):
    with pytest.raises(config.ConfigurationError) as error:
        selection.check_learners(options)
    assert str(error.value).startswith(message)


def test_a_learner_leaves_out_targets_that_it_does_not_serve():
    options = {"max_entries": 100}
    assert load("svm").left_out("regression", options, 5, 5) == (
        "the learner serves targets that are binary or classes, not regression"
    )
    assert "max_entries" in load("svm").left_out("binary", options, 50, 5)
    assert load("svm").left_out("binary", options, 5, 5) == ""
    assert load("ridge").left_out("regression", {}, 5, 5) == ""


def test_missing_data_leave_a_row_an_entry_and_metric(tmp_path, monkeypatch):
    facts = {"status": "skipped", "reason": "no such file", "stand_in": "", "sha256": ""}
    write_facts(facts, tmp_path)
    for name in ("X", "y"):
        np.save(tmp_path / f"{name}.npy", np.empty(0))
    # any kind that names its metrics
    monkeypatch.setattr("rfstudy.study.kinds.decay.METRICS", ("one", "two"), raising=False)
    entries = [{"method": "rff", "variant": variant, "options": {}} for variant in ("", "wide")]
    out = tmp_path / "rows.csv"
    measure.run([SPEC | {"methods": entries}], [tmp_path], tmp_path / "journal", out, tmp_path / "rows.npz", 1)
    rows = tidy.read(out)
    assert list(zip(rows["variant"], rows["metric"], strict=True)) == [
        ("", "one"), ("", "two"), ("wide", "one"), ("wide", "two"),
    ]  # fmt: skip
    assert rows["status"].eq("skipped").all()
    assert rows["settings"].str.contains("no such file").all()
