"""What the process of an isolated plugin does for files: the functions of its filesystem, by name.

They are called by the host of this process, with all that it checks of a filesystem's answers.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, Final

__all__ = ["serve_files"]

Reply = tuple[dict[str, Any], bytes]
_files: Final[dict[int, Any]] = {}
_numbers: Final = itertools.count(1)


def serve_files(header: dict[str, Any], blob: bytes) -> Reply:
    """The answer to one request; raises ``HostError``."""
    from drystone_base.host import filesystem

    member, arguments = header["member"], header["arguments"]
    if member == "read":
        return {"ok": True, "value": None}, filesystem.read_range(*arguments)
    if member == "append":
        _files[arguments[0]].append(blob)
        return {"ok": True, "value": None}, b""
    return {"ok": True, "value": _FUNCTIONS[member](*arguments)}, b""


def _open(uri: str, append: bool) -> int:
    from drystone_base.host.open_files import Writable

    number = next(_numbers)
    _files[number] = Writable(uri, append=append)
    return number


def _of(name: str) -> Callable[..., Any]:
    """A function of the host for paths, imported when it is first called."""

    def call(*arguments: Any) -> Any:
        from drystone_base.host import filesystem

        return getattr(filesystem, name)(*arguments)

    return call


def _forget(uri: str) -> None:
    from drystone_base.host import filesystem

    filesystem.flush_caches(uri.partition("://")[0])


_FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "stat": _of("stat"),
    "children": _of("list_directory"),
    "make_directory": _of("create_directory"),
    "remove_directory": _of("delete_directory"),
    "delete": _of("delete"),
    "rename": _of("rename"),
    "copy": _of("copy"),
    "forget": _forget,
    "open": _open,
    "close": lambda number: _files.pop(number).close(),
    "abandon": lambda number: _files.pop(number).abandon(),
}
