"""Bytes in and out of the host library."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from drystone_base.host._lib import declare
from drystone_base.host.status import Status

__all__ = ["BufferStruct", "answer", "bytes_of", "filled", "filled_bytes", "write"]


class BufferStruct(ctypes.Structure):
    """``TF_Buffer``."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("length", ctypes.c_size_t),
        ("data_deallocator", ctypes.c_void_p),
    )


_new = declare("TF_NewBuffer", ctypes.POINTER(BufferStruct), brief=True)
_from_string = declare(
    "TF_NewBufferFromString", ctypes.POINTER(BufferStruct), ctypes.c_void_p, ctypes.c_size_t
)
_delete = declare("TF_DeleteBuffer", None, ctypes.c_void_p)


def bytes_of(buffer: Any) -> bytes:
    """A copy of what a ``TF_Buffer`` (a pointer to one) holds."""
    struct = buffer.contents
    return ctypes.string_at(struct.data, struct.length) if struct.data else b""


@contextmanager
def filled(data: bytes | memoryview) -> Iterator[Any]:
    """An input buffer over ``data``, which is not copied and must not be kept by the callee."""
    raw = data if isinstance(data, bytes) else bytes(data)
    pointer = ctypes.cast(ctypes.c_char_p(raw), ctypes.c_void_p)
    struct = BufferStruct(pointer, len(raw), None)
    yield ctypes.byref(struct)
    del raw


def answer(what: str, call: Callable[[Any, Any], object]) -> bytes:
    """What ``call(buffer, status)`` writes into an output buffer; raises ``HostError``."""
    buffer = _new()
    try:
        with Status(what) as status:
            call(buffer, status.pointer)
        return bytes_of(buffer)
    finally:
        _delete(buffer)


def write(pointer: Any, data: bytes) -> None:
    """Fill an output buffer that the host gave to a callback; it must be empty."""
    made = _from_string(data, len(data))
    target = ctypes.cast(pointer, ctypes.POINTER(BufferStruct)).contents
    source = made.contents
    target.data, target.length = source.data, source.length
    target.data_deallocator = source.data_deallocator
    source.data, source.length, source.data_deallocator = None, 0, None
    _delete(made)


@cache
def _bytes_functions() -> tuple[Any, Any]:
    """What makes a bytes object, and what says where its bytes are; types of their own.

    Made once: each making of a type takes longer than reading a small file.
    """
    new, place = ctypes.pythonapi.PyBytes_FromStringAndSize, ctypes.pythonapi.PyBytes_AsString
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_ssize_t)(
        ctypes.cast(new, ctypes.c_void_p).value or 0
    )
    where = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object)(
        ctypes.cast(place, ctypes.c_void_p).value or 0
    )
    return make, where


def filled_bytes(size: int, fill: Callable[[memoryview], int]) -> bytes:
    """Up to ``size`` bytes that ``fill`` writes, which answers how many, without a copy of them."""
    if size < 2:  # small ones are shared by the interpreter
        room = bytearray(size)
        return bytes(memoryview(room)[: fill(memoryview(room))])
    make, where = _bytes_functions()
    made: bytes = make(None, size)  # no other code has seen it, so it may still be written to
    got = fill(memoryview((ctypes.c_char * size).from_address(where(made))).cast("B"))
    return made if got == size else made[:got]
