"""Get the files of a source and check their content, whatever carries it.

A file of this machine (``path``) is read there. Any other is looked for in its folder first (put there by hand or by an
earlier run), then in a local mirror, then at its addresses in the order of ``sources.yaml``. The checksum is that of
the content: a plain file, .gz, .bz2, .xz or .zip may carry it, also one inside the other, and what is written is always
the content. pooch does the transfers; what is added here is that a broken one goes on where it stopped, that one which
does not come forward is left, and that a later address is tried when an earlier one fails.

A file whose checksum nobody has held yet is trusted when it is first used: what arrived is recorded in the lock of the
sources (``lock``), the log says so, and from then on it is the expected content.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import itertools
import logging
import lzma
import os
import tarfile
import threading
import time
import zipfile
import zlib
from pathlib import Path

import pooch
import requests
from tqdm import tqdm

from random_features.errors import UserError
from rfstudy.data import lock
from rfstudy.data.raw import CARRIERS, RECORD
from rfstudy.data.tasks import UNKNOWN
from rfstudy.files import digest_of, shown, write_atomically, write_json

log = logging.getLogger(__name__)

#: Seconds before the second and the third attempt at one address.
WAITS = (1.0, 4.0)

#: Seconds without a byte after which an attempt has failed.
TIMEOUT = 30

#: Seconds without a whole chunk after which an attempt has failed, too: a server that sends a byte now and then would
#: keep a job for ever. It is about a kilobyte a second.
PATIENCE = 60

#: A .tar.gz inside a .zip is met (UCI); more layers than this, the content among them, are none of a data set.
MAX_LAYERS = 4

#: Where a tar archive says that it is one.
TAR_MAGIC = slice(257, 262)

#: Names of an archive that a message lists at most.
MAX_NAMES = 10

#: What is read and written at once; a transfer that breaks off loses less than this.
CHUNK_BYTES = 2**16

#: What may be longer than its content: a carrier by its own frame, an archive by its other members.
FRAME_BYTES, ARCHIVE_TIMES = 2**20, 20

#: What is raised for a file that cannot be read; for an encrypted member of an archive a RuntimeError, for one in a
#: compression that is not known a NotImplementedError, which is one, too.
UNREADABLE = (
    *(EOFError, OSError, RuntimeError, ValueError),
    *(lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile, zlib.error),
)


class TooLong(Exception):
    """A transfer that goes on beyond what the file can be."""


class NotTheFile(requests.RequestException):
    """A web page in place of the file: the server explains an error, or asks to log in."""


class TooSlow(requests.RequestException):
    """A transfer that does not come forward."""


class DownloadError(UserError):
    """A file that could not be had from anywhere; the message says what was tried and where to put it by hand."""


class ChecksumError(UserError):
    """Content that is not the expected one; the message holds the expected and the actual SHA-256."""


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
    told = {key: substitute[key] for key in ("file", "sha256", "bytes", "excluded_rows")}
    return told | {"from": origin}


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
    for path in carriers(directory, name):
        try:
            place_content(path, target, entry)
            return f"put in place by hand: {path.name}"
        except ChecksumError as error:
            rejected = path.rename(set_aside(path))
            tried.append(f"{path}: {error}; moved to {rejected.name}")
            log.warning(tried[-1])
    for path in carriers(Path(os.path.expanduser(mirror)) / source_id, name) if mirror else ():
        try:
            place_content(path, target, entry)
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
        place_content(path, target, entry)
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


def carriers(folder: Path, name: str) -> list[Path]:
    """The files in a folder that may carry the content of ``name``."""
    return [path for ending in CARRIERS if (path := folder / f"{name}{ending}").is_file()]


def place_content(carrier: Path, target: Path, entry: dict, member: str | list[str] | None = None) -> None:
    """Write the content that a file carries to ``target``, if it is the one of the entry (``sha256``, ``bytes``).

    ``member`` is the name inside an archive, by default that of the target, or a list of the names in archives that lie
    in each other. Raises ``ChecksumError`` and writes nothing if no layer of the file has the checksum. No more is
    unpacked than the content is long. Where the checksum is not known, the content is the innermost layer.
    """
    sha256 = entry["sha256"]
    if sha256 == UNKNOWN:
        return write_atomically(target, lambda temporary: unwrap_all(carrier, temporary, target.name, entry, member))
    names = Names(member or target.name)

    def unwrap(temporary):
        digests = []
        with carrier.open("rb") as stream:
            layer = stream
            for _ in range(MAX_LAYERS):
                try:
                    digests.append(
                        copy(layer, temporary, entry["bytes"]) or f"that of more than {entry['bytes']} bytes"
                    )
                    if digests[-1] == sha256:
                        return
                    layer = open_layer(layer, names)
                except UNREADABLE as error:
                    if getattr(error, "errno", None):
                        raise  # the disk, not the file
                    raise ChecksumError(f"expected sha256 {sha256}, but the file is broken: {error}") from error
                if layer is None:
                    break
        raise ChecksumError(f"expected sha256 {sha256}, actual {digests[-1]}")

    return write_atomically(target, unwrap)


def unwrap_all(carrier: Path, temporary, name: str, entry: dict, member: str | list[str] | None) -> None:
    """Write the innermost layer of a file; ``ChecksumError`` where it cannot be what was asked for."""
    names = Names(member or name)
    with carrier.open("rb") as stream:
        try:
            layer = stream
            for _ in range(MAX_LAYERS):
                inner = open_layer(layer, names)
                if inner is None:
                    break
                layer = inner
            if member and not names.opened:  # as where a page that explains an error comes in place of the file
                raise ChecksumError(f"expected an archive with {names}, got something else")
            layer.seek(0)
            whole = copy(layer, temporary, entry["most_bytes"])
        except UNREADABLE as error:
            if isinstance(error, ChecksumError) or getattr(error, "errno", None):
                raise
            raise ChecksumError(f"expected {names}, but the file is broken: {error}") from error
    if not whole or not Path(temporary).stat().st_size:
        raise ChecksumError(f"expected content of at least one and at most {entry['most_bytes']} bytes, got another")


class Names:
    """The names of the members to open in archives, from the outermost to the innermost; the last one goes on."""

    def __init__(self, names: str | list[str]):
        self._names = [names] if isinstance(names, str) else list(names)
        self.opened = False

    def __str__(self):
        return " / ".join(self._names)

    def choose(self, members: list[str]) -> str:
        """The member of the next archive: the name itself, perhaps with an ending, in any folder.

        ``ChecksumError`` lists the members if there is none, or more than one.
        """
        name = self._names.pop(0) if len(self._names) > 1 else self._names[0]
        found = [member for member in members if member == name] or [
            member for member in members if member.rpartition("/")[2] in endings(name)
        ]
        if not found:
            raise ChecksumError(f"the archive has no {name!r}; it has {', '.join(members[:MAX_NAMES])}")
        if len(set(found)) > 1:
            raise ChecksumError(f"the archive has {', '.join(found[:MAX_NAMES])}: its address has to name one (member)")
        self.opened = True
        return found[0]


def endings(name: str) -> set[str]:
    """The names that a file may have with what carries it."""
    return {name + ending for ending in CARRIERS}


def copy(stream, path, most: int) -> str:
    """Write a stream to a file and return the SHA-256 of what was written; an empty text where there is more than
    ``most`` bytes of it, of which no more is read.
    """
    digest, length = hashlib.sha256(), 0
    with open(path, "wb") as sink:
        while chunk := stream.read(CHUNK_BYTES):
            length += len(chunk)
            if length > most:
                return ""
            digest.update(chunk)
            sink.write(chunk)
    return digest.hexdigest()


def open_layer(stream, names: Names):
    """What a compressed file or an archive carries, as a stream; None for a file that is neither.

    The format is told by the first bytes, not by the file's name. Of an archive it is the member of its turn.
    """
    stream.seek(0)
    head = stream.read(TAR_MAGIC.stop)
    stream.seek(0)
    if head.startswith(b"\x1f\x8b"):
        # told, for it asks its stream, which says it in another way where that is a GzipFile itself
        return gzip.GzipFile(fileobj=stream, mode="rb")
    if head.startswith(b"BZh"):
        return bz2.BZ2File(stream)
    if head.startswith(b"\xfd7zXZ\x00"):
        return lzma.LZMAFile(stream)
    if head.startswith(b"PK\x03\x04"):
        archive = zipfile.ZipFile(stream)
        return archive.open(names.choose(archive.namelist()))
    if head[TAR_MAGIC] == b"ustar":
        archive = tarfile.TarFile(fileobj=stream)
        member = names.choose([member.name for member in archive if member.isfile() or member.issym()])
        try:
            return archive.extractfile(member)
        except KeyError as error:
            raise ChecksumError(
                f"{member!r} of the archive is a link to a file that the archive does not have"
            ) from error
    return None


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
            return place_content(part, target, entry, address.get("member"))
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
