"""Files are written whole or not at all, and what is written comes back."""

import numpy as np
import pytest

from rfstudy.files import read_json, write_arrays, write_atomically, write_json


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
