"""Files that need no transfer: in a mirror, put in place by hand, or there from an earlier run."""

import gzip
import hashlib
import json
import lzma

import pytest

from rfstudy import cli
from rfstudy.data.download import DownloadError

from .source import CONTENT, WRONG, download, source_with


@pytest.mark.parametrize(
    ("place", "body", "origin"),
    [
        ("mirror/toy/toy.data", CONTENT, "mirror: toy/toy.data"),
        ("mirror/toy/toy.data.xz", lzma.compress(CONTENT), "mirror: toy/toy.data.xz"),
        ("mirror/toy/toy.data.gz", gzip.compress(CONTENT), "mirror: toy/toy.data.gz"),
        ("raw/toy.data", CONTENT, "already in place"),
        ("raw/toy.data.gz", gzip.compress(CONTENT), "put in place by hand: toy.data.gz"),
    ],
)
def test_a_mirror_and_a_file_put_in_place_by_hand_come_before_the_addresses(refused, tmp_path, place, body, origin):
    (tmp_path / place).parent.mkdir(parents=True)
    (tmp_path / place).write_bytes(body)
    record = download("toy", source_with(refused), tmp_path / "raw", mirror=tmp_path / "mirror")
    assert (tmp_path / "raw" / "toy.data").read_bytes() == CONTENT
    assert (record["status"], record["files"]["toy.data"]["from"]) == ("ok", origin)


def test_a_wrong_file_in_the_mirror_is_passed_over(server, tmp_path, caplog):
    (tmp_path / "mirror" / "toy").mkdir(parents=True)
    (tmp_path / "mirror" / "toy" / "toy.data").write_bytes(WRONG)
    server.content["toy.data"] = CONTENT
    download("toy", source_with(server.url("toy.data")), tmp_path / "raw", mirror=tmp_path / "mirror")
    assert (tmp_path / "raw" / "toy.data").read_bytes() == CONTENT
    assert (tmp_path / "mirror" / "toy" / "toy.data").read_bytes() == WRONG
    assert hashlib.sha256(WRONG).hexdigest() in caplog.text


def test_an_empty_mirror_and_one_in_a_home_that_nobody_has_are_named_in_the_message(refused, tmp_path):
    for mirror in (tmp_path / "mirror", "~nobody-at-all/x"):
        with pytest.raises(DownloadError, match=f"the mirror {mirror} has no toy/toy.data"):
            download("toy", source_with(refused), tmp_path / "raw", mirror=mirror)


def test_every_wrong_file_put_in_place_by_hand_is_set_aside(server, refused, tmp_path):
    kept = {
        f"toy.data.rejected-{hashlib.sha256(content).hexdigest()[:8]}": content for content in (WRONG, WRONG + b"2")
    }
    for content in kept.values():
        (tmp_path / "toy.data").write_bytes(content)
        with pytest.raises(DownloadError, match=hashlib.sha256(content).hexdigest()):
            download("toy", source_with(refused), tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == kept
    server.content["toy.data"] = CONTENT
    download("toy", source_with(server.url("toy.data")), tmp_path)
    assert (tmp_path / "toy.data").read_bytes() == CONTENT


def work_file(tmp_path, source):
    """The file of a job of ``download``."""
    arguments = {"source_id": "toy", "source": source, "lock_path": str(tmp_path / "lock.yaml")}
    work = [{"stage": "download", "out": str(tmp_path / "out")} | arguments]
    (tmp_path / "work.json").write_text(json.dumps(work))
    return str(tmp_path / "work.json")


def test_a_folder_in_the_place_of_a_file_is_one_line(tmp_path, monkeypatch, capsys):
    (tmp_path / "out" / "toy.data").mkdir(parents=True)
    monkeypatch.setattr("sys.argv", ["rfstudy", "download", work_file(tmp_path, source_with("http://a.invalid/x"))])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == 1
    assert capsys.readouterr().err.startswith("error: [Errno 21] Is a directory: ")


def test_a_mirror_is_taken_from_the_environment_of_a_command_too(refused, tmp_path, monkeypatch):
    (tmp_path / "{mirror}" / "toy").mkdir(parents=True)
    (tmp_path / "{mirror}" / "toy" / "toy.data").write_bytes(CONTENT)
    monkeypatch.setenv("RFSTUDY_MIRROR", str(tmp_path / "{mirror}"))
    cli.commands.main(["download", work_file(tmp_path, source_with(refused))], standalone_mode=False)
    assert (tmp_path / "out" / "toy.data").read_bytes() == CONTENT
