"""Files of schemes as fsspec's users expect them: with a size, failing as Python's own."""

from __future__ import annotations

import io
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from types import TracebackType
from typing import Any, Final

from drystone_base.core.errors import HostError
from drystone_base.files.uris import os_error
from drystone_base.host import filesystem as host
from drystone_base.host.streams import BUFFER, RawReader, RawWriter

__all__ = ["Aside", "Reading", "Writing", "told"]

_IN_MEMORY: Final = 32 << 20


@contextmanager
def told(uri: str) -> Iterator[None]:
    """Failures of the host become those of files, with the ``HostError`` as their cause."""
    try:
        yield
    except HostError as error:
        raise os_error(error, uri) from error


class _Reader(RawReader):
    """The bytes of a file, from any place."""

    def __init__(self, uri: str) -> None:
        self._uri = uri
        super().__init__(uri)

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer from here; how many bytes."""
        with told(self._uri):
            return super().readinto(buffer)

    def readall(self) -> bytes:
        """All that is left."""
        with told(self._uri):
            return super().readall()

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place."""
        with told(self._uri):
            return super().seek(offset, whence)


class _Writer(RawWriter):
    """The end of a file."""

    def __init__(self, uri: str, *, append: bool) -> None:
        self._uri = uri
        super().__init__(uri, append=append)

    def write(self, data: Any) -> int:
        """Add bytes at the end."""
        with told(self._uri):
            return super().write(data)

    def flush(self) -> None:
        """Let others see what was written, where the store can."""
        with told(self._uri):
            super().flush()

    def close(self) -> None:
        """Let go of the file; once."""
        with told(self._uri):
            super().close()


class Reading(io.BufferedReader):
    """A file open for reading, of which one may ask the size."""

    def __init__(self, uri: str) -> None:
        self._uri = uri
        with told(uri):
            super().__init__(_Reader(uri), BUFFER)

    @cached_property
    def size(self) -> int:
        """Bytes of the file; asked for when it is wanted, as that may cost a request."""
        with told(self._uri):
            return host.file_size(self._uri)


class Writing(io.BufferedWriter):
    """A file open for writing; a block that is left by an exception abandons what it wrote."""

    def __init__(self, uri: str, *, append: bool) -> None:
        with told(uri):
            self._own = _Writer(uri, append=append)
        super().__init__(self._own, BUFFER)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self._own.failed = True
        self.close()


class Aside(io.RawIOBase):
    """A file of a transaction of fsspec's: its bytes wait here for ``commit`` or ``discard``."""

    def __init__(self, uri: str, *, append: bool) -> None:
        self._uri, self._append, self._failed = uri, append, False
        self._kept = tempfile.SpooledTemporaryFile(_IN_MEMORY, prefix="drystone-")  # noqa: SIM115

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._failed = kind is not None
        self.close()

    def writable(self) -> bool:
        """Yes."""
        return True

    def write(self, data: Any) -> int:
        """Add bytes at the end."""
        view = memoryview(data).cast("B")
        self._kept.write(view)
        return len(view)

    def tell(self) -> int:
        """The place of the next byte, of those that are added."""
        return self._kept.tell()

    def commit(self) -> None:
        """Show the file, unless a block that wrote it was left by an exception."""
        if not self._failed:
            self._kept.seek(0)
            with Writing(self._uri, append=self._append) as file:
                shutil.copyfileobj(self._kept, file, BUFFER)
        self.discard()

    def discard(self) -> None:
        """Let go of the bytes."""
        self._kept.close()
