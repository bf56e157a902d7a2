"""Choices by validation, in addition to the naive twin (tests/twin): who shares a choice, ties within
rounding, maps and learners that are not there, and the rows that a choice sees.
"""

import numpy as np
import pytest
import study_toys as toys

from random_features.errors import NotDefinedError
from rfstudy.study import tune as searching
from rfstudy.study.engine import name_of

RIDGE, SVM = toys.RIDGE | {"penalties": [1e-3, 0.1, 10.0]}, toys.SVM
METHODS = [{"method": "rff"}, {"method": "orf", "variant": "wide"}]
SIZES = {"multiples_of_d": [2, 4]}


def search(toy, folder) -> dict:
    (spec,) = toys.parts("tune", toy)
    return searching.Search(toys.job("tune", spec, folder, folder.parent / "journal")).choices()


@pytest.fixture
def chosen_by(prepared, monkeypatch):
    """Return the choices in the toy with two methods and sizes and four repeats, where a function scores candidates."""

    def choices(score, toy=(), **search_of):
        def scores_of(job, cell):
            return [[score(cell, value)] for value in cell.conditions["settings"]["penalties"]]

        monkeypatch.setattr(searching, "scores_of", scores_of)
        changes = {"methods": METHODS, "sizes": SIZES, "learners": {"ridge": RIDGE}} | dict(toy)
        return search(toys.selected(search=search_of, **changes), prepared)

    return choices


STAND_IN = {"method": {"method": "qmc"}, "size": {"multiples_of_d": 8}}


def leaves(document, trail=()):
    """The choices of a scope by place."""
    if "chosen" in document:
        return {trail: document}
    return {place: found for key, inner in document.items() for place, found in leaves(inner, (*trail, key)).items()}


@pytest.mark.parametrize(("share", "expected"), [(1e-15, 2.0), (1e-13, 2.0), (1e-9, 1.0)])
def test_scores_that_differ_by_rounding_are_a_tie(chosen_by, share, expected):
    table = {1.0: 70.1 * (1 + share), 2.0: 70.1}
    assert table[1.0] > table[2.0]
    widths = {"grid": [1.0, 2.0], "tune_per": "method_and_size"}
    found = chosen_by(lambda cell, _: table[cell.conditions["length_scale"]], length_scale=widths)
    assert found["method_and_size"]["rff"]["2d"]["chosen"] == {"length_scale": expected}


def solvable_from(monkeypatch, smallest):
    """Ridge regression has a solution from a value on that depends on the candidate."""

    def solvable_at(job, cell):
        return [value >= smallest(cell) for value in cell.conditions["settings"]["penalties"]]

    monkeypatch.setattr(searching, "solvable_at", solvable_at)


def test_one_repeat_in_which_a_map_is_singular_is_enough(chosen_by, monkeypatch):
    place = ("orf-wide", 2)
    solvable_from(monkeypatch, lambda cell: 10.0 if (name_of(cell.entry), cell.coordinates["repeat"]) == place else 0)
    found = chosen_by(lambda _, penalty: 90 - penalty, **STAND_IN, penalty={"tune_per": "size"})
    assert found["size"]["2d"]["chosen"]["penalty"] == {"ridge": 10.0}


def test_a_choice_is_shared_by_the_cells_of_one_kernel_that_there_are(prepared, tmp_path):
    """A map that is run at one size is not asked for a solution at another, which it may not have."""
    other = {"kernel": {"name": "polynomial", "degree": 2, "coef0": 1}}
    methods = [{"method": "rff"}, {"method": "kprff", "only_sizes": ["2d"]}, {"method": "rm"} | other]
    job = toys.job("tune", toys.part(methods=methods, sizes=SIZES, search={}), prepared, tmp_path / "journal")

    def shared(scope, entry, label):
        found = searching.Search(job).sharers(scope, searching.Member(entry, label, []))
        return [(each.entry["method"], each.label) for each in found]

    assert shared("size", methods[0], "4d") == [("rff", "4d")]
    assert shared("size", methods[0], "2d") == [("rff", "2d"), ("kprff", "2d")]
    assert shared("method", methods[1], "4d") == [("kprff", "2d")]
    assert shared("experiment", methods[1], "4d") == [("rff", "2d"), ("rff", "4d"), ("kprff", "2d")]
    assert shared("size", methods[2], "2d") == [("rm", "2d")]


def test_who_has_no_say_in_a_shared_penalty(chosen_by, monkeypatch):
    """An entry that takes no part in the search, one that leaves the learner out, one that is singular everywhere."""
    solvable_from(monkeypatch, lambda cell: 1e9 if cell.entry["variant"] else 0)
    methods = [
        {"method": "rff"},
        {"method": "orf", "variant": "hopeless"},
        {"method": "orf", "variant": "own", "searched": []},
        {"method": "orf", "variant": "out", "learners": {"ridge": None}},
    ]
    toy = {"methods": methods}
    found = chosen_by(lambda _, penalty: 90 - penalty, toy, **STAND_IN, penalty={"tune_per": "size"})
    assert found["size"]["2d"]["chosen"]["penalty"] == {"ridge": 1e-3}


def test_a_learner_that_is_left_out_has_no_penalty_and_the_others_have_theirs(prepared):
    toy = toys.selected(
        {"learners": {"svm": {"max_entries": 30 * 20}}}, methods=METHODS, sizes=SIZES,
        learners={"ridge": RIDGE, "svm": SVM},
        search={"penalty": {"tune_per": "method_and_size"}},
    )  # fmt: skip
    found = search(toy, prepared)["method_and_size"]["rff"]
    penalties = {label: set(of["chosen"]["penalty"]) for label, of in found.items()}
    assert penalties == {"2d": {"ridge", "svm"}, "4d": {"ridge"}}
    toy["search"]["learner"] = "svm"
    selected = search(toy, prepared)["method_and_size"]["rff"]
    assert selected["4d"]["chosen"] == {}
    assert "reason" in selected["4d"]
    assert selected["2d"]["chosen"] == found["2d"]["chosen"]


@pytest.mark.parametrize("error", [NotDefinedError, np.linalg.LinAlgError])
def test_a_map_that_does_not_exist_has_no_choice_and_stops_nobody(prepared, tmp_path, monkeypatch, error):
    def fail(*arguments):
        raise error("no such map")

    monkeypatch.setattr("random_features.maps.montecarlo.OrthogonalRandom.fit", fail)
    search_of = {"length_scale": {"grid": [1.0, 2.0], "tune_per": "cell"}, "penalty": {"tune_per": "cell"}}
    toy = toys.selected(repeats=1, methods=METHODS, sizes=SIZES, search=search_of)
    errors, scores, chosen = toys.run_grid(toy, {"made": prepared}, tmp_path)
    assert chosen["made"]["cell"]["orf-wide"]["2d"]["0"]["chosen"] == {}
    assert chosen["made"]["cell"]["rff"]["2d"]["0"]["chosen"]["length_scale"] in (1.0, 2.0)
    for table in (errors, scores):
        statuses = table.groupby("method")["status"].unique().map(list).to_dict()
        assert statuses == {"rff": ["ok"], "orf": ["skipped" if error is NotDefinedError else "failed"]}


def test_nothing_is_chosen_for_a_size_at_which_a_method_is_not_run(chosen_by):
    toy = {"methods": [{"method": "rff", "only_sizes": ["2d"]}, {"method": "orf"}]}
    found = chosen_by(lambda _, penalty: 90 - penalty, toy, penalty={"tune_per": "method_and_size"})
    assert set(leaves(found["method_and_size"])) == {("rff", "2d"), ("orf", "2d"), ("orf", "4d")}
