"""Statuses of calls into the host library, as exceptions."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

from drystone_base.core.errors import DrystoneError, HostError, remedy_for
from drystone_base.core.time_limits import OutOfTime
from drystone_base.host._lib import declare

__all__ = ["ANY", "CODES", "Status", "keep", "raise_kept", "told"]

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

ANY: Final = frozenset(CODES)
_OK: Final = frozenset({"OK"})

_NAMES: Final[dict[type[BaseException], str]] = {KeyboardInterrupt: "Ctrl-C"}
_ELSE: Final = "`drystone plugins list` shows which plugins are loaded, and why others are not"

_new = declare("TF_NewStatus", ctypes.c_void_p, brief=True)
_delete = declare("TF_DeleteStatus", None, ctypes.c_void_p, brief=True)
_code = declare("TF_GetCode", ctypes.c_int, ctypes.c_void_p, brief=True)
_message = declare("TF_Message", ctypes.c_char_p, ctypes.c_void_p, brief=True)
_set = declare("TF_SetStatus", None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, brief=True)


class _Kept(threading.local):
    """What ended a callback of the call that this thread makes, and is more than a failure."""

    error: BaseException | None = None


_KEPT: Final = _Kept()


def _words(error: BaseException) -> tuple[str, str]:
    if isinstance(error, DrystoneError):
        return error.status, error.render()
    return "INTERNAL", f"{type(error).__name__}: {error}"


def told(
    pointer: int | None,
    error: BaseException,
    words: Callable[[BaseException], tuple[str, str]] = _words,
) -> None:
    """Set the status of a callback by what was raised in it, as nothing may pass through C.

    Ctrl-C, the end of the interpreter and ``OutOfTime`` are kept, and go on where this thread
    called the host. ``words`` gives the status and the text of anything else.
    """
    if isinstance(error, OutOfTime):
        _KEPT.error = error
        name, text = "DEADLINE_EXCEEDED", "the time for what is being prepared is over"
    elif not isinstance(error, Exception):
        _KEPT.error = error
        name, text = "CANCELLED", f"interrupted by {_NAMES.get(type(error), type(error).__name__)}"
    else:
        name, text = words(error)
    Status.set(pointer, name, text)


def keep(error: BaseException) -> None:
    """Keep what a signal's handler raised while this thread waited in the host, for later."""
    _KEPT.error = error


def raise_kept(status: str) -> None:
    """Raise what was kept in a call of the host's, made without a :class:`Status`, that failed."""
    kept, _KEPT.error = _KEPT.error, None
    if kept is not None and status == "CANCELLED":
        raise kept


class Status:
    """A status to hand to one call: ``with Status("reading x") as status: f(..., status.pointer)``.

    Leaving the block raises ``HostError`` (``host-call-failed``) where the status is none of those
    that are ``fine``; ``what`` becomes its first line and ``status`` the name of its code. Ctrl-C
    in a callback goes on from here whatever a plugin made of it, and ``OutOfTime`` instead of the
    error.
    """

    __slots__ = ("fine", "outer", "pointer", "what")

    def __init__(self, what: str, fine: frozenset[str] = _OK) -> None:
        self.what, self.fine = what, fine
        self.pointer: int | None = None
        self.outer: BaseException | None = None

    def __enter__(self) -> Self:
        self.outer, _KEPT.error = _KEPT.error, None  # of a call that this one is a callback of
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
        kept, _KEPT.error, self.outer = _KEPT.error, self.outer, None
        if error is not None:
            return
        failed = CODES[code] not in self.fine
        if kept is not None and (failed or not isinstance(kept, Exception)):
            raise kept
        if failed:
            raise _failure(self.what, CODES[code], text)

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


def _failure(what: str, status: str, text: str) -> HostError:
    return HostError(
        what,
        check="the host's call must succeed",
        found=text,
        remedy=remedy_for(status, _ELSE),
        status=status,
    )
