"""Web servers that lead elsewhere, and that ask to be left alone for a while."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

import drystone_base as ds
from drystone_base import Access, Session, SessionConfig
from drystone_base.core.dtypes import STRING
from drystone_base.core.errors import DrystoneError
from drystone_base.core.tensor import string_array
from drystone_base.graph import Graph
from drystone_base.ops.attrs import TensorAttr
from drystone_filesystem import gfile
from drystone_fs_hdfs._web import failure


class Served(BaseHTTPRequestHandler):
    """Files by path; a location is led on to; a number is Retry-After, once."""

    pages: dict[str, Any]
    asked: list[tuple[float, str]]

    def do_GET(self) -> None:
        """The page of the path."""
        self.asked.append((time.monotonic(), self.path))
        page = self.pages.get(self.path)
        if isinstance(page, str):
            self.send_response(302)
            self.send_header("Location", page)
            self.send_header("Content-Length", "0")
        elif isinstance(page, tuple):
            wait, self.pages[self.path] = page
            self.send_response(503)
            self.send_header("Retry-After", wait)
            self.send_header("Content-Length", "0")
        else:
            self.send_response(200 if page else 404)
            self.send_header("Content-Length", str(len(page or b"")))
        self.end_headers()
        if isinstance(page, bytes) and self.command == "GET":
            self.wfile.write(page)

    def do_HEAD(self) -> None:
        """The same without what is in it."""
        self.do_GET()

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


@pytest.fixture
def serve() -> Iterator[Any]:
    servers = []

    def start(**pages: Any) -> tuple[str, Any]:
        named = {f"/{name.replace('__', '/')}": page for name, page in pages.items()}
        handler = type("Handler", (Served,), {"pages": named, "asked": []})
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_address[1]}", handler

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def reading(path: str) -> Graph:
    graph = Graph()
    value = TensorAttr(array=string_array([path.encode()], ()))
    name = graph.add("Const", "name", attrs={"dtype": STRING, "value": value})
    graph.add("ReadFile", "read", [name])
    return graph


def read(path: str, *opened: str) -> bytes:
    config = SessionConfig(access=Access().with_read(*opened))
    found: np.ndarray[Any, Any] = Session(reading(path), config).run("read")
    return bytes(found.item())


def test_an_op_is_led_to_what_the_policy_opens(serve: Any) -> None:
    top, _ = serve(model__a="/model/deep/b", model__deep__b=b"data", secret=b"key")
    assert read(f"{top}/model/a", f"{top}/model") == b"data"


@pytest.mark.parametrize(
    "target", ["/secret", "/model/../secret", "/model/%2e%2e/secret", "/model/..%2fsecret"]
)
def test_an_op_is_not_led_out_on_the_same_server(serve: Any, target: str) -> None:
    top, handler = serve(model__a=target, secret=b"key")
    handler.pages[target] = b"key"
    with pytest.raises(DrystoneError, match="does not open") as caught:
        read(f"{top}/model/a", f"{top}/model")
    assert "--allow-read" in str(caught.value)
    assert not [path for _, path in handler.asked if "secret" in path]


def test_an_op_is_not_led_to_another_server(serve: Any) -> None:
    inside, inner = serve(secret=b"key")
    top, _ = serve(model__a=f"{inside}/secret")
    with pytest.raises(DrystoneError, match="does not open"):
        read(f"{top}/model/a", f"{top}/model")
    assert inner.asked == []
    assert read(f"{top}/model/a", f"{top}/model", f"{inside}/secret") == b"key"


def test_an_op_is_not_led_to_files(serve: Any) -> None:
    top, _ = serve(model__a="file:///etc/hostname")
    with pytest.raises(DrystoneError, match="does not open"):
        read(f"{top}/model/a", f"{top}/model", "/etc")


@pytest.mark.parametrize("name", ["model/%2e%2e/secret", "model/..%2fsecret", "model/%2E./secret"])
def test_encoded_dots_lead_nowhere(serve: Any, name: str) -> None:
    top, handler = serve(secret=b"key")
    with pytest.raises(DrystoneError, match="must not be a dot"):
        read(f"{top}/{name}", f"{top}/model")
    assert handler.asked == []


def test_what_the_program_reads_may_be_led_anywhere(serve: Any) -> None:
    other, _ = serve(b=b"data")
    top, _ = serve(a=f"{other}/b", graph=f"{other}/real.pb")
    assert gfile.GFile(f"{top}/a", "rb").read() == b"data"


def test_a_circle_ends(serve: Any) -> None:
    top, handler = serve(a="/b", b="/a")
    with pytest.raises(DrystoneError, match="redirects in a row"):
        gfile.GFile(f"{top}/a", "rb").read()
    assert len(handler.asked) < 20


def test_a_server_is_left_alone_as_long_as_it_asks(serve: Any) -> None:
    top, handler = serve(a=("1", b"data"))
    assert gfile.GFile(f"{top}/a", "rb").read() == b"data"
    first, second, *_ = (at for at, _ in handler.asked)
    assert second - first >= 1


def test_a_server_that_asks_for_too_long_is_told(
    serve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRYSTONE_FILES_SECONDS", "5")
    top, _ = serve(a=("3600", b"data"))
    before = time.monotonic()
    with pytest.raises(ds.DrystoneError, match="wants to be asked again in 3600 s"):
        gfile.GFile(f"{top}/a", "rb").read()
    assert time.monotonic() - before < 5


@pytest.mark.parametrize("said", ["Sun, 06 Nov 2094 08:49:37 GMT", "-5", "soon", "1e9", "²"])
def test_odd_times_to_come_back_are_no_failure_of_ours(said: str) -> None:
    headers = {"retry-after": said, "date": "Sun, 06 Nov 1994 08:49:37 GMT"}
    assert 0 <= failure("a", 503, headers=headers).after <= 86400
