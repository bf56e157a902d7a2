"""Journals and code digests: what is finished stays finished, what decides a result is in its key."""

import numpy as np
import pytest

from rfstudy.study import code
from rfstudy.study.journal import Journal, key_of


def test_a_cell_comes_back_as_it_was_stored(tmp_path):
    journal = Journal(tmp_path)
    arrays = {"weights": np.arange(3.0), "selected": np.array([2, 0])}
    journal.put("cell", [{"value": 0.1}], arrays)
    content, stored = journal.get("cell")
    assert content == [{"value": 0.1}]
    assert {name: list(value) for name, value in stored.items()} == {"weights": [0.0, 1.0, 2.0], "selected": [2, 0]}


def test_an_unfinished_or_broken_cell_is_none(tmp_path):
    journal = Journal(tmp_path)
    assert journal.get("never") is None
    (tmp_path / "torn.json").write_text('{"content": [1')
    assert journal.get("torn") is None
    journal.put("lost", [1], {"weights": np.ones(2)})
    (tmp_path / "lost.npz").unlink()
    assert journal.get("lost") is None


def test_the_key_does_not_depend_on_the_order_of_a_mapping():
    assert key_of({"a": 1, "b": 2}) == key_of({"b": 2, "a": 1})
    assert key_of({"a": 1}) != key_of({"a": 2})


def names(modules):
    return {str(path.relative_to(code.PACKAGE)) for path in code.import_closure(*modules)}


def test_the_closure_follows_imports_and_stops_at_what_is_not_imported():
    train = names(["study.train"])
    assert {"study/train.py", "study/cells.py", "learners/entry.py", "tidy.py"} <= train
    assert not {"learners/ridge.py", "learners/svm.py"} & train  # imported by name: a key has the one that is trained
    assert {"learners/ridge.py", "learners/streams.py"} <= names(["study.train", "learners.ridge"])
    assert "learners/svm.py" not in names(["study.train", "learners.ridge"])
    assert not {name for name in train if name.startswith(("report/", "cli"))}
    assert "maps/quasi.py" not in train
    assert "maps/registry.py" not in train  # a list: a new entry must not rerun the old ones
    assert "maps/quasi.py" in names(["study.train", "maps.quasi"])


def test_the_digest_follows_the_content():
    assert code.digest("study.train") != code.digest("study.generate")
    assert code.digest("study.train") == code.digest("study.train")


def test_an_unknown_module_is_an_error():
    with pytest.raises(FileNotFoundError, match=r"rfstudy\.study\.nothing"):
        code.import_closure("study.nothing")
