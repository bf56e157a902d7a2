"""The contents of a run: its restrictions, what a preset lays under and over an experiment, unknown ids; and the
entries of an experiment, with steps written out.
"""

import copy

import pytest
import study_toys as toys
from study_toys import EXPERIMENT, SETTINGS, selected

from rfstudy.planning import config, models, plan


def test_only_keeps_what_it_names():
    toy = {"datasets": {"eeg": {}, "skin": {}, "made": None}, "methods": [{"method": "rff"}, {"method": "ssf"}]}
    found = selected({"only_datasets": ["skin"], "only_methods": ["ssf"]}, **toy)
    assert list(found["datasets"]) == ["skin"]
    assert [entry["method"] for entry in found["methods"]] == ["ssf"]
    assert selected({"only_experiments": ["toy"]}, **toy)["name"] == "toy"
    experiments = {"toy": copy.deepcopy(EXPERIMENT), "other": copy.deepcopy(EXPERIMENT) | {"name": "other"}}
    assert list(config.select(experiments, SETTINGS | {"only_experiments": ["other"]}, {"made"})) == ["other"]
    assert config.select(experiments, SETTINGS | {"only_datasets": ["eeg"]}, {"made", "eeg"}) == {}
    assert config.select(experiments, SETTINGS | {"only_methods": ["orf"]}, {"made"}) == {}
    # a request for data sets is no request for an experiment without any
    assert toys.theory({"only_datasets": ["eeg"]}) == {}
    assert [m["method"] for m in toys.theory({"only_methods": ["orf"]})["methods"]] == ["orf"]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"only_methods": ["rrf"]}, "only_methods names the method rrf; did you mean rff"),
        ({"only_datasets": ["eggs"]}, "only_datasets names the data set eggs; known are made"),
        ({"prepared_together": ["eggs"]}, "prepared_together names the data set eggs; known are made"),
        ({"only_experiments": ["toys"]}, "only_experiments names the experiment toys; did you mean toy"),
        ({"only_sizes": ["5d"]}, "only_sizes names the size 5d; known are 2d"),
        ({"only_methods": ["rrf"], "only_sizes": ["5d"]}, "\nonly_sizes names the size 5d"),
    ],
)
def test_an_unknown_id_of_the_settings_is_an_error_that_names_it(setting, message):
    with pytest.raises(config.ConfigurationError, match=message):
        selected(setting)


def test_the_preset_lies_under_the_search_over_the_learners_and_under_the_time():
    preset = {
        "search": {"penalty": {"tune_per": "size"}, "max_rows": 77},
        "learners": {"ridge": {"repeats": 2}, "svm": {"solver": "newton"}},
        "time": SETTINGS["time"] | {"rounds": 5, "threads": 2},
    }
    toy = selected(preset, search={"max_rows": 10, "method": {"method": "rff"}}, time={"rounds": 4})
    assert toy["search"]["penalty"] == {"tune_per": "size"}
    assert toy["search"]["max_rows"] == 10
    assert toy["learners"] == {"ridge": toys.RIDGE | {"repeats": 2}}  # no learner that the experiment does not have
    assert toy["time"] == preset["time"] | {"rounds": 4}
    assert selected(preset, search={"penalty": {"tune_per": "cell"}})["search"]["penalty"] == {"tune_per": "cell"}
    assert "time" not in selected(preset)
    # a null on a data set removes the experiment's search there, and leaves the preset's
    toy = selected(preset, search={"max_rows": 10}, datasets={"made": {"search": None}})
    assert plan.on_dataset(toy, "made")["search"] == preset["search"]


def test_what_a_preset_says_of_the_learners_of_one_experiment_goes_over_what_it_says_of_all():
    svm = {"svm": toys.SVM}
    preset = {"learners": {"svm": {"solver": "newton", "repeats": 3, "max_entries": 1e8}}}
    one, two = ({"learners": {"svm": {"repeats": repeats}}} for repeats in (1, 2))
    preset["experiments"] = {"toy": one, "other": two}
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


def test_sizes_that_were_asked_for_up_to_the_largest_multiple():
    of = {"sizes": {"multiples_of_d": [2, 4], "values": [1000]}}
    assert selected({"only_sizes": ["4d"]}, **of)["sizes"] == {"multiples_of_d": [4], "values": []}
    few = selected({"only_sizes": ["4d"]}, **of, datasets={"made": {"largest_multiple_of_d": 2}, "eeg": {}})
    assert list(few["datasets"]) == ["eeg"]
    # a limit on multiples of d says nothing of other sizes
    assert selected({"largest_multiple_of_d": 2}, **of)["sizes"] == {"multiples_of_d": [2], "values": [1000]}
    assert selected({"largest_multiple_of_d": 1}, sizes={"multiples_of_d": [2, 4]}) == {}
    # what a run asks for holds for the sizes of a data set, too
    own = {"datasets": {"made": {"sizes": {"multiples_of_d": [2, 8]}}}, "sizes": {"multiples_of_d": [2, 4]}}

    def on_made(**settings):
        return plan.on_dataset(selected(settings, **own), "made")["sizes"]

    assert on_made() == {"multiples_of_d": [2, 8]}
    assert on_made(largest_multiple_of_d=4) == {"multiples_of_d": [2]}
    assert on_made(only_sizes=["8d"]) == {"multiples_of_d": [8]}
    # a null removes the sizes of one rule there, and nothing is left if no entry runs at what is left
    own = of | {"datasets": {"made": {"sizes": {"values": None}}}, "methods": [{"method": "rff", "only_sizes": ["2d"]}]}
    assert on_made(only_sizes=["2d"]) == {"multiples_of_d": [2]}
    assert selected({"only_sizes": ["4d"]}, **own) == {}


def test_a_run_of_some_kernels_chooses_nothing_for_the_others():
    square = {"name": "polynomial", "degree": 2, "coef0": 1}
    methods = [{"method": "rff"}, {"method": "trp", "kernel": square}]
    for wanted in (["rff", "trp"], ["trp"]):
        toy = selected({"only_methods": wanted}, methods=methods, search={"method": methods})
        assert [entry["method"] for entry in toy["search"]["method"]] == wanted


def test_methods_walk_the_steps_and_keep_what_they_changed():
    steps = [
        {"name": "start"},
        {"name": "rows", "datasets": {"eeg": {"preprocess": ["standard_rows"]}}},
        {"name": "sum", "learners": {"ridge": {"scaling": "sum"}}},
        {"name": "one", "methods": ["ssf"], "options": {"radii": "single"}},
    ]
    methods = [{"method": "rff"}, {"method": "ssf", "options": {"sweeps": 2}}, {"method": "rff", "variant": "control"}]
    entries = models.with_steps({"methods": methods, "steps": steps})["methods"]
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


def test_the_draws_of_an_entry_are_entries_of_their_own():
    methods = [{"method": "rff", "draws": [0, 2]}, {"method": "nystroem", "variant": "rpcholesky", "draws": [1]}]
    assert models.with_steps({"methods": methods})["methods"] == [
        {"method": "rff"},
        {"method": "rff", "variant": "draw-2", "draw": 2},
        {"method": "nystroem", "variant": "rpcholesky-draw-1", "draw": 1},
    ]


def test_entries_are_distinguished_by_their_kernels_too():
    zero, one = ({"name": "arc_cosine", "order": order} for order in (0, 1))
    entries = [{"method": "rff"}, {"method": "rff", "kernel": zero}, {"method": "rff", "kernel": one}]
    assert models.listed_twice(entries) == []
    assert models.listed_twice([*entries, {"method": "rff", "kernel": one}]) == [("rff", "", "arccos1")]
    assert plan.kernels_of({"kernel": zero, "methods": [*entries, None]}) == [zero, one]
