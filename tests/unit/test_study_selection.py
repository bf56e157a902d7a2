"""What a run builds: its restrictions, what a preset lays under and over an experiment, ids that there are none of."""

import copy

import pytest
import study_toys as toys
from study_toys import EXPERIMENT, SETTINGS, selected

from rfstudy.study import config, plan, selection
from rfstudy.study.code import SOURCE
from rfstudy.study.job import merge

CONFIG = SOURCE.parent / "config"


def test_the_repositorys_experiments_pass_and_plan_under_every_preset():
    experiments = config.load_experiments(CONFIG)
    for preset in (path.stem for path in (CONFIG / "presets").glob("*.yaml")):
        settings = config.load_settings(config.read_yaml(CONFIG / "config.yaml") | {"preset": preset}, CONFIG)
        datasets = set().union(*map(selection.datasets_named, experiments.values()))
        chosen = selection.select(experiments, settings, toys.MAPS, datasets)
        # all sizes of this one are above the largest of the quick preset
        assert set(experiments) - set(chosen) == ({"slsrff-code-large"} if preset == "quick" else set())
        for experiment in chosen.values():
            for stage in plan.stages_of(experiment):
                assert all(plan.parts_of(stage, experiment, s, settings) for s in plan.shards(experiment, settings))
            for shard in plan.tune_shards(experiment, settings):
                assert plan.parts_of("tune", experiment, shard, settings)
            for shard in plan.time_shards(experiment, settings):
                assert plan.parts_of("time", experiment, shard, settings)


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
    assert list(selection.select(experiments, SETTINGS | {"only_experiments": ["other"]}, toys.MAPS, {"made"})) == [
        "other"
    ]
    assert selection.select(experiments, SETTINGS | {"only_datasets": ["eeg"]}, toys.MAPS, {"made", "eeg"}) == {}
    assert selection.select(experiments, SETTINGS | {"only_methods": ["orf"]}, toys.MAPS, {"made"}) == {}


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"only_methods": ["rrf"]}, "only_methods names the method rrf; did you mean rff"),
        ({"only_datasets": ["eggs"]}, "only_datasets names the data set eggs; known are made"),
        ({"prepared_together": ["eggs"]}, "prepared_together names the data set eggs; known are made"),
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
        toy = merge(EXPERIMENT, change)
        with pytest.raises(config.ConfigurationError, match="names the data set eegg; did you mean eeg"):
            selection.select({"toy": toy}, SETTINGS, toys.MAPS, {"made", "eeg"})


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


def test_what_a_preset_says_of_the_learners_of_one_experiment_goes_over_what_it_says_of_all():
    svm = {"svm": toys.SVM}
    preset = {"learners": {"svm": {"solver": "newton", "repeats": 3, "max_entries": 1e8}}}
    preset["experiments"] = {
        "toy": {"learners": {"svm": {"repeats": 1}}},
        "other": {"learners": {"svm": {"repeats": 2}}},
    }
    assert selected(preset, learners=svm)["learners"]["svm"] == toys.SVM | {
        "solver": "newton", "repeats": 1, "max_entries": 1e8
    }  # fmt: skip
    preset["experiments"] = {"toy": {"datasets": {"made": {"learners": {"svm": {"max_entries": 5e8}}}}}}
    laid = selected(preset, learners=svm, datasets={"made": {"learners": {"svm": {"max_entries": 5e8}}}})
    assert laid["learners"]["svm"]["max_entries"] == 1e8
    assert plan.on_dataset(laid, "made")["learners"]["svm"] == toys.SVM | {
        "solver": "newton", "repeats": 3, "max_entries": 5e8
    }  # fmt: skip
    # one that the preset takes away of the experiment needs nothing laid over it
    preset["experiments"] = {"toy": {"learners": {"svm": None}}}
    assert list(selected(preset)["learners"]) == ["ridge"]


THEORY = {
    "name": "theory", "title": "t", "paper": "survey", "protocol": "text", "kind": "decay",
    "kernel": {"name": "gaussian", "length_scale": 1}, "methods": [{"method": "rff"}, {"method": "orf"}],
    "grid": {"dimensions": [4, 8], "rows": 10, "n_features": [8], "norms": ["sup"], "ridge": 0.1},
    "large": {"rows": 100},
}  # fmt: skip


def theory(**settings):
    return selection.select({"theory": copy.deepcopy(THEORY)}, SETTINGS | settings, toys.MAPS, {"eeg"})


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


def test_a_run_of_some_kernels_chooses_nothing_for_the_others():
    square = {"name": "polynomial", "degree": 2, "coef0": 1}
    methods = [{"method": "rff"}, {"method": "trp", "kernel": square}]
    for wanted in (["rff", "trp"], ["trp"]):
        toy = selected({"only_methods": wanted}, methods=methods, search={"method": methods})
        assert [entry["method"] for entry in toy["search"]["method"]] == wanted
