"""Transfers from a server on this machine: alternatives, attempts, checksums, messages."""

import bz2
import gzip
import hashlib
import json
import lzma
import threading

import pytest

from rfstudy.data import download as stage
from rfstudy.data.download import DownloadError

from .source import CONTENT, CUT, DIGEST, WRONG, download, encrypted, names_in, source_with


def packed_thrice(pack):
    return pack(pack(pack(WRONG)))


#: What is at the first of two addresses.
FIRST = {
    "nothing": {},
    "a refusal": {"fail": [416]},
    "another content": {"content": gzip.compress(WRONG)},
    "another content in three wrappings of gzip": {"content": packed_thrice(gzip.compress)},
    "another content in three wrappings of bzip2": {"content": packed_thrice(bz2.compress)},
    "another content in three wrappings of xz": {"content": packed_thrice(lzma.compress)},
    "an archive with a password": {"content": encrypted("toy.data"), "member": "toy.data"},
    "a length that is none": {"content": WRONG, "headers": {"Content-Length": "many"}},
    "an empty length": {"content": WRONG, "headers": {"Content-Length": ""}},
    "an address that is none": {"url": "http://a..b/x"},
    "an address that is too long": {"url": "http://" + 300 * "a" + "/x"},
    "half of an address": {"url": "http://[::1/x"},
}


@pytest.mark.parametrize("name", FIRST)
def test_what_is_wrong_at_an_address_does_not_hide_the_next(server, tmp_path, name):
    first = FIRST[name]
    server.content["second"], server.fail["first"] = CONTENT, list(first.get("fail", []))
    server.content |= {"first": first["content"]} if "content" in first else {}
    server.headers_of["first"] = first.get("headers", {})
    address = {"url": first.get("url", server.url("first"))} | {key: first[key] for key in ("member",) if key in first}
    record = download("toy", source_with(address, server.url("second")), tmp_path)
    assert record["files"]["toy.data"]["from"] == server.url("second")
    assert (tmp_path / "toy.data").read_bytes() == CONTENT
    assert names_in(tmp_path) == ["record.json", "toy.data"]
    if name == "nothing":
        assert server.asked == ["first", "second"]  # a 404 is final: not asked again


def test_a_wrong_checksum_leaves_no_file_and_names_both_digests(server, tmp_path, caplog):
    server.content["toy.data"] = WRONG
    with pytest.raises(DownloadError) as caught:
        download("toy", source_with(server.url("toy.data")), tmp_path)
    actual = hashlib.sha256(WRONG).hexdigest()
    for text in (str(caught.value), caplog.text):
        assert f"expected sha256 {DIGEST}, actual {actual}" in text
    assert names_in(tmp_path) == []


def test_without_network_and_mirror_one_message_says_what_to_do(refused, tmp_path):
    with pytest.raises(DownloadError) as caught:
        download("toy", source_with(refused), tmp_path / "raw" / "toy")
    message = str(caught.value)
    target = tmp_path / "raw" / "toy" / "toy.data"
    for part in ("'toy'", "'toy.data'", refused, "no connection", DIGEST, str(target), "no mirror", "allow_missing"):
        assert part in message
    assert names_in(target.parent) == []


def test_allow_missing_records_the_reason(refused, tmp_path):
    record = download("toy", source_with(refused), tmp_path, allow_missing=True)
    assert record["status"] == "missing"
    assert refused in record["reason"]
    assert record["files"] == {}
    assert names_in(tmp_path) == ["record.json"]
    assert json.loads((tmp_path / "record.json").read_text()) == record


def test_a_server_that_is_busy_is_asked_again(server, tmp_path):
    server.content["toy.data"] = CONTENT
    server.fail["toy.data"] = [503, 429]
    download("toy", source_with(server.url("toy.data")), tmp_path)
    assert len(server.asked) == 3


def test_a_cut_transfer_starts_again_with_the_newest_version(server, tmp_path):
    server.content["toy.data"], server.cut["toy.data"], server.next_version["toy.data"] = CONTENT[::-1], CUT, CONTENT
    download("toy", source_with(server.url("toy.data")), tmp_path)
    assert server.asked == ["toy.data"] * 2
    assert (tmp_path / "toy.data").read_bytes() == CONTENT
    assert names_in(tmp_path) == ["record.json", "toy.data"]


def test_an_endless_body_is_left_at_the_known_size_for_the_next_address(server, tmp_path):
    answer = server.answer

    def endless(request):
        if request.path != "/endless":
            return answer(request)
        request.send_response(200)
        request.end_headers()
        while True:
            try:
                request.wfile.write(bytes(2**16))
            except OSError:
                return None

    server.answer, server.content["toy.data"] = endless, CONTENT
    record = download("toy", source_with(server.url("endless"), server.url("toy.data")), tmp_path)
    assert record["files"]["toy.data"]["from"] == server.url("toy.data")
    assert names_in(tmp_path) == ["record.json", "toy.data"]
    # an archive has other members
    for address, times in (({}, 1), ({"member": "toy.data"}, stage.ARCHIVE_TIMES)):
        most = times * len(CONTENT) + stage.FRAME_BYTES
        with pytest.raises(DownloadError, match=f"the transfer goes on after {most} bytes, more than the file can"):
            download("toy", source_with({"url": server.url("endless")} | address), tmp_path / "other")
        assert names_in(tmp_path / "other") == []


@pytest.fixture
def dripping(server, monkeypatch):
    """A server that sends of /drip its headers or its body a byte at a time; it ends with the test."""
    monkeypatch.setattr(stage, "PATIENCE", 0.15)
    answer, over = server.answer, threading.Event()
    server.slow_headers = False

    def drip(request):
        if request.path != "/drip":
            return answer(request)
        if not server.slow_headers:
            request.send_response(200)
            request.send_header("Content-Length", str(len(CONTENT)))
            request.end_headers()
        try:
            while not over.wait(0.02):
                request.wfile.write(b"x")
        except OSError:
            pass
        request.close_connection = True
        return None

    server.answer = drip
    yield server
    over.set()


@pytest.mark.slow
@pytest.mark.parametrize("slow_headers", [False, True])
def test_a_server_that_sends_a_byte_now_and_then_does_not_hide_the_next_address(dripping, tmp_path, slow_headers):
    dripping.slow_headers, dripping.content["toy.data"] = slow_headers, CONTENT
    record = download("toy", source_with(dripping.url("drip"), dripping.url("toy.data")), tmp_path)
    assert record["files"]["toy.data"]["from"] == dripping.url("toy.data")
    assert names_in(tmp_path) == ["record.json", "toy.data"]
    assert (tmp_path / "toy.data").read_bytes() == CONTENT
    with pytest.raises(DownloadError, match=f"drip: less than {stage.CHUNK_BYTES} bytes in 0.15 s"):
        download("toy", source_with(dripping.url("drip")), tmp_path / "alone")


def test_a_web_page_is_not_the_file(server, tmp_path):
    server.content["toy.data"], source = b"<html>log in</html>", source_with(server.url("toy.data"))
    server.headers_of["toy.data"] = {"Content-Type": "text/html; charset=utf-8"}
    file = {"sha256": "unknown", "bytes": None, "most_bytes": 2 * len(CONTENT)}
    with pytest.raises(DownloadError, match="the server sends a web page in place of the file"):
        download("toy", source | {"files": {"toy.data": source["files"]["toy.data"] | file}}, tmp_path)
    assert len(server.asked) == 1
    assert names_in(tmp_path) == []
