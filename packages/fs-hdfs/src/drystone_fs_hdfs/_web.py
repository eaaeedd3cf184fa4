"""Requests to web servers by libcurl: connections that are kept, failures as those of stores."""

from __future__ import annotations

import os
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Protocol

from drystone_filesystem import Store, StoreFailure, retry_after
from drystone_filesystem.environment import TIMEOUT

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["Answer", "Into", "Source", "WebStore", "asked", "failure"]

_BY_CODE: Final = {
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    405: "UNIMPLEMENTED",
    408: "UNAVAILABLE",
    410: "NOT_FOUND",
    412: "FAILED_PRECONDITION",
    416: "OUT_OF_RANGE",
    429: "UNAVAILABLE",
    501: "UNIMPLEMENTED",
}
_PIECE: Final = 1 << 20
_FIRST: Final = 64 << 10
_SENT: Final = 2 << 20
"""The most that libcurl asks for at once."""
_KEPT: Final = 16
_REDIRECTS: Final = 5


@dataclass
class Answer:
    """Status, headers by lower-case name, the body where no other code took it, who answered."""

    status: int
    headers: dict[str, str]
    body: bytearray = field(default_factory=bytearray)
    url: str = ""


class Source(Protocol):
    """A body to send; ``size`` is None where it is not known."""

    size: int | None

    def read(self, count: int) -> bytes:
        """The next bytes, none at the end."""


Into = Callable[[Answer, memoryview], bool]


def failure(
    path: str, code: int, text: str = "", *, headers: Mapping[str, str] | None = None
) -> StoreFailure:
    """What a status code means; servers' own failures may pass, after what ``headers`` ask for."""
    status = _BY_CODE.get(code, "UNAVAILABLE" if code >= 500 else "INVALID_ARGUMENT")
    after = retry_after(headers or {})
    said = f"{path}: the server answered {code} {text}".rstrip()
    more = f", and wants to be asked again in {after:.0f} s" if after else ""
    return StoreFailure(status, said + more, after=after)


def asked(
    path: str,
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    body: Source | None = None,
    redirect: bool = True,
    into: Into | None = None,
) -> Answer:
    """The answer to one request; ``path`` is for errors.

    ``into`` is handed the body of one that succeeded, until it answers that it wants no more.
    Raises ``StoreFailure`` (``UNAVAILABLE``) for a connection that fails or breaks off.
    """
    import pycurl

    exchange = _Exchange(into, body)
    with _handle(pycurl) as curl:
        _prepare(curl, pycurl, method, url, body)
        sent = [f"{name}: {value}" for name, value in (headers or {}).items()]
        curl.setopt(pycurl.HTTPHEADER, [*sent, "Expect:"])
        curl.setopt(pycurl.FOLLOWLOCATION, redirect)
        curl.setopt(pycurl.HEADERFUNCTION, exchange.lines.append)
        curl.setopt(pycurl.WRITEFUNCTION, exchange.write)
        curl.setopt(pycurl.READFUNCTION, exchange.read)
        try:
            curl.perform()
        except pycurl.error as error:
            if exchange.hand_over():
                text = f"{path}: {error.args[1] or 'the connection failed'}"
                raise StoreFailure("UNAVAILABLE", f"{text} (curl {error.args[0]})") from error
    exchange.hand_over()
    if exchange.failure is not None:
        raise exchange.failure
    return exchange.head()


class _Exchange:
    """What comes and goes in one request, by libcurl's callbacks; nothing may be raised there."""

    def __init__(self, into: Into | None, body: Source | None) -> None:
        self.lines: list[bytes] = []
        self.failure: BaseException | None = None
        self.given_up = False
        self._into, self._body = into, body
        self._answer: Answer | None = None
        self._room, self._held = memoryview(b""), 0

    def head(self) -> Answer:
        """Status and headers of the last answer: those of redirects came before it."""
        if self._answer is None:
            first = max(k for k, line in enumerate(self.lines) if line.startswith(b"HTTP/"))
            self._answer = Answer(int(self.lines[first].split(None, 2)[1]), {})
            headers = self._answer.headers
            for line in self.lines[first + 1 :]:
                name, colon, value = line.decode("latin-1").partition(":")
                if colon:
                    name, value = name.strip().lower(), value.strip()
                    headers[name] = f"{headers[name]}, {value}" if name in headers else value
        return self._answer

    def write(self, piece: bytes) -> int | None:
        """Take a piece of the body; they come 16 KB at a time, and go on when they are more."""
        if self._held + len(piece) > len(self._room):
            if not self.hand_over():
                return 0
            if len(self._room) < _PIECE:  # the first pieces need little room, or are all
                self._room = memoryview(bytearray(_PIECE if len(self._room) else _FIRST))
        self._room[self._held : self._held + len(piece)] = piece
        self._held += len(piece)
        return None

    def hand_over(self) -> bool:
        """Give on what is held; whether more is wanted."""
        held, self._held = self._room[: self._held], 0
        if not len(held) or self.given_up or self.failure is not None:
            return not self.given_up and self.failure is None
        try:
            answer = self.head()
            if self._into is None or answer.status >= 300:
                answer.body += held
            else:
                self.given_up = not self._into(answer, held)
        except BaseException as error:  # raised again where the request was made
            self.failure = error
        return not self.given_up and self.failure is None

    def read(self, count: int) -> bytes:
        """Give a piece of what is sent."""
        try:
            return b"" if self._body is None else self._body.read(count)
        except BaseException as error:
            self.failure = error
            return b"\0" * (count + 1)  # more than was asked for: libcurl ends the request


_handles: Final[dict[int, list[Any]]] = {}
_lock: Final = threading.Lock()


@contextmanager
def _handle(pycurl: ModuleType) -> Iterator[Any]:
    """A handle with its connections, of this process."""
    with _lock:
        idle = _handles.setdefault(os.getpid(), [])
        curl = idle.pop() if idle else pycurl.Curl()
    try:
        yield curl
    finally:
        curl.reset()
        with _lock:
            if len(idle) < _KEPT:
                idle.append(curl)


def _prepare(curl: Any, pycurl: ModuleType, method: str, url: str, body: Source | None) -> None:
    """What is the same for all requests, and what a method needs."""
    seconds = TIMEOUT.value()
    curl.setopt(pycurl.URL, url)
    curl.setopt(pycurl.NOSIGNAL, True)
    curl.setopt(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS)
    curl.setopt(pycurl.REDIR_PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS)
    curl.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_1_1)
    curl.setopt(pycurl.MAXREDIRS, _REDIRECTS)
    curl.setopt(pycurl.BUFFERSIZE, _PIECE)
    curl.setopt(pycurl.CONNECTTIMEOUT_MS, int(seconds * 1000))
    curl.setopt(pycurl.LOW_SPEED_LIMIT, 1)
    curl.setopt(pycurl.LOW_SPEED_TIME, max(int(seconds), 1))
    proxy = os.environ.get("HTTP_PROXY")  # libcurl itself knows the other variables
    if proxy and "http_proxy" not in os.environ and url.startswith("http:"):
        curl.setopt(pycurl.PROXY, proxy)
    if url.startswith("https:"):
        file, folder = _trusted(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
        if file:
            curl.setopt(pycurl.CAINFO, file)
        if folder:
            curl.setopt(pycurl.CAPATH, folder)
    if method == "HEAD":
        curl.setopt(pycurl.NOBODY, True)
    elif method != "GET":
        curl.setopt(pycurl.CUSTOMREQUEST, method)
    if body is not None:
        curl.setopt(pycurl.UPLOAD, True)
        curl.setopt(pycurl.UPLOAD_BUFFERSIZE, _SENT)
        curl.setopt(pycurl.FRESH_CONNECT, True)  # libcurl repeats what a kept one has lost
        if body.size is not None:
            curl.setopt(pycurl.INFILESIZE_LARGE, body.size)


@cache
def _trusted(file: str | None, folder: str | None) -> tuple[str | None, str | None]:
    """Where the certificates are that this machine trusts; a variable that is set stands alone."""
    if file or folder:
        return file, folder
    found = ssl.get_default_verify_paths()
    return found.cafile, found.capath


class WebStore(Store):
    """A store whose reads are answers to requests, taken as they arrive: ``receive`` is its own."""

    def read_into(self, path: str, offset: int, buffer: memoryview, version: str = "") -> int:
        """One ranged request."""
        got = 0

        def take(piece: memoryview) -> bool:
            nonlocal got
            buffer[got : got + len(piece)] = piece
            got += len(piece)
            return True

        self.receive(path, offset, len(buffer), take, version)
        return got
