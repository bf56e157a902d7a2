"""Finished cells on disk, so that a killed job starts again where it was.

A cell (a map at one size and repeat, say) is stored under the hash of everything that decides its result:
configuration, code and data. A journal is therefore never out of date and never needs to be emptied; it can be
deleted at any time at the price of the time it saves. Workflow rules do not declare it.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np

from rfstudy.files import read_json, write_arrays, write_json


def key_of(*parts) -> str:
    """The hash of JSON-like values that names a cell."""
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


class Journal:
    """A folder of finished cells: a JSON record each and, where a cell has arrays, an ``.npz`` beside it."""

    def __init__(self, directory):
        self.directory = Path(directory)

    def get(self, key: str):
        """The record and arrays of a finished cell, or None where it is not finished or not readable."""
        record_file = self.directory / f"{key}.json"
        try:
            record = read_json(record_file)
            arrays = {}
            if record["has_arrays"]:
                with np.load(record_file.with_suffix(".npz"), allow_pickle=False) as stored:
                    arrays = dict(stored)
            return record["content"], arrays
        except (FileNotFoundError, ValueError, KeyError, OSError):
            return None

    def put(self, key: str, content, arrays: dict | None = None) -> None:
        """Store a finished cell; the record is written last, so that a half-written cell is not finished."""
        record_file = self.directory / f"{key}.json"
        if arrays:
            write_arrays(arrays, record_file.with_suffix(".npz"))
        write_json({"content": content, "has_arrays": bool(arrays)}, record_file)
