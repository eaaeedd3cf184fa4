"""fsspec's own filesystem of the web, as a store: URLs, redirects, servers that know little."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest

pytest.importorskip("aiohttp", reason="fsspec's filesystem of the web needs aiohttp")

import fsspec
from fsspec.implementations.http import HTTPFileSystem

from drystone_base.files.access import ACTING, Access
from drystone_filesystem._failures import StoreFailure
from drystone_filesystem.from_fsspec import FsspecStore

DATA = bytes(range(200)) * 50


class Served(BaseHTTPRequestHandler):
    """Gives all of a file whatever range is asked for, and leads on what is under ``/lead``."""

    asked: ClassVar[list[str]] = []
    leads_to: ClassVar[str] = ""

    def do_GET(self) -> None:
        self.asked.append(self.path)
        if self.path.startswith("/lead"):
            self.send_response(302)
            self.send_header("Location", self.leads_to)
            self.send_header("Content-Length", "0")
        elif self.path.startswith("/busy"):
            self.send_response(503)
            self.send_header("Retry-After", "7")
            self.send_header("Content-Length", "0")
        else:
            self.send_response(404 if "missing" in self.path else 200)
            if "unsized" not in self.path:
                self.send_header("Content-Length", str(len(DATA)))
        self.end_headers()
        if self.command == "GET" and not self.path.startswith(("/lead", "/busy")):
            self.wfile.write(DATA)

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, format: str, *args: Any) -> None:
        del format, args


@pytest.fixture
def server() -> Iterator[str]:
    """``host:port`` of a server."""
    made = ThreadingHTTPServer(("127.0.0.1", 0), Served)
    threading.Thread(target=made.serve_forever, daemon=True).start()
    Served.asked.clear()
    yield f"127.0.0.1:{made.server_port}"
    made.shutdown()
    made.server_close()


@pytest.fixture(params=["plain", "used before", "a cache of it"])
def store(request: pytest.FixtureRequest, server: str, tmp_path: Any) -> FsspecStore:
    """What serves ``http://``."""
    files: Any = HTTPFileSystem(skip_instance_cache=True)
    if request.param == "used before":
        assert files.cat(f"http://{server}/a") == DATA
    if request.param == "a cache of it":
        files = fsspec.filesystem(
            "filecache", target_protocol="http", cache_storage=str(tmp_path),
            target_options={"skip_instance_cache": True}, skip_instance_cache=True,
        )  # fmt: skip
        return FsspecStore(files, "cached")
    return FsspecStore(files, "http")


def read(store: FsspecStore, path: str) -> bytes:
    buffer = memoryview(bytearray(len(DATA)))
    return bytes(buffer[: store.read_into(path, 0, buffer)])


def test_paths_are_urls(store: FsspecStore, server: str) -> None:
    assert read(store, f"{server}/a") == DATA
    part = memoryview(bytearray(100))  # of a server that gives all
    assert store.read_into(f"{server}/a", 150, part) == 100
    assert bytes(part) == DATA[150:250]
    assert read(store, f"{server}/unsized") == DATA
    if "filecache" not in store.filesystem.protocol:  # which asks for listings alone
        assert store.stat(f"{server}/a").length == len(DATA)
        assert store.stat(f"{server}/unsized").length == len(DATA)
    with pytest.raises(FileNotFoundError):
        store.stat(f"{server}/missing")


def test_an_op_is_led_only_to_what_is_open_to_it(store: FsspecStore, server: str) -> None:
    for target in (f"http://{server}/secret", "/secret", f"http://{server}/open/%2e%2e/secret"):
        Served.leads_to = target
        assert read(store, f"{server}/lead") == DATA  # by the program itself
        Served.asked.clear()
        token = ACTING.set(Access(read=[f"http://{server}/lead", f"http://{server}/open"]))
        try:
            with pytest.raises(StoreFailure, match="does not open") as caught:
                store.read_into(f"{server}/lead2", 0, memoryview(bytearray(10)))
            assert caught.value.status_name == "PERMISSION_DENIED"
            with pytest.raises(OSError, match=r"does not open|http"):
                store.stat(f"{server}/lead3")
            assert not [path for path in Served.asked if "secret" in path]
        finally:
            ACTING.reset(token)
    Served.leads_to = f"http://{server}/open/b"
    token = ACTING.set(Access(read=[f"http://{server}/lead", f"http://{server}/open"]))
    try:
        assert read(store, f"{server}/lead4") == DATA
    finally:
        ACTING.reset(token)


def test_a_busy_server_is_not_a_missing_file(server: str) -> None:
    store = FsspecStore(HTTPFileSystem(skip_instance_cache=True), "http")
    with pytest.raises(StoreFailure, match="answered 503") as caught:
        store.stat(f"{server}/busy")
    assert (caught.value.status_name, caught.value.passes, caught.value.after) == (
        "UNAVAILABLE", True, 7.0,
    )  # fmt: skip
    with pytest.raises(StoreFailure) as caught:
        store.stat("127.0.0.1:1/a")
    assert (caught.value.status_name, caught.value.passes) == ("UNAVAILABLE", True)


def test_sessions_that_a_program_makes_ask_as_well(server: str) -> None:
    import aiohttp

    made: list[Any] = []

    async def mine(**_: Any) -> Any:
        made.append(aiohttp.ClientSession())
        return made[-1]

    store = FsspecStore(HTTPFileSystem(get_client=mine, skip_instance_cache=True), "http")
    store.filesystem.get_client = store.filesystem.get_client  # held once
    FsspecStore(store.filesystem, "http")
    assert read(store, f"{server}/a") == DATA
    (session,) = made
    assert len(session.trace_configs) == 1
    assert asyncio.iscoroutinefunction(store.filesystem.get_client)
