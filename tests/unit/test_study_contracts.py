"""The promises of configuration and engine to kinds, learners and kernels that they do not know."""

from dataclasses import replace

import numpy as np
import study_toys as toys

from rfstudy import tidy
from rfstudy.data.prepared import write_facts
from rfstudy.study import measure
from rfstudy.study.engine import Cell, Job
from rfstudy.study.journal import Journal
from rfstudy.study.kinds.registry import KINDS

SPEC = toys.part(
    preset="quick",
    paper="study",
    experiment="toy",
    protocol="text",
    kind="decay",
    dataset="made",
    kernel={"name": "gaussian"},
    seed=1,
    device="cpu",
    methods=[],
    repeats=[0],
    preprocess=["minmax"],
    bandwidth={"rule": "median"},
    max_rows=None,
)


def key(cell: Cell, **changes) -> str:
    return Job("measure", SPEC | changes, Journal("unused"), None).key(cell)


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


def test_missing_data_leave_a_row_an_entry_and_metric(tmp_path, monkeypatch):
    facts = {"status": "skipped", "reason": "no such file", "stand_in": "", "sha256": ""}
    write_facts(facts, tmp_path)
    for name in ("X", "y"):
        np.save(tmp_path / f"{name}.npy", np.empty(0))
    # any kind that names its metrics
    monkeypatch.setitem(KINDS, "decay", replace(KINDS["decay"], metrics=("one", "two")))
    entries = [{"method": "rff", "variant": variant, "options": {}} for variant in ("", "wide")]
    out = tmp_path / "rows.csv"
    measure.run([SPEC | {"methods": entries}], [tmp_path], tmp_path / "journal", out, tmp_path / "rows.npz", 1)
    rows = tidy.read(out)
    assert list(zip(rows["variant"], rows["metric"], strict=True)) == [
        ("", "one"), ("", "two"), ("wide", "one"), ("wide", "two"),
    ]  # fmt: skip
    assert rows["status"].eq("skipped").all()
    assert rows["settings"].str.contains("no such file").all()
