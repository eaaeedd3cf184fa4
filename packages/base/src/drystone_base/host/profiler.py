"""Profilers of devices: what a device did and when, told by its plugin."""

from __future__ import annotations

import ctypes
import json
from typing import Any

from drystone_base.host._lib import declare
from drystone_base.host.buffer import answer
from drystone_base.host.status import Status

__all__ = ["collect", "list_profilers", "start", "stop"]

_list = declare("DS_ListProfilers", None, ctypes.c_void_p, ctypes.c_void_p)
_start = declare("DS_StartProfiler", None, ctypes.c_char_p, ctypes.c_void_p)
_stop = declare("DS_StopProfiler", None, ctypes.c_char_p, ctypes.c_void_p)
_collect = declare("DS_CollectProfile", None, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p)


def list_profilers() -> list[dict[str, Any]]:
    """Every registered profiler: the type of its devices, its library, version and state."""
    found: list[dict[str, Any]] = json.loads(answer("profilers cannot be listed", _list))
    return found


def start(kind: str) -> None:
    """Begin a profile of the devices of a type."""
    with Status(f"the profiler of {kind} cannot be started") as status:
        _start(kind.encode(), status.pointer)


def stop(kind: str) -> None:
    """End it."""
    with Status(f"the profiler of {kind} cannot be stopped") as status:
        _stop(kind.encode(), status.pointer)


def collect(kind: str) -> bytes:
    """The finished profile: the bytes of an XSpace proto."""
    return answer(
        f"the profile of {kind} cannot be had",
        lambda buffer, status: _collect(kind.encode(), buffer, status),
    )
