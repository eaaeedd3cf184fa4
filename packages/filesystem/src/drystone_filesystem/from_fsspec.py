"""Any fsspec filesystem as a store, and so as a scheme of drystone."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any

from drystone_filesystem.store import Stat, Store, Upload

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

__all__ = ["FsspecStore", "MemoryStore", "memory", "store_of"]


class FsspecStore(Store):
    """The methods of a store, by those of an fsspec filesystem.

    Its cache of listings is not used where it can be told so: another program's files show at once.
    """

    def __init__(self, filesystem: AbstractFileSystem) -> None:
        self.filesystem = filesystem
        filesystem.dircache.use_listings_cache = False

    def __repr__(self) -> str:
        return f"<FsspecStore of {type(self.filesystem).__name__}>"

    def _path(self, path: str) -> str:
        """A path as this filesystem writes it: with a slash before it, or without."""
        stripped: str = self.filesystem._strip_protocol("/" + path)
        return stripped or self.filesystem.root_marker

    def stat(self, path: str) -> Stat:
        """Ask for the details of one path."""
        if not path:
            return Stat(0, 0, True)
        info = self.filesystem.info(self._path(path))
        directory = info.get("type") == "directory"
        return Stat(0 if directory else int(info.get("size") or 0), _time(info), directory)

    def children(self, path: str) -> list[str]:
        """The last parts of what is listed."""
        own = self._path(path).strip("/")
        listed = (str(p).strip("/") for p in self.filesystem.ls(self._path(path), detail=False))
        return [one.rsplit("/", 1)[-1] for one in listed if one != own]

    def read_into(self, path: str, offset: int, buffer: memoryview, version: str = "") -> int:
        """One ranged read; fsspec has no way to ask for a version."""
        del version
        data = self.filesystem.cat_file(self._path(path), start=offset, end=offset + len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def write(self, path: str) -> Upload:
        """A file of fsspec's that is committed when it is closed."""
        return _FsspecUpload(self.filesystem.open(self._path(path), "wb", autocommit=False))

    def append_to(self, path: str) -> Upload:
        """The same, after what is there."""
        return _FsspecUpload(self.filesystem.open(self._path(path), "ab"))

    def make_directory(self, path: str) -> None:
        """One directory."""
        if self.filesystem.exists(self._path(path)):
            raise FileExistsError(f"{path} is there already")
        self.filesystem.mkdir(self._path(path), create_parents=False)

    def remove_directory(self, path: str) -> None:
        """One empty directory."""
        if self.children(path):
            raise OSError(39, f"{path} is not empty")
        self.filesystem.rmdir(self._path(path))

    def delete(self, path: str) -> None:
        """One file."""
        self.filesystem.rm_file(self._path(path))

    def copy(self, source: str, target: str) -> None:
        """Inside the filesystem."""
        self.filesystem.cp_file(self._path(source), self._path(target))

    def rename(self, source: str, target: str) -> None:
        """Copied and deleted, unless the filesystem knows better."""
        self.filesystem.mv(self._path(source), self._path(target), recursive=False)

    def forget(self) -> None:
        """Its listings."""
        self.filesystem.invalidate_cache()


class MemoryStore(FsspecStore):
    """fsspec's files in memory, which by themselves show while they are written.

    They also replace directories, and make some in none; here they do as other filesystems.
    """

    def write(self, path: str) -> Upload:
        """Kept until it is closed, then put in place at once."""
        self._no_directory(path)
        return _Kept(lambda data: self.filesystem.pipe_file(self._path(path), data))

    def append_to(self, path: str) -> Upload:
        """The same, after what is there."""
        self._no_directory(path)

        def put(data: bytes) -> None:
            where = self._path(path)
            before = self.filesystem.cat_file(where) if self.filesystem.exists(where) else b""
            self.filesystem.pipe_file(where, before + data)

        return _Kept(put)

    def make_directory(self, path: str) -> None:
        """One directory, in one."""
        above = path.rpartition("/")[0]
        if above and not self.stat(above).is_directory:
            raise NotADirectoryError(f"{path} is in a file")
        super().make_directory(path)

    def copy(self, source: str, target: str) -> None:
        """A file, over one that exists."""
        self._no_directory(target)
        super().copy(source, target)

    def rename(self, source: str, target: str) -> None:
        """A file, over one that exists."""
        self._no_directory(target)
        super().rename(source, target)

    def _no_directory(self, path: str) -> None:
        if self.filesystem.isdir(self._path(path)):
            raise IsADirectoryError(f"{path} is a directory")


class _Kept(Upload):
    """Bytes that are handed on when the file is closed."""

    def __init__(self, put: Callable[[bytes], None]) -> None:
        self._put, self._data = put, bytearray()

    def append(self, data: memoryview) -> None:
        """Keep them."""
        self._data += data

    def close(self) -> None:
        """Hand them on."""
        self._put(bytes(self._data))

    def abandon(self) -> None:
        """Nobody has seen them."""
        self._data.clear()


def store_of(filesystem: AbstractFileSystem) -> FsspecStore:
    """An fsspec filesystem as a store."""
    from fsspec.implementations.memory import MemoryFileSystem

    kind = MemoryStore if isinstance(filesystem, MemoryFileSystem) else FsspecStore
    return kind(filesystem)


def memory() -> FsspecStore:
    """What serves ``memory://``: fsspec's files in memory, the same for all of the process."""
    from fsspec.implementations.memory import MemoryFileSystem

    return MemoryStore(MemoryFileSystem())


class _FsspecUpload(Upload):
    """A file open for writing."""

    def __init__(self, file: Any) -> None:
        self.file = file

    def append(self, data: memoryview) -> None:
        """Its own buffer takes them."""
        self.file.write(bytes(data))

    def close(self) -> None:
        """What was written is there."""
        self.file.close()
        commit = getattr(self.file, "commit", None)
        if commit is not None and not getattr(self.file, "autocommit", False):
            commit()

    def abandon(self) -> None:
        """Closed without a commit, and discarded; what knows no commit shows it nevertheless."""
        with suppress(Exception):
            self.file.close()
            self.file.discard()


def _time(info: dict[str, Any]) -> int:
    """The time of the last change, under the names that filesystems have for it."""
    for name in (
        "mtime",
        "LastModified",
        "last_modified",
        "updated",
        "modificationTime",
        "created",
    ):
        found = info.get(name)
        if isinstance(found, datetime):
            return int(found.timestamp() * 1_000_000_000)
        if isinstance(found, int | float):
            return int(found * 1_000_000_000)
    return 0
