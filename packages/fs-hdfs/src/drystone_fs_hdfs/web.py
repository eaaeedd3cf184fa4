"""Web servers as stores, for reading: ranges, versions by entity tags, and what sums they state."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Final
from urllib.parse import quote

from drystone_filesystem import Stat, StoreFailure
from drystone_fs_hdfs._web import WebStore, asked, failure, pieces

__all__ = ["Web"]

_SUMS: Final = (
    ("Repr-Digest", "sha-256", "sha256"),
    ("Digest", "sha-256", "sha256"),
    ("Repr-Digest", "md5", "md5"),
    ("Digest", "md5", "md5"),
    ("x-goog-hash", "md5", "md5"),
    ("x-goog-hash", "crc32c", "crc32c"),
)
"""Headers that state a sum of the whole file, their name of it, and ours."""


class Web(WebStore):
    """``host/path`` on web servers; they tell no names, and nothing is written there."""

    def __init__(self, scheme: str) -> None:
        self._scheme = scheme

    def _url(self, path: str) -> str:
        return f"{self._scheme}://{quote(path, safe=_KEPT, errors='surrogateescape')}"

    def stat(self, path: str) -> Stat:
        """By HEAD; by the first byte where a server refuses that."""
        answer = asked(path, "HEAD", self._url(path), headers=_PLAIN)
        answer.release_conn()
        if answer.status in (403, 405, 501):
            answer = asked(path, "GET", self._url(path), headers={**_PLAIN, "Range": "bytes=0-0"})
            answer.close()
        if answer.status == 416:
            return Stat(0)
        if answer.status not in (200, 206):
            raise _failed(path, answer.status)
        return _stat(path, answer.headers)

    def begin(self, path: str, size: int) -> tuple[Stat, bytes]:
        """By one request for the first bytes."""
        headers = {**_PLAIN, "Range": f"bytes=0-{size - 1}"}
        answer = asked(path, "GET", self._url(path), headers=headers)
        if answer.status != 206:
            answer.close()
            return self.stat(path), b""
        return _stat(path, answer.headers), b"".join(pieces(path, answer))

    def children(self, path: str) -> list[str]:
        """Never: HTTP has no way to ask."""
        raise NotImplementedError("a web server does not tell the names of its files")

    def stream(self, path: str, offset: int, size: int, version: str = "") -> Iterator[memoryview]:
        """One ranged request; a server that knows no ranges sends all, which is passed over."""
        headers = {**_PLAIN, "Range": f"bytes={offset}-{offset + size - 1}"}
        if version.startswith('"'):
            headers["If-Match"] = version
        answer = asked(path, "GET", self._url(path), headers=headers)
        if answer.status not in (200, 206):
            answer.close()
            if answer.status == 412:
                raise StoreFailure("FAILED_PRECONDITION", f"{path} {_CHANGED}")
            raise _failed(path, answer.status)
        if version and _version(answer.headers) not in ("", version):
            answer.close()
            raise StoreFailure("FAILED_PRECONDITION", f"{path} {_CHANGED}")
        skipped = _start(answer.headers) if answer.status == 206 else 0
        if skipped > offset:
            answer.close()
            raise StoreFailure("DATA_LOSS", f"{path}: asked for byte {offset}, came {skipped}")
        for piece in pieces(path, answer):
            start, skipped = max(offset - skipped, 0), skipped + len(piece)
            wanted = piece[start : start + size]
            if len(wanted):
                yield wanted
            size -= len(wanted)
            if size <= 0:
                return


_KEPT: Final = "/:@!$&()*+,;=~%[]?"
_PLAIN: Final = {"Accept-Encoding": "identity"}
_CHANGED: Final = "was changed while it was read: open it again"


def _failed(path: str, code: int) -> Exception:
    return FileNotFoundError(f"there is no {path}") if code in (404, 410) else failure(path, code)


def _stat(path: str, headers: Mapping[str, Any]) -> Stat:
    whole = re.fullmatch(r"bytes \d+-\d+/(\d+)", headers.get("Content-Range", ""))
    length = whole[1] if whole else headers.get("Content-Length")
    if length is None:
        raise StoreFailure("UNIMPLEMENTED", f"{path}: the server does not say how long it is")
    changed = headers.get("Last-Modified")
    time = int(parsedate_to_datetime(changed).timestamp()) * 1_000_000_000 if changed else 0
    return Stat(int(length), time, False, _version(headers), _digest(headers))


def _version(headers: Mapping[str, Any]) -> str:
    tag: str = headers.get("ETag") or ""
    return tag


def _start(headers: Mapping[str, Any]) -> int:
    said = re.match(r"bytes (\d+)-", headers.get("Content-Range", ""))
    return int(said[1]) if said else 0


def _digest(headers: Mapping[str, Any]) -> str:
    """The best sum of the whole file that is stated, as ``sha256:hex``."""
    for header, theirs, ours in _SUMS:
        said = re.search(
            rf"(?:^|[,\s]){theirs}=:?([A-Za-z0-9+/]+=*)", headers.get(header, ""), re.IGNORECASE
        )
        if said:
            try:
                return f"{ours}:{base64.b64decode(said[1], validate=True).hex()}"
            except binascii.Error:
                continue
    return ""
