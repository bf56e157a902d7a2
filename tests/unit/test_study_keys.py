"""The composition of the key of a finished cell: a change of it would compute every shipped number again."""

import json
from dataclasses import replace

import pytest
import study_toys as toys

from rfstudy.study import engine
from rfstudy.study.engine import Cell, Job
from rfstudy.study.kinds.grid import grid_cells

CHOSEN = {"experiment": {"chosen": {"penalty": {"ridge": 0.1}}, "chosen_on": [0, 1, 2]}}

#: What decides the cell of a learner of an accuracy grid with an entry of its own split: the stage, the fields of its
#: part, the entry, the coordinates, the conditions, the facts about the data, the code and the versions.
GRID = [
    "train",
    {"dataset": "made", "device": "cpu", "kernel": {"name": "gaussian"}, "kind": "grid", "max_rows": 50, "seed": 3},
    {"class": "RandomFourier", "method": "rff", "options": {"layout": "phase"}},
    {"label": ["2d"], "n_features": [10], "repeat": 1},
    {
        "bandwidth": {"length_scale": 2.0, "rule": "fixed"},
        "choice": {"chosen_on": [0, 1, 2], "tune_per": "experiment"},
        "learner": "ridge", "length_scale": None, "penalty": 0.1, "preprocess": ["none"], "scores": None,
        "settings": {"center": "targets", "penalties": [1e-6, 1e-3, 0.1, 10.0], "scaling": "mean"},
        "split": {"rule": "random"},
    },
    {"d": 5, "n": 80, "n_test": 40, "n_train": 40, "split": "half", "status": "ok", "target": "binary"},
    [
        "random_features.kernels.gaussian", "random_features.learners.ridge", "random_features.maps.montecarlo",
        "rfstudy.data.bandwidths.fixed", "rfstudy.data.steps.none", "rfstudy.study.kinds.grid", "rfstudy.study.train",
    ],
    "versions",
]  # fmt: skip

#: The same of a kind without data, which takes its conditions from its grid.
DECAY = [
    "measure",
    {"dataset": "", "device": "cpu", "kernel": {"length_scale": 1.0, "name": "gaussian"}, "kind": "decay", "seed": 3},
    {"class": "RandomFourier", "method": "rff", "options": {"layout": "cos_sin"}},
    {"d": 4, "repeat": 0},
    {"norms": ["l2"], "rows": 20},
    {},
    [
        "random_features.kernels.gaussian", "random_features.maps.montecarlo", "rfstudy.study.kinds.decay",
        "rfstudy.study.measure",
    ],
    "versions",
]  # fmt: skip


@pytest.fixture
def composition(monkeypatch):
    """A function of a job and a cell that returns what its key hashes, with the names of modules for their code."""
    monkeypatch.setattr(engine, "key_of", lambda *parts: json.loads(json.dumps(parts, sort_keys=True)))
    monkeypatch.setattr(engine, "code_hash", lambda *modules: list(modules))
    monkeypatch.setattr(engine, "versions", lambda: "versions")
    return lambda job, cell: job.key(cell)


def test_the_key_of_a_cell_of_an_accuracy_grid(tmp_path, composition):
    entry = {"method": "rff", "variant": "own", "options": {"layout": "phase"}, "split": {"rule": "random"}}
    (spec,) = toys.parts("train", toys.selected({"max_rows": 50}, methods=[entry]), {"max_rows": 50})
    job = toys.job("train", spec, toys.write_data(tmp_path / "made", *toys.labelled()), tmp_path / "journal")
    found = composition(job, grid_cells(spec, CHOSEN, 5, "ridge")[1])
    assert {"n_train_published", "sha256"} <= set(found[5])  # the rows, whose values depend on NumPy's
    found[5] = {key: value for key, value in found[5].items() if key not in ("n_train_published", "sha256")}
    assert found == GRID


def test_the_key_of_a_cell_without_data(composition):
    kernel = {"name": "gaussian", "length_scale": 1.0}
    job = Job("measure", toys.part(kind="decay", kernel=kernel, grid={"norms": ["l2"]}, repeats=[0]), None, None)
    cell = Cell({"method": "rff", "variant": "x", "options": {}}, {"d": 4, "repeat": 0}, {"norms": ["l2"], "rows": 20})
    assert composition(job, cell) == DECAY


def key(cell: Cell, **changes) -> str:
    spec = toys.part(dataset="made", repeats=[0], preprocess=["minmax"], bandwidth={"rule": "median"})
    return Job("measure", spec | changes, None, None).key(cell)


def test_what_a_cell_is_given_counts_in_place_of_the_specification():
    bare, own = Cell({}, {"repeat": 0}), Cell({}, {"repeat": 0}, {"preprocess": ["standard"], "bandwidth": None})
    assert key(bare) != key(bare, preprocess=["standard"])
    assert key(bare) != key(bare, bandwidth={"rule": "median", "rows": 5})
    assert key(own) == key(own, preprocess=["none"], bandwidth={"rule": "median", "rows": 5})
    assert key(own) != key(replace(own, conditions=own.conditions | {"preprocess": ["minmax"]}))
    assert key(bare) == key(bare, experiment="another", repeats=[0, 1], learners={"ridge": {}})


def test_a_cell_without_a_map_has_a_name_without_one():
    assert Cell({}, {"n_features": [4, 8], "repeat": 0}).name == "4+8/0"
    assert Cell({"method": "rff", "variant": "x"}, {"repeat": 0}).name == "rff-x/0"
