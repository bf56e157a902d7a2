"""Files that are there whole or not at all, and how JSON documents and named arrays are kept in them."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path


def write_atomically(path, writer) -> None:
    """Call ``writer`` with a temporary path beside ``path`` and rename when it has returned.

    The temporary name ends in the target's name, so that a writer that chooses a format or a compression by
    suffix chooses the right one; a killed process leaves the old file as it was.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=".partial-", suffix="-" + path.name, dir=path.parent)
    os.close(handle)
    try:
        writer(temporary)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_json(record, path) -> None:
    """Write a JSON document atomically, keys in the order given."""
    text = json.dumps(record, indent=2) + "\n"
    write_atomically(path, lambda temporary: Path(temporary).write_text(text, encoding="utf-8"))


def read_json(path):
    """The document in a JSON file; ``ValueError`` for what is no JSON, ``FileNotFoundError`` for no file."""
    return json.loads(Path(path).read_text(encoding="utf-8"))


def write_arrays(arrays: dict, path) -> None:
    """Write named arrays as one ``.npz``, atomically and without pickle."""
    import numpy as np  # of this module only this function needs it, and the command line starts without

    def save(temporary):
        with open(temporary, "wb") as stream:
            np.savez(stream, **arrays)

    write_atomically(path, save)
