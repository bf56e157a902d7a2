"""An imperfect copy in the place of a file that cannot be had."""

import hashlib
import lzma

import pytest

from rfstudy.data.download import DownloadError

from .source import CONTENT, DIGEST, WRONG, download, names_in, source_with

SUBSTITUTE = {"file": "toy.copy", "sha256": hashlib.sha256(WRONG).hexdigest(), "bytes": len(WRONG)}
SUBSTITUTE |= {"excluded_rows": [1, 4]}


def source_with_substitute(*addresses, **changes):
    source = source_with(*addresses)
    source["files"]["toy.data"]["substitute"] = SUBSTITUTE | changes
    return source


@pytest.fixture
def mirror_with_substitute(tmp_path):
    (tmp_path / "mirror" / "toy").mkdir(parents=True)
    (tmp_path / "mirror" / "toy" / "toy.copy.xz").write_bytes(lzma.compress(WRONG))
    return tmp_path / "mirror"


@pytest.mark.parametrize(("folder", "changes"), [("toy", {}), ("other", {"source": "other"})])
def test_a_substitute_of_a_file_says_that_it_is_one(refused, tmp_path, mirror_with_substitute, caplog, folder, changes):
    (mirror_with_substitute / "toy").rename(mirror_with_substitute / folder)
    source = source_with_substitute(refused, **changes)
    record = download("toy", source, tmp_path / "raw", mirror=mirror_with_substitute)
    assert record["status"] == "ok"
    assert record["files"] == {"toy.data": SUBSTITUTE | {"from": f"mirror: {folder}/toy.copy.xz"}}
    assert names_in(tmp_path / "raw") == ["record.json", "toy.copy"]
    assert "toy.data of toy could not be had: toy.copy is used in its place, without 2 rows" in caplog.text


def test_the_file_itself_comes_before_its_substitute(server, tmp_path, mirror_with_substitute):
    server.content["toy.data"] = CONTENT
    source = source_with_substitute(server.url("toy.data"))
    record = download("toy", source, tmp_path / "raw", mirror=mirror_with_substitute)
    assert record["files"]["toy.data"] == {"sha256": DIGEST, "bytes": len(CONTENT), "from": server.url("toy.data")}
    assert names_in(tmp_path / "raw") == ["record.json", "toy.data"]


def test_without_a_substitute_at_hand_the_file_is_asked_for(refused, tmp_path):
    with pytest.raises(DownloadError, match=r"needs the file 'toy\.data'"):
        download("toy", source_with_substitute(refused), tmp_path / "raw")


def test_a_substitute_has_its_own_checksum(refused, tmp_path, mirror_with_substitute):
    source = source_with_substitute(refused, sha256="0" * 64)
    with pytest.raises(DownloadError, match=r"needs the file 'toy\.data'"):
        download("toy", source, tmp_path / "raw", mirror=mirror_with_substitute)
