"""Files that are there whole or not at all, and how JSON documents, named arrays and YAML mappings are kept in them."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from functools import cache
from pathlib import Path

from rfstudy.errors import UserError


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
        os.chmod(temporary, 0o666 & ~umask())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def umask() -> int:
    """The permissions that whoever runs this takes from new files; a temporary file has none but the owner's."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def file_digest(path) -> str:
    """SHA-256 of a file."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


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


def read_yaml(path) -> dict:
    """The mapping in a YAML file; an empty file is an empty one.

    ``UserError`` names file and line of a syntax error, and of a key that stands twice in a mapping: of the two values
    the second would silently replace the first.
    """
    import yaml  # the command line starts without

    try:
        content = yaml.load(Path(path).read_text(encoding="utf-8"), Loader=checking_loader())
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{shown(path)}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f"line {mark.line + 1}: " if mark else ""
        raise UserError(f"{shown(path)}: {line}{error.problem or error.context}") from error
    except yaml.YAMLError as error:
        raise UserError(f"{shown(path)}: {' '.join(str(error).split())}") from error
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise UserError(f"{shown(path)}: must be a mapping from keys to values, not a {type(content).__name__}")
    return content


@cache
def checking_loader():
    """The safe loader, in C where it was built, that refuses a key that stands twice."""
    import yaml

    class CheckingLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        """YAML in which a key that stands twice is an error."""

        def construct_mapping(self, node, deep=False):
            own = [key for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"]
            keys = [self.construct_object(key, deep=True) for key in own]
            for position, key in enumerate(keys):
                if key in keys[:position]:
                    problem = (
                        f"the key {key!r} is given twice, first in line {own[keys.index(key)].start_mark.line + 1}"
                    )
                    raise yaml.constructor.ConstructorError(None, None, problem, own[position].start_mark)
            return super().construct_mapping(node, deep)

    return CheckingLoader


def shown(path) -> str:
    """A path as messages have it: from the working directory where it lies below that."""
    path = Path(path).absolute()
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
