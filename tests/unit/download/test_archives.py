"""Compressed files and archives: what is unpacked, and what is taken for broken."""

import bz2
import gzip
import io
import itertools
import json
import lzma
import os
import tarfile

import pytest

from rfstudy.data import archives
from rfstudy.data.download import DownloadError

from .source import CONTENT, DIGEST, WRONG, archive_of, download, names_in, source_with, tarred, zipped


@pytest.mark.parametrize(
    ("path", "body", "member"),
    [
        ("toy.data", CONTENT, None),
        ("toy.data.gz", gzip.compress(CONTENT), None),
        ("toy.data.bz2", bz2.compress(CONTENT), None),
        ("toy.data.xz", lzma.compress(CONTENT), None),
        ("toy.zip", zipped("toy.data", CONTENT), "toy.data"),
        ("named-otherwise.zip", zipped("folder/toy.data", CONTENT), None),
        ("gz-in-a.zip", zipped("toy.data.gz", gzip.compress(CONTENT)), "toy.data.gz"),
        ("xz-without-its-ending", lzma.compress(CONTENT), None),
        ("twice.gz", gzip.compress(gzip.compress(CONTENT)), None),
        ("toy.data.lzma", lzma.compress(CONTENT, lzma.FORMAT_ALONE), None),
        ("toy.tar.gz", gzip.compress(tarred("./folder/toy.data", CONTENT)), "toy.data"),
        ("zip-in-a.zip", zipped("a b.zip", zipped("folder/toy.data", CONTENT)), ["a b.zip", "folder/toy.data"]),
        ("tar-in-a.zip", zipped("toy.tar.gz", gzip.compress(tarred("toy.data", CONTENT))), ["toy.tar.gz", "toy.data"]),
    ],
)
def test_any_archive_gives_the_content(server, tmp_path, path, body, member):
    server.content[path] = body
    address = {"url": server.url(path)} | ({"member": member} if member else {})
    record = download("toy", source_with(address), tmp_path)
    assert (tmp_path / "toy.data").read_bytes() == CONTENT
    assert names_in(tmp_path) == ["record.json", "toy.data"]
    assert record == json.loads((tmp_path / "record.json").read_text())
    assert record["status"] == "ok"
    assert record["files"] == {"toy.data": {"sha256": DIGEST, "bytes": len(CONTENT), "from": server.url(path)}}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (gzip.compress(CONTENT)[:-100], "the file is broken"),
        (b"PK\x03\x04 and no archive", "the file is broken"),
        (zipped("other.data", CONTENT), "the archive has no 'toy.data'; it has readme.txt, other.data"),
    ],
)
def test_a_broken_archive_is_a_wrong_file(server, tmp_path, body, message):
    server.content["toy"] = body
    with pytest.raises(DownloadError, match=message):
        download("toy", source_with(server.url("toy")), tmp_path)
    assert names_in(tmp_path) == []


def test_a_full_disk_is_not_taken_for_a_broken_file(tmp_path, monkeypatch):
    (tmp_path / "archive").write_bytes(CONTENT)

    def no_space(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(archives, "copy", no_space)
    with pytest.raises(OSError, match="No space left"):
        archives.unpack(tmp_path / "archive", tmp_path / "toy.data", source_with()["files"]["toy.data"])


def test_no_more_is_unpacked_than_the_content_is_long(server, tmp_path, monkeypatch):
    written = []
    copy = archives.copy

    def watched(stream, path, most):
        digest = copy(stream, path, most)
        written.append(os.path.getsize(path))
        return digest

    monkeypatch.setattr(archives, "copy", watched)
    server.content["toy"] = gzip.compress(bytes(300 * len(CONTENT)))
    with pytest.raises(DownloadError, match=f"actual that of more than {len(CONTENT)} bytes"):
        download("toy", source_with(server.url("toy")), tmp_path)
    assert len(written) >= 2
    assert max(written) <= len(CONTENT)
    # one byte too many is refused, and so is the right length with another digest
    server.content["toy"] = CONTENT + b"x"
    with pytest.raises(DownloadError, match="more than"):
        download("toy", source_with(server.url("toy")), tmp_path)


def test_of_two_members_of_one_name_the_address_says_which(server, tmp_path):
    server.content["two.zip"] = archive_of({"old/toy.data": WRONG, "new/toy.data": CONTENT})
    address = {"url": server.url("two.zip"), "member": "toy.data"}
    with pytest.raises(DownloadError, match=r"has old/toy\.data, new/toy\.data: its address has to name one"):
        download("toy", source_with(address), tmp_path)
    download("toy", source_with(address | {"member": "new/toy.data"}), tmp_path)
    assert (tmp_path / "toy.data").read_bytes() == CONTENT


def test_the_order_of_the_members_decides_nothing(server, tmp_path):
    members = {"old/toy.data": WRONG, "toy.data": CONTENT, "new/toy.data.gz": WRONG}
    for number, order in enumerate(itertools.permutations(members)):
        server.content["all.zip"] = archive_of({name: members[name] for name in order})
        address = {"url": server.url("all.zip"), "member": "toy.data"}
        download("toy", source_with(address), tmp_path / str(number))
        assert (tmp_path / str(number) / "toy.data").read_bytes() == CONTENT
        others = {name: members[name] for name in order if name != "toy.data"}
        server.content["all.zip"] = archive_of(others)
        with pytest.raises(DownloadError, match=f"the archive has {', '.join(others)}: its address has to name one"):
            download("toy", source_with(address), tmp_path / f"{number}-others")


def test_the_members_of_a_large_archive_are_not_all_listed(server, tmp_path):
    server.content["many.zip"] = archive_of({f"f{i}": b"" for i in range(1000)})
    with pytest.raises(DownloadError) as caught:
        download("toy", source_with({"url": server.url("many.zip"), "member": "toy.data"}), tmp_path)
    assert "it has f0, f1, " in str(caught.value)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("leads_to", ["elsewhere/toy.data", "folder"])
def test_a_link_in_an_archive_that_leads_to_no_file_is_one_message(tmp_path, leads_to):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, kind, leads in (("folder", tarfile.DIRTYPE, ""), ("toy.data", tarfile.SYMTYPE, leads_to)):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, leads
            archive.addfile(member)
    (tmp_path / "toy.data.gz").write_bytes(gzip.compress(buffer.getvalue()))
    with pytest.raises(DownloadError, match="is a link to a file that the archive does not have"):
        download("toy", source_with(), tmp_path)


@pytest.mark.parametrize("head", [b"7z\xbc\xaf\x27\x1c", b"\x28\xb5\x2f\xfd", b"Rar!", b"\x1f\x9d"])
def test_a_compression_that_is_not_unpacked_is_not_taken_for_the_content(tmp_path, head):
    (tmp_path / "archive").write_bytes(head + CONTENT)
    for entry in (source_with()["files"]["toy.data"], {"sha256": "unknown", "most_bytes": 10**6}):
        with pytest.raises(archives.ChecksumError, match=r"unpack the file|more than"):
            archives.unpack(tmp_path / "archive", tmp_path / "toy.data", entry)
    assert names_in(tmp_path) == ["archive"]
