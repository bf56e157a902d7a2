"""The settings of an experiment: steps written out, entries distinguished."""

from rfstudy.planning import models, plan


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
