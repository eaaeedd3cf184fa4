"""Counts of what the host library gave out and did not get back: how leaks are seen."""

from __future__ import annotations

import ctypes

from drystone_base.host._lib import declare

__all__ = ["live_objects"]


class _Live(ctypes.Structure):
    """``DS_LiveObjects``."""

    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("statuses", ctypes.c_int64),
        ("buffers", ctypes.c_int64),
        ("tensors", ctypes.c_int64),
        ("memory_blocks", ctypes.c_int64),
        ("kernels", ctypes.c_int64),
        ("items", ctypes.c_int64),
        ("handles", ctypes.c_int64),
        ("files", ctypes.c_int64),
    )


_get = declare("DS_GetLiveObjects", None, ctypes.POINTER(_Live))


def live_objects() -> dict[str, int]:
    """Objects that the host gave out and did not get back, by kind."""
    now = _Live(struct_size=ctypes.sizeof(_Live))
    _get(ctypes.byref(now))
    return {name: getattr(now, name) for name, *_ in _Live._fields_ if name != "struct_size"}
