"""Files of the host as Python's own streams: buffered, seekable where they are read."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any, BinaryIO, Final, cast

from drystone_base.host import filesystem as host
from drystone_base.host.buffer import filled_bytes
from drystone_base.host.open_files import Readable, Writable

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["BUFFER", "RawReader", "RawWriter", "reader"]

BUFFER: Final = 1 << 16
_SHORT: Final = 1 << 16
_rooms: Final[list[bytearray]] = []
"""What short files were read into, to be used again: clearing memory takes as long as a read."""


class RawReader(io.RawIOBase):
    """The bytes of a file, from any place."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = path
        self._file = Readable(path)
        self._place = 0

    def readable(self) -> bool:
        """Yes."""
        return True

    def seekable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Fill the buffer from here; how many bytes."""
        got = self._file.read_into(self._place, memoryview(buffer).cast("B"))
        self._place += got
        return got

    def readall(self) -> bytes:
        """All that is left; by one call where it is much, which may read parts at once."""
        room = _rooms.pop() if _rooms else bytearray(_SHORT)
        start = memoryview(room)
        got = self._file.read_into(self._place, start)
        short = bytes(start[:got]) if got < _SHORT else None
        _rooms.append(room)
        if short is not None:
            self._place += got
            return short
        size = max(host.file_size(self._path) - self._place, got)
        rest = filled_bytes(size, lambda room: self._file.read_into(self._place, room))
        self._place += len(rest)
        return rest

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place, also past the end."""
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._place}.get(whence)
        if start is None:
            start = host.file_size(self._path)
        if start + offset < 0:
            raise ValueError(f"there is no place {start + offset} in a file")
        self._place = start + offset
        return self._place

    def tell(self) -> int:
        """The place of the next byte."""
        return self._place

    def close(self) -> None:
        """Let go of the file; once."""
        if not self.closed:
            self._file.close()
        super().close()


class RawWriter(io.RawIOBase):
    """The end of a file. Once ``failed`` is set, closing it abandons what was written."""

    def __init__(self, path: str | os.PathLike[str], *, append: bool) -> None:
        self._place = host.file_size(path) if append and host.exists(path) else 0
        self._file = Writable(path, append=append)
        self.failed = self._ended = False

    def writable(self) -> bool:
        """Yes."""
        return True

    def write(self, data: Any) -> int:
        """Add bytes at the end."""
        if self.failed:
            return len(data)  # what is left in the buffer of a file that is given up
        view = memoryview(data).cast("B")
        self._file.append(view)
        self._place += len(view)
        return len(view)

    def tell(self) -> int:
        """The place of the next byte."""
        return self._place

    def flush(self) -> None:
        """Let others see what was written, where the store can."""
        if not (self._ended or self.failed):
            self._file.flush()

    def __del__(self) -> None:
        """One that goes before its buffer lacks what is in there: it is abandoned."""
        self.failed = True
        super().__del__()

    def close(self) -> None:
        """Let go of the file; once."""
        if self.closed:
            return
        self._ended = True
        super().close()
        if self.failed:
            self._file.abandon()
        else:
            self._file.close()


def reader(path: str | os.PathLike[str]) -> BinaryIO:
    """A file open for reading."""
    return cast("BinaryIO", io.BufferedReader(RawReader(path), BUFFER))
