"""Files of this machine: copied, recorded at their first use, and reported when they have changed or are not there."""

import gzip
import lzma

import pytest
import yaml

from rfstudy.data.download import DownloadError

from .source import CONTENT, DIGEST, WRONG, download


def local_source(path):
    """A source of this machine, as the registry completes it."""
    toy = {"path": str(path), "sha256": "unknown", "most_bytes": 10**9, "addresses": []}
    return {"title": "Toy", "licence": "not stated", "files": {"toy.data": toy}}


@pytest.mark.parametrize(
    ("ending", "packed"),
    [("", CONTENT), (".gz", gzip.compress(CONTENT)), (".lzma", lzma.compress(CONTENT, lzma.FORMAT_ALONE))],
)
def test_a_file_of_this_machine_is_copied_and_its_checksum_recorded(tmp_path, ending, packed, caplog):
    own = tmp_path / f"mine.csv{ending}"
    own.write_bytes(packed)
    record = download("toy", local_source(own), tmp_path / "raw")
    assert (tmp_path / "raw/toy.data").read_bytes() == CONTENT
    assert record["files"] == {"toy.data": {"sha256": DIGEST, "bytes": len(CONTENT), "from": f"this machine: {own}"}}
    assert yaml.safe_load((tmp_path / "sources.lock.yaml").read_text())["toy"]["toy.data"]["sha256"] == DIGEST
    assert "trusted on first use" in caplog.text
    caplog.clear()
    assert download("toy", local_source(own), tmp_path / "raw") == record
    assert not caplog.text


@pytest.mark.parametrize("folder", ["", "raw"])
def test_a_file_of_this_machine_that_has_changed_is_reported_although_its_copy_has_not(tmp_path, folder):
    own = tmp_path / folder / "mine.csv"
    own.parent.mkdir(exist_ok=True)
    own.write_bytes(CONTENT)
    download("toy", local_source(own), tmp_path / "raw")
    own.write_bytes(WRONG)
    with pytest.raises(DownloadError, match=rf"expected sha256 {DIGEST}, actual(.|\n)*remove its lines") as refused:
        download("toy", local_source(own), tmp_path / "raw")
    assert "sources.lock.yaml recorded" in str(refused.value)
    (tmp_path / "sources.lock.yaml").unlink()
    download("toy", local_source(own), tmp_path / "raw")
    assert (tmp_path / "raw/toy.data").read_bytes() == WRONG


def test_a_file_of_this_machine_that_is_not_there_is_reported_with_its_path(tmp_path):
    source = local_source(tmp_path / "mine.csv")
    with pytest.raises(DownloadError, match=r"file 'toy.data', which could not be had:\n  Put it at .*mine\.csv, or"):
        download("toy", source, tmp_path / "raw")
    assert download("toy", source, tmp_path / "raw", allow_missing=True)["status"] == "missing"
