"""From files or from a stand-in to arrays and facts."""

import json

import numpy as np
import pytest
import study_toys as toys
from checkouts import CONFIG
from data_toys import HOG, TOY, VGG, downloaded
from refusals import message

from rfstudy.data import registry
from rfstudy.data.entries import in_use
from rfstudy.data.extractors import hog, vgg
from rfstudy.data.images import Given
from rfstudy.data.parse import read_folds
from rfstudy.data.prepared import digest, write_facts
from rfstudy.data.preprocess import run as preprocess
from rfstudy.data.tasks import without
from rfstudy.study.sample import draw_sample, load_prepared

TASKS = registry.load(CONFIG).tasks
STAND_INS = {name: in_use(task, embedded=True) for name, task in TASKS.items() if "stand_in" in task}


def test_arrays_and_facts_are_written(raw, tmp_path):
    out = tmp_path / "prepared"
    facts = preprocess("toy", TOY, raw, out, reference_dir=tmp_path)
    assert facts == json.loads((out / "facts.json").read_text(encoding="utf-8"))
    X, y = np.load(out / "X.npy"), np.load(out / "y.npy")
    assert (X.dtype, y.dtype) == (np.float32, np.int64)
    assert X.tolist() == [[1, 0], [0, 1], [1, 0], [0, 1], [2, 0]]
    assert y.tolist() == [-1, 1, -1, 1, -1]
    expected = {
        "task": "toy", "label": "Toy", "stand_in": "", "split": "published", "status": "ok", "reason": "",
        "target": "binary", "n": 5, "d": 2, "n_train": 3, "n_test": 2, "n_train_published": 3, "classes": [-1, 1],
    }  # fmt: skip
    assert {key: facts[key] for key in expected} == expected
    assert facts["class_counts"] == {"train": {"-1": 2, "1": 1}, "test": {"-1": 1, "1": 1}}
    assert facts["facts"]["duplicate_rows_train"] == 1
    assert facts["facts"]["test_rows_in_training"] == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"n_train": 2, "n_test": 3}, "n_train is 3, expected 2; n_test is 2, expected 3"),
        ({"n": 6}, "n is 5, expected 6"),
    ],
)
def test_other_numbers_of_rows_than_stated_are_an_error(raw, tmp_path, change, words):
    found = message(preprocess, "toy", TOY | change, raw, tmp_path / "prepared", reference_dir=tmp_path)
    assert f"data of toy are not those of datasets.yaml: {words}" in found
    assert not (tmp_path / "prepared").exists()


YEAR = {
    "label": "Year", "source": "toy", "files": {"train": ["year"], "test": ["year.t"]}, "parser": "table",
    "label_column": "first", "n": 5, "d": 2, "n_train": 3, "n_test": 2, "split": "published", "target": "regression",
}  # fmt: skip


@pytest.mark.parametrize(("task", "dtype"), [(TOY, np.int64), (YEAR, np.float64)])
def test_a_missing_source_is_a_skipped_task_with_its_reason(raw, tmp_path, task, dtype):
    (raw / "record.json").write_text(json.dumps({"status": "missing", "reason": "no network"}), encoding="utf-8")
    facts = preprocess("toy", task, raw, tmp_path / "prepared", reference_dir=tmp_path)
    assert (facts["status"], facts["reason"], facts["facts"]) == ("skipped", "no network", {})
    assert (facts["n_train"], facts["n_test"], facts["d"], facts["target"]) == (3, 2, 2, task["target"])
    X, y = (np.load(tmp_path / "prepared" / name) for name in ("X.npy", "y.npy"))
    assert (X.shape, y.shape, y.dtype) == ((0, 2), (0,), dtype)


@pytest.mark.slow
@pytest.mark.parametrize("task_id", [key for key, task in TASKS.items() if "source" in task])
def test_every_task_has_an_embedded_stand_in(task_id, tmp_path):
    task = STAND_INS[task_id]
    facts = preprocess(task_id, task, None, tmp_path / "first", reference_dir=tmp_path)
    assert facts["status"] == "ok"
    assert facts["stand_in"] == facts["label"] == task["label"]
    assert "stand-in for" in facts["stand_in"]
    assert (facts["n_train"], facts["n_test"]) == (task["n_train"], task["n_test"])
    labels = task.get("labels", TASKS[task_id].get("labels"))
    assert facts.get("classes") == (labels and sorted(set(labels.values()) - {"drop"}))
    assert facts.get("target_scaling") == task.get("target_scaling")
    assert (facts["n_train_published"] is None) == (task["split"] != "published")
    if "positives" in task["generator"]:
        assert facts["d"] == TASKS[task_id]["d"]
        y = np.load(tmp_path / "first" / "y.npy")
        assert np.sum(y == 1) == round(task["generator"]["positives"] * len(y))
    # the same bytes in a second run: nothing but the task's id seeds it
    assert preprocess(task_id, task, None, tmp_path / "second", reference_dir=tmp_path) == facts
    for name in ("X.npy", "y.npy", "facts.json"):
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()


@pytest.mark.parametrize("task_id", [key for key, task in TASKS.items() if "generator" in task])
def test_every_generated_task_can_be_made(task_id, tmp_path):
    task = TASKS[task_id]
    counts = {key: min(2000, task[key]) for key in ("n_train", "n_test")}
    few = task | counts | {"generator": task["generator"] | counts, "n": sum(counts.values())}
    facts = preprocess(task_id, few, None, tmp_path, reference_dir=tmp_path)
    assert (facts["stand_in"], facts["n_train"], facts["n_test"]) == ("", *counts.values())
    assert facts.get("classes") == ([-1, 1] if task["target"] == "binary" else None)


COUNTS = {"n_train": 20, "n_test": 10}
MILL = TASKS["windmill"] | COUNTS | {"n": 30, "generator": {"name": "windmill", "blades": 3} | COUNTS}


def test_a_generated_task_is_no_stand_in_and_the_same_in_every_preset(raw, tmp_path):
    facts = [preprocess("mill", MILL, folder, tmp_path / "a", reference_dir=tmp_path) for folder in (None, raw)]
    assert facts[0] == facts[1]
    expected = {"stand_in": "", "label": "windmill", "target": "binary", "status": "ok", "classes": [-1, 1]}
    expected |= {"n": 30, "n_train": 20, "n_test": 10, "n_train_published": 20, "d": 2}
    assert {key: facts[0][key] for key in expected} == expected
    other = preprocess("other-mill", MILL, None, tmp_path / "a", reference_dir=tmp_path)
    assert other["sha256"] != facts[0]["sha256"]
    halves = MILL | {"split": "half", "n_train": 15, "n_test": 15}
    facts = preprocess("mill", halves, None, tmp_path / "a", reference_dir=tmp_path)
    assert facts["n_train_published"] is None


def test_a_generated_task_may_have_a_label_map(tmp_path):
    labels = {"1": -1, "7": 1, "rest": "drop"}
    digits = MILL | {"generator": {"name": "digits", "n_train": 241, "n_test": 120}, "labels": labels, "d": 64}
    facts = preprocess("d", digits | {"n": 361, "n_train": 241, "n_test": 120}, None, tmp_path, reference_dir=tmp_path)
    assert (facts["dtype"], facts["class_counts"]["train"].keys()) == ("uint8", {"-1", "1"})


@pytest.mark.parametrize(("change", "words"), [
    ({"target": "regression"}, "mill is a regression, but its labels are of type int64"),
    ({"generator": {"name": "digits", "n_train": 1700, "n_test": 97}, "d": 64}, "needs two classes as integers"),
    ({"generator": {"name": "regression", "waves": 1, "mean": 0.0, "deviation": 1.0, "n_train": 20, "n_test": 10}},
     "mill needs two classes as integers, its labels are 30 values of type float64"),
])  # fmt: skip
def test_labels_that_are_not_what_the_target_needs_are_an_error(tmp_path, change, words):
    task = MILL | change
    counts = {key: task["generator"][key] for key in ("n_train", "n_test")}
    task |= counts | {"n": sum(counts.values())}
    assert words in message(preprocess, "mill", task, None, tmp_path / "a", reference_dir=tmp_path)
    assert not (tmp_path / "a").exists()


def test_a_regression_has_numbers_as_targets_and_no_classes(raw, tmp_path):
    (raw / "year").write_text("2001.5,1,2\n1999,3,4\n2003,1,2\n", encoding="utf-8")
    (raw / "year.t").write_text("2001.5,1,2\n2010,5,6\n", encoding="utf-8")
    downloaded(raw)
    facts = preprocess("year", YEAR, raw, tmp_path / "a", reference_dir=tmp_path)
    y = np.load(tmp_path / "a" / "y.npy")
    assert (y.dtype, y.tolist()) == (np.float64, [2001.5, 1999, 2003, 2001.5, 2010])
    assert (facts["target"], facts["n_train"], facts["n_train_published"]) == ("regression", 3, 3)
    assert not {"classes", "class_counts"} & set(facts)
    assert facts["facts"]["target_mean_train"] == pytest.approx(6003.5 / 3)
    assert facts["facts"]["test_rows_in_training"] == 1
    # the first row of the files occurs three times, once with another year
    assert facts["facts"]["conflicting_rows"] == 3


def test_a_random_split_has_its_counts_and_may_leave_rows_over(raw, tmp_path):
    (raw / "toy").write_text("".join(f"{'ab'[row % 2]},{row},1\n" for row in range(10)), encoding="utf-8")
    downloaded(raw)
    task = TOY | {"files": {"all": ["toy"]}, "parser": "table", "label_column": "first", "labels": {"a": 1, "b": -1}}
    task |= {"split": "random", "n": 10, "n_train": 2, "n_test": 5}
    facts = preprocess("toy", task, raw, tmp_path / "a", reference_dir=tmp_path)
    assert (facts["n"], facts["n_train"], facts["n_test"], facts["n_train_published"]) == (10, 2, 5, None)
    assert facts["class_counts"] == {"all": {"-1": 5, "1": 5}}
    found = message(preprocess, "toy", task | {"n": 11}, raw, tmp_path / "a", reference_dir=tmp_path)
    assert "n is 10, expected 11" in found
    (raw / "toy").write_text("a,1,1\n" * 5 + "b,1,1\n" * 5, encoding="utf-8")
    downloaded(raw)
    facts = preprocess("toy", task, raw, tmp_path / "a", reference_dir=tmp_path)
    # all four copies of a test row miss the fifth of the rows that trains with a probability of 0.8^4
    assert facts["facts"]["expected_test_rows_in_training_pct"] == 59.04


FEATURES = {"label": "MNIST (1-7) as HOG", "features_of": {"task": "mnist-1-7"} | HOG, "d": 392}
FEATURES |= {key: TASKS["mnist-1-7"][key] for key in ("n", "n_train", "n_test", "split", "target")}


@pytest.fixture
def images(tmp_path):
    """The prepared stand-in of a task of images."""
    preprocess("mnist-1-7", STAND_INS["mnist-1-7"], None, tmp_path / "images", reference_dir=tmp_path)
    return tmp_path / "images"


@pytest.fixture
def features(images, tmp_path):
    """Prepare features of the images in ``tmp_path / "a"``, by a task that is changed; returns the facts."""

    def prepared(raw=None, device="cpu", **changes):
        own = {"reference_dir": tmp_path, "base_dir": images, "device": device}
        return preprocess("features", FEATURES | changes, raw, tmp_path / "a", **own)

    return prepared


def test_features_of_a_stand_in_are_labelled_as_such(images, features, tmp_path):
    facts = features()
    base = json.loads((images / "facts.json").read_text(encoding="utf-8"))
    X = np.load(tmp_path / "a" / "X.npy")
    assert (X.dtype, X.shape) == (np.float32, (361, 32))
    np.testing.assert_array_equal(X, hog.extract(np.load(images / "X.npy"), Given(), **without(HOG, "extractor")))
    assert (tmp_path / "a" / "y.npy").read_bytes() == (images / "y.npy").read_bytes()
    assert facts["stand_in"] == facts["label"] == "hog of digits 1 and 7 (stand-in for MNIST (1-7))"
    same = ("n", "n_train", "n_test", "n_train_published", "split", "target", "classes", "class_counts")
    assert {key: facts[key] for key in same} == {key: base[key] for key in same}
    assert (facts["d"], facts["dtype"]) == (32, "float32")
    assert facts["sha256"] != base["sha256"]


def own_images(images, **changes):
    """Say of prepared images that they are a task's own."""
    facts = json.loads((images / "facts.json").read_text(encoding="utf-8"))
    write_facts(facts | {"stand_in": ""} | changes, images)


def test_rows_of_a_substitute_are_left_out_and_reported(raw, tmp_path):
    """The third test row is dropped by its label, and is not counted."""
    (raw / "toy.copy").write_text("1 2:1\n-1 1:2\n7 1:9\n-1 1:3\n", encoding="utf-8")
    record = json.loads(downloaded(raw).joinpath("record.json").read_text(encoding="utf-8"))
    record["files"]["toy.t"] = record["files"]["toy.copy"] | {"file": "toy.copy", "excluded_rows": [1, 2]}
    (raw / "record.json").write_text(json.dumps(record), encoding="utf-8")
    task = TOY | {"n": 6, "n_test": 3, "labels": TOY["labels"] | {"rest": "drop"}}
    facts = preprocess("toy", task, raw, tmp_path / "prepared", reference_dir=tmp_path)
    assert (facts["substitutes"], facts["left_out"]) == (["toy.t"], {"test": 1})
    assert (facts["n"], facts["n_train"], facts["n_test"]) == (5, 3, 2)
    assert np.load(tmp_path / "prepared" / "X.npy").tolist() == [[1, 0], [0, 1], [1, 0], [0, 1], [3, 0]]
    more = task | {"n": 7, "n_test": 4}
    found = message(preprocess, "toy", more, raw, tmp_path / "other", reference_dir=tmp_path)
    assert "n_test is 2, expected 3" in found
    (raw / "toy.copy").write_text("1 2:1\n", encoding="utf-8")
    found = message(preprocess, "toy", task, raw, tmp_path / "other", reference_dir=tmp_path)
    assert "is not the file that was downloaded" in found


def test_features_of_rows_of_a_substitute_are_as_many(images, features):
    own_images(images, substitutes=["some"], left_out={"test": 2})
    facts = features(n=363, n_train=241, n_test=122, d=32)
    assert (facts["substitutes"], facts["left_out"], facts["n_test"]) == (["some"], {"test": 2}, 120)


def test_features_of_a_tasks_own_rows_must_have_the_stated_sizes(images, features):
    own_images(images)
    counts = {"n": 361, "n_train": 241, "n_test": 120}
    facts = features(**counts, d=32)
    assert (facts["stand_in"], facts["label"], facts["d"]) == ("", "MNIST (1-7) as HOG", 32)
    assert "data of features are not those of datasets.yaml: d is 32, expected 392" in message(features, **counts)
    assert "n_train is 241, expected 13007" in message(features, d=32)


def test_features_of_a_skipped_task_are_skipped_with_its_reason(images, features, tmp_path):
    own_images(images, status="skipped", reason="no network")
    facts = features()
    assert (facts["status"], facts["reason"], facts["d"]) == ("skipped", "no network", 392)
    assert np.load(tmp_path / "a" / "X.npy").shape == (0, 392)


TINY = VGG | {"source": "weights", "width": 1 / 64}
DEEP = {"features_of": {"task": "mnist-1-7"} | TINY, "d": 64}


def test_an_extractor_is_given_what_it_asks_for(images, features, tmp_path, monkeypatch):
    """Labels of the training rows, the files of its source as they were downloaded, and a place for a checkpoint, which
    is gone when the features are there."""
    weights, given = tmp_path / "weights", {}
    weights.mkdir()
    (weights / "some.pth").write_text("weights", encoding="utf-8")
    downloaded(weights)

    def extract(X, run, **parameters):
        given.update(run._asdict() | {"parameters": parameters})
        run.checkpoint.parent.mkdir(exist_ok=True)
        run.checkpoint.write_text("half", encoding="utf-8")
        return np.zeros((len(X), 64), dtype=np.float32)

    monkeypatch.setattr(vgg, "extract", extract)
    facts = features(weights, "auto", **DEEP)
    assert facts["label"] == "vgg of digits 1 and 7 (stand-in for MNIST (1-7))"
    assert given["device"] == "auto"
    assert given["files"] == {"some.pth": weights / "some.pth"}
    np.testing.assert_array_equal(given["labels"], np.load(images / "y.npy")[: facts["n_train"]])
    assert given["parameters"] == without(TINY, "extractor", "source")
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == ["X.npy", "facts.json", "y.npy"]
    assert "substitutes" not in facts
    # weights that take the place of others are given in their place, and the facts say so
    record = json.loads((weights / "record.json").read_text(encoding="utf-8"))
    of_file = record["files"].pop("some.pth") | {"file": "some.pth", "excluded_rows": []}
    (weights / "record.json").write_text(json.dumps(record | {"files": {"lost.pth": of_file}}), encoding="utf-8")
    own_images(images, stand_in="")
    facts = features(weights, "auto", **DEEP, **{key: facts[key] for key in ("n", "n_train", "n_test")})
    assert given["files"] == {"lost.pth": weights / "some.pth"}
    assert facts["substitutes"] == ["lost.pth"]
    # weights that are not those of the download are none
    (weights / "some.pth").write_text("others", encoding="utf-8")
    assert "is not the file that was downloaded" in message(features, weights, **DEEP)
    (weights / "record.json").write_text('{"status": "missing", "reason": "no network"}', encoding="utf-8")
    facts = features(weights, **DEEP)
    assert (facts["status"], facts["reason"]) == ("skipped", "no network")


def test_an_extractor_that_learns_needs_training_rows_that_are_the_same_in_every_repeat(images, features, tmp_path):
    checksum = digest(np.load(images / "X.npy"), np.load(images / "y.npy"), None)
    own_images(images, n_train_published=None, sha256=checksum)
    weights = tmp_path / "weights"
    weights.mkdir()
    downloaded(weights)
    found = message(features, weights, **DEEP)
    assert found == "vgg learns from published training rows, and the task that it makes features of has none"


def test_features_of_a_task_that_is_not_prepared_are_an_error(tmp_path):
    for base_dir in (None, tmp_path):
        found = message(preprocess, "hog", FEATURES, None, tmp_path / "a", reference_dir=tmp_path, base_dir=base_dir)
        assert "facts.json does not exist: prepare the task" in found


def test_published_folds_are_among_the_facts(tmp_path):
    files = {"data.csv": "1,2,0.5\n3,4,-0.5\n5,6,1.5\n", "folds.csv": "0,1\n1,0\n0,1\n"}
    (tmp_path / "raw").mkdir()
    for name, content in files.items():
        (tmp_path / "raw" / name).write_text(content, encoding="utf-8")
    raw = downloaded(tmp_path / "raw")
    task = {
        "label": "Toy", "source": "toy", "files": {"all": ["data.csv"]}, "parser": "table", "folds": "folds.csv",
        "target": "regression", "n": 3, "d": 2, "n_train": 2, "n_test": 1, "split": "half",
    }  # fmt: skip
    preprocess("toy", task, raw, tmp_path / "out", reference_dir=tmp_path)
    data = load_prepared(tmp_path / "out")
    assert data.facts["fold_of_row"] == "101"
    spec = toys.part(split={"rule": "folds"})
    assert draw_sample(data, spec, 0, ["none"]).y_test.tolist() == [-0.5]
    assert draw_sample(data, spec, 1, ["none"]).X_test.tolist() == [[1, 2], [5, 6]]


@pytest.mark.parametrize(("content", "words"), [
    ("0,1\n1,0\n", "has the shape (2, 2), not 3 lines"), ("0,2\n1,0\n0,1\n", "of at most 10 times 0 or 1"),
    ("0,1\n1,1\n0,1\n", "every row must test in one fold"), ("0,1\n0,1\n0,1\n", "every fold have test rows"),
])  # fmt: skip
def test_published_folds_partition_the_rows(content, words, tmp_path):
    path = tmp_path / "folds.csv"
    path.write_text(content, encoding="utf-8")
    assert words in message(read_folds, path, 3)
