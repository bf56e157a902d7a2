"""docs/recheck.py says that recomputed values agree with shipped ones exactly where they do."""

import importlib.util
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from checkouts import ROOT

from rfstudy import tidy
from rfstudy.files import read_yaml
from rfstudy.planning import config
from rfstudy.planning.jobs import Jobs

SPEC = importlib.util.spec_from_file_location("recheck", ROOT / "docs" / "recheck.py")
recheck = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(recheck)


@pytest.fixture(scope="module")
def jobs():
    """Return the jobs of the study under the preset of the shipped rows."""
    given = read_yaml(ROOT / "config/config.yaml") | read_yaml(ROOT / "config/presets/laptop.yaml")
    return Jobs(config.load_study(given, ROOT / "config"), ROOT)


def a_row(value, metric="accuracy_pct", **more):
    row = {"dataset": "eeg", "method": "rff", "repeat": 0, "n_test": 1000, "status": "ok"}
    return row | {"metric": metric, "value": value} | more


@pytest.mark.parametrize(
    ("row", "value", "agrees"),
    [
        (a_row(80.0), 80.2, True),  # two rows of a thousand
        *((a_row(80.0), again, False) for again in (80.3, 79.7)),
        (a_row(0.5, "approximation_error_frobenius"), 0.500004, True),
        *((a_row(0.5, metric), 0.50001, False) for metric in ("approximation_error_frobenius", "mse")),
        (a_row(0.0, "mse"), 0.0, True),
        *((a_row(80.0, n_test=None), again, same) for again, same in [(80.0, True), (80.1, False)]),
    ],
)
def test_values_agree_to_two_test_rows_or_five_digits(row, value, agrees):
    shipped = tidy.frame([row])
    (beyond,) = recheck.compared(shipped, shipped.assign(value=value)).beyond
    assert (beyond <= 1) == agrees


def test_what_fails_now_or_is_missing_does_not_agree():
    shipped = tidy.frame([a_row(1.0), a_row(2.0, n_features_label="2d"), a_row(3.0, n_features_label="4d")])
    ours = shipped.iloc[:2].assign(status=["ok", "failed"])
    assert recheck.compared(shipped, ours).beyond.tolist() == [0, np.inf, np.inf]


def test_rows_of_another_kernel_times_facts_failures_and_other_units_are_not_compared():
    values = {"linear": 60.0, "gaussian": 90.0}
    shipped = tidy.frame([a_row(value, kernel=kernel) for kernel, value in values.items()])
    (found,) = recheck.compared(shipped, shipped.iloc[:1]).itertuples()
    assert (found.kernel, found.value, found.beyond) == ("linear", 60.0, 0)
    rows = [a_row(1.0, "time_train_s"), a_row(2.0, status="failed"), a_row(9.0, "fact_spike_rows")]
    shipped = tidy.frame([*rows, a_row(3.0, repeat=1)])
    assert recheck.compared(shipped, shipped.iloc[:3]).empty


def test_units_are_one_entry_in_one_repeat_and_the_same_every_time(jobs):
    shipped = tidy.read(ROOT / "data/measured/pool-size.csv.xz")
    units = recheck.drawn(jobs, "pool-size", shipped)
    again = recheck.drawn(jobs, "pool-size", shipped)
    named = [(stage, repr(unit.parts)) for stage, unit in units]
    assert named == [(stage, repr(unit.parts)) for stage, unit in again]
    assert len(set(named)) == len(units) == 3 * 10
    assert {len(part.methods) * len(part.repeats) for _, unit in units for part in unit.parts} == {1}
    assert not recheck.drawn(jobs, "pool-size", shipped[shipped["method"].eq("none")])


def test_numbers_of_rows_of_a_frontier_are_in_one_unit(jobs):
    """The rows of a frontier name their variants by their numbers of rows, the entries of the experiment do not."""
    shipped = tidy.read(ROOT / "data/measured/arena-frontier.csv.xz")
    units = recheck.drawn(jobs, "arena-frontier", shipped[shipped.status.eq("ok") & shipped.unit.ne("s")])
    assert len({repr(unit.parts) for _, unit in units}) == len(units) == 4 * 3 * 3


def test_shipped_choices_are_those_of_tune():
    """Rows of shipped experiments state what was chosen, so that their cells can be computed without the search."""
    rows = tidy.read(ROOT / "data/measured/slsrff-tuned.csv.xz")
    own = rows[rows.dataset.eq("magic04") & rows.method.eq("slsrff") & rows.repeat.eq(3) & rows.variant.eq("")]
    found = recheck.stated(own)
    assert set(found) == {"d", "2d", "4d", "8d", "16d", "32d", "64d", "128d"}
    for label, of_repeats in found.items():
        (text,) = set(own.settings[own.n_features_label.eq(label) & own.metric.eq("accuracy_pct")])
        settings = json.loads(text)
        chosen = {key: settings[key] for key in ("preprocess", "length_scale", "options")}
        assert of_repeats == {"3": {"chosen": chosen | {"penalty": {"ridge": settings["penalty"]}}}}


def test_a_repeat_without_a_learner_states_its_bandwidth_and_no_penalty():
    rows = tidy.read(ROOT / "data/measured/survey-images-text.csv.xz")
    own = rows[rows.dataset.eq("mnist") & rows.method.eq("rff") & rows.repeat.eq(7) & rows.status.eq("ok")]
    assert set(own.learner) == {""}
    chosen = recheck.stated(own)["1000"]["7"]["chosen"]
    assert chosen["length_scale"] == json.loads(own.settings.iloc[0])["length_scale"]
    assert "penalty" not in chosen


def test_units_of_a_map_under_two_kernels_have_files_and_choices_of_their_own(jobs, tmp_path, monkeypatch):
    shipped = tidy.read(ROOT / "data/measured/survey-kernels-text.csv.xz")
    own = shipped[shipped.dataset.eq("a8a") & shipped.method.eq("rom") & shipped.repeat.eq(6)]
    own = own[own.learner.eq("ridge") & own.n_features_label.eq("8d")].set_index("kernel").settings.map(json.loads)
    found = {}

    def output(stage, work, stem):
        (choices,) = json.loads(Path(work["tuned"][0]).read_text(encoding="utf-8"))["a8a"]["cell"].values()
        found[stem] = choices["8d"]["6"]["chosen"]["penalty"]["ridge"]

    monkeypatch.setattr(recheck, "FOLDER", tmp_path)
    monkeypatch.setattr(recheck, "output", output)
    monkeypatch.setattr(recheck, "subprocess", SimpleNamespace(run=lambda *args, **options: None))
    monkeypatch.setattr(recheck.tidy, "read", lambda path: path)
    cells = shipped[shipped.status.eq("ok") & shipped.method.eq("rom") & shipped.dataset.eq("a8a")]
    for stage, unit in recheck.drawn(jobs, "survey-kernels-text", cells):
        if unit.repeats == [6]:
            recheck.computed(jobs, stage, unit, shipped, search=False)
    assert len(found) == 2
    kernels = ("arccos0", "arccos1")
    assert found == {stem: own[kernel]["penalty"] for kernel in kernels for stem in found if kernel in stem}
    assert len(set(found.values())) == 2
