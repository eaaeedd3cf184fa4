"""Web servers as stores, for reading: ranges, versions by entity tags, and what sums they state."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, urlsplit

from drystone_filesystem import Stat, StoreFailure, Take, check_plain, http_seconds, redirected
from drystone_fs_hdfs._listings import listed
from drystone_fs_hdfs._web import Answer, Into, WebStore, asked, failure

__all__ = ["Web"]

_SUMS: Final = (
    ("repr-digest", "sha-256", "sha256"),
    ("digest", "sha-256", "sha256"),
    ("x-goog-hash", "crc32c", "crc32c"),
    ("repr-digest", "md5", "md5"),
    ("digest", "md5", "md5"),
    ("x-goog-hash", "md5", "md5"),
)
"""Headers that state a sum of the whole file, their name of it, and ours; MD5 takes longest."""


class Web(WebStore):
    """``host/path`` on web servers, where nothing is written.

    A path that leads to its name with a slash is a directory, also where that has moved. Some
    servers list what is in one.
    """

    def __init__(self, scheme: str) -> None:
        self._scheme = scheme

    def _url(self, path: str) -> str:
        check_plain(path)
        return f"{self._scheme}://{quote(path, safe=_KEPT, errors='surrogateescape')}"

    def _asked(
        self, path: str, method: str, headers: Mapping[str, str], into: Into | None = None
    ) -> Answer:
        """The answer, from where the server leads on to, as far as the policy lets it.

        Raises ``IsADirectoryError`` for a directory.
        """
        url = self._url(path)
        for _ in range(_REDIRECTS):
            answer = asked(path, method, url, headers=headers, into=into, redirect=False)
            if answer.status not in _LEADING or not answer.headers.get("location"):
                answer.url = url
                return answer
            before, url = url, redirected(path, url, answer.headers["location"])
            if _is_with_slash(url, before):
                raise IsADirectoryError(f"{path} is a directory")
        raise StoreFailure("FAILED_PRECONDITION", f"{path}: over {_REDIRECTS} redirects in a row")

    def stat(self, path: str) -> Stat:
        """By HEAD; by the first byte where a server refuses that."""
        if "/" not in path.rstrip("/"):
            return _DIRECTORY
        try:
            answer = self._asked(path, "HEAD", _PLAIN)
            if answer.status in (403, 405, 501):
                headers = {**_PLAIN, "Range": "bytes=0-0"}
                answer = self._asked(path, "GET", headers, _nothing)
        except IsADirectoryError:
            return _DIRECTORY
        if answer.status == 416:
            return Stat(0)
        if answer.status not in (200, 206):
            raise _failed(path, answer)
        return _stat(path, answer.headers)

    def begin(self, path: str, size: int) -> tuple[Stat, bytes]:
        """By one request for the first bytes."""
        head = bytearray()

        def into(answer: Answer, piece: memoryview) -> bool:
            if answer.status == 206:
                head.extend(piece)
            return answer.status == 206

        headers = {**_PLAIN, "Range": f"bytes=0-{size - 1}"}
        try:
            answer = self._asked(path, "GET", headers, into)
        except IsADirectoryError:
            return _DIRECTORY, b""
        if answer.status in _FOR_ALL or answer.status >= 500:
            raise _failed(path, answer)  # asking otherwise would give the same
        if answer.status != 206 or _start(answer.headers) or not _whole(answer.headers):
            return self.stat(path), b""
        return _stat(path, answer.headers), bytes(head)

    def children(self, path: str) -> list[str]:
        """By the page that some servers make of a directory; HTTP has no way to ask."""
        page = bytearray()

        def into(_answer: Answer, piece: memoryview) -> bool:
            page.extend(piece[: _LONGEST_PAGE - len(page)])
            return len(page) < _LONGEST_PAGE

        folder = path.rstrip("/") + "/"
        answer = self._asked(folder, "GET", _PLAIN, into)
        kind = answer.headers.get("content-type", "")
        names = listed(bytes(page), answer.url) if kind.startswith("text/html") else None
        if answer.status != 200 or names is None or len(page) == _LONGEST_PAGE:
            raise NotImplementedError("this web server does not tell the names of its files")
        return names

    def receive(self, path: str, offset: int, size: int, take: Take, version: str = "") -> None:
        """One ranged request; a server that knows no ranges sends all, which is passed over."""
        headers = {**_PLAIN, "Range": f"bytes={offset}-{offset + size - 1}"}
        if version.startswith('"'):
            headers["If-Match"] = version
        place, left = -1, size

        def into(answer: Answer, piece: memoryview) -> bool:
            nonlocal place, left
            if place < 0:
                place = _checked(path, answer, offset, version)
            start, place = max(offset - place, 0), place + len(piece)
            wanted = piece[start : start + left]
            left -= len(wanted)
            more = not len(wanted) or take(wanted)
            # An answer that ends with what was asked for leaves a connection that can serve again.
            return more and (left > 0 or answer.status == 206)

        answer = self._asked(path, "GET", headers, into)
        if answer.status == 412:
            raise StoreFailure("FAILED_PRECONDITION", f"{path} {_CHANGED}")
        if answer.status not in (200, 206):
            raise _failed(path, answer)


def _checked(path: str, answer: Answer, offset: int, version: str) -> int:
    """Where the bytes of an answer begin; raises for those of another version, or of elsewhere."""
    now = answer.headers.get("etag" if '"' in version else "last-modified")
    if version and now and now != version.removeprefix(_BY_TIME):
        raise StoreFailure("FAILED_PRECONDITION", f"{path} {_CHANGED}")
    first = _start(answer.headers) if answer.status == 206 else 0
    if first > offset:
        raise StoreFailure("DATA_LOSS", f"{path}: asked for byte {offset}, came {first}")
    return first


def _nothing(_answer: Answer, _piece: memoryview) -> bool:
    """The head was all that was wanted."""
    return False


_DIRECTORY: Final = Stat(0, 0, True)
_LONGEST_PAGE: Final = 4 << 20  # bytes
_REDIRECTS: Final = 5
_FOR_ALL: Final = (404, 408, 410, 429)
_LEADING: Final = (301, 302, 303, 307, 308)
_KEPT: Final = "/:@!$&()*+,;=~%[]?"
_PLAIN: Final = {"Accept-Encoding": "identity"}
_BY_TIME: Final = "W/ "
"""Before a time that stands for an entity tag: a weak one."""
_OLD: Final = 60
_CHANGED: Final = "was changed while it was read: open it again"


def _is_with_slash(url: str, before: str) -> bool:
    """Whether a URL is of the same name as the one before, and of a directory only now."""
    name = urlsplit(before).path.rpartition("/")[2]
    return bool(name) and urlsplit(url).path.endswith(f"/{name}/")


def _failed(path: str, answer: Answer) -> Exception:
    if answer.status in (404, 410):
        return FileNotFoundError(f"there is no {path}")
    return failure(path, answer.status, headers=answer.headers)


def _stat(path: str, headers: Mapping[str, Any]) -> Stat:
    part = headers.get("content-range")
    length = _whole(headers) if part else headers.get("content-length")
    if not length:
        raise StoreFailure("UNIMPLEMENTED", f"{path}: the server does not say how long it is")
    time = http_seconds(headers.get("last-modified")) * 1_000_000_000
    return Stat(int(length), time, False, _version(headers), _digest(headers))


def _whole(headers: Mapping[str, Any]) -> str:
    """Bytes of the whole file, of a part of which this is the answer; a server may not know it."""
    said = re.fullmatch(r"bytes \d+-\d+/(\d+)", headers.get("content-range", ""))
    return said[1] if said else ""


def _version(headers: Mapping[str, Any]) -> str:
    """Its entity tag, else the time of its last change.

    By time only where that is a minute old, as RFC 9110 has it (8.8.2.2): what is made again for
    each request would never be the same.
    """
    tag: str = headers.get("etag") or ""
    changed, now = http_seconds(headers.get("last-modified")), http_seconds(headers.get("date"))
    by_time = not tag and changed and now - changed >= _OLD
    return f"{_BY_TIME}{headers['last-modified']}" if by_time else tag


def _start(headers: Mapping[str, Any]) -> int:
    said = re.match(r"bytes (\d+)-", headers.get("content-range", ""))
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
