"""A server on this machine that the downloads of these tests ask, and an address that nobody listens at."""

import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from rfstudy.data import download as stage


class Server:
    """Serves bytes by path; a path may fail first, or be cut off. Remembers what was asked.
    ``next_version`` is the content that a path has after its first answer; ``headers_of`` are the headers of a path."""

    def __init__(self):
        self.content, self.fail, self.cut, self.asked = {}, {}, {}, []
        self.next_version, self.headers_of = {}, {}
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
        path = request.path[1:]
        self.asked.append(path)
        if self.fail.get(path):
            return request.send_error(self.fail[path].pop(0))
        if path not in self.content:
            return request.send_error(404)
        body = self.content[path]
        request.send_response(200)
        for name, value in ({"Content-Length": len(body)} | self.headers_of.get(path, {})).items():
            request.send_header(name, str(value))
        request.end_headers()
        self.content[path] = self.next_version.pop(path, body)
        request.wfile.write(body[: self.cut.pop(path, None)])
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
