"""Paths with a scheme beside those of the local filesystem: ``as_path`` tells which one is meant.

What is behind a scheme is decided by the host (``drystone_base.host.filesystem``): a plugin, or a
package that serves it. Nothing of that is imported before such a path is used.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple, NoReturn, cast

from drystone_base.core.chained import refuse_chained
from drystone_base.core.redact import redacted

if TYPE_CHECKING:
    from pathlib import Path

    from drystone_base.core.errors import HostError

__all__ = [
    "NotOffered",
    "Ranges",
    "UriPath",
    "as_path",
    "local_text",
    "os_error",
    "uri_of",
]

PathLike = str | os.PathLike[str]

_URI: Final = r"([A-Za-z][A-Za-z0-9+.-]{0,63})://([^/]*)(.*)"
_PIECE: Final = 1 << 24


def as_path(path: PathLike) -> Path:
    """A ``Path`` for a local path or ``file://`` URI, a :class:`UriPath` for any other scheme.

    A ``UriPath`` has the methods of a ``Path`` that are used here, so it is stated as one.
    """
    if isinstance(path, UriPath):
        return cast("Path", path)
    found = _told_apart(os.fspath(path))
    return _local(found) if isinstance(found, str) else cast("Path", found)


def local_text(path: PathLike) -> str | None:
    """What :func:`as_path` makes a ``Path`` of, as text; None for any other scheme.

    For what every process does: Python's module of paths takes 4 ms to import.
    """
    found = path if isinstance(path, UriPath) else _told_apart(os.fspath(path))
    return found if isinstance(found, str) else None


def _told_apart(text: str) -> str | UriPath:
    match = re.fullmatch(_URI, text, re.DOTALL) if "://" in text else None
    if match is None:
        refuse_chained(text)
        return text
    scheme, host, rest = match.groups()
    if scheme == "file" and host in ("", "localhost"):
        return rest or "/"
    return UriPath(scheme, host, rest)


def _local(text: str) -> Path:
    from pathlib import Path

    return Path(text)


def uri_of(path: PathLike) -> UriPath | None:
    """What :func:`as_path` made where it has a scheme; None for a local path."""
    return path if isinstance(path, UriPath) else None


class Statistics(NamedTuple):
    """The part of ``os.stat_result`` that a file has everywhere."""

    st_size: int


class UriPath(os.PathLike[str]):
    """``scheme://host/path``, with the methods of a ``Path``, which fail as those of one do.

    The path is clean: no empty, ``.`` or ``..`` parts, so that comparing texts compares files.
    """

    __slots__ = ("_base", "_path")

    def __init__(self, scheme: str, host: str, path: str) -> None:
        host = "" if host in (".", "..") else host
        self._base = f"{scheme}://{host}"
        clean = posixpath.normpath("/" + path.lstrip("/"))
        self._path = "" if clean == "/" else clean

    def _with(self, path: str) -> Path:
        made = object.__new__(UriPath)
        made._base, made._path = self._base, path
        return cast("Path", made)

    def __fspath__(self) -> str:
        return self._base + self._path

    __str__ = __fspath__

    def __repr__(self) -> str:
        return f"UriPath({redacted(self.__fspath__())!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UriPath) and self.__fspath__() == other.__fspath__()

    def __lt__(self, other: UriPath) -> bool:
        return self.__fspath__() < other.__fspath__()

    def __hash__(self) -> int:
        return hash(self.__fspath__())

    def __truediv__(self, other: PathLike) -> Path:
        text = os.fspath(other)
        if "://" in text:
            return as_path(text)
        clean = posixpath.normpath(posixpath.join(self._path or "/", text))
        return self._with("" if clean == "/" else clean)

    # ---- names ---------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The last part; empty for ``scheme://host``."""
        return posixpath.basename(self._path)

    @property
    def stem(self) -> str:
        """The name without its suffix."""
        return _local(self.name).stem

    @property
    def suffix(self) -> str:
        """The name's last suffix."""
        return _local(self.name).suffix

    @property
    def parent(self) -> Path:
        """The path without its last part."""
        above = posixpath.dirname(self._path)
        return self._with("" if above == "/" else above)

    def with_name(self, name: str) -> Path:
        """Another name in the same folder."""
        return self.parent / name

    def with_suffix(self, suffix: str) -> Path:
        """The name with another suffix."""
        return self.parent / str(_local(self.name).with_suffix(suffix))

    def absolute(self) -> Path:
        """Itself: there is no current folder."""
        return cast("Path", self)

    def resolve(self) -> Path:
        """Itself: it is clean, and there are no links."""
        return cast("Path", self)

    @property
    def parents(self) -> tuple[Path, ...]:
        """The folders that it is in, the nearest first, up to ``scheme://host``."""
        found: list[Path] = []
        while (above := (found[-1] if found else self).parent) != (found[-1] if found else self):
            found.append(above)
        return tuple(found)

    def is_symlink(self) -> bool:
        """Never: what is behind a scheme has no links that are followed here."""
        return False

    # ---- what is there -------------------------------------------------------------------------

    def exists(self) -> bool:
        """Whether there is a file or a directory."""
        from drystone_base.host import filesystem

        return bool(_told(filesystem.exists, self))

    def is_dir(self) -> bool:
        """Whether there is a directory."""
        from drystone_base.host import filesystem

        return bool(_told(filesystem.is_directory, self))

    def is_file(self) -> bool:
        """Whether there is a file."""
        from drystone_base.host import filesystem

        try:
            return not _told(filesystem.stat, self).is_directory
        except FileNotFoundError:
            return False

    def stat(self) -> Statistics:
        """Bytes in the file."""
        from drystone_base.host import filesystem

        return Statistics(_told(filesystem.stat, self).length)

    def iterdir(self) -> Iterator[Path]:
        """What is in the directory, sorted."""
        from drystone_base.host import filesystem

        return iter([self / name for name in _told(filesystem.list_directory, self)])

    def glob(self, pattern: str) -> Iterator[Path]:
        """What is in the directory under a name that matches."""
        import fnmatch

        there = self.iterdir() if self.is_dir() else ()
        return iter([path for path in there if fnmatch.fnmatchcase(path.name, pattern)])

    def rglob(self, pattern: str) -> Iterator[Path]:
        """What is in the directory and below; nothing where the store tells no names."""
        import fnmatch

        try:
            there = self.iterdir()
        except (NotOffered, FileNotFoundError):
            return
        for path in there:
            if fnmatch.fnmatchcase(path.name, pattern):
                yield path
            if path.is_dir():
                yield from path.rglob(pattern)

    # ---- reading -------------------------------------------------------------------------------

    def read_bytes(self) -> bytes:
        """All bytes, asked for at once."""
        with self.open("rb") as file:
            return file.read()

    def open(self, mode: str = "rb") -> BinaryIO:
        """A stream of the file's bytes, for reading only."""
        from drystone_base.host.streams import reader

        if mode != "rb":
            raise OSError(f"{self} cannot be opened with mode {mode!r}")
        stream: BinaryIO = _told(reader, self)
        return stream

    # ---- writing -------------------------------------------------------------------------------

    def write_bytes(self, data: bytes | memoryview) -> int:
        """Make the file of these bytes; it appears whole where the store can."""
        self.write_pieces([data])
        return len(data)

    def write_pieces(self, pieces: Iterable[bytes | memoryview]) -> None:
        """The same, of the pieces one after the other."""
        from drystone_base.host.open_files import Writable

        def write(path: UriPath) -> None:
            with Writable(path) as file:
                for piece in pieces:
                    file.append(piece)

        _told(write, self)

    def append_bytes(self, data: bytes) -> None:
        """Add to the end of the file; it is written again where the store cannot append."""
        from drystone_base.host.open_files import Writable

        def append(path: UriPath) -> None:
            with Writable(path, append=True) as file:
                file.append(data)

        try:
            _told(append, self)
        except NotOffered:
            self.write_pieces([self.read_bytes() if self.exists() else b"", data])

    def upload(self, source: Path) -> None:
        """Make the file of the bytes of a local one."""

        def pieces() -> Iterator[bytes]:
            with source.open("rb") as file:
                while piece := file.read(_PIECE):
                    yield piece

        self.write_pieces(pieces())

    def mkdir(self, *, parents: bool = False, exist_ok: bool = False) -> None:
        """Make the directory, where the store has such."""
        from drystone_base.host import filesystem

        if exist_ok and self.is_dir():
            return
        _told(filesystem.create_directory, self, parents=parents)

    def unlink(self, *, missing_ok: bool = False) -> None:
        """Delete the file."""
        from drystone_base.host import filesystem

        try:
            _told(filesystem.delete, self)
        except FileNotFoundError:
            if not missing_ok:
                raise

    def rmdir(self) -> None:
        """Delete the empty directory."""
        from drystone_base.host import filesystem

        _told(filesystem.delete_directory, self)

    def replace(self, target: PathLike) -> None:
        """Move the file over another."""
        from drystone_base.host import filesystem

        _told(filesystem.rename, self, target)


class Ranges:
    """A file of which parts are read when they are asked for: ``ranges[a:b]`` is a memoryview."""

    def __init__(self, path: UriPath) -> None:
        from drystone_base.host.open_files import Readable

        self._path = path
        self._size = path.stat().st_size
        self._file: Readable = _told(Readable, path)

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, part: slice) -> memoryview:
        start, stop, _ = part.indices(self._size)
        room = bytearray(max(stop - start, 0))
        got = _told(lambda _: self._file.read_into(start, memoryview(room)), self._path)
        if got < len(room):
            raise OSError(f"{self._path} ended at byte {start + got}, needed: {stop}")
        return memoryview(room).toreadonly()


class NotOffered(OSError):
    """The store has no such function: a web server tells no names."""


_BY_STATUS: Final[dict[str, type[OSError]]] = {
    "NOT_FOUND": FileNotFoundError,
    "ALREADY_EXISTS": FileExistsError,
    "PERMISSION_DENIED": PermissionError,
    "UNAUTHENTICATED": PermissionError,
    "DEADLINE_EXCEEDED": TimeoutError,
    "UNAVAILABLE": ConnectionError,
    "UNIMPLEMENTED": NotOffered,
}


def os_error(error: HostError, path: str) -> OSError:
    """The exception that Python's own files would raise; the host's error is its cause."""
    if error.status in _BY_STATUS:
        made = _BY_STATUS[error.status](f"{redacted(path)}: {error.sentence}")
    else:
        made = OSError(f"{redacted(path)}: {error.sentence} [{error.status}]")
    made.__cause__ = error
    return made


def _told(call: Callable[..., Any], path: UriPath, *more: Any, **named: Any) -> Any:
    """What ``call(path, ...)`` answers; failures become those of files.

    A scheme that no filesystem serves stays the error that says what to install.
    """
    from drystone_base.core.errors import HostError

    try:
        return call(path, *more, **named)
    except HostError as error:
        _raise(error, path)


def _raise(error: HostError, path: UriPath) -> NoReturn:
    if error.code == "no-filesystem":
        raise error
    raise os_error(error, os.fspath(path)) from error
