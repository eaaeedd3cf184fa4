"""Files by URI through the host: local paths, and the schemes that plugins registered.

A thin layer over ``drystone_host/filesystem.h``: every function takes whole paths or URIs
(``scheme://host/path``), goes to the filesystem of the scheme, and raises ``HostError`` with the
status of the filesystem (``NOT_FOUND``, ``UNIMPLEMENTED``, ...) in ``status``.
"""

from __future__ import annotations

import atexit
import ctypes
import json
import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import wraps
from typing import Any, Final, NamedTuple, ParamSpec, TypeVar

from drystone_base.core.chained import refuse_chained
from drystone_base.core.errors import HostError
from drystone_base.host import _files as c
from drystone_base.host.buffer import answer
from drystone_base.host.detached import call_of_plugin, forget_plugins, note_plugin
from drystone_base.host.status import ANY, Status
from drystone_base.modules import stage
from drystone_base.modules.wanted import ensure_loaded, refused_offer

__all__ = [
    "FileStatistics",
    "Undeleted",
    "append_bytes",
    "checked_uri",
    "cleanup",
    "copy",
    "create_directory",
    "delete",
    "delete_directory",
    "delete_tree",
    "exist",
    "exists",
    "file_size",
    "filesystems",
    "flush_caches",
    "glob",
    "is_directory",
    "list_directory",
    "read_bytes",
    "read_memory",
    "read_range",
    "register_plugin",
    "rename",
    "serve_in_python",
    "stat",
    "translate",
    "write_bytes",
]

P = ParamSpec("P")
T = TypeVar("T")


class FileStatistics(NamedTuple):
    """What a filesystem knows about a path; times in nanoseconds since 1970."""

    length: int
    mtime_nsec: int
    is_directory: bool


class Undeleted(NamedTuple):
    """What is left of a tree after ``delete_tree``, and the first failure's text."""

    files: int
    directories: int
    failure: str


def checked_uri(uri: str | os.PathLike[str]) -> bytes:
    """A URI as the host takes it; the package that offers its scheme is loaded first."""
    raw = os.fsencode(uri)
    scheme, colon, _ = raw.partition(b"://")
    if colon and b"::" in scheme:
        refuse_chained(os.fsdecode(raw))
    if colon and scheme not in _SERVED:
        _serve(os.fsdecode(scheme))
    if b"\0" in raw:
        raise HostError(
            f"{os.fspath(uri)!r} is not a path",
            check="a path has no NUL character",
            found="one at position " + str(raw.index(b"\0")),
            needed="a path without it",
            remedy="look where the path was made: it may be bytes of a tensor",
            status="INVALID_ARGUMENT",
        )
    return raw


def _leaving(does: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """A function of a path, its first argument, that may ask a plugin to do so."""

    def decorated(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def call(*given: P.args, **named: P.kwargs) -> T:
            raw = checked_uri(given[0])  # type: ignore[arg-type]
            shown = f"{does} {os.fsdecode(raw)}"
            return call_of_plugin(raw, shown, lambda: function(*given, **named))

        return call

    return decorated


_SERVED: Final[set[bytes]] = set()
_SERVING: Final = threading.RLock()
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,63}")
_PACKAGES: Final = {
    "memory": "drystone-filesystem",
    "s3": "drystone-fs-s3",
    "gs": "drystone-fs-gcs",
    "az": "drystone-fs-azure",
    "abfs": "drystone-fs-azure",
    "abfss": "drystone-fs-azure",
    "hdfs": "drystone-fs-hdfs",
    "http": "drystone-fs-hdfs",
    "https": "drystone-fs-hdfs",
}
"""Which of drystone's own packages offers a scheme, for those who have not installed it."""


def _serve(scheme: str) -> None:
    """Load plugins before a scheme is first used; raises the reason of one that would offer it.

    By one thread at a time: a scheme is registered once.
    """
    with _SERVING:
        _serve_once(scheme)


def _serve_once(scheme: str) -> None:
    ensure_loaded()
    raw = os.fsencode(scheme)
    for one in filesystems():
        if one["scheme"] == scheme:
            note_plugin(raw, one["library"] if raw not in c.in_python else "")
            _SERVED.add(raw)
            return
    refused = refused_offer("schemes", scheme)
    if refused is not None:
        raise refused
    if any(serve(scheme) for serve in stage("scheme")):
        _SERVED.add(os.fsencode(scheme))
        return
    if not _SCHEME.fullmatch(scheme):
        return  # the host takes it for a local path, or says what is wrong with it
    known = ", ".join(one["scheme"] for one in filesystems())
    package = _PACKAGES.get(scheme, "the package that offers it, or a plugin library")
    raise HostError(
        f"no filesystem serves {scheme}://",
        check="the scheme of a path must be one that an installed package or plugin offers",
        found=f"{scheme}; served now: {known}",
        needed=package,
        remedy=f"pip install {package}"
        if scheme in _PACKAGES
        else "`drystone plugins list` shows what is installed and why something is not loaded",
        code="no-filesystem",
        status="UNIMPLEMENTED",
    )


def register_plugin(path: str | os.PathLike[str]) -> None:
    """Open a library and register its filesystems, without the checks of ``load_library``."""
    raw = checked_uri(path)
    with Status(f"the filesystems of {os.fspath(path)} cannot be registered") as status:
        c.register(raw, status.pointer)


def filesystems() -> list[dict[str, Any]]:
    """The registered schemes: ``scheme``, ``library`` ("" for the host's), ``offers``."""
    listed: list[dict[str, Any]] = json.loads(answer("filesystems cannot be listed", c.listing))
    return listed


def cleanup() -> None:
    """Forget the filesystems of plugins; each ends when its last open file is closed."""
    _SERVED.clear()
    forget_plugins()
    c.in_python.clear()
    c.cleanup()


def serve_in_python(scheme: str) -> None:
    """Say that the filesystem of a scheme, which is registered, is written in Python."""
    c.in_python.add(os.fsencode(scheme))


_PROCESS: Final = os.getpid()


@atexit.register
def _cleanup_at_exit() -> None:
    """Before the interpreter goes: a plugin's cleanup may log, and the log may be Python's.

    Not in a child that was only forked: threads that a plugin waits for are not there.
    """
    if c.library_is_open() and os.getpid() == _PROCESS:
        c.cleanup()


def flush_caches(scheme: str | None = None) -> None:
    """Tell one filesystem, or all, to forget what it has read."""
    with Status(f"caches of {scheme or 'all filesystems'} cannot be flushed") as status:
        c.flush_caches(None if scheme is None else checked_uri(scheme), status.pointer)


@_leaving("read")
def read_bytes(uri: str | os.PathLike[str]) -> bytes:
    """All bytes of a file."""
    raw = checked_uri(uri)
    what = f"{os.fspath(uri)} cannot be read"
    return answer(what, lambda buffer, status: c.read_whole(raw, buffer, status))


@_leaving("read")
def read_range(uri: str | os.PathLike[str], offset: int, size: int) -> bytes:
    """Up to ``size`` bytes from ``offset``; fewer only at the end of the file."""
    raw = checked_uri(uri)
    if offset < 0 or size < 0:
        raise HostError(
            f"{os.fspath(uri)} cannot be read",
            check="offset and size are not negative",
            found=f"offset {offset}, size {size}",
            needed="numbers from 0 on",
            remedy="`os.stat(path).st_size` bounds both",
            status="INVALID_ARGUMENT",
        )
    calls = c.calls(raw)
    with Status(f"{os.fspath(uri)} cannot be opened") as status:
        file = calls.open_readable(raw, status.pointer)
    buffer = ctypes.create_string_buffer(size)
    try:
        with Status(f"{os.fspath(uri)} cannot be read", c.ENDS) as status:
            got: int = calls.read(file, offset, size, buffer, status.pointer)
    finally:
        calls.close_readable(file)
    return buffer.raw[:got]


@_leaving("map")
def read_memory(uri: str | os.PathLike[str]) -> bytes:
    """All bytes of a file, by way of its memory region; not every filesystem has those."""
    raw, data, length = checked_uri(uri), ctypes.c_void_p(), ctypes.c_uint64()
    with Status(f"{os.fspath(uri)} cannot be mapped") as status:
        region = c.open_region(raw, ctypes.byref(data), ctypes.byref(length), status.pointer)
    try:
        return ctypes.string_at(data, length.value) if length.value else b""
    finally:
        c.close_region(region)


@_leaving("write")
def write_bytes(uri: str | os.PathLike[str], data: bytes) -> None:
    """Create a file with these bytes, over one that exists."""
    raw, data = checked_uri(uri), _whole(data)
    with Status(f"{os.fspath(uri)} cannot be written") as status:
        c.calls(raw).write_whole(raw, data, len(data), status.pointer)


def _whole(data: object) -> bytes:
    """Bytes as the host takes them; raises ``TypeError``, as Python's own files do."""
    return data if isinstance(data, bytes) else bytes(memoryview(data))  # type: ignore[arg-type]


@_leaving("append to")
def append_bytes(uri: str | os.PathLike[str], data: bytes) -> int:
    """Add bytes at the end of a file (a new one when there is none); its length afterwards."""
    raw, data = checked_uri(uri), _whole(data)
    what, calls = f"{os.fspath(uri)} cannot be appended to", c.calls(raw)
    with Status(what) as status:
        file = calls.open_appendable(raw, status.pointer)
    try:
        with Status(what) as status:
            calls.append(file, data, len(data), status.pointer)
        with Status(what) as status:
            place: int = c.tell(file, status.pointer)
    except HostError:
        with Status(what, ANY) as status:  # the first error is the one to tell
            calls.close_writable(file, status.pointer)
        raise
    with Status(what) as status:
        calls.close_writable(file, status.pointer)
    return place


def _strings(stream: int | None) -> Iterator[str]:
    text = ctypes.c_char_p()
    try:
        while c.next_string(stream, ctypes.byref(text)):
            yield os.fsdecode(text.value or b"")
    finally:
        c.end_strings(stream)


@_leaving("list")
def list_directory(uri: str | os.PathLike[str]) -> list[str]:
    """The names in a directory, sorted."""
    raw = checked_uri(uri)
    with Status(f"{os.fspath(uri)} cannot be listed") as status:
        stream = c.children(raw, status.pointer)
    return sorted(_strings(stream))


@_leaving("match")
def glob(pattern: str) -> list[str]:
    """The paths that match a pattern (``*``, ``?``, ``[a-z]`` within a part), sorted."""
    raw = checked_uri(pattern)
    with Status(f"{pattern} cannot be matched") as status:
        stream = c.matching(raw, status.pointer)
    return sorted(_strings(stream))


@_leaving("look at")
def stat(uri: str | os.PathLike[str]) -> FileStatistics:
    """Length, time and kind of a path."""
    raw, found = checked_uri(uri), c.Statistics()
    with Status(f"{os.fspath(uri)} cannot be looked at") as status:
        c.stat(raw, ctypes.byref(found), status.pointer)
    return FileStatistics(found.length, found.mtime_nsec, bool(found.is_directory))


@_leaving("look at")
def file_size(uri: str | os.PathLike[str]) -> int:
    """Bytes in a file."""
    raw = checked_uri(uri)
    with Status(f"{os.fspath(uri)} has no size") as status:
        size: int = c.file_size(raw, status.pointer)
    return size


def _holds(function: Any, uri: str | os.PathLike[str], no: set[str]) -> bool:
    """Whether a call is OK; False for the codes in ``no``, an error for all others."""
    raw = checked_uri(uri)
    try:
        with Status(f"{os.fspath(uri)} cannot be looked at") as status:
            function(raw, status.pointer)
    except HostError as error:
        if error.status in no:
            return False
        raise
    return True


@_leaving("look at")
def exists(uri: str | os.PathLike[str]) -> bool:
    """Whether there is a file or a directory."""
    return _holds(c.path_exists, uri, {"NOT_FOUND"})


def exist(uris: list[str]) -> list[str]:
    """The name of each path's status: ``OK`` for those that exist."""
    paths = (ctypes.c_char_p * len(uris))(*[checked_uri(uri) for uri in uris])
    with ExitStack() as stack:
        found = [stack.enter_context(Status(f"{uri} cannot be looked up", ANY)) for uri in uris]
        c.paths_exist(paths, len(uris), (ctypes.c_void_p * len(uris))(*[s.pointer for s in found]))
        return [status.name for status in found]


@_leaving("look at")
def is_directory(uri: str | os.PathLike[str]) -> bool:
    """Whether there is a directory; False for a file and for nothing."""
    return _holds(c.is_directory, uri, {"NOT_FOUND", "FAILED_PRECONDITION"})


@_leaving("make")
def create_directory(uri: str | os.PathLike[str], *, parents: bool = False) -> None:
    """Make a directory; with ``parents`` all above it as well, and it may exist."""
    raw = checked_uri(uri)
    with Status(f"{os.fspath(uri)} cannot be made") as status:
        (c.make_dirs if parents else c.create_dir)(raw, status.pointer)


@_leaving("delete")
def delete(uri: str | os.PathLike[str]) -> None:
    """Delete a file."""
    raw = checked_uri(uri)
    with Status(f"{os.fspath(uri)} cannot be deleted") as status:
        c.delete_file(raw, status.pointer)


@_leaving("delete")
def delete_directory(uri: str | os.PathLike[str]) -> None:
    """Delete an empty directory."""
    raw = checked_uri(uri)
    with Status(f"{os.fspath(uri)} cannot be deleted") as status:
        c.delete_dir(raw, status.pointer)


@_leaving("delete")
def delete_tree(uri: str | os.PathLike[str]) -> Undeleted:
    """Delete a directory and all below it, going on after failures."""
    raw, files, directories = checked_uri(uri), ctypes.c_int64(), ctypes.c_int64()
    with Status(f"{os.fspath(uri)} cannot be deleted", ANY) as status:
        counts = ctypes.byref(files), ctypes.byref(directories)
        c.delete_recursively(raw, *counts, status.pointer)
        text = status.message
    return Undeleted(files.value, directories.value, text)


@_leaving("rename")
def rename(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Move a file, over one that exists."""
    first, second = checked_uri(source), checked_uri(target)
    with Status(f"{os.fspath(source)} cannot be renamed to {os.fspath(target)}") as status:
        c.rename(first, second, status.pointer)


@_leaving("copy")
def copy(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Copy a file, over one that exists."""
    first, second = checked_uri(source), checked_uri(target)
    with Status(f"{os.fspath(source)} cannot be copied to {os.fspath(target)}") as status:
        c.copy(first, second, status.pointer)


def translate(uri: str | os.PathLike[str]) -> str:
    """The form in which the filesystem is given the path."""
    raw = checked_uri(uri)
    what = f"{os.fspath(uri)} cannot be translated"
    return os.fsdecode(answer(what, lambda buffer, status: c.translate(raw, buffer, status)))
