"""Finished cells on disk, so that a killed job starts again where it was, and checkpoints within a long one.

A cell (a map at one size and repeat, say) is stored under the hash of everything that decides its result:
configuration, code and data. A journal is therefore never out of date and never needs to be emptied; it can be
deleted at any time at the price of the time it saves. Workflow rules do not declare it.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import sys
import time
from pathlib import Path

import numpy as np

from random_features.errors import UserError
from rfstudy.files import digest_of, force_onto_disk, read_arrays, read_sealed, write_arrays, write_sealed

#: Seconds after which cells and checkpoints are forced onto the disk: what a machine that loses its power may lose.
SYNC_SECONDS = 30.0

#: Bytes before a checkpoint: its length and the digest of its content.
HEADER = 8 + 32


def key_of(*parts) -> str:
    """The hash of JSON-like values that names a cell."""
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


class Journal:
    """A folder of finished cells: a JSON record each and, where a cell has arrays, an ``.npz`` beside it.

    A record carries its key, its own digest and that of its arrays, so that whatever a killed machine, a failing disk
    or a copy under another name made of them is told from what was written: such a cell is computed again. What is
    older than ``SYNC_SECONDS`` is forced onto the disk with the next cell, and not each cell on its own, which would
    cost more than many cells take.
    """

    def __init__(self, directory):
        self.directory = Path(directory)
        self.synced = time.monotonic()
        self.unsynced: list[Path] = []

    def get(self, key: str):
        """The record and arrays of a finished cell, or None where it is not finished; a damaged one is forgotten, and
        a line says so.
        """
        file = self.directory / f"{key}.json"
        try:
            cell = read_sealed(file)
            if cell.get("key", key) != key:  # cells of earlier versions do not tell
                raise UserError(f"{file} is the record of another cell")
            return cell["content"], self.arrays_of(file, cell["arrays"])
        except FileNotFoundError:
            return None
        except (UserError, KeyError, TypeError, AttributeError):
            print(f"{file} or its arrays are damaged: the cell is computed again", file=sys.stderr)
            self.drop(key)
            return None

    @staticmethod
    def arrays_of(file: Path, digest: str) -> dict:
        """The arrays beside the record of a cell, which have this digest; "" is that of none."""
        if not digest:
            return {}
        arrays = file.with_suffix(".npz")
        if not arrays.exists() or digest_of(arrays) != digest:
            raise UserError(f"{arrays} is not what was written")
        return read_arrays(arrays)

    def put(self, key: str, content, arrays: dict | None = None) -> None:
        """Store a finished cell; the record is written last, so that a half-written cell is not finished."""
        file, digest = self.directory / f"{key}.json", ""
        if arrays:
            beside = file.with_suffix(".npz")
            write_arrays(arrays, beside, sync=False)
            digest = digest_of(beside)
            self.unsynced.append(beside)
        write_sealed({"key": key, "content": content, "arrays": digest}, file, sync=False)
        self.unsynced.append(file)
        if time.monotonic() - self.synced >= SYNC_SECONDS:
            self.sync()

    def sync(self) -> None:
        """Force onto the disk what was stored since the last time."""
        for file in self.unsynced:
            if file.exists():
                force_onto_disk(file)
        self.unsynced, self.synced = [], time.monotonic()

    def drop(self, key: str) -> None:
        """Forget a finished cell: it is to be computed again."""
        (self.directory / f"{key}.json").unlink(missing_ok=True)


class Checkpoints:
    """What a long cell has got so far: named arrays, appended to one file one after the other.

    Each is written to the file at once and forced onto the disk at least every ``SYNC_SECONDS``, so that a killed
    process loses none of them. A record that was cut off or damaged ends the list: those before it are whole.
    """

    def __init__(self, journal: Journal, key: str):
        self.path = journal.directory / f"{key}.checkpoints"
        self.synced = time.monotonic()

    def load(self) -> list[dict[str, np.ndarray]]:
        """The checkpoints of an earlier process, in order; what follows a damaged one is dropped."""
        if not self.path.exists():
            return []
        content, start, found = self.path.read_bytes(), 0, []
        while start + HEADER <= len(content):
            length = int.from_bytes(content[start : start + 8], "little")
            body = content[start + HEADER : start + HEADER + length]
            if len(body) < length or hashlib.sha256(body).digest() != content[start + 8 : start + HEADER]:
                break
            with np.load(io.BytesIO(body), allow_pickle=False) as stored:
                found.append(dict(stored))
            start += HEADER + length
        if start < len(content):
            os.truncate(self.path, start)
        return found

    def append(self, **arrays) -> None:
        """Keep named arrays (or numbers)."""
        stream = io.BytesIO()
        np.savez(stream, **arrays)
        body = stream.getvalue()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "ab") as file:
            file.write(len(body).to_bytes(8, "little") + hashlib.sha256(body).digest() + body)
            file.flush()
            if time.monotonic() - self.synced >= SYNC_SECONDS:
                os.fsync(file.fileno())
                self.synced = time.monotonic()

    def clear(self) -> None:
        """Forget them: the cell is finished."""
        self.path.unlink(missing_ok=True)
