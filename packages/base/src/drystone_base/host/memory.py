"""Memory of NumPy's new arrays, aligned for plugins, and memory that the host library keeps.

No array that is aligned is copied on its way to a plugin. NumPy aligns to 16 bytes. While
:func:`aligned_arrays` holds, what NumPy allocates on this thread begins at multiples of 64; such
arrays keep their memory as long as they live, wherever they go.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any, Final

from drystone_base.host._lib import declare

__all__ = ["aligned_arrays", "free_kept"]

_SET_HANDLER: Final = 304  # PyDataMem_SetHandler's place in NumPy's table of C functions
_NAME: Final = b"mem_handler"
_handler = declare("DS_ArrayMemory", ctypes.c_void_p)
_free_kept = declare("DS_FreeKeptMemory", ctypes.c_int64)


@cache
def _parts() -> tuple[Any, Any]:
    """NumPy's function that sets the memory handler, and ours in a capsule."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    make = ctypes.pythonapi.PyCapsule_New
    get = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ctypes.cast(pointer, ctypes.c_void_p).value or 0
    )
    new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
        ctypes.cast(make, ctypes.c_void_p).value or 0
    )
    table = (ctypes.c_void_p * (_SET_HANDLER + 1)).from_address(
        get(import_module("numpy._core._multiarray_umath")._ARRAY_API, None)
    )
    set_handler = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(table[_SET_HANDLER] or 0)
    return set_handler, new(_handler(), _NAME, None)


@contextmanager
def aligned_arrays() -> Iterator[None]:
    """Let NumPy align the arrays that it makes on this thread (in this context)."""
    set_handler, ours = _parts()
    before = set_handler(ours)
    try:
        yield
    finally:
        set_handler(before)


def free_kept() -> int:
    """Give large blocks that are kept for tensors to come back to the system; their bytes."""
    return int(_free_kept())
