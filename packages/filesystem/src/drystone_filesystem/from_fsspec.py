"""Any fsspec filesystem as a store, and so as a scheme of drystone."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any

from drystone_filesystem.store import Stat, Store, Upload

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

__all__ = ["FsspecStore", "memory"]


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


def memory() -> FsspecStore:
    """What serves ``memory://``: fsspec's files in memory, the same for all of the process."""
    from fsspec.implementations.memory import MemoryFileSystem

    return FsspecStore(MemoryFileSystem())


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
