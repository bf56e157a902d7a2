"""Journals and checkpoints: what is finished stays so, what a killed process wrote is there, damage is noticed."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from rfstudy.files import SEAL, write_sealed
from rfstudy.study import journal as journals
from rfstudy.study.code import SOURCE
from rfstudy.study.journal import Checkpoints, Journal, key_of


def test_a_cell_comes_back_as_it_was_stored(tmp_path):
    journal = Journal(tmp_path)
    arrays = {"weights": np.arange(3.0), "selected": np.array([2, 0])}
    journal.put("cell", [{"value": 0.1}], arrays)
    content, stored = journal.get("cell")
    assert content == [{"value": 0.1}]
    assert {name: list(value) for name, value in stored.items()} == {"weights": [0.0, 1.0, 2.0], "selected": [2, 0]}


def test_arrays_of_any_sort_come_back_as_they_were(tmp_path):
    journal = Journal(tmp_path)
    arrays = {
        "number": np.float64(0.5), "text": np.array("singular"), "complex": np.ones((2, 3, 4), dtype=np.complex128),
        "flags": np.array([True, False]), "empty": np.empty((0, 5), dtype=np.float32), "small": np.int8([1]),
    }  # fmt: skip
    journal.put("cell", {}, arrays)
    _, stored = journal.get("cell")
    assert set(stored) == set(arrays)
    for name, value in arrays.items():
        assert stored[name].dtype == value.dtype
        np.testing.assert_array_equal(stored[name], value)


def test_an_unfinished_cell_is_none_without_a_word(tmp_path, capsys):
    assert Journal(tmp_path).get("never") is None
    assert Journal(tmp_path / "nowhere").get("never") is None
    assert capsys.readouterr().err == ""


def changed(content: bytes, old: bytes, new: bytes) -> bytes:
    assert content.count(old) >= 1
    return content.replace(old, new, 1)


#: What became of the record of a cell, or of its arrays, in the hands of a machine that lost its power, a full or a
#: failing disk, or of somebody.
DAMAGE = {
    "empty record": ("json", lambda content: b""),
    "zeros": ("json", lambda content: bytes(len(content))),
    "cut record": ("json", lambda content: content[:-20]),
    "cut by its last line end": ("json", lambda content: content[:-1]),
    "one byte flipped in a number": ("json", lambda content: changed(content, b"0.125", b"0.725")),
    "one byte flipped in the digest": ("json", lambda content: content[:14] + b"x" + content[15:]),
    "no text": ("json", lambda content: b"\xff\xfe" + content),
    "a list": ("json", lambda content: b"[]"),
    "null": ("json", lambda content: b"null"),
    "another shape": ("json", lambda content: b'{"content": 3, "has_arrays": false}'),
    "an older shape": ("json", lambda content: b'{"content": {"rows": [], "record": {}}, "has_arrays": true}'),
    "no digest of arrays": ("json", lambda content: sealed({"content": {"rows": []}})),
    "another cell": ("json", lambda content: sealed({"content": {"rows": []}, "arrays": "0" * 64})),
    "empty arrays": ("npz", lambda content: b""),
    "cut arrays": ("npz", lambda content: content[:300]),
    "a flipped byte in arrays": ("npz", lambda content: content[:150] + bytes([content[150] ^ 1]) + content[151:]),
    "no arrays": ("npz", lambda content: None),
}


def sealed(document) -> bytes:
    body = json.dumps(document)
    return (SEAL.format(hashlib.sha256(body.encode()).hexdigest()) + body + "}\n").encode()


@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_cell_is_computed_again_and_a_line_says_so(tmp_path, capsys, what):
    journal, content, arrays = Journal(tmp_path), {"rows": [{"value": 0.125}]}, {"weights": np.arange(200.0)}
    journal.put("cell", content, arrays)
    journal.put("other", content, arrays)
    assert journal.get("cell")[0] == content
    suffix, damage = DAMAGE[what]
    path = tmp_path / f"cell.{suffix}"
    damaged = damage(path.read_bytes())
    path.unlink() if damaged is None else path.write_bytes(damaged)
    assert journal.get("cell") is None
    assert capsys.readouterr().err == f"{tmp_path}/cell.json or its arrays are damaged: the cell is computed again\n"
    # it is said once, and the cell can be stored again
    assert journal.get("cell") is None
    assert capsys.readouterr().err == ""
    journal.put("cell", content, arrays)
    assert journal.get("cell")[0] == content
    assert journal.get("other")[0] == content


def test_the_record_is_written_after_the_arrays(tmp_path, monkeypatch):
    """A process that dies in between leaves no finished cell."""

    def die(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(journals, "write_sealed", die)
    with pytest.raises(KeyboardInterrupt):
        Journal(tmp_path).put("cell", [1], {"weights": np.ones(2)})
    assert (tmp_path / "cell.npz").exists()
    assert Journal(tmp_path).get("cell") is None


def test_cells_are_forced_onto_the_disk_together_when_the_last_time_is_long_ago(tmp_path, monkeypatch):
    """Each on its own would cost more than many cells take; none waits for longer than a checkpoint does."""
    now, synced = [0.0], []
    monkeypatch.setattr(journals.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(journals, "force_onto_disk", lambda path: synced.append(path.name))
    journal = Journal(tmp_path)
    for now[0], key in ((1.0, "a"), (29.0, "b")):
        journal.put(key, {})
    assert synced == []
    now[0] = 30.0
    journal.put("c", {}, {"weights": np.ones(1)})
    assert synced == ["a.json", "b.json", "c.npz", "c.json"]
    now[0] = 59.0
    journal.put("d", {})
    journal.put("e", {})
    (tmp_path / "d.json").unlink()
    assert len(synced) == 4
    now[0] = 60.0
    journal.put("f", {})
    assert synced[4:] == ["e.json", "f.json"]


def test_the_key_does_not_depend_on_the_order_of_a_mapping():
    assert key_of({"a": 1, "b": 2}) == key_of({"b": 2, "a": 1})
    assert key_of({"a": 1}) != key_of({"a": 2})
    assert key_of("a", "b") != key_of("b", "a")
    assert key_of([1]) != key_of(["1"])
    assert key_of(1) != key_of(1.5)


# --- checkpoints ------------------------------------------------------------------------------------------------------


def checkpoints(folder):
    return Checkpoints(Journal(folder), "cell")


def rounds(found) -> list[int]:
    return [int(each["round"]) for each in found]


def test_checkpoints_come_back_in_order_to_another_process_and_go_when_the_cell_is_finished(tmp_path):
    first = checkpoints(tmp_path / "journal")
    assert first.load() == []
    for number in range(3):
        first.append(round=number, weights=np.full(number + 1, 0.5), name="w")
    found = checkpoints(tmp_path / "journal").load()
    assert rounds(found) == [0, 1, 2]
    assert [each["weights"].tolist() for each in found] == [[0.5], [0.5] * 2, [0.5] * 3]
    assert str(found[0]["name"]) == "w"
    first.clear()
    assert checkpoints(tmp_path / "journal").load() == []
    first.clear()  # nothing is left to clear


def test_checkpoints_of_cells_are_apart(tmp_path):
    one, other = Checkpoints(Journal(tmp_path), "one"), Checkpoints(Journal(tmp_path), "other")
    one.append(round=1)
    assert other.load() == []


@pytest.mark.parametrize("cut", [1, 20, 39, 41, -1])
def test_a_tail_that_was_cut_off_is_dropped_and_overwritten(tmp_path, cut):
    """Cut within the length, the digest and the content of the last record."""
    kept = checkpoints(tmp_path)
    for number in range(2):
        kept.append(round=number)
    length = kept.path.stat().st_size
    kept.append(round=2)
    end = length + cut if cut > 0 else kept.path.stat().st_size - 1
    os.truncate(kept.path, end)
    again = checkpoints(tmp_path)
    assert rounds(again.load()) == [0, 1]
    assert again.path.stat().st_size == length
    again.append(round=7)
    assert rounds(checkpoints(tmp_path).load()) == [0, 1, 7]


@pytest.mark.parametrize("where", ["content", "digest"])
def test_what_follows_a_damaged_record_is_dropped(tmp_path, where):
    kept, starts = checkpoints(tmp_path), [0]
    for number in range(3):
        kept.append(round=number, weights=np.ones(5))
        starts.append(kept.path.stat().st_size)
    content = bytearray(kept.path.read_bytes())
    content[starts[1] + (journals.HEADER + 50 if where == "content" else 10)] ^= 1
    kept.path.write_bytes(content)
    assert rounds(checkpoints(tmp_path).load()) == [0]
    assert kept.path.stat().st_size == starts[1]


def test_checkpoints_are_forced_onto_the_disk_when_the_last_time_is_long_ago(tmp_path, monkeypatch):
    now, synced = [0.0], []
    monkeypatch.setattr(journals.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(journals.os, "fsync", synced.append)
    kept = checkpoints(tmp_path)
    for now[0], expected in ((1.0, 0), (29.0, 0), (30.0, 1), (45.0, 1), (60.0, 2)):
        kept.append(round=0)
        assert len(synced) == expected
    assert journals.SYNC_SECONDS <= 60


KILLED = """
import sys
import numpy as np
from rfstudy.study.journal import Checkpoints, Journal

kept = Checkpoints(Journal(sys.argv[1]), "cell")
for number in range(10**6):
    kept.append(round=number, weights=np.full(1000, number))
    print(number, flush=True)
"""


def test_a_killed_process_loses_no_checkpoint_that_it_had_written(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, tmp_path], stdout=subprocess.PIPE, env={"PYTHONPATH": str(SOURCE)}
    )
    while not process.stdout.readline().startswith(b"20"):
        time.sleep(0)
    process.send_signal(signal.SIGKILL)
    told = [20, *map(int, process.stdout.read().split())]
    process.wait()
    found = checkpoints(tmp_path).load()
    assert rounds(found) == list(range(len(found)))
    assert len(found) > told[-1]
    assert all((each["weights"] == each["round"]).all() for each in found)


def test_a_cell_under_the_name_of_another_is_computed_again(tmp_path, capsys):
    """A copy of a record is sealed, too: only its key tells whose it is."""
    journal = Journal(tmp_path)
    journal.put("one", {"value": 1})
    journal.put("two", {"value": 2})
    (tmp_path / "two.json").write_bytes((tmp_path / "one.json").read_bytes())
    assert journal.get("two") is None
    assert "two.json or its arrays are damaged" in capsys.readouterr().err
    assert journal.get("one") == ({"value": 1}, {})


def test_a_cell_that_does_not_tell_its_key_is_taken(tmp_path):
    """As earlier versions wrote them."""
    write_sealed({"content": {"value": 1}, "arrays": ""}, tmp_path / "one.json")
    assert Journal(tmp_path).get("one") == ({"value": 1}, {})
