"""Statuses of calls into the host library, as exceptions."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType, TracebackType
from typing import Final, NamedTuple, Self

from drystone_base.core.errors import DrystoneError, HostError, remedy_for
from drystone_base.core.payloads import (
    CALLS,
    CHECK,
    CODE,
    FIELDS,
    FOUND,
    NEEDED,
    Value,
    read_payloads,
    written_payloads,
)
from drystone_base.core.time_limits import OutOfTime
from drystone_base.host._lib import declare

__all__ = ["ANY", "CODES", "Said", "Status", "keep", "raise_kept", "said_by", "told"]

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
_attach = declare(
    "DS_SetPayload", None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, brief=True
)
_Visitor = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p)
_visit = declare("TF_ForEachPayload", None, ctypes.c_void_p, _Visitor, ctypes.c_void_p, brief=True)


class Said(NamedTuple):
    """What the status of a failed call says: ``message`` to people, ``payloads`` to programs."""

    status: str
    message: str
    payloads: Mapping[str, Value]

    @classmethod
    def of(cls, code: int, message: bytes, pairs: Iterable[tuple[bytes, bytes]]) -> Said:
        """From what C gives; the code has no name where it is of a later release."""
        name = CODES[code] if code < len(CODES) else "UNKNOWN"
        return cls(name, message.decode("utf-8", "replace"), read_payloads(pairs))

    def text(self, key: str) -> str:
        """The payload as text; "" without it."""
        value = self.payloads.get(key, "")
        return value if isinstance(value, str) else value.decode("utf-8", "replace")

    @property
    def found(self) -> str:
        """The message without the names that are payloads."""
        return self.text(FOUND) or self.message

    @property
    def details(self) -> dict[str, Value]:
        """What errors keep as it is: the payloads that are none of their fields."""
        return {key: value for key, value in self.payloads.items() if key not in FIELDS}


def said_by(pointer: int | None) -> Said:
    """What a status says."""
    pairs: list[tuple[bytes, bytes]] = []
    code = _code(pointer)
    if code:
        _visit(pointer, _Visitor(lambda key, value, _: pairs.append((key, value))), None)
    return Said.of(code, _message(pointer), pairs)


class _Kept(threading.local):
    """What ended a callback of the call that this thread makes, and is more than a failure."""

    error: BaseException | None = None


_KEPT: Final = _Kept()


def _payloads(error: BaseException) -> Mapping[str, Value]:
    """What an error, or its cause, says beside its text to the caller that gets the status."""
    known = error if isinstance(error, DrystoneError) else error.__cause__
    return known.payloads() if isinstance(known, DrystoneError) else {}


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
    Status.set(pointer, name, text, _payloads(error))


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
        said = said_by(self.pointer) if code else None
        pointer, self.pointer = self.pointer, None
        _delete(pointer)
        kept, _KEPT.error, self.outer = _KEPT.error, self.outer, None
        if error is not None:
            return
        failed = CODES[code] not in self.fine
        if kept is not None and (failed or not isinstance(kept, Exception)):
            raise kept
        if failed and said is not None:
            raise _failure(self.what, said)

    @property
    def name(self) -> str:
        """Name of the code."""
        return CODES[_code(self.pointer)]

    @property
    def message(self) -> str:
        """The message as text; bytes that are no UTF-8 are replaced."""
        return str(_message(self.pointer).decode("utf-8", "replace"))

    @staticmethod
    def set(
        pointer: int | None,
        name: str,
        message: str,
        payloads: Mapping[str, Value] = MappingProxyType({}),
    ) -> None:
        """Set a status that the host gave us: for callbacks."""
        text = message.encode("utf-8", "replace").replace(b"\0", b" ")
        _set(pointer, CODES.index(name), text)
        for key, value in written_payloads(payloads):
            _attach(pointer, key, value)


def _failure(what: str, said: Said) -> HostError:
    error = HostError(
        what,
        check=said.text(CHECK) or HostError.any_check,
        found=said.found if CHECK in said.payloads else said.message,
        needed=said.text(NEEDED),
        remedy=remedy_for(said.status, _ELSE),
        code=said.text(CODE) or None,
        status=said.status,
        details=said.details,
    )
    if CALLS in said.payloads:
        error.reached_through(said.payloads[CALLS])
    return error
