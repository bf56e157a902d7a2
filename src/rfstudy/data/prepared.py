"""Write the three files of a prepared task as a whole, and verify them when they are read.

``facts.json`` holds the digest of ``X.npy`` and ``y.npy``. The digest is in the key of every cell that is computed on
them. Arrays with another digest would leave wrong numbers under a right key. The last entry of ``facts.json`` is its
own digest, because its split, target and stand-in decide numbers and their comparisons.
"""

import hashlib
import json
from pathlib import Path

import numpy as np

from random_features.errors import UserError
from rfstudy.files import read_json, save_array, shown, write_atomically, write_json

#: The key of the checksum of the facts themselves.
CHECKSUM = "sha256_of_facts"


def digest(X: np.ndarray, y: np.ndarray, n_train: int | None) -> str:
    """Return the SHA-256 of the arrays with their types and shapes, and of the end of the published training rows."""
    content = hashlib.sha256(f"{X.dtype.str} {X.shape} {y.dtype.str} {n_train}".encode())
    content.update(np.ascontiguousarray(X))
    content.update(np.ascontiguousarray(y))
    return content.hexdigest()


def write(out_dir, record: dict, X: np.ndarray, y: np.ndarray) -> dict:
    """Write the three files, each atomically, the facts last, and return the record."""
    out_dir = Path(out_dir)
    for name, array in (("X.npy", X), ("y.npy", y)):
        write_atomically(out_dir / name, lambda path, array=array: save_array(array, path))
    return write_facts(record, out_dir)


def write_facts(record: dict, out_dir) -> dict:
    """Write the facts about a task with their digest, and return both."""
    record = record | {CHECKSUM: checksum_of(record)}
    write_json(record, Path(out_dir) / "facts.json")
    return record


def checksum_of(record: dict) -> str:
    """Return the SHA-256 of facts without their own digest, independent of the order of their keys."""
    facts = {key: value for key, value in record.items() if key != CHECKSUM}
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def read(directory, task_id: str = "") -> tuple[np.ndarray, np.ndarray, dict]:
    """Return X (n, d), memory-mapped, y (n,) and the facts of a prepared task, if they are as ``preprocess`` wrote
    them.

    Otherwise raise ``UserError``, which names the expected value, the value found, and the remedy. ``task_id``, if
    given, must be their task.
    """
    directory = Path(directory)
    again = f"remove the folder {shown(directory)} and run again: its files are made anew"
    facts = read_record(directory / "facts.json", again)
    if facts.get(CHECKSUM) != checksum_of(facts):
        why = "it was changed, or is of an earlier version"
        raise UserError(f"{shown(directory / 'facts.json')} is not what was prepared: {why}; {again}")
    if task_id and facts.get("task", task_id) != task_id:
        raise UserError(f"{shown(directory)} holds the data of {facts['task']}, not of {task_id}; {again}")
    arrays = []
    for name, mode in (("X.npy", "r"), ("y.npy", None)):
        try:
            arrays.append(np.load(directory / name, mmap_mode=mode, allow_pickle=False))
        except (OSError, ValueError, EOFError) as error:
            raise UserError(f"{shown(directory / name)} cannot be read: {error}; {again}") from error
    X, y = arrays
    # nothing is computed of rows that are missing
    if facts["status"] == "ok" and (actual := digest(X, y, facts["n_train_published"])) != facts["sha256"]:
        wrong = f"expected sha256 {facts['sha256']}, actual {actual}"
        raise UserError(f"{shown(directory)}: X.npy and y.npy are not what was prepared: {wrong}; {again}")
    return X, y, facts


def read_record(path: Path, advice: str) -> dict:
    """Return the record of an earlier step. Raise ``UserError``, with advice, if the step has not run, or its record is
    broken.
    """
    path = Path(path)
    if not path.is_file():
        raise UserError(f"{shown(path)} does not exist: {advice}")
    try:
        record = read_json(path)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{shown(path)} is broken: {error}; {advice}") from error
    if not isinstance(record, dict) or "status" not in record:
        raise UserError(f"{shown(path)} is broken: it does not say its status; {advice}")
    return record
