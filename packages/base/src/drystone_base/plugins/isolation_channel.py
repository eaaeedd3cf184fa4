"""Messages between a process and its isolated plugin: a JSON header and a run of bytes, over pipes.

Neither side trusts the other: lengths are checked before anything is read, and the header is JSON.
"""

from __future__ import annotations

import json
import os
import select
import struct
import time
from collections.abc import Callable
from typing import Any, Final

__all__ = ["BadMessage", "Channel", "Closed", "Deadline"]

_MAGIC: Final = b"DSW1"
_HEAD: Final = struct.Struct("<4sIQ")
_LONGEST_HEADER: Final = 256 << 20
_CHUNK: Final = 1 << 20
_TICK: Final = 0.02
Message = tuple[dict[str, Any], bytes]


class Closed(Exception):
    """The other side has closed its end."""


class Deadline(Exception):
    """The other side did not read or write in time."""


class BadMessage(Exception):
    """Bytes that are no message."""


class Channel:
    """Two ends of two pipes. Without a deadline it blocks; with one it looks up every few ms."""

    def __init__(self, source: int, target: int) -> None:
        self.source, self.target = source, target

    def send(self, header: dict[str, Any], blob: bytes = b"", **waiting: Any) -> None:
        """Write one message; raises ``Closed`` and ``Deadline``. See :meth:`_wait` for keywords."""
        text = json.dumps(header).encode("utf-8", "surrogateescape")
        for part in (_HEAD.pack(_MAGIC, len(text), len(blob)), text, blob):
            view = memoryview(part)
            while view:
                self._wait(self.target, select.POLLOUT, **waiting)
                try:
                    view = view[os.write(self.target, view[:_CHUNK]) :]
                except BlockingIOError:
                    continue
                except BrokenPipeError as error:
                    raise Closed from error

    def receive(self, *, longest: int, **waiting: Any) -> Message:
        """Read one message with at most ``longest`` bytes; raises all three exceptions above."""
        magic, header_size, blob_size = _HEAD.unpack(self._read(_HEAD.size, **waiting))
        if magic != _MAGIC or header_size > _LONGEST_HEADER or blob_size > longest:
            raise BadMessage(f"a message that begins with {magic!r}, {header_size}, {blob_size}")
        text = self._read(header_size, **waiting)
        blob = self._read(blob_size, **waiting)
        try:
            header = json.loads(text)
        except ValueError as error:
            raise BadMessage(f"a header that is no JSON: {error}") from error
        if not isinstance(header, dict):
            raise BadMessage("a header that is no JSON object")
        return header, blob

    def _read(self, size: int, **waiting: Any) -> bytes:
        parts: list[bytes] = []
        while size:
            self._wait(self.source, select.POLLIN, **waiting)
            try:
                data = os.read(self.source, min(size, _CHUNK))
            except BlockingIOError:
                continue
            if not data:
                raise Closed
            parts.append(data)
            size -= len(data)
        return b"".join(parts)

    @staticmethod
    def _wait(
        fd: int, event: int, *, until: float | None = None, watch: Callable[[], None] | None = None
    ) -> None:
        """Wait until ``fd`` is ready; ``watch`` is called meanwhile and may raise."""
        if until is None:
            return
        poll = select.poll()
        poll.register(fd, event)
        while not poll.poll(_TICK * 1000):
            if watch is not None:
                watch()
            if time.monotonic() > until:
                raise Deadline

    def close(self) -> None:
        """Close both ends."""
        for fd in (self.source, self.target):
            os.close(fd)
