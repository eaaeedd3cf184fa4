"""Any fsspec filesystem as a store, and so as a scheme of drystone."""

from __future__ import annotations

import atexit
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from datetime import datetime
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, TypeVar
from weakref import WeakSet

from drystone_base.core.arguments import explaining
from drystone_base.core.errors import HostError
from drystone_filesystem._fsspec_kinds import inherits, is_one_of, turn_of, uncached
from drystone_filesystem._fsspec_web import hold_redirects, reason, web_scheme
from drystone_filesystem.store import Stat, Store, Upload

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

__all__ = ["FsspecStore", "MemoryStore", "memory", "store_of"]

P = ParamSpec("P")
T = TypeVar("T")
S = TypeVar("S", "FsspecStore", "_FsspecUpload")
_PIECE: Final = 4 << 20
_TIMES: Final = (
    ("mtime", 1_000_000_000),
    ("LastModified", 1_000_000_000),
    ("last_modified", 1_000_000_000),
    ("updated", 1_000_000_000),
    ("modificationTime", 1_000_000),
    ("created", 1_000_000_000),
)
"""Names that filesystems have for the time of the last change; nanoseconds in one, as a number."""


def _in_turn(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """A method that waits until others that use the same connection are done."""

    @wraps(method)
    def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with self.turn:
            try:
                return method(self, *args, **kwargs)
            except FileNotFoundError as error:
                raise (reason(error) or error) from error.__cause__

    return call


@explaining("__init__")
class FsspecStore(Store):
    """The methods of a store, by those of an fsspec filesystem.

    Its cache of listings is not used where it can be told so: another program's files show at once.
    """

    def __init__(self, filesystem: AbstractFileSystem, scheme: str = "") -> None:
        self.filesystem = filesystem
        self._web = web_scheme(filesystem, scheme)
        hold_redirects(filesystem)
        filesystem.dircache.use_listings_cache = False
        self.turn: AbstractContextManager[Any] = turn_of(filesystem)
        self._before: str | None = None
        self._asks_first = is_one_of(filesystem, "ftp", "sftp", "ssh", "file", "local")
        self._moves = not inherits(filesystem, "mv")

    def __repr__(self) -> str:
        return f"<FsspecStore of {type(self.filesystem).__name__}>"

    def _path(self, path: str) -> str:
        """A path as this filesystem writes it: with a slash before it, or without."""
        if self._before is None:
            self._before = self._beginning()
        stripped: str = self.filesystem._strip_protocol(self._before + path)
        return stripped or self.filesystem.root_marker

    def _beginning(self) -> str:
        """What its paths begin with.

        Some filesystems take off a slash that they do not want; of others that have none at their
        root, the names that they list tell (GitHub's would take a file for a folder). One request.
        Those of the web are whole URLs.
        """
        files = self.filesystem
        if self._web and not is_one_of(files, "dir"):
            return f"{self._web}://"
        if is_one_of(files, "dir"):
            return ""  # it puts one there itself
        if files.root_marker or not str(files._strip_protocol("/a/b")).startswith("/"):
            return "/"
        try:
            names = [str(name) for name in files.ls(files.root_marker, detail=False)]
        except Exception:  # who may not be listed is asked as before
            return "/"
        return "/" if not names or any(name.startswith("/") for name in names) else ""

    @_in_turn
    def stat(self, path: str) -> Stat:
        """Ask for the details of one path."""
        if not path:
            return Stat(0, 0, True)
        asked = uncached(self.filesystem) if self._web else self.filesystem
        info = asked.info(self._path(path))
        directory, size = info.get("type") == "directory", info.get("size")
        if size is None and not directory:  # a server need not say it
            size = len(self.filesystem.cat_file(self._path(path)))
        return Stat(0 if directory else int(size), _time(info), directory)

    @_in_turn
    def children(self, path: str) -> list[str]:
        """The last parts of what is listed."""
        own = self._path(path).strip("/")
        listed = (str(p).strip("/") for p in self.filesystem.ls(self._path(path), detail=False))
        return [one.rsplit("/", 1)[-1] for one in listed if one != own]

    @_in_turn
    def read_into(self, path: str, offset: int, buffer: memoryview, version: str = "") -> int:
        """One ranged read; fsspec has no way to ask for a version."""
        del version
        data = self.filesystem.cat_file(self._path(path), start=offset, end=offset + len(buffer))
        if len(data) > len(buffer):  # a server that knows no ranges gives all
            data = data[offset : offset + len(buffer)]
        buffer[: len(data)] = data
        return len(data)

    @_in_turn
    def write(self, path: str) -> Upload:
        """A file of fsspec's that is committed when it is closed."""
        self._may_be_replaced(path)
        file = self.filesystem.open(self._path(path), "wb", autocommit=False)
        if not _leads_nowhere(file):
            return _FsspecUpload(file, self.turn)
        if inherits(self.filesystem, "pipe_file"):
            raise NotImplementedError("this filesystem of fsspec's has no way to write files")
        return _Kept(lambda data: self.filesystem.pipe_file(self._path(path), data))

    @_in_turn
    def append_to(self, path: str) -> Upload:
        """The same, after what is there."""
        file = self.filesystem.open(self._path(path), "ab")
        if _leads_nowhere(file):
            raise NotImplementedError("this filesystem of fsspec's cannot append to files")
        return _FsspecUpload(file, self.turn)

    @_in_turn
    def make_directory(self, path: str) -> None:
        """One directory."""
        if self.filesystem.exists(self._path(path)):
            raise FileExistsError(f"{path} is there already")
        self.filesystem.mkdir(self._path(path), create_parents=False)

    @_in_turn
    def remove_directory(self, path: str) -> None:
        """One empty directory."""
        if self.children(path):
            raise OSError(39, f"{path} is not empty")
        self.filesystem.rmdir(self._path(path))

    @_in_turn
    def delete(self, path: str) -> None:
        """One file."""
        self.filesystem.rm_file(self._path(path))

    @_in_turn
    def copy(self, source: str, target: str) -> None:
        """Inside the filesystem, or by way of this machine where it knows no copies."""
        try:
            self.filesystem.cp_file(self._path(source), self._path(target))
        except NotImplementedError:
            self._carry(source, target)

    def _carry(self, source: str, target: str) -> None:
        """Read a file and write it again."""
        with self.filesystem.open(self._path(source), "rb") as file:
            upload = self.write(target)
            try:
                while piece := file.read(_PIECE):
                    upload.append(memoryview(piece))
            except BaseException:
                upload.abandon()
                raise
            upload.close()  # which gives up by itself

    @_in_turn
    def rename(self, source: str, target: str) -> None:
        """As the filesystem does, else copied and deleted: fsspec's own way is by patterns.

        It would take ``a[1]`` for ``a1``, put files into a directory, and delete one that is empty.
        """
        if self._moves:
            self._may_be_replaced(target)
            self.filesystem.mv(self._path(source), self._path(target))
            return
        if not self.stat(source).is_directory:
            self._may_be_replaced(target)
            self._no_directory(target)
        super().rename(source, target)

    def _may_be_replaced(self, path: str) -> None:
        """Refuse a directory: SFTP does without saying why, local files would go into it."""
        if self._asks_first:
            self._no_directory(path)

    def _no_directory(self, path: str) -> None:
        if self.filesystem.isdir(self._path(path)):
            raise IsADirectoryError(f"{path} is a directory")

    @_in_turn
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
        """A file over one that exists, or a directory to a path that is free."""
        if not self.stat(source).is_directory:
            self._no_directory(target)
        super().rename(source, target)


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
        """They have not been seen."""
        self._data.clear()


def store_of(filesystem: AbstractFileSystem, scheme: str = "") -> FsspecStore:
    """An fsspec filesystem as a store of ``scheme://``.

    Raises ``HostError`` for one that needs an event loop.
    """
    from fsspec.implementations.memory import MemoryFileSystem

    if getattr(filesystem, "asynchronous", False):
        raise HostError(
            f"{type(filesystem).__name__} cannot serve a scheme as it was made",
            check="the filesystem must answer calls that wait",
            found="asynchronous=True, which answers coroutines of an event loop",
            needed="one that runs its own event loop",
            remedy="make it without asynchronous=True",
            status="FAILED_PRECONDITION",
        )
    kind = MemoryStore if isinstance(filesystem, MemoryFileSystem) else FsspecStore
    return kind(filesystem, scheme)


def memory() -> FsspecStore:
    """What serves ``memory://``: fsspec's files in memory, the same for all of the process."""
    from fsspec.implementations.memory import MemoryFileSystem

    return MemoryStore(MemoryFileSystem())


class _FsspecUpload(Upload):
    """A file open for writing."""

    def __init__(self, file: Any, turn: AbstractContextManager[Any]) -> None:
        self.file, self.turn, self.ended = file, turn, False
        if not isinstance(turn, nullcontext):
            _UNFINISHED.add(self)

    @_in_turn
    def append(self, data: memoryview) -> None:
        """Its own buffer takes them."""
        self.file.write(bytes(data))

    @_in_turn
    def close(self) -> None:
        """What was written is there."""
        try:
            self.file.close()
            commit = getattr(self.file, "commit", None)
            if commit is not None and not getattr(self.file, "autocommit", False):
                commit()
        except BaseException:
            self.abandon()  # or what was to be shown would stay aside
            raise
        self.ended = True

    @_in_turn
    def abandon(self) -> None:
        """Closed without a commit, and discarded; what knows no commit shows it nevertheless."""
        if self.ended:
            return
        self.ended = True
        for end in ("close", "discard"):
            with suppress(Exception):
                getattr(self.file, end)()


_UNFINISHED: Final[WeakSet[_FsspecUpload]] = WeakSet()
_PATIENCE: Final = 1.0


@atexit.register
def _give_up_what_is_open() -> None:
    """Discard what was not closed while there is a connection: later, its end waits without end."""
    for upload in tuple(_UNFINISHED):
        turn: Any = upload.turn
        if turn.acquire(timeout=_PATIENCE):
            upload.abandon()
            turn.release()


def _leads_nowhere(file: Any) -> bool:
    """Whether it is what fsspec opens for filesystems that open no files: it drops what it gets."""
    from fsspec.spec import AbstractBufferedFile

    return type(file) is AbstractBufferedFile


def _time(info: dict[str, Any]) -> int:
    """The time of the last change."""
    for name, unit in _TIMES:
        found = info.get(name)
        if isinstance(found, datetime):
            return int(found.timestamp() * 1_000_000_000)
        if isinstance(found, int | float):
            return int(found * unit)
    return 0
