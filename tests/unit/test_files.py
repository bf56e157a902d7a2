"""Files are written whole or not at all, and what is written comes back; what was cut or changed is named."""

import errno
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from random_features.errors import UserError
from rfstudy import files
from rfstudy.files import (
    MACHINE,
    check_recorded,
    digest_of,
    read_arrays,
    read_json,
    read_yaml,
    record_file,
    write_arrays,
    write_atomically,
    write_json,
    yaml_files,
)


def test_a_write_that_fails_leaves_the_old_file(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("old")

    def fail(temporary):
        with open(temporary, "w") as stream:
            stream.write("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, fail)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_temporary_file_has_the_suffix_of_the_target(tmp_path):
    seen = []

    def write(temporary):
        seen.append(temporary)
        with open(temporary, "w") as stream:
            stream.write("new")

    write_atomically(tmp_path / "deep" / "rows.csv.xz", write)
    assert seen[0].endswith("rows.csv.xz")
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["rows.csv.xz"]
    assert (tmp_path / "deep" / "rows.csv.xz").read_text() == "new"


def test_a_document_comes_back_with_its_keys_in_order(tmp_path):
    write_json({"b": [1, 0.1], "a": None}, tmp_path / "record.json")
    record = read_json(tmp_path / "record.json")
    assert list(record.items()) == [("b", [1, 0.1]), ("a", None)]
    (tmp_path / "record.json").write_text("{")
    with pytest.raises(ValueError, match="Expecting"):
        read_json(tmp_path / "record.json")
    with pytest.raises(FileNotFoundError):
        read_json(tmp_path / "missing.json")


def test_named_arrays_come_back(tmp_path):
    write_arrays({"indices": np.arange(3)}, tmp_path / "arrays.npz")
    with np.load(tmp_path / "arrays.npz", allow_pickle=False) as stored:
        assert list(stored) == ["indices"]
        assert stored["indices"].tolist() == [0, 1, 2]


def test_a_file_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    """Else a machine that loses its power leaves the name of a file without its content."""
    done = []
    fsync, replace = os.fsync, os.replace

    def synced(handle):
        done.append(f"sync {os.path.basename(os.readlink(f'/proc/self/fd/{handle}'))[:8]}")
        fsync(handle)

    def renamed(source, target):
        done.append("rename")
        replace(source, target)

    monkeypatch.setattr(files.os, "fsync", synced)
    monkeypatch.setattr(files.os, "replace", renamed)
    folder = tmp_path / "results"
    write_atomically(folder / "rows.csv", lambda path: Path(path).write_text("rows"))
    assert done == ["sync .partial", "rename", "sync results"]
    done.clear()
    write_atomically(folder / "cell.json", lambda path: Path(path).write_text("cell"), sync=False)
    assert done == ["rename"]


def process_that_is_gone() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_what_killed_processes_left_half_written_is_swept(tmp_path):
    """That of processes of this machine that are gone, and what nobody has touched for a day; no one else's."""
    left = {
        "gone": (f".partial-{MACHINE}-{process_that_is_gone()}-x-rows.csv", True, 0),
        "own": (f".partial-{MACHINE}-{os.getpid()}-x-rows.csv", False, 0),
        "running": (f".partial-{MACHINE}-{os.getppid()}-x-rows.csv", False, 0),
        "another machine's": (f".partial-{MACHINE}2-{process_that_is_gone()}-x-rows.csv", False, 0),
        "another machine's of yesterday": (f".partial-{MACHINE}2-1-x-rows.csv", True, 25 * 3600),
        "an older version's": (".partial-abcdefgh-rows.csv", False, 3600),
        "an older version's of yesterday": (".partial-abcdefgi-rows.csv", True, 25 * 3600),
        "results": (f"partial-{MACHINE}-{process_that_is_gone()}-x.csv", False, 25 * 3600),
    }
    for name, _, age in left.values():
        (tmp_path / name).write_text("half")
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    write_json({}, tmp_path / "record.json")
    found = {path.name for path in tmp_path.iterdir()}
    assert found == {"record.json"} | {name for name, swept, _ in left.values() if not swept}


@pytest.mark.parametrize("content", [b"", b"rows", b"PK\x03\x04" + bytes(50), b"\x93NUMPY\x01\x00"])
def test_a_file_that_holds_no_arrays_is_named(tmp_path, content):
    (tmp_path / "arrays.npz").write_bytes(content)
    with pytest.raises(UserError, match=r"arrays\.npz is no file of arrays \(.+\); remove it"):
        read_arrays(tmp_path / "arrays.npz")


def test_a_single_array_is_no_file_of_named_arrays(tmp_path):
    with open(tmp_path / "arrays.npz", "wb") as stream:
        np.save(stream, np.ones(3))
    with pytest.raises(UserError, match="no file of arrays"):
        read_arrays(tmp_path / "arrays.npz")


@pytest.mark.parametrize("name", ["eeg.rff.csv", "eeg.rff.csv.xz", "eeg.rff.npz", "eeg.rff.json"])
def test_rows_and_arrays_have_the_record_beside_them(tmp_path, name):
    assert record_file(tmp_path / name) == tmp_path / "eeg.rff.provenance.json"


def test_a_file_is_the_one_that_its_record_tells_of(tmp_path):
    path, beside = tmp_path / "rows.csv", tmp_path / "rows.provenance.json"
    path.write_text("rows")
    check_recorded(path)  # there is no record
    write_json({"sha256": {"rows.csv": digest_of(path)}, "runs": []}, beside)
    check_recorded(path)
    for digests, said in (({"rows.csv": "0" * 64}, "000000000000"), ({"rows.npz": digest_of(path)}, "none")):
        write_json({"sha256": digests, "runs": []}, beside)
        message = rf"rows\.csv is not the file that rows\.provenance\.json was written for \(sha256 {said}\.\.\., found"
        with pytest.raises(UserError, match=message):
            check_recorded(path)


@pytest.mark.parametrize(
    "content",
    ["", "[]", "null", "{}", '{"sha256": {}}', '{"sha256": {}, "runs": [{}]}', '{"sha256": {}, "runs": [{"run": 3}]}'],
)
def test_a_broken_record_is_named(tmp_path, content):
    (tmp_path / "rows.csv").write_text("rows")
    (tmp_path / "rows.provenance.json").write_text(content)
    with pytest.raises(UserError, match=r"rows\.provenance\.json is no record of runs \(.+\); remove it"):
        check_recorded(tmp_path / "rows.csv")


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_files_have_the_permissions_that_the_umask_leaves(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        write_json({}, tmp_path / "record.json")
        assert os.umask(mask) == mask  # it is what it was
    finally:
        os.umask(before)
    assert (tmp_path / "record.json").stat().st_mode & 0o777 == mode


#: A thousand million values in ten lines.
BOMB = "a0: &a0 [1]\n" + "".join(f"a{i}: &a{i} [{', '.join(10 * [f'*a{i - 1}'])}]\n" for i in range(1, 10))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", r"one\.yaml: line 3: the key 'a' is given twice, first in line 1$"),
        ("a: {b: 1, b: 2}\n", r"one\.yaml: line 1: the key 'b' is given twice"),
        ("a:\n  - {x: [{c: 1, c: 1}]}\n", r"one\.yaml: line 2: the key 'c' is given twice"),
        ("1: a\n", r"one\.yaml: line 1: the key 1 is no text: put it in quotes$"),
        ("a: 010\n", r"one\.yaml: line 1: the number 010 is not plain decimal"),
        ("a:\n  b: 1:30\n", r"one\.yaml: line 2: the number 1:30 is not plain decimal"),
        ("a: 1_000\n", r"one\.yaml: line 1: the number 1_000 is not plain decimal"),
        ("a: !!bool maybe\n", r"one\.yaml: .*maybe"),
        ("a: {<<: {b: 1}, <<: {b: 2}}\n", r"one\.yaml: line 1: << is given twice"),
        ("a: " + "[" * 5000 + "]" * 5000, r"one\.yaml: more than 100 levels|one\.yaml: maximum recursion depth"),
        (BOMB, r"one\.yaml: more than 100 levels or 1,000,000 values"),
        ("a: {yes: 1, no: 2}\n", r"one\.yaml: line 1: the key yes is no text"),
        ("a:\n  b: 2020-01-01\n", r"one\.yaml: line 2: a value of the type timestamp: put it in quotes, or write a li"),
        ("a: !!set {b, c}\n", r"one\.yaml: line 1: a value of the type set"),
        ("a: !!binary aGVsbG8=\n", r"one\.yaml: line 1: a value of the type binary"),
        ("a: &a\n  b: *a\n", r"one\.yaml: more than 100 levels .*: does an alias stand inside what it names"),
        ("a: &a [*a]\n", r"one\.yaml: more than 100 levels .*: does an alias stand inside what it names"),
        ("a: [1\n", r"one\.yaml: line 2: "),
        ("- a\n", r"one\.yaml: must be a mapping from keys to values, not a list$"),
    ],
)
def test_a_yaml_file_with_a_mistake_is_named_with_its_line(tmp_path, text, message):
    (tmp_path / "one.yaml").write_text(text)
    with pytest.raises(UserError, match=message) as caught:
        read_yaml(tmp_path / "one.yaml")
    assert "\n" not in str(caught.value)


def test_a_yaml_file_that_is_empty_is_an_empty_mapping_and_one_that_cannot_be_read_an_error(tmp_path):
    (tmp_path / "one.yaml").write_text("# nothing\n")
    assert read_yaml(tmp_path / "one.yaml") == {}
    (tmp_path / "one.yaml").write_bytes(b"a: \xff\n")
    for name in ("one.yaml", "two.yaml"):
        with pytest.raises(UserError, match=f"{name}: cannot be read"):
            read_yaml(tmp_path / name)


def test_keys_that_are_the_same_in_two_mappings_or_merged_are_no_mistake(tmp_path):
    (tmp_path / "one.yaml").write_text("a: &a {b: 1, c: 2}\nd: {<<: *a, b: 3}\n")
    assert read_yaml(tmp_path / "one.yaml") == {"a": {"b": 1, "c": 2}, "d": {"b": 3, "c": 2}}


def test_a_file_of_another_ending_is_not_passed_over(tmp_path):
    for name in ("b.yaml", "a.yaml"):
        (tmp_path / name).write_text("a: 1\n")
    assert [path.name for path in yaml_files(tmp_path)] == ["a.yaml", "b.yaml"]
    (tmp_path / "mine.yml").write_text("a: 1\n")
    with pytest.raises(UserError, match=r"mine\.yml: would not be read: call it mine\.yaml"):
        yaml_files(tmp_path)


def test_numbers_are_read_as_they_are_written(tmp_path):
    (tmp_path / "one.yaml").write_text("a: [0, -3, +4, 12, 1.5, '010']\n")
    assert read_yaml(tmp_path / "one.yaml") == {"a": [0, -3, 4, 12, 1.5, "010"]}


def test_a_full_disk_says_for_which_file(tmp_path):
    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match=r"No space left on device: '.*/results\.csv'"):
        write_atomically(tmp_path / "results.csv", full)
