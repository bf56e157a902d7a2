"""Files are written whole or not at all, and what is written comes back."""

import os

import numpy as np
import pytest

from rfstudy.errors import UserError
from rfstudy.files import read_json, read_yaml, write_arrays, write_atomically, write_json


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


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_files_have_the_permissions_that_the_umask_leaves(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        write_json({}, tmp_path / "record.json")
        assert os.umask(mask) == mask  # it is what it was
    finally:
        os.umask(before)
    assert (tmp_path / "record.json").stat().st_mode & 0o777 == mode


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", r"one\.yaml: line 3: the key 'a' is given twice, first in line 1$"),
        ("a: {b: 1, b: 2}\n", r"one\.yaml: line 1: the key 'b' is given twice"),
        ("a:\n  - {x: [{c: 1, c: 1}]}\n", r"one\.yaml: line 2: the key 'c' is given twice"),
        ("1: a\n1: b\n", r"one\.yaml: line 2: the key 1 is given twice"),
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
