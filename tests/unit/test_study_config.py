"""From files to settings and experiments: merging and checking."""

import re

import pytest

from random_features.errors import UserError
from rfstudy.study import config
from rfstudy.study.code import SOURCE

CONFIG = SOURCE.parent / "config"


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
            "title: A grid\n  split: {without: [3]}",
            r"base\.split\.without: stands in the split of an entry or a step alone",
        ),
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
