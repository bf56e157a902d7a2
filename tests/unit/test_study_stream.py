"""The kind of experiment that streams its rows: what it measures, that it goes on, and that memory does not grow."""

import numpy as np
import pytest
import study_toys as toys
from scipy.spatial.distance import pdist
from sklearn.linear_model import LogisticRegression

from random_features.kernels import Gaussian
from random_features.learners import boehning, streams
from rfstudy import tidy
from rfstudy.scores import approximation_error
from rfstudy.study import measure, time
from rfstudy.study.kinds import stream

N, N_TEST, D = 300, 90, 6

GRID = {
    "kernels": [{"name": "gaussian"}, {"name": "arc_cosine", "order": 1}],
    "rows": 240,
    "n_features": 16,
    "approximation_rows": 50,
    "penalty": 0.001,
    "timed_rows": 80,
    "sweeps": {"n_train": [60, 240], "penalty": [0.1], "methods": ["orf"]},
}


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N + N_TEST, D)).astype(np.float32)
    y = np.digitize(X[:, 0] + 0.3 * X[:, 1] ** 2, [-0.3, 0.9])
    return toys.write_data(tmp_path / "data", X, y, n_train_published=N, target="classes", split="published")


def spec_of(**changes):
    entries = [{"method": m, "variant": "", "options": {}} for m in ("rff", "orf")]
    return toys.part(
        kind="stream", dataset="made", preprocess=["none"], bandwidth={"rule": "median", "factor": 2.0},
        methods=entries, grid=GRID, repeats=[0],
    ) | changes  # fmt: skip


def run(spec, folder, tmp_path, name="one"):
    out = tmp_path / f"{name}.csv"
    measure.run(toys.as_read([spec]), [folder], tmp_path / "journal", out, tmp_path / f"{name}.npz", 1)
    return tidy.read(out)


def test_every_map_kernel_and_number_of_rows_has_its_rows(folder, tmp_path):
    rows = run(spec_of(), folder, tmp_path)
    assert set(rows["status"]) == {"ok"}
    plain, grown = rows[rows["axis"] == ""], rows[rows["axis"] == "n_train"]
    metrics = {("approximation_error_frobenius", "", "train"), ("train_error_pct", "logistic", "train"),
               ("error_pct", "logistic", "test"), ("passes", "logistic", "train")}  # fmt: skip
    assert set(zip(rows["metric"], rows["learner"], rows["split"], strict=True)) == metrics
    assert len(plain) == 2 * 2 * 4
    assert set(plain["kernel"]) == {"gaussian", "arccos1"}
    assert set(plain["n_train"]) == {240}
    assert set(rows["n_test"]) == {N_TEST}
    (harder,) = {*rows.loc[rows["axis"] == "penalty", "n_train"]}
    assert harder == 240
    settings_of_walk = toys.settings_of(rows[(rows["axis"] == "penalty") & (rows["metric"] == "error_pct")])
    assert [each["penalty"] for each in settings_of_walk] == [0.1]
    assert set(zip(grown["method"], grown["kernel"], grown["at"], grown["n_train"], strict=True)) == {
        ("orf", "gaussian", 60.0, 60), ("orf", "gaussian", 240.0, 240),
    }  # fmt: skip
    # the cell at 240 rows is the one without the axis
    same = [
        frame[(frame["method"] == "orf") & (frame["n_train"] == 240) & (frame["kernel"] == "gaussian")]
        for frame in (plain, grown)
    ]
    assert same[0]["value"].tolist() == same[1]["value"].tolist()
    settings = toys.settings_of(plain[plain["kernel"] == "gaussian"])
    X = np.load(folder / "X.npy")
    # of up to 2,000 rows the median is that of all pairs
    assert {round(each["length_scale"], 6) for each in settings} == {
        round(2 * np.median(pdist(X[:240].astype(float))), 6)
    }
    assert all(each["capped"] for each in settings)


def test_the_numbers_are_those_of_the_same_steps_in_memory(folder, tmp_path):
    rows = run(spec_of(), folder, tmp_path)
    job = toys.job("measure", spec_of(), folder, tmp_path / "other")
    cell = stream.cells(job)[0]
    sample, kernel, _ = stream.rows_and_kernel(job, cell)
    assert isinstance(kernel, Gaussian)
    phi = stream.map_of(job, cell, kernel).fit(np.array(sample.X_train))
    Z, Z_test = phi.transform(np.array(sample.X_train)), phi.transform(np.array(sample.X_test))
    exact = LogisticRegression(C=1 / (0.001 * 240), fit_intercept=False, tol=1e-10, max_iter=10_000).fit(
        Z, sample.y_train
    )
    own = rows[(rows["method"] == "rff") & (rows["kernel"] == "gaussian")].set_index("metric")["value"]
    # the objectives agree to 1e-4; a row or two may be decided otherwise
    assert own["train_error_pct"] == pytest.approx(100 * np.mean(exact.predict(Z) != sample.y_train), abs=200 / 240)
    assert own["error_pct"] == pytest.approx(100 * np.mean(exact.predict(Z_test) != sample.y_test), abs=200 / N_TEST)
    error = stream.kernel_error(job, cell, phi, kernel, sample.X_train)
    assert own["approximation_error_frobenius"] == error
    # of all rows in place of fifty it is about the same
    K = kernel(np.array(sample.X_train, dtype=np.float64))
    assert error == pytest.approx(approximation_error(K, Z.astype(float) @ Z.T.astype(float)), rel=0.3)


def test_blocks_of_any_size_give_the_same_numbers(folder, tmp_path, monkeypatch):
    whole = run(spec_of(), folder, tmp_path)
    monkeypatch.setattr(streams, "MEMORY_BUDGET", 0)
    monkeypatch.setattr("random_features.arrays.CPU_BLOCK_BYTES", 2**11)
    (tmp_path / "journal").rename(tmp_path / "journal-of-the-first")
    cut = run(spec_of(), folder, tmp_path, "two")
    np.testing.assert_allclose(cut["value"], whole["value"], rtol=1e-10)


def test_features_beyond_the_budget_are_never_whole_in_memory(folder, tmp_path, monkeypatch):
    longest = []
    transposed = boehning.Design.transposed

    def watched(self, rowwise, weights=None):
        longest.extend(len(block) for _, block in self.blocks())
        return transposed(self, rowwise, weights)

    monkeypatch.setattr(boehning.Design, "transposed", watched)
    monkeypatch.setattr(streams, "MEMORY_BUDGET", 240 * 32 * 4 - 1)
    monkeypatch.setattr("random_features.arrays.CPU_BLOCK_BYTES", 2**11)
    job = toys.job("measure", spec_of(), folder, tmp_path / "journal")
    stream.measure(job, stream.cells(job)[0], None)
    assert max(longest) == 2**11 // (32 * 4)
    sample, *_ = stream.rows_and_kernel(job, stream.cells(job)[0])
    assert np.shares_memory(sample.X_train, job.data.X)
    assert np.shares_memory(sample.X_test, job.data.X)


def test_a_cell_that_was_killed_goes_on_from_its_last_pass(folder, tmp_path, monkeypatch):
    whole = run(spec_of(), folder, tmp_path, "whole")
    (tmp_path / "journal").rename(tmp_path / "journal-of-the-first")
    step, steps = boehning.Descent.step, []

    def killed(self):
        if len(steps) == 3:
            raise KeyboardInterrupt
        steps.append(1)
        step(self)

    monkeypatch.setattr(boehning.Descent, "step", killed)
    with pytest.raises(KeyboardInterrupt):
        run(spec_of(), folder, tmp_path)
    assert len(list(tmp_path.glob("*.checkpoints"))) == 1
    monkeypatch.setattr(boehning.Descent, "step", lambda self: (steps.append(1), step(self)))
    again = run(spec_of(), folder, tmp_path)
    assert again["value"].tolist() == whole["value"].tolist()
    # each pass but the first of every different cell is a step here, those before the kill among them
    cells = whole[whole["metric"].eq("passes") & (whole["axis"].eq("") | whole["at"].ne(240))]
    assert len(steps) == int(cells["value"].sum()) - len(cells)
    assert not list(tmp_path.glob("*.checkpoints"))


def test_what_is_timed_is_all_of_the_work_once_a_round(folder, tmp_path):
    spec = spec_of(time={"rounds": 2, "again": 0, "shortest": 1e-6, "threads": 1})
    time.run([spec], [folder], {}, tmp_path / "journal", tmp_path / "times.csv")
    rows = tidy.read(tmp_path / "times.csv")
    assert set(rows["metric"]) == {"time_total_s", "cpu_total_s"}
    assert len(rows) == 2 * 2 * 2 * 2  # maps, kernels, rounds, clocks
    assert set(rows["n_train"]) == {80}
    assert set(rows["kernel"]) == {"gaussian", "arccos1"}
    assert all(settings["calls"] == 1 for settings in toys.settings_of(rows))


def test_rows_of_a_stream_take_no_preprocessing():
    with pytest.raises(ValueError, match="as they are prepared, not after"):
        stream.check(spec_of(preprocess=["standard"]))
