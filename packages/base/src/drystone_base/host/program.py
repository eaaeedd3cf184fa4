"""Filesystems that the program itself registers, by tables of C functions."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from typing import Any

from drystone_base.host._lib import declare
from drystone_base.host.status import Status

__all__ = ["INIT", "register_entry", "register_filesystems"]

INIT = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
"""Type of an entry function: it fills in the ``TF_FilesystemPluginInfo`` at the address."""

_register = declare("DS_RegisterFilesystems", None, ctypes.c_char_p, INIT, ctypes.c_void_p)


def register_filesystems(origin: str, entry: Callable[[int], None]) -> Any:
    """Have ``entry`` register filesystems; the answer must be kept as long as they live."""
    function = INIT(entry)
    _call(origin, function)
    return function


def register_entry(origin: str, address: int) -> None:
    """The same for the entry function at an address, of a library that is open."""
    _call(origin, INIT(address))


def _call(origin: str, function: Any) -> None:
    with Status(f"the filesystems of {origin} cannot be registered") as status:
        _register(os.fsencode(origin), function, status.pointer)
