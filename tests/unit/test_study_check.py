"""Mistakes in the configuration are found when the plan is made, each told in one line: file, place, what."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from random_features.errors import UserError, gathered
from random_features.maps.registry import REGISTRY
from rfstudy import outputs
from rfstudy.study import check, config, plan, selection, trial
from rfstudy.study.code import SOURCE

CONFIG = SOURCE.parent / "config"
MAPS = {name: entry.module for name, entry in REGISTRY.items()}
GRID = "multiples_of_d: [2, 4, 8, 16, 32]"
COVTYPE = "covtype: {preprocess: [minmax]}"
LENGTHS = "grid: [0.01, 0.1, 1, 10, 100], shared_by: experiment"


class HereAndNow:
    """In place of the process of its own: what it would answer, without its imports for every case."""

    def __init__(self, *_, **__):
        self.stdin, self.stdout, self.told = self, self, ""

    def write(self, text):
        self.told += text

    def close(self):
        pass

    def read(self):
        import json

        return json.dumps(trial.problems(json.loads(self.told)))

    def wait(self):
        return 0


def planned(folder: Path, **given) -> list[str]:
    """What is wrong with a folder of configuration, in the order of the workflow."""
    problems: list[str] = []
    with gathered(problems):
        read = config.read_yaml(folder / "config.yaml") | given
        settings = config.checked_settings(read, folder, [folder / "config.yaml"])
    with gathered(problems):
        registry = config.load_registry(folder)
    with gathered(problems):
        styles = config.load_methods(folder)
    if not problems:
        with gathered(problems):
            experiments = config.load_experiments(folder, set(registry.tasks))
    if not problems:
        with gathered(problems):
            chosen = selection.select(experiments, settings, MAPS, set(registry.tasks))
            selection.check_selection(chosen, settings)
            outputs.load_reports(folder, experiments, styles, registry.tasks)
            check.Trial(chosen, settings, registry.tasks, folder).finish()
            for make in (plan.shards, plan.tune_shards, plan.time_shards):
                assert all(make(each, settings) is not None for each in chosen.values())
    return problems


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A copy of the configuration, in the folder where the workflow would run."""
    shutil.copytree(CONFIG, tmp_path / "config")
    (tmp_path / "data").symlink_to(CONFIG.parent / "data")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(check.subprocess, "Popen", HereAndNow)
    return tmp_path / "config"


def edited(folder, name, old, new):
    path = folder / name
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


@pytest.mark.parametrize("preset", ["quick", "laptop", "paper"])
def test_the_configuration_of_the_repository_is_in_order(folder, preset):
    assert planned(folder, preset=preset) == []


SURVEY, TEXT = "experiments/survey.yaml", "survey-gaussian-text"

#: File, what stands there, what is put in its place, and the beginning of the one line that is told.
EDITS = [
    (SURVEY, "{n_factors: 3}", "{n_factor: 3}", ".methods[3].options.n_factor: not an option of rom; it has n_factors, "
     "order, layout (did you mean n_factors?)"),
    (SURVEY, "{n_factors: 3}", "{n_factors: 0}", ".methods[3].options: n_factors == 0, must be >= 1"),
    (SURVEY, "{n_factors: 3}", "{n_factors: 3.0}", ".methods[3].options: n_factors must be an instance of int"),
    (SURVEY, "sequence: halton", "sequence: halten", ".methods[5].options: sequence must be one of halton, sobol"),
    (SURVEY, "n_nodes: 3", "n_nodes: .nan", ".methods[7].options.n_nodes: nan is no finite number"),
    (SURVEY, "penalty: 0.05}", "penalty: .inf}", ".methods[8].options.penalty: inf is no finite number"),
    (SURVEY, "penalty: 0.05}", "penalty: -1}", ".methods[8].options: penalty must be positive and finite, got -1"),
    (SURVEY, "{method: rff}", "{method: rrf}", ".methods[0].method: there is no method 'rrf'; did you mean rff? known"),
    (SURVEY, "{method: rff}\n", "{method: rff}\n    - {method: rff}\n", ".methods: rff is listed twice with the same"),
    (SURVEY, "  - {method: rff}\n", "  - {method: rm}\n", ".methods[0].method: rm does not apply to the kernel gaussi"),
    (SURVEY, GRID, "multiples_of_d: []", ".sizes.multiples_of_d: [] should be non-empty"),
    (SURVEY, GRID, "multiples_of_d: [2, 2]", ".sizes.multiples_of_d: [2, 2] has non-unique elements"),
    (SURVEY, GRID, "multiples_of_d: [2.0]", ".sizes.multiples_of_d[0]: 2.0 is not of type 'integer'"),
    (SURVEY, GRID, "multiples: [2]", ".sizes.multiples: not a key here; did you mean multiples_of_d? known are"),
    (SURVEY, "n_folds: 5", "n_folds: 8000", ".learners.ridge.n_folds: 8000 folds of 7490 training rows"),
    (SURVEY, "      n_folds: 5\n    svm", "    svm", ".learners.ridge: 'n_folds' is a required property"),
    (SURVEY, "      loss: squared_hinge\n", "", ".learners.svm: the learner's options do not say loss; they say C, in"),
    (SURVEY, "C: [0.01, 0.1, 1, 10, 100]", "C: []", ".learners.svm.C: [] should be non-empty"),
    (SURVEY, "C: [0.01, 0.1, 1, 10, 100]", "C: [.nan]", ".learners.svm.C[0]: nan is no finite number"),
    (SURVEY, "C: [0.01, 0.1, 1, 10, 100]", "C: [1, 1]", ".learners.svm.C: [1, 1] has non-unique elements"),
    (SURVEY, "  kind: grid\n", "", ": the key 'kind' is missing; known are controls, counterexample"),
    (SURVEY, "kind: grid", "kind: gird", ".kind: there is no 'gird'; did you mean grid? known are"),
    (SURVEY, LENGTHS, "grid: [], shared_by: experiment", ".search.length_scale.grid: [] should be non-empty"),
    (SURVEY, LENGTHS, "grid: [1, 2]", ".datasets.ijcnn1: search.length_scale must say by whom it is shared: one of"),
    (SURVEY, COVTYPE, "covtype: {preprocess: [none], search: {size: null}}", ".datasets.covtype: search.size must say "
     "with which size length_sc"),
    (SURVEY, "    learner: ridge\n", "    learner: rigde\n", ".datasets.ijcnn1: search, names the learner rigde; did"),
    (SURVEY, "skin: {preprocess: [minmax]}", "skn: {}", ".datasets.skn: there is no data set 'skn'; did you mean skin"),
    (SURVEY, COVTYPE, "covtype: {}", ".datasets.covtype: neither it nor the experiment has the key 'preprocess'"),
    (SURVEY, COVTYPE, "covtype: {preprocess: [minmx]}", ".datasets.covtype.preprocess: there is no preprocessing step"),
    (SURVEY, COVTYPE, "covtype: {preprocess: [{pca: {n_components: 500}}]}", ".datasets.covtype.preprocess: pca cannot "
     "keep 500 components of 54 columns"),
    (SURVEY, COVTYPE, "covtype: {preprocess: [none], split: {rule: published}}", ".datasets.covtype.split: the task h"),
    (SURVEY, COVTYPE, "covtype: {preprocess: [none], split: {rule: random, n_train: 999999}}", ".datasets.covtype.split"
     ": 999999 training and 290506 test rows are more than the 581012 there are"),
    (SURVEY, COVTYPE, "covtype: {preprocess: [none], learners: {ridge: {penalty: 1}}}", ".datasets.covtype.learners.rid"
     "ge.penalty: not a key here; did you mean penalties? known are"),
    (SURVEY, COVTYPE, "covtype: {preprocess: [none], search: {size: {values: 0}}}", ".datasets.covtype.search.size.valu"
     "es: 0 is less than the minimum of 1"),
    (SURVEY, COVTYPE, "covtype: {preprocess: [none], options: {rom: {x: 1}}}", ".datasets.covtype.options.rom.x: not"),
    (SURVEY, COVTYPE, "covtype: {preprocess: [none], only_sizes: {rmo: [2d]}}", ".datasets.covtype.only_sizes.rmo: ther"
     "e is no method 'rmo'; did you mean"),
    (SURVEY, COVTYPE, "covtype: {preprocess: [none], only_sizes: {rom: []}}", ".datasets.covtype.only_sizes.rom: [] s"),
    (SURVEY, "examples: [ijcnn1, eeg]", "examples: [ijcnn, eeg]", ".time.examples[0]: 'ijcnn' is none of the data set"),
    (SURVEY, "examples: [ijcnn1, eeg]", "learner: svn", ".time.learner: there is no learner 'svn' here; did you mean"),
    (SURVEY, "time: {examples: [ijcnn1, eeg]}", "largest_multiple_of_d: 1", ".datasets.ijcnn1: largest_multiple_of_"),
    (SURVEY, "time: {examples: [ijcnn1, eeg]}", "bandwidth: {rule: neighbour, k: 100000000}", ".bandwidth: the 1000"),
    (SURVEY, "time: {examples: [ijcnn1, eeg]}", "scores: [mse]", ".scores: 'mse' is no metric of a binary target"),
    (SURVEY, "time: {examples: [ijcnn1, eeg]}", "steps: [{name: a}, {name: a}]", ".steps[1].name: 'a' is given twice"),
    (SURVEY, COVTYPE, "covtype: {preprocess: [{pca: {n_components: 0}}]}", ".datasets.covtype.preprocess: pca canno"),
    (SURVEY, "{method: rff}", "{method: rks}", ".methods[0].method: there is no method 'rks'; "),
    (SURVEY, COVTYPE, "covtype: {preprocess: [none], split: {rule: half, n_train: 10}}", ".datasets.covtype.split: n_t"
     "rain are of the rule random; the rule half does not look at them"),
    (SURVEY, COVTYPE, "covtype: {preprocess: [none], kernel: {name: gaussian, length_scale: 2}}", ".datasets.covtype: "
     "has a length scale in kernel and in search: keep one of them"),
    (SURVEY, "      C: [0.01", "      max_entries: -1\n      C: [0.01", ".learners.svm.max_entries: -1 is less than o"),
    (SURVEY, "time: {examples: [ijcnn1, eeg]}", "steps: [{name: a, methods: []}]", ".steps[0].methods: [] should be n"),
    (SURVEY, COVTYPE, "covtype: {preprocess: null}", ".datasets.covtype: neither it nor the experiment has the key"),
    (SURVEY, "{n_factors: 3}", "{n_factors: true}", ".methods[3].options.n_factors: True is not of the type of the de"),
    (SURVEY, "grid: [0.01, 0.1,", "grid: [1.0e-200, 0.1,", ".search.length_scale.grid[0]: 1e-200 is less than the mi"),
    (SURVEY, "rows: 1000", "rows: 1e3", ".approximation.rows: '1e3' is not of type 'integer'"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "old", "new", "line"), EDITS, ids=[f"{old}->{new}"[:70] for _, old, new, _ in EDITS])
def test_a_mistake_in_an_experiment_is_one_line_at_the_experiment_that_has_it(folder, name, old, new, line):
    edited(folder, name, old, new)
    (told,) = planned(
        folder, preset="laptop", only_experiments=[TEXT, "survey-gaussian-code", "survey-gaussian-others"]
    )
    assert told.startswith(f"config/{name}: {TEXT}{line}")


ELSEWHERE = [
    ("presets/quick.yaml", "repeats: 3", "repeat: 3", "repeat: not a key here; did you mean repeats? known are"),
    ("presets/quick.yaml", "repeats: 3", "repeats: 9999999", "repeats: 9999999 is greater than the maximum of 10"),
    ("presets/quick.yaml", "repeats: 3", "repeats: 3.0", "repeats: 3.0 is not of type 'integer'"),
    ("presets/quick.yaml", "repeats: 3", "repeats: 3\nrepeats: 4", "line 5: the key 'repeats' is given twice, "),
    ("presets/quick.yaml", "{svm: {repeats: 2,", "{svm: {repeats: 2, repeats: 3,", "line"),
    ("presets/quick.yaml", "{svm:", "{svn:", "learners.svn: not a key here; did you mean svm? known are l1_svm, logi"),
    ("presets/quick.yaml", "shard_by: [experiment]", "shard_by: [dataset]", "shard_by: must be a beginning of experim"),
    ("presets/quick.yaml", "shortest: 0.004", "shortest: .inf", "time.shortest: inf is no finite number"),
    ("config.yaml", "seed: 2021", "sed: 2021", "sed: not a key here; did you mean seed? known are allow_missing"),
    ("config.yaml", "preset: quick", "preset: quik", "preset: there is no 'quik'; did you mean quick? known are lapto"),
    ("config.yaml", "seed: 2021", "seed: 2021\nseed: 1", "line 6: the key 'seed' is given twice, first in line 5"),
    ("datasets.yaml", "split: half", "split: hlaf", "eeg.split: 'hlaf' is not one of ['published', 'half', 'random']"),
    ("sources.yaml", "sha256: ", "sha265: ", "ijcnn1.files.ijcnn1.sha265: not a key here; did you mean sha256? known"),
    ("methods.yaml", "colour: ", "color: ", "rff.color: not a key here; did you mean colour? known are colour, family"),
    ("methods.yaml", "rff:\n", "rff: {}\nrff:\n", "line"),
    ("datasets.yaml", "train: ijcnn1, test: ijcnn1.t", "train: ijcnn1, test: ijcnn1", "ijcnn1: files: 'ijcnn1' stands"),
    ("datasets.yaml", "parser: libsvm", "separator: '(('\n  parser: table", "ijcnn1: separator: '((' is no regular ex"),
    ("datasets.yaml", "letter_survey_rows.csv", "nothing.csv", "letter-am-nz.rows: there is no file 'nothing.csv' in "),
    ("datasets.yaml", '{"-1": -1, "1": 1}', '{"-1": -1, "1": 1, 1: -1}', "line"),
    ("datasets.yaml", '{"-1": -1, "1": 1}', '{"-1": -1, "1": 36893488147419103232}', "ijcnn1.labels.1: 36893488147419"),
    ("sources.yaml", "    ijcnn1.t:\n", "    ..: *toy\n    ijcnn1.t:\n", "ijcnn1.files: no file may be called '..'"),
    ("sources.yaml", "    ijcnn1.t:\n", "    record.json: *toy\n    ijcnn1.t:\n", "ijcnn1.files: no file may be calle"),
    ("sources.yaml", "    ijcnn1.t:\n", "    a.gz: *toy\n    ijcnn1.t:\n", "ijcnn1.files: 'a.gz' has the ending of a "),
    ("figures/slsrff.yaml", "figure-theory-required:", "../theory:", "../theory: the name of an output has lower-case"),
    ("figures/slsrff.yaml", "kind: required", "kind: {a: 1}", "figure-theory-required.kind: {'a': 1} is not one of"),
    ("experiments/survey.yaml", "{n_factors: 3}", "{n_factors: 2020-01-01}", "line"),
    ("experiments/slsrff.yaml", "center_targets: false}", "center_targets: 'no'}", "slsrff-text.methods[3].options.ce"),
    ("experiments/theory.yaml", "length_scale: 1}", "length_scale: 1.0e-200}", "theory-variance.kernel: "),
    ("experiments/theory.yaml", "length_scale: 1}", "length_scale: 1.0e+200}", "theory-variance.kernel: "),
    ("methods.yaml", "published_as: {survey: NRFF}", "published_as: {survey: RFF}", "rff and nrff are both publi"),
    ("scorecard.yaml", "{split: train, over: rff}", "{over: rrf}", ""),
    ("experiments/theory.yaml", "length_scale: 1}", "length_scale: -1}", "theory-variance.kernel: length_scale must b"),
    ("experiments/study.yaml", "null, degree: 2", "null, degree: true", "crossover-polynomial.kernel.degree: True"),
    ("experiments/study.yaml", "2, coef0: 1}\n  me", "2, coef0: true}\n  me", "crossover-polynomial.kernel.coef0: "),
    ("experiments/nsrf.yaml", "{degree: 62}", "{degree: true}", "nsrf-checkerboard.methods[2].options.degree: True"),
    ("experiments/study.yaml", "[RBFSampler]", "[RBFSampeler]", "crossover-gaussian.grid: there is nothing called 'RB"),
    ("experiments/study.yaml", "sorf-float32", "sorv-float32", "speed.grid: there is nothing called 'sorv' to hold a"),
    ("experiments/theory.yaml", "distances:", "distance:", "theory-variance.grid.distance: not a key here; did you me"),
    ("experiments/slsrff-theory.yaml", "pool: whole", "pool: hole", "slsrff-required-features.methods[3].options.pool: "
     "must be one of whole, got 'hole'"),
    ("experiments/slsrff-theory.yaml", "identity: true}", "identity: true, identity: false}", "line"),
    ("experiments/nsrf.yaml", "pictures: [0, 10, 50, 300]", "pictures: [0, 10, 55]", "nsrf-windmill.grid: nsrf finds"),
    ("experiments/eerf.yaml", "candidates: [200, 500], n_", "candidates: [20, 500], n_", "eerf-ranking.grid: cand"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "old", "new", "line"), ELSEWHERE, ids=[f"{name}:{new}"[:70] for name, _, new, _ in ELSEWHERE]
)
def test_a_mistake_elsewhere_is_one_line_that_names_its_file(folder, name, old, new, line):
    edited(folder, "sources.yaml", "    ijcnn1:\n", "    ijcnn1: &toy\n")
    edited(folder, name, old, new)
    told = []
    try:
        told = planned(folder)
    except UserError as error:  # of config.yaml itself, which the helper above reads
        told = str(error).splitlines()
    assert len(told) == 1
    assert told[0].startswith(f"config/{name}: {line}")


def test_a_key_of_the_command_line_is_told_as_one(folder):
    (told,) = planned(folder, sed=3)
    assert told.startswith("--config: sed: not a key here; did you mean seed? known are")
    assert planned(folder, seed=".nan") == ["--config: seed: nan is no finite number"]


def test_a_learner_that_is_timed_is_there_on_every_data_set(folder):
    edited(folder, SURVEY, "time: {examples: [ijcnn1, eeg]}", "time: {learner: svm}")
    edited(folder, SURVEY, COVTYPE, "covtype: {preprocess: [minmax], learners: {svm: null}}")
    (told,) = planned(folder, preset="laptop", only_experiments=[TEXT])
    assert told.startswith(f"config/{SURVEY}: {TEXT}.datasets.covtype.time.learner: there is no learner 'svm' here")


def test_sizes_that_are_timed_are_named_of_an_accuracy_grid_alone(folder):
    edited(folder, "experiments/theory.yaml", "  time: {}\n", "  time: {sizes: [1000]}\n")
    (told,) = planned(folder, preset="laptop", only_experiments=["theory-scaling"])
    assert ".time.sizes: a list is of an accuracy grid; of the kind scaling it is a number" in told


def test_a_preset_says_who_shares_the_penalty(folder):
    edited(folder, "presets/laptop.yaml", "penalty: {shared_by: size}, ", "")
    told = planned(folder, preset="laptop", only_experiments=[TEXT])
    assert "search.penalty must say by whom it is shared" in told[0]


HOG = "{task: mnist-1-7, extractor: hog, orientations: 8, pixels_per_cell: 4, cells_per_block: 1, block_norm: L1}"


@pytest.mark.parametrize(
    ("d", "features", "message"),
    [
        (392, HOG, ""),
        (7, HOG, "hog makes 392 columns of 784, and datasets.yaml says 7"),
        (392, HOG.replace("mnist-1-7", "eeg"), "14 numbers are no square image"),
        (
            392,
            HOG.replace("cell: 4", "cell: 0"),
            "hog needs orientations, pixels_per_cell and cells_per_block of at",
        ),
        (392, HOG.replace("cell: 4", "cell: 99"), "hold no block of 1 cells of 99 pixels"),
        (392, HOG.replace("L1", "L9"), "block_norm must be one of L1, L1-sqrt, L2, L2-Hys, got 'L9'"),
    ],
)
def test_features_that_cannot_be_extracted_are_found_when_the_plan_is_made(folder, d, features, message):
    task = f"x-hog:\n  label: x\n  published_as: {{}}\n  d: {d}\n  features_of: {features}\n\n"
    edited(folder, "datasets.yaml", "cod-rna:\n", task + "cod-rna:\n")
    edited(folder, SURVEY, COVTYPE, COVTYPE + "\n    x-hog: {preprocess: [none]}")
    told = planned(folder, preset="laptop", only_experiments=[TEXT])
    assert [f"{TEXT}.datasets.x-hog: " in line and message in line for line in told] == [True] * bool(message)


def test_presets_are_not_laid_over_each_other(folder):
    def told(chosen, *files):
        given = {key: value for path in files for key, value in config.read_yaml(path).items()} | {"preset": chosen}
        with pytest.raises(UserError) as caught:
            config.checked_settings(config.read_yaml(folder / "config.yaml") | given, folder, files)
        return str(caught.value)

    presets = folder / "presets"
    assert told("quick", presets / "laptop.yaml") == (
        "config/presets/laptop.yaml: is laid over the preset quick: one preset is chosen at a time"
    )
    assert told("laptop", presets / "quick.yaml", presets / "laptop.yaml").startswith("config/presets/quick.yaml: is l")
    shutil.copy(presets / "laptop.yaml", presets / "mine.yaml")
    assert told("mine") == "--config: presets/mine.yaml names the preset 'laptop', not 'mine'"
    edited(folder, "presets/mine.yaml", "preset: laptop", "preset: measured")
    (presets / "mine.yaml").rename(presets / "measured.yaml")
    assert "measured is the name of the shipped measurements" in told("measured")


def test_a_size_that_is_a_number_may_be_asked_for(folder):
    edited(folder, SURVEY, GRID, "values: [1000]")
    given = {"only_experiments": TEXT, "only_sizes": 1000}
    settings = config.checked_settings(config.read_yaml(folder / "config.yaml") | given, folder)
    assert (settings["only_experiments"], settings["only_sizes"]) == ([TEXT], ["1000"])


def test_more_components_than_training_rows_are_found_when_the_plan_is_made(folder):
    edited(folder, SURVEY, COVTYPE, "covtype: {preprocess: [{pca: {n_components: 50}}]}")
    assert planned(folder, preset="laptop", only_experiments=[TEXT]) == []
    (told,) = planned(folder, preset="laptop", only_experiments=[TEXT], max_rows=20)
    assert told.endswith("covtype.preprocess: pca cannot keep 50 components of 20 training rows with 54 columns")


def test_claims_that_are_not_there_are_named(folder):
    (folder.parent / "data").unlink()
    (folder.parent / "data" / "reference").mkdir(parents=True)
    rows = Path("data") / "reference" / "letter_survey_rows.csv"
    shutil.copy(CONFIG.parent / rows, folder.parent / rows)
    assert any("data/reference/claims.csv: cannot be read" in line for line in planned(folder))


def test_all_that_is_wrong_is_told_at_once(folder):
    edited(folder, SURVEY, "{n_factors: 3}", "{n_factors: 0}")
    edited(folder, SURVEY, "n_nodes: 3", "n_nodes: many")
    edited(folder, "experiments/study.yaml", "[RBFSampler]", "[RBFSampeler]")
    told = planned(folder)
    assert len(told) == 3
    edited(folder, "datasets.yaml", "split: half", "split: hlaf")
    edited(folder, "methods.yaml", "colour: ", "color: ")
    assert [line.split(":")[0] for line in planned(folder, sed=3)] == [
        "--config", "config/datasets.yaml", "config/methods.yaml",
    ]  # fmt: skip


def test_an_entry_is_told_by_its_place_in_the_file_where_steps_are_written_out(folder):
    experiments = config.load_experiments(folder)
    name, raw = next(
        (name, each) for name, each in config.resolved_experiments(folder)[2].items() if len(each.get("steps", [])) > 1
    )
    last = len(experiments[name]["methods"]) - 1
    assert last > len(raw["methods"]) - 1
    (told,) = check.located([(name, f".methods[{last}].options: wrong")], folder)
    assert told.endswith(f": {name}.methods[{len(raw['methods']) - 1}].options: wrong")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"only_datasets": "cifar10-dog-frog-images"}, ["only_datasets: 'cifar10-dog-frog-images'"]),
        ({"only_experiments": ["theory-decay"], "only_datasets": ["eeg"]}, ["only_experiments: ", "only_datasets: "]),
        ({"only_experiments": ["theory-decay"], "only_methods": ["rff", "lsrff"]}, ["only_methods: 'lsrff'"]),
        ({"only_experiments": ["slsrff-code-large"]}, ["only_experiments: 'slsrff-code-large'"]),
        ({"only_sizes": ["64d"]}, ["only_sizes"]),
        ({"only_datasets": "eeg", "only_methods": "rff,orf"}, []),
    ],
)
def test_what_a_run_is_restricted_to_has_to_leave_something_of_each(folder, given, told):
    found = planned(folder, **given)
    assert len(found) == len(told)
    assert all(line.startswith(start) for line, start in zip(found, told, strict=True))


def test_what_was_found_in_order_is_built_once_until_a_configuration_or_the_package_changes(folder, monkeypatch):
    built = []

    class Counted(HereAndNow):
        def read(self):
            built.append(self.told)
            return super().read()

    monkeypatch.setattr(check.subprocess, "Popen", Counted)
    only = {"only_experiments": ["theory-decay"], "only_methods": ["rff"]}
    assert planned(folder, **only) == planned(folder, **only) == []
    assert len(built) == 1
    assert planned(folder, **only, repeats=2) == []
    assert len(built) == 2
    monkeypatch.setattr(check, "SOURCE", folder)  # other code
    assert planned(folder, **only) == []
    assert len(built) == 3
    # what is wrong is not remembered
    edited(folder, "experiments/theory.yaml", "{method: rff}", "{method: rff, options: {layout: sin}}")
    wrong = planned(folder, only_experiments=["theory-variance"])
    assert wrong == planned(folder, only_experiments=["theory-variance"]) != []
    assert len(built) == 5


def test_the_process_of_its_own_answers_as_the_function_does():
    part = {"what": "map", "method": "rom", "options": {"n_factors": 0}, "kernel": {"name": "gaussian"}, "sizes": 4}
    told = f"[{check.json.dumps(part)}]"
    environment = {"PYTHONPATH": str(SOURCE)}
    command = [sys.executable, "-m", "rfstudy.study.trial"]
    done = subprocess.run(command, input=told, capture_output=True, text=True, env=environment, check=True)
    assert check.json.loads(done.stdout) == [[0, ".options", "n_factors == 0, must be >= 1."]]
    assert trial.problems([part]) == [(0, ".options", "n_factors == 0, must be >= 1.")]


def test_candidates_have_to_be_as_many_as_the_largest_size_on_a_data_set(folder):
    edited(folder, SURVEY, "{method: karff}", "{method: karff, options: {n_candidates: 400}}")
    (told,) = planned(folder, preset="laptop", only_experiments=["survey-gaussian-others"])
    # 8 x 54 features of covtype
    place = f"config/{SURVEY}: survey-gaussian-others.methods[8].options: "
    assert re.fullmatch(rf"{re.escape(place)}n_candidates == 400, must be >= 432\.", told)


def test_ids_with_an_underscore_make_names_of_shards_that_paths_may_have():
    toy = {"name": "toy", "kind": "grid", "datasets": {"made": {}}, "methods": [{"method": "nsrf_sphere"}]}
    settings = {"shard_by": ["experiment", "dataset", "method"], "repeats": 2, "repeats_per_shard": None}
    (shard,) = plan.shards(toy, settings)
    assert re.fullmatch(r"[a-z0-9.-]+", shard.name)
    assert shard.methods == (0,)
