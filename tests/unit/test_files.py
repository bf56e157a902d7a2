"""Files are written whole or not at all, and what is written comes back; what was cut or changed is named."""

import errno
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from refusals import message

from rfstudy import files


def test_a_write_that_fails_leaves_the_old_file(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("old")

    def fail(temporary):
        with open(temporary, "w") as stream:
            stream.write("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        files.write_atomically(path, fail)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


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
    files.write_atomically(folder / "rows.csv", lambda path: Path(path).write_text("rows"))
    assert done == ["sync .partial", "rename", "sync results"]
    done.clear()
    files.write_atomically(folder / "cell.json", lambda path: Path(path).write_text("cell"), sync=False)
    assert done == ["rename"]


#: A process that is in the middle of a file, and whose number is that of no process here: another container's.
WRITER = """
import os, sys
os.getpid = lambda: 4_000_000
from rfstudy.files import write_atomically

def write(temporary):
    print("half", file=open(temporary, "w"))
    print("half", flush=True)
    sys.stdin.readline()
    print("whole", file=open(temporary, "w"))

write_atomically(sys.argv[1], write)
"""


@pytest.mark.parametrize("killed", [False, True])
def test_a_half_written_file_is_swept_when_the_process_that_writes_it_is_gone(tmp_path, killed):
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, tmp_path / "rows.csv"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "half\n"
    if killed:
        process.kill()
        process.wait()
    (tmp_path / "partial-results.csv").write_text("results")
    files.write_json({}, tmp_path / "record.json")
    others = [path.name for path in tmp_path.glob(".partial-*")]
    assert (len(others) == 0) == killed
    process.communicate(None if killed else "\n")
    assert (tmp_path / "rows.csv").exists() != killed
    assert not list(tmp_path.glob(".partial-*"))
    assert (tmp_path / "partial-results.csv").exists()


def test_a_file_that_is_swept_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    made, opened = [], os.open

    def swept(path, *options):
        made.append(opened(path, *options))
        if len(made) == 1:
            os.unlink(path)
        return made[-1]

    monkeypatch.setattr(files.os, "open", swept)
    files.write_atomically(tmp_path / "rows.csv", lambda path: Path(path).write_text("rows"), sync=False)
    assert (len(made), (tmp_path / "rows.csv").read_text()) == (2, "rows")


def test_a_file_is_the_one_that_its_record_tells_of(tmp_path):
    path, record = tmp_path / "rows.csv", tmp_path / "rows.provenance.json"
    assert re.search(r"there is no file .*rows\.csv$", message(files.check_recorded, path))
    path.write_text("rows")
    assert "rows.provenance.json is missing" in message(files.check_recorded, path)
    files.write_json({"sha256": {"rows.csv": files.digest_of(path)}, "runs": []}, record)
    files.check_recorded(path)
    for digests, said in (({"rows.csv": "0" * 64}, "000000000000"), ({"rows.npz": files.digest_of(path)}, "none")):
        files.write_json({"sha256": digests, "runs": []}, record)
        words = f"rows.csv is not the file that rows.provenance.json was written for (sha256 {said}..., found"
        assert words in message(files.check_recorded, path)


@pytest.mark.parametrize(
    "content",
    ["", "[]", "null", "{}", '{"sha256": {}}', '{"sha256": {}, "runs": [{}]}', '{"sha256": {}, "runs": [{"run": 3}]}'],
)
def test_a_broken_record_is_named(tmp_path, content):
    (tmp_path / "rows.csv").write_text("rows")
    (tmp_path / "rows.provenance.json").write_text(content)
    found = message(files.check_recorded, tmp_path / "rows.csv")
    assert re.search(r"rows\.provenance\.json is no record of runs \(.+\); remove it", found)


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_files_have_the_permissions_that_the_umask_leaves(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        files.write_json({}, tmp_path / "record.json")
        assert os.umask(mask) == mask  # it is what it was
    finally:
        os.umask(before)
    assert (tmp_path / "record.json").stat().st_mode & 0o777 == mode


#: A thousand million values in ten lines.
BOMB = "a0: &a0 [1]\n" + "".join(f"a{i}: &a{i} [{', '.join(10 * [f'*a{i - 1}'])}]\n" for i in range(1, 10))


@pytest.mark.parametrize(
    ("text", "words"),
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
        (
            "a: " + "[" * 5000 + "]" * 5000,
            r"one\.yaml: more than 100 levels|one\.yaml: (line 1: exceeded )?maximum (recursion|nesting) depth",
        ),
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
def test_a_yaml_file_with_a_mistake_is_named_with_its_line(tmp_path, text, words):
    (tmp_path / "one.yaml").write_text(text)
    assert re.search(words, message(files.read_yaml, tmp_path / "one.yaml"))


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("# nothing\n", {}),
        ("a: [0, -3, +4, 12, 1.5, '010']\n", {"a": [0, -3, 4, 12, 1.5, "010"]}),
        # keys that are the same in two mappings, or merged, are no mistake
        ("a: &a {b: 1, c: 2}\nd: {<<: *a, b: 3}\n", {"a": {"b": 1, "c": 2}, "d": {"b": 3, "c": 2}}),
    ],
)
def test_a_yaml_file_is_read_as_it_is_written(tmp_path, text, content):
    (tmp_path / "one.yaml").write_text(text)
    assert files.read_yaml(tmp_path / "one.yaml") == content


def test_a_yaml_file_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "one.yaml").write_bytes(b"a: \xff\n")
    for name in ("one.yaml", "two.yaml"):
        assert f"{name}: cannot be read" in message(files.read_yaml, tmp_path / name)


@pytest.mark.parametrize("name", ["mine.yml", "mine.YAML"])
def test_a_file_of_another_ending_is_not_passed_over(tmp_path, name):
    for known in ("b.yaml", "a.yaml"):
        (tmp_path / known).write_text("a: 1\n")
    assert [path.name for path in files.yaml_files(tmp_path)] == ["a.yaml", "b.yaml"]
    (tmp_path / name).write_text("a: 1\n")
    assert f"{name}: would not be read: call it mine.yaml" in message(files.yaml_files, tmp_path)


def test_a_full_disk_says_for_which_file(tmp_path):
    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match=r"No space left on device: '.*/results\.csv'"):
        files.write_atomically(tmp_path / "results.csv", full)


@pytest.mark.parametrize("content", ["objects", "one array", b"", b"no archive", b"PK\x03\x04 cut"])
def test_a_file_of_something_else_than_arrays_is_named_with_its_record_in_order(tmp_path, content):
    path = tmp_path / "all.npz"
    if content == "objects":
        files.write_arrays({"curve": np.array([{}])}, path)
    elif content == "one array":
        with path.open("wb") as stream:
            np.save(stream, np.ones(3))
    else:
        path.write_bytes(content)
    files.write_record({path.name: files.digest_of(path)}, {}, path)
    found = message(files.read_arrays, path)
    assert re.search(r"all\.npz is no file of named arrays .*; remove it and run the same command", found)
