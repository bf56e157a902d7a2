"""Write files whole or not at all; read and write documents, named arrays and YAML mappings; and detect cut or changed
files.

The files of a job have a record next to them, with the checksum of every file and the runs that computed it. A file
without its record, or one that differs from what was written, is not read (``check_recorded``).
"""

import fcntl
import hashlib
import json
import math
import os
import re
import secrets
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from zipfile import BadZipFile

from random_features.errors import UserError, suggestion

#: The prefix of the name of a half-written file.
PARTIAL = ".partial-"

#: Largest depth and number of values of a YAML file, with aliases counted at every place: a hundred times what any file
#: of the study has.
MOST_LEVELS, MOST_VALUES = 100, 1_000_000

#: Advice for a file that is not what was written.
REMEDY = "remove it and run the same command again (or restore it, where it is under version control)"


class ConfigurationError(UserError):
    """The configuration asks for something that does not exist or makes no sense."""


# --- writing ----------------------------------------------------------------------------------------------------------


def write_atomically(path, writer, sync: bool = True) -> None:
    """Call ``writer`` with a temporary path next to ``path``, and rename the file afterwards.

    The temporary name ends in the target's name, so that a writer that chooses a format or a compression by suffix
    chooses the right one; a killed process leaves the old file as it was. The content is on the disk before the file
    has its name, unless ``sync`` is False: then a reader has to distinguish a whole file from an empty one.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    sweep(path.parent)
    handle, temporary = locked_file(path)
    try:
        with naming(path):
            writer(temporary)
            if sync:
                force_onto_disk(temporary)
            os.replace(temporary, path)
            if sync:
                force_onto_disk(path.parent)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    finally:
        os.close(handle)


@contextmanager
def naming(path):
    """Name the file in the error of a full disk, which does not."""
    try:
        yield
    except OSError as error:
        if error.errno and error.filename is None:
            error.filename = str(path)
        raise


def locked_file(path: Path) -> tuple[int, str]:
    """Return the handle and the path of a new file next to ``path``, locked as long as this process has it open."""
    while True:
        temporary = str(path.with_name(f"{PARTIAL}{secrets.token_hex(4)}-{path.name}"))
        handle = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        with suppress(OSError):  # some file systems have no locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        # another process may sweep the folder just before the file is locked
        if os.fstat(handle).st_nlink:
            return handle, temporary
        os.close(handle)


def force_onto_disk(path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError:
        if not os.path.isdir(path):  # some file systems do not support this for folders
            raise
    finally:
        os.close(handle)


@cache
def sweep(folder: Path) -> None:
    """Remove half-written files of ended processes from a folder. Every process does this once.

    A running process has its file locked, on any machine or in any container.
    """
    with os.scandir(folder) as entries:
        found = [entry.path for entry in entries if entry.name.startswith(PARTIAL)]
    for path in found:
        # it may be locked, another process may be quicker, or we may not remove it
        with suppress(OSError), open(path, "r+b") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(path)


def write_text(text: str, path, *, only_if_changed: bool = False, sync: bool = True) -> None:
    """Write a text atomically. With ``only_if_changed``, a file that already holds it keeps its time."""
    if only_if_changed and Path(path).is_file() and Path(path).read_text(encoding="utf-8") == text:
        return
    write_atomically(path, lambda temporary: Path(temporary).write_text(text, encoding="utf-8"), sync)


def write_json(record, path) -> None:
    """Write a JSON document atomically, keys in the order given."""
    write_text(json.dumps(record, indent=2) + "\n", path)


def save_array(array, path) -> None:
    """Write an array as ``.npy``, by Python: on a full disk NumPy may cut the file without an error."""
    import numpy as np

    with open(path, "wb") as file:
        np.lib.format.write_array(SimpleNamespace(write=file.write), array, allow_pickle=False)


def write_arrays(arrays: dict, path) -> None:
    """Write named arrays as one ``.npz``, atomically and without pickle."""
    import numpy as np  # of this module only arrays need it, and the command line starts without

    write_atomically(path, lambda temporary: np.savez(temporary, **arrays))


# --- reading ----------------------------------------------------------------------------------------------------------


def read_json(path):
    """Return the document in a JSON file. Raise ``ValueError`` if it is not JSON, and ``FileNotFoundError`` if it is
    missing.
    """
    return json.loads(Path(path).read_text(encoding="utf-8"))


def read_choices(path) -> dict:
    """Return the choices by data set that ``tune`` wrote. Raise ``UserError`` if the file was cut or changed."""
    check_recorded(path)
    return read_json(path)


def read_arrays(path) -> dict:
    """Return the named arrays of an ``.npz``. Raise ``UserError`` if it has no record, differs from what was written,
    or holds anything else, such as objects.
    """
    import numpy as np

    check_recorded(path)
    try:
        with np.load(path, allow_pickle=False) as stored:
            return dict(stored)
    except (ValueError, TypeError, EOFError, BadZipFile) as error:
        raise UserError(f"{path} is no file of named arrays ({type(error).__name__}: {error}); {REMEDY}") from error


# --- records of whole files -------------------------------------------------------------------------------------------


def record_file(path) -> Path:
    """Return the provenance file next to a file of rows, of arrays or of choices."""
    return _next_to(path, "provenance.json")


def arrays_file(path) -> Path:
    """Return the file of the arrays that belong to a file of rows, "a.b.npz" for "a.b.csv"."""
    return _next_to(path, "npz")


def _next_to(path, ending: str) -> Path:
    path = Path(path)
    stem = re.sub(r"\.(csv(\.xz)?|npz|json)$", "", path.name)
    return path.with_name(f"{stem}.{ending}")


def digest_of(path) -> str:
    """Return the SHA-256 of a file, as hexadecimal digits."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def check_recorded(path) -> None:
    """Raise ``UserError`` if a file is missing, has no record next to it, or is not the one that the record was written
    for.
    """
    path, record = Path(path), record_file(path)
    if not path.exists():
        raise UserError(f"there is no file {path}")
    expected, found = read_record_file(record)["sha256"].get(path.name, "none"), digest_of(path)
    if found != expected:
        raise UserError(
            f"{path} is not the file that {record.name} was written for (sha256 {expected[:12]}..., found "
            f"{found[:12]}...): it was cut or changed; {REMEDY}"
        )


def write_record(digests: dict[str, str], runs: dict[str, dict], path) -> None:
    """Write the record of a file: the checksums of this and other files by name, and the records of their runs."""
    write_json({"sha256": digests, "runs": [runs[run] for run in sorted(runs)]}, record_file(path))


def read_record_file(path) -> dict:
    """Return a provenance file: ``sha256`` (of the files that it is about, by name) and ``runs``, the records of runs.

    Raise ``UserError`` if it is not a provenance file.
    """
    try:
        record = read_json(path)
        complete = {"sha256": dict(record["sha256"]), "runs": record["runs"]}
        if all(isinstance(run["run"], str) for run in complete["runs"]):
            return complete
        raise ValueError("the name of a run is no text")
    except FileNotFoundError as error:
        remedy = REMEDY.replace("remove it", "remove these", 1)
        raise UserError(f"{path} is missing: it says where the rows next to it are from; {remedy}") from error
    except (ValueError, TypeError, KeyError) as error:
        raise UserError(f"{path} is no record of runs ({type(error).__name__}: {error}); {REMEDY}") from error


# --- YAML -------------------------------------------------------------------------------------------------------------


def read_yaml(path) -> dict:
    """Return the mapping in a YAML file; an empty file is an empty mapping.

    Raise ``UserError``, with file and line, for a syntax error and for a key that appears twice in a mapping (the
    second value would silently replace the first). Raise it also for content that JSON, the format of work files,
    cannot keep: keys that are not texts, dates and sets, a mapping inside itself.
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
    except (yaml.YAMLError, ValueError, KeyError, RecursionError) as error:
        raise UserError(f"{shown(path)}: {' '.join(str(error).split())}") from error
    if content is None:
        return {}
    check_extent(content, path)
    if not isinstance(content, dict):
        raise UserError(f"{shown(path)}: must be a mapping from keys to values, not a {type(content).__name__}")
    return content


def yaml_files(folder) -> list[Path]:
    """Return the YAML files of a folder, sorted. Raise ``UserError`` for a file with another suffix, which would be
    ignored.
    """
    found = sorted(path for path in Path(folder).glob("*.*") if path.suffix.lower() in (".yaml", ".yml"))
    for path in found:
        if path.suffix != ".yaml":
            raise UserError(f"{shown(path)}: would not be read: call it {path.stem}.yaml")
    return found


def extended(raw: dict[str, dict], what: str, lay, where=lambda name: "") -> dict[str, dict]:
    """Return entries by name, each merged (``lay(base, own)``) into the one that it ``extends``.

    ``where(name)`` is the beginning of a message.
    """

    def resolve(name: str, trail: tuple[str, ...] = ()) -> dict:
        if not isinstance(name, str) or name not in raw:
            raise ConfigurationError(
                f"{where(trail[-1])}{trail[-1]}.extends: {what} {trail[-1]!r} extends {name!r}, which does not exist; "
                f"{suggestion(name, raw)}"
            )
        if name in trail:
            raise ConfigurationError(
                f"{where(name)}{name}.extends: {what}s extend each other in a circle: {' -> '.join((*trail, name))}"
            )
        if not isinstance(raw[name], dict):
            raise ConfigurationError(f"{where(name)}{name}: must be a mapping from keys to values, not {raw[name]!r}")
        own = dict(raw[name])
        base = own.pop("extends", None)
        return lay(resolve(base, (*trail, name)) if base else {}, own)

    return {name: resolve(name) for name in raw}


def check_extent(content, path) -> None:
    """Raise ``UserError`` if aliases make a document larger than anybody writes, or put a mapping inside itself."""
    waiting, values = [(content, 0)], 0
    while waiting:
        value, depth = waiting.pop()
        values += 1
        if depth > MOST_LEVELS or values > MOST_VALUES:
            raise UserError(
                f"{shown(path)}: more than {MOST_LEVELS} levels or {MOST_VALUES:,} values: does an alias stand inside "
                "what it names?"
            )
        if isinstance(value, dict | list):
            waiting += [(inner, depth + 1) for inner in (value.values() if isinstance(value, dict) else value)]


@cache
def checking_loader():
    """Return the safe loader that refuses a key that appears twice, in C if that was built."""
    import yaml

    class CheckingLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        """A loader for YAML in which a key that appears twice is an error, and so is content that JSON does not
        have.
        """

        def stop(self, problem, node):
            """Raise an error with the line of a node."""
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)

        def construct_mapping(self, node, deep=False):
            own = [key for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"]
            if len(node.value) > len(own) + 1:
                self.stop("<< is given twice: name a list of what is merged", node)
            lines: dict[str, int] = {}
            for key in own:
                name = self.construct_object(key, deep=True)
                if not isinstance(name, str):
                    self.stop(f"the key {key.value} is no text: put it in quotes", key)
                if name in lines:
                    self.stop(f"the key {name!r} is given twice, first in line {lines[name]}", key)
                lines[name] = key.start_mark.line + 1
            return super().construct_mapping(node, deep)

        def refuse(self, node):
            """Refuse a tag that would create a Python object."""
            self.stop(f"a value of the type {node.tag.rpartition(':')[2]}: put it in quotes, or write a list", node)

        def finite(self, node):
            """Refuse .nan and .inf, which pass every bound."""
            number = self.construct_yaml_float(node)
            return number if math.isfinite(number) else self.stop(f"{node.value} is no finite number", node)

        def decimal(self, node):
            """Return a number as a reader understands it: 010 is 8 in YAML, and 1:30 is 90."""
            if re.fullmatch(r"[-+]?(0|[1-9]\d*)", node.value):
                return int(node.value)
            self.stop(f"the number {node.value} is not plain decimal: YAML would take it for another", node)

    CheckingLoader.add_constructor("tag:yaml.org,2002:int", CheckingLoader.decimal)
    CheckingLoader.add_constructor("tag:yaml.org,2002:float", CheckingLoader.finite)
    for tag in ("timestamp", "binary", "set", "omap", "pairs"):
        CheckingLoader.add_constructor(f"tag:yaml.org,2002:{tag}", CheckingLoader.refuse)
    return CheckingLoader


def shown(path) -> str:
    """Return a path for messages: relative to the working directory if it lies below that."""
    path = Path(path).absolute()
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
