"""A proxy between a client and a store that does to requests what networks and stores do."""

from __future__ import annotations

import http.client
import socket
import struct
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final
from urllib.parse import urlsplit

__all__ = ["AZURE", "FAULTS", "Proxy", "proxied"]

Refused = Mapping[str, tuple[int, str, str]]

FAULTS: Final = (
    "connection reset",
    "reset inside the body",
    "truncated body",
    "stall",
    "429",
    "500",
    "503",
    "wrong bytes",
)
_REFUSED: Final = {
    "credentials expire": (400, "ExpiredToken", "a fault"),
    "clock is wrong": (403, "RequestTimeTooSkewed", "a fault"),
}
AZURE: Final = {
    "credentials expire": (
        403, "AuthenticationFailed", "Signature not valid in the specified time frame"
    ),
    "clock is wrong": (403, "AuthenticationFailed", "Request date header too old"),
}  # fmt: skip
"""How Azure says so: what only its details tell apart."""
_HALF: Final = ("reset inside the body", "truncated body", "stall")
STALL: Final = 4.0
_SKIPPED: Final = {"connection", "transfer-encoding", "content-length", "keep-alive", "host"}


@dataclass
class Proxy:
    """Its address; ``fault`` hits the next ``times`` requests of ``method`` on objects."""

    address: str = ""
    moved: dict[str, str] = field(default_factory=dict)  # what addresses in answers become
    refused: Refused = field(default_factory=lambda: _REFUSED)
    fault: str = ""
    method: str = "GET"
    times: int = 0
    requests: int = 0
    hits: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def netloc(self) -> str:
        """Host and port."""
        return urlsplit(self.address).netloc

    def arm(self, fault: str, method: str, times: int) -> None:
        """Have a fault happen, and count again."""
        with self.lock:
            self.fault, self.method, self.times = fault, method, times
            self.requests = self.hits = 0

    def next(self, method: str, path: str) -> str:
        """What is to happen to a request; "" for nothing."""
        with self.lock:
            on_object = "object" in urlsplit(path).path
            self.requests += on_object and method == self.method
            if not (on_object and method == self.method and self.times):
                return ""
            self.times -= 1
            self.hits += 1
            return self.fault


class _Handler(BaseHTTPRequestHandler):
    """Passes one request on, unless something is to happen to it."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    proxy: Proxy
    upstream: str

    def _pass(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        fault = self.proxy.next(self.command, self.path)
        if fault == "connection reset":
            self._reset()
            return
        if fault.isdigit():
            self._answer(int(fault), [("Content-Type", "text/plain")], b"a fault", "")
            return
        if fault in self.proxy.refused:
            status, code, said = self.proxy.refused[fault]
            text = f"<Error><Code>{code}</Code><Message>{said}</Message></Error>"
            self._answer(status, [("Content-Type", "application/xml")], text.encode(), "")
            return
        status, headers, data = self._ask(body)
        if fault == "wrong bytes" and data:
            spoilt = bytearray(data)
            spoilt[len(data) // 2] ^= 1 + (self.proxy.hits % 200)
            data = bytes(spoilt)
        self._answer(status, headers, data, fault)

    def _ask(self, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        connection = http.client.HTTPConnection(self.upstream, timeout=30)
        headers = {k: v for k, v in self.headers.items() if k.lower() not in _SKIPPED}
        connection.request(self.command, self.path, body, {**headers, "Host": self.headers["Host"]})
        answer = connection.getresponse()
        data = answer.read()
        kept = [(k, v) for k, v in answer.getheaders() if k.lower() not in _SKIPPED]
        for old, new in self.proxy.moved.items():
            kept = [(k, v.replace(old, new)) for k, v in kept]
        if self.command == "HEAD":
            kept.append(("Content-Length", answer.getheader("Content-Length") or "0"))
        connection.close()
        return answer.status, kept, data

    def _answer(self, status: int, headers: list[tuple[str, str]], data: bytes, fault: str) -> None:
        self.send_response_only(status)
        for name, value in headers:
            self.send_header(name, value)
        if self.command != "HEAD":
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        half = len(data) // 2 if fault in _HALF else None
        self.wfile.write(data[:half])
        self.wfile.flush()
        if fault == "stall":
            time.sleep(STALL)
        if fault == "reset inside the body":
            self._reset()
        elif half is not None:
            self.close_connection = True

    def _reset(self) -> None:
        """Close without the end of a connection: the client sees a reset."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = _pass  # noqa: N815

    def finish(self) -> None:
        """A connection that was reset cannot be flushed."""
        try:
            super().finish()
        except (OSError, ValueError):
            return

    def handle(self) -> None:
        """A client that hangs up is no failure of the proxy."""
        try:
            super().handle()
        except (OSError, ValueError):
            return

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def proxied(
    address: str, moved: dict[str, str] | None = None, refused: Refused | None = None
) -> Iterator[Proxy]:
    """A proxy before the store at ``address`` (``http://host:port``).

    Addresses of other servers in its answers (``moved``) become those of their proxies; ``refused``
    is how the store refuses, by faults, where that is not as S3 does.
    """
    proxy = Proxy(moved=moved or {}, refused=refused or _REFUSED)
    members = {"proxy": proxy, "upstream": urlsplit(address).netloc}
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), members))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    proxy.address = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()
