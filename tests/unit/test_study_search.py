"""What is chosen by validation: by every scope, on which repeats, and what a tie goes to."""

import json

import numpy as np
import pytest
import study_toys as toys

from random_features.arrays import seed_sequence
from random_features.errors import NotDefinedError
from random_features.learners.ridge import fit_ridge
from rfstudy.data.split import split
from rfstudy.study import search as searching
from rfstudy.study.kinds.grid import choice_for
from rfstudy.study.sample import Sample
from rfstudy.study.search import search, tuning_rows

RIDGE, SVM = toys.RIDGE | {"penalties": [1e-3, 0.1, 10.0]}, toys.SVM
METHODS = [{"method": "rff"}, {"method": "orf", "variant": "wide"}]
SIZES = {"multiples_of_d": [2, 4]}
D = 5


@pytest.fixture
def prepared(tmp_path):
    return toys.write_data(tmp_path / "prepared", *toys.labelled(60, D))


class Oracle:
    """Scores by a function of a candidate in place of cross-validation, and all candidates that were asked for."""

    def __init__(self, score):
        self.score, self.asked = score, []

    def __call__(self, job, cell):
        self.asked.append(cell)
        grid = cell.conditions["settings"]["penalties" if cell.conditions["learner"] == "ridge" else "C"]
        return [[self.score(cell, value)] for value in grid]


def chosen_by(prepared, tmp_path, monkeypatch, score, settings=None, **search_of):
    """What is chosen in the toy with two methods and sizes and four repeats, and the oracle that was asked."""
    oracle = Oracle(score)
    monkeypatch.setattr(searching, "scores_of", oracle)
    changes = {"methods": METHODS, "sizes": SIZES, "learners": {"ridge": RIDGE}} | search_of.pop("toy", {})
    toy = toys.selected(settings, search=search_of, **changes)
    (spec,) = toys.parts("tune", toy, settings)
    return search(toys.job("tune", spec, prepared, tmp_path / "journal")), oracle


def name(cell):
    return "-".join(filter(None, (cell.entry["method"], cell.entry["variant"])))


STAND_IN = {"method": {"method": "qmc"}, "size": {"multiples_of_d": 8}}

#: By circle: where choices stand, and which map, size and repeats they are made with.
TUNE_SCOPES = {
    "experiment": {(): ("qmc", "8d", [0, 1, 2])},
    "size": {(label,): ("qmc", label, [0, 1, 2]) for label in ("2d", "4d")},
    "method": {(method,): (method, "8d", [0, 1, 2]) for method in ("rff", "orf-wide")},
    "method_and_size": {
        (method, label): (method, label, [0, 1, 2]) for method in ("rff", "orf-wide") for label in ("2d", "4d")
    },
    "cell": {
        (method, label, str(repeat)): (method, label, [repeat])
        for method in ("rff", "orf-wide")
        for label in ("2d", "4d")
        for repeat in range(4)
    },
}


def leaves(document, trail=()):
    """The choices of a scope by place."""
    if "chosen" in document:
        return {trail: document}
    return {place: found for key, inner in document.items() for place, found in leaves(inner, (*trail, key)).items()}


@pytest.mark.parametrize("scope", TUNE_SCOPES)
def test_a_circle_is_asked_with_what_stands_for_it_on_three_repeats_or_its_own(prepared, tmp_path, monkeypatch, scope):
    """Every place prefers a value of its own: the best there, as the mean over its repeats."""
    grid = [0.5, 1.0, 2.0, 4.0]

    def preferred(method, label, repeats):
        return grid[(len(method) + int(label[:-1]) + sum(repeats)) % 4]

    def score(cell, penalty):
        place = (name(cell), cell.coordinates["label"][0])
        mine = [
            who[2] for who in TUNE_SCOPES[scope].values() if who[:2] == place and cell.coordinates["repeat"] in who[2]
        ]
        return 80.0 if cell.conditions["length_scale"] == preferred(*place, mine[0]) else 70.0

    quantity = {"length_scale": {"grid": grid, "tune_per": scope}}
    found, oracle = chosen_by(prepared, tmp_path, monkeypatch, score, **STAND_IN, **quantity)
    assert list(found) == [scope]
    choices = leaves(found[scope])
    assert set(choices) == set(TUNE_SCOPES[scope])
    for place, (method, label, repeats) in TUNE_SCOPES[scope].items():
        assert choices[place]["chosen"] == {"length_scale": preferred(method, label, repeats)}
        assert choices[place]["chosen_on"] == repeats
        assert choices[place]["score"] == 80.0
    asked = {(name(cell), cell.coordinates["label"][0], cell.coordinates["repeat"]) for cell in oracle.asked}
    assert asked == {(method, label, r) for method, label, repeats in TUNE_SCOPES[scope].values() for r in repeats}
    # each candidate once; sizes in columns of the data
    assert len(oracle.asked) == len(asked) * len(grid)
    assert {cell.coordinates["n_features"][0] for cell in oracle.asked} == {
        int(label[:-1]) * D for _, label, _ in asked
    }


def test_what_serves_several_repeats_is_the_best_on_the_mean_of_the_first_three(prepared, tmp_path, monkeypatch):
    """0.5 wins in repeat 0, 1.0 on the mean of three, 2.0 would win on all four."""
    table = {0.5: [90, 60, 60, 60], 1.0: [80, 80, 80, 0], 2.0: [79, 79, 79, 99]}
    found, _ = chosen_by(
        prepared, tmp_path, monkeypatch,
        lambda cell, _: table[cell.conditions["length_scale"]][cell.coordinates["repeat"]],
        length_scale={"grid": list(table), "tune_per": "method_and_size"},
    )  # fmt: skip
    choice = found["method_and_size"]["rff"]["2d"]
    assert (choice["chosen"], choice["score"], choice["chosen_on"]) == ({"length_scale": 1.0}, 80.0, [0, 1, 2])


@pytest.mark.parametrize(("repeats", "expected"), [(1, [0]), (2, [0, 1]), (4, [0, 1, 2])])
def test_fewer_repeats_than_three_are_all_of_them(prepared, tmp_path, monkeypatch, repeats, expected):
    how = {"length_scale": {"grid": [1.0], "tune_per": "method_and_size"}}
    found, _ = chosen_by(prepared, tmp_path, monkeypatch, lambda *_: 1.0, {"repeats": repeats}, **how)
    assert found["method_and_size"]["rff"]["2d"]["chosen_on"] == expected


def test_the_best_of_a_grid_counts_and_not_its_mean(prepared, tmp_path, monkeypatch):
    """A candidate is as good as its best penalty: the same one in all repeats."""
    table = {  # by length scale, penalty and repeat
        0.5: {1e-3: [90, 0, 0], 0.1: [0, 90, 0], 10.0: [0, 0, 90]},  # a best of its own in every repeat
        1.0: {1e-3: [0, 0, 0], 0.1: [50, 50, 50], 10.0: [0, 0, 0]},
        2.0: {1e-3: [49, 49, 49], 0.1: [49, 49, 49], 10.0: [49, 49, 49]},
    }
    found, _ = chosen_by(
        prepared, tmp_path, monkeypatch,
        lambda cell, penalty: table[cell.conditions["length_scale"]][penalty][cell.coordinates["repeat"]],
        tune_per="method_and_size", length_scale={"grid": list(table)}, penalty={"tune_per": "method_and_size"},
    )  # fmt: skip
    choice = found["method_and_size"]["rff"]["2d"]
    assert choice["chosen"] == {"length_scale": 1.0, "penalty": {"ridge": 0.1}}
    assert choice["score"] == 50


# --- ties -------------------------------------------------------------------------------------------------------------


def test_a_tie_goes_to_the_first_scaling_and_options_and_to_the_larger_bandwidth_and_penalty(
    prepared, tmp_path, monkeypatch
):
    found, _ = chosen_by(
        prepared, tmp_path, monkeypatch, lambda *_: 75.0, tune_per="method_and_size",
        preprocess={"grid": [["standard"], ["minmax"], ["none"]]}, length_scale={"grid": [1.0, 0.5, 4.0, 2.0]},
        options={"grid": [{"layout": "phase"}, {}]}, penalty={"tune_per": "method_and_size"},
        toy={"learners": {"ridge": RIDGE, "svm": SVM}},
    )  # fmt: skip
    assert found["method_and_size"]["orf-wide"]["4d"]["chosen"] == {
        "preprocess": ["standard"],
        "length_scale": 4.0,
        "options": {"layout": "phase"},
        "penalty": {"ridge": 10.0, "svm": 10.0},
    }


@pytest.mark.parametrize(("share", "expected"), [(1e-15, 2.0), (1e-13, 2.0), (1e-9, 1.0)])
def test_scores_that_differ_by_rounding_are_a_tie(prepared, tmp_path, monkeypatch, share, expected):
    table = {1.0: 70.1 * (1 + share), 2.0: 70.1}
    assert table[1.0] > table[2.0]
    found, _ = chosen_by(
        prepared, tmp_path, monkeypatch, lambda cell, _: table[cell.conditions["length_scale"]],
        length_scale={"grid": [1.0, 2.0], "tune_per": "method_and_size"},
    )  # fmt: skip
    assert found["method_and_size"]["rff"]["2d"]["chosen"] == {"length_scale": expected}


def test_of_a_regression_the_smallest_error_is_the_best(tmp_path, monkeypatch):
    X, _ = toys.labelled(60, D)
    folder = toys.write_data(tmp_path / "numbers", X, X[:, 0].astype(np.float64))
    found, _ = chosen_by(
        folder, tmp_path, monkeypatch, lambda cell, penalty: abs(cell.conditions["length_scale"] - 2) + penalty,
        tune_per="method_and_size", length_scale={"grid": [1.0, 2.0, 4.0]}, penalty={"tune_per": "method_and_size"},
    )  # fmt: skip
    choice = found["method_and_size"]["rff"]["2d"]
    assert choice["chosen"] == {"length_scale": 2.0, "penalty": {"ridge": 1e-3}}
    assert choice["score"] == pytest.approx(1e-3)


# --- several scopes and quantities -----------------------------------------------------------------------------------


def test_narrower_circles_are_searched_under_what_wider_ones_chose(prepared, tmp_path, monkeypatch):
    """The scaling for everyone, the bandwidth by size under it, the options by method and size under both."""

    def score(cell, _penalty):
        given, s = cell.conditions, int(cell.coordinates["label"][0][:-1])
        best = {2: 0.5, 4: 2.0, 8: 1.0}[s]
        phase = cell.entry["options"].get("layout") == "phase"
        return (
            70.0
            + 10 * (given["preprocess"] == ["minmax"])
            + 5 * (given["length_scale"] == best)
            + (phase == (name(cell) == "rff"))
        )

    found, oracle = chosen_by(
        prepared, tmp_path, monkeypatch, score, **STAND_IN,
        preprocess={"grid": [["none"], ["minmax"]], "tune_per": "experiment"},
        length_scale={"grid": [0.5, 1.0, 2.0], "tune_per": "size"},
        options={"grid": [{}, {"layout": "phase"}], "tune_per": "method_and_size"},
    )  # fmt: skip
    assert list(found) == ["experiment", "size", "method_and_size"]
    assert found["experiment"]["chosen"] == {"preprocess": ["minmax"]}
    assert {label: of["chosen"]["length_scale"] for label, of in found["size"].items()} == {"2d": 0.5, "4d": 2.0}
    assert leaves(found["method_and_size"])["rff", "4d"]["chosen"] == {"options": {"layout": "phase"}}
    assert leaves(found["method_and_size"])["orf-wide", "4d"]["chosen"] == {"options": {}}
    # candidates of the last scope stand under both choices, and those of the second under the first
    later = [cell for cell in oracle.asked if name(cell) != "qmc"]
    assert {tuple(cell.conditions["preprocess"]) for cell in later} == {("minmax",)}
    assert {(cell.coordinates["label"][0], cell.conditions["length_scale"]) for cell in later} == {
        ("2d", 0.5),
        ("4d", 2.0),
    }
    # what is not yet chosen is the experiment's: the fixed rule
    first = [cell for cell in oracle.asked if cell.coordinates["label"] == ["8d"]]
    assert {json.dumps(cell.conditions["bandwidth"]) for cell in first} == {'{"rule": "fixed", "length_scale": 2.0}'}


def test_quantities_of_one_circle_are_searched_together(prepared, tmp_path, monkeypatch):
    """The best pair is the best of neither alone."""
    table = {("none", 1.0): 70, ("none", 2.0): 60, ("minmax", 1.0): 50, ("minmax", 2.0): 80}
    found, oracle = chosen_by(
        prepared, tmp_path, monkeypatch,
        lambda cell, _: table[cell.conditions["preprocess"][0], cell.conditions["length_scale"]],
        tune_per="cell", preprocess={"grid": [["none"], ["minmax"]]}, length_scale={"grid": [1.0, 2.0]},
    )  # fmt: skip
    assert all(of["chosen"] == {"preprocess": ["minmax"], "length_scale": 2.0} for of in leaves(found["cell"]).values())
    assert len(oracle.asked) == 4 * 16


def test_the_options_of_an_entry_stay_under_those_that_are_searched(prepared, tmp_path, monkeypatch):
    methods = [{"method": "slsrff", "options": {"mode": "code", "identity": False}}]
    found, oracle = chosen_by(
        prepared, tmp_path, monkeypatch, lambda cell, _: 60.0 + 10 * cell.entry["options"]["identity"],
        options={"grid": [{}, {"identity": True}], "tune_per": "method_and_size"}, toy={"methods": methods},
    )  # fmt: skip
    assert leaves(found["method_and_size"])["slsrff", "2d"]["chosen"] == {"options": {"identity": True}}
    assert {json.dumps(cell.entry["options"]) for cell in oracle.asked} == {
        '{"mode": "code", "identity": false}',
        '{"mode": "code", "identity": true}',
    }


def test_one_selection_learner_decides_and_every_learner_gets_a_penalty(prepared, tmp_path, monkeypatch):
    def score(cell, value):
        of_ridge = cell.conditions["learner"] == "ridge"
        best = 1.0 if of_ridge else 4.0
        return 70.0 + 10 * (cell.conditions["length_scale"] == best) - abs(value - (0.1 if of_ridge else 1))

    for learner, expected in ((None, 1.0), ("ridge", 1.0), ("svm", 4.0)):
        found, _ = chosen_by(
            prepared, tmp_path / str(learner), monkeypatch, score, tune_per="method_and_size",
            length_scale={"grid": [1.0, 4.0]}, penalty={"tune_per": "method_and_size"},
            toy={"learners": {"ridge": RIDGE, "svm": SVM}}, **({"learner": learner} if learner else {}),
        )  # fmt: skip
        assert leaves(found["method_and_size"])["rff", "2d"]["chosen"] == {
            "length_scale": expected,
            "penalty": {"ridge": 0.1, "svm": 1.0},
        }


def test_the_selection_learner_may_decide_with_options_of_its_own_but_not_on_its_penalty(
    prepared, tmp_path, monkeypatch
):
    """Of the bandwidth decides ridge with the factor n, of the penalty ridge without it."""

    def score(cell, penalty):
        scaling, given = cell.conditions["settings"]["scaling"], cell.conditions
        return (
            70.0
            + (given["length_scale"] == (1.0 if scaling == "mean" else 4.0))
            - abs(penalty - 0.1) * (scaling == "sum")
        )

    for learners, expected in (({}, 4.0), ({"ridge": {"scaling": "mean", "n_folds": 2}}, 1.0)):
        found, oracle = chosen_by(
            prepared, tmp_path / str(expected), monkeypatch, score, **STAND_IN, learners=learners,
            length_scale={"grid": [1.0, 4.0], "tune_per": "experiment"}, penalty={"tune_per": "size"},
            toy={"learners": {"ridge": RIDGE | {"scaling": "sum"}}},
        )  # fmt: skip
        assert found["experiment"]["chosen"] == {"length_scale": expected}
        assert {label: of["chosen"] for label, of in found["size"].items()} == {
            label: {"penalty": {"ridge": 0.1}} for label in ("2d", "4d")
        }
        by_learner = {
            (
                cell.coordinates["label"][0],
                cell.conditions["settings"]["scaling"],
                cell.conditions["settings"]["n_folds"],
            )
            for cell in oracle.asked
        }
        wide = ("mean", 2) if learners else ("sum", 4)
        assert by_learner == {("8d", *wide), ("2d", "sum", 4), ("4d", "sum", 4)}


# --- a penalty that is shared -----------------------------------------------------------------------------------------


def solvable_from(monkeypatch, smallest, seen):
    """Ridge regression has a solution from a value on that depends on the candidate."""

    def solvable_at(job, cell):
        seen.append((name(cell), cell.coordinates["label"][0], cell.coordinates["repeat"]))
        return [value >= smallest(cell) for value in cell.conditions["settings"]["penalties"]]

    monkeypatch.setattr(searching, "solvable_at", solvable_at)


SHARING = {
    "size": [("rff", "2d"), ("orf-wide", "2d")],
    "method": [("orf-wide", "2d"), ("orf-wide", "4d")],
    "method_and_size": [("orf-wide", "2d")],
}


@pytest.mark.parametrize("scope", SHARING)
def test_a_shared_penalty_is_the_best_of_those_at_which_all_who_share_it_have_a_solution(
    prepared, tmp_path, monkeypatch, scope
):
    seen: list = []
    solvable_from(monkeypatch, lambda cell: 0.1 if name(cell) == "orf-wide" else 1e-3, seen)
    found, _ = chosen_by(
        prepared, tmp_path, monkeypatch, lambda _, penalty: 90 - penalty, **STAND_IN, penalty={"tune_per": scope}
    )
    choices = leaves(found[scope])
    place = {"size": ("2d",), "method": ("orf-wide",), "method_and_size": ("orf-wide", "2d")}[scope]
    assert choices[place]["chosen"]["penalty"] == {"ridge": 0.1}
    assert set(SHARING[scope]) <= {who[:2] for who in seen}
    assert {repeat for *_, repeat in seen} == {0, 1, 2}
    if scope != "size":
        own = {"method": ("rff",), "method_and_size": ("rff", "2d")}[scope]
        assert choices[own]["chosen"]["penalty"] == {"ridge": 1e-3}


def test_one_repeat_in_which_a_map_is_singular_is_enough(prepared, tmp_path, monkeypatch):
    solvable_from(
        monkeypatch, lambda cell: 10.0 if (name(cell), cell.coordinates["repeat"]) == ("orf-wide", 2) else 0, []
    )
    found, _ = chosen_by(
        prepared, tmp_path, monkeypatch, lambda _, penalty: 90 - penalty, **STAND_IN, penalty={"tune_per": "size"}
    )
    assert found["size"]["2d"]["chosen"]["penalty"] == {"ridge": 10.0}


def test_a_choice_is_shared_by_the_cells_that_there_are():
    """A map that is run at one size is not asked for a solution at another, which it may not have."""
    few = {"method": "kprff", "only_sizes": ["2d"]}
    spec = toys.part(methods=[{"method": "rff"}, few], sizes=SIZES)

    def shared(scope, entry, label):
        return [(each["method"], size) for each, size in searching.sharers(spec, scope, entry, label)]

    assert shared("size", spec.methods[0], "4d") == [("rff", "4d")]
    assert shared("size", spec.methods[0], "2d") == [("rff", "2d"), ("kprff", "2d")]
    assert shared("method", few, "4d") == [("kprff", "2d")]
    assert shared("experiment", few, "4d") == [("rff", "2d"), ("rff", "4d"), ("kprff", "2d")]


def test_a_choice_is_shared_by_the_maps_of_one_kernel():
    other = {"kernel": {"name": "polynomial", "degree": 2, "coef0": 1}}
    spec = toys.part(methods=[{"method": "rff"}, {"method": "rm"} | other, {"method": "ts"} | other], sizes=SIZES)
    for scope in ("size", "experiment"):
        for method, expected in (("rff", {"rff"}), ("rm", {"rm", "ts"})):
            entry = next(each for each in spec.methods if each["method"] == method)
            assert {each["method"] for each, _ in searching.sharers(spec, scope, entry, "2d")} == expected


def test_who_has_no_say_in_a_shared_penalty(prepared, tmp_path, monkeypatch):
    """An entry that takes no part in the search, one that leaves the learner out, one that is singular everywhere."""
    solvable_from(monkeypatch, lambda cell: 1e9 if cell.entry["variant"] else 0, [])
    methods = [
        {"method": "rff"},
        {"method": "orf", "variant": "hopeless"},
        {"method": "orf", "variant": "own", "searched": []},
        {"method": "orf", "variant": "out", "learners": {"ridge": None}},
    ]
    found, _ = chosen_by(
        prepared, tmp_path, monkeypatch, lambda _, penalty: 90 - penalty, **STAND_IN, penalty={"tune_per": "size"},
        toy={"methods": methods},
    )  # fmt: skip
    assert found["size"]["2d"]["chosen"]["penalty"] == {"ridge": 1e-3}


def test_solvable_is_what_has_a_fit_on_all_tuning_rows(prepared, tmp_path):
    """Equal columns, and penalties around what rounding outweighs."""
    penalties = [1e-25, 1e-20, 1e-3]
    toy = toys.selected(
        methods=[{"method": "rff"}, {"method": "gq", "options": {"n_nodes": 2}}], sizes={"multiples_of_d": [2]},
        learners={"ridge": RIDGE | {"penalties": penalties}}, search=STAND_IN | {"penalty": {"tune_per": "size"}},
    )  # fmt: skip
    (spec,) = toys.parts("tune", toy)
    job, seen = toys.job("tune", spec, prepared, tmp_path / "journal"), {}
    for entry in spec.methods:
        cell = searching.candidate_cell(job, {}, entry, "2d", 1, {}, "ridge")
        phi, X, Y, held_out, _ = searching.tuned_map(job, cell)
        assert not held_out.any()
        expected = []
        Z = phi.transform(X)
        for penalty in penalties:
            try:
                fit_ridge(lambda Z=Z: iter([(slice(0, len(Z)), Z)]), Y, penalty, n_columns=phi.n_columns_)
                expected.append(True)
            except np.linalg.LinAlgError:
                expected.append(False)
        assert searching.solvable_at(job, cell) == expected
        seen[entry["method"]] = expected
    assert seen["gq"] == [False, False, True]


# --- edges and flat scores --------------------------------------------------------------------------------------------


def test_values_at_an_edge_are_told(prepared, tmp_path, monkeypatch):
    def score(cell, value):
        best = 0.01 if cell.conditions["learner"] == "svm" else 1.0
        return 70 - abs(np.log(cell.conditions["length_scale"])) - abs(np.log10(value / best))

    found, _ = chosen_by(
        prepared, tmp_path, monkeypatch, score,
        tune_per="method_and_size", length_scale={"grid": [0.5, 1.0, 2.0]}, penalty={"tune_per": "method_and_size"},
        toy={"learners": {"ridge": RIDGE | {"penalties": [0.1, 1.0, 10.0]}, "svm": SVM}},
    )  # fmt: skip
    choice = leaves(found["method_and_size"])["rff", "2d"]
    assert choice["chosen"] == {"length_scale": 1.0, "penalty": {"ridge": 1.0, "svm": 0.1}}
    assert choice["at_edge"] == ["svm"]
    rows = [choice_for(found, {"method": "rff"}, "2d", 0)[1]["at_edge"]]
    assert rows == [["svm"]]


def test_within_one_standard_error_over_the_folds_of_all_repeats_the_larger_penalty_is_chosen(
    prepared, tmp_path, monkeypatch
):
    """The best mean is 80.0 with the scores 78, 80, 82: a standard error of 2 / sqrt(3)."""
    table = {1e-3: [78, 80, 82], 0.1: [79, 79, 79], 10.0: [78.8, 78.8, 78.8]}
    chosen = {}
    for choice in ("best", "one_standard_error"):
        found, _ = chosen_by(
            prepared, tmp_path / choice, monkeypatch, lambda cell, penalty: table[penalty][cell.coordinates["repeat"]],
            penalty={"tune_per": "method_and_size"}, toy={"learners": {"ridge": RIDGE | {"choice": choice}}},
        )  # fmt: skip
        chosen[choice] = leaves(found["method_and_size"])["rff", "2d"]["chosen"]["penalty"]["ridge"]
    assert chosen == {"best": 1e-3, "one_standard_error": 0.1}


# --- where there is nothing to choose ---------------------------------------------------------------------------------


def test_a_singular_value_is_not_chosen(prepared, tmp_path, monkeypatch):
    """NaN in one repeat is NaN for the value; a candidate counts by what is left."""
    found, _ = chosen_by(
        prepared, tmp_path, monkeypatch,
        lambda cell, penalty: np.nan if penalty == 1e-3 and cell.coordinates["repeat"] == 1 else 90 - penalty,
        penalty={"tune_per": "method_and_size"}, length_scale={"grid": [1.0], "tune_per": "method_and_size"},
    )  # fmt: skip
    choice = leaves(found["method_and_size"])["rff", "2d"]
    assert choice["chosen"]["penalty"] == {"ridge": 0.1}
    assert choice["score"] == pytest.approx(89.9)


def test_where_all_is_singular_no_penalty_is_chosen(prepared, tmp_path, monkeypatch):
    found, _ = chosen_by(
        prepared, tmp_path, monkeypatch, lambda *_: np.nan, tune_per="method_and_size",
        length_scale={"grid": [1.0, 2.0]}, penalty={"tune_per": "method_and_size"},
    )  # fmt: skip
    choice = leaves(found["method_and_size"])["rff", "2d"]
    assert choice["chosen"] == {"length_scale": 2.0, "penalty": {}}
    assert choice["score"] is None
    json.dumps(found, allow_nan=False)


def test_a_learner_that_is_left_out_has_no_penalty_and_the_others_have_theirs(prepared, tmp_path):
    toy = toys.selected(
        {"learners": {"svm": {"max_entries": 30 * 20}}}, methods=METHODS, sizes=SIZES,
        learners={"ridge": RIDGE, "svm": SVM},
        search={"penalty": {"tune_per": "method_and_size"}},
    )  # fmt: skip
    (spec,) = toys.parts("tune", toy)
    found = search(toys.job("tune", spec, prepared, tmp_path / "journal"))["method_and_size"]["rff"]
    assert {label: set(of["chosen"]["penalty"]) for label, of in found.items()} == {
        "2d": {"ridge", "svm"},
        "4d": {"ridge"},
    }
    toy["search"]["learner"] = "svm"
    (spec,) = toys.parts("tune", toy)
    selected = search(toys.job("tune", spec, prepared, tmp_path / "journal"))["method_and_size"]["rff"]
    assert selected["4d"]["chosen"] == {}
    assert "reason" in selected["4d"]
    assert selected["2d"]["chosen"] == found["2d"]["chosen"]


@pytest.mark.parametrize("error", [NotDefinedError, np.linalg.LinAlgError])
def test_a_map_that_does_not_exist_has_no_choice_and_stops_nobody(prepared, tmp_path, monkeypatch, error):
    def fail(*arguments):
        raise error("no such map")

    monkeypatch.setattr("random_features.maps.montecarlo.OrthogonalRandom.fit", fail)
    search_of = {"length_scale": {"grid": [1.0, 2.0], "tune_per": "cell"}, "penalty": {"tune_per": "cell"}}
    settings = {"repeats": 1}
    toy = toys.selected(settings, methods=METHODS, sizes=SIZES, search=search_of)
    errors, scores, chosen = toys.run_grid(toy, {"made": prepared}, tmp_path, settings)
    assert chosen["made"]["cell"]["orf-wide"]["2d"]["0"]["chosen"] == {}
    assert chosen["made"]["cell"]["rff"]["2d"]["0"]["chosen"]["length_scale"] in (1.0, 2.0)
    for table in (errors, scores):
        statuses = table.groupby("method")["status"].unique().map(list).to_dict()
        assert statuses == {"rff": ["ok"], "orf": ["skipped" if error is NotDefinedError else "failed"]}


# --- which rows are seen ----------------------------------------------------------------------------------------------


def choices_on(folder, tmp_path, scope, repeats=2):
    search_of = {
        "tune_per": scope,
        "length_scale": {"grid": [0.3, 1.0, 3.0]}, "preprocess": {"grid": [["none"], ["standard"]]},
        "penalty": {"tune_per": "method_and_size"} if scope == "method_and_size" else {"tune_per": "cell"},
    }  # fmt: skip
    settings = {"repeats": repeats}
    toy = toys.selected(settings, methods=METHODS, sizes={"multiples_of_d": [2]}, search=search_of)
    (spec,) = toys.parts("tune", toy, settings)
    return leaves(search(toys.job("tune", spec, folder, tmp_path / "journal"))[scope])


def test_a_choice_of_a_cell_sees_the_training_rows_of_its_repeat_and_no_other(tmp_path):
    """Rows and labels that repeat 0 tests on are replaced: nothing changes for it, and all does for repeat 1."""
    X, y = toys.labelled(60, D)
    _, test = split(60, None, 0, 3, "half")
    other_X, other_y = X.copy(), y.copy()
    other_X[test], other_y[test] = 9 * X[test][::-1] + 4, -y[test]
    folders = [toys.write_data(tmp_path / name, *of) for name, of in (("a", (X, y)), ("b", (other_X, other_y)))]
    one, other = (choices_on(folder, tmp_path, "cell") for folder in folders)
    for place, choice in one.items():
        assert (other[place] == choice) == (place[2] == "0"), place
    shared, changed = (choices_on(folder, tmp_path, "method_and_size") for folder in folders)
    assert all(changed[place] != choice for place, choice in shared.items())


def test_the_rows_of_a_search_are_a_random_choice_that_is_the_same_for_all_candidates():
    X = np.arange(20.0)[:, None]
    sample = Sample(X, np.arange(20), X[:3], np.arange(3), capped=False)
    chosen, labels, _ = tuning_rows(3, sample, 7)
    expected = np.sort(np.random.default_rng(seed_sequence(3, "tuning rows")).choice(20, 7, replace=False))
    assert chosen[:, 0].tolist() == labels.tolist() == expected.tolist()
    assert tuning_rows(4, sample, 7)[1].tolist() != labels.tolist()
    for most in (None, 20, 30):
        assert tuning_rows(3, sample, most)[0] is X


def test_what_was_searched_reaches_the_rows_of_both_stages(prepared, tmp_path):
    """A search over all four quantities, from the configuration to what rows say."""
    search_of = {
        "method": {"method": "rff"}, "size": {"multiples_of_d": 2}, "max_rows": 25,
        "preprocess": {"grid": [["minmax"], ["standard"]], "tune_per": "experiment"},
        "length_scale": {"grid": [0.5, 2.0], "tune_per": "method"},
        "options": {"grid": [{"layout": "cos_sin"}, {"layout": "phase"}], "tune_per": "method_and_size"},
        "penalty": {"tune_per": "method_and_size"},
    }  # fmt: skip
    settings = {"repeats": 2}
    toy = toys.selected(settings, methods=METHODS, sizes=SIZES, search=search_of, learners={"svm": SVM})
    errors, scores, chosen = toys.run_grid(toy, {"made": prepared}, tmp_path, settings)
    chosen = chosen["made"]
    assert len(errors) == 2 * 2 * 2
    assert len(scores) == 2 * len(errors)
    for table in (errors, scores):
        for row, settings in zip(table.itertuples(), toys.settings_of(table), strict=True):
            entry = "-".join(filter(None, (row.method, row.variant)))
            narrow = chosen["method_and_size"][entry][row.n_features_label]["chosen"]
            assert settings["preprocess"] == chosen["experiment"]["chosen"]["preprocess"]
            assert settings["length_scale"] == chosen["method"][entry]["chosen"]["length_scale"]
            assert settings["options"] == narrow["options"]
            columns = row.n_features * (2 if narrow["options"]["layout"] == "cos_sin" else 1)
            assert row.n_columns == columns
            if row.learner:
                value = settings["penalty" if row.learner == "ridge" else "C"]
                assert value == narrow["penalty"][row.learner]
            # of several choices that of the bandwidth is told of the map, that of the penalty of the learner
            assert settings["tune_per"] == ("method_and_size" if row.learner else "method")
            assert settings["chosen_on"] == [0, 1]


def test_a_penalty_that_nobody_could_choose_for_all_is_that_of_the_cell_and_says_so(prepared, tmp_path, monkeypatch):
    """Where the shared choice has no value at all, every cell chooses on the rows of its own repeat."""
    monkeypatch.setattr(searching, "scores_of", lambda job, cell: [[np.nan] * 2] * len(RIDGE["penalties"]))
    how = {"method": {"method": "rff"}, "penalty": {"tune_per": "size"}}
    toy = toys.selected(
        {"repeats": 2}, methods=METHODS, sizes=SIZES, search=how, learners={"ridge": RIDGE, "svm": None}
    )
    _, scores, chosen = toys.run_grid(toy, {"made": prepared}, tmp_path, {"repeats": 2})
    assert [choice["chosen"] for choice in leaves(chosen["made"]["size"]).values()] == [{"penalty": {}}] * 2
    assert len(scores) > 0
    for row, settings in zip(scores.itertuples(), toys.settings_of(scores), strict=True):
        assert (settings["tune_per"], settings["chosen_on"]) == ("cell", [row.repeat])
        assert settings["penalty"] in RIDGE["penalties"]


def test_a_held_out_part_is_seen_by_neither_map_nor_learner(tmp_path, monkeypatch):
    """A map that ranks its candidates by labels that mean nothing deceives folds, and not rows that it never saw."""
    rng = np.random.default_rng(0)
    n = 400
    X, y = rng.normal(size=(n, D)), rng.choice([-1, 1], n)
    prepared = toys.write_data(tmp_path / "prepared", X, y)
    seen = []
    learned = searching.map_of

    def watched(spec, cell, samples):
        phi, *rest = learned(spec, cell, samples)
        fit = phi.fit
        monkeypatch.setattr(phi, "fit", lambda X, y: seen.append((X, y)) or fit(X, y))
        return phi, *rest

    monkeypatch.setattr(searching, "map_of", watched)
    scores = {}
    for share in (None, 0.25):
        own = {"held_out": share} if share else {}
        changes = {
            "methods": [{"method": "kprff", "options": {"n_candidates": 4000}}],
            "sizes": {"multiples_of_d": [8]},
        }
        changes |= {"bandwidth": {"rule": "fixed", "length_scale": 0.3}}
        changes |= {"learners": {"ridge": RIDGE}, "repeats": 3}
        quantity = {"penalty": {"tune_per": "method"}, "size": {"multiples_of_d": 8}}
        toy = toys.selected(None, search=quantity | own, **changes)
        (spec,) = toys.parts("tune", toy)
        found = search(toys.job("tune", spec, prepared, tmp_path / f"journal{share}"))
        scores[share] = found["method"]["kprff"]["score"]
    assert scores[None] > 65
    assert abs(scores[0.25] - 50) < 12.2  # three standard errors of three parts of 50 rows
    assert {len(y) for _, y in seen} == {200, 150}
    # by hand, on the last repeat
    held_out = searching.held_out_rows(toys.SETTINGS["seed"], 200, 2, 0.25)
    sample = toys.job("tune", spec, prepared, tmp_path / "by-hand").samples.of(2, ["none"])
    X, y = sample.X_train, sample.y_train
    assert np.array_equal(seen[-1][0], X[~held_out])
    assert np.array_equal(seen[-1][1], y[~held_out])
