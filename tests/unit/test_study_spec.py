"""From configuration to shards: merging, selecting, sharding, and what each stage is told."""

import copy

import pytest

from rfstudy.study import spec as specs

SETTINGS = {
    "preset": "quick", "seed": 1, "device": "cpu", "mirror": "", "allow_missing": False, "only_experiments": [],
    "only_datasets": [], "only_methods": [], "only_sizes": [], "data": "embedded", "repeats": 4, "svm_repeats": 2,
    "largest_multiple_of_d": None, "max_rows": None, "tuning": "shared", "tuning_max_rows": 100,
    "svm_solver": "auto", "max_svm_entries": None, "timing_runs": 3, "timing_threads": 1,
    "shard_by": ["experiment", "dataset", "method"], "repeats_per_shard": None, "train_threads": 1, "extent": "small",
}  # fmt: skip

EXPERIMENT = {
    "name": "toy",
    "paper": "survey",
    "protocol": "text",
    "kind": "grid",
    "kernel": "gaussian",
    "datasets": {"eeg": {"preprocess": ["standard_rows"]}, "skin": {"preprocess": ["minmax"]}},
    "methods": [{"method": "rff"}, {"method": "ssf", "variant": "one", "options": {"radii": "single"}}],
    "tuning_method": "rff",
    "sizes": {"multiples_of_d": [2, 4]},
    "bandwidth": {"rule": "fixed", "value": 1.0},
    "approximation": {"norm": "frobenius", "rows": 10},
    "learners": {"ridge": {"penalties": [1], "n_folds": 3}, "svm": {"C": [1], "n_folds": 3}},
}

MAPS = {"rff": "montecarlo.RandomFourier", "orf": "montecarlo.Orthogonal", "ssf": "quasi.Spherical"}


def selected(**settings):
    experiments = {"toy": copy.deepcopy(EXPERIMENT)}
    return specs.select(experiments, SETTINGS | settings, MAPS, {"eeg", "skin", "a8a"})


def test_a_shard_is_experiment_x_dataset_x_method():
    names = [s.name for s in specs.shards(selected()["toy"], SETTINGS)]
    assert names == ["eeg.rff", "eeg.ssf", "skin.rff", "skin.ssf"]


@pytest.mark.parametrize(
    "change",
    [
        {"datasets": {"eeg": {"preprocess": ["none", {"pca": {"n_componets": 3}}]}}},
        {"methods": [{"method": "rff", "preprocess": [{"pca": {"n_componets": 3}}]}]},
        {"methods": [{"method": "rff", "preprocess": {"skin": [{"pca": {"n_componets": 3}}]}}]},
        {"bandwidth": {"rule": "each_method", "grid": [1.0], "preprocess": [["none"], [{"pca": {"n_componets": 3}}]]}},
    ],
)
def test_a_wrong_step_is_named_wherever_it_stands(change):
    experiments = {"toy": copy.deepcopy(EXPERIMENT) | change}
    message = (
        "experiment 'toy': the preprocessing step 'pca' has no parameter 'n_componets'; it takes n_components; the"
    )
    with pytest.raises(specs.ConfigurationError, match=message):
        specs.select(experiments, SETTINGS, MAPS, {"eeg", "skin", "a8a"})


def test_the_steps_of_a_data_set_are_those_of_the_experiment_its_methods_and_its_bandwidth_rule():
    experiment = copy.deepcopy(EXPERIMENT)
    experiment["methods"] = [{"method": "rff", "preprocess": {"skin": ["unit"], "eeg": ["center"]}}, {"method": "orf"}]
    experiment["bandwidth"] = {"rule": "each_method", "preprocess": [["standard"], ["divide_255", "none"]]}
    assert specs.steps_of(experiment, "eeg") == ["standard_rows", "standard", "divide_255", "none", "center"]


def test_the_variants_of_a_method_are_in_one_shard():
    toy = selected()["toy"]
    toy["methods"] = [*toy["methods"], toy["methods"][1] | {"variant": "two"}]
    assert [(s.name, s.methods) for s in specs.shards(toy, SETTINGS)][:2] == [("eeg.rff", (0,)), ("eeg.ssf", (1, 2))]


def test_dropping_the_method_axis_puts_all_methods_into_one_shard():
    settings = SETTINGS | {"shard_by": ["experiment", "dataset"]}
    shards = specs.shards(selected()["toy"], settings)
    assert [(s.name, s.methods) for s in shards] == [("eeg", (0, 1)), ("skin", (0, 1))]


def test_repeats_per_shard_covers_every_repeat_once():
    settings = SETTINGS | {"repeats_per_shard": 3}
    of_rff = [s.repeats for s in specs.shards(selected()["toy"], settings) if s.name.startswith("eeg.rff")]
    assert of_rff == [(0, 1, 2), (3,)]


def test_the_support_vector_machine_gets_the_repeats_of_its_own():
    shard = specs.shards(selected()["toy"], SETTINGS)[0]
    assert specs.train_spec(selected()["toy"], shard, SETTINGS)["repeats"] == {"ridge": [0, 1, 2, 3], "svm": [0, 1]}


def test_the_preset_decides_the_solver_and_the_limit_of_the_support_vector_machine():
    settings = SETTINGS | {"svm_solver": "newton", "max_svm_entries": 1e6}
    toy = selected()["toy"]
    for spec in (
        specs.train_spec(toy, specs.shards(toy, settings)[0], settings),
        specs.tune_spec(toy, "eeg", settings),
    ):
        assert spec["learners"]["svm"] == {"C": [1], "n_folds": 3, "solver": "newton", "max_entries": 1e6}
        assert spec["learners"]["ridge"] == EXPERIMENT["learners"]["ridge"]


def test_generation_does_not_depend_on_learners():
    shard = specs.shards(selected()["toy"], SETTINGS)[0]
    other = copy.deepcopy(EXPERIMENT) | {"learners": {"ridge": {"penalties": [5], "n_folds": 2}}}
    assert specs.generate_spec(selected()["toy"], shard, SETTINGS) == specs.generate_spec(
        specs.select({"toy": other}, SETTINGS, MAPS, {"eeg", "skin"})["toy"], shard, SETTINGS
    )


def test_only_keeps_what_it_names():
    toy = selected(only_datasets=["skin"], only_methods=["ssf"])["toy"]
    assert list(toy["datasets"]) == ["skin"]
    assert [m["method"] for m in toy["methods"]] == ["ssf"]
    assert selected(only_datasets=["a8a"]) == {}


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"only_methods": ["rrf"]}, "only_methods names the method rrf; known are"),
        ({"only_datasets": ["eggs"]}, "only_datasets names the data set eggs; known are"),
        ({"only_experiments": ["toys"]}, "only_experiments names"),
    ],
)
def test_an_unknown_id_is_an_error_that_names_it(setting, message):
    with pytest.raises(specs.ConfigurationError, match=message):
        selected(**setting)


def test_one_method_twice_needs_variants():
    twice = copy.deepcopy(EXPERIMENT) | {"methods": [{"method": "rff"}, {"method": "rff"}]}
    with pytest.raises(specs.ConfigurationError, match="listed twice"):
        specs.select({"toy": twice}, SETTINGS, MAPS, {"eeg", "skin"})


def test_methods_walk_the_steps_and_keep_what_they_changed():
    steps = [
        {"name": "start"},
        {"name": "rows", "preprocess": ["standard_rows"]},
        {"name": "sum", "learners": {"ridge": {"scaling": "sum"}}},
        {"name": "one", "methods": ["ssf"], "options": {"radii": "single"}},
    ]
    methods = [
        {"method": "rff"},
        {"method": "ssf", "options": {"sweeps": 2}},
        {"method": "rff", "variant": "control"},
    ]
    entries = specs.with_steps({"methods": methods, "steps": steps})["methods"]
    assert [(e["method"], e["variant"]) for e in entries] == [
        ("rff", "start"), ("rff", "rows"), ("rff", "sum"),
        ("ssf", "start"), ("ssf", "rows"), ("ssf", "sum"), ("ssf", "one"),
        ("rff", "control"),
    ]  # fmt: skip
    assert entries[0] == {"method": "rff", "variant": "start"}
    assert entries[6] == {
        "method": "ssf", "variant": "one", "options": {"sweeps": 2, "radii": "single"},
        "preprocess": ["standard_rows"], "learners": {"ridge": {"scaling": "sum"}},
    }  # fmt: skip


def test_steps_by_data_set_are_those_of_the_data_sets_that_are_named():
    entry = {"method": "rff", "preprocess": {"eeg": ["unit"]}}
    toy = specs.select({"toy": copy.deepcopy(EXPERIMENT) | {"methods": [entry]}}, SETTINGS, MAPS, {"eeg", "skin"})[
        "toy"
    ]
    of = {shard.dataset: specs.train_spec(toy, shard, SETTINGS)["methods"][0] for shard in specs.shards(toy, SETTINGS)}
    assert of["eeg"]["preprocess"] == ["unit"]
    assert "preprocess" not in of["skin"]
    wrong = copy.deepcopy(EXPERIMENT) | {"methods": [{"method": "rff", "preprocess": {"covtpye": ["unit"]}}]}
    with pytest.raises(specs.ConfigurationError, match=r"names the data set covtpye; known are eeg, skin"):
        specs.select({"toy": wrong}, SETTINGS, MAPS, {"eeg", "skin"})


def test_sizes_that_were_asked_for_up_to_the_largest_of_a_data_set():
    toy = selected(only_sizes=["4d"])["toy"]
    assert specs.sizes_of(toy, "eeg") == {"multiples_of_d": [4]}
    assert specs.sizes_of(selected(largest_multiple_of_d=2)["toy"], "skin") == {"multiples_of_d": [2]}
    assert selected(largest_multiple_of_d=1) == {}
    toy = copy.deepcopy(selected()["toy"])
    toy["datasets"]["eeg"]["largest_multiple_of_d"] = 3
    assert specs.sizes_of(toy, "eeg") == {"multiples_of_d": [2]}
    assert specs.sizes_of(toy, "skin") == {"multiples_of_d": [2, 4]}
    with pytest.raises(specs.ConfigurationError, match="only_sizes names the size 5d; known are 2d, 4d"):
        selected(only_sizes=["5d"])


def test_an_experiment_may_tune_and_repeat_in_its_own_way():
    toy = copy.deepcopy(selected()["toy"]) | {"tuning": "per_cell", "repeats": 1}
    assert not specs.is_tuned(toy, SETTINGS)
    assert specs.shards(toy, SETTINGS)[0].repeats == (0,)
    assert specs.train_spec(toy, specs.shards(toy, SETTINGS)[0], SETTINGS)["tuning"] == "per_cell"
    toy["bandwidth"] = {"rule": "each_method"}
    assert specs.is_tuned(toy, SETTINGS)
    assert specs.tuning(toy, SETTINGS) == "per_cell"
    assert specs.tuning(toy | {"tuning": "shared"}, SETTINGS) == "per_method"
    assert [e["variant"] for e in specs.tuned_methods(toy)] == ["", "one"]


def test_generation_does_not_depend_on_a_methods_own_learner():
    toy = copy.deepcopy(selected()["toy"])
    toy["methods"][0]["learners"] = {"ridge": {"scaling": "sum"}}
    shard = specs.shards(toy, SETTINGS)[0]
    assert "learners" not in specs.generate_spec(toy, shard, SETTINGS)["methods"][0]
    assert "learners" in specs.train_spec(toy, shard, SETTINGS)["methods"][0]


def test_extends_merges_mappings_and_replaces_lists(tmp_path):
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "a.yaml").write_text(
        "base: {learners: {ridge: {scaling: mean, n_folds: 5}}, methods: [{method: rff}, {method: orf}]}\n"
        "child: {extends: base, learners: {ridge: {scaling: sum}}, methods: [{method: ssf}]}\n"
    )
    child = specs.load_experiments(tmp_path)["child"]
    assert child["learners"]["ridge"] == {"scaling": "sum", "n_folds": 5}
    assert child["methods"] == [{"method": "ssf"}]


def test_null_removes_what_is_inherited():
    merged = specs.merge(EXPERIMENT, {"datasets": {"eeg": None}, "learners": {"svm": None}})
    assert (list(merged["datasets"]), list(merged["learners"])) == (["skin"], ["ridge"])
    assert "eeg" in EXPERIMENT["datasets"]


def test_choices_are_shared_by_experiments_that_differ_in_names_and_have_fewer_sizes():
    toy = selected()["toy"]
    few = toy | {"name": "few", "sizes": {"multiples_of_d": [4]}, "methods": [{"method": "orf"}]}
    summed = toy | {"name": "summed", "learners": {"ridge": {"penalties": [2], "n_folds": 3}}}
    all_sizes, fewer, other = (specs.tune_spec(e, "eeg", SETTINGS) for e in (toy, few, summed))
    assert specs.same_choices(all_sizes, fewer)
    assert not specs.same_choices(fewer, all_sizes)
    assert not specs.same_choices(all_sizes, other)
    assert not specs.same_choices(all_sizes, specs.tune_spec(toy, "skin", SETTINGS))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: {extends: b}\nb: {extends: a}\n", "in a circle"),
        ("a: {extends: c}\n", "extends 'c', which does not exist"),
        ("a: [1\n", "a.yaml"),
    ],
)
def test_broken_experiments_are_named(tmp_path, text, message):
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "a.yaml").write_text(text)
    with pytest.raises(specs.ConfigurationError, match=message):
        specs.load_experiments(tmp_path)


def test_settings_are_the_preset_under_what_the_user_gives(tmp_path):
    (tmp_path / "presets").mkdir()
    (tmp_path / "presets" / "tiny.yaml").write_text("preset: tiny\nrepeats: 3\nmax_rows: 10\n")
    general = {"only_experiments": [], "only_datasets": "eeg, skin", "only_methods": [], "only_sizes": []}
    given = {"preset": "tiny", "repeats": 5, "allow_missing": "true", "max_rows": "null", **general}
    settings = specs.load_settings(given, tmp_path)
    assert settings["repeats"] == 5
    assert settings["allow_missing"] is True
    assert settings["max_rows"] is None
    assert settings["only_datasets"] == ["eeg", "skin"]


THEORY = {
    "name": "theory", "paper": "survey", "protocol": "text", "kind": "variance", "kernel": "gaussian",
    "methods": [{"method": "rff"}, {"method": "orf"}],
    "grid": {"dimensions": [4, 8], "draws": 10},
    "large": {"draws": 100},
}  # fmt: skip


def theory(**settings):
    return specs.select({"theory": copy.deepcopy(THEORY)}, SETTINGS | settings, MAPS, {"eeg", "skin", "a8a"})


def test_an_experiment_of_another_kind_needs_no_data_and_no_tuning():
    assert [s.name for s in specs.shards(theory()["theory"], SETTINGS)] == ["rff", "orf"]
    together = SETTINGS | {"shard_by": ["experiment", "dataset"], "repeats_per_shard": 1}
    assert [(s.name, s.methods, s.repeats) for s in specs.shards(theory()["theory"], together)] == [
        ("all", (0, 1), (0, 1, 2, 3))
    ]
    assert [m["method"] for m in theory(only_methods=["orf"])["theory"]["methods"]] == ["orf"]
    assert theory(only_datasets=["eeg"]) == {}


def test_the_large_grid_is_laid_over_the_small_one():
    chosen = theory()["theory"]
    shard = specs.shards(chosen, SETTINGS)[0]
    small = specs.measure_spec(chosen, shard, SETTINGS)
    large = specs.measure_spec(chosen, shard, SETTINGS | {"extent": "large"})
    assert small["grid"] == THEORY["grid"]
    assert large["grid"] == {"dimensions": [4, 8], "draws": 100}
    assert [m["method"] for m in large["methods"]] == ["rff"]
