"""Keep finished cells on disk, so that a killed job resumes where it was, and checkpoints within a long cell.

A job appends its finished cells to one file, each under the hash of everything that decides its result: configuration,
code and data. A journal is therefore never out of date, and jobs read each other's files: two experiments that share a
cell compute it once. Workflow rules do not declare journals; deleting them costs only time.
"""

import contextlib
import fcntl
import hashlib
import io
import itertools
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from random_features.errors import UserError
from rfstudy.files import naming, shown

#: Seconds after which a file is forced onto the disk, and after which a job looks for new cells of other jobs. A power
#: failure loses at most this much work. Forcing each cell onto the disk would take longer than computing many cells.
SYNC_SECONDS = 30.0

#: Bytes of a key, and of all that precedes the content of a record: its key, its length and its checksum.
KEY, HEADER = 24, 24 + 8 + 32

#: Values of a run's record that grow from cell to cell.
CHANGING = ("wall_time_s", "processor_time_s", "load_average", "peak_memory_mb")

#: The suffix of the file of a job's cells.
ENDING = ".cells"


def key_of(*parts) -> str:
    """Return the hash of JSON-like values that names a cell. The order of a mapping does not matter.

    >>> key_of({"a": 1, "b": 2}) == key_of({"b": 2, "a": 1})
    True
    >>> different = [({"a": 1},), ({"a": 2},), ("a", "b"), ("b", "a"), ([1],), (["1"],), (1,), (1.5,)]
    >>> len({key_of(*parts) for parts in different}) == len(different)
    True
    """
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:KEY]


class Log:
    """An append-only file of records, each with a key and a checksum of both.

    A process that is killed leaves at most an incomplete record at the end; the next one overwrites it. Several
    processes may append to a file that is ``shared``.
    """

    def __init__(self, path, shared: bool = False):
        self.path, self.shared = Path(path), shared
        self.end = 0  # of the last complete record that was read or written here
        self.synced = time.monotonic()

    def opened(self, mode: str):
        """Return the open file. Raise ``UserError`` if its path is taken by something else or cannot be opened."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            return open(self.path, mode)
        except (FileNotFoundError, FileExistsError, IsADirectoryError, NotADirectoryError, PermissionError) as error:
            raise UserError(
                f"{shown(self.path)} cannot be opened as a journal, the file of the finished cells of a job: "
                f"{error.strerror}; remove or rename what is there (a folder, a link to nothing) and run again"
            ) from error

    def records(self) -> Iterator[tuple[str, int, int]]:
        """Yield the key of every complete record that is new here, the position of its header and its end."""
        if not self.path.exists():
            return
        with self.opened("rb") as file:
            size = os.fstat(file.fileno()).st_size
            while self.end + HEADER <= size:
                file.seek(self.end)
                header = file.read(HEADER)
                end = self.end + HEADER + int.from_bytes(header[KEY : KEY + 8], "little")
                if end > size:
                    return
                yield header[:KEY].decode("ascii", "replace").rstrip(), self.end, end
                self.end = end

    def read(self, start: int, end: int) -> bytes | None:
        """Return the content of the record between two positions; None if it differs from what was written."""
        with self.opened("rb") as file:
            file.seek(start)
            record = file.read(end - start)
        body = record[HEADER:]
        return body if record[KEY + 8 : HEADER] == checksum(record[:KEY], body) else None

    def append(self, key: str, body: bytes) -> tuple[int, int]:
        """Write a record after the last complete one, and return its position and its end."""
        name = key.ljust(KEY).encode("ascii")
        with naming(self.path), self.opened("ab") as file:
            if self.shared:
                with contextlib.suppress(OSError):  # a file system without locks
                    fcntl.flock(file, fcntl.LOCK_EX)
                list(self.records())  # what another process has appended is kept
            start = self.end
            file.truncate(start)
            file.write(name + len(body).to_bytes(8, "little") + checksum(name, body) + body)
            file.flush()
            if time.monotonic() - self.synced >= SYNC_SECONDS:
                os.fsync(file.fileno())
                self.synced = time.monotonic()
        self.end = start + HEADER + len(body)
        return start, self.end


def checksum(name: bytes, body: bytes) -> bytes:
    """Return the SHA-256 of a record."""
    return hashlib.sha256(name + body).digest()


class Journal:
    """The finished cells of one job and of all jobs that use the same folder.

    Parameters
    ----------
    path : the file of this job, e.g. ``results/quick/.journal/train/slsrff-text.all.cells``
    """

    def __init__(self, path):
        self.log = Log(path, shared=True)
        self.logs: dict[Path, Log] = {}
        self.places: dict[str, tuple[Log, int, int]] = {}
        self.looked = -SYNC_SECONDS

    def look(self) -> None:
        """Index the records in the files of other jobs and in the job's own file, which takes precedence."""
        self.looked = time.monotonic()
        others = sorted(set(self.log.path.parent.glob(f"*{ENDING}")) - {self.log.path})
        for log in (*(self.logs.setdefault(path, Log(path)) for path in others), self.log):
            self.places |= {key: (log, start, end) for key, start, end in log.records()}

    def get(self, key: str):
        """Return the content (rows and the record of the run that computed them) and the arrays of a finished cell.

        Return None if there is no such cell. A damaged cell is dropped, and a line on the console says so.
        """
        if (body := self.body(key)) is None:
            return None
        length = int.from_bytes(body[:8], "little")
        content, arrays = json.loads(body[8 : 8 + length]), unpacked(body[8 + length :])
        if (run := self.body(content["run"])) is None:
            return None
        return {"rows": content["rows"], "record": json.loads(run) | content["record"]}, arrays

    def body(self, key: str) -> bytes | None:
        """Return the content of the last record with a key."""
        if key not in self.places and time.monotonic() - self.looked >= SYNC_SECONDS:
            self.look()
        if key not in self.places:
            return None
        log, start, end = self.places[key]
        if (body := log.read(start, end)) is None:
            print(f"{log.path}: a finished cell is damaged and computed again", file=sys.stderr)
            self.drop(key)
        return body

    def put(self, key: str, content: dict, arrays: dict | None = None) -> None:
        """Store a finished cell; the record of its run is stored with the first cell of the run.

        ``content`` has ``rows`` and ``record``. Values that change between the cells of a run are kept with the cell.
        """
        record = content["record"]
        own = {name: record[name] for name in CHANGING if name in record}
        if record["run"] not in self.places:
            self.append(record["run"], json.dumps(record).encode())
        text = json.dumps({"run": record["run"], "record": own, "rows": content["rows"]}).encode()
        self.append(key, len(text).to_bytes(8, "little") + text + packed(arrays or {}))

    def append(self, key: str, body: bytes) -> None:
        """Append a record to the file of this job."""
        if self.looked < 0:
            self.look()
        self.places[key] = (self.log, *self.log.append(key, body))

    def drop(self, key: str) -> None:
        """Forget a finished cell in this process, so that it is computed and stored again."""
        self.places.pop(key, None)


def packed(arrays: dict) -> bytes:
    """Return named arrays as the bytes of an ``.npz``; empty if there are none."""
    stream = io.BytesIO()
    if arrays:
        np.savez(stream, **arrays)
    return stream.getvalue()


def unpacked(body: bytes) -> dict:
    """Return the named arrays in the bytes that ``packed`` made."""
    if not body:
        return {}
    with np.load(io.BytesIO(body), allow_pickle=False) as stored:
        return dict(stored)


class Checkpoints:
    """The progress of a long cell: named arrays, appended to one file.

    Each is written to the file at once, so that a killed process loses none of them. A record that was cut off or
    damaged ends the list; those before it are complete.
    """

    def __init__(self, journal: Journal, key: str):
        self.log = Log(journal.log.path.parent / f"{key}.checkpoints")

    def load(self) -> list[dict[str, np.ndarray]]:
        """Return the checkpoints of an earlier process, in order; those after a damaged one are dropped."""
        bodies = (self.log.read(start, end) for _, start, end in self.log.records())
        return [unpacked(body) for body in itertools.takewhile(lambda body: body is not None, bodies)]

    def append(self, **arrays) -> None:
        """Write named arrays (or numbers) as the next checkpoint."""
        self.log.append("", packed(arrays))

    def clear(self) -> None:
        """Delete the checkpoints: the cell is finished."""
        self.log.path.unlink(missing_ok=True)
