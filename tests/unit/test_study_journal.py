"""Finished cells and checkpoints come back as they were written, or not at all."""

import os

import numpy as np
import pytest

from random_features.errors import UserError
from rfstudy.study import journal as journals
from rfstudy.study.journal import ENDING, HEADER, KEY, Checkpoints, Journal, Log

RUN = {"run": "4f2a", "stage": "train", "wall_time_s": 1.5, "load_average": 0.1}
CELL = {"rows": [{"value": 0.125}], "record": RUN}
ARRAYS = {
    "number": np.float64(0.5), "text": np.array("singular"), "complex": np.ones((2, 3, 4), dtype=np.complex128),
    "flags": np.array([True, False]), "empty": np.empty((0, 5), dtype=np.float32), "small": np.int8([1]),
}  # fmt: skip


def journal(folder, name="shard"):
    return Journal(folder / f"{name}{ENDING}")


def test_a_cell_comes_back_in_another_process_as_it_was_stored(tmp_path):
    journal(tmp_path).put("cell", CELL, ARRAYS)
    content, arrays = journal(tmp_path).get("cell")
    assert content == CELL
    assert set(arrays) == set(ARRAYS)
    for name, value in ARRAYS.items():
        assert arrays[name].dtype == value.dtype
        np.testing.assert_array_equal(arrays[name], value)


def test_an_unfinished_cell_is_none_without_a_word(tmp_path, capsys):
    assert journal(tmp_path).get("never") is None
    assert journal(tmp_path / "nowhere").get("never") is None
    assert capsys.readouterr().err == ""


def test_all_cells_of_a_job_are_one_file_and_the_record_of_their_run_is_stored_once(tmp_path):
    own = journal(tmp_path)
    for i in range(20):
        own.put(f"cell-{i}", {"rows": [{"value": i}], "record": RUN | {"wall_time_s": float(i)}})
    assert os.listdir(tmp_path) == [f"shard{ENDING}"]
    assert own.log.path.read_bytes().count(b'"stage"') == 1
    contents = [journal(tmp_path).get(f"cell-{i}")[0] for i in range(20)]
    assert [content["rows"][0]["value"] for content in contents] == list(range(20))
    assert [content["record"] for content in contents] == [RUN | {"wall_time_s": float(i)} for i in range(20)]


def test_jobs_read_the_cells_of_each_other(tmp_path):
    one, other = journal(tmp_path, "one"), journal(tmp_path, "other")
    one.put("a", CELL, {"weights": np.ones(2)})
    assert other.get("a")[0] == CELL
    # those that are stored later are found at the next look
    one.put("b", CELL)
    assert other.get("b") is None
    other.looked -= journals.SYNC_SECONDS
    assert other.get("b")[0] == CELL
    other.put("c", CELL)
    assert {path.name for path in tmp_path.iterdir()} == {f"one{ENDING}", f"other{ENDING}"}
    assert all(journal(tmp_path, "third").get(key) for key in "abc")


def test_two_processes_that_write_one_file_keep_the_cells_of_both(tmp_path):
    one, other = journal(tmp_path), journal(tmp_path)
    for k in range(3):
        one.put(f"a{k}", CELL)
        other.put(f"b{k}", CELL)
    assert all(journal(tmp_path).get(f"{name}{k}") == (CELL, {}) for name in "ab" for k in range(3))


def test_a_cell_that_is_dropped_is_stored_again_and_the_last_one_counts(tmp_path):
    own = journal(tmp_path)
    own.put("cell", CELL)
    own.drop("cell")
    assert own.get("cell") is None
    better = {"rows": [{"value": 0.5}], "record": RUN}
    own.put("cell", better)
    assert own.get("cell")[0] == journal(tmp_path).get("cell")[0] == better


def places(path) -> dict[str, tuple[int, int]]:
    return {key: (start, end) for key, start, end in Log(path).records()}


@pytest.mark.parametrize("where", [0, KEY - 1, KEY + 8, HEADER, HEADER + 8, HEADER + 40, -200, -1])
def test_a_byte_that_changed_costs_the_cell_that_it_is_in(tmp_path, capsys, where):
    """In the key, the checksum, the rows and the arrays of a record between two others."""
    own = journal(tmp_path)
    for key in ("first", "cell", "other"):
        own.put(key, CELL, {"weights": np.arange(200.0)})
    path = own.log.path
    content, (start, end) = bytearray(path.read_bytes()), places(path)["cell"]
    content[(start if where >= 0 else end) + where] ^= 1
    path.write_bytes(content)
    again = journal(tmp_path)
    assert again.get("cell") is None
    said = capsys.readouterr().err
    assert said == (f"{path}: a finished cell is damaged and computed again\n" if where >= KEY or where < 0 else "")
    assert again.get("cell") is None  # which is said once
    assert capsys.readouterr().err == ""
    again.put("cell", CELL)
    for each in (again, journal(tmp_path)):
        assert all(each.get(key)[0] == CELL for key in ("first", "cell", "other"))


@pytest.mark.parametrize("cut", [1, KEY, HEADER - 1, HEADER + 5, -1])
def test_a_cell_that_was_cut_off_is_overwritten_by_the_next(tmp_path, cut):
    own = journal(tmp_path)
    own.put("first", CELL)
    whole = own.log.path.stat().st_size
    own.put("cell", CELL)
    os.truncate(own.log.path, whole + cut if cut > 0 else own.log.path.stat().st_size + cut)
    again = journal(tmp_path)
    assert again.get("cell") is None
    again.put("other", CELL)
    assert set(places(own.log.path)) == {RUN["run"], "first", "other"}
    assert journal(tmp_path).get("other")[0] == CELL


@pytest.mark.parametrize("content", [b"", bytes(1000), b"\xff" * 1000, b"no journal"])
def test_a_file_that_is_no_journal_holds_no_cells_and_is_written_anew(tmp_path, content):
    own = journal(tmp_path)
    own.log.path.write_bytes(content)
    assert own.get("cell") is None
    own.put("cell", CELL)
    assert journal(tmp_path).get("cell")[0] == CELL


@pytest.mark.parametrize("what", ["a folder", "a link to nothing", "a file in place of its folder"])
def test_a_path_that_holds_no_journal_is_named_with_what_to_do(tmp_path, what):
    own = journal(tmp_path / "journal")
    path = own.log.path
    if what == "a file in place of its folder":
        path.parent.write_text("")
    else:
        path.parent.mkdir()
        path.mkdir() if what == "a folder" else path.symlink_to(tmp_path / "gone" / "shard.cells")
    with pytest.raises(UserError, match=r"shard\.cells cannot be opened as a journal.*remove or rename"):
        own.put("cell", {"rows": [], "record": RUN})


def test_a_file_is_forced_onto_the_disk_when_the_last_time_is_long_ago(tmp_path, monkeypatch):
    now, synced = [0.0], []
    monkeypatch.setattr(journals.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(journals.os, "fsync", synced.append)
    log = Log(tmp_path / "log")
    for now[0], expected in ((1.0, 0), (29.0, 0), (30.0, 1), (45.0, 1), (60.0, 2)):
        log.append("key", b"content")
        assert len(synced) == expected
    assert journals.SYNC_SECONDS <= 60


def checkpoints(folder, key="cell"):
    return Checkpoints(journal(folder), key)


def rounds(found) -> list[int]:
    return [int(each["round"]) for each in found]


def test_checkpoints_come_back_in_order_to_another_process_and_go_when_the_cell_is_finished(tmp_path):
    first = checkpoints(tmp_path)
    assert first.load() == []
    for number in range(3):
        first.append(round=number, weights=np.full(number + 1, 0.5), name="w")
    found = checkpoints(tmp_path).load()
    assert rounds(found) == [0, 1, 2]
    assert [each["weights"].tolist() for each in found] == [[0.5], [0.5] * 2, [0.5] * 3]
    assert str(found[0]["name"]) == "w"
    assert checkpoints(tmp_path, "other").load() == []
    first.clear()
    first.clear()  # nothing is left to clear
    assert checkpoints(tmp_path).load() == []


CUT = [(each, None) for each in (1, KEY + 3, HEADER - 1, HEADER + 1, -1)]


@pytest.mark.parametrize(("cut", "flipped"), [*CUT, (None, KEY + 9), (None, HEADER + 50)])
def test_what_follows_a_cut_or_damaged_checkpoint_is_dropped_and_overwritten(tmp_path, cut, flipped):
    kept, starts = checkpoints(tmp_path), [0]
    for number in range(3):
        kept.append(round=number, weights=np.ones(5))
        starts.append(kept.log.end)
    if cut:
        os.truncate(kept.log.path, starts[2 if cut > 0 else 3] + cut)
    else:
        content = bytearray(kept.log.path.read_bytes())
        content[starts[1] + flipped] ^= 1
        kept.log.path.write_bytes(content)
    again, left = checkpoints(tmp_path), [0, 1] if cut else [0]
    assert rounds(again.load()) == left
    again.append(round=7)
    assert rounds(checkpoints(tmp_path).load()) == [*left, 7]
