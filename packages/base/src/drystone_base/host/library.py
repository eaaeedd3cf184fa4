"""Plugin libraries opened by the host: their entry symbols and what they registered.

This opens what it is given. Whether a file should be opened at all is decided in
``drystone_base.plugins``.
"""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from drystone_base.core.registered import ENTRY_FUNCTIONS
from drystone_base.host._lib import declare
from drystone_base.host.buffer import answer
from drystone_base.host.status import Status

__all__ = [
    "HostLibrary",
    "aliases",
    "all_are_vouched_for",
    "inspect_file",
    "is_vouched_for",
    "known_entries",
    "open_library",
]

_open = declare(
    "DS_OpenLibraryWithout",
    ctypes.c_void_p,
    ctypes.c_char_p,
    ctypes.POINTER(ctypes.c_char_p),
    ctypes.c_int,
    ctypes.c_void_p,
)
_entries = declare(
    "DS_LibraryEntries",
    ctypes.c_int,
    ctypes.c_void_p,
    ctypes.POINTER(ctypes.c_char_p),
    ctypes.c_int,
)
_init = declare("DS_InitLibrary", None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_vouch = declare("DS_VouchForLibrary", None, ctypes.c_void_p)
_symbol = declare("DS_LibrarySymbol", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)
_describe = declare("DS_DescribeLibrary", None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_list_entries = declare("DS_ListEntries", None, ctypes.c_void_p, ctypes.c_void_p)
_inspect = declare("DS_InspectFile", None, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p)
_list_aliases = declare("DS_ListAliases", None, ctypes.c_void_p, ctypes.c_void_p)


_VOUCHED: Final[set[str]] = set()
"""Paths of trusted libraries."""
_OPENED: Final[set[str]] = set()
"""Paths of all that were opened."""


def is_vouched_for(path: str) -> bool:
    """Whether the library of a path is trusted, as the host lists it."""
    return os.path.realpath(path) in _VOUCHED


def all_are_vouched_for() -> bool:
    """Whether every library that was opened is trusted."""
    return _OPENED <= _VOUCHED


class HostLibrary:
    """A library that the host has opened; it stays open until the process ends.

    ``name`` is what reports call it.
    """

    __slots__ = ("_handle", "name", "path")

    def __init__(self, handle: int, path: str, name: str) -> None:
        _OPENED.add(path)
        self._handle = handle
        self.path = path
        self.name = name

    @property
    def handle(self) -> int:
        """The ``DS_Library`` pointer: equal for two openings of one file."""
        return self._handle

    def entries(self) -> list[str]:
        """Entry symbols that the library exports and the host knows, in calling order."""
        count = _entries(self._handle, None, 0)
        names = (ctypes.c_char_p * count)()
        _entries(self._handle, names, count)
        return [(name or b"").decode() for name in names]

    def initialise(self, entry_symbol: str) -> None:
        """Call one entry function, once however often this is called; raises ``HostError``."""
        from drystone_base.host.op_services import attach

        attach()  # entry functions ask for our ops
        try:
            with Status(f"{entry_symbol} of plugin {self.name} ({self.path}) failed") as status:
                _init(self._handle, entry_symbol.encode(), status.pointer)
        finally:
            ENTRY_FUNCTIONS.note(entry_symbol)

    def vouch(self) -> None:
        """Have its kernels and filesystems called without guards, before it is initialised."""
        _vouch(self._handle)
        _VOUCHED.add(self.path)

    def symbol(self, name: str) -> int | None:
        """Address of a symbol that the library itself exports, or None."""
        address: int | None = _symbol(self._handle, name.encode())
        return address

    def describe(self) -> dict[str, Any]:
        """What its entry functions answered and what it registered."""
        facts: dict[str, Any] = json.loads(
            answer(
                f"plugin {self.name} cannot be described",
                lambda buffer, status: _describe(self._handle, buffer, status),
            )
        )
        return facts


def open_library(
    path: str | os.PathLike[str], name: str = "", without: Sequence[str] = ()
) -> HostLibrary:
    """Open a library without calling its entry functions; raises ``HostError``.

    ``without``: functions that it needs and no library defines, which fail when they are called.
    """
    file = os.fspath(path)
    names = (ctypes.c_char_p * len(without))(*map(os.fsencode, without))
    with Status(f"{file} cannot be opened") as status:
        handle = _open(os.fsencode(file), names, len(without), status.pointer)
    return HostLibrary(handle, os.path.realpath(file), name or os.path.basename(file))


def inspect_file(path: str) -> tuple[bytes, list[str]]:
    """The SHA-256 and the platform strings of a file, which is read once; raises ``HostError``.

    ``UNIMPLEMENTED`` where the processor has no instructions for digests.
    """
    found = answer(
        f"{path} cannot be looked into",
        lambda buffer, status: _inspect(os.fsencode(path), buffer, status),
    )
    records = found[32:].split(b"\0")[:-1]
    return found[:32], [record.decode("ascii", "backslashreplace") for record in records]


@cache
def known_entries() -> dict[str, str]:
    """Entry symbols that the host itself handles, in calling order, with the module of each."""
    listed = json.loads(answer("the host's entry symbols", _list_entries))
    return {entry["symbol"]: entry["module"] for entry in listed}


def aliases() -> list[str]:
    """Names of TensorFlow's libraries that the host answers to in this process."""
    names: list[str] = json.loads(answer("the host's aliases", _list_aliases))
    return names
