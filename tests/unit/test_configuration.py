"""A mistake in the configuration is one line that names file, key and remedy; all mistakes are reported together."""

import re
from dataclasses import replace

import pytest
import yaml
from checkouts import CONFIG
from refusals import messages
from study_toys import EXPERIMENT, GRID, SETTINGS, THEORY, selected

from random_features.learners.registry import LEARNERS
from random_features.learners.ridge import LEARNER
from rfstudy.planning import check, config
from rfstudy.planning.problems import problems_on_datasets
from rfstudy.study.job import merge
from rfstudy.study.kinds.registry import KINDS


def experiments_of(tmp_path, **files):
    (tmp_path / "experiments").mkdir(exist_ok=True)
    for name, text in files.items():
        (tmp_path / "experiments" / f"{name}.yaml").write_text(text)
    return config.load_experiments(tmp_path, {"eeg", "skin"})


#: Settings of runs on the original data.
ORIGINAL = SETTINGS | {"data": "original"}
TITLE = "title: A grid"

#: What is in the file, what is put in its place, and the beginning of the line after the name of the experiment.
EDITS = [
    # unknown and missing keys
    ("n_folds: 5}\n    svm", "folds: 5}\n    svm", ".learners.ridge.folds: unknown key; did you mean n_folds? known a"),
    ("svm:", "svn:", f".learners.svn: unknown key; did you mean svm? known are {', '.join(LEARNERS)}"),
    ("{method: orf}", "{methd: orf}", ".methods[1].methd: unknown key; did you mean method? known are datasets"),
    (TITLE, f"{TITLE}\n  grid: {{}}", ".grid: unknown key; "),  # a key of another kind
    ("{name: gaussian}", "{name: linear, length_scale: 1}", ".kernel.length_scale: unknown key; known are name"),
    ("  paper: survey\n", "", ": the key 'paper' is missing; known are"),
    ("  kind: grid\n", "", f".kind: there is no None; known are {', '.join(sorted(KINDS))}"),
    (TITLE, f"{TITLE}\n  bandwidth: {{rule: neighbour}}", ".bandwidth: the key 'k' is missing; known are"),
    # names that do not exist
    ("kind: grid", "kind: gird", f".kind: there is no 'gird'; did you mean grid? known are {', '.join(sorted(KINDS))}"),
    ("{name: gaussian}", "{name: gausian}", ".kernel: there is no 'gausian'; did you mean gaussian? known are"),
    (TITLE, f"{TITLE}\n  bandwidth: {{rule: medain}}", ".bandwidth: there is no 'medain'; did you mean median?"),
    ("{method: rff}", "{method: rrf}", ".methods[0].method: there is no method 'rrf'; did you mean rff? known are"),
    ("skin: {p", "skn: {p", ".datasets.skn: there is no data set 'skn'; did you mean skin? known are eeg, skin"),
    ("{method: rff}", "{method: rff, datasets: {ege: null}}", ".methods[0].datasets.ege: there is no data set 'ege'"),
    (TITLE, f"{TITLE}\n  options: {{rmo: {{}}}}", ".options.rmo: there is no method 'rmo'; did you mean rm?"),
    ("[minmax]}", "[minmax], only_sizes: {rmo: [2d]}}", ".datasets.eeg.only_sizes.rmo: there is no method 'rmo'"),
    (TITLE, f"{TITLE}\n  time: {{examples: [ege]}}", ".time.examples[0]: 'ege' is none of the data sets of the exp"),
    (TITLE, f"{TITLE}\n  steps: [{{name: a, methods: [rrf]}}]", ".steps[0].methods[0]: there is no method 'rrf'"),
    # types and ranges
    ("C: [1]", "C: [1, 1]", ".learners.svm.C: [1, 1] has a value twice"),
    ("C: [1]", "C: []", ".learners.svm.C: []: list should have at least 1 item"),
    ("C: [1]", "C: [1e-3]", ".learners.svm.C[0]: '1e-3': input should be a valid number, written with a point and a"),
    ("rows: 10", "rows: 1e3", ".approximation.rows: '1e3': input should be a valid integer"),
    (TITLE, f"{TITLE}\n  search: {{length_scale: {{grid: [1.0e-200]}}}}", ".search.length_scale.grid[0]: 1e-200: inpu"),
    ("{name: gaussian}", "{name: polynomial, degree: true}", ".kernel.degree: must be a number or a word, not True"),
    # options of maps
    ("{method: orf}", "{method: rom, options: {n_factor: 3}}", ".methods[1].options.n_factor: unknown option 'n"
     "_factor'; did you mean n_factors? known are layout, n_factors, order"),
    ("{method: orf}", "{method: rom, options: {n_factors: true}}", ".methods[1].options.n_factors: True is not of the"),
    ("{method: orf}", "{method: rom, datasets: {eeg: {options: {x: 1}}}}", ".methods[1].datasets.eeg.options.x: unkno"),
    ("{method: orf}", "{method: rom, sweep: {axis: a, option: x, values: [1]}}", ".methods[1].sweep: unknown option"),
    ("[minmax]}", "[minmax], options: {rom: {x: 1}}}", ".datasets.eeg.options.rom.x: unknown option 'x'"),
    (TITLE, f"{TITLE}\n  steps: [{{name: a, options: {{x: 1}}}}]", ".steps[0].options.x: unknown option 'x'"),
    (TITLE, f"{TITLE}\n  search: {{options: {{grid: {{rom: [{{x: 1}}]}}}}}}", ".search.options.grid.rom[0].x: unknown"),
    (TITLE, f"{TITLE}\n  search: {{options: {{grid: [{{x: 1}}]}}}}", ".search.options.grid[0].x: unknown option 'x'"),
    (TITLE, f"{TITLE}\n  search: {{method: {{method: rom, options: {{x: 1}}}}}}", ".search.method.options.x: unknown "),
    # preprocessing steps, wherever they are
    ("[minmax]", "[minmx]", ".datasets.eeg.preprocess[0].minmx: unknown key; did you mean minmax? known are center"),
    ("[minmax]", "[{pca: {n_components: 3, x: 1}}]", ".datasets.eeg.preprocess[0].pca.x: unknown key; known are n_com"),
    (TITLE, f"{TITLE}\n  preprocess: [{{pca: {{}}}}]", ".preprocess[0].pca: the key 'n_components' is missing; known "),
    ("{method: orf}", "{method: orf, preprocess: [pc]}", ".methods[1].preprocess[0].pc: unknown key; did you mean pca"),
    (TITLE, f"{TITLE}\n  search: {{preprocess: {{grid: [[none], [x]]}}}}", ".search.preprocess.grid[1][0].x: unknown"),
    # what entries and steps say together
    ("{method: orf}", "{method: rff}", ".methods: rff is listed twice with the same variant ''; name variants (var"),
    (TITLE, f"{TITLE}\n  shard_by: [experiment, method]", ".shard_by: must be a beginning of experiment, dataset"),
    (TITLE, f"{TITLE}\n  steps: [{{name: a}}, {{name: a}}]", ".steps[1].name: 'a' is there twice"),
    ("{method: orf}", "{method: orf, draw: 1, draws: [0]}", ".methods[1].draw: an entry has one draw, or a list of "),
    ("orf}]", "orf, draws: [1]}]\n  steps: [{name: a}]", ".methods[1].draws: an entry with draws takes no steps: leav"),
    ("{method: orf}", "{method: orf, datasets: {eeg: {sweep: {values: [1]}}}}", ".methods[1].datasets.eeg.sweep: the "),
    ("{method: orf}", "{method: orf, only_sizes: [3d]}", ".methods[1].only_sizes: there is no size '3d'; known are 2d"),
    ("[minmax]}", "[minmax], only_sizes: {rff: [3d]}}", ".datasets.eeg.only_sizes.rff: there is no size '3d'; known"),
    (TITLE, f"{TITLE}\n  time: {{sizes: [2d, 1000]}}", ".time.sizes: there is no size '1000'; known are 2d"),
    ("[minmax]}", "[minmax], sizes: null}", ".datasets.eeg.sizes: null cannot remove what every grid has"),
    (TITLE, f"{TITLE}\n  repeats: null", ".repeats: null has nothing to remove here: give a value, or leave the key "),
]  # fmt: skip

#: Edits of the experiment of a kind that brings its own keys.
OF_THEORY = [
    ("dimensions:", "dimension:", ".grid.dimension: unknown key; did you mean dimensions? known are dimensions, "),
    (" ridge: 0.1", " ridge: 0", ".grid.ridge: 0: input should be greater than or equal to"),
    ("norms: [sup]", "norms: [max]", ".grid.norms[0]: 'max': input should be 'sup', 'l2'"),
    (", ridge: 0.1", "", ".grid: the key 'ridge' is missing; known are"),
    ("{method: rff}", "{method: rff, kernel: {name: linear}}", ".methods[0].kernel: the kind decay has one kernel"),
    ("grid:", "time: {}\n  grid:", ".time: nothing is timed in the kind decay"),
    ("grid:", "preprocess: [none]\n  grid:", ".preprocess: unknown key; "),
]
EVERY = [(text, *edit) for text, edits in ((GRID, EDITS), (THEORY, OF_THEORY)) for edit in edits]


@pytest.mark.parametrize(("text", "old", "new", "line"), EVERY, ids=[f"{old}->{new}"[:60] for _, old, new, _ in EVERY])
def test_a_mistake_in_an_experiment_is_one_line(tmp_path, text, old, new, line):
    (name,) = experiments_of(tmp_path, a=text)
    assert text.count(old) == 1
    (found,) = messages(experiments_of, tmp_path, a=text.replace(old, new))
    assert found.removeprefix(f"{tmp_path}/experiments/a.yaml: {name}").startswith(line)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: {extends: b}\nb: {extends: a}\n", "a.yaml: a.extends: experiments extend each other in a circle: a -> b"),
        ("a: {extends: c}\n", "a.yaml: a.extends: experiment 'a' extends 'c', which does not exist; known are a"),
        ("a: [1\n", "a.yaml: line 2: "),
        ("a: {grid: .nan}\n", "a.yaml: line 1: .nan is no finite number"),
        ("a: [1]\n", "a.yaml: a: must be a mapping from keys to values, not [1]"),
        ("a_b: {title: x}\n", "a.yaml: a_b: the name of an experiment has lower-case letters, digits and hyphens only"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path, text, line):
    (found,) = messages(experiments_of, tmp_path, a=text)
    assert found.removeprefix(f"{tmp_path}/experiments/").startswith(line)


def test_all_mistakes_are_reported_together_and_inherited_ones_once(tmp_path):
    (found,) = messages(experiments_of, tmp_path, a=GRID, b=GRID)
    assert re.search("/b.yaml: base: .*/a.yaml has an experiment of this name, too: rename one$", found)
    wrong = GRID.replace("rows: 10", "rows: 1").replace("C: [1]", "C: [0]")
    assert len(messages(experiments_of, tmp_path, a=wrong, b="child: {extends: base}\n")) == 2


def test_extends_merges_mappings_replaces_lists_and_removes_nulls(tmp_path):
    child = """
child:
  extends: base
  datasets: {eeg: null, skin: {largest_multiple_of_d: 4}}
  learners: {ridge: {scaling: sum}, svm: null}
  methods: [{method: ssf}]
"""
    experiments = experiments_of(tmp_path, a=GRID, b=child)
    found = experiments["child"]
    assert found["learners"] == {"ridge": {"scaling": "sum", "center": "none", "penalties": [1], "n_folds": 5}}
    assert found["methods"] == [{"method": "ssf"}]
    assert found["datasets"] == {"skin": {"preprocess": ["standard"], "largest_multiple_of_d": 4}}
    assert list(experiments["base"]["datasets"]) == ["eeg", "skin"]
    assert found["name"] == "child"


def test_a_null_stays_until_it_finds_what_it_removes(tmp_path):
    child = "child: {extends: base, datasets: {skin: {learners: {svm: null}}}}\n"
    found = experiments_of(tmp_path, a=GRID, b=child)["child"]
    assert found["datasets"]["skin"] == {"preprocess": ["standard"], "learners": {"svm": None}}
    assert "svm" not in merge(found, found["datasets"]["skin"])["learners"]
    assert "svm" in found["learners"]
    (line,) = messages(experiments_of, tmp_path, a=GRID, b="child: {extends: base, learners: {svn: null}}\n")
    assert "b.yaml: child.learners.svn: unknown key; did you mean svm?" in line


def test_a_preset_runs_less_of_an_experiment_and_not_of_those_that_extend_it(tmp_path):
    everything = experiments_of(tmp_path, a=GRID, b="child: {extends: base}\n")
    less = {"base": {"datasets": {"eeg": None}, "sizes": {"multiples_of_d": [4]}, "repeats": 1}}
    experiments = config.laid_over(everything, less, {"eeg", "skin"})
    assert experiments["base"]["datasets"] == {"skin": {"preprocess": ["standard"]}}
    assert (experiments["base"]["sizes"], experiments["base"]["repeats"]) == ({"multiples_of_d": [4]}, 1)
    assert experiments["child"] == everything["child"]
    for overlays, line in (
        ({"bas": {}}, "experiments names the experiment bas; did you mean base?"),
        ({"base": {"size": {}}}, "experiments.base.size: unknown key; did you mean sizes?"),
        ({"base": {"methods": [{"method": "rf"}]}}, "experiments.base.methods[0].method: there is no method 'rf'"),
    ):
        assert messages(config.laid_over, everything, overlays, None, "p: experiments")[0].startswith(f"p: {line}")


TASK = {"n": 100, "d": 5, "n_train": 50, "n_test": 50, "split": "half", "target": "binary"}
OF_RULE = {"bandwidth": {"grid": [{"factor": 2}], "tune_per": "cell"}}
OF_ALL = {"method": {"method": "rff"}, "options": {"grid": {"rff": [{"layout": "phase"}]}, "tune_per": "size"}}
OF_ALL = {"methods": [{"method": "rff"}, {"method": "nystroem"}], "search": OF_ALL}
OF_ENTRIES = {"bandwidth": None, "methods": [{"method": "rff", "length_scale": 2}]}
OF_ENTRIES["search"] = {"method": {"method": "rff"}, "penalty": {"tune_per": "size"}}
LENGTHS = {"bandwidth": None, "search": {"length_scale": {"grid": [1, 2]}}}


@pytest.mark.parametrize(("changes", "line"), [
    ({"preprocess": None}, ".datasets.made: the key 'preprocess' is missing here and in the experiment"),
    ({"learners": {"ridge": {"n_folds": 51}}}, ".learners.ridge.n_folds: 51 folds of 50 training rows"),
    ({"learners": {"ridge": {"n_folds": None}}}, ".learners.ridge: the key 'n_folds' is missing"),
    ({"methods": [{"method": "rff", "learners": {"svm": {}}}]}, ".methods[0].learners.svm: the experiment has no "),
    ({"time": {"learner": "svn"}}, ".time.learner: there is no learner 'svn' here; known are ridge"),
    ({"datasets": {"made": {"largest_multiple_of_d": 1}}}, ".datasets.made: largest_multiple_of_d = 1 leaves none"),
    ({"split": {"rule": "published"}}, ".datasets.made.split: the task has no published parts; its split is half"),
    ({"split": {"rule": "random", "n_train": 99}}, ".datasets.made.split: 99 training and 50 test rows are more t"),
    ({"split": {"rule": "half", "n_train": 9}}, ".datasets.made.split: only the rule random takes n_train, not th"),
    ({"split": {"rule": "blocks"}}, ".datasets.made.split: the rules blocks, first_blocks, last_blocks, block_fo"),
    ({"split": {"rule": "half", "n_blocks": 4}}, ".datasets.made.split: the rules blocks, first_blocks, last_bl"),
    ({"split": {"rule": "half", "n_rows": 5}}, ".datasets.made.split: only the rule folds or block_folds takes n_"),
    ({"split": {"rule": "blocks", "n_blocks": 101}}, ".datasets.made.split: 101 blocks of 100 rows"),
    ({"split": {"rule": "folds", "n_folds": 101}}, ".datasets.made.split: n_folds: 101 folds of 100 rows"),
    (
        {"methods": [{"method": "rff", "split": {"without": [99, 100]}}]},
        ".methods[0].split: without: there is no row 100, the task has 100",
    ),
    (LENGTHS, ".datasets.made: search.length_scale must say by whom it is shared"),
    (LENGTHS | {"search": {"length_scale": {"grid": [1], "tune_per": "size"}}}, ".datasets.made: search.method m"),
    (LENGTHS | {"search": {"length_scale": {"grid": [1], "tune_per": "method"}}}, ".datasets.made: search.size m"),
    ({"search": {"learner": "rigde"}}, ".search.learner: there is no learner 'rigde' here; did you mean ridge? "),
    (
        {"datasets": {"made": {"search": {"learner": "svm"}}}},
        ".datasets.made.search.learner: there is no learner 'svm' here; known are ridge; add it under learners, or",
    ),
    ({"kernel": {"name": "gaussian", "length_scale": 2}}, ".datasets.made: has a length scale in kernel and in ba"),
    ({"split": {"folds": "blocks"}}, ".datasets.made.split: only the rules blocks, first_blocks, last_blocks, bl"),
    ({"split": {"rule": "blocks", "n_blocks": 6, "folds": "blocks"}}, ".learners.ridge.n_folds: 4 folds of 3 trai"),
    ({"search": OF_RULE}, ".datasets.made: search.bandwidth.grid[0]: factor: unknown key; known are length_sca"),
    (OF_ALL, ".datasets.made: search.options is shared with nystroem, which cannot take them: unk"),
    ({"draws": 2, "methods": [{"method": "rff", "draw": 1}]}, ".datasets.made: has draws and an entry with draws "),
    ({"search": {"size": {"values": 3, "multiples_of_d": 1}}}, ".datasets.made: search.size must be one size: ei"),
    (OF_ENTRIES, ".datasets.made: search.method: rff needs a length_scale, as the methods have"),
    ({"scores": ["mse"]}, ".datasets.made.scores: 'mse' is no metric of a binary target; known are accuracy_"),
    ({"bandwidth": None}, ".datasets.made: states no length scale, no bandwidth rule and no grid to search it in"),
])  # fmt: skip
def test_what_is_impossible_on_a_data_set_is_found_when_the_plan_is_made(changes, line):
    assert problems_on_datasets(selected(ORIGINAL), ORIGINAL, {"made": TASK}) == []
    own = selected(ORIGINAL, **changes)
    (found,) = problems_on_datasets(own, ORIGINAL, {"made": TASK})
    assert found.startswith(line)
    if found.endswith("to search it in"):  # also of a kind without learners
        assert problems_on_datasets(check.without(own, "learners"), ORIGINAL, {"made": TASK}) == [found]


def test_only_an_accuracy_grid_is_timed_at_listed_sizes():
    theory = yaml.safe_load(THEORY)["theory"] | {"datasets": {}, "time": {"sizes": [1000]}}
    (found,) = problems_on_datasets(theory, SETTINGS, {})
    assert found == ".time.sizes: only an accuracy grid takes a list; the kind decay takes a number"


def test_an_entry_has_its_position_in_the_file_where_steps_are_written_out():
    experiments = config.load_experiments(CONFIG)
    raw = config.resolved_experiments(CONFIG)[2]
    name = next(name for name, each in raw.items() if len(each.get("steps", [])) > 1)
    last = len(experiments[name]["methods"]) - 1
    assert last > len(raw[name]["methods"]) - 1
    (line,) = config.located([(name, f".methods[{last}].options: wrong")], CONFIG)
    assert line.endswith(f": {name}.methods[{len(raw[name]['methods']) - 1}].options: wrong")


@pytest.mark.parametrize(("changes", "line"), [
    ({"methods": [{"method": "rom", "options": {"n_factors": 0}}]}, ".methods[0]: n_factors == 0, must be"),
    ({"methods": [{"method": "qmc", "options": {"sequence": "x"}}]}, ".methods[0]: sequence must be one o"),
    ({"methods": [{"method": "rm"}]}, ".methods[0]: rm does not apply to the kernel gaussian"),
    ({"methods": [{"method": "karff", "options": {"n_candidates": 9}}]}, ".methods[0]: n_candidates == 9,"),
    ({"kernel": {"name": "gaussian", "length_scale": -1}, "bandwidth": None}, ".kernel: length_scale must be posi"),
    ({"learners": {"logistic": {"penalties": [1], "n_folds": 2}}}, ".learners.logistic: the learner's options do"),
    ({"preprocess": [{"pca": {"n_components": 9}}]}, ".preprocess: pca cannot keep 9 components of 5 columns"),
    ({"bandwidth": {"rule": "neighbour", "k": 60, "length_scale": None}}, ".bandwidth: the 60-th nearest neighbou"),
])  # fmt: skip
def test_what_cannot_be_built_is_found_by_the_command_check(changes, line):
    assert check.problems_of_parts({"toy": selected(ORIGINAL)}, ORIGINAL, {"made": TASK}) == []
    ((name, found),) = check.problems_of_parts({"toy": selected(ORIGINAL, **changes)}, ORIGINAL, {"made": TASK})
    assert (name, found[: len(line)]) == ("toy", line)


@pytest.mark.parametrize(
    ("name", "mistake", "line"),
    [
        ("maps.montecarlo.RandomFourier._draw_frequencies", lambda *_: None, ".methods[0]: random_features/maps/sp"),
        ("kernels.gaussian.Gaussian.name", "gaus", ".kernel: Gaussian: its name must be 'gaussian', as in the re"),
        ("kernels.gaussian.Gaussian._values", lambda self, X, Y: X[:, None] - Y, ".kernel: gaussian: the matrix o"),
        ("learners.ridge.LEARNER", replace(LEARNER, cross_validate=lambda *_, **__: [0]), ".learners.ridge: decis"),
        ("learners.ridge.LEARNER", replace(LEARNER, targets=("binray",)), ".learners.ridge: its facts name targets"),
        ("learners.ridge.LEARNER", replace(LEARNER, grid="C"), ".learners.ridge: its LEARNER must have its own facts"),
    ],
)
def test_mistakes_in_a_new_map_kernel_or_learner_are_found_by_the_command_check(monkeypatch, name, mistake, line):
    monkeypatch.setattr(f"random_features.{name}", mistake)
    check.try_fit.cache_clear()
    found = check.problems_of_parts({"toy": selected(ORIGINAL)}, ORIGINAL, {"made": TASK})
    assert any(problem.startswith(line) for _, problem in found), found


@pytest.mark.parametrize("order", [["binary", "classes"], ["classes", "binary"]])
def test_a_metric_is_tried_on_the_target_of_each_data_set(order):
    tasks = {name: TASK | {"target": name} for name in order}
    toy = selected(ORIGINAL, scores=["auc_pct"])
    toy["datasets"] = dict.fromkeys(order, toy["datasets"]["made"])
    (found,) = problems_on_datasets(toy, ORIGINAL, tasks)
    problem = "'auc_pct' is no metric of a classes target; known are accuracy_pct, error_pct"
    assert found == f".datasets.classes.scores: {problem}"


def test_more_components_than_training_rows_cannot_be_built():
    settings = ORIGINAL | {"max_rows": 10}
    toy = selected(settings, preprocess=[{"pca": {"n_components": 12}}])
    ((_, found),) = check.problems_of_parts({"toy": toy}, settings, {"made": TASK | {"d": 20}})
    assert found == ".preprocess: pca cannot keep 12 components of 10 training rows with 20 columns"


@pytest.mark.parametrize(
    ("candidates", "line"),
    [([20], "candidates must be at least n_fe"), ([500], "got an unexpected keyword argument 'n_features'")],
)
def test_a_kind_checks_its_grid_and_its_cells_before_it_is_run(monkeypatch, candidates, line):
    grid = {"candidates": candidates, "n_features": 100, "penalties": [1], "n_folds": 2}
    own = {key: EXPERIMENT[key] for key in ("title", "paper", "protocol", "kernel", "preprocess", "bandwidth")}
    entry = {"method": "kprff", "variant": "", "options": {}, "module": "alignment", "defaults": {}}
    toy = own | {"name": "toy", "kind": "ranking", "grid": grid, "datasets": {"made": {}}, "methods": [entry]}
    monkeypatch.setattr("rfstudy.study.kinds.ranking.measure", lambda job, entry, *, repeat, n_candidates: None)
    found = check.problems_of_parts({"toy": toy}, ORIGINAL, {"made": TASK})
    assert any(problem.startswith(f".grid: {line}") for _, problem in found)
