"""Publishing: real rows of committed code are merged by key with rows that were measured like them, everything else is
refused.
"""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from random_features.errors import UserError
from rfstudy import tidy
from rfstudy.files import digest_of, read_arrays, record_file, write_json
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


def test_arrays_are_published_beside_their_rows_and_joined_by_name(tmp_path):
    out = tmp_path / "measured" / "e.csv.xz"
    for number, name in enumerate(("a/x", "b/x")):
        folder = tmp_path / str(number)
        path = results(folder, [("rff", number, 80.0, "a", {})])
        records = read_records(path)
        write_results(tidy.read(path), records, path, {name: np.full(3, number)}, path.with_suffix(".npz"))
        publish.run(path, out)
    found = read_arrays(out.with_name("e.npz"))
    assert {name: array.tolist() for name, array in found.items()} == {"a/x": [0, 0, 0], "b/x": [1, 1, 1]}
    publish.run(path, out, "experiment")
    assert list(read_arrays(out.with_name("e.npz"))) == ["b/x"]


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


def test_times_of_another_rule_than_time_are_refused(tmp_path):
    rows = [("rff", 0, 80.0, "a", {}), ("rff", 0, 0.5, "a", {"metric": "time_feature_s"})]
    with pytest.raises(UserError, match=r"1 times of .* \(time_feature_s\) were not taken by the rule time"):
        publish.run(results(tmp_path, rows), tmp_path / "e.csv.xz")
    assert not (tmp_path / "e.csv.xz").exists()


def test_what_was_skipped_for_want_of_data_is_not_published(tmp_path):
    rows = [("rff", 0, 80.0, "a", {}), ("orf", 0, None, "", {"status": "skipped"})]
    # a run that found that there is no map at this size has found something
    rows += [("gq", 0, None, "a", {"status": "skipped", "settings": {"reason": "no map"}})]
    publish.run(results(tmp_path, rows), tmp_path / "e.csv.xz")
    assert list(tidy.read(tmp_path / "e.csv.xz")["method"]) == ["gq", "rff"]


def test_the_newest_record_of_a_run_stays(tmp_path):
    """A run that was published before it had finished has a longer wall time since."""
    out = tmp_path / "e.csv.xz"
    publish.run(results(tmp_path, [("rff", 0, 80.0, "a", {})]), out)
    path = results(tmp_path, [("rff", 0, 80.0, "a", {}), ("rff", 1, 80.0, "a", {})])
    with_records(path, [{"run": "a", "uncommitted": False, "wall_time_s": 9.0}])
    publish.run(path, out)
    assert read_records(out)["a"]["wall_time_s"] == 9.0


# --- rows nobody could repeat -----------------------------------------------------------------------------------------


def with_records(path, records):
    """The results file with these records in place of its own."""
    known = json.loads(record_file(path).read_text())
    write_json(known | {"runs": records}, record_file(path))
    return path


def test_rows_without_a_record_are_refused(tmp_path):
    path = with_records(results(tmp_path, [("rff", 0, 80.0, "a", {}), ("orf", 0, 80.0, "b", {})]), [])
    with pytest.raises(UserError, match=r"2 rows of .*results\.csv \(eeg\) have no record of the run .*results\.prov"):
        publish.run(path, tmp_path / "e.csv.xz")
    with_records(path, [{"run": "a", "uncommitted": False}])
    with pytest.raises(UserError, match=r"1 rows of .* have no record"):
        publish.run(path, tmp_path / "e.csv.xz")
    assert not (tmp_path / "e.csv.xz").exists()


def test_rows_that_no_run_computed_are_refused_unless_data_were_missing(tmp_path):
    """Facts about data, too."""
    path = results(tmp_path, [("rff", 0, 80.0, "a", {}), ("", None, 9.0, "", {"metric": "fact_rows"})])
    with pytest.raises(UserError, match=r"1 rows of .* have no record"):
        publish.run(path, tmp_path / "e.csv.xz")


def test_a_record_file_of_another_sort_is_refused(tmp_path):
    path = results(tmp_path, [("rff", 0, 80.0, "a", {})])
    record_file(path).write_text("[]")
    with pytest.raises(UserError, match="is no record of runs"):
        publish.run(path, tmp_path / "e.csv.xz")
    record_file(path).unlink()
    with pytest.raises(UserError, match="is missing"):
        publish.run(path, tmp_path / "e.csv.xz")


def test_a_record_that_does_not_say_whether_its_code_was_committed_is_refused(tmp_path):
    path = with_records(results(tmp_path, [("rff", 0, 80.0, "a", {})]), [{"run": "a"}])
    with pytest.raises(UserError, match="uncommitted code"):
        publish.run(path, tmp_path / "e.csv.xz")


def test_the_uncommitted_code_of_a_run_that_computed_no_row_is_no_obstacle(tmp_path):
    path = results(tmp_path, [("rff", 0, 80.0, "a", {})])
    with_records(path, [{"run": "a", "uncommitted": False}, {"run": "b", "uncommitted": True}])
    publish.run(path, tmp_path / "e.csv.xz")
    assert set(read_records(tmp_path / "e.csv.xz")) == {"a"}


def test_rows_of_papers_are_no_measurements(tmp_path):
    path = results(tmp_path, [("rff", 0, 80.0, "a", {"origin": "published"})])
    with pytest.raises(UserError, match="holds rows of origin published"):
        publish.run(path, tmp_path / "e.csv.xz")


def test_a_results_file_that_was_cut_is_refused(tmp_path):
    path = results(tmp_path, [("rff", 0, 80.0, "a", {}), ("rff", 1, 80.0, "a", {})])
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(UserError, match=r"results\.csv is not the file that"):
        publish.run(path, tmp_path / "e.csv.xz")


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_a_published_file_that_was_cut_is_named_and_stays(tmp_path, share):
    out = tmp_path / "e.csv.xz"
    path = results(tmp_path, [("rff", 0, 80.0, "a", {})])
    publish.run(path, out)
    left = out.read_bytes()[: int(share * out.stat().st_size)]
    out.write_bytes(left)
    with pytest.raises(UserError, match=r"e\.csv\.xz is not the file that e\.provenance\.json"):
        publish.run(path, out)
    assert out.read_bytes() == left


# --- rows that do not go together -------------------------------------------------------------------------------------

SETTINGS = {"capped": False, "options": {"layout": "cos_sin"}, "rows": 1000, "length_scale": 0.5, "penalty": 0.1}
SHARED = {
    "preset": "laptop", "kernel": "gaussian", "n_features": 28, "n_features_label": "2d", "n_columns": 56,
    "n_train": 90, "n_test": 30, "d": 14, "seed": 2021, "split": "test", "learner": "ridge",
}  # fmt: skip


def rows(repeats, run="a", method="rff", settings=None, **columns):
    """Rows of a cell; the penalty is each repeat's own."""
    found = []
    for repeat in repeats:
        own = SETTINGS | {"penalty": 0.1 * (repeat % 3 + 1)} | (settings or {})
        found.append((method, repeat, 80.0 + repeat, run, SHARED | {"settings": own} | columns))
    return found


def published(tmp_path, *groups):
    out = tmp_path / "e.csv.xz"
    publish.run(results(tmp_path, [row for group in groups for row in group]), out)
    return out


#: How the joining rows of a cell were measured, and what the message says of it.
OTHERWISE = {
    "seed": ({"seed": 7}, "eeg: seed 7 joins 2021 "),
    "cap": ({"n_train": 40, "settings": {"capped": True}}, "eeg: n_train 40 joins 90 "),
    "only capped": ({"settings": {"capped": True}}, "eeg: capped true joins false "),
    "test rows": ({"n_test": 31}, "eeg: n_test 31 joins 30 "),
    "preset": ({"preset": "paper"}, 'eeg: preset "paper" joins "laptop" '),
    "size of the same label": ({"n_features": 30}, "eeg: n_features 30 joins 28 "),
    "columns of the data": ({"d": 15}, "eeg: d 15 joins 14 "),
    "columns of the features": ({"n_columns": 28}, "eeg: n_columns 28 joins 56 "),
    "options": ({"settings": {"options": {"layout": "phase"}}}, 'eeg: options {"layout": "phase"} joins'),
    "rows of the error": ({"settings": {"rows": 500}}, "eeg: rows 500 joins 1000 "),
    "bandwidth": ({"settings": {"length_scale": 0.7}}, "eeg: length_scale 0.7 joins 0.5 "),
    "a shared choice": ({"settings": {"shared_by": "size"}}, 'eeg: shared_by "size" joins null '),
}


@pytest.mark.parametrize("what", OTHERWISE)
def test_rows_of_a_mean_are_of_one_experiment(tmp_path, what):
    out = published(tmp_path, rows(range(4)), rows(range(4), method="orf"))
    before = out.read_bytes(), record_file(out).read_bytes()
    changes, message = OTHERWISE[what]
    new = results(tmp_path, rows([0, 1], "b", **changes))
    with pytest.raises(UserError) as refused:
        publish.run(new, out)
    assert "were not measured like those of" in str(refused.value)
    assert f"\n  {message}" in str(refused.value)
    assert "publish --replace cell|experiment" in str(refused.value)
    assert (out.read_bytes(), record_file(out).read_bytes()) == before


@pytest.mark.parametrize(
    "changes",
    [
        {"settings": {"penalty": 7.0}},  # each repeat has its own
        {"settings": {"converged": False}},
        {"settings": {"reason": "singular"}, "status": "failed"},
    ],
    ids=str,
)
def test_what_a_repeat_found_may_differ(tmp_path, changes):
    out = published(tmp_path, rows(range(4)))
    publish.run(results(tmp_path, rows([3, 4], "b", **changes)), out)
    assert tidy.read(out)["run"].tolist() == ["a", "a", "a", "b", "b"]


def test_what_is_seen_to_vary_among_the_joining_rows_may_differ_too(tmp_path):
    """The penalty of the rows that stay is the same by chance."""
    out = published(tmp_path, rows([0, 3, 6]))
    publish.run(results(tmp_path, rows([1, 2], "b")), out)
    with pytest.raises(UserError, match=r"penalty 0\.3\d* joins 0\.1"):
        publish.run(results(tmp_path, rows([5], "b")), published(tmp_path / "alone", rows([0, 3, 6])))


def test_a_failed_row_has_fewer_settings_and_joins(tmp_path):
    out = published(tmp_path, rows(range(4)))
    failed = ("rff", 4, None, "b", SHARED | {"n_columns": None, "status": "failed", "settings": {"reason": "singular"}})
    publish.run(results(tmp_path, [failed]), out)
    assert len(tidy.read(out)) == 5


@pytest.mark.parametrize("changes", [{"seed": 7}, {"n_train": 40}, {"n_test": 31}])
@pytest.mark.parametrize(
    "elsewhere", [{"method": "orf"}, {"n_features_label": "4d", "n_features": 56}, {"metric": "error_pct"}], ids=str
)
def test_methods_and_sizes_of_a_data_set_are_compared_on_the_same_rows(tmp_path, changes, elsewhere):
    out = published(tmp_path, rows(range(4)))
    ((column, value),) = changes.items()
    with pytest.raises(UserError, match=rf"eeg: {column} {value} joins {SHARED[column]} \(2 rows\)"):
        publish.run(results(tmp_path, rows([0, 1], "b", **elsewhere, **changes)), out)
    publish.run(results(tmp_path, rows([0, 1], "b", **elsewhere)), out)
    publish.run(results(tmp_path, rows([0, 1], "b", **elsewhere, **changes, dataset="skin")), out)
    assert len(tidy.read(out)) == 8


def test_another_place_on_an_axis_may_have_other_rows(tmp_path):
    out = published(tmp_path, rows(range(2), axis="n", at=90.0))
    publish.run(results(tmp_path, rows(range(2), "b", axis="n", at=40.0, n_train=40)), out)
    with pytest.raises(UserError, match="n_train 41 joins 40"):
        publish.run(results(tmp_path, rows([2], "b", axis="n", at=40.0, n_train=41)), out)


def test_facts_are_counted_on_all_rows_whatever_is_measured_on_how_many(tmp_path):
    fact = {"metric": "fact_rows", "n_train": 900, "seed": 2021, "split": "all"}
    out = published(tmp_path, [("", None, 930.0, "a", fact)])
    publish.run(results(tmp_path, rows([0], "b")), out)
    assert len(tidy.read(out)) == 2
    with pytest.raises(UserError, match="n_train 901 joins 900"):
        publish.run(results(tmp_path, [("", None, 3.0, "b", fact | {"metric": "fact_conflicts", "n_train": 901})]), out)


def test_sizes_of_a_curve_have_the_settings_that_all_others_have(tmp_path):
    four, eight, sixteen = ({"n_features_label": f"{k}d", "n_features": 14 * k} for k in (4, 8, 16))
    out = published(tmp_path, rows([0, 1]), rows([0, 1], **four))
    with pytest.raises(UserError, match=r"eeg: length_scale 0\.7 joins 0\.5 \(2 rows\)"):
        publish.run(results(tmp_path, rows([0, 1], "b", settings={"length_scale": 0.7}, **eight)), out)
    # another method has settings of its own
    publish.run(results(tmp_path, rows([0, 1], "b", method="orf", settings={"length_scale": 0.7}, **eight)), out)
    publish.run(results(tmp_path, rows([0, 1], "b", **eight)), out)
    # of one size nothing shows whether all have the same
    publish.run(results(tmp_path, rows([0, 1], "b", method="orf", settings={"length_scale": 0.9}, **four)), out)
    publish.run(results(tmp_path, rows([0, 1], "b", method="orf", settings={"length_scale": 0.8}, **sixteen)), out)
    assert len(tidy.read(out)) == 12


@pytest.mark.parametrize(
    "settings",
    [
        {"penalty": 9.0},  # of the cell, or of the size
        {"C": 9.0},
        {"penalty": 9.0, "length_scale": 0.7, "options": {"layout": "phase"}, "shared_by": "method_and_size"},
    ],
    ids=str,
)
def test_a_size_may_have_a_choice_of_its_own(tmp_path, settings):
    """Although all other sizes happen to have made the same one."""
    four, eight = ({"n_features_label": f"{k}d", "n_features": 14 * k} for k in (4, 8))
    same = settings | {key: value for key, value in {"penalty": 0.1, "C": 1.0}.items() if key in settings}
    same |= {key: SETTINGS[key] for key in ("length_scale", "options") if key in settings}
    out = published(tmp_path, rows([0], settings=same), rows([0], settings=same, **four))
    publish.run(results(tmp_path, rows([0], "b", settings=settings, **eight)), out)
    assert len(tidy.read(out)) == 3


def test_a_whole_cell_takes_the_place_of_one_that_was_measured_otherwise(tmp_path):
    out = published(tmp_path, rows(range(4)), rows(range(4), method="orf"))
    phase = {"settings": {"options": {"layout": "phase"}}}
    publish.run(results(tmp_path, rows(range(4), "b", **phase)), out)
    table = tidy.read(out)
    assert table.groupby("method")["run"].apply(set).to_dict() == {"orf": {"a"}, "rff": {"b"}}
    new = results(tmp_path, rows([0, 1], "c", preset="paper"))
    publish.run(new, out, "cell")
    table = tidy.read(out)
    assert table.groupby(["method", "run"]).size().to_dict() == {("orf", "a"): 4, ("rff", "c"): 2}
    assert set(read_records(out)) == {"a", "c"}


def test_a_replaced_cell_still_has_to_go_with_its_data_set(tmp_path):
    out = published(tmp_path, rows(range(4)), rows(range(4), method="orf"))
    new = results(tmp_path, rows(range(4), "b", n_train=40))
    with pytest.raises(UserError, match="n_train 40 joins 90"):
        publish.run(new, out, "cell")
    publish.run(new, out, "experiment")
    assert set(tidy.read(out)["run"]) == {"b"}
    assert len(tidy.read(out)) == 4


def timed(repeats, run, **columns):
    told = SHARED | {"metric": "time_fit_s", "axis": "round", "repeat": 0, "split": "", **columns}
    return [("rff", 0, 0.1, run, told | {"at": float(number), "settings": {"calls": number}}) for number in repeats]


def test_rounds_of_one_time_are_of_the_same_runs(tmp_path):
    out = published(tmp_path, timed([0, 1], "a") + timed([2, 3, 4], "b"))
    new = results(tmp_path, timed([0, 1, 2], "c"))
    with pytest.raises(UserError, match=r'eeg: run "c" joins "b" \(3 rows\)'):
        publish.run(new, out)
    publish.run(new, out, "cell")
    assert set(tidy.read(out)["run"]) == {"c"}
    publish.run(results(tmp_path, timed([0, 1, 2], "d", n_features_label="4d", n_features=56)), out)
    assert len(tidy.read(out)) == 6


def test_many_differences_are_told_in_a_few_lines(tmp_path):
    out = published(tmp_path, *(rows(range(3), dataset=f"set{i:02}") for i in range(20)))
    new = results(tmp_path, [row for i in range(20) for row in rows([0], "b", dataset=f"set{i:02}", seed=7)])
    with pytest.raises(UserError) as refused:
        publish.run(new, out)
    assert len(str(refused.value).splitlines()) == 11
    assert "and 12 more differences" in str(refused.value)


def test_published_rows_without_a_record_are_named(tmp_path):
    out = published(tmp_path, rows(range(4)))
    with_records(out, [])
    with pytest.raises(UserError, match=r"3 rows of .* have no record of their run \(first 'a'\)"):
        publish.run(results(tmp_path, rows([0], "b")), out)


# --- what ships -------------------------------------------------------------------------------------------------------

SHIPPED = sorted((Path(__file__).resolve().parents[2] / "data" / "measured").glob("*.csv.xz"))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_every_shipped_row_points_to_a_record_of_committed_code(path):
    table, records = tidy.read(path), read_records(path)
    arrays = path.with_name(path.name.partition(".")[0] + ".npz")
    shipped = [each for each in (path, arrays) if each.exists()]
    assert json.loads(record_file(path).read_text())["sha256"] == {each.name: digest_of(each) for each in shipped}
    assert set(table["run"]) == set(records)
    assert not any(record["uncommitted"] for record in records.values())
    assert all(record["commit"] for record in records.values())


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_every_shipped_time_was_taken_by_the_rule_time_with_nothing_beside_it(path):
    table = tidy.read(path)
    times = table[table["unit"] == "s"]
    assert set(times["axis"]) <= {"round"}
    assert {read_records(path)[run]["stage"] for run in times["run"]} <= {"time"}
    assert not any(json.loads(settings or "{}").get("contended") for settings in times["settings"])


# --- a kill at every moment -------------------------------------------------------------------------------------------


class Killed(BaseException):
    """In place of a signal: nothing cleans up behind it."""


def killed_around_renamings(monkeypatch) -> list[int]:
    """A number: a run is killed at that moment before or after a renaming, the first is 1; 0 is none of them."""
    rename, moments = os.replace, [0]

    def replace(source, target):
        for step in (lambda: None, lambda: rename(source, target)):
            moments[0] -= 1
            if moments[0] == 0:
                raise Killed
            step()

    monkeypatch.setattr("rfstudy.files.os.replace", replace)
    return moments


def test_a_publication_that_is_killed_anywhere_is_done_by_the_next(tmp_path, monkeypatch):
    """Killed before and after each renaming: what is there is whole, and the next run ends in the same file."""
    moments, out, expected = killed_around_renamings(monkeypatch), tmp_path / "e.csv.xz", None
    for moment in (None, *range(1, 20)):
        moments[0] = 0
        out.unlink(missing_ok=True)
        record_file(out).unlink(missing_ok=True)
        published(tmp_path, rows(range(4)), rows(range(4), "gone", method="orf"))
        new = results(tmp_path, rows([3, 4], "b") + rows(range(4), "b", method="orf"))
        moments[0] = moment or 0
        try:
            publish.run(new, out)
            if moment:
                break
        except Killed:
            moments[0] = 0
            assert len(tidy.read(out)) in (8, 9)
            assert set(tidy.read(out)["run"]) <= set(read_records(out))
            publish.run(new, out)
        found = out.read_bytes(), record_file(out).read_bytes()
        expected = expected or found
        assert found == expected
    assert moment == 7  # three renamings


def test_a_first_publication_that_is_killed_anywhere_is_done_by_the_next(tmp_path, monkeypatch):
    """Rows are never there without their record: the next publication could not say where they are from."""
    moments = killed_around_renamings(monkeypatch)
    new = results(tmp_path, rows(range(3)))
    for moment in range(1, 5):  # two renamings
        out = tmp_path / str(moment) / "e.csv.xz"
        moments[0] = moment
        with pytest.raises(Killed):
            publish.run(new, out)
        publish.run(new, out)
        assert len(tidy.read(out)) == 3


def test_rows_of_another_experiment_are_refused(tmp_path):
    out = tmp_path / "e.csv.xz"
    published(tmp_path, rows(range(4)))
    before = out.read_bytes()
    other = results(tmp_path, [(*row[:-1], row[-1] | {"experiment": "other"}) for row in rows(range(4))])
    for replace in ("", "cell", "experiment"):
        with pytest.raises(UserError, match=r"holds rows of .*, .* has none of them: name its own file"):
            publish.run(other, out, replace)
    assert out.read_bytes() == before


@pytest.mark.parametrize("replace", ["", "cell", "experiment"])
def test_a_publication_of_nothing_changes_nothing(tmp_path, replace):
    out = tmp_path / "e.csv.xz"
    published(tmp_path, rows(range(4)))
    before = out.read_bytes()
    skipped = [("rff", r, None, "", {"status": "skipped"}) for r in range(4)]
    with pytest.raises(UserError, match="holds no row that was measured: there is nothing to publish"):
        publish.run(results(tmp_path, skipped), out, replace)
    assert out.read_bytes() == before


@pytest.mark.parametrize("name", ["e.csv", "e.txt", "e", "e.csv.gz"])
def test_published_rows_are_in_a_file_of_their_kind(tmp_path, name):
    with pytest.raises(UserError, match=r"published rows are kept in data/measured/<experiment>\.csv\.xz"):
        publish.run(results(tmp_path, rows(range(2))), tmp_path / name)
    assert not (tmp_path / name).exists()
