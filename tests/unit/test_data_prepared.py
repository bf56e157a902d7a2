"""Prepared data are verified when they are read: a changed byte is an error."""

import json
import re

import numpy as np
import pytest
from data_toys import HOG, TOY
from refusals import message

from rfstudy.data import prepared
from rfstudy.data.preprocess import run as preprocess
from rfstudy.files import digest_of, write_json
from rfstudy.study.sample import load_prepared


@pytest.fixture
def folder(raw, tmp_path):
    """The folder of the prepared task."""
    preprocess("toy", TOY, raw, tmp_path / "prepared", reference_dir=tmp_path)
    return tmp_path / "prepared"


def test_what_was_written_is_what_is_read(folder):
    data = load_prepared(folder)
    assert data.X.tolist() == [[1, 0], [0, 1], [1, 0], [0, 1], [2, 0]]
    assert data.y.tolist() == [-1, 1, -1, 1, -1]
    assert data.facts["sha256"] == prepared.digest(data.X, data.y, 3)
    assert isinstance(data.X, np.memmap)


def flipped(folder):
    content = bytearray((folder / "X.npy").read_bytes())
    content[-3] ^= 1
    (folder / "X.npy").write_bytes(content)


def array_changed(name, change):
    return lambda folder: np.save(folder / name, change(np.load(folder / name)))


def bytes_changed(name, change):
    return lambda folder: (folder / name).write_bytes(change((folder / name).read_bytes()))


def facts_changed(change, write=lambda facts, folder: write_json(facts, folder / "facts.json")):
    return lambda folder: write(change(json.loads((folder / "facts.json").read_text())), folder)


OTHER_ARRAYS = (
    r"prepared: X\.npy and y\.npy are not what was prepared: expected sha256 [0-9a-f]{64}, actual [0-9a-f]{64}"
)
OTHER_FACTS = r"facts\.json is not what was prepared: it was changed, or is of an earlier version"

DAMAGES = {
    "flipped": (flipped, OTHER_ARRAYS),
    "label changed": (array_changed("y.npy", lambda y: -y), OTHER_ARRAYS),
    "short": (array_changed("y.npy", lambda y: y[:-1]), OTHER_ARRAYS),
    "narrow": (array_changed("X.npy", lambda X: X[:, :1]), OTHER_ARRAYS),
    "another type": (array_changed("X.npy", lambda X: X.astype(np.float64)), OTHER_ARRAYS),
    "parts moved": (facts_changed(lambda facts: facts | {"n_train_published": 2}, prepared.write_facts), OTHER_ARRAYS),
    "cut": (bytes_changed("X.npy", lambda content: content[:-8]), r"X\.npy cannot be read: "),
    "empty": (bytes_changed("y.npy", lambda content: b""), r"y\.npy cannot be read: "),
    "gone": (lambda folder: (folder / "X.npy").unlink(), r"X\.npy cannot be read: .*No such file"),
    "facts cut": (bytes_changed("facts.json", lambda content: content[:40]), r"facts\.json is broken: "),
    "no facts": (bytes_changed("facts.json", lambda _: b"[]"), r"facts\.json is broken: it does not say its status"),
    "fact changed": (facts_changed(lambda facts: facts | {"label": "Top"}), OTHER_FACTS),
    "no checksum": (facts_changed(lambda facts: facts | {prepared.CHECKSUM: None}), OTHER_FACTS),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_file_is_refused_with_what_to_do(folder, name):
    damage, expected = DAMAGES[name]
    damage(folder)
    found = message(load_prepared, folder)
    assert re.search(expected, found)
    assert found.endswith(f"remove the folder {folder} and run again: its files are made anew")


def test_the_rows_that_features_are_extracted_from_are_verified_too(folder, tmp_path):
    flipped(folder)
    task = TOY | {"features_of": {"task": "toy"} | HOG}
    found = message(preprocess, "hog", task, None, tmp_path / "a", reference_dir=tmp_path, base_dir=folder)
    assert "not what was prepared" in found


def test_a_raw_file_that_was_edited_after_its_download_or_is_gone_is_refused(raw, tmp_path):
    expected = digest_of(raw / "toy.t")
    (raw / "toy.t").write_text("1 2:1\n1 1:2\n", encoding="utf-8")
    assert message(preprocess, "toy", TOY, raw, tmp_path / "prepared", reference_dir=tmp_path) == (
        f"{raw / 'toy.t'} is not the file that was downloaded: expected sha256 {expected}, actual "
        f"{digest_of(raw / 'toy.t')}; remove {raw / 'record.json'} and run again: the download checks every file, "
        "and gets it again"
    )
    (raw / "toy").unlink()
    found = message(preprocess, "toy", TOY, raw, tmp_path / "prepared", reference_dir=tmp_path)
    assert f"toy does not exist, although it was downloaded; remove {raw / 'record.json'}" in found
    assert not (tmp_path / "prepared").exists()


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ("{", "record.json is broken: Expecting"),
        *((record, "record.json is broken: it does not say its status") for record in ("[1]", "{}")),
        ('{"status": null}', "record.json is broken: it is no record of a download; remove"),
        *((f'{{"status": "ok", "files": {of}}}', "no record of a download; remove") for of in ("[]", '{"toy": "x"}')),
        ('{"status": "ok", "source": "top", "files": {}}', "holds the files of top, not of toy; remove"),
        ('{"status": "ok", "files": {}}', "record.json does not name toy; remove"),
    ],
)
def test_a_broken_record_is_one_line(raw, tmp_path, record, words):
    (raw / "record.json").write_text(record)
    assert words in message(preprocess, "toy", TOY, raw, tmp_path / "prepared", reference_dir=tmp_path)


def test_a_file_in_place_of_a_folder_is_not_a_full_disk(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):  # the command line says which
        prepared.write(tmp_path / "file" / "in", {}, np.zeros((5, 2)), np.zeros(5))
