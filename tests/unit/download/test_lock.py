"""Files whose checksum nobody knew: the lock that has it from their first use on."""

import errno
import gzip
import hashlib
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
import yaml

from random_features.errors import UserError
from rfstudy.data import lock
from rfstudy.data.download import DownloadError

from .source import CONTENT, DIGEST, download, names_in, source_with, zipped


def unknown_with(*addresses):
    """The source of a file that nobody has held."""
    source = source_with(*addresses)
    entry = {"sha256": "unknown", "most_bytes": len(CONTENT)} | {"addresses": source["files"]["toy.data"]["addresses"]}
    return source | {"files": {"toy.data": entry}}


ARCHIVE = zipped("toy.zip", zipped("folder/toy.data", CONTENT))
MEMBER = ["toy.zip", "folder/toy.data"]


def lock_of(tmp_path):
    return yaml.safe_load((tmp_path / "sources.lock.yaml").read_text(encoding="utf-8"))


def test_a_file_that_nobody_has_held_is_recorded_when_it_is_first_used(server, tmp_path, caplog):
    server.content["outer.zip"] = ARCHIVE
    record = download("toy", unknown_with({"url": server.url("outer.zip"), "member": MEMBER}), tmp_path / "raw")
    found = {"sha256": DIGEST, "bytes": len(CONTENT), "from": server.url("outer.zip")}
    assert record["files"] == {"toy.data": found}
    assert (tmp_path / "raw" / "toy.data").read_bytes() == CONTENT
    assert lock_of(tmp_path) == {"toy": {"toy.data": found}}
    assert (tmp_path / "sources.lock.yaml").read_text(encoding="utf-8").startswith("# Written by the download")
    assert "toy.data of toy is trusted on first use" in caplog.text
    assert f"sha256 {DIGEST}); commit it" in caplog.text


def test_the_next_user_verifies_what_was_recorded(server, tmp_path, caplog):
    server.content["toy.data"] = CONTENT
    source = unknown_with(server.url("toy.data"))
    download("toy", source, tmp_path / "raw")
    before = (tmp_path / "sources.lock.yaml").read_bytes()
    caplog.clear()
    assert download("toy", source, tmp_path / "raw")["files"]["toy.data"]["from"] == "already in place"
    # as on another machine, with the lock from the repository
    elsewhere = download("toy", source, tmp_path / "another")
    assert elsewhere["files"]["toy.data"] == {"sha256": DIGEST, "bytes": len(CONTENT), "from": server.url("toy.data")}
    assert (tmp_path / "sources.lock.yaml").read_bytes() == before
    assert "trusted" not in caplog.text


def test_another_content_than_the_recorded_one_is_refused(server, tmp_path):
    server.content["toy.data"] = CONTENT
    source = unknown_with(server.url("toy.data"))
    download("toy", source, tmp_path / "raw")
    changed = CONTENT[:-1] + b"!"
    server.content["toy.data"] = changed
    before = (tmp_path / "sources.lock.yaml").read_bytes()
    with pytest.raises(DownloadError) as caught:
        download("toy", source, tmp_path / "another")
    assert f"expected sha256 {DIGEST}, actual {hashlib.sha256(changed).hexdigest()}" in str(caught.value)
    assert "recorded when it was first used; if the file was changed" in str(caught.value)
    assert "remove its lines there" in str(caught.value)
    assert names_in(tmp_path / "another") == []
    assert (tmp_path / "sources.lock.yaml").read_bytes() == before
    # what the message says to do works
    (tmp_path / "sources.lock.yaml").unlink()
    download("toy", source, tmp_path / "another")
    assert lock_of(tmp_path)["toy"]["toy.data"]["sha256"] == hashlib.sha256(changed).hexdigest()


@pytest.mark.parametrize(
    ("body", "member", "message"),
    [
        (b"<html>come back later</html>", "toy.data", "expected an archive with toy.data"),
        (zipped("other.txt", CONTENT), "toy.data", "the archive has no 'toy.data'; it has readme.txt, other.txt"),
        (ARCHIVE[: len(ARCHIVE) // 2], MEMBER, "the file is broken"),
        (zipped("toy.data", CONTENT + b"x"), "toy.data", f"of 1 to {len(CONTENT)} bytes"),
        (zipped("toy.data", b""), "toy.data", "of 1 to"),
    ],
)
def test_what_cannot_be_the_file_is_not_trusted(server, tmp_path, body, member, message):
    server.content["toy"] = body
    with pytest.raises(DownloadError, match=message) as caught:
        download("toy", unknown_with({"url": server.url("toy"), "member": member}), tmp_path / "raw")
    assert "its checksum is not known, and will be recorded" in str(caught.value)
    assert names_in(tmp_path / "raw") == []
    assert not (tmp_path / "sources.lock.yaml").exists()


def test_a_file_that_was_put_in_place_or_is_in_the_mirror_is_recorded_too(refused, tmp_path):
    for folder, where, origin in (
        ("raw", tmp_path / "raw", "put in place by hand: toy.data.gz"),
        ("other", tmp_path / "mirror" / "toy", "mirror: toy/toy.data.gz"),
    ):
        where.mkdir(parents=True)
        (where / "toy.data.gz").write_bytes(gzip.compress(CONTENT))
        record = download("toy", unknown_with(refused), tmp_path / folder, mirror=tmp_path / "mirror")
        assert record["files"]["toy.data"]["from"] == origin
        assert lock_of(tmp_path)["toy"]["toy.data"] == record["files"]["toy.data"]
        (tmp_path / "sources.lock.yaml").unlink()


def test_a_missing_file_of_unknown_checksum_is_a_record_where_that_is_allowed(refused, tmp_path):
    record = download("toy", unknown_with(refused), tmp_path / "raw", allow_missing=True)
    assert (record["status"], record["files"]) == ("missing", {})
    assert not (tmp_path / "sources.lock.yaml").exists()


def recorded_by(number, path):
    found = {"sha256": f"{number:064x}", "bytes": number, "from": "here"}
    lock.record(path, "own", f"file{number}", found)
    return lock.record(path, "shared", "toy.data", found)["bytes"]


def test_those_that_record_at_once_lose_nothing_and_agree(tmp_path):
    path = tmp_path / "sources.lock.yaml"
    with ThreadPoolExecutor(4) as pool:  # the lock is on an open folder, of which each thread has its own
        agreed = set(pool.map(partial(recorded_by, path=path), range(12)))
    assert len(agreed) == 1
    known = lock.read_lock(path)
    assert known["shared"]["toy.data"]["bytes"] in agreed
    assert {name: each["bytes"] for name, each in known["own"].items()} == {f"file{i}": i for i in range(12)}


def test_a_second_user_with_another_content_is_refused(server, tmp_path, monkeypatch):
    server.content["toy.data"] = CONTENT
    other = {"sha256": "0" * 64, "bytes": 5, "from": "another process"}
    record = lock.record

    def late(path, source_id, name, found):
        record(path, source_id, name, other)  # between the transfer and the record
        return record(path, source_id, name, found)

    monkeypatch.setattr(lock, "record", late)
    with pytest.raises(DownloadError, match=f"expected sha256 {'0' * 64}"):
        download("toy", unknown_with(server.url("toy.data")), tmp_path / "raw")
    assert not (tmp_path / "raw" / "toy.data").exists()
    assert lock_of(tmp_path) == {"toy": {"toy.data": other}}


def test_without_a_lock_that_can_be_written_nothing_is_trusted(server, tmp_path, monkeypatch):
    server.content["toy.data"] = CONTENT

    def read_only(path, writer):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(lock, "write_text", read_only)
    with pytest.raises(UserError, match=r"cannot be written \(Permission denied\)") as caught:
        download("toy", unknown_with(server.url("toy.data")), tmp_path / "raw", allow_missing=True)
    assert not (tmp_path / "raw" / "toy.data").exists()
    # the lines that the message shows are those to add
    _, _, lines = str(caught.value).partition("add to it\n")
    assert yaml.safe_load(lines)["toy"]["toy.data"]["sha256"] == DIGEST
    monkeypatch.undo()
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    (tmp_path / "sources.lock.yaml").write_text(lines, encoding="utf-8")
    assert download("toy", unknown_with(server.url("toy.data")), tmp_path / "raw")["status"] == "ok"


@pytest.mark.parametrize(
    "content",
    ["toy: nothing", "toy: {toy.data: nothing}", "toy: {toy.data: {sha256: 12, bytes: 3}}",
     f"toy: {{toy.data: {{sha256: {DIGEST}}}}}"],
)  # fmt: skip
def test_a_broken_lock_is_reported(tmp_path, refused, content):
    (tmp_path / "sources.lock.yaml").write_text(content, encoding="utf-8")
    with pytest.raises(UserError, match=r"sources\.lock\.yaml: toy: every file needs sha256"):
        download("toy", unknown_with(refused), tmp_path / "raw")
