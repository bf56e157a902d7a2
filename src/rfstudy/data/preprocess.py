"""Parse and check a task's data, or make its stand-in, and write arrays and facts that every later stage reads."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from rfstudy.data.facts import describe
from rfstudy.data.parse import read_task
from rfstudy.data.synthetic import stand_in_rows
from rfstudy.errors import UserError
from rfstudy.files import read_json, write_atomically, write_json


def preprocess(task_id: str, task: dict, raw_dir, out_dir, *, reference_dir) -> dict:
    """Write ``X.npy``, ``y.npy`` and ``facts.json`` of a task.

    Parameters
    ----------
    task_id : str
    task : dict
        The task's entry in ``datasets.yaml``.
    raw_dir : path or None
        The source's folder with its ``record.json``; None makes the embedded stand-in instead.
    out_dir : path
        Folder of the three files. X (n, d) is float32, or uint8 for images; y (n,) is int64; published training
        rows come first.
    reference_dir : path
        Folder of the published lists of rows.

    Returns
    -------
    dict
        The content of ``facts.json``: status ("ok", or "skipped" with the reason where the source is missing; the
        arrays then have no rows), label, stand_in ("" for a task's own data), split, sizes, classes, the digest of
        the arrays, and under "facts" what ``describe`` counts.

    Raises
    ------
    UserError
        The numbers of rows or columns are not those of ``datasets.yaml``, or the files cannot be read.
    """
    record = {"task": task_id, "label": task["label"], "stand_in": "", "split": task["split"]}
    if raw_dir is None:
        record |= {"label": task["stand_in"]["label"], "stand_in": task["stand_in"]["label"]}
        expected = {"d": task["stand_in"].get("d", task["d"])}
        expected |= {key: task["stand_in"][key] for key in ("n_train", "n_test")}
        X, y, n_train = stand_in_rows(task_id, task)
    else:
        source = read_record(raw_dir)
        if source["status"] != "ok":
            return write(out_dir, skipped(record, task, source["reason"]), *no_rows(task))
        expected = {key: task[key] for key in ("d", "n_train", "n_test")}
        X, y, n_train = read_task(task, raw_dir, reference_dir)
    record |= {"status": "ok", "reason": ""}
    return write(out_dir, record | sizes(task_id, X, y, n_train, expected) | {"facts": describe(X, y, n_train)}, X, y)


def read_record(raw_dir) -> dict:
    """What ``download`` said about a source; ``UserError`` if it has not run."""
    path = Path(raw_dir) / "record.json"
    if not path.is_file():
        raise UserError(f"{path} does not exist: run the download of this source first")
    return read_json(path)


def sizes(task_id: str, X: np.ndarray, y: np.ndarray, n_train: int | None, expected: dict) -> dict:
    """Sizes, classes and digest of a task's arrays; ``UserError`` if the sizes are not the expected ones."""
    n = len(y)
    found = {"d": X.shape[1], "n_train": (n + 1) // 2 if n_train is None else n_train}
    found["n_test"] = n - found["n_train"]
    wrong = [f"{key} is {found[key]}, expected {value}" for key, value in expected.items() if found[key] != value]
    if wrong:
        raise UserError(f"the data of {task_id} are not those of datasets.yaml: {'; '.join(wrong)}")
    parts = {"all": y} if n_train is None else {"train": y[:n_train], "test": y[n_train:]}
    return {
        "n": n,
        **found,
        "n_train_published": n_train,
        "dtype": str(X.dtype),
        "classes": np.unique(y).tolist(),
        "class_counts": {
            part: {str(value): int(count) for value, count in zip(*np.unique(of, return_counts=True), strict=True)}
            for part, of in parts.items()
        },
        "sha256": digest(X, y, n_train),
    }


def digest(X: np.ndarray, y: np.ndarray, n_train: int | None) -> str:
    """SHA-256 of the arrays with their types and shapes, and of where the published training rows end."""
    content = hashlib.sha256(f"{X.dtype.str} {X.shape} {y.dtype.str} {n_train}".encode())
    content.update(np.ascontiguousarray(X))
    content.update(np.ascontiguousarray(y))
    return content.hexdigest()


def no_rows(task: dict) -> tuple[np.ndarray, np.ndarray]:
    """Arrays of the right width without rows, for a source that is missing."""
    return np.empty((0, task["d"]), dtype=np.float32), np.empty(0, dtype=np.int64)


def skipped(record: dict, task: dict, reason: str) -> dict:
    """The record of a task whose source is missing: the sizes it would have, and why it has none."""
    known = {key: task[key] for key in ("n", "d", "n_train", "n_test")}
    return (
        record
        | {"status": "skipped", "reason": reason}
        | known
        | {"n_train_published": None, "sha256": "", "facts": {}}
    )


def write(out_dir, record: dict, X: np.ndarray, y: np.ndarray) -> dict:
    """Write the three files, each atomically, the facts last; returns the record."""
    out_dir = Path(out_dir)
    write_atomically(out_dir / "X.npy", lambda path: np.save(path, X))
    write_atomically(out_dir / "y.npy", lambda path: np.save(path, y))
    write_json(record, out_dir / "facts.json")
    return record
