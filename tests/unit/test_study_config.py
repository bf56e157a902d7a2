"""From files to the experiments of a run: merging, checking, selecting."""

import copy
import importlib.util
import re
from pathlib import Path

import pytest

from rfstudy.errors import UserError
from rfstudy.study import config, plan
from rfstudy.study.code import PACKAGE

specification = importlib.util.spec_from_file_location("study_toys", Path(__file__).parent / "study_toys.py")
toys = importlib.util.module_from_spec(specification)
specification.loader.exec_module(toys)
selected, SETTINGS, EXPERIMENT = toys.selected, toys.SETTINGS, toys.EXPERIMENT

CONFIG = PACKAGE.parents[1] / "config"


def folder_with(tmp_path, **files):
    """A folder of configuration with these experiments by file and the schemas of the repository."""
    (tmp_path / "experiments").mkdir()
    (tmp_path / "schemas").symlink_to(CONFIG / "schemas")
    for name, text in files.items():
        (tmp_path / "experiments" / f"{name}.yaml").write_text(text)
    return tmp_path


BASE = """
base:
  title: A grid
  paper: survey
  kind: grid
  protocol: text
  kernel: {name: gaussian}
  datasets: {eeg: {preprocess: [minmax]}, skin: {preprocess: [standard]}}
  methods: [{method: rff}, {method: orf}]
  sizes: {multiples_of_d: [2]}
  approximation: {norm: frobenius, rows: 10}
  learners:
    ridge: {scaling: mean, center: none, penalties: [1], n_folds: 5}
    svm: {loss: hinge, intercept: none, C: [1], n_folds: 5}
"""


def test_extends_merges_mappings_replaces_lists_and_removes_nulls(tmp_path):
    child = """
child:
  extends: base
  datasets: {eeg: null, skin: {largest_multiple_of_d: 4}}
  learners: {ridge: {scaling: sum}, svm: null}
  methods: [{method: ssf}]
"""
    experiments = config.load_experiments(folder_with(tmp_path, a=BASE, b=child))
    found = experiments["child"]
    assert found["learners"] == {"ridge": {"scaling": "sum", "center": "none", "penalties": [1], "n_folds": 5}}
    assert found["methods"] == [{"method": "ssf"}]
    assert found["datasets"] == {"skin": {"preprocess": ["standard"], "largest_multiple_of_d": 4}}
    assert list(experiments["base"]["datasets"]) == ["eeg", "skin"]
    assert found["name"] == "child"


def test_a_preset_runs_less_of_an_experiment_and_not_of_those_that_extend_it(tmp_path):
    folder = folder_with(tmp_path, a=BASE, b="child: {extends: base}\n")
    everything = config.load_experiments(folder, {"eeg", "skin"})
    less = {"base": {"datasets": {"eeg": None}, "sizes": {"multiples_of_d": [4]}, "repeats": 1}}
    experiments = config.laid_over(everything, less, folder, {"eeg", "skin"})
    assert experiments["base"]["datasets"] == {"skin": {"preprocess": ["standard"]}}
    assert (experiments["base"]["sizes"], experiments["base"]["repeats"]) == ({"multiples_of_d": [4]}, 1)
    assert experiments["child"] == everything["child"]
    assert everything == config.load_experiments(folder, {"eeg", "skin"})
    for overlays, message in (
        ({"bas": {}}, "experiments names the experiment bas; did you mean base?"),
        ({"base": {"size": {}}}, "experiments.base.size: not a key here; did you mean sizes?"),
        ({"base": {"methods": [{"method": "rf"}]}}, "experiments.base.methods[0].method: there is no method 'rf'"),
    ):
        with pytest.raises(config.ConfigurationError, match=re.escape(message)):
            config.laid_over(everything, overlays, folder)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: {extends: b}\nb: {extends: a}\n", "in a circle: a -> b -> a"),
        ("a: {extends: c}\n", "'a' extends 'c', which does not exist"),
        ("a: [1\n", "a.yaml"),
        (
            "a: {title: x, kind: gird}\n",
            r"a\.yaml: a\.kind: there is no 'gird'; did you mean grid\? known are controls",
        ),
        ("a: {title: x}\n", r"a\.yaml: a: the key 'kind' is missing; known are controls, .*grid"),
        ("a: {title: x, title: y}\n", r"a\.yaml: line 1: the key 'title' is given twice, first in line 1"),
        ("[a, b]\n", r"a\.yaml: must be a mapping from keys to values, not a list"),
        ("a: [1]\n", r"a\.yaml: a: must be a mapping from keys to values, not \[1\]"),
        ("a_b: {title: x}\n", r"a\.yaml: a_b: the name of an experiment has lower-case letters"),
    ],
)
def test_broken_experiments_are_named(tmp_path, text, message):
    with pytest.raises(UserError, match=message):
        config.load_experiments(folder_with(tmp_path, a=text))


def test_an_experiment_that_is_defined_twice_is_named(tmp_path):
    with pytest.raises(config.ConfigurationError, match=r"'base' is defined twice, the second time in b\.yaml"):
        config.load_experiments(folder_with(tmp_path, a=BASE, b=BASE))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "n_folds: 5}\n    svm",
            "folds: 5}\n    svm",
            r"a\.yaml: base\.learners\.ridge\.folds: .*did you mean n_folds",
        ),
        (
            "svm:",
            "svn:",
            r"base\.learners\.svn: not a key here; did you mean svm\? known are l1_svm, logistic, ridge, svm",
        ),
        ("C: [1]", "C: [0]", r"base\.learners\.svm\.C\[0\]: 0 is less than or equal to the minimum"),
        ("rows: 10", "rows: 1", r"base\.approximation\.rows: 1 is less than the minimum of 2"),
        ("{method: orf}", "{methd: orf}", r"base\.methods\[1\].*methd: not a key here; did you mean method"),
        ("  sizes:", "  draws: 3\n  sizes:", r"base\.draws: not a key here"),  # a key of another kind
        ("  paper: survey\n", "", r"base: 'paper' is a required property"),
        ("  sizes: {multiples_of_d: [2]}\n", "", r"base: 'sizes' is a required property"),
        ("{name: gaussian}", "{name: gausian}", r"base\.kernel\.name: there is no 'gausian'; did you mean gaussian\?"),
        ("{name: gaussian}", "{name: linear, length_scale: 1}", r"base\.kernel\.length_scale: not a key here"),
        (
            "title: A grid",
            "title: A grid\n  bandwidth: {rule: medain}",
            r"bandwidth\.rule: there is no 'medain'; did y",
        ),
        ("title: A grid", "title: A grid\n  bandwidth: {rule: neighbour}", r"base\.bandwidth: 'k' is a required"),
        ("title: A grid", "title: A grid\n  bandwidth: {rule: median, k: 3}", r"base\.bandwidth\.k: not a key here"),
        (
            "title: A grid",
            "title: A grid\n  search: {shared_by: methods}",
            r"base\.search\.shared_by: 'methods' is not",
        ),
    ],
)
def test_a_wrong_key_or_value_is_named_by_file_experiment_and_place(tmp_path, old, new, message):
    assert BASE.count(old) == 1
    with pytest.raises(config.ConfigurationError, match=message):
        config.load_experiments(folder_with(tmp_path, a=BASE.replace(old, new)))


def test_all_that_is_wrong_is_told_at_once(tmp_path):
    wrong = BASE.replace("rows: 10", "rows: 1").replace("C: [1]", "C: [0]")
    with pytest.raises(config.ConfigurationError) as error:
        config.load_experiments(folder_with(tmp_path, a=wrong))
    assert len(str(error.value).splitlines()) == 2


def test_the_repositorys_experiments_pass_and_plan_under_every_preset():
    experiments = config.load_experiments(CONFIG)
    for preset in (path.stem for path in (CONFIG / "presets").glob("*.yaml")):
        settings = config.load_settings(config.read_yaml(CONFIG / "config.yaml") | {"preset": preset}, CONFIG)
        datasets = set().union(*map(config.datasets_named, experiments.values()))
        chosen = config.select(experiments, settings, toys.MAPS, datasets)
        # all sizes of this one are above the largest of the quick preset
        assert set(experiments) - set(chosen) == ({"slsrff-code-large"} if preset == "quick" else set())
        for experiment in chosen.values():
            for stage in plan.stages_of(experiment):
                assert all(plan.parts_of(stage, experiment, s, settings) for s in plan.shards(experiment, settings))
            for shard in plan.tune_shards(experiment, settings):
                assert plan.parts_of("tune", experiment, shard, settings)
            for shard in plan.time_shards(experiment, settings):
                assert plan.parts_of("time", experiment, shard, settings)


def test_settings_are_the_preset_under_what_the_user_gives(tmp_path):
    (tmp_path / "presets").mkdir()
    (tmp_path / "presets" / "tiny.yaml").write_text(
        "preset: tiny\nrepeats: 3\nmax_rows: 10\nlearners: {svm: {repeats: 2, solver: newton}}\n"
    )
    general = {"only_experiments": [], "only_datasets": "eeg, skin", "only_methods": [], "only_sizes": []}
    # as they come from a command line: a number alone is one, what is inside a mapping a text
    given = {
        "preset": "tiny", "repeats": 5, "allow_missing": "true", "max_rows": "null",
        "learners": {"svm": {"repeats": "1", "max_entries": "1e6", "scale": "1.0e+6"}}, **general,
    }  # fmt: skip
    settings = config.load_settings(given, tmp_path)
    assert settings["repeats"] == 5
    assert settings["allow_missing"] is True
    assert settings["max_rows"] is None
    assert settings["only_datasets"] == ["eeg", "skin"]
    assert settings["learners"] == {
        "svm": {"repeats": 1, "solver": "newton", "max_entries": 1e6, "scale": 1e6},
    }
    with pytest.raises(config.ConfigurationError, match="preset: there is no 'large'; known are tiny"):
        config.load_settings({"preset": "large"}, tmp_path)


WRONG = "[none, {pca: {n_componets: 3}}]"


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("  paper: survey", f"  paper: survey\n  preprocess: {WRONG}", ".preprocess"),
        ("[minmax]", WRONG, ".datasets.eeg.preprocess"),
        ("{method: orf}", f"{{method: orf, preprocess: {WRONG}}}", ".methods[1].preprocess"),
        (
            "{method: rff}",
            f"{{method: rff, datasets: {{skin: {{preprocess: {WRONG}}}}}}}",
            ".methods[0].datasets.skin.preprocess",
        ),
        ("  paper: survey", f"  paper: survey\n  steps: [{{name: a, preprocess: {WRONG}}}]", ".steps[0].preprocess"),
        (
            "  paper: survey",
            f"  paper: survey\n  search: {{preprocess: {{grid: [[none], {WRONG}], shared_by: cell}}}}",
            ".search.preprocess",
        ),
    ],
)
def test_a_wrong_step_is_named_wherever_it_stands(tmp_path, old, new, place):
    assert BASE.count(old) == 1
    with pytest.raises(config.ConfigurationError) as error:
        config.load_experiments(folder_with(tmp_path, a=BASE.replace(old, new)))
    line, missing = str(error.value).splitlines()
    assert missing.endswith("needs the parameter 'n_components'")
    assert f"a.yaml: base{place}: the preprocessing step 'pca' has no parameter 'n_componets'; it takes n_comp" in line


def test_only_keeps_what_it_names():
    toy = {
        "datasets": {"eeg": {}, "skin": {}, "made": None},
        "methods": [{"method": "rff"}, {"method": "ssf"}],
    }
    found = selected({"only_datasets": ["skin"], "only_methods": ["ssf"]}, **toy)
    assert list(found["datasets"]) == ["skin"]
    assert [entry["method"] for entry in found["methods"]] == ["ssf"]
    assert selected({"only_experiments": ["toy"]}, **toy)["name"] == "toy"
    experiments = {"toy": copy.deepcopy(EXPERIMENT), "other": copy.deepcopy(EXPERIMENT) | {"name": "other"}}
    assert list(config.select(experiments, SETTINGS | {"only_experiments": ["other"]}, toys.MAPS, {"made"})) == [
        "other"
    ]
    assert config.select(experiments, SETTINGS | {"only_datasets": ["eeg"]}, toys.MAPS, {"made", "eeg"}) == {}
    assert config.select(experiments, SETTINGS | {"only_methods": ["orf"]}, toys.MAPS, {"made"}) == {}


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"only_methods": ["rrf"]}, "only_methods names the method rrf; did you mean rff"),
        ({"only_datasets": ["eggs"]}, "only_datasets names the data set eggs; known are made"),
        ({"only_experiments": ["toys"]}, "only_experiments names the experiment toys; did you mean toy"),
        ({"only_sizes": ["5d"]}, "only_sizes names the size 5d; known are 2d"),
    ],
)
def test_an_unknown_id_of_the_settings_is_an_error_that_names_it(setting, message):
    with pytest.raises(config.ConfigurationError, match=message):
        selected(setting)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"methods": [{"method": "rrf"}]}, "names the method rrf; did you mean rff"),
        ({"methods": [{"method": "rff"}, {"method": "rff"}]}, "lists rff twice with the same variant; name variants"),
        ({"options": {"rrf": {}}}, "names the method rrf"),
        ({"search": {"method": {"method": "rrf"}}}, "names the method rrf"),
    ],
)
def test_a_wrong_method_of_an_experiment_is_named(change, message):
    with pytest.raises(config.ConfigurationError, match=f"experiment 'toy' {message}"):
        selected(**change)


def test_a_data_set_that_is_not_registered_is_named():
    for change in ({"datasets": {"eegg": {}}}, {"methods": [{"method": "rff", "datasets": {"eegg": {}}}]}):
        toy = config.merge(EXPERIMENT, change)
        with pytest.raises(config.ConfigurationError, match="names the data set eegg; did you mean eeg"):
            config.select({"toy": toy}, SETTINGS, toys.MAPS, {"made", "eeg"})


def test_methods_walk_the_steps_and_keep_what_they_changed():
    steps = [
        {"name": "start"},
        {"name": "rows", "datasets": {"eeg": {"preprocess": ["standard_rows"]}}},
        {"name": "sum", "learners": {"ridge": {"scaling": "sum"}}},
        {"name": "one", "methods": ["ssf"], "options": {"radii": "single"}},
    ]
    methods = [
        {"method": "rff"},
        {"method": "ssf", "options": {"sweeps": 2}},
        {"method": "rff", "variant": "control"},
    ]
    entries = config.with_steps({"methods": methods, "steps": steps})["methods"]
    assert [(e["method"], e["variant"]) for e in entries] == [
        ("rff", "start"), ("rff", "rows"), ("rff", "sum"),
        ("ssf", "start"), ("ssf", "rows"), ("ssf", "sum"), ("ssf", "one"),
        ("rff", "control"),
    ]  # fmt: skip
    assert entries[0] == {"method": "rff", "variant": "start"}
    assert entries[6] == {
        "method": "ssf", "variant": "one", "options": {"sweeps": 2, "radii": "single"},
        "datasets": {"eeg": {"preprocess": ["standard_rows"]}}, "learners": {"ridge": {"scaling": "sum"}},
    }  # fmt: skip


def test_the_preset_lies_under_the_search_over_the_learners_and_under_the_time():
    preset = {
        "search": {"penalty": {"shared_by": "size"}, "max_rows": 77},
        "learners": {"ridge": {"repeats": 2}, "svm": {"solver": "newton"}},
        "time": SETTINGS["time"] | {"rounds": 5, "threads": 2},
    }
    toy = selected(preset, search={"max_rows": 10, "method": {"method": "rff"}}, time={"rounds": 4})
    assert toy["search"]["penalty"] == {"shared_by": "size"}
    assert toy["search"]["max_rows"] == 10
    assert toy["learners"] == {"ridge": toys.RIDGE | {"repeats": 2}}  # no learner that the experiment does not have
    assert toy["time"] == preset["time"] | {"rounds": 4}
    assert selected(preset, search={"penalty": {"shared_by": "cell"}})["search"]["penalty"] == {"shared_by": "cell"}
    assert "time" not in selected(preset)


THEORY = {
    "name": "theory", "title": "t", "paper": "survey", "protocol": "text", "kind": "decay",
    "kernel": {"name": "gaussian", "length_scale": 1}, "methods": [{"method": "rff"}, {"method": "orf"}],
    "grid": {"dimensions": [4, 8], "rows": 10, "n_features": [8], "norms": ["sup"], "ridge": 0.1},
    "large": {"rows": 100},
}  # fmt: skip


def theory(**settings):
    return config.select({"theory": copy.deepcopy(THEORY)}, SETTINGS | settings, toys.MAPS, {"eeg"})


def test_the_large_grid_is_laid_over_the_small_one():
    assert theory()["theory"]["grid"] == THEORY["grid"]
    assert theory(extent="large")["theory"]["grid"] == THEORY["grid"] | {"rows": 100}


def test_whoever_asks_for_data_sets_does_not_ask_for_an_experiment_without_any():
    assert theory(only_datasets=["eeg"]) == {}
    assert [m["method"] for m in theory(only_methods=["orf"])["theory"]["methods"]] == ["orf"]


def test_sizes_that_were_asked_for_up_to_the_largest_multiple():
    of = {"sizes": {"multiples_of_d": [2, 4], "values": [1000]}}
    assert selected({"only_sizes": ["4d"]}, **of)["sizes"] == {"multiples_of_d": [4], "values": []}
    # a limit on multiples of d says nothing of other sizes
    assert selected({"largest_multiple_of_d": 2}, **of)["sizes"] == {"multiples_of_d": [2], "values": [1000]}
    assert selected({"largest_multiple_of_d": 1}, sizes={"multiples_of_d": [2, 4]}) == {}


def test_what_a_run_asks_for_holds_for_the_sizes_of_a_data_set_too():
    own = {"datasets": {"made": {"sizes": {"multiples_of_d": [2, 8]}}}, "sizes": {"multiples_of_d": [2, 4]}}

    def on_made(**settings):
        return plan.on_dataset(selected(settings, **own), "made")["sizes"]

    assert on_made() == {"multiples_of_d": [2, 8]}
    assert on_made(largest_multiple_of_d=4) == {"multiples_of_d": [2]}
    assert on_made(only_sizes=["8d"]) == {"multiples_of_d": [8]}
