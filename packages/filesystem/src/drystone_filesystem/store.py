"""What a filesystem written in Python is: a dozen methods on paths like ``bucket/folder/file``."""

from __future__ import annotations

import abc
import posixpath
from collections.abc import Callable
from typing import ClassVar, Final, NamedTuple

from drystone_filesystem._trees import move_tree

__all__ = ["Stat", "Store", "Take", "Upload"]

Take = Callable[[memoryview], bool]
"""What takes a piece, and says whether it wants more."""

_PIECE: Final = 8 << 20


class Stat(NamedTuple):
    """What a store knows about a path; bytes, and nanoseconds since 1970.

    ``version`` changes with the file's bytes; what is read of a file that states one is cached,
    unless it begins with ``W/``: of two files with the same of these the bytes may differ.
    Against ``digest`` (``md5:hex``, ``sha256:hex``, ``crc32c:hex``), a file that is read at once is
    checked.
    """

    length: int
    mtime_nsec: int = 0
    is_directory: bool = False
    version: str = ""
    digest: str = ""


class Upload(abc.ABC):
    """A file that is being written; it is not seen before ``close`` returns."""

    @abc.abstractmethod
    def append(self, data: memoryview) -> None:
        """Add bytes at the end; they are the caller's again when this returns."""

    @abc.abstractmethod
    def close(self) -> None:
        """Make the file visible, whole."""

    @abc.abstractmethod
    def abandon(self) -> None:
        """Forget what was appended; never raises."""


class Store(abc.ABC):
    """A filesystem: paths have no scheme, no slash at the end, and no ``.`` or ``..``.

    Methods raise what Python's own files would (``FileNotFoundError``, ``FileExistsError``,
    ``IsADirectoryError``, ``PermissionError``, ``TimeoutError``, ``ConnectionError``); each becomes
    the status of its kind. They are called from several threads at once.
    """

    implicit_directories: ClassVar[bool] = False
    """Whether a directory is there only as long as something is in it."""

    def translated(self, uri: str) -> str:
        """The path that stands for a URI: ``bucket/a/b`` for ``scheme://bucket//a/./x/../b/``."""
        host, _, path = uri.partition("://")[2].partition("/")
        host = "" if host in (".", "..") else host
        clean = posixpath.normpath("/" + path.lstrip("/"))
        return (host + clean).strip("/")

    @abc.abstractmethod
    def stat(self, path: str) -> Stat:
        """Length, time and kind; ``FileNotFoundError`` for nothing."""

    def begin(self, path: str, size: int) -> tuple[Stat, bytes]:
        """What ``stat`` says, and up to ``size`` first bytes where those cost no more requests."""
        del size
        return self.stat(path), b""

    @abc.abstractmethod
    def children(self, path: str) -> list[str]:
        """The names in a directory."""

    @abc.abstractmethod
    def read_into(self, path: str, offset: int, buffer: memoryview, version: str = "") -> int:
        """Fill ``buffer`` from ``offset``; how many bytes, at least one where the file has some.

        ``version`` is what ``stat`` said when the file was opened: another one's bytes must not
        come. Called for several parts of a file at once.
        """

    def receive(self, path: str, offset: int, size: int, take: Take, version: str = "") -> None:
        """Hand the same bytes to ``take`` as they arrive; by default of one ``read_into`` each.

        A piece is ``take``'s until it returns; once it answers False, no more is wanted.
        """
        while size > 0:
            room = memoryview(bytearray(min(size, _PIECE)))
            got = self.read_into(path, offset, room, version)
            if got <= 0 or not take(room[:got]):
                return
            offset, size = offset + got, size - got

    def confirm(self, path: str, version: str) -> None:
        """Called after reads: raise where another version's bytes may have come."""
        del path, version

    def write(self, path: str) -> Upload:
        """Begin a file that takes the place of one that exists."""
        raise NotImplementedError("this store is read-only")

    def append_to(self, path: str) -> Upload:
        """Begin to write after the last byte of a file, or a new one where there is none."""
        raise NotImplementedError("files of this store cannot be appended to")

    def make_directory(self, path: str) -> None:
        """Make one directory."""
        raise NotImplementedError("this store is read-only")

    def remove_directory(self, path: str) -> None:
        """Delete an empty directory."""
        raise NotImplementedError("this store is read-only")

    def delete(self, path: str) -> None:
        """Delete a file."""
        raise NotImplementedError("this store is read-only")

    def copy(self, source: str, target: str) -> None:
        """Copy a file over one that exists, inside the store."""
        raise NotImplementedError("this store is read-only")

    def rename(self, source: str, target: str) -> None:
        """Move a file over one that exists, or a directory to a path that is free.

        By default both are copied, then deleted: a directory file by file.
        """
        if self.stat(source).is_directory:
            move_tree(self, source, target)
            return
        self.copy(source, target)
        self.delete(source)

    def forget(self) -> None:
        """Forget what was remembered about files, so that the next call asks again."""
        return
