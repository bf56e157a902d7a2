"""A server on this machine that the downloads of these tests ask, and an address that nobody listens at."""

import hashlib
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from rfstudy.data import download as stage


class Server:
    """Serves bytes by path; a path may fail first, be cut off, or know no ranges. Remembers what was asked.

    ``next_version`` is the content that a path has after its first answer; ``headers`` are sent with every answer,
    ``headers_of`` with those of a path.
    """

    def __init__(self):
        self.content, self.fail, self.cut, self.no_ranges, self.asked = {}, {}, {}, set(), []
        self.next_version, self.headers, self.headers_of = {}, {}, {}
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
        tag = f'"{hashlib.sha256(body).hexdigest()}"'
        is_same = request.headers.get("If-Range", tag) == tag
        if byte_range and path not in self.no_ranges and is_same:
            first, status = int(byte_range.removeprefix("bytes=").removesuffix("-")), 206
        if first >= len(body):
            return request.send_error(416)
        request.send_response(status)
        headers = {"Content-Length": len(body) - first, "ETag": tag}
        if status == 206:
            headers["Content-Range"] = f"bytes {first}-{len(body) - 1}/{len(body)}"
        for name, value in (headers | self.headers | self.headers_of.get(path, {})).items():
            if value is not None:
                request.send_header(name, str(value))
        request.end_headers()
        self.content[path] = self.next_version.pop(path, body)
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
