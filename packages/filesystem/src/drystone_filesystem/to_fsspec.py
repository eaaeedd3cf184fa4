"""Any scheme of drystone as an fsspec filesystem, for pandas, pyarrow and all who speak fsspec."""

from __future__ import annotations

import glob
import os
import threading
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import cache
from typing import Any, ClassVar, Final

import fsspec
from fsspec.spec import AbstractFileSystem
from fsspec.utils import stringify_path

from drystone_base.core.arguments import checked
from drystone_base.host import filesystem as host
from drystone_base.host.streams import RawReader
from drystone_filesystem._fsspec_files import Aside, Reading, Writing, told
from drystone_filesystem.gfile import kind_of
from drystone_filesystem.transfer import plan
from drystone_filesystem.waiting import Threads

__all__ = ["DrystoneFileSystem", "offer_to_fsspec"]

_ASKING: Final = "drystone-fsspec"


@cache
def _threads(_process: int, count: int) -> Threads:
    """Those of this process; a forked child makes its own."""
    return Threads(count, _ASKING)


class DrystoneFileSystem(AbstractFileSystem):  # type: ignore[misc]
    """The filesystem of a scheme: ``DrystoneFileSystem("ramdemo")``, or by ``fsspec.filesystem``.

    Paths are ``host/folder/file``, with or without ``scheme://`` before them. Failures are those
    of Python's own files (``FileNotFoundError``, ...), with the ``HostError`` as their cause.
    """

    protocol: ClassVar[str | tuple[str, ...]] = "drystone"
    scheme: ClassVar[str] = ""

    def __init__(self, scheme: str | None = None, **options: Any) -> None:
        super().__init__(**options)
        self._scheme = scheme or type(self).scheme

    def __reduce__(self) -> Any:
        return _again, (type(self).scheme, self.storage_args, self.storage_options)

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        if isinstance(path, list):
            return [cls._strip_protocol(one) for one in path]
        text = str(path)
        return (text.split("://", 1)[1] if "://" in text else text).rstrip("/")

    def _uri(self, path: str) -> str:
        return f"{self._scheme}://{self._strip_protocol(path)}"

    def unstrip_protocol(self, name: str) -> str:
        """The path with its scheme."""
        return self._uri(name)

    def _told(self, call: Any, path: str, *more: Any, **named: Any) -> Any:
        with told(self._uri(path)):
            return call(self._uri(path), *more, **named)

    def info(self, path: str, **_options: Any) -> dict[str, Any]:
        """Name, size in bytes, type, and the time of the last change in seconds."""
        found = self._told(host.stat, path)
        return {
            "name": self._strip_protocol(path),
            "size": None if found.is_directory else found.length,
            "type": "directory" if found.is_directory else "file",
            "mtime": found.mtime_nsec / 1e9,
        }

    def ls(self, path: str, detail: bool = True, **_options: Any) -> list[Any]:
        """What is in a directory, but for what goes meanwhile; of a file, the file."""
        if not self._told(host.is_directory, path):
            found = self.info(path)
            return [found] if detail else [found["name"]]
        own = self._strip_protocol(path)
        paths = [f"{own}/{name}" for name in self._told(host.list_directory, path)]
        return [found for found in self._at_once(self._seen, paths) if found] if detail else paths

    def _seen(self, path: str) -> dict[str, Any] | None:
        try:
            return self.info(path)
        except FileNotFoundError:
            return None

    def exists(self, path: str, **_options: Any) -> bool:
        """Whether there is a file or a directory."""
        found: bool = self._told(host.exists, path)
        return found

    def _open(
        self,
        path: str,
        mode: str = "rb",
        block_size: int | None = None,
        autocommit: bool = True,
        *_rest: Any,
        **_options: Any,
    ) -> Any:
        del block_size
        uri = self._uri(path)
        kind = kind_of(uri, mode)
        if kind == "r":
            return Reading(uri)
        return (Writing if autocommit else Aside)(uri, append=kind == "a")

    def cat_file(
        self, path: str, start: int | None = None, end: int | None = None, **_options: Any
    ) -> bytes:
        """The bytes from ``start`` to ``end``, counted from the end of the file where negative."""
        if start is None and end is None:
            with told(self._uri(path)), RawReader(self._uri(path)) as file:
                return file.readall()
        size = self._told(host.file_size, path)
        first, last, _ = slice(start, end).indices(size)
        part: bytes = self._told(host.read_range, path, first, max(last - first, 0))
        return part

    def cat(
        self, path: Any, recursive: bool = False, on_error: str = "raise", **options: Any
    ) -> Any:
        """The bytes of a file, or of several by path, asked for by several threads at once."""
        if not isinstance(path, str | os.PathLike | list | tuple | set):
            raise TypeError(f"a path, or a list of some, and not {type(path).__name__}")
        paths = self.expand_path(path, recursive=recursive)
        if (
            len(paths) == 1
            and not isinstance(path, list)
            and paths[0] == self._strip_protocol(path)
        ):
            return self.cat_file(paths[0], **options)

        def one(each: str) -> Any:
            try:
                return self.cat_file(each, **options)
            except Exception as error:
                if on_error == "raise":
                    raise
                return error

        found = dict(zip(paths, self._at_once(one, paths), strict=True))
        if on_error == "omit":
            return {k: v for k, v in found.items() if not isinstance(v, Exception)}
        return found

    def pipe(self, path: Any, value: Any = None, **options: Any) -> None:
        """Write a file, or several (bytes by path) by several threads at once."""
        files = path if isinstance(path, dict) else {path: value}
        self._at_once(lambda item: self.pipe_file(item[0], item[1], **options), files.items())

    def _at_once(self, call: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        """What the call answers for each, in order; the first failure is raised."""
        each = list(items)
        if len(each) < 2 or threading.current_thread().name == _ASKING:  # which wait for no other
            return [call(item) for item in each]
        return list(_threads(os.getpid(), plan().threads).map(call, each))

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **_: Any) -> None:
        """Write a file; ``mode="create"`` refuses one that exists."""
        if mode == "create" and self.exists(path):
            raise FileExistsError(path)
        self._told(host.write_bytes, path, value)

    def mkdir(self, path: str, create_parents: bool = True, **_options: Any) -> None:
        """Make a directory that does not exist."""
        if self.exists(path):
            raise FileExistsError(path)
        self._told(host.create_directory, path, parents=create_parents)

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        """Make a directory and all above it."""
        if not exist_ok and self.exists(path):
            raise FileExistsError(path)
        self._told(host.create_directory, path, parents=True)

    def rmdir(self, path: str) -> None:
        """Delete an empty directory."""
        self._told(host.delete_directory, path)

    def rm_file(self, path: str) -> None:
        """Delete a file."""
        self._told(host.delete, path)

    def rm(self, path: Any, recursive: bool = False, maxdepth: int | None = None) -> None:
        """Delete files, and with ``recursive`` directories with all in them."""
        for one in path if isinstance(path, list) else [path]:
            if recursive and maxdepth is None and self.isdir(one):
                left = host.delete_tree(self._uri(one))
                if left.failure:
                    raise OSError(f"{one}: {left.failure}")
            elif glob.has_magic(str(one)) and not self.exists(one):
                for found in self.expand_path(stringify_path(one)):
                    self.rm(found, recursive, maxdepth)
            else:
                self.rm_file(one)

    def cp_file(self, path1: str, path2: str, **_options: Any) -> None:
        """Copy a file over one that exists."""
        if self.isdir(path1):
            self.makedirs(path2, exist_ok=True)
        else:
            self._told(host.copy, path1, self._uri(path2))

    def mv(self, path1: str, path2: str, recursive: bool = False, **_options: Any) -> None:
        """Move a file, or with ``recursive`` a directory, which is copied and deleted.

        Both are names, not patterns. As with a copy, it goes into a directory that is there.
        """
        source, target = self._strip_protocol(path1), self._strip_protocol(path2)
        if not self.isdir(source):
            if str(path2).endswith("/") or self.isdir(target):
                target = f"{target}/{source.rpartition('/')[2]}"
            self._told(host.rename, source, self._uri(target))
            return
        if not recursive:
            raise IsADirectoryError(f"{path1} is a directory")
        if source == target:
            return
        if self.isdir(target):
            target = f"{target}/{source.rpartition('/')[2]}"
        if f"{target}/".startswith(f"{source}/"):
            raise OSError(f"{path1} cannot be moved inside of itself")
        inside = [source, *self.find(source, withdirs=True)]
        self.copy(inside, [target + one.removeprefix(source) for one in inside])
        self.rm(source, recursive=True)

    def modified(self, path: str) -> datetime:
        """The time of the last change."""
        return datetime.fromtimestamp(self.info(path)["mtime"], UTC)

    def invalidate_cache(self, path: str | None = None) -> None:
        """Have the filesystem forget what it has read; of a path, of all."""
        del path
        host.flush_caches(self._scheme)


@checked
def offer_to_fsspec(scheme: str) -> type[DrystoneFileSystem]:
    """Make ``scheme://`` known to fsspec, in place of what it may have had; the class that it is.

    From then on ``pandas.read_csv("SCHEME://...")`` and the like read it through drystone.
    """
    made = _class_of(scheme)
    fsspec.register_implementation(scheme, made, clobber=True)
    return made


@cache
def _class_of(scheme: str) -> type[DrystoneFileSystem]:
    members = {"protocol": scheme, "scheme": scheme}
    return type(f"{scheme.capitalize()}FileSystem", (DrystoneFileSystem,), members)


def _again(scheme: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """One that was pickled: its class is by the scheme, as no module has it."""
    made = _class_of(scheme) if scheme else DrystoneFileSystem
    return made(*arguments, **options)
