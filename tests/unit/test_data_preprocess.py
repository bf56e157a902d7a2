"""From files or from a stand-in to arrays and facts."""

import json
from pathlib import Path

import numpy as np
import pytest

from rfstudy.data import registry
from rfstudy.data.preprocess import preprocess
from rfstudy.errors import UserError

TASKS = registry.load(Path(__file__).parents[2] / "config").tasks

TOY = {
    "label": "Toy",
    "source": "toy",
    "files": {"train": "toy", "test": "toy.t"},
    "parser": "libsvm",
    "n": 5,
    "d": 2,
    "n_train": 3,
    "n_test": 2,
    "split": "published",
    "labels": {"-1": -1, "1": 1},
}


@pytest.fixture
def raw(tmp_path):
    """The folder of a downloaded source."""
    folder = tmp_path / "raw"
    folder.mkdir()
    (folder / "toy").write_text("-1 1:1\n1 2:1\n-1 1:1\n", encoding="utf-8")
    (folder / "toy.t").write_text("1 2:1\n-1 1:2\n", encoding="utf-8")
    (folder / "record.json").write_text(json.dumps({"status": "ok"}), encoding="utf-8")
    return folder


def test_arrays_and_facts_are_written(raw, tmp_path):
    out = tmp_path / "prepared"
    facts = preprocess("toy", TOY, raw, out, reference_dir=tmp_path)
    assert facts == json.loads((out / "facts.json").read_text(encoding="utf-8"))
    X, y = np.load(out / "X.npy"), np.load(out / "y.npy")
    assert (X.dtype, y.dtype) == (np.float32, np.int64)
    assert X.tolist() == [[1, 0], [0, 1], [1, 0], [0, 1], [2, 0]]
    assert y.tolist() == [-1, 1, -1, 1, -1]
    expected = {"task": "toy", "label": "Toy", "stand_in": "", "split": "published", "status": "ok", "reason": ""}
    expected |= {"n": 5, "d": 2, "n_train": 3, "n_test": 2, "n_train_published": 3, "classes": [-1, 1]}
    assert {key: facts[key] for key in expected} == expected
    assert facts["class_counts"] == {"train": {"-1": 2, "1": 1}, "test": {"-1": 1, "1": 1}}
    assert facts["facts"]["duplicate_rows_train"] == 1
    assert facts["facts"]["test_rows_in_training"] == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_test": 3}, "n_test is 2, expected 3"),
        ({"n_train": 2, "n_test": 3}, "n_train is 3, expected 2; n_test is 2, expected 3"),
    ],
)
def test_other_numbers_of_rows_than_stated_are_an_error(raw, tmp_path, change, message):
    with pytest.raises(UserError, match=f"data of toy are not those of datasets.yaml: {message}"):
        preprocess("toy", TOY | change, raw, tmp_path / "prepared", reference_dir=tmp_path)
    assert not (tmp_path / "prepared").exists()


def test_the_digest_tells_data_apart(raw, tmp_path):
    digests = [preprocess("toy", TOY, raw, tmp_path / "a", reference_dir=tmp_path)["sha256"] for _ in range(2)]
    (raw / "toy.t").write_text("1 2:1\n1 1:2\n", encoding="utf-8")
    digests.append(preprocess("toy", TOY, raw, tmp_path / "a", reference_dir=tmp_path)["sha256"])
    assert digests[0] == digests[1] != digests[2]


def test_a_missing_source_is_a_skipped_task_with_its_reason(raw, tmp_path):
    record = {"status": "missing", "reason": "no network"}
    (raw / "record.json").write_text(json.dumps(record), encoding="utf-8")
    facts = preprocess("toy", TOY, raw, tmp_path / "prepared", reference_dir=tmp_path)
    assert (facts["status"], facts["reason"], facts["facts"]) == ("skipped", "no network", {})
    assert (facts["n_train"], facts["n_test"], facts["d"]) == (3, 2, 2)
    assert np.load(tmp_path / "prepared" / "X.npy").shape == (0, 2)
    assert np.load(tmp_path / "prepared" / "y.npy").shape == (0,)


def test_a_source_that_was_not_downloaded_is_an_error(tmp_path):
    with pytest.raises(UserError, match=r"record\.json does not exist: run the download"):
        preprocess("toy", TOY, tmp_path, tmp_path / "prepared", reference_dir=tmp_path)


@pytest.mark.parametrize("task_id", TASKS)
def test_every_task_has_an_embedded_stand_in(task_id, tmp_path):
    task = TASKS[task_id]
    facts = preprocess(task_id, task, None, tmp_path / "first", reference_dir=tmp_path)
    assert facts["status"] == "ok"
    assert facts["stand_in"] == facts["label"] == task["stand_in"]["label"]
    assert "stand-in for" in facts["stand_in"]
    assert (facts["n_train"], facts["n_test"]) == (task["stand_in"]["n_train"], task["stand_in"]["n_test"])
    assert facts["classes"] == sorted(set(task["stand_in"].get("labels", task["labels"]).values()) - {"drop"})
    assert (facts["n_train_published"] is None) == (task["split"] == "half")
    # the same bytes in a second run: nothing but the task's id seeds it
    assert preprocess(task_id, task, None, tmp_path / "second", reference_dir=tmp_path) == facts
    for name in ("X.npy", "y.npy", "facts.json"):
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()


@pytest.mark.parametrize("task_id", [key for key, task in TASKS.items() if "positives" in task["stand_in"]])
def test_a_generated_stand_in_has_the_published_width_and_balance(task_id, tmp_path):
    task = TASKS[task_id]
    facts = preprocess(task_id, task, None, tmp_path, reference_dir=tmp_path)
    assert facts["d"] == task["d"]
    y = np.load(tmp_path / "y.npy")
    assert np.sum(y == 1) == round(task["stand_in"]["positives"] * len(y))
