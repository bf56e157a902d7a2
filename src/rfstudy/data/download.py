"""Get the files of a source and check their content.

A file of this machine (``path``) is read there. Any other file is taken from its folder (where a user or an earlier run
has put it), from a local mirror, or from its addresses in the order of ``sources.yaml``. It may be packed (see
``archives``); what is written is the content. pooch does the transfers. This module adds that a broken transfer goes
on where it stopped, that a stalled one is given up, and that the next address is tried when one fails.

A file with an unknown checksum is trusted when it is first used: its content is recorded in the lock of the sources
(``lock``), the log says so, and from then on it is the expected content.
"""

from __future__ import annotations

import hashlib
import itertools
import logging
import os
import threading
import time
from pathlib import Path

import pooch
import requests
from tqdm import tqdm

from random_features.errors import UserError
from rfstudy.data import lock
from rfstudy.data.archives import CHUNK_BYTES, ChecksumError, archive_names, unpack
from rfstudy.data.raw import RECORD
from rfstudy.data.tasks import UNKNOWN
from rfstudy.files import digest_of, shown, write_json

log = logging.getLogger(__name__)

#: Seconds before the second and the third attempt at one address.
WAITS = (1.0, 4.0)

#: Seconds without a byte after which an attempt has failed.
TIMEOUT = 30

#: Seconds without a whole chunk after which an attempt has failed, too: a server that sends a byte now and then would
#: keep a job for ever. It is about a kilobyte a second.
PATIENCE = 60

#: A compressed file may be longer than its content by so many bytes, an archive so many times as long.
FRAME_BYTES, ARCHIVE_TIMES = 2**20, 20


class TooLong(Exception):
    """A transfer that goes on beyond what the file can be."""


class NotTheFile(requests.RequestException):
    """A web page in place of the file: the server explains an error, or asks to log in."""


class TooSlow(requests.RequestException):
    """A transfer that does not come forward."""


class DownloadError(UserError):
    """A file that could not be had from anywhere; the message says what was tried and where to put it by hand."""


def download(source_id: str, source: dict, directory, *, lock_path, mirror=None, allow_missing: bool = False) -> dict:
    """Put the files of a source into a folder and write their record.

    Parameters
    ----------
    source_id : str
        Id of the source, and name of its folder in a mirror.
    source : dict
        Its entry in ``sources.yaml``.
    directory : path
        The source's own folder, ``data/raw/<source>``: ``<directory>/<file>`` and ``<directory>/record.json``.
    lock_path : path
        The lock of the sources, which files with an unknown checksum are recorded in when they are first used.
    mirror : path, optional
        A folder ``<mirror>/<source>/<file>[.xz|.gz|.bz2|.zip]`` that is looked into before any address.
    allow_missing : bool
        Where a file cannot be had, write a record with status "missing" and the reason instead of failing.

    Returns
    -------
    dict
        The record: ``source``, ``status`` ("ok" or "missing"), ``reason``, ``files`` (name to sha256, bytes and
        where it is from; of a substitute also its name ``file`` and its ``excluded_rows``).

    Raises
    ------
    DownloadError
        A file cannot be had and ``allow_missing`` is false. Nothing wrong is left in the folder.
    UserError
        The lock is broken, or cannot be written.
    """
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    files, failures = {}, []
    for name, entry in source["files"].items():
        try:
            files[name] = verified(source_id, name, entry, directory, lock_path, mirror)
        except DownloadError as error:
            if not allow_missing:
                raise
            failures.append(str(error))
    record = {
        "source": source_id,
        "title": source["title"],
        "licence": source["licence"],
        "status": "missing" if failures else "ok",
        "reason": "\n".join(failures),
        "files": files,
    }
    write_json(record, directory / RECORD)
    return record


def verified(source_id: str, name: str, entry: dict, directory: Path, lock_path, mirror=None) -> dict:
    """Make ``directory/name``, or its substitute, and return its sha256, its bytes and where it is from; what is used
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
    log.warning(
        "%s of %s is trusted on first use: its checksum was not known, and is recorded in %s (sha256 %s); commit it",
        *(name, source_id, shown(lock_path), found["sha256"]),
    )
    return found


def substituted(source_id: str, name: str, substitute: dict, directory: Path, mirror, why: DownloadError) -> dict:
    """Make ``directory/file`` of the substitute of a file that could not be had, and return what ``verified`` does with
    the name of that file and its rows that are to be left out. Raises ``why`` where there is no substitute either.
    """
    file, rows = substitute["file"], substitute["excluded_rows"]
    try:
        origin = fetch(source_id, file, substitute | {"addresses": []}, directory, mirror)
    except DownloadError:
        raise why from None
    log.warning("%s of %s could not be had: %s is used in its place, without %d rows", name, source_id, file, len(rows))
    kept = {key: substitute[key] for key in ("file", "sha256", "bytes", "excluded_rows")}
    return kept | {"from": origin}


def fetch(source_id: str, name: str, entry: dict, directory: Path, mirror=None) -> str:
    """Make ``directory/name`` from the first place that has the expected content; returns where that was.

    Raises ``DownloadError`` that lists every place that was tried and what was wrong with it.
    """
    target = directory / name
    if "path" in entry:
        return from_path(source_id, name, entry, target)
    if target.exists() and digest_of(target) == entry["sha256"]:
        return "already in place"
    tried = []
    for path in archives_of(directory, name):
        try:
            unpack(path, target, entry)
            return f"put in place by hand: {path.name}"
        except ChecksumError as error:
            rejected = path.rename(set_aside(path))
            tried.append(f"{path}: {error}; moved to {rejected.name}")
            log.warning(tried[-1])
    for path in archives_of(Path(os.path.expanduser(mirror)) / source_id, name) if mirror else ():
        try:
            unpack(path, target, entry)
            return f"mirror: {source_id}/{path.name}"
        except ChecksumError as error:
            tried.append(f"{path}: {error}")
            log.warning(tried[-1])
    for address in entry["addresses"]:
        try:
            from_address(address, target, entry)
            return address["url"]
        except (TooLong, requests.RequestException, ValueError) as error:  # a header or an address that makes no sense
            tried.append(f"{address['url']}: {explain(error)}")
            log.warning(tried[-1])
    where = f"the mirror {mirror} has no {source_id}/{name}[.xz|.gz|.bz2|.zip]" if mirror else "no mirror is configured"
    raise DownloadError(
        f"the data set {source_id!r} needs the file {name!r}, which could not be had:\n"
        + "".join(f"    {line}\n" for line in tried)
        + f"    {where}\n"
        + f"  Put it at {target} (or beside it as .xz, .gz, .bz2 or .zip); {wanted(entry)}\n"
        + "  or name a mirror (mirror: in the configuration, or RFSTUDY_MIRROR), or set allow_missing: true."
    )


def from_path(source_id: str, name: str, entry: dict, target: Path) -> str:
    """Copy the content of a file of this machine to ``target``; returns where it was.

    Raises ``DownloadError`` where there is no such file, or it is not the one that was recorded when it was first used.
    """
    path = Path(os.path.expanduser(entry["path"]))
    if not path.is_file():
        raise DownloadError(
            f"the data set {source_id!r} needs the file {name!r}, and there is none at {path}: put it there, or state "
            "another path in config/sources.yaml"
        )
    try:
        unpack(path, target, entry)
    except ChecksumError as error:
        raise DownloadError(
            f"the file {name!r} of the data set {source_id!r}, {path}: {error}; {wanted(entry)}"
        ) from None
    return f"this machine: {entry['path']}"


def wanted(entry: dict) -> str:
    """What the content of a file must be, in words."""
    if entry["sha256"] == UNKNOWN:
        return "its checksum is not known, and will be recorded"
    content = f"its content must have\n    sha256 {entry['sha256']} ({entry['bytes']} bytes)"
    if "lock" not in entry:
        return content
    return (
        f"{content},\n    as {shown(entry['lock'])} recorded when it was first used; if the file was changed and you "
        "accept that, remove its lines there"
    )


def set_aside(path: Path) -> Path:
    """A name for a file that was rejected, beside it, that no other has yet."""
    names = itertools.chain([f"{path.name}.rejected"], (f"{path.name}.rejected-{i}" for i in itertools.count(2)))
    return next(other for name in names if not (other := path.with_name(name)).exists())


def archives_of(folder: Path, name: str) -> list[Path]:
    """The files in a folder that may hold the content of ``name``."""
    return [path for each in archive_names(name) if (path := folder / each).is_file()]


def from_address(address: dict, target: Path, entry: dict) -> None:
    """Download from one address and place the content; what has arrived stays for a later run until it is complete.

    A file whose checksum is not known is always fetched whole: nothing could show that its parts are of one version.

    Raises ``ChecksumError`` (nothing is left then) or ``requests.RequestException``.
    """
    url = address["url"]
    name = hashlib.sha256(url.encode()).hexdigest()[:8]
    part = target.with_name(f".{target.name}.{name}.part")
    length = entry["most_bytes"] if entry["sha256"] == UNKNOWN else entry["bytes"]
    most = length * (ARCHIVE_TIMES if "member" in address else 1) + FRAME_BYTES
    resumable = entry["sha256"] != UNKNOWN
    if not resumable:
        part.unlink(missing_ok=True)
    # what an earlier run left may be of another version of the file: then all of it is fetched once more
    for last in (False, True) if part.exists() else (True,):
        try:
            request_with_patience(url, part, length, most, resumable=resumable)
        except TooLong:
            part.unlink()
            raise
        try:
            return unpack(part, target, entry, address.get("member"))
        except ChecksumError:
            if last:
                raise
        except FileNotFoundError as error:
            raise DownloadError(f"{part} is gone: another process gets the same file; run again when it has") from error
        finally:
            part.unlink(missing_ok=True)


def request_with_patience(url: str, part: Path, expected_bytes: int, most: int, *, resumable: bool = True) -> None:
    """Complete ``part`` from a URL; a failure that may pass is tried again after a while, from where it stopped, or
    from the first byte if the file is not ``resumable``."""
    version: dict[str, str] = {}
    for wait in (*WAITS, None):
        try:
            return request(url, part, expected_bytes, most, version)
        except requests.RequestException as error:
            if not resumable:
                part.write_bytes(b"")
            is_empty = not part.stat().st_size
            if is_empty:
                part.unlink()
            status = getattr(error.response, "status_code", None)
            if status == requests.codes.requested_range_not_satisfiable and not is_empty:
                return None  # nothing is missing: an earlier run stopped between the last byte and the checksum
            refused = status is not None and status < 500 and status not in (408, 429)
            final = refused or isinstance(error, NotTheFile)
            if final or wait is None:
                raise
            log.info("%s: %s; trying again in %g s", url, explain(error), wait)
            time.sleep(wait)


class Limited:
    """A file that takes no more than a number of bytes (``TooLong``), and nothing any more once it was given up."""

    def __init__(self, sink, most: int):
        self._sink, self._most = sink, most
        self._lock, self._given_up, self._since = threading.Lock(), False, time.monotonic()

    def write(self, chunk: bytes) -> int:
        """Append what has arrived."""
        with self._lock:
            self._check()
            if self._sink.tell() + len(chunk) > self._most:
                raise TooLong(f"the transfer goes on after {self._most} bytes, more than the file can have")
            self._since = time.monotonic()
            return self._sink.write(chunk)

    def flush(self) -> None:
        """Hand on what was written."""
        with self._lock:
            self._check()
            self._sink.flush()

    def start_over(self) -> None:
        """Forget what was written."""
        with self._lock:
            self._check()
            self._sink.truncate(0)

    def give_up(self) -> None:
        """Take nothing any more."""
        with self._lock:
            self._given_up = True

    @property
    def idle(self) -> float:
        """Seconds since a chunk has arrived, or since the beginning."""
        return time.monotonic() - self._since

    def _check(self):
        if self._given_up:
            raise TooSlow("given up")


def within_patience(transfer, sink: Limited) -> None:
    """Call ``transfer()``, which writes into ``sink``, in a thread of its own; ``TooSlow`` where no chunk arrives for
    ``PATIENCE`` seconds. The thread is left to its server then: nothing but its next byte could end it.
    """
    raised: list[BaseException] = []

    def attempt():
        try:
            transfer()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(max(PATIENCE - sink.idle, 0.0) + 0.01)
        if thread.is_alive() and sink.idle >= PATIENCE:
            sink.give_up()
            raise TooSlow(f"less than {CHUNK_BYTES} bytes in {PATIENCE} s")
    if raised:
        raise raised[0]


def request(url: str, part: Path, expected_bytes: int, most: int, version: dict[str, str]) -> None:
    """One transfer by pooch, appended to what ``part`` holds already, up to so many bytes in all.

    ``version`` keeps the server's name of the version that the first bytes are of (``If-Range``), so that another
    version is sent whole. ``requests.RequestException`` for a web page in place of the file, and for other bytes than
    those that were asked for.
    """
    with part.open("ab") as file:
        start = file.tell()
        sink, headers = Limited(file, most), {"Accept-Encoding": "identity"}
        if start:
            headers |= {"Range": f"bytes={start}-"} | version

        def check(response, *_, **__):
            if response.status_code == requests.codes.ok:
                if response.headers.get("Content-Type", "").startswith("text/html"):
                    raise NotTheFile("the server sends a web page in place of the file")
                # all of the file: the server knows no ranges, or has another version
                sink.start_over()
                named = response.headers.get("ETag") or response.headers.get("Last-Modified")
                version.update({"If-Range": named} if named and not named.startswith("W/") else {})
            elif response.status_code == requests.codes.partial_content:
                sent = response.headers.get("Content-Range", "")
                if not sent.startswith(f"bytes {start}-"):
                    sink.start_over()
                    raise requests.RequestException(
                        f"the server sends {sent or 'unnamed bytes'}, not those from {start} on"
                    )

        # without a terminal (a job's log) tqdm stays silent; the total is corrected by pooch when the answer comes
        with tqdm(total=expected_bytes, desc=url, unit="B", unit_scale=True, disable=None) as progress:
            transfer = pooch.HTTPDownloader(
                progressbar=progress,
                chunk_size=CHUNK_BYTES,
                timeout=TIMEOUT,
                headers=headers,
                hooks={"response": check},
            )
            within_patience(lambda: transfer(url, sink, None), sink)


def explain(error: Exception) -> str:
    """What went wrong, in a few words."""
    response = getattr(error, "response", None)
    if response is not None:
        return f"HTTP status {response.status_code} {response.reason}"
    if isinstance(error, requests.Timeout):
        return "no answer in time"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return "the transfer broke off"
    if isinstance(error, requests.ConnectionError):
        reason = str(getattr(error.args[0], "reason", error) if error.args else error)
        return f"no connection ({reason.rpartition(': ')[2]})"
    return str(error)
