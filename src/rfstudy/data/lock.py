"""The lock of the sources: the first content of each file whose checksum was unknown before.

``sources.lock.yaml`` states for every such file its ``sha256``, its ``bytes`` and where it came ``from``. It is written
by the download and is meant to be committed: from then on the file is verified like any other.
"""

import fcntl
import os
import re
from contextlib import contextmanager
from pathlib import Path

from random_features.errors import UserError
from rfstudy.data.tasks import UNKNOWN
from rfstudy.files import read_yaml, shown, write_text

HEADER = """\
# Written by the download: the first content of files whose checksum sources.yaml does not know. Commit it. To accept
# another content, remove the lines of the file here and its copy in data/raw, and run again.
"""


def expected(path, source_id: str, name: str, entry: dict) -> dict:
    """Return the entry of a file in ``sources.yaml``, with the checksum and length from the lock if it has them."""
    if entry["sha256"] != UNKNOWN:
        return entry
    known = read_lock(path).get(source_id, {}).get(name)
    return entry | {"sha256": known["sha256"], "bytes": known["bytes"], "lock": str(path)} if known else entry


def read_lock(path) -> dict:
    """Return the lock by source and file, empty if there is none yet. Raise ``UserError`` if it is broken."""
    if not Path(path).exists():
        return {}
    lock = read_yaml(path)
    for source_id, files in lock.items():
        if not isinstance(files, dict) or not all(map(is_record, files.values())):
            needed = "every file needs sha256 (64 hexadecimal digits) and bytes"
            ask = "restore the lock, or remove the lines of this source to have the next content recorded"
            raise UserError(f"{shown(path)}: {source_id}: {needed}; {ask}")
    return lock


def is_record(known) -> bool:
    """Return whether a value is a valid record of a file in a lock."""
    given = known if isinstance(known, dict) else {}
    return bool(re.fullmatch("[0-9a-f]{64}", str(given.get("sha256")))) and isinstance(given.get("bytes"), int)


def record(path, source_id: str, name: str, found: dict) -> dict:
    """Record the content of a file when it is first used, and return the lock's record of it.

    ``found`` has sha256, bytes and from. If another process was quicker, the lock keeps its record. Raise ``UserError``
    if the lock cannot be written, with the lines to add by hand.
    """
    import yaml

    path = Path(path)
    try:
        with locked(path.parent):
            lock = read_lock(path)
            known = lock.setdefault(source_id, {}).setdefault(name, found)
            if known is found:
                write_text(HEADER + yaml.safe_dump(lock, allow_unicode=True, width=1000), path)
            return known
    except OSError as error:
        lines = yaml.safe_dump({source_id: {name: found}}, allow_unicode=True, width=1000)
        why = f"({error.strerror or error}), and a file whose checksum is not known is not used without a record"
        ask = f"make it writable, or add to it\n{lines.rstrip()}"
        raise UserError(f"{shown(path)} cannot be written {why}: {ask}") from error


@contextmanager
def locked(folder: Path):
    """Yield while this process alone, of those that share the folder, holds its lock."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
