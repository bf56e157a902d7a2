"""Which outputs a run can draw, from which rows, and into which files."""

from collections import namedtuple
from functools import partial
from types import SimpleNamespace

import pytest
from checkouts import ROOT

from rfstudy import outputs
from rfstudy.files import read_yaml
from rfstudy.planning import config
from rfstudy.planning.jobs import OF_ROWS, Jobs


def output(name, form, *experiments, paper="survey", kind="grid"):
    return {"name": f"{name}-text", "form": form, "paper": paper, "experiments": list(experiments), "kind": kind}


TABLE, FIGURE = output("table-01", "tables", "a"), output("figure-01", "figures", "a", "b")
FACTS, ELSEWHERE = output("facts", "tables"), output("table-02", "tables", "c", "b")
ALL = [TABLE, FIGURE, FACTS, ELSEWHERE]


def test_a_run_draws_outputs_of_which_it_has_all_experiments_and_shipped_rows_those_of_which_they_have_one():
    assert outputs.drawable(ALL, {"a", "b"}) == [TABLE, FIGURE, FACTS]
    # experiments that are left out do not hinder an output of others
    assert outputs.drawable(ALL, {"a"}, left_out={"b"}) == [TABLE, FIGURE | {"experiments": ["a"]}, FACTS]
    assert outputs.drawable([FIGURE], {"c"}, left_out={"a", "b"}) == []  # of an output with rows, some must be there
    assert outputs.drawable_in_part(ALL, {"b", "d"}) == [FIGURE, FACTS, ELSEWHERE]


def test_a_selection_narrows_an_output_of_shipped_rows_and_its_caption_says_so():
    spec = {"name": "a-text", "caption": "Errors.", "methods": ["rff", "orf", "qmc"], "datasets": ["eeg", "skin"]}
    settings = {"only_methods": ["qmc", "rff"], "only_datasets": []}
    found = outputs.with_selection(spec, settings)
    kept = {"name": "a-text-only-rff-qmc", "methods": ["rff", "qmc"], "caption": "Errors. Only rff, qmc."}
    assert found == spec | kept
    assert outputs.with_selection(spec, {"only_methods": [], "only_datasets": []}) == spec
    assert outputs.with_selection(spec, {"only_methods": [], "only_datasets": ["a8a"]}) is None
    assert outputs.with_selection({"caption": "Claims."}, settings) == {"caption": "Claims."}
    sized = spec | {"sizes": ["2d", "4d"]}
    found = outputs.without_left_out(sized, settings | {"only_sizes": ["4d", "8d"]})
    assert found == sized | {"caption": "Errors. Left out of this run: orf, 2d."}


def test_a_changed_protocol_is_in_the_caption_and_the_name():
    spec = {"name": "table-07-text", "caption": "Best maps.", "experiments": ["a"]}
    changes = {"a": {("experiments", "a", "search", "n_folds"): 3}, "b": {("experiments", "b", "x"): 1}}
    found = outputs.with_changes(spec, changes)
    assert found["name"] == "table-07-text-with-n-folds-3"
    assert found["caption"] == "Best maps. Changed: experiments.a.search.n_folds = 3."
    assert outputs.with_changes(spec, {"b": changes["b"]}) == spec


def test_an_equal_value_is_no_change_and_a_changed_protocol_is_not_published():
    def study(**own):
        given = {"preset": "laptop", "only_experiments": ["survey-double-descent", "slsrff-text"]} | own
        return config.load_study(read_yaml(ROOT / "config/config.yaml") | given, ROOT / "config")

    name = "survey-double-descent"
    changed = study(experiments={name: {"grid": {"penalty": 0.01, "draws": 5}}}, learners={"ridge": {"center": "both"}})
    assert changed.changes[name] == {("experiments", name, "grid", "penalty"): 0.01}
    assert changed.changes["slsrff-text"] == {("learners", "ridge", "center"): "both"}
    message = r"sonar\.published: this run changes its protocol \(experiments\..*\.grid\.penalty\): leave"
    with pytest.raises(SystemExit, match=message):
        Jobs(changed, ROOT).to_publish(f"{name}.sonar")
    assert config.protocol_changes({"seed": 7}, {"seed": 1}) == {("seed",): 7}
    assert not config.protocol_changes({"seed": 1}, {"seed": 1})
    # a size that only the run has may be selected
    added = study(only_sizes=["33"], experiments={"slsrff-text": {"sizes": {"values": [33]}}})
    assert added.changes["slsrff-text"] == {("experiments", "slsrff-text", "sizes", "values"): [33]}
    # a selection, and more of the work, are no changes
    more = {"experiments": {"slsrff-text": {"time": None, "datasets": {"eeg": {"only_sizes": {"rff": ["2d"]}}}}}}
    selected = study(max_rows=None, only_methods=["rff"], repeats=2, learners={"svm": {"max_entries": None}}, **more)
    assert Jobs(selected, ROOT).to_publish("slsrff-text") == [f"results/laptop/slsrff-text.{end}" for end in OF_ROWS]


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("table-07-text", "its name states: F/table-07-text-with-n-folds-3"),
        ("table-08", "; did you mean F/table-01-text"),
        ("table-01-text", "F/table-01-text shows the data sets skin, a8a: this run has none"),
        ("figure-01-text", "F/figure-01-text shows the sizes d, 2d: this run has none"),
    ],
)
def test_a_name_that_a_run_does_not_draw_ends_it_with_the_name_that_it_draws_or_what_it_shows(name, advice):
    spec = {"paper": "survey", "name": name, "experiments": ["a"], "datasets": ["skin", "a8a"]}
    one = {("quick", "survey", each): spec for each in ("table-01-text", "table-07-text-with-n-folds-3")}
    one["quick", "survey", "figure-01-text"] = spec | {"datasets": ["eeg"], "sizes": ["d", "2d"]}
    experiments = {"a": {"datasets": {"eeg": {}}, "sizes": {"values": [33]}}}
    run = SimpleNamespace(one=one, preset="quick", jobs=SimpleNamespace(experiments=experiments))
    run.not_drawn = partial(outputs.Collections.not_drawn, run)
    with pytest.raises(SystemExit, match=advice.replace("F/", "figures/quick/survey/")):
        outputs.Collections.rows_of_one(run, namedtuple("Wildcards", "collection paper name")("quick", "survey", name))
