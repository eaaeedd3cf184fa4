"""Requests to web servers: one pool of connections, and failures as those of stores."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from drystone_filesystem import Store, StoreFailure

if TYPE_CHECKING:
    import urllib3

__all__ = ["WebStore", "asked", "failure", "pieces"]

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
_CONNECTIONS: Final = 16


@cache
def _connections(_process: int, proxy: str) -> urllib3.PoolManager:
    """Connections of this process, by way of a proxy if one is named."""
    import urllib3

    if proxy:
        return urllib3.ProxyManager(proxy, _CONNECTIONS, maxsize=_CONNECTIONS)
    return urllib3.PoolManager(_CONNECTIONS, maxsize=_CONNECTIONS)


def _proxy(url: str) -> str:
    """The proxy that the environment names for a URL; "" for none."""
    parts = urlsplit(url)
    known = getproxies()
    proxy = known.get(parts.scheme) or known.get("all") or ""
    return "" if proxy_bypass(parts.netloc) else proxy


@contextmanager
def _asking(path: str) -> Iterator[None]:
    """Failures of the connection become those of stores."""
    from urllib3.exceptions import HTTPError

    try:
        yield
    except HTTPError as error:
        raise StoreFailure("UNAVAILABLE", f"{path}: {type(error).__name__}: {error}") from error


def failure(path: str, code: int, text: str = "") -> StoreFailure:
    """What a status code means; servers' own failures may pass."""
    status = _BY_CODE.get(code, "UNAVAILABLE" if code >= 500 else "INVALID_ARGUMENT")
    return StoreFailure(status, f"{path}: the server answered {code} {text}".rstrip())


def asked(
    path: str,
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    body: Any = None,
    redirect: bool = True,
) -> urllib3.BaseHTTPResponse:
    """The answer to one request, whose body is still to be read; ``path`` is for errors."""
    from urllib3.util import Retry, Timeout

    seconds = float(os.environ.get("DRYSTONE_FILES_TIMEOUT") or 20)
    with _asking(path):
        return _connections(os.getpid(), _proxy(url)).request(
            method,
            url,
            headers=headers,
            body=body,
            redirect=redirect,
            preload_content=False,
            retries=Retry(total=None, connect=0, read=0, other=0, redirect=5 if redirect else 0,
                          raise_on_redirect=redirect),
            timeout=Timeout(seconds),
        )  # fmt: skip


def pieces(path: str, answer: urllib3.BaseHTTPResponse) -> Iterator[memoryview]:
    """The body as it arrives; one that breaks off is a failure that may pass."""
    whole = False
    try:
        while True:
            with _asking(path):
                piece = answer.read(_PIECE)
            if not piece:
                whole = True
                return
            yield memoryview(piece)
    finally:
        # What is left of a body nobody wants, so the connection cannot serve another request.
        answer.release_conn() if whole else answer.close()


class WebStore(Store):
    """A store whose reads are answers to requests, taken as they arrive: ``stream`` is its own."""

    def read_into(self, path: str, offset: int, buffer: memoryview, version: str = "") -> int:
        """One ranged request."""
        got = 0
        for piece in self.stream(path, offset, len(buffer), version):
            buffer[got : got + len(piece)] = piece
            got += len(piece)
        return got
