"""Get the files of a source and check their content.

A local file (``path``) is read in place. Any other file is taken from its folder (where a user or an earlier run has
put it), from a local mirror, or from its addresses in the order of ``sources.yaml``. It may be packed (see
``archives``); the content is written. A broken or stalled transfer starts again, a few times. If an address fails, the
next one is tried.

A file with an unknown checksum is trusted when it is first used: its content is recorded in the lock of the sources
(``lock``), the log says so, and from then on it is the expected content.
"""

import logging
import os
import time
from pathlib import Path

import requests

from random_features.alarm import alarm
from random_features.errors import UserError
from rfstudy.data import lock
from rfstudy.data.archives import CHUNK_BYTES, ChecksumError, archive_names, unpack
from rfstudy.data.tasks import RECORD, UNKNOWN
from rfstudy.files import digest_of, shown, write_atomically, write_json

log = logging.getLogger(__name__)

#: Seconds before the second and the third attempt at one address.
WAITS = (1.0, 4.0)

#: Seconds without a byte after which an attempt has failed.
TIMEOUT = 30

#: Seconds without a whole chunk after which an attempt has failed, too: a server that sends a byte now and then would
#: keep a job for ever. It is about a kilobyte a second.
PATIENCE = 60.0

#: Number of bytes by which a compressed file may be longer than its content, and the same for an archive as a factor.
FRAME_BYTES, ARCHIVE_TIMES = 2**20, 20


class NotTheFile(requests.RequestException):
    """A transfer that cannot be the file: a web page that explains an error or asks to log in, or too many bytes."""


class TooSlow(Exception):
    """A transfer that makes no progress."""


class DownloadError(UserError):
    """A file that no place could provide. The message lists the attempts and says where to put the file by hand."""


def run(source_id: str, source: dict, out, *, lock_path, mirror=None, allow_missing: bool = False) -> dict:
    """Put the files of a source into a folder and write their record.

    Parameters
    ----------
    source_id : str
        Id of the source, and name of its folder in a mirror.
    source : dict
        Its entry in ``sources.yaml``.
    out : path
        The source's own folder, ``data/raw/<source>``: ``<out>/<file>`` and ``<out>/record.json``.
    lock_path : path
        The lock of the sources. It records files with an unknown checksum when they are first used.
    mirror : path, optional
        A folder ``<mirror>/<source>/<file>[.xz|.gz|.bz2|.zip]`` that is searched before any address.
    allow_missing : bool
        If a file is not available, write a record with status "missing" and the reason instead of failing.

    Returns
    -------
    dict
        The record: ``source``, ``status`` ("ok" or "missing"), ``reason``, ``files`` (name to sha256, bytes and
        where it is from; of a substitute also its name ``file`` and its ``excluded_rows``).

    Raises
    ------
    DownloadError
        A file is not available and ``allow_missing`` is false. No wrong file is left in the folder.
    UserError
        The lock is broken, or cannot be written.
    """
    directory = Path(out)
    directory.mkdir(parents=True, exist_ok=True)
    files, failures = {}, []
    for name, entry in source["files"].items():
        try:
            files[name] = verified(source_id, name, entry, directory, lock_path, mirror)
        except DownloadError as error:
            if not allow_missing:
                raise
            failures.append(str(error))
    record = {"source": source_id, "title": source["title"], "licence": source["licence"], "files": files}
    record |= {"status": "missing" if failures else "ok", "reason": "\n".join(failures)}
    write_json(record, directory / RECORD)
    return record


def verified(source_id: str, name: str, entry: dict, directory: Path, lock_path, mirror=None) -> dict:
    """Make ``directory/name``, or its substitute, and return its sha256, its bytes and its origin. A file that is used
    for the first time is recorded in the lock.
    """
    entry = lock.expected(lock_path, source_id, name, entry)
    try:
        origin = fetch(source_id, name, entry, directory, mirror)
    except DownloadError as error:
        if "substitute" not in entry:
            raise
        return substituted(source_id, name, entry["substitute"], directory, mirror, error)
    if entry["sha256"] != UNKNOWN:
        return {"sha256": entry["sha256"], "bytes": entry["bytes"], "from": origin}
    target = directory / name
    found = {"sha256": digest_of(target), "bytes": target.stat().st_size, "from": origin}
    try:
        known = lock.record(lock_path, source_id, name, found)
    except UserError:
        target.unlink()
        raise
    if known["sha256"] != found["sha256"]:  # another process has recorded another content meanwhile
        target.unlink()
        return verified(source_id, name, entry, directory, lock_path, mirror)
    why = f"its checksum was not known, and is recorded in {shown(lock_path)} (sha256 {found['sha256']})"
    log.warning("%s of %s is trusted on first use: %s; commit it", name, source_id, why)
    return found


def substituted(source_id: str, name: str, substitute: dict, directory: Path, mirror, why: DownloadError) -> dict:
    """Make ``directory/file`` of the substitute of an unavailable file. Return the result of ``verified`` with the name
    of the substitute and its rows to leave out. Raise ``why`` if a substitute is missing, too.
    """
    file, rows = substitute["file"], substitute["excluded_rows"]
    try:
        origin = fetch(substitute.get("source", source_id), file, substitute | {"addresses": []}, directory, mirror)
    except DownloadError:
        raise why from None
    log.warning("%s of %s could not be had: %s is used in its place, without %d rows", name, source_id, file, len(rows))
    return {key: substitute[key] for key in ("file", "sha256", "bytes", "excluded_rows")} | {"from": origin}


def fetch(source_id: str, name: str, entry: dict, directory: Path, mirror=None) -> str:
    """Make ``directory/name`` from the first place that has the expected content, and return that place.

    Raise ``DownloadError``, which lists every place that was tried and its problem.
    """
    target, is_local, tried = directory / name, "path" in entry, []
    if not is_local and target.exists() and digest_of(target) == entry["sha256"]:
        return "already in place"
    for path, origin in local_places(source_id, name, entry, directory, mirror):
        try:
            unpack(path, target, entry)
            return origin
        except ChecksumError as error:
            tried.append(f"{path}: {error}")
            if path.parent == directory and not is_local:  # under the hash of its content, to keep others
                aside = path.rename(path.with_name(f"{path.name}.rejected-{digest_of(path)[:8]}"))
                tried[-1] += f"; moved to {aside.name}"
            log.warning(tried[-1])
    for address in entry["addresses"]:
        try:
            from_address(address, target, entry)
            return address["url"]
        except (TooSlow, requests.RequestException, ValueError) as error:  # ValueError: a malformed header
            tried.append(f"{address['url']}: {explain(error)}")
            log.warning(tried[-1])
    if is_local:
        advice = f"  Put it at {entry['path']}, or state another path in config/sources.yaml; {wanted(entry)}"
    else:
        no_mirror = f"the mirror {mirror} has no {source_id}/{name}[.xz|.gz|.bz2|.zip]"
        tried.append(no_mirror if mirror else "no mirror is configured")
        advice = f"  Put it at {target} (or next to it as .xz, .gz, .bz2 or .zip); {wanted(entry)}\n"
        advice += "  or name a mirror (mirror: in the configuration, or RFSTUDY_MIRROR), or set allow_missing: true."
    lines = "".join(f"    {line}\n" for line in tried)
    raise DownloadError(f"the data set {source_id!r} needs the file {name!r}, which could not be had:\n{lines}{advice}")


def local_places(source_id: str, name: str, entry: dict, directory: Path, mirror) -> list[tuple[Path, str]]:
    """Return the local files that may hold the content, each with its origin for the record. This is the file that the
    entry names. For a file to download, it is the files in its folder and in the mirror.
    """
    if "path" in entry:
        own = Path(os.path.expanduser(entry["path"]))
        return [(own, f"this machine: {entry['path']}")] if own.is_file() else []
    folders = {directory: "put in place by hand: "}
    if mirror:
        folders[Path(os.path.expanduser(mirror)) / source_id] = f"mirror: {source_id}/"
    candidates = [(folder / each, origin + each) for folder, origin in folders.items() for each in archive_names(name)]
    return [(path, origin) for path, origin in candidates if path.is_file()]


def wanted(entry: dict) -> str:
    """Return the expected content of a file, in words."""
    if entry["sha256"] == UNKNOWN:
        return "its checksum is not known, and will be recorded"
    content = f"its content must have\n    sha256 {entry['sha256']} ({entry['bytes']} bytes)"
    if "lock" not in entry:
        return content
    ask = "if the file was changed and you accept that, remove its lines there"
    return f"{content},\n    as {shown(entry['lock'])} recorded when it was first used; {ask}"


def from_address(address: dict, target: Path, entry: dict) -> None:
    """Download from one address and place the content.

    Raise ``ChecksumError`` or ``requests.RequestException``; nothing is left then.
    """
    part = target.with_name(f".{target.name}.part")
    length = entry["most_bytes"] if entry["sha256"] == UNKNOWN else entry["bytes"]
    most = length * (ARCHIVE_TIMES if "member" in address else 1) + FRAME_BYTES
    try:
        write_atomically(part, lambda temporary: transfer(address["url"], temporary, most), sync=False)
        unpack(part, target, entry, address.get("member"))
    finally:
        part.unlink(missing_ok=True)


def transfer(url: str, path, most: int) -> None:
    """Write what a URL has to a file. A temporary failure is retried after a while."""
    for wait in (*WAITS, None):
        try:
            return request(url, path, most)
        except (TooSlow, requests.RequestException) as error:
            status = getattr(getattr(error, "response", None), "status_code", None)
            refused = status is not None and status < 500 and status not in (408, 429)
            if refused or isinstance(error, NotTheFile) or wait is None:
                raise
            log.info("%s: %s; trying again in %g s", url, explain(error), wait)
            time.sleep(wait)


def request(url: str, path, most: int) -> None:
    """Ask a server once, and write the bytes that it sends, at most ``most``, to a file.

    Raise ``NotTheFile``, ``TooSlow``, or ``requests.RequestException`` for a failed transfer.
    """
    slow, headers = TooSlow(f"less than {CHUNK_BYTES} bytes in {PATIENCE:g} s"), {"Accept-Encoding": "identity"}
    with alarm(PATIENCE, slow) as renew, requests.get(url, headers=headers, stream=True, timeout=TIMEOUT) as response:
        response.raise_for_status()
        if response.headers.get("Content-Type", "").startswith("text/html"):
            raise NotTheFile("the server sends a web page in place of the file")
        with open(path, "wb") as file:
            for chunk in response.iter_content(CHUNK_BYTES):
                renew()
                if file.tell() + len(chunk) > most:
                    raise NotTheFile(f"the transfer goes on after {most} bytes, more than the file can have")
                file.write(chunk)


def explain(error: Exception) -> str:
    """Return a short message for an error; requests says too much about a failed connection."""
    if isinstance(error, requests.ConnectionError):
        return f"no connection ({str(error).rpartition(': ')[2]})"
    return str(error)
