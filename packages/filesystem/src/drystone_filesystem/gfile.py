"""Files by path, local or with any scheme, under the names that ``tf.io.gfile`` has for them.

Failures are ``HostError`` with the status of the filesystem (``NOT_FOUND``, ...) in ``status``.
"""

from __future__ import annotations

import io
import os
import posixpath
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Self

from drystone_base.core.arguments import checked, explaining
from drystone_base.core.errors import BadRequest, HostError
from drystone_base.core.redact import redacted
from drystone_base.host import filesystem as host
from drystone_base.host.filesystem import FileStatistics
from drystone_base.host.streams import BUFFER, RawReader, RawWriter

__all__ = [
    "GFile",
    "copy",
    "exists",
    "get_registered_schemes",
    "glob",
    "isdir",
    "join",
    "listdir",
    "makedirs",
    "mkdir",
    "open",
    "remove",
    "rename",
    "rmtree",
    "stat",
    "walk",
]

Path = str | os.PathLike[str]
_MODES: Final = ("r", "w", "a")


def kind_of(name: Path, mode: str) -> str:
    """``r``, ``w`` or ``a``. Raises ``BadRequest`` (``bad-file-mode``) for another mode."""
    kind = mode.replace("b", "", 1)
    if kind not in _MODES:
        raise BadRequest(
            f"{os.fspath(name)} cannot be opened",
            check="a mode must be one that files have here",
            found=repr(mode),
            needed="r, w or a, or one of them with b",
            remedy="open it once to read, and again to write",
            code="bad-file-mode",
        )
    return kind


@explaining("__init__", "read", "seek", "write")
class GFile:
    """A file open for reading, writing or appending: ``with GFile("s3://b/x", "w") as f``.

    ``mode`` is ``r``, ``w`` or ``a``, with ``b`` for bytes, as of :func:`open`; text is UTF-8.
    A block that is left by an exception abandons what it wrote: stores that show files only when
    they are closed never show it. Raises ``BadRequest`` (``bad-file-mode``), ``HostError``.
    """

    def __init__(self, name: Path, mode: str = "r") -> None:
        kind = kind_of(name, mode)
        self.name, self.mode = os.fspath(name), mode
        self._raw: Any = RawReader(name) if kind == "r" else RawWriter(name, append=kind == "a")
        buffered = io.BufferedReader if kind == "r" else io.BufferedWriter
        self._file: Any = buffered(self._raw, BUFFER)
        if "b" not in mode:
            self._file = io.TextIOWrapper(self._file, "utf-8", newline="\n")

    def __repr__(self) -> str:
        return f"<GFile {redacted(self.name)!r} mode {self.mode!r}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_rest: object) -> None:
        if kind is not None and "r" not in self.mode:
            self._raw.failed = True
        self.close()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._file)

    def read(self, n: int = -1) -> Any:
        """Up to ``n`` characters (bytes for ``b``), or all that is left."""
        return self._file.read(n)

    def readline(self) -> Any:
        """One line with its end; empty at the end of the file."""
        return self._file.readline()

    def readlines(self) -> list[Any]:
        """All lines that are left."""
        lines: list[Any] = self._file.readlines()
        return lines

    def write(self, data: Any) -> None:
        """Add text (bytes for ``b``) at the end."""
        self._file.write(data)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> None:
        """Go to a place: from the start, from here (1) or from the end (2); for reading."""
        self._file.seek(offset, whence)

    def tell(self) -> int:
        """The place of the next character, as :func:`open` has it."""
        place: int = self._file.tell()
        return place

    def size(self) -> int:
        """Bytes in the file as the filesystem knows it."""
        return host.file_size(self.name)

    def seekable(self) -> bool:
        """Whether ``seek`` works: for reading."""
        return bool(self._raw.seekable())

    def flush(self) -> None:
        """Let others see what was written, where the store can; nothing where it cannot."""
        self._file.flush()
        if "r" not in self.mode:
            self._raw.flush()  # which buffers of Python's do not ask for

    def close(self) -> None:
        """End the file: what was written is there when this returns."""
        self._file.close()


@checked
def open(name: Path, mode: str = "r") -> GFile:
    """A :class:`GFile`."""
    return GFile(name, mode)


@checked
def exists(path: Path) -> bool:
    """Whether there is a file or a directory."""
    return host.exists(path)


@checked
def isdir(path: Path) -> bool:
    """Whether there is a directory."""
    return host.is_directory(path)


@checked
def listdir(path: Path) -> list[str]:
    """The names in a directory, sorted."""
    return host.list_directory(path)


@checked
def glob(pattern: str | Iterable[str]) -> list[str]:
    """The paths that match one of the patterns (``*``, ``?``, ``[a-z]`` within a part), sorted."""
    patterns = [pattern] if isinstance(pattern, str) else list(pattern)
    return sorted({path for one in patterns for path in host.glob(one)})


@checked
def stat(path: Path) -> FileStatistics:
    """Bytes, time in nanoseconds since 1970, and whether it is a directory."""
    return host.stat(path)


@checked
def mkdir(path: Path) -> None:
    """Make one directory, whose parent exists."""
    host.create_directory(path)


@checked
def makedirs(path: Path) -> None:
    """Make a directory and all above it; it may exist."""
    host.create_directory(path, parents=True)


@checked
def remove(path: Path) -> None:
    """Delete a file."""
    host.delete(path)


@checked
def rmtree(path: Path) -> None:
    """Delete a directory and all in it; raises ``HostError`` where something is left."""
    left = host.delete_tree(path)
    if left.failure or left.files or left.directories:
        raise HostError(
            f"{os.fspath(path)} cannot be deleted",
            check="all in the directory must be deleted",
            found=left.failure,
            needed=f"{left.files} files and {left.directories} directories are left",
            remedy="delete what is left, or ask who keeps it",
            status="NOT_FOUND" if not exists(path) else "FAILED_PRECONDITION",
        )


@checked
def rename(src: Path, dst: Path, overwrite: bool = False) -> None:
    """Move a file or a directory; over a file only if told so.

    Stores that move files only have a directory copied file by file, then deleted.
    """
    _free(dst, overwrite=overwrite)
    host.rename(src, dst)


@checked
def copy(src: Path, dst: Path, overwrite: bool = False) -> None:
    """Copy a file; over one that exists only if told so. The paths may have different schemes."""
    _free(dst, overwrite=overwrite)
    host.copy(src, dst)


def _free(path: Path, *, overwrite: bool) -> None:
    if not overwrite and host.exists(path):
        raise HostError(
            f"{os.fspath(path)} is there already",
            check="a file is replaced only where that is asked for",
            found="a directory" if isdir(path) else "a file",
            needed="a path that is free, or overwrite=True",
            remedy="choose another path, or give overwrite=True",
            status="ALREADY_EXISTS",
        )


@checked
def walk(
    top: Path, topdown: bool = True, onerror: Callable[[Exception], object] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Every directory from ``top`` down: its path, its directories and its files, sorted.

    A directory that cannot be listed is left out; ``onerror`` is called with the ``HostError``.
    """
    here = os.fspath(top)
    try:
        names = listdir(here)
        directories = [name for name in names if isdir(join(here, name))]
    except HostError as error:
        if onerror is not None:
            onerror(error)
        return
    files = [name for name in names if name not in set(directories)]
    if topdown:
        yield here, directories, files
    for name in directories:
        yield from walk(join(here, name), topdown, onerror)
    if not topdown:
        yield here, directories, files


@checked
def join(path: Path, *paths: Path) -> str:
    """Parts of a path as one; a part with a scheme or a slash before it starts again."""
    joined = os.fspath(path)
    for part in [os.fspath(one) for one in paths]:
        if "://" in part:
            joined = part
        elif "://" in joined:
            scheme, _, rest = joined.partition("://")
            joined = f"{scheme}://{posixpath.join(rest, part)}"
        else:
            joined = os.path.join(joined, part)
    return joined


def get_registered_schemes() -> list[str]:
    """The schemes that can be served."""
    from drystone_filesystem.registry import schemes

    return list(schemes())
