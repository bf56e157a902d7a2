"""Publishing: real rows of committed code are merged by key, everything else is refused."""

import pytest

from rfstudy import tidy
from rfstudy.errors import UserError
from rfstudy.study import publish
from rfstudy.study.provenance import read_records, write_results


def results(folder, rows, uncommitted=False):
    """A results file of the given (method, repeat, value, run) and the records of its runs."""
    path = folder / "results.csv"
    shared = {"origin": "measured", "dataset": "eeg", "metric": "accuracy_pct", "status": "ok", "experiment": "e"}
    table = [shared | {"method": m, "repeat": r, "value": v, "run": run, **more} for m, r, v, run, more in rows]
    write_results(table, {run: {"run": run, "uncommitted": uncommitted} for _, _, _, run, _ in rows if run}, path)
    return path


def test_rows_are_merged_by_key_and_the_newer_one_stays(tmp_path):
    out = tmp_path / "measured" / "e.csv.xz"
    publish.run(results(tmp_path, [("rff", 0, 80.0, "a", {}), ("rff", 1, 81.0, "a", {})]), out)
    publish.run(results(tmp_path, [("rff", 1, 82.0, "b", {}), ("orf", 0, 83.0, "b", {})]), out)
    table = tidy.read(out)
    assert {(m, r): v for m, r, v in zip(table["method"], table["repeat"], table["value"], strict=True)} == {
        ("rff", 0): 80.0,
        ("rff", 1): 82.0,
        ("orf", 0): 83.0,
    }
    assert set(read_records(out)) == {"a", "b"}


def test_the_record_of_a_run_without_rows_left_goes(tmp_path):
    out = tmp_path / "e.csv.xz"
    publish.run(results(tmp_path, [("rff", 0, 80.0, "a", {})]), out)
    publish.run(results(tmp_path, [("rff", 0, 81.0, "b", {})]), out)
    assert set(read_records(out)) == {"b"}


def test_stand_ins_are_refused(tmp_path):
    path = results(tmp_path, [("rff", 0, 80.0, "a", {"stand_in": "digits (stand-in for MNIST)"})])
    with pytest.raises(UserError, match=r"stand-ins are not published.*eeg"):
        publish.run(path, tmp_path / "e.csv.xz")
    assert not (tmp_path / "e.csv.xz").exists()


def test_uncommitted_code_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"uncommitted code computed rows .* \(runs a\)"):
        publish.run(results(tmp_path, [("rff", 0, 80.0, "a", {})], uncommitted=True), tmp_path / "e.csv.xz")


def test_times_that_were_taken_beside_other_work_are_refused(tmp_path):
    def timed(number, **settings):
        told = {"metric": "time_fit_s", "axis": "round", "at": number, "settings": {"calls": 3, **settings}}
        return ("rff", 0, 0.5, "a", told)

    clean = [timed(0.0, others=0.2), timed(1.0, contended=False)]
    publish.run(results(tmp_path, clean), tmp_path / "clean.csv.xz")
    assert len(tidy.read(tmp_path / "clean.csv.xz")) == 2
    with pytest.raises(UserError, match=r"taken beside other work \(eeg, 1 rounds\).*--forcerun time"):
        publish.run(results(tmp_path, [*clean, timed(2.0, contended=True)]), tmp_path / "e.csv.xz")
    assert not (tmp_path / "e.csv.xz").exists()


def test_what_was_skipped_for_want_of_data_is_not_published(tmp_path):
    rows = [("rff", 0, 80.0, "a", {}), ("orf", 0, None, "", {"status": "skipped"})]
    publish.run(results(tmp_path, rows), tmp_path / "e.csv.xz")
    assert list(tidy.read(tmp_path / "e.csv.xz")["method"]) == ["rff"]
