"""Statuses of calls into the host library, as exceptions."""

from __future__ import annotations

import ctypes
import threading
from types import TracebackType
from typing import Final, Self

from drystone_base.errors import HostError, remedy_for
from drystone_base.host._lib import declare

__all__ = ["CODES", "Status", "call_failed", "keep_interrupt"]

CODES: Final = (
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
)
"""Names of the canonical codes, by number."""

_ELSE: Final = "`drystone plugins list` shows which plugins are loaded, and why others are not"

_new = declare("TF_NewStatus", ctypes.c_void_p, brief=True)
_delete = declare("TF_DeleteStatus", None, ctypes.c_void_p, brief=True)
_code = declare("TF_GetCode", ctypes.c_int, ctypes.c_void_p, brief=True)
_message = declare("TF_Message", ctypes.c_char_p, ctypes.c_void_p, brief=True)
_set = declare("TF_SetStatus", None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, brief=True)


_kept: Final = threading.local()


def keep_interrupt(error: BaseException) -> None:
    """Have a ``KeyboardInterrupt`` of a callback go on where this thread called the host.

    For callbacks, which can raise nothing through C; they end with ``CANCELLED``.
    """
    _kept.interrupt = error


def call_failed(what: str, status: str, text: str) -> HostError:
    """The error of a call of the host's that ended with another status than OK.

    Raises the ``KeyboardInterrupt`` that ended it, if one did.
    """
    interrupt: BaseException | None = getattr(_kept, "interrupt", None)
    _kept.interrupt = None
    if interrupt is not None and status == "CANCELLED":
        raise interrupt
    return HostError(
        what,
        check="the host's call must succeed",
        found=text,
        remedy=remedy_for(status, _ELSE),
        status=status,
    )


class Status:
    """A status to hand to one call: ``with Status("reading x") as status: f(..., status.pointer)``.

    Leaving the block raises ``HostError`` (``host-call-failed``) where the status is not OK;
    ``what`` becomes its first line and ``status`` the name of its code.
    """

    __slots__ = ("pointer", "what")

    def __init__(self, what: str) -> None:
        self.what = what
        self.pointer: int | None = None

    def __enter__(self) -> Self:
        self.pointer = _new()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        code = _code(self.pointer)
        text = self.message if code else ""
        pointer, self.pointer = self.pointer, None
        _delete(pointer)
        if error is None and code:
            raise call_failed(self.what, CODES[code], text)

    @property
    def name(self) -> str:
        """Name of the code."""
        return CODES[_code(self.pointer)]

    @property
    def message(self) -> str:
        """The message as text; bytes that are no UTF-8 are replaced."""
        return str(_message(self.pointer).decode("utf-8", "replace"))

    @staticmethod
    def set(pointer: int | None, name: str, message: str) -> None:
        """Set a status that the host gave us: for callbacks."""
        text = message.encode("utf-8", "replace").replace(b"\0", b" ")
        _set(pointer, CODES.index(name), text)
