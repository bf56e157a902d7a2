"""Rows in chunks: the same for all sizes of chunks, made or read, and reduced about the origin."""

import re
import resource
from itertools import pairwise

import numpy as np
import pytest
from data_toys import downloaded
from refusals import message
from sklearn.decomposition import TruncatedSVD

from rfstudy.data import prepared, preprocess, stream
from rfstudy.data.scale import fit_steps
from rfstudy.data.streams import deformed_digits
from rfstudy.study.journal import Log

SIDE, COLUMNS = 6, 36
BASE = {"n_train": 30, "n_test": 12}


@pytest.fixture
def base(tmp_path):
    """A prepared task of images with a published split."""
    rng = np.random.default_rng(0)
    n = sum(BASE.values())
    X, y = rng.integers(0, 256, (n, COLUMNS), dtype=np.uint8), rng.integers(0, 5, n)
    facts = BASE | {"task": "images", "status": "ok", "reason": "", "label": "Images", "stand_in": "", "n": n}
    facts |= {"d": COLUMNS, "n_train_published": 30, "sha256": prepared.digest(X, y, 30)}
    prepared.write(tmp_path / "base", facts, X, y)
    return tmp_path / "base"


def task_of(**streamed):
    """A complete task, as the registry gives it."""
    own = {"base": "images", "generator": "deformed_digits", "n_train": 95} | streamed
    counts = {"n_train": own["n_train"], "n_test": 12, "n": own["n_train"] + 12}
    return {"label": "Many", "d": 8, "split": "published", "target": "classes", "streamed": own} | counts


def run(task, base, folder, raw=None):
    """The rows and labels of a task, and its facts; nothing else is left."""
    facts = preprocess.run("many", task, raw, folder / "out", reference_dir=folder, base_dir=base)
    assert {path.name for path in (folder / "out").iterdir()} == {"X.npy", "y.npy", "facts.json"}
    return np.load(folder / "out" / "X.npy"), np.load(folder / "out" / "y.npy"), facts


def test_a_made_row_is_a_function_of_the_seed_and_its_number():
    images = np.random.default_rng(1).integers(0, 256, (7, COLUMNS), dtype=np.uint8)
    labels = np.arange(7)
    X, y = deformed_digits.rows(0, 2100, images, labels, 5)
    assert X.shape == (2100, COLUMNS)
    assert X.dtype == np.uint8
    for first, last in ((0, 1), (13, 14), (1000, 1100), (2099, 2100)):
        part, of_part = deformed_digits.rows(first, last, images, labels, 5)
        np.testing.assert_array_equal(part, X[first:last])
        np.testing.assert_array_equal(of_part, y[first:last])
    np.testing.assert_array_equal(y, np.arange(2100) % 7)
    other, _ = deformed_digits.rows(0, 50, images, labels, 6)
    assert (other != X[:50]).any(axis=1).all()
    # the same image is another one every time
    assert len(np.unique(X[::7], axis=0)) == len(X[::7])


def test_no_deformation_leaves_the_image_and_a_shift_moves_it():
    image = np.arange(COLUMNS, dtype=np.uint8)[None] * 7
    still = np.zeros((1, deformed_digits.NUMBERS))
    np.testing.assert_array_equal(deformed_digits.deformed(image, still), image)
    shift = still.copy()
    shift[0, 4] = 1 / (deformed_digits.SHIFT * SIDE)  # one pixel
    moved = deformed_digits.deformed(image, shift).reshape(SIDE, SIDE)
    np.testing.assert_array_equal(moved[:, :-1], image.reshape(SIDE, SIDE)[:, 1:])
    assert (moved[:, -1] == 0).all()


def test_displacements_are_as_large_as_stated_and_smooth():
    weights = deformed_digits.smooth_field(28)
    np.testing.assert_allclose((weights**2).sum(axis=0), 1)
    field = np.random.default_rng(0).uniform(-1, 1, (500, deformed_digits.KNOTS**2)) @ weights
    # a uniform variable of [-1, 1) has the deviation 1 / sqrt(3)
    assert field.std() == pytest.approx(1 / np.sqrt(3), rel=0.05)
    neighbours = field.reshape(500, 28, 28)
    assert np.abs(np.diff(neighbours, axis=2)).max() < 0.5


@pytest.mark.parametrize("rows", [95, 40, 7])
def test_rows_are_the_same_in_chunks_of_any_size(base, tmp_path, rows):
    whole = run(task_of(), base, tmp_path / "whole")
    X, y, facts = run(task_of(rows_per_chunk=rows), base, tmp_path / "cut")
    # float32 of numbers that agree to 1e-10: one unit of the last place
    np.testing.assert_allclose(X, whole[0], rtol=2e-7, atol=1e-10)
    np.testing.assert_array_equal(y, whole[1])
    assert (facts["n_train"], facts["n_test"], facts["d"], facts["split"]) == (95, 12, 8, "published")
    assert facts["facts"] == whole[2]["facts"]


def test_the_components_are_those_of_the_rows_at_unit_length_about_the_origin(base, tmp_path):
    X, y, facts = run(task_of(), base, tmp_path)
    of_base, labels, _ = prepared.read(base)
    images, _ = stream.made("many", task_of()["streamed"], 0, of_base[:30], labels[:30])
    unit = images / np.linalg.norm(images.astype(float), axis=1, keepdims=True)
    reference = TruncatedSVD(8, algorithm="arpack", tol=1e-12).fit(unit)
    expected = unit @ reference.components_.T
    np.testing.assert_allclose(np.abs(X[:95]), np.abs(expected), atol=1e-6)
    kept = 100 * (expected**2).sum() / (unit**2).sum()
    assert facts["facts"] == {"second_moment_kept_pct": pytest.approx(kept, abs=1e-4)}
    # the test part is the base's, and nothing of it decides the components
    np.testing.assert_array_equal(y[95:], labels[30:])
    np.testing.assert_array_equal(y[:95], labels[np.arange(95) % 30])
    of_test = of_base[30:] / np.linalg.norm(of_base[30:].astype(float), axis=1, keepdims=True)
    np.testing.assert_allclose(np.abs(X[95:]), np.abs(of_test @ reference.components_.T), atol=1e-6)


def test_a_full_disk_names_the_file(base, tmp_path):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        for rows, named in ((95, "chunk-0"), (20, "reduced")):
            with pytest.raises(OSError, match=rf"File too large: '.*{named}\.npy'"):
                run(task_of(rows_per_chunk=rows), base, tmp_path)
        with pytest.raises(OSError, match=r"File too large: '.*/X\.npy'"):
            prepared.write(tmp_path / "other", {}, np.zeros((50, 9)), np.zeros(5))
        with pytest.raises(OSError, match=r"File too large: '.*job\.cells'"):
            Log(tmp_path / "job.cells").append("key", bytes(9999))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list((tmp_path / "other").iterdir()) == []


def test_a_stand_in_is_labelled_as_such(base, tmp_path):
    task = task_of(n_train=20) | {"label": "few (stand-in for Many)", "is_stand_in": True, "d": 4, "n_test": 10000}
    facts = preprocess.run("many", task, None, tmp_path / "out", reference_dir=tmp_path, base_dir=base)
    assert (facts["stand_in"], facts["n_train"], facts["d"]) == ("few (stand-in for Many)", 20, 4)
    assert facts["n_test"] == 12  # those of the base, which is a stand-in, too


def libsvm_file(path, n=57):
    """A file of n images in LIBSVM's form, with lines of many lengths; its images and labels."""
    rng = np.random.default_rng(2)
    X = rng.integers(0, 256, (n, COLUMNS), dtype=np.uint8) * (rng.random((n, COLUMNS)) < rng.random((n, 1)))
    y = rng.integers(0, 10, n)
    lines = [
        f"{label} " + " ".join(f"{j + 1}:{x}" for j, x in enumerate(row) if x) for label, row in zip(y, X, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return X.astype(np.uint8), y


@pytest.mark.parametrize("window", [50, 333, 10**6])
@pytest.mark.parametrize("n_ranges", [1, 2, 5, 40])
def test_every_line_of_a_file_is_in_one_range_of_bytes_for_any_ranges(tmp_path, n_ranges, window):
    X, y = libsvm_file(tmp_path / "digits")
    size = (tmp_path / "digits").stat().st_size
    edges = [size * i // n_ranges for i in range(n_ranges + 1)]
    found = [
        block
        for first, last in pairwise(edges)
        for block in stream.libsvm_blocks(tmp_path / "digits", first, last, COLUMNS, window)
    ]
    images, labels = map(np.concatenate, zip(*found, strict=True))
    np.testing.assert_array_equal(images, X)
    np.testing.assert_array_equal(labels, y)
    if window == 333:
        # the shortest line has two letters: what is parsed at once is no more than the window holds
        assert max(len(block) for block, _ in found) <= 333 // 2 + 1


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("3 1:10 2:oops", "oops|could not convert|bytes"),
        (f"3 1:10 {COLUMNS + 1}:7", "bytes"),
        ("3 1:300", "a pixel is a whole number from 0 to 255, not 300"),
        ("3 1:0.5", "a pixel is a whole number from 0 to 255, not 0.5"),
        ("3 1:nan", "a pixel is a whole number from 0 to 255, not nan"),
        ("2.5 1:10", "a class is a whole number, not 2.5"),
    ],
)
def test_a_bad_line_is_reported_with_its_range_of_bytes(tmp_path, line, words):
    libsvm_file(tmp_path / "digits")
    with open(tmp_path / "digits", "a", encoding="utf-8") as file:
        file.write(line + "\n")
    size = (tmp_path / "digits").stat().st_size
    found = message(lambda: list(stream.libsvm_blocks(tmp_path / "digits", 0, size, COLUMNS)))
    assert re.search(words, found)
    assert "digits, bytes 0 to" in found


def raw_folder(tmp_path):
    raw = tmp_path / "raw"
    raw.mkdir()
    X, y = libsvm_file(raw / "digits")
    return downloaded(raw), X, y


def of_file(**streamed):
    task = task_of(source="digits", file="digits", columns=COLUMNS, n_train=57, **streamed)
    task["streamed"].pop("generator")
    return task


@pytest.mark.parametrize("rows", [57, 20, 3])
def test_a_task_of_a_file_has_its_rows_in_order_and_the_test_rows_of_the_base(base, tmp_path, rows):
    raw, X, y = raw_folder(tmp_path)
    reduced, labels, facts = run(of_file(rows_per_chunk=rows), base, tmp_path, raw)
    np.testing.assert_array_equal(labels[:57], y)
    assert facts["n_train"] == 57
    unit = fit_steps(["unit"], X.astype(float))(X.astype(float))
    components, _ = stream.leading_components(stream.second_moment(X), 8)
    np.testing.assert_allclose(reduced[:57], unit @ components, rtol=2e-7, atol=1e-7)


def test_a_file_of_another_number_of_rows_and_one_that_was_changed_are_refused(base, tmp_path):
    raw, *_ = raw_folder(tmp_path)
    task = of_file()
    task["streamed"]["n_train"] = 58
    assert "the chunks have 57 rows, and datasets" in message(run, task, base, tmp_path / "more", raw)
    with open(raw / "digits", "a", encoding="utf-8") as file:
        file.write("1 1:1\n")
    assert "is not the file that was downloaded" in message(run, of_file(), base, tmp_path / "changed", raw)


def test_a_file_that_could_not_be_had_leaves_a_task_that_is_skipped(base, tmp_path):
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw/record.json").write_text('{"status": "missing", "reason": "no network"}', encoding="utf-8")
    X, _, facts = run(of_file(rows_per_chunk=20), base, tmp_path, tmp_path / "raw")
    assert X.shape == (0, 8)
    assert (facts["status"], facts["reason"]) == ("skipped", "no network")
