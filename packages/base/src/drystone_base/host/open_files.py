"""Files of the host held open: reading anywhere in one, writing at the end of one."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self, TypeVar

from drystone_base.core.errors import HostError
from drystone_base.core.time_limits import OutOfTime
from drystone_base.host import _files as c
from drystone_base.host.detached import call_of_plugin, may_be_left
from drystone_base.host.filesystem import checked_uri
from drystone_base.host.status import Status

__all__ = ["Readable", "Writable"]

T = TypeVar("T")

_COPIED: Final = 1 << 16
"""Up to here a copy costs less than to find out where the bytes are."""


class _Open:
    """A handle that is closed once, at the latest when the object goes."""

    def __init__(self, uri: str | os.PathLike[str]) -> None:
        self.uri = os.fspath(uri)
        self._handle: int | None = None
        self._raw = checked_uri(uri)
        self._calls = c.calls(self._raw)

    def __enter__(self) -> Self:
        return self

    def _taken(self, *, needed: bool) -> int | None:
        """The handle, which is then no longer this object's."""
        handle, self._handle = self._handle, None
        if handle is None and needed:
            raise _closed(self.uri)
        return handle

    def _asked(self, does: str, work: Callable[[], T]) -> T:
        """What ``work()`` gives; a plugin that does not return keeps the handle."""
        if not may_be_left(self._raw):
            return work()
        try:
            return call_of_plugin(self._raw, f"{does} {self.uri}", work)
        except (KeyboardInterrupt, OutOfTime):
            self._handle = None
            raise

    @property
    def handle(self) -> int:
        """The host's handle; raises ``HostError`` for a closed file."""
        if self._handle is None:
            raise _closed(self.uri)
        return self._handle


class Readable(_Open):
    """A file open for reading at any place, by several threads at once."""

    def __init__(self, uri: str | os.PathLike[str]) -> None:
        super().__init__(uri)
        self._asked("open", self._open)

    def _open(self) -> None:
        with Status(f"{self.uri} cannot be opened") as status:
            self._handle = self._calls.open_readable(self._raw, status.pointer)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def read_into(self, offset: int, buffer: memoryview) -> int:
        """Fill ``buffer`` with what lies from ``offset``; fewer bytes only at the file's end."""
        if not len(buffer):
            return 0
        return self._asked("read", lambda: self._read_into(offset, buffer))

    def _read_into(self, offset: int, buffer: memoryview) -> int:
        place = (ctypes.c_char * len(buffer)).from_buffer(buffer)
        size, read = len(buffer), self._calls.read
        with Status(f"{self.uri} cannot be read", c.ENDS) as status:
            got: int = read(self.handle, offset, size, place, status.pointer)
        return got

    def close(self) -> None:
        """Let go of it; closing twice does nothing."""
        handle = self._taken(needed=False)
        if handle is not None:
            self._calls.close_readable(handle)


class Writable(_Open):
    """A file open for writing at its end; leaving the block by an exception abandons it."""

    def __init__(self, uri: str | os.PathLike[str], *, append: bool = False) -> None:
        super().__init__(uri)
        self._asked("open", lambda: self._open(append))

    def _open(self, append: bool) -> None:
        open_ = self._calls.open_appendable if append else self._calls.open_writable
        with Status(f"{self.uri} cannot be opened for writing") as status:
            self._handle = open_(self._raw, status.pointer)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()

    def __del__(self) -> None:
        self.abandon()

    def append(self, data: bytes | memoryview) -> None:
        """Add bytes at the end."""
        self._asked("write", lambda: self._append(data))

    def _append(self, data: bytes | memoryview) -> None:
        size, place, kept = _bytes_at(data)
        with Status(f"{self.uri} cannot be written") as status:
            self._calls.append(self.handle, place, size, status.pointer)
        del kept

    def tell(self) -> int:
        """The place of the next byte."""
        with Status(f"{self.uri} does not say its length") as status:
            place: int = c.tell(self.handle, status.pointer)
        return place

    def flush(self) -> None:
        """Let others see what was appended, where the store can."""
        self._asked("flush", self._flush)

    def _flush(self) -> None:
        with Status(f"{self.uri} cannot be flushed") as status:
            c.flush(self.handle, status.pointer)

    def close(self) -> None:
        """End the file: it is there, whole, when this returns."""
        self._asked("close", self._close)

    def _close(self) -> None:
        handle = self._taken(needed=True)
        with Status(f"{self.uri} cannot be closed") as status:
            self._calls.close_writable(handle, status.pointer)

    def abandon(self) -> None:
        """Let go without ending it: a store that shows only closed files never shows this one."""
        handle = self._taken(needed=False)
        if handle is not None:
            c.abandon_writable(handle)


def _bytes_at(data: bytes | memoryview) -> tuple[int, bytes | int, object]:
    """How many bytes, where they are, and what keeps them there; many are not copied."""
    if isinstance(data, bytes):
        return len(data), data, None
    if data.nbytes <= _COPIED or not data.c_contiguous:
        raw = bytes(data)
        return len(raw), raw, None
    import numpy as np

    array = np.frombuffer(data, np.uint8)
    return array.nbytes, int(array.ctypes.data), array


def _closed(uri: str) -> HostError:
    return HostError(
        f"{uri} is closed",
        check="a file must be open to be used",
        found="a file that was closed",
        needed="an open one",
        remedy="open it again",
        status="FAILED_PRECONDITION",
    )
