"""From experiments to jobs: shards, what differs by data set, and what each stage receives."""

import os

import pytest
import study_toys as toys
from checkouts import ROOT
from study_toys import SETTINGS, parts, selected

from random_features.errors import UserError
from rfstudy.files import read_yaml
from rfstudy.planning import config, cost, plan, problems
from rfstudy.planning.jobs import Jobs, jobs_in_queue
from rfstudy.study import job
from rfstudy.study.code import SOURCE
from rfstudy.study.job import merge
from rfstudy.study.kinds.grid import grid_cells

SSF = [{"method": "ssf", "variant": "one", "options": {"radii": "single"}}, {"method": "ssf", "variant": "two"}]
TWO = {"datasets": {"eeg": {}, "skin": {}, "made": None}, "methods": [{"method": "rff"}, *SSF]}
TWO |= {"learners": {"svm": toys.SVM}}
BY_METHOD = {"shard_by": ["experiment", "dataset", "method"]}

#: The variants of the entries of ``TWO``.
ALL = ["", "one", "two"]


def variants(shard):
    """Return the variants of the entries in each part of a shard."""
    return [[entry["variant"] for entry in part.methods] for part in shard.parts]


def test_a_shard_is_experiment_x_dataset_x_method_with_all_its_variants():
    shards = plan.shards_of("train", selected(**TWO), SETTINGS | BY_METHOD)
    assert [(s.name, s.datasets, variants(s)) for s in shards] == [
        ("eeg.rff", ("eeg",), [[""]]),
        ("eeg.ssf", ("eeg",), [["one", "two"]]),
        ("skin.rff", ("skin",), [[""]]),
        ("skin.ssf", ("skin",), [["one", "two"]]),
    ]
    assert all(s.repeats == [0, 1, 2, 3] for s in shards)


@pytest.mark.parametrize(
    ("axes", "expected"),
    [
        (["experiment", "dataset"], [("eeg", ("eeg",), [ALL]), ("skin", ("skin",), [ALL])]),
        (["experiment"], [("all", ("eeg", "skin"), [ALL, ALL])]),
    ],
)
def test_dropping_axes_puts_what_they_separate_into_one_shard(axes, expected):
    shards = plan.shards_of("train", selected(**TWO), SETTINGS | {"shard_by": axes})
    assert [(s.name, s.datasets, variants(s)) for s in shards] == expected


def test_an_experiment_may_say_itself_what_separates_its_jobs():
    own = selected(**TWO, search={"penalty": {"tune_per": "method_and_size"}}) | {"shard_by": ["experiment"]}
    (shard,) = plan.shards_of("train", own, SETTINGS | BY_METHOD)
    assert (shard.name, shard.datasets) == ("all", ("eeg", "skin"))
    assert [s.name for s in plan.shards_of("tune", own, SETTINGS | BY_METHOD)] == ["all"]
    by_method = own | {"shard_by": BY_METHOD["shard_by"]}
    names = [s.name for s in plan.shards_of("train", by_method, SETTINGS | {"shard_by": ["experiment"]})]
    assert names == [s.name for s in plan.shards_of("train", selected(**TWO), SETTINGS | BY_METHOD)]
    # choices are made with all methods together
    assert [s.name for s in plan.shards_of("tune", by_method, SETTINGS)] == ["eeg", "skin"]


def test_a_cut_covers_every_repeat_once():
    shards = [each for s in plan.shards_of("train", selected(**TWO), SETTINGS | BY_METHOD) for each in s.cut(3)]
    assert [(s.name, s.repeats) for s in shards[:2]] == [("eeg.rff.r0-2", [0, 1, 2]), ("eeg.rff.r3-3", [3])]
    assert len({s.name for s in shards}) == len(shards) == 8


def test_an_experiment_may_have_fewer_repeats_than_the_preset_and_never_more():
    for repeats, expected in ((1, [0]), (9, [0, 1, 2, 3])):
        (shard,) = plan.shards_of("train", selected(repeats=repeats), SETTINGS)
        assert shard.repeats == expected


def test_an_experiment_without_data_has_shards_by_method_and_its_repeats_stay_together():
    decay = toys.theory()
    shards = plan.shards_of("measure", decay, SETTINGS | BY_METHOD)
    of_all = [(shard.name, shard.datasets, shard.repeats) for shard in shards]
    assert of_all == [("rff", ("",), [0, 1, 2, 3]), ("orf", ("",), [0, 1, 2, 3])]
    (part,) = shards[0].parts
    assert part.dataset == ""
    assert part.grid == {"dimensions": [4, 8], "rows": 10, "n_features": [8], "norms": ["sup"], "ridge": 0.1}
    assert [entry["method"] for entry in part.methods] == ["rff"]
    assert plan.shards_of("tune", decay, SETTINGS) == []


def test_settings_of_a_data_set_are_laid_over_the_experiment_there_and_nowhere_else():
    toy = selected(
        datasets={
            "eeg": {
                "preprocess": ["minmax"],
                "sizes": {"multiples_of_d": [4, 8], "values": [3]},
                "largest_multiple_of_d": 4,
                "split": {"rule": "random", "n_train": 30, "n_test": 10},
                "bandwidth": {"length_scale": 0.5},
                "options": {"ssf": {"radii": "all", "n_radii": 3}},
                "learners": {"ridge": {"penalties": [7.0]}},
            },
            "skin": {},
            "made": None,
        },
        methods=TWO["methods"],
    )
    eeg, skin = parts("train", toy)
    assert (eeg.preprocess, skin.preprocess) == (["minmax"], ["none"])
    assert (eeg.sizes, skin.sizes) == ({"multiples_of_d": [4], "values": [3]}, {"multiples_of_d": [2]})
    assert (eeg.split, skin.split) == ({"rule": "random", "n_train": 30, "n_test": 10}, None)
    assert (eeg.bandwidth["length_scale"], skin.bandwidth["length_scale"]) == (0.5, 2.0)
    assert eeg.learners["ridge"] == toys.RIDGE | {"penalties": [7.0]}
    assert skin.learners["ridge"] == toys.RIDGE
    # under an entry's own options, and under those of no other method
    single, every = {"radii": "single", "n_radii": 3}, {"radii": "all", "n_radii": 3}
    assert [entry["options"] for entry in eeg.methods] == [{}, single, every]
    assert [entry["options"] for entry in skin.methods] == [{}, {"radii": "single"}, {}]


def test_a_search_may_be_shared_by_others_on_one_data_set():
    wide = {"search": {"tune_per": "method_and_size", "penalty": {"tune_per": "method_and_size"}}}
    toy = selected(
        {"search": {"max_rows": 50}},
        datasets={"eeg": {}, "skin": wide, "made": None},
        bandwidth=None,
        search={"tune_per": "cell", "length_scale": {"grid": [1, 2]}, "penalty": {}},
    )
    eeg, skin = parts("tune", toy)
    assert eeg.search == {"tune_per": "cell", "length_scale": {"grid": [1, 2]}, "penalty": {}, "max_rows": 50}
    assert job.tune_scope(skin.search, "length_scale") == job.tune_scope(skin.search, "penalty")
    assert job.tune_scope(skin.search, "penalty") == "method_and_size"


def test_a_learner_with_fewer_repeats_is_trained_in_the_first_of_them():
    toy = selected({"learners": {"svm": {"repeats": 2}}}, learners={"svm": toys.SVM})
    repeats = {"": [0, 1, 2, 3], "ridge": [0, 1, 2, 3], "svm": [0, 1]}
    (whole,) = plan.shards_of("train", toy, SETTINGS)
    for shard in whole.cut(3):
        (part,) = shard.parts
        for learner, expected in repeats.items():
            cells = grid_cells(part, {}, 5, learner)
            assert [c.coordinates["repeat"] for c in cells] == [r for r in expected if r in shard.repeats]
            assert all("repeats" not in cell.conditions.get("settings", {}) for cell in cells)


def test_nothing_is_tuned_where_every_cell_chooses_its_penalty_and_nothing_else_is_open():
    assert plan.shards_of("tune", selected(), SETTINGS) == []
    shared = selected(search={"penalty": {"tune_per": "method_and_size"}})
    assert plan.shards_of("tune", shared, SETTINGS)
    assert job.searched(shared["search"]) == ["penalty"]
    both = selected(search={"length_scale": {"grid": [1]}, "options": {"grid": [{}]}, "tune_per": "cell"})
    assert job.searched(both["search"]) == ["length_scale", "options"]


EVERYONES = {"method": {"method": "rff"}, "size": {"multiples_of_d": 2}}


@pytest.mark.parametrize(("scope", "methods", "has_sizes"), [
    ("experiment", 0, False), ("size", 0, True), ("method", 1, False), ("method_and_size", 1, True),
    ("cell", 1, True),
])  # fmt: skip
def test_tune_receives_what_its_circle_looks_at_and_no_more(scope, methods, has_sizes):
    search = EVERYONES | {"length_scale": {"grid": [1, 2], "tune_per": scope}}
    (part,) = parts("tune", selected(search=search))
    assert (len(part.methods), part.sizes is not None) == (methods, has_sizes)
    assert [entry["method"] for entry in part.shared_methods] == ["rff"]
    assert part.repeats == [0, 1, 2, 3]


RFF, ARC_COSINE = {"method": "rff"}, {"method": "rff", "kernel": {"name": "arc_cosine", "order": 1}}
LENGTHS = {"length_scale": {"grid": [1], "tune_per": "cell"}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kernel": {"name": "linear"}, "search": LENGTHS}, "searches a length scale, the kernel linear has none"),
        ({"methods": [RFF, ARC_COSINE], "search": LENGTHS}, "searches a length scale, the kernel arc_cosine has none"),
        (
            {"methods": [RFF, ARC_COSINE], "search": {"method": RFF, "penalty": {"tune_per": "size"}}},
            "search.method must name one method for arccos1, it has 0: what all methods share is shared by those of o",
        ),
        (
            {"methods": [RFF], "search": {"method": [RFF, {"method": "orf"}], "penalty": {"tune_per": "size"}}},
            "search.method must name one method for the kernel of the experiment, it has 2",
        ),
        (
            {"draws": 2, "methods": [RFF | {"sweep": {"axis": "nodes", "option": "n_nodes", "values": [2]}}]},
            "has draws and an entry with a sweep",
        ),
        ({"methods": [RFF, {"method": "ts"}]}, "ts does not apply to the kernel gaussian; it supports polynomial"),
        ({"methods": [ARC_COSINE | {"method": "nsrf"}]}, "nsrf does not apply to the kernel arccos1"),
        ({"draws": 2, "time": {}}, "has draws and a time"),
        ({"draws": 2, "search": LENGTHS}, "all draws of a repeat share a choice by the scope split"),
    ],
)
def test_what_is_left_open_or_has_nothing_to_be_chosen_with_is_an_error_before_anything_runs(change, message):
    toy = selected(**change)
    (problem,) = problems.problems_of_choices(plan.on_dataset(toy, next(iter(toy["datasets"]))))
    assert message in problem


def test_the_learner_of_a_search_serves_the_target():
    own = {"learners": {"svm": {}}, "search": {"length_scale": {"grid": [1, 2], "tune_per": "cell"}}}
    (problem,) = problems.problems_of_target(own, "regression", ".datasets.a")
    assert "svm, by which the search chooses, serves binary and classes, and the target is regression" in problem
    assert not problems.problems_of_target(own, "binary", "")
    assert not problems.problems_of_target(own | {"search": {}}, "regression", "")


@pytest.mark.parametrize(
    "change",
    [
        {"bandwidth": None, "methods": [{"method": "rff", "length_scale": 1.0}]},
        {"bandwidth": None, "kernel": {"name": "arc_cosine", "order": 1}},
        {"bandwidth": None, "kernel": {"name": "gaussian", "length_scale": 1.0}},
        {"bandwidth": None, "search": LENGTHS},
    ],
)
def test_every_place_for_a_length_scale_will_do(change):
    toy = selected(**change)
    for dataset in toy["datasets"]:
        assert not [*problems.problems_of_choices(plan.on_dataset(toy, dataset))]


def test_a_timed_job_has_all_methods_of_a_data_set_and_the_sizes_that_the_preset_asks_for():
    timed = {"datasets": "examples", "sizes": 2, "rounds": 4, "again": 1, "threads": 2}
    of_eeg = {"time": {"learner": "ridge", "examples": ["eeg"]}}
    toy = selected({"time": timed}, **TWO, sizes={"multiples_of_d": [1, 2, 4, 8]}, **of_eeg)
    (shard,) = plan.shards_of("time", toy, SETTINGS | BY_METHOD)
    assert (shard.name, variants(shard)) == ("eeg", [ALL])
    (part,) = shard.parts
    assert part.sizes == {"multiples_of_d": [1, 8]}
    assert part.time == {"rounds": 4, "again": 1, "threads": 2}
    (part,) = parts("time", merge(toy, {"time": {"sizes": ["2d", "4d"]}}))
    assert part.sizes == {"multiples_of_d": [2, 4]}
    assert part.learners == {"ridge": toys.RIDGE}
    everything = selected({"time": timed | {"datasets": "all", "sizes": None}}, **TWO, time={})
    assert [s.name for s in plan.shards_of("time", everything, SETTINGS | BY_METHOD)] == ["eeg", "skin"]
    (whole,) = plan.shards_of("time", everything, SETTINGS | {"shard_by": ["experiment"]})
    assert whole.datasets == ("eeg", "skin")
    assert plan.shards_of("time", selected({"time": timed}, **TWO, time={}), SETTINGS) == []
    assert plan.shards_of("time", selected(**TWO), SETTINGS) == []


def test_of_a_grid_without_data_the_ends_are_named():
    grid = {"rows": 10, "fixed_dimension": 4, "n_features": [8], "fixed_n_features": 8, "dimensions": [2]}
    for number, ends in ((2, {"ends": 2}), (None, {})):
        settings = SETTINGS | {"time": SETTINGS["time"] | {"sizes": number}}
        (part,) = parts("time", toys.theory(settings, kind="scaling", grid=grid, time={}), settings)
        assert part.grid == grid | ends
        assert [entry["method"] for entry in part.methods] == ["rff", "orf"]


@pytest.mark.parametrize("name", ["nsrf-combination", "survey-million-code", "slsrff-text"])
def test_times_are_taken_in_the_first_repeat(name):
    given = read_yaml(ROOT / "config/config.yaml") | read_yaml(ROOT / "config/presets/laptop.yaml")
    jobs = Jobs(config.load_study(given, ROOT / "config"), ROOT)
    shard, *_ = jobs.shards_of("time", name).values()
    parts = jobs.arguments("time", name, shard)["parts"]
    assert [part["repeats"] for part in parts] == [[0]] * len(parts)


def test_the_code_of_a_job_is_that_of_its_kind_maps_learners_rules_and_steps_on_its_data_sets():
    toy = selected(
        datasets={
            "eeg": {"preprocess": ["minmax"]},
            "skin": {"bandwidth": {"rule": "median", "length_scale": None}},
            "made": None,
        },
        methods=[
            {"method": "rff", "datasets": {"eeg": {"preprocess": ["unit"]}}},
            {"method": "qmc", "preprocess": [{"pca": {"n_components": 2}}]},
        ],
        search={"method": {"method": "orf"}, "penalty": {"tune_per": "size"}},
        learners={"svm": toys.SVM},
        time={"learner": "svm"},
    )

    def roots(stage, dataset, prefix=""):
        (part,) = [each for each in parts(stage, toy) if each.dataset == dataset]
        found = job.code_roots(stage, part.stated())
        assert all((SOURCE / f"{root.replace('.', '/')}.py").is_file() for root in found)
        return sorted(root.removeprefix(prefix) for root in found if root.startswith(prefix))

    maps, learners = "random_features.maps.", "random_features.learners."
    gaussian, of_maps = "random_features.kernels.gaussian", [f"{maps}montecarlo", f"{maps}quasi"]
    both = [f"{learners}ridge", f"{learners}svm"]
    assert roots("train", "eeg") == [
        gaussian, *both, *of_maps, "rfstudy.data.bandwidths.fixed", "rfstudy.data.steps.minmax",
        "rfstudy.data.steps.pca", "rfstudy.data.steps.unit", "rfstudy.study.kinds.grid", "rfstudy.study.train",
    ]  # fmt: skip
    assert roots("train", "skin") == [
        gaussian, *both, *of_maps, "rfstudy.data.bandwidths.median", "rfstudy.data.steps.none",
        "rfstudy.data.steps.pca", "rfstudy.study.kinds.grid", "rfstudy.study.train",
    ]  # fmt: skip
    for stage, named in {"tune": ["ridge", "svm"], "train": ["ridge", "svm"], "time": ["svm"]}.items():
        assert roots(stage, "eeg", learners) == named
    # tune draws the map that represents all, and the others where they share a penalty or have choices of their own
    toy["search"]["method"][0]["method"] = "fastfood"
    for scope in ("size", "method_and_size"):
        toy["search"]["penalty"]["tune_per"] = scope
        assert roots("tune", "eeg", maps) == ["montecarlo", "quasi", "structured"]
    toy["search"] |= {"penalty": {"tune_per": "cell"}, "preprocess": {"grid": [["none"]], "tune_per": "experiment"}}
    assert roots("tune", "eeg", maps) == ["structured"]
    assert roots("train", "eeg", maps) == ["montecarlo", "quasi"]


def test_the_memory_of_a_job_grows_with_what_it_holds_and_never_beyond_n_columns_of_a_gram_matrix():
    tasks = {"eeg": {"n": 10_000, "d": 10, "generator": {}}, "skin": {"n": 1000, "d": 10, "generator": {}}}

    def asked(stage="train", settings=None, **changes):
        (shard,) = plan.shards_of(stage, selected(settings, **(TWO | changes)), SETTINGS)
        return cost.memory_of_shard(shard, tasks, SETTINGS | (settings or {}))

    small = asked(learners={"svm": None})
    # 200 columns of 10,000 rows, 40 bytes each
    assert asked() - small == pytest.approx(40 * 10_000 * 40 / 2**20, rel=0.1)
    large = {"sizes": {"multiples_of_d": [500]}, "learners": {"svm": None}}
    kept = 2 * 268_435_456  # features that stay in memory, and a copy
    assert asked(**large) - small == pytest.approx((80 * 10_000**2 + kept) / 2**20, rel=0.01)
    assert asked(**large | {"sizes": {"multiples_of_d": [1000]}}) == asked(**large)
    assert asked(settings={"max_rows": 100}, **large) < asked(**large)
    shared = {"penalty": {"tune_per": "method_and_size"}}
    fewer, all_rows = (asked("tune", **large | {"search": shared | own}) for own in ({"max_rows": 100}, {}))
    assert fewer < all_rows


def test_a_method_is_run_at_the_sizes_that_its_data_set_says_unless_an_entry_names_some():
    toy = selected(
        methods=[
            {"method": "rff"},
            {"method": "rff", "variant": "own", "only_sizes": ["d"]},
            {"method": "orf", "datasets": {"eeg": {"only_sizes": ["4d"]}}},
            {"method": "qmc"},
        ],
        datasets={"made": None, "eeg": {"only_sizes": {"rff": ["2d"], "orf": ["d", "2d"]}}, "skin": {}},
        sizes={"multiples_of_d": [1, 2, 4]},
    )
    toy["datasets"]["eeg"]["only_sizes"]["qmc"] = [1000]  # a number is its own label
    there = {dataset: plan.on_dataset(toy, dataset)["methods"] for dataset in ("eeg", "skin")}
    assert [entry.get("only_sizes") for entry in there["eeg"]] == [["2d"], ["d"], ["4d"], ["1000"]]
    assert [entry.get("only_sizes") for entry in there["skin"]] == [None, ["d"], None, None]


def test_a_method_of_a_search_that_a_data_set_leaves_out_is_none_of_its_methods_there():
    shared = [{"method": "rff", "options": {}, "datasets": {"skin": None}}, {"method": "orf", "options": {}}]
    toy = selected(datasets={"made": None, "eeg": {}, "skin": {}}, search={"length_scale": {"grid": [1]}})
    toy["search"] |= {"method": shared}
    there = {dataset: plan.on_dataset(toy, dataset)["search"]["method"] for dataset in ("eeg", "skin")}
    found = {name: [entry["method"] for entry in own] for name, own in there.items()}
    assert found == {"eeg": ["rff", "orf"], "skin": ["orf"]}


def test_a_part_comes_back_from_its_work_file_and_one_of_another_form_is_refused():
    (part,) = parts("train", selected())
    assert toys.as_read([part]) == [part]
    for document in ({"kind": "grid"}, part.stated() | {"walk": 3}):
        with pytest.raises(UserError, match="the work file is no description of a job"):
            job.read_parts([document])


def test_jobs_of_a_killed_run_are_those_of_this_folder_with_the_name_of_the_profiles(tmp_path, monkeypatch):
    assert jobs_in_queue(tmp_path) == []  # no scheduler
    jobs = ("7", "rfstudy_1", tmp_path), ("8", "rfstudy", tmp_path), ("9", "other", tmp_path), ("10", "rfstudy_1", ROOT)
    queue = "\n".join(f"{job}|{name}|{folder}" for job, name, folder in jobs)
    (tmp_path / "squeue").write_text(f"#!/bin/sh\necho '{queue}'\n")
    (tmp_path / "squeue").chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    (line,) = jobs_in_queue(tmp_path)
    assert line.startswith("2 jobs of an earlier run of this folder are still in the queue")
    assert line.endswith("scancel 7 8")
