"""The kind of experiment that streams its rows: what it measures, that it goes on, and that memory does not grow."""

import numpy as np
import pytest
import study_toys as toys

from random_features.learners import streams
from random_features.learners.design import Design
from rfstudy import tidy
from rfstudy.study import measure, time
from rfstudy.study.kinds import stream

N, N_TEST, D = 300, 90, 6

GRID = {
    "kernels": [{"name": "gaussian"}, {"name": "arc_cosine", "order": 1}], "rows": 240, "n_features": 16,
    "approximation_rows": 50, "penalty": 0.001, "timed_rows": 80,
    "sweeps": {"n_train": [60, 240], "penalty": [0.1], "methods": ["orf"]},
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    X = np.random.default_rng(0).standard_normal((N + N_TEST, D)).astype(np.float32)
    y = np.digitize(X[:, 0] + 0.3 * X[:, 1] ** 2, [-0.3, 0.9])
    return toys.write_data(tmp_path / "data", X, y, n_train_published=N, target="classes", split="published")


def spec_of(**changes):
    entries = [{"method": m, "variant": "", "options": {}} for m in ("rff", "orf")]
    own = {"methods": entries, "grid": GRID, "repeats": [0], "bandwidth": {"rule": "median", "factor": 2.0}}
    return toys.part(kind="stream", dataset="made", preprocess=["none"], **own | changes)


def run(spec, folder, tmp_path, name="one"):
    out = tmp_path / f"{name}.csv"
    measure.run(toys.as_read([spec]), [folder], tmp_path / "journal", out, tmp_path / f"{name}.npz", 1)
    return tidy.read(out)


def test_blocks_of_any_size_give_the_same_numbers(folder, tmp_path, monkeypatch):
    whole = run(spec_of(), folder, tmp_path)
    monkeypatch.setattr(streams, "MEMORY_BUDGET", 0)
    monkeypatch.setattr("random_features.arrays.CPU_BLOCK_BYTES", 2**11)
    (tmp_path / "journal").rename(tmp_path / "journal-of-the-first")
    np.testing.assert_allclose(run(spec_of(), folder, tmp_path, "two")["value"], whole["value"], rtol=1e-10)


def test_features_beyond_the_budget_are_never_whole_in_memory(folder, tmp_path, monkeypatch):
    longest = []
    transposed = Design.transposed

    def watched(self, rowwise, *weights):
        longest.extend(len(block) for _, block in self.blocks())
        return transposed(self, rowwise, *weights)

    monkeypatch.setattr(Design, "transposed", watched)
    monkeypatch.setattr(streams, "MEMORY_BUDGET", 240 * 32 * 4 - 1)
    monkeypatch.setattr("random_features.arrays.CPU_BLOCK_BYTES", 2**11)
    job = toys.job("measure", spec_of(), folder, tmp_path / "journal")
    toys.measured(stream, job, stream.cells(job)[0])
    assert max(longest) == 2**11 // (32 * 4)
    sample, *_ = stream.rows_and_kernel(job, 240, 0, parameters={"name": "gaussian"}, bandwidth={"rule": "median"})
    assert np.shares_memory(sample.X_train, job.data.X)
    assert np.shares_memory(sample.X_test, job.data.X)


def test_a_cell_that_was_killed_goes_on_from_its_last_pass(folder, tmp_path, monkeypatch):
    whole = run(spec_of(), folder, tmp_path, "whole")
    (tmp_path / "journal").rename(tmp_path / "journal-of-the-first")
    transposed, passes = Design.transposed, []

    def killed(self, rowwise, *weights):
        if len(passes) == 3:
            raise KeyboardInterrupt
        passes.append(1)
        return transposed(self, rowwise, *weights)

    monkeypatch.setattr(Design, "transposed", killed)
    with pytest.raises(KeyboardInterrupt):
        run(spec_of(), folder, tmp_path)
    assert len(list(tmp_path.glob("*.checkpoints"))) == 1
    monkeypatch.setattr(Design, "transposed", lambda self, *how: (passes.append(1), transposed(self, *how))[1])
    assert run(spec_of(), folder, tmp_path)["value"].tolist() == whole["value"].tolist()
    # every pass of every different cell was made once, those before the kill among them
    cells = whole[whole["metric"].eq("passes") & (whole["axis"].eq("") | whole["at"].ne(240))]
    assert len(passes) == int(cells["value"].sum())
    assert not list(tmp_path.glob("*.checkpoints"))


def test_what_is_timed_is_all_of_the_work_once_per_round(folder, tmp_path):
    spec = spec_of(time={"rounds": 2, "again": 0, "shortest": 1e-6, "threads": 1})
    time.run([spec], [folder], {}, tmp_path / "journal", tmp_path / "times.csv")
    rows = tidy.read(tmp_path / "times.csv")
    assert set(rows["metric"]) == {"time_total_s", "cpu_total_s"}
    assert len(rows) == 2 * 2 * 2 * 2  # maps, kernels, rounds, clocks
    assert set(rows["n_train"]) == {80}
    assert set(rows["kernel"]) == {"gaussian", "arccos1"}
    assert all(settings["calls"] == 1 for settings in toys.settings_of(rows))
