"""The structs of ``drystone/network.h``."""

from __future__ import annotations

import ctypes as c
from typing import Any, Final

__all__ = ["ACCEPTED", "LOST", "RECEIVED", "SENT", "VERSION", "Event", "Fns", "Options", "Params",
           "Transport", "known_part"]  # fmt: skip

VERSION: Final = (0, 1, 0)
ACCEPTED, SENT, RECEIVED, LOST = 1, 2, 3, 4
"""Kinds of events."""

_SIZED: Final[list[Any]] = [("struct_size", c.c_size_t), ("ext", c.c_void_p)]
_STATUS: Final = c.c_void_p


class Options(c.Structure):
    """``DS_NetworkOptions``."""

    _fields_ = [
        *_SIZED,
        ("max_message", c.c_uint64),
        ("unexpected_bytes", c.c_uint64),
        ("connect_us", c.c_int64),
    ]


class Event(c.Structure):
    """``DS_NetworkEvent``."""

    _fields_ = [
        ("struct_size", c.c_size_t),
        ("kind", c.c_int32),
        ("code", c.c_int32),
        ("peer", c.c_uint64),
        ("token", c.c_uint64),
        ("tag_high", c.c_uint64),
        ("tag_low", c.c_uint64),
        ("size", c.c_uint64),
        ("data", c.c_void_p),
        ("message", c.c_char * 128),
    ]


_EVENTS: Final = c.POINTER(c.POINTER(Event))
_E: Final = c.c_void_p
_U64: Final = c.c_uint64
_MOVE: Final = [_E, _U64, c.c_char_p, c.c_size_t, _U64, c.c_void_p, c.c_size_t, _U64, _STATUS]


class Fns(c.Structure):
    """``DS_NetworkFns``."""

    _fields_ = [
        *_SIZED,
        ("open", c.CFUNCTYPE(c.c_void_p, c.c_void_p, c.POINTER(Options), _STATUS)),
        ("close", c.CFUNCTYPE(None, _E)),
        ("progress", c.CFUNCTYPE(c.c_int32, _E, c.c_int64, _EVENTS, c.c_int32, _STATUS)),
        ("wake", c.CFUNCTYPE(None, _E)),
        ("listen", c.CFUNCTYPE(None, _E, c.c_char_p, c.c_void_p, _STATUS)),
        ("connect", c.CFUNCTYPE(_U64, _E, c.c_char_p, _STATUS)),
        ("disconnect", c.CFUNCTYPE(None, _E, _U64)),
        (
            "send",
            c.CFUNCTYPE(
                c.c_int32, _E, _U64, _U64, _U64, c.POINTER(c.c_void_p), c.POINTER(c.c_size_t),
                c.c_int32, _U64, _STATUS,
            ),
        ),
        (
            "receive",
            c.CFUNCTYPE(
                None, _E, _U64, _U64, _U64, _U64, _U64, c.c_void_p, c.c_size_t, _U64, _STATUS
            ),
        ),
        ("release", c.CFUNCTYPE(None, c.c_void_p)),
        ("cancel", c.CFUNCTYPE(None, _E, _U64)),
        ("event_fd", c.CFUNCTYPE(c.c_int, _E)),
        (
            "register_memory",
            c.CFUNCTYPE(c.c_void_p, _E, c.c_void_p, c.c_size_t, c.c_void_p, _STATUS),
        ),
        ("deregister_memory", c.CFUNCTYPE(None, _E, c.c_void_p)),
        ("put", c.CFUNCTYPE(c.c_int32, *_MOVE)),
        ("get", c.CFUNCTYPE(c.c_int32, *_MOVE)),
    ]  # fmt: skip


class Transport(c.Structure):
    """``DS_NetworkTransport``."""

    _fields_ = [
        *_SIZED,
        ("scheme", c.c_char_p),
        ("max_message", c.c_uint64),
        ("capabilities", c.c_uint32),
        ("fns", c.POINTER(Fns)),
    ]


class Params(c.Structure):
    """``DS_NetworkRegistrationParams``."""

    _fields_ = [
        *_SIZED,
        ("major_version", c.c_int32),
        ("minor_version", c.c_int32),
        ("patch_version", c.c_int32),
        ("num_transports", c.c_int32),
        ("transports", c.POINTER(c.POINTER(Transport))),
    ]


def known_part(given: Any) -> Any:
    """A copy of a plugin's struct, zeros beyond what it states; None where it states no size."""
    kind = type(given)
    if given.struct_size < c.sizeof(c.c_size_t):
        return None
    copy = kind()
    c.memmove(c.byref(copy), c.byref(given), min(given.struct_size, c.sizeof(kind)))
    return copy
