"""Publishing: blocks of rows replace those that are there; rows nobody could repeat, or compare, are refused."""

import json
import re

import numpy as np
import pytest
from checkouts import ROOT

from random_features.errors import UserError
from rfstudy import tidy
from rfstudy.files import digest_of, read_arrays, record_file, write_json
from rfstudy.study import publish
from rfstudy.study.provenance import read_records, write_results

SETTINGS = {"capped": False, "options": {"layout": "cos_sin"}, "rows": 1000, "length_scale": 0.5, "penalty": 0.1}
SHARED = {
    "origin": "measured", "preset": "laptop", "experiment": "e", "dataset": "eeg", "kernel": "gaussian",
    "n_features": 28, "n_features_label": "2d", "n_columns": 56, "n_train": 90, "n_test": 30, "d": 14, "seed": 2021,
    "split": "test", "learner": "ridge", "metric": "accuracy_pct", "status": "ok",
}  # fmt: skip
TIMES = {"metric": "time_draw_s", "axis": "round", "unit": "s", "learner": ""}


def rows(repeats, run="a", method="rff", settings=None, **columns):
    """Rows of a method, each with its repeat as the value."""
    own = SHARED | {"run": run, "method": method, "settings": SETTINGS | (settings or {})} | columns
    return [own | {"repeat": repeat, "value": float(repeat)} for repeat in repeats]


def rounds(number, run="a", **columns):
    return [row | {"repeat": 0, "at": row["value"]} for row in rows(range(number), run, **TIMES | columns)]


COMMIT = "0123456789" * 4


def results(folder, table, **record):
    """A results file of rows, and the records of their runs."""
    path, record = folder / "results.csv", {"uncommitted": False, "commit": COMMIT} | record
    write_results(table, {row["run"]: {"run": row["run"]} | record for row in table if row["run"]}, path)
    return path


@pytest.fixture
def published(tmp_path):
    """Publish rows one after the other and return what is there then."""

    def publish_all(*tables):
        out = tmp_path / "measured" / "e.csv.xz"
        for table in tables:
            publish.run(results(tmp_path, table), out)
        return tidy.read(out)

    return publish_all


def assert_refused(folder, table, message, **record):
    """Rows are refused with this message on one line, and what is published stays as it was."""
    out = folder / "measured/e.csv.xz"
    before = out.read_bytes(), record_file(out).read_bytes()
    with pytest.raises(UserError, match=message) as refused:
        publish.run(results(folder, table, **record), out)
    assert "\n" not in str(refused.value)
    assert (out.read_bytes(), record_file(out).read_bytes()) == before


def test_a_block_takes_the_place_of_its_rows_and_leaves_all_others(published, tmp_path):
    before = rows(range(4)) + rows(range(4), method="orf") + rows(range(4), variant="b") + rows([0], dataset="skin")
    table = published(before, rows(range(5), "new"))
    assert table.groupby(["dataset", "method", "variant"])["run"].unique().map(list).to_dict() == {
        ("eeg", "rff", ""): ["new"], ("eeg", "orf", ""): ["a"], ("eeg", "rff", "b"): ["a"], ("skin", "rff", ""): ["a"],
    }  # fmt: skip
    assert len(table) == 5 + 4 + 4 + 1
    assert set(read_records(tmp_path / "measured/e.csv.xz")) == {"a", "new"}
    others = rows(range(4), "new", method="orf") + rows(range(4), "new", variant="b") + rows([0], "new", dataset="skin")
    assert set(published(others)["run"]) == {"new"}
    assert set(read_records(tmp_path / "measured/e.csv.xz")) == {"new"}  # that of a run without rows goes


def test_the_times_of_a_data_set_are_one_block(published):
    table = published(rounds(3) + rounds(3, method="orf") + rows([0]), rounds(2, "new", method="orf"))
    assert table[table["axis"].eq("round")]["run"].tolist() == ["new", "new"]
    assert table[table["axis"].ne("round")]["run"].tolist() == ["a"]


@pytest.mark.parametrize(
    ("column", "value", "there"),
    [("metric", "error_pct", "ridge error_pct"), ("learner", "svm", "svm accuracy_pct"), ("kernel", "laplacian", "lap"),
     ("n_features_label", "8d", "8d"), ("axis", "draw", "draw")],
)  # fmt: skip
def test_a_block_that_lost_repeats_or_a_quantity_is_refused(published, tmp_path, column, value, there):
    own = {column: value} | ({"at": 0.0} if column == "axis" else {})
    published(rows(range(10), variant="b") + rows(range(10)) + rows(range(10), **own) + rounds(3))
    for number in (2, 0):
        message = f"has {number} repeats of eeg rff .*{there}.*, and .*e.csv.xz has 10: publish at least as many"
        assert_refused(tmp_path, rows(range(12)) + rows(range(number), **own), message)
    assert len(published(rows(range(10)) + rows(range(10), **own) + rows([0], metric="mse"))) == 10 + 21 + 3


def test_the_newest_record_of_a_run_stays(published, tmp_path):
    """A run that was published before it had finished has a longer wall time since."""
    published(rows([0]))
    publish.run(results(tmp_path, rows([0, 1]), wall_time_s=9.0), tmp_path / "measured/e.csv.xz")
    assert read_records(tmp_path / "measured/e.csv.xz")["a"]["wall_time_s"] == 9.0


def test_arrays_are_published_with_their_rows_and_joined_by_name(tmp_path):
    out = tmp_path / "measured/e.csv.xz"
    for number, (method, name) in enumerate((("rff", "x-1"), ("orf", "x"), ("rff", "x-2"))):
        path = tmp_path / f"e.{method}.csv"  # a part of the experiment, whose arrays are its own
        records = {"a": {"run": "a", "uncommitted": False, "commit": COMMIT}}
        arrays = {f"eeg/{method}/0/{name}": np.full(3, number)}
        write_results(rows([0], method=method), records, path, arrays, path.with_suffix(".npz"))
        publish.run(path, out)
    for _ in range(2):  # times replace times, and no arrays
        publish.run(results(tmp_path, rounds(1, method="orf")), out)
    found = read_arrays(out.with_name("e.npz"))  # without x-1 of the cell that was replaced
    assert {name: array.tolist() for name, array in found.items()} == {"eeg/rff/0/x-2": [2] * 3, "eeg/orf/0/x": [1] * 3}


def test_rows_of_another_experiment_and_files_of_another_kind_are_refused(published, tmp_path):
    published(rows(range(4)))
    for own in ("other", "e"):
        table = rows([0], experiment=own) + (rows([1], experiment="another") if own == "e" else [])
        assert_refused(tmp_path, table, r"rows of .*other.*: they are published in data/measured/<experiment>")
    for name in ("e.csv", "e.txt", "e", "e.csv.gz", "other.csv.xz"):
        with pytest.raises(UserError, match=r"rows of e: they are published in data/measured/<experiment>\.csv\.xz"):
            publish.run(results(tmp_path, rows([0])), tmp_path / name)


@pytest.mark.parametrize(
    ("table", "record", "message"),
    [
        (rows([0], stand_in="digits"), {}, r"1 rows of .* \(eeg\) are of stand-ins"),
        (rows([0], origin="published"), {}, r"\(published\) were not measured here"),
        (rows([0], run="") + rows([1]), {}, r"1 rows of .* have no record of their run \(first ''\): run"),
        (rows([0]), {"uncommitted": True}, r"\(a\) were computed by uncommitted code"),
        *((rows([0]), {"commit": commit}, r"\(a\) were computed by uncommitted code") for commit in ("", "abc")),
        (rows([0]) + rows([1], seed=5), {}, r"eeg: seed 5 joins 2021 \(1 rows\)"),
        (rows([0], metric="time_draw_s", unit="s"), {}, r"\(time_draw_s\) are times that the rule time did not take"),
        (rounds(2, settings={"machine_busy": True}), {}, "2 rows of .* are times next to other work"),
        (rows([0], run="", status="skipped", value=None), {}, "holds no row that was measured: there is nothing to"),
    ],
)
def test_rows_nobody_could_repeat_are_refused(published, tmp_path, table, record, message):
    published(rows(range(4), method="orf"))
    assert_refused(tmp_path, table, message, **record)


def test_a_record_that_does_not_say_whether_its_code_was_committed_is_refused(tmp_path):
    publish.run(results(tmp_path, rows([0]), uncommitted=None), tmp_path / "e.csv.xz")
    path = results(tmp_path, rows([0]))
    write_json(json.loads(record_file(path).read_text()) | {"runs": [{"run": "a"}]}, record_file(path))
    with pytest.raises(UserError, match="uncommitted code"):
        publish.run(path, tmp_path / "e.csv.xz")


def test_what_was_skipped_for_want_of_data_is_left_out(published):
    assert len(published(rows([0]) + rows([0], run="", dataset="skin", status="skipped", value=None))) == 1


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
@pytest.mark.parametrize("which", ["results.csv", "measured/e.csv.xz", "measured/e.provenance.json"])
def test_a_file_that_was_cut_is_named_and_stays(published, tmp_path, share, which):
    published(rows(range(4)))
    path, out = tmp_path / which, tmp_path / "measured/e.csv.xz"
    new = results(tmp_path, rows(range(2), "new"))
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    cut = path.read_bytes()
    with pytest.raises(UserError, match=path.name.replace(".", r"\.")):
        publish.run(new, out)
    assert path.read_bytes() == cut


OTHERWISE = {
    "seed": ({"seed": 7}, "eeg: seed 7 joins 2021 (2 rows)"),
    "cap": ({"n_train": 40, "settings": {"capped": True}}, "eeg: n_train 40 joins 90 (2 rows)"),
    "only capped": ({"settings": {"capped": True}}, "eeg: capped true joins false (2 rows)"),
    "test rows": ({"n_test": 31}, "eeg: n_test 31 joins 30 (2 rows)"),
    "repeats of the choice": ({"settings": {"chosen_on": [0]}}, "eeg: chosen_on [0] joins [0, 1, 2] (2 rows)"),
}


@pytest.mark.parametrize("what", OTHERWISE)
@pytest.mark.parametrize("neighbour", [{"method": "orf"}, {"variant": "b"}])
def test_a_block_is_refused_where_its_neighbours_were_measured_otherwise(published, tmp_path, what, neighbour):
    stated = {"settings": {"chosen_on": [0, 1, 2]}}
    published(rows(range(4), **stated) + rows(range(4), **stated, **neighbour))
    changes, message = OTHERWISE[what]
    changes = changes | {"settings": stated["settings"] | changes.get("settings", {})}
    message = f"{re.escape(message)}.*publish all methods of these data sets together"
    assert_refused(tmp_path, rows([0, 1], "b", **changes), message)
    # all of the data set together is another experiment, as a whole
    assert set(published(rows(range(4), "b", **changes) + rows(range(4), "b", **changes | neighbour))["run"]) == {"b"}


@pytest.mark.parametrize(
    "changes",
    [
        {"settings": {"penalty": 7.0, "length_scale": 0.7, "options": {"layout": "phase"}}},
        {"settings": {"converged": False}},
        {"settings": {"split_options": {"n_blocks": 10}}, "n_train": 80},  # an entry's own split
        {"n_features_label": "4d", "n_train": 40},
        {"learner": "svm", "n_train": 40},
        {"dataset": "skin", "n_train": 40},
        {"axis": "n_train", "at": 50.0, "n_train": 50},
        {"metric": "fact_rows", "learner": "", "n_train": 7},
    ],
    ids=str,
)
def test_other_places_and_what_a_method_chose_or_found_may_differ(published, changes):
    table = published(rows(range(4)), rows(range(4), "b", method="orf", **changes))
    assert set(table["run"]) == {"a", "b"}


@pytest.mark.parametrize(("column", "value", "pair"), [("seed", 7, "7, 2021"), ("preset", "quick", "laptop, quick")])
@pytest.mark.parametrize("place", [{"axis": "pool_multiple", "at": 4.0}, {"kernel": "laplacian"}, {"n_train": 40}])
def test_a_data_set_has_one_seed_and_preset_also_without_a_neighbour(published, tmp_path, column, value, pair, place):
    published(rows(range(4), method="orf", **place) + rows([0], dataset="skin"))
    new = rows([0, 1], "b", **{"n_features_label": "4d", column: value})
    assert_refused(tmp_path, new, f"eeg would have rows of the {column}s {pair}; publish all methods")
    assert len(published(new + rows(range(4), "b", method="orf", **place, **{column: value}))) == 7


def test_a_first_block_has_one_seed_too(tmp_path):
    with pytest.raises(UserError, match=r"eeg would have rows of the seeds 5, 2021; publish all methods"):
        publish.run(results(tmp_path, rows([0]) + rows([1], seed=5)), tmp_path / "e.csv.xz")


def test_what_differs_among_the_neighbours_may_differ(published):
    neighbours = rows(range(2), method="orf") + rows(range(2), method="sorf", n_train=80)
    assert len(published(neighbours, rows(range(2), "b", n_train=70))) == 6


SHIPPED = sorted((ROOT / "data" / "measured").glob("*.csv.xz"))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_shipped_rows_are_of_committed_code_and_their_times_of_the_rule_time_alone(path):
    table, records = tidy.read(path), read_records(path)
    publish.check_one_run(table, "new", path)
    arrays = path.with_name(path.name.partition(".")[0] + ".npz")
    shipped = [each for each in (path, arrays) if each.exists()]
    assert json.loads(record_file(path).read_text())["sha256"] == {each.name: digest_of(each) for each in shipped}
    assert set(table["run"]) == set(records)
    assert not any(record["uncommitted"] for record in records.values())
    assert all(record["commit"] for record in records.values())
    times = table[table["unit"] == "s"]
    assert set(times["axis"]) <= {"round"}
    assert {records[run]["stage"] for run in times["run"]} <= {"time"}
    assert not publish.settings_of(times).map(lambda settings: bool(settings.get("machine_busy"))).any()


def test_every_shipped_block_goes_with_its_neighbours():
    """On the data sets with the most methods, each block as if it were new."""
    path = next(path for path in SHIPPED if path.name == "slsrff-text.csv.xz")
    table = tidy.read(path)
    table = table[table["dataset"].isin(sorted(set(table["dataset"]))[:2])]
    names = publish.blocks(table)
    for name in set(names):
        publish.check_alike(table[names != name], table[names == name], "new", path)
