"""A source of one file as ``sources.yaml`` has it, the content of the file, and what may carry that."""

import hashlib
import io
import tarfile
import zipfile

import numpy as np

from rfstudy.data import download as stage

CONTENT = np.random.default_rng(0).bytes(3 * stage.CHUNK_BYTES) + b"the end\n"
#: Where a transfer breaks off: what is not yet a whole chunk is lost.
CUT = 2 * stage.CHUNK_BYTES
DIGEST = hashlib.sha256(CONTENT).hexdigest()
WRONG = b"not what was asked for"


def archive_of(members):
    """A zip archive of members by name."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def zipped(name, content):
    """A zip archive of a file and of one that nobody asked for."""
    return archive_of({"readme.txt": "other", name: content})


def encrypted(name):
    """An archive whose member asks for a password."""
    content = bytearray(zipped(name, CONTENT))
    for at, offset in ((content.rfind(b"PK\x03\x04"), 6), (content.rfind(b"PK\x01\x02"), 8)):
        content[at + offset] |= 1
    return bytes(content)


def tarred(name, content):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for each, body in (("other/toy.names", b"other"), (name, content)):
            member = tarfile.TarInfo(each)
            member.size = len(body)
            archive.addfile(member, io.BytesIO(body))
    return buffer.getvalue()


def source_with(*addresses):
    addresses = [address if isinstance(address, dict) else {"url": address} for address in addresses]
    return {
        "title": "Toy",
        "licence": "none",
        "files": {"toy.data": {"sha256": DIGEST, "bytes": len(CONTENT), "addresses": addresses}},
    }


def download(source_id, source, directory, **more):
    """The stage with a lock next to the folder."""
    return stage.run(source_id, source, directory, lock_path=directory.parent / "sources.lock.yaml", **more)


def names_in(directory):
    return sorted(path.name for path in directory.iterdir())
