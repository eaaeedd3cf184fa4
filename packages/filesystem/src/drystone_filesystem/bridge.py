"""A store written in Python as a filesystem of the host: its methods behind the C tables.

So a scheme in Python is the same to everybody as one of a plugin in C: to the loaders, to gfile,
to C programs in the process, and to the conformance suite.
"""

from __future__ import annotations

import ctypes
import itertools
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from drystone_base.host.filesystem import serve_in_python
from drystone_base.host.program import register_filesystems
from drystone_base.host.status import Status, told
from drystone_filesystem import _tables as t
from drystone_filesystem._failures import StoreFailure, explained, status_of, text_of
from drystone_filesystem._transactions import Special
from drystone_filesystem.store import Stat, Store, Upload
from drystone_filesystem.transfer import HEAD, Reader, plan, retried
from drystone_filesystem.waiting import interruptible

__all__ = ["register_store"]

_ALIVE: Final[list[Any]] = []
"""What C holds pointers to: never freed, like a library that is never unloaded."""


class _Memory:
    """The C library's own memory, which the host frees by the same functions."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL(None)
        self.library.malloc.restype, self.library.malloc.argtypes = (
            ctypes.c_void_p,
            [ctypes.c_size_t],
        )
        self.malloc = ctypes.cast(self.library.malloc, ctypes.c_void_p).value
        self.free = ctypes.cast(self.library.free, ctypes.c_void_p).value

    def copy(self, data: bytes) -> int:
        """Allocated bytes."""
        place: int | None = self.library.malloc(len(data) or 1)
        if place is None:
            raise MemoryError(f"{len(data)} bytes")
        ctypes.memmove(place, data, len(data))
        return place

    def text(self, text: str) -> int:
        """An allocated string; names that are no UTF-8 arrive as they were."""
        return self.copy(text.encode("utf-8", "surrogateescape") + b"\0")

    def texts(self, texts: list[str]) -> int:
        """An allocated array of allocated strings."""
        places = (ctypes.c_void_p * len(texts))(*(self.text(one) for one in texts))
        return self.copy(bytes(places))

    def struct(self, struct: ctypes.Structure) -> int:
        """An allocated copy."""
        return self.copy(bytes(struct))


def register_store(scheme: str, store: Store, origin: str) -> None:
    """Have ``store`` serve ``scheme://``; ``origin`` says whose it is, in errors.

    Raises ``HostError`` (``ALREADY_EXISTS``) for a scheme that is taken.
    """
    memory = _Memory()
    tables = _Tables(scheme, store, memory)

    def entry(address: int) -> None:
        info = t.PluginInfo.from_address(address)
        info.plugin_memory_allocate, info.plugin_memory_free = memory.malloc, memory.free
        ops = t.PluginOps(scheme=memory.text(scheme))
        for name, table in (
            ("filesystem", tables.filesystem(memory)),
            ("random_access_file", tables.readable()),
            ("writable_file", tables.writable()),
        ):
            setattr(ops, f"{name}_size", ctypes.sizeof(table))
            setattr(ops, f"{name}_ops", memory.struct(table))
            _ALIVE.append(table)
        info.ops, info.num_schemes = memory.struct(ops), 1

    _ALIVE.append((memory, tables, register_filesystems(origin, entry)))
    serve_in_python(scheme)


def _guarded(function: Callable[..., Any], failed: Any = None) -> Callable[..., Any]:
    """A function whose last argument is a status, which takes what it raises."""

    def call(*arguments: Any) -> Any:
        try:
            return function(*arguments[:-1])
        except BaseException as error:
            told(arguments[-1], error, _words)
            return failed

    return call


def _alone(function: Callable[..., None]) -> Callable[..., None]:
    """A function that Ctrl-C need not wait for: its arguments are Python's own."""
    return lambda *arguments: interruptible(partial(function, *arguments))


def _words(error: BaseException) -> tuple[str, str]:
    return status_of(error), text_of(error)


class _Tables:
    """The functions of the tables; open files are known by number."""

    def __init__(self, scheme: str, store: Store, memory: _Memory) -> None:
        self.scheme, self.store = scheme, store
        self.special = Special(memory.text, _text)
        self.numbers = itertools.count(1)
        self.lock = threading.Lock()
        self.files: dict[int, Any] = {}

    # ---- open files ----------------------------------------------------------------------------

    def _open(self, holder: Any, file: Any) -> None:
        with self.lock:
            number = next(self.numbers)
            self.files[number] = file
        holder[0] = number

    def _file(self, holder: Any) -> Any:
        return self.files[holder[0]]

    def _cleanup(self, holder: Any) -> None:
        with self.lock:
            file = self.files.pop(holder[0], None)
        if isinstance(file, _Writing) and not file.closed:
            file.upload.abandon()

    def _open_readable(self, _fs: Any, path: bytes, holder: Any) -> None:
        name, how = _text(path), plan()
        found, head = retried(lambda: self.store.begin(name, HEAD), how)
        if found.is_directory:
            raise IsADirectoryError(f"{name} is a directory")
        self._open(holder, Reader(self.store, self.scheme, name, found, how, head))

    def _read(self, holder: Any, offset: int, size: int, buffer: int, status: int) -> int:
        try:
            view = memoryview((ctypes.c_char * size).from_address(buffer)).cast("B")
            got: int = self._file(holder).read_into(offset, view)
        except BaseException as error:
            told(status, error, _words)
            return -1
        if got < size:
            Status.set(status, "OUT_OF_RANGE", "the file ends here")
        return got

    def _open_writable(self, _fs: Any, path: bytes, holder: Any) -> None:
        name = _text(path)
        self._open(holder, _Writing(name, self.store.write(name), 0))

    def _open_appendable(self, _fs: Any, path: bytes, holder: Any) -> None:
        self._open(holder, interruptible(lambda: self._appended(_text(path))))

    def _appended(self, name: str) -> _Writing:
        try:
            length = self.store.stat(name).length
        except FileNotFoundError:
            length = 0
        return _Writing(name, self.store.append_to(name), length)

    def _append(self, holder: Any, data: int, size: int) -> None:
        if size:
            self._file(holder).append(
                memoryview((ctypes.c_char * size).from_address(data)).cast("B")
            )

    def _close(self, holder: Any) -> None:
        file = self._file(holder)
        file.closed = True
        if file.broken or not self.special.transactions.keep(file.path, file):
            file.close()

    # ---- paths ---------------------------------------------------------------------------------

    def _stat(self, _fs: Any, path: bytes, out: Any) -> None:
        found = self._looked_at(path)
        out[0].length, out[0].mtime_nsec = found.length, found.mtime_nsec
        out[0].is_directory = found.is_directory

    def _create_dir(self, _fs: Any, path: bytes) -> None:
        self.store.make_directory(_text(path))

    def _delete(self, _fs: Any, path: bytes) -> None:
        name = _text(path)
        if self.store.stat(name).is_directory:
            raise IsADirectoryError(f"{name} is a directory")
        self.store.delete(name)

    def _delete_dir(self, _fs: Any, path: bytes) -> None:
        name = _text(path)
        try:
            if not self.store.stat(name).is_directory:
                raise NotADirectoryError(f"{name} is a file")
        except FileNotFoundError:
            if not self.store.implicit_directories:
                raise
        self.store.remove_directory(name)

    def _rename(self, _fs: Any, source: bytes, target: bytes) -> None:
        self._onto(self.store.rename, source, target)

    def _copy(self, _fs: Any, source: bytes, target: bytes) -> None:
        self._onto(self.store.copy, source, target)

    def _onto(self, act: Callable[[str, str], None], source: bytes, target: bytes) -> None:
        if source == target:  # a store that copies and deletes would lose it
            self._looked_at(source)
        else:
            act(_text(source), _text(target))

    def _exists(self, _fs: Any, path: bytes) -> None:
        self._looked_at(path)

    def _looked_at(self, path: bytes) -> Stat:
        return retried(lambda: self.store.stat(_text(path)), plan())

    # ---- the tables ----------------------------------------------------------------------------

    def filesystem(self, memory: _Memory) -> ctypes.Structure:
        """``TF_FilesystemOps``; what is not here has the host's default."""

        def children(_fs: Any, path: bytes, out: Any) -> int:
            name = _text(path)
            if not self._looked_at(path).is_directory:
                raise NotADirectoryError(f"{name} is a file")
            names = retried(lambda: self.store.children(name), plan())
            out[0] = memory.texts(names)
            return len(names)

        functions: dict[str, Callable[..., Any]] = {
            "new_random_access_file": _guarded(self._open_readable),
            "new_writable_file": _guarded(self._open_writable),
            "new_appendable_file": _guarded(self._open_appendable),
            "create_dir": _guarded(_alone(self._create_dir)),
            "delete_file": _guarded(_alone(self._delete)),
            "delete_dir": _guarded(_alone(self._delete_dir)),
            "rename_file": _guarded(_alone(self._rename)),
            "copy_file": _guarded(_alone(self._copy)),
            "path_exists": _guarded(self._exists),
            "stat": _guarded(self._stat),
            "get_children": _guarded(children, -1),
            "init": lambda _fs, _status: None,
            "cleanup": lambda _fs: None,
            "flush_caches": lambda _fs: self.store.forget(),
            "translate_name": lambda _fs, uri: memory.text(self.store.translated(_text(uri))),
        }
        if type(self.store).write is not Store.write:
            functions["decode_transaction_token"] = self.special.decode
            for name, function in self.special.functions().items():
                functions[name] = _guarded(function, -1 if "transaction" in name else None)
        return _filled(t.FilesystemOps(), functions)

    def readable(self) -> ctypes.Structure:
        """``TF_RandomAccessFileOps``."""
        return _filled(t.ReadableOps(), {"cleanup": self._cleanup, "read": self._read})

    def writable(self) -> ctypes.Structure:
        """``TF_WritableFileOps``; nothing is to be seen before the file is closed."""

        def tell(holder: Any) -> int:
            length: int = self._file(holder).length
            return length

        functions: dict[str, Callable[..., Any]] = {
            "cleanup": self._cleanup,
            "append": _guarded(self._append),
            "tell": _guarded(tell, -1),
            "close": _guarded(self._close),
        }
        return _filled(t.WritableOps(), functions)


class _Writing:
    """A file open for writing, and how long it is."""

    def __init__(self, path: str, upload: Upload, length: int) -> None:
        self.path, self.upload, self.length = path, upload, length
        self.closed = self.broken = False

    def append(self, data: memoryview) -> None:
        """Add bytes; after a failure the file cannot be closed, as a part of it is missing."""
        try:
            self.upload.append(data)
        except BaseException as error:
            self.broken = True
            raise explained(error, self.path) from error
        self.length += len(data)

    def close(self) -> None:
        """Show the file, or nothing of it."""
        if self.broken:
            self.upload.abandon()
            raise StoreFailure(
                "FAILED_PRECONDITION",
                f"{self.path}: not all of it could be written, so nothing of it is shown",
            )
        self.show()

    def show(self) -> None:
        """Have the store show it, whole."""
        try:
            self.upload.close()
        except OSError as error:
            raise explained(error, self.path) from error

    def forget(self) -> None:
        """Give up what was written."""
        self.upload.abandon()


def _filled(table: Any, functions: dict[str, Callable[..., Any]]) -> ctypes.Structure:
    kinds = {field[0]: field[1] for field in table._fields_}
    for name, function in functions.items():
        setattr(table, name, kinds[name](function))
    filled: ctypes.Structure = table
    return filled


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")
