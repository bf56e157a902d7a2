"""Unpack the content of a file from the compressed files and archives that it may come in.

The checksum of a file is the checksum of its content. The content may come plain, as .gz, .bz2, .xz, .lzma, .zip or
.tar, and one of these may lie inside another.
"""

import bz2
import gzip
import hashlib
import lzma
import tarfile
import zipfile
import zlib
from contextlib import suppress
from pathlib import Path

from random_features.errors import UserError
from rfstudy.data.tasks import ARCHIVE_ENDINGS, UNKNOWN
from rfstudy.fields import listed
from rfstudy.files import write_atomically

#: A .tar.gz inside a .zip occurs (UCI). No data set has more layers than this, the content included.
MAX_LAYERS = 4

#: The bytes of a tar archive that hold its signature.
TAR_MAGIC = slice(257, 262)

#: The first bytes of compressed files, and the functions that open them. A GzipFile needs a mode: it would ask its
#: stream for one, and another GzipFile answers with a number.
COMPRESSED = {
    b"\x1f\x8b": lambda stream: gzip.GzipFile(fileobj=stream, mode="rb"),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
    b"]\x00\x00": lzma.LZMAFile,  # .lzma, the format before xz
}

#: The first bytes of files compressed by 7z, zstd, RAR and compress, which are not unpacked.
UNSUPPORTED = (b"7z\xbc\xaf\x27\x1c", b"\x28\xb5\x2f\xfd", b"Rar!", b"\x1f\x9d")

#: Largest number of names of an archive that a message lists.
MAX_NAMES = 10

#: Bytes that are read and written at once.
CHUNK_BYTES = 2**16

#: Errors of a file that cannot be unpacked. A RuntimeError says that a member is encrypted, a NotImplementedError, a
#: kind of it, that its compression is not known.
UNREADABLE = (
    *(EOFError, OSError, RuntimeError, ValueError),
    *(lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile, zlib.error),
)


class ChecksumError(UserError):
    """Content that is not the expected one; the message holds the expected and the actual SHA-256."""


def archive_names(name: str) -> list[str]:
    """Return the names that a file may have in a folder or in an archive: its own, and those with the ending of an
    archive.
    """
    return [name + ending for ending in ARCHIVE_ENDINGS]


def unpack(archive: Path, target: Path, entry: dict, member: str | list[str] | None = None) -> None:
    """Write the content of an archive, or of a plain file, to ``target`` if it has the checksum of the entry.

    Parameters
    ----------
    archive : path
    target : path
    entry : dict
        ``sha256`` and ``bytes`` of the content. If the checksum is unknown, the content is the innermost layer, of at
        most ``most_bytes``.
    member : str or list of str, optional
        The name inside an archive, by default the name of the target, or the names inside archives that lie in each
        other.

    Raises
    ------
    ChecksumError
        No layer has the checksum: nothing is written. No more is unpacked than the content is long.
    """
    names, expected = [*listed(member or target.name)], entry["sha256"]
    wanted = " / ".join(names)
    most = entry["most_bytes"] if expected == UNKNOWN else entry["bytes"]

    def write_content(temporary):
        with archive.open("rb") as stream:
            layer, from_archive = stream, False
            for _ in range(MAX_LAYERS):
                if (digest := copy(layer, temporary, most)) == expected:
                    return
                if (layer := open_layer(layer, names)) is None:
                    break
                from_archive |= isinstance(layer, zipfile.ZipExtFile | tarfile.ExFileObject)
        if expected != UNKNOWN:
            raise ChecksumError(f"expected sha256 {expected}, actual {digest or f'that of more than {most} bytes'}")
        if member and not from_archive:  # such as a web page that explains an error
            raise ChecksumError(f"expected an archive with {wanted}, got something else")
        if not digest or not Path(temporary).stat().st_size:
            raise ChecksumError(f"expected content of 1 to {most} bytes, got another")

    try:
        write_atomically(target, write_content)
    except UNREADABLE as error:
        if isinstance(error, ChecksumError) or getattr(error, "errno", None):
            raise  # an error with a number comes from the disk, not from the file
        what = wanted if expected == UNKNOWN else f"sha256 {expected}"
        raise ChecksumError(f"expected {what}, but the file is broken: {error}") from error


def choose(names: list[str], members: list[str]) -> str:
    """Return the member of an archive to open: the first of the names itself, or with the ending of an archive, in any
    folder. The name is removed from the list, unless it is the last, which is used again.

    Raise ``ChecksumError``, which lists the members, if there is none, or more than one.
    """
    name = names.pop(0) if len(names) > 1 else names[0]
    in_folders = [member for member in members if member.rpartition("/")[2] in archive_names(name)]
    found = [member for member in members if member == name] or in_folders
    if not found:
        raise ChecksumError(f"the archive has no {name!r}; it has {', '.join(members[:MAX_NAMES])}")
    if len(set(found)) > 1:
        raise ChecksumError(f"the archive has {', '.join(found[:MAX_NAMES])}: its address has to name one (member)")
    return found[0]


def copy(stream, path, most: int) -> str:
    """Write a stream to a file and return the SHA-256 of the written bytes. If the stream has more than ``most`` bytes,
    stop reading and return an empty text.
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


def open_layer(stream, names: list[str]):
    """Return the content of a compressed file, or the next member of an archive, as a stream; None for a plain file.

    The first bytes decide the format, not the file's name.
    """
    stream.seek(0)
    head = stream.read(TAR_MAGIC.stop)
    stream.seek(0)
    for magic, decompressed in COMPRESSED.items():
        if head.startswith(magic):
            return decompressed(stream)
    if head.startswith(b"PK\x03\x04"):
        archive = zipfile.ZipFile(stream)
        return archive.open(choose(names, archive.namelist()))
    if head[TAR_MAGIC] == b"ustar":
        archive = tarfile.TarFile(fileobj=stream)
        member = choose(names, [member.name for member in archive if member.isfile() or member.issym()])
        with suppress(KeyError):
            if content := archive.extractfile(member):
                return content
        raise ChecksumError(f"{member!r} of the archive is a link to a file that the archive does not have")
    if head.startswith(UNSUPPORTED):
        raise ChecksumError("the compression is none of gzip, bzip2, xz, lzma, zip and tar: unpack the file")
    return None
