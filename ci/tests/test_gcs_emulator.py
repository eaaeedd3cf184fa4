"""The emulator of Google Cloud Storage that the GCS plugin is tried with."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from ci.scripts.tf_plugins.gcs_emulator import Storage, served

_UPLOAD = "/upload/storage/v1/b/box/o?uploadType=media&name="


class Server(NamedTuple):
    """A running emulator with a bucket named box."""

    address: str
    storage: Storage

    def send(
        self, method: str, path: str, body: bytes = b"", **headers: str
    ) -> tuple[int, bytes, Any]:
        """Status, body and headers of the answer."""
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        request = Request(self.address + path, data=body or None, method=method, headers=names)
        try:
            with urlopen(request, timeout=10) as answer:
                return answer.status, answer.read(), answer.headers
        except HTTPError as error:
            return error.code, error.read(), error.headers

    def json(self, method: str, path: str, body: bytes = b"", **headers: str) -> Any:
        """The answer's body, which must be OK."""
        status, answer, _ = self.send(method, path, body, **headers)
        assert status == 200, answer
        return json.loads(answer)


@pytest.fixture
def server() -> Iterator[Server]:
    """A server that ends with the test."""
    with served("box") as (address, storage):
        yield Server(address, storage)


def test_uploads_and_downloads(server: Server) -> None:
    assert server.json("POST", _UPLOAD + "a%2Fb.txt", b"0123456789")["size"] == "10"
    for path in ("/box/a%2Fb.txt", "/storage/v1/b/box/o/a%2Fb.txt?alt=media"):
        assert server.send("GET", path)[:2] == (200, b"0123456789")
        assert server.send("GET", path, Range="bytes=3-5")[:2] == (206, b"345")
        status, body, headers = server.send("GET", path, Range="bytes=8-100")
        assert (status, body, headers["Content-Range"]) == (206, b"89", "bytes 8-9/10")
        assert server.send("GET", path, Range="bytes=10-")[0] == 416
    assert server.json("GET", "/storage/v1/b/box/o/a%2Fb.txt")["name"] == "a/b.txt"
    assert server.storage.requests[0] == f"POST {_UPLOAD}a%2Fb.txt"


def test_an_upload_in_two_parts(server: Server) -> None:
    data = b"\r\n--not the boundary\r\n\r\n\0"
    body = b'--xx\r\nA: b\r\n\r\n{"name": "n"}\r\n--xx\r\nC: d\r\n\r\n' + data + b"\r\n--xx--\r\n"
    path = "/upload/storage/v1/b/box/o?uploadType=multipart"
    server.json("POST", path, body, Content_Type="multipart/related; boundary=xx")
    assert server.send("GET", "/box/n")[1] == data
    assert server.send("POST", path, body)[0] == 400
    assert server.send("POST", path.replace("multipart", "resumable"), body)[0] == 400


def test_listing(server: Server) -> None:
    for name in ("a", "d/x", "d/y", "d/e/z", "f"):
        server.storage.put("box", name, b"")
    path = "/storage/v1/b/box/o?delimiter=/"
    top = server.json("GET", path)
    assert [item["name"] for item in top["items"]] == ["a", "f"]
    assert top["prefixes"] == ["d/"]
    below = server.json("GET", f"{path}&prefix=d/&maxResults=2")
    assert (below["prefixes"], [item["name"] for item in below["items"]]) == (["d/e/"], ["d/x"])
    rest = server.json("GET", f"{path}&prefix=d/&pageToken={below['nextPageToken']}")
    assert [item["name"] for item in rest["items"]] == ["d/y"]
    assert "nextPageToken" not in rest


def test_copies_and_deletion(server: Server) -> None:
    server.storage.put("box", "a", b"one")
    server.storage.put("box", "b", b"two")
    assert server.json("POST", "/storage/v1/b/box/o/a/rewriteTo/b/box/o/c")["done"] is True
    sources = json.dumps({"sourceObjects": [{"name": "c"}, {"name": "b"}]}).encode()
    server.json("POST", "/storage/v1/b/box/o/c/compose", sources)
    assert server.storage.buckets["box"]["c"].data == b"onetwo"
    assert server.send("DELETE", "/storage/v1/b/box/o/c")[0] == 204
    assert server.send("DELETE", "/storage/v1/b/box/o/c")[0] == 404


def test_conditions_and_refusals(server: Server) -> None:
    for expected in (200, 412):
        assert server.send("PUT", "/box/dir%2F", x_goog_if_generation_match="0")[0] == expected
    assert server.send("GET", "/storage/v1/b/none")[0] == 404
    assert server.send("GET", "/storage/v1/b/none/o/x")[0] == 404
    assert server.send("POST", "/storage/v1/b", b'{"name": "box"}')[0] == 409
    assert server.send("POST", "/storage/v1/b", b"{}")[0] == 400
    assert server.send("POST", "/storage/v1/b", b'{"name": "new"}')[0] == 200
    assert server.json("GET", "/storage/v1/b/new")["name"] == "new"
    assert server.send("GET", "/elsewhere")[0] == 404
