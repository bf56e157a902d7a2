"""Downloads from a server on this machine: carriers, alternatives, resumption, checksums, messages."""

import bz2
import errno
import gzip
import hashlib
import io
import json
import lzma
import os
import socket
import tarfile
import threading
import zipfile
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import get_context

import numpy as np
import pytest
import yaml

from rfstudy.data import download as stage
from rfstudy.data import lock
from rfstudy.data.download import DownloadError
from rfstudy.errors import UserError

CONTENT = np.random.default_rng(0).bytes(3 * stage.CHUNK_BYTES) + b"the end\n"
#: Where a transfer breaks off: what is not yet a whole chunk is lost.
CUT = 2 * stage.CHUNK_BYTES
DIGEST = hashlib.sha256(CONTENT).hexdigest()
WRONG = b"not what was asked for"


def zipped(name, content):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("readme.txt", "other")
        archive.writestr(name, content)
    return buffer.getvalue()


def tarred(name, content):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for each, body in (("other/toy.names", b"other"), (name, content)):
            member = tarfile.TarInfo(each)
            member.size = len(body)
            archive.addfile(member, io.BytesIO(body))
    return buffer.getvalue()


class Server:
    """Serves bytes by path; a path may fail first, be cut off, or know no ranges. Remembers what was asked."""

    def __init__(self):
        self.content, self.fail, self.cut, self.no_ranges, self.asked = {}, {}, {}, set(), []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                server.answer(self)

            def log_message(self, *args):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def url(self, path):
        return f"http://127.0.0.1:{self.http.server_port}/{path}"

    def answer(self, request):
        path, byte_range = request.path[1:], request.headers.get("Range")
        self.asked.append((path, byte_range))
        if self.fail.get(path):
            return request.send_error(self.fail[path].pop(0))
        if path not in self.content:
            return request.send_error(404)
        body, first, status = self.content[path], 0, 200
        if byte_range and path not in self.no_ranges:
            first, status = int(byte_range.removeprefix("bytes=").removesuffix("-")), 206
        if first >= len(body):
            return request.send_error(416)
        request.send_response(status)
        request.send_header("Content-Length", str(len(body) - first))
        request.end_headers()
        request.wfile.write(body[first : self.cut.pop(path, None)])
        return None


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """No waiting between attempts, and no proxy between this machine and itself."""
    monkeypatch.setattr(stage, "WAITS", (0.0, 0.0))
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def server():
    serving = Server()
    yield serving
    serving.http.shutdown()
    serving.http.server_close()


@pytest.fixture
def refused():
    """An address at which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    return f"http://127.0.0.1:{port}/toy.data"


def source_with(*addresses):
    addresses = [address if isinstance(address, dict) else {"url": address} for address in addresses]
    return {
        "title": "Toy",
        "licence": "none",
        "files": {"toy.data": {"sha256": DIGEST, "bytes": len(CONTENT), "addresses": addresses}},
    }


def download(source_id, source, directory, **more):
    """The stage with a lock beside the folder."""
    return stage.download(source_id, source, directory, lock_path=directory.parent / "sources.lock.yaml", **more)


def names_in(directory):
    return sorted(path.name for path in directory.iterdir())


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
        ("toy.tar.gz", gzip.compress(tarred("./folder/toy.data", CONTENT)), "toy.data"),
        ("zip-in-a.zip", zipped("a b.zip", zipped("folder/toy.data", CONTENT)), ["a b.zip", "folder/toy.data"]),
        ("tar-in-a.zip", zipped("toy.tar.gz", gzip.compress(tarred("toy.data", CONTENT))), ["toy.tar.gz", "toy.data"]),
    ],
)
def test_any_carrier_gives_the_content(server, tmp_path, path, body, member):
    server.content[path] = body
    address = {"url": server.url(path)} | ({"member": member} if member else {})
    record = download("toy", source_with(address), tmp_path)
    assert (tmp_path / "toy.data").read_bytes() == CONTENT
    assert names_in(tmp_path) == ["record.json", "toy.data"]
    assert record == json.loads((tmp_path / "record.json").read_text())
    assert record["status"] == "ok"
    assert record["files"] == {"toy.data": {"sha256": DIGEST, "bytes": len(CONTENT), "from": server.url(path)}}


def test_the_next_address_is_tried_after_a_404(server, tmp_path):
    server.content["second"] = CONTENT
    record = download("toy", source_with(server.url("first"), server.url("second")), tmp_path)
    assert server.asked == [("first", None), ("second", None)]  # a 404 is final: not asked again
    assert record["files"]["toy.data"]["from"] == server.url("second")


def test_a_wrong_checksum_leaves_no_file_and_names_both_digests(server, tmp_path, caplog):
    server.content["toy.data"] = WRONG
    with pytest.raises(DownloadError) as caught:
        download("toy", source_with(server.url("toy.data")), tmp_path)
    actual = hashlib.sha256(WRONG).hexdigest()
    for text in (str(caught.value), caplog.text):
        assert f"expected sha256 {DIGEST}, actual {actual}" in text
    assert names_in(tmp_path) == []


def test_after_a_wrong_checksum_the_next_address_is_tried(server, tmp_path):
    server.content |= {"first": gzip.compress(WRONG), "second": CONTENT}
    download("toy", source_with(server.url("first"), server.url("second")), tmp_path)
    assert (tmp_path / "toy.data").read_bytes() == CONTENT
    assert names_in(tmp_path) == ["record.json", "toy.data"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (gzip.compress(CONTENT)[:-100], "the file is broken"),
        (b"PK\x03\x04 and no archive", "the file is broken"),
        (zipped("other.data", CONTENT), "the archive has no 'toy.data'; it has readme.txt, other.data"),
    ],
)
def test_a_broken_carrier_is_a_wrong_file(server, tmp_path, body, message):
    server.content["toy"] = body
    with pytest.raises(DownloadError, match=message):
        download("toy", source_with(server.url("toy")), tmp_path)
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


def test_a_cut_transfer_goes_on_where_it_stopped(server, tmp_path):
    server.content["toy.data"] = CONTENT
    server.cut["toy.data"] = CUT
    download("toy", source_with(server.url("toy.data")), tmp_path)
    assert server.asked == [("toy.data", None), ("toy.data", f"bytes={CUT}-")]
    assert (tmp_path / "toy.data").read_bytes() == CONTENT


@pytest.fixture
def killed(server, tmp_path, monkeypatch):
    """What a run that was killed in the middle of the transfer leaves behind."""
    server.content["toy.data"] = CONTENT
    server.cut["toy.data"] = CUT
    monkeypatch.setattr(stage, "WAITS", ())  # one attempt: as if the process had ended there
    with pytest.raises(DownloadError):
        download("toy", source_with(server.url("toy.data")), tmp_path)
    server.asked.clear()
    (part,) = tmp_path.iterdir()
    assert part.name.endswith(".part")
    return part


def test_a_later_run_goes_on_where_a_killed_one_stopped(server, tmp_path, killed):
    assert killed.stat().st_size == CUT
    download("toy", source_with(server.url("toy.data")), tmp_path)
    assert server.asked == [("toy.data", f"bytes={CUT}-")]
    assert (tmp_path / "toy.data").read_bytes() == CONTENT
    assert names_in(tmp_path) == ["record.json", "toy.data"]


def test_a_server_without_ranges_sends_all_again(server, tmp_path, killed):
    server.no_ranges.add("toy.data")
    download("toy", source_with(server.url("toy.data")), tmp_path)
    assert server.asked == [("toy.data", f"bytes={CUT}-")]
    assert (tmp_path / "toy.data").read_bytes() == CONTENT


def test_a_transfer_that_was_complete_is_not_repeated(server, tmp_path, killed):
    killed.write_bytes(CONTENT)
    download("toy", source_with(server.url("toy.data")), tmp_path)
    assert server.asked == [("toy.data", f"bytes={len(CONTENT)}-")]
    assert names_in(tmp_path) == ["record.json", "toy.data"]


def test_remains_of_another_version_are_thrown_away(server, tmp_path, killed):
    killed.write_bytes(b"x" * CUT)
    download("toy", source_with(server.url("toy.data")), tmp_path)
    assert server.asked == [("toy.data", f"bytes={CUT}-"), ("toy.data", None)]
    assert (tmp_path / "toy.data").read_bytes() == CONTENT
    assert names_in(tmp_path) == ["record.json", "toy.data"]


@pytest.mark.parametrize(
    ("name", "body"),
    [("toy.data", CONTENT), ("toy.data.xz", lzma.compress(CONTENT)), ("toy.data.gz", gzip.compress(CONTENT))],
)
def test_a_mirror_comes_before_the_addresses(refused, tmp_path, name, body):
    (tmp_path / "mirror" / "toy").mkdir(parents=True)
    (tmp_path / "mirror" / "toy" / name).write_bytes(body)
    record = download("toy", source_with(refused), tmp_path / "raw", mirror=tmp_path / "mirror")
    assert (tmp_path / "raw" / "toy.data").read_bytes() == CONTENT
    assert record["files"]["toy.data"]["from"] == f"mirror: toy/{name}"


def test_a_wrong_file_in_the_mirror_is_passed_over(server, tmp_path, caplog):
    (tmp_path / "mirror" / "toy").mkdir(parents=True)
    (tmp_path / "mirror" / "toy" / "toy.data").write_bytes(WRONG)
    server.content["toy.data"] = CONTENT
    download("toy", source_with(server.url("toy.data")), tmp_path / "raw", mirror=tmp_path / "mirror")
    assert (tmp_path / "raw" / "toy.data").read_bytes() == CONTENT
    assert (tmp_path / "mirror" / "toy" / "toy.data").read_bytes() == WRONG
    assert hashlib.sha256(WRONG).hexdigest() in caplog.text


def test_an_empty_mirror_is_named_in_the_message(refused, tmp_path):
    with pytest.raises(DownloadError, match=f"the mirror {tmp_path}/mirror has no toy/toy.data"):
        download("toy", source_with(refused), tmp_path / "raw", mirror=tmp_path / "mirror")


@pytest.mark.parametrize(("name", "body"), [("toy.data", CONTENT), ("toy.data.gz", gzip.compress(CONTENT))])
def test_a_file_put_in_place_by_hand_is_accepted(refused, tmp_path, name, body):
    (tmp_path / name).write_bytes(body)
    assert download("toy", source_with(refused), tmp_path)["status"] == "ok"
    assert (tmp_path / "toy.data").read_bytes() == CONTENT


def test_a_wrong_file_put_in_place_by_hand_is_set_aside(server, refused, tmp_path):
    (tmp_path / "toy.data").write_bytes(WRONG)
    with pytest.raises(DownloadError, match=hashlib.sha256(WRONG).hexdigest()):
        download("toy", source_with(refused), tmp_path)
    assert names_in(tmp_path) == ["toy.data.rejected"]
    server.content["toy.data"] = CONTENT
    download("toy", source_with(server.url("toy.data")), tmp_path)
    assert (tmp_path / "toy.data").read_bytes() == CONTENT


def test_a_second_run_asks_nobody(server, tmp_path):
    server.content["toy.data"] = CONTENT
    download("toy", source_with(server.url("toy.data")), tmp_path)
    server.asked.clear()
    record = download("toy", source_with(server.url("toy.data")), tmp_path)
    assert server.asked == []
    assert record["status"] == "ok"


def test_a_full_disk_is_not_taken_for_a_broken_file(tmp_path, monkeypatch):
    (tmp_path / "carrier").write_bytes(CONTENT)

    def no_space(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(stage, "copy", no_space)
    with pytest.raises(OSError, match="No space left"):
        stage.place_content(tmp_path / "carrier", tmp_path / "toy.data", source_with()["files"]["toy.data"])


def test_a_compressed_file_in_a_compressed_file_is_unpacked(server, tmp_path):
    server.content["toy.data.gz"] = gzip.compress(gzip.compress(CONTENT))
    download("toy", source_with(server.url("toy.data.gz")), tmp_path)
    assert (tmp_path / "toy.data").read_bytes() == CONTENT


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_wrong_file_in_two_wrappings_does_not_hide_the_next_address(server, tmp_path, pack):
    server.content |= {"first": pack(pack(pack(WRONG))), "second": CONTENT}
    download("toy", source_with(server.url("first"), server.url("second")), tmp_path)
    assert (tmp_path / "toy.data").read_bytes() == CONTENT


def encrypted(name):
    """An archive whose member asks for a password."""
    content = bytearray(zipped(name, CONTENT))
    for at, offset in ((content.rfind(b"PK\x03\x04"), 6), (content.rfind(b"PK\x01\x02"), 8)):
        content[at + offset] |= 1
    return bytes(content)


def test_an_encrypted_archive_does_not_hide_the_next_address(server, tmp_path):
    server.content |= {"first": encrypted("toy.data"), "second": CONTENT}
    download("toy", source_with({"url": server.url("first"), "member": "toy.data"}, server.url("second")), tmp_path)
    assert (tmp_path / "toy.data").read_bytes() == CONTENT


def test_no_more_is_unpacked_than_the_content_is_long(server, tmp_path, monkeypatch):
    written = []
    copy = stage.copy

    def watched(stream, path, most):
        digest = copy(stream, path, most)
        written.append(os.path.getsize(path))
        return digest

    monkeypatch.setattr(stage, "copy", watched)
    server.content["toy"] = gzip.compress(bytes(300 * len(CONTENT)))
    with pytest.raises(DownloadError, match=f"actual that of more than {len(CONTENT)} bytes"):
        download("toy", source_with(server.url("toy")), tmp_path)
    assert len(written) >= 2
    assert max(written) <= len(CONTENT)
    # one byte too many is too many, and what has its length but not its digest is told by its digest
    server.content["toy"] = CONTENT + b"x"
    with pytest.raises(DownloadError, match="more than"):
        download("toy", source_with(server.url("toy")), tmp_path)


class Endless:
    """A body that never ends, as the server of a broken page sends it."""

    def __init__(self, monkeypatch, chunk=2**20):
        self.sent, self.chunk = 0, chunk
        monkeypatch.setattr(stage.pooch, "HTTPDownloader", lambda **_: self)

    def __call__(self, url, sink, _):
        while True:
            sink.write(bytes(self.chunk))
            sink.flush()
            self.sent += self.chunk


def test_an_endless_body_is_left_at_the_known_size_for_the_next_address(tmp_path, monkeypatch):
    endless = Endless(monkeypatch)
    with pytest.raises(
        DownloadError, match=r"the transfer goes on after .* bytes, more than the file can have"
    ) as caught:
        download("toy", source_with("http://127.0.0.1/one", "http://127.0.0.1/two"), tmp_path)
    assert str(caught.value).count("goes on") == 2
    assert endless.sent <= 2 * (len(CONTENT) + stage.FRAME_BYTES)
    assert names_in(tmp_path) == []
    endless.sent = 0
    with pytest.raises(DownloadError, match="goes on"):
        download("toy", source_with({"url": "http://127.0.0.1/one", "member": "toy.data"}), tmp_path)
    # an archive has other members
    assert endless.sent > len(CONTENT) + stage.FRAME_BYTES


def test_every_wrong_file_put_in_place_by_hand_is_kept(refused, tmp_path):
    for content in (WRONG, WRONG + b"2", WRONG + b"3"):
        (tmp_path / "toy.data").write_bytes(content)
        with pytest.raises(DownloadError):
            download("toy", source_with(refused), tmp_path)
    assert names_in(tmp_path) == ["toy.data.rejected", "toy.data.rejected-2", "toy.data.rejected-3"]
    assert (tmp_path / "toy.data.rejected").read_bytes() == WRONG
    assert (tmp_path / "toy.data.rejected-3").read_bytes() == WRONG + b"3"


@pytest.mark.parametrize("status", [416, 404])
def test_an_address_that_refuses_a_first_request_does_not_hide_the_next(server, tmp_path, status):
    server.fail["bad"], server.content["toy.data"] = [status], CONTENT
    record = download("toy", source_with(server.url("bad"), server.url("toy.data")), tmp_path)
    assert record["files"]["toy.data"]["from"] == server.url("toy.data")
    assert names_in(tmp_path) == ["record.json", "toy.data"]


@pytest.mark.parametrize("length", ["many", ""])
def test_a_header_that_makes_no_sense_does_not_hide_the_next_address(server, tmp_path, length):
    answer = server.answer

    def nonsense(request):
        if request.path != "/bad":
            return answer(request)
        request.send_response(200)
        request.send_header("Content-Length", length)
        request.end_headers()
        return None

    server.answer, server.content["toy.data"] = nonsense, CONTENT
    record = download("toy", source_with(server.url("bad"), server.url("toy.data")), tmp_path)
    assert record["files"]["toy.data"]["from"] == server.url("toy.data")


@pytest.mark.parametrize("url", ["http://a..b/x", "http://" + 300 * "a" + "/x", "http://[::1/x"])
def test_an_address_that_is_none_does_not_hide_the_next(server, tmp_path, url):
    server.content["toy.data"] = CONTENT
    record = download("toy", source_with(url, server.url("toy.data")), tmp_path)
    assert record["files"]["toy.data"]["from"] == server.url("toy.data")


def archive_of(**members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def test_of_two_members_of_one_name_the_address_says_which(server, tmp_path):
    server.content["two.zip"] = archive_of(**{"old/toy.data": WRONG, "new/toy.data": CONTENT})
    address = {"url": server.url("two.zip"), "member": "toy.data"}
    with pytest.raises(DownloadError, match=r"has old/toy\.data, new/toy\.data: its address has to name one"):
        download("toy", source_with(address), tmp_path)
    download("toy", source_with(address | {"member": "new/toy.data"}), tmp_path)
    assert (tmp_path / "toy.data").read_bytes() == CONTENT


def test_a_member_is_the_one_of_its_whole_name_first(server, tmp_path):
    server.content["two.zip"] = archive_of(**{"old/toy.data": WRONG, "toy.data": CONTENT})
    download("toy", source_with({"url": server.url("two.zip"), "member": "toy.data"}), tmp_path)
    assert (tmp_path / "toy.data").read_bytes() == CONTENT


def test_the_members_of_a_large_archive_are_not_all_listed(server, tmp_path):
    server.content["many.zip"] = archive_of(**{f"f{i}": b"" for i in range(1000)})
    with pytest.raises(DownloadError) as caught:
        download("toy", source_with({"url": server.url("many.zip"), "member": "toy.data"}), tmp_path)
    assert "it has f0, f1, " in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_two_downloads_of_one_file_at_once_are_told_of_each_other(server, tmp_path, monkeypatch):
    server.content["toy.data"] = CONTENT
    complete = stage.request_with_patience

    def taken_by_another(url, part, *sizes):
        complete(url, part, *sizes)
        part.unlink()

    monkeypatch.setattr(stage, "request_with_patience", taken_by_another)
    with pytest.raises(DownloadError, match="is gone: another process gets the same file"):
        download("toy", source_with(server.url("toy.data")), tmp_path)
    assert names_in(tmp_path) == []


def test_a_home_that_nobody_has_is_no_mirror(refused, tmp_path):
    with pytest.raises(DownloadError, match="the mirror ~nobody-at-all/x has no toy/toy"):
        download("toy", source_with(refused), tmp_path, mirror="~nobody-at-all/x")


def test_a_folder_in_the_place_of_a_file_is_one_line(tmp_path, monkeypatch, capsys):
    from rfstudy import cli

    (tmp_path / "out" / "toy.data").mkdir(parents=True)
    options = [
        "--source",
        "toy",
        "--spec",
        json.dumps(source_with("http://a.invalid/x")),
        "--lock",
        str(tmp_path / "lock.yaml"),
        "--out",
        str(tmp_path / "out"),
    ]
    monkeypatch.setattr("sys.argv", ["rfstudy", "download", *options])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == 1
    assert capsys.readouterr().err.startswith("error: [Errno 21] Is a directory: ")


def test_a_mirror_is_taken_from_the_environment_of_a_command_too(refused, tmp_path, monkeypatch):
    from rfstudy import cli

    (tmp_path / "{mirror}" / "toy").mkdir(parents=True)
    (tmp_path / "{mirror}" / "toy" / "toy.data").write_bytes(CONTENT)
    monkeypatch.setenv("RFSTUDY_MIRROR", str(tmp_path / "{mirror}"))
    spec = json.dumps(source_with(refused))
    cli.commands.main(
        ["download", "--source=toy", "--spec", spec, f"--lock={tmp_path / 'lock.yaml'}", f"--out={tmp_path / 'raw'}"],
        standalone_mode=False,
    )
    assert (tmp_path / "raw" / "toy.data").read_bytes() == CONTENT


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
    source = unknown_with({"url": server.url("outer.zip"), "member": MEMBER})
    record = download("toy", source, tmp_path / "raw")
    found = {"sha256": DIGEST, "bytes": len(CONTENT), "from": server.url("outer.zip")}
    assert record["files"] == {"toy.data": found}
    assert (tmp_path / "raw" / "toy.data").read_bytes() == CONTENT
    assert lock_of(tmp_path) == {"toy": {"toy.data": found}}
    assert (tmp_path / "sources.lock.yaml").read_text(encoding="utf-8").startswith("# Written by the download")
    assert "toy.data of toy is trusted on first use" in caplog.text
    assert f"sha256 {DIGEST}); commit it" in caplog.text


def test_what_was_recorded_is_verified_by_whoever_comes_next(server, tmp_path, caplog):
    server.content["toy.data"] = CONTENT
    source = unknown_with(server.url("toy.data"))
    download("toy", source, tmp_path / "raw")
    before = (tmp_path / "sources.lock.yaml").read_bytes()
    caplog.clear()
    assert download("toy", source, tmp_path / "raw")["files"]["toy.data"]["from"] == "already in place"
    elsewhere = download(
        "toy", source, tmp_path / "another"
    )  # as on another machine, with the lock from the repository
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
    assert "recorded when it was first used; if the publisher has changed the file" in str(caught.value)
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
        (zipped("toy.data", CONTENT + b"x"), "toy.data", f"at least one and at most {len(CONTENT)} bytes"),
        (zipped("toy.data", b""), "toy.data", "at least one and at most"),
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


def test_processes_that_record_at_once_lose_nothing_and_agree(tmp_path):
    path = tmp_path / "sources.lock.yaml"
    with ProcessPoolExecutor(4, mp_context=get_context("spawn")) as pool:
        agreed = set(pool.map(partial(recorded_by, path=path), range(12)))
    assert len(agreed) == 1
    known = lock.read_lock(path)
    assert known["shared"]["toy.data"]["bytes"] in agreed
    assert {name: each["bytes"] for name, each in known["own"].items()} == {f"file{i}": i for i in range(12)}


def test_whoever_comes_second_with_another_content_is_refused(server, tmp_path, monkeypatch):
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

    monkeypatch.setattr(lock, "write_atomically", read_only)
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
    [
        "toy: nothing",
        "toy: {toy.data: nothing}",
        "toy: {toy.data: {sha256: 12, bytes: 3}}",
        f"toy: {{toy.data: {{sha256: {DIGEST}}}}}",
    ],
)
def test_a_broken_lock_is_told(tmp_path, refused, content):
    (tmp_path / "sources.lock.yaml").write_text(content, encoding="utf-8")
    with pytest.raises(UserError, match=r"sources\.lock\.yaml: toy: every file needs sha256"):
        download("toy", unknown_with(refused), tmp_path / "raw")


# --- substitutes ------------------------------------------------------------------------------------------------------


def source_with_substitute(*addresses, **changes):
    source = source_with(*addresses)
    substitute = {"file": "toy.copy", "sha256": hashlib.sha256(WRONG).hexdigest(), "bytes": len(WRONG)}
    source["files"]["toy.data"]["substitute"] = substitute | {"excluded_rows": [1, 4]} | changes
    return source


@pytest.fixture
def mirror_with_substitute(tmp_path):
    (tmp_path / "mirror" / "toy").mkdir(parents=True)
    (tmp_path / "mirror" / "toy" / "toy.copy.xz").write_bytes(lzma.compress(WRONG))
    return tmp_path / "mirror"


def test_a_substitute_is_used_where_the_file_cannot_be_had_and_says_so(
    refused, tmp_path, mirror_with_substitute, caplog
):
    record = download("toy", source_with_substitute(refused), tmp_path / "raw", mirror=mirror_with_substitute)
    assert record["status"] == "ok"
    assert record["files"] == {
        "toy.data": {
            "file": "toy.copy",
            "sha256": hashlib.sha256(WRONG).hexdigest(),
            "bytes": len(WRONG),
            "excluded_rows": [1, 4],
            "from": "mirror: toy/toy.copy.xz",
        }
    }
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
