"""What kernels of plugins get of ``TF_GetRendezvous``: the rendezvous of their run.

Source: ``drystone/rendezvous.h``; TensorFlow's ``RendezvousInterface`` and ``CreateKey``.
"""

from __future__ import annotations

import ctypes
import itertools
import threading
from typing import Any, Final

import numpy as np

from drystone_base.core.errors import DrystoneError
from drystone_base.host._lib import declare
from drystone_base.host.status import Status
from drystone_base.host.tensors import adopt, lend
from drystone_base.state.rendezvous import KEY, Rendezvous, Taker
from drystone_base.state.variables import Step

__all__ = ["MeetingPlace", "Thunk", "edge_of"]

_P: Final = ctypes.c_void_p
_PARTS: Final = 5


class _Key(ctypes.Structure):
    _fields_ = (("text", _P), ("size", ctypes.c_uint32))


class _Send(ctypes.Structure):
    _fields_ = (
        ("key", ctypes.POINTER(_Key)),
        ("args", _P),
        ("tensor", _P),
        ("is_dead", ctypes.c_bool),
        ("status", _P),
    )


class _Done(ctypes.Structure):
    _fields_ = (
        ("context", _P),
        ("status", _P),
        ("tensor", _P),
        ("is_dead", ctypes.c_bool),
    )


_DONE = ctypes.CFUNCTYPE(None, _P, ctypes.POINTER(_Done))


class _Receive(ctypes.Structure):
    _fields_ = (
        ("context", _P),
        ("key", ctypes.POINTER(_Key)),
        ("args", _P),
        ("done_context", _P),
        ("done", _DONE),
    )


_SEND = ctypes.CFUNCTYPE(None, _P, ctypes.POINTER(_Send))
_RECEIVE = ctypes.CFUNCTYPE(None, _P, ctypes.POINTER(_Receive))
_ABORT = ctypes.CFUNCTYPE(None, _P, _P)


class Thunk(ctypes.Structure):
    """``TF_RendezvousThunk``."""

    _fields_ = (
        ("rendezvous", _P),
        ("send", _SEND),
        ("receive", _RECEIVE),
        ("abort", _ABORT),
    )


_new_status = declare("TF_NewStatus", _P)
_delete_status = declare("TF_DeleteStatus", None, _P)
_share = declare("DS_ShareTensor", _P, _P)
_delete_tensor = declare("TF_DeleteTensor", None, _P)

_NUMBERS: Final = itertools.count(1)
_OPEN: Final[dict[int, MeetingPlace]] = {}


def edge_of(key: str) -> str:
    """The edge in a key: TensorFlow's is ``sender;incarnation;receiver;edge;frame:iteration``."""
    parts = key.split(";")
    return parts[3] if len(parts) == _PARTS else key


class MeetingPlace:
    """The rendezvous of a step as a C table at ``address``, until it is closed.

    Kernels that go on after it was closed are answered ``CANCELLED``.
    """

    def __init__(self, step: Step) -> None:
        self.meeting: Rendezvous = step.resources.setdefault(KEY, Rendezvous())
        self.number = next(_NUMBERS)
        self.thunk = Thunk(self.number, *_TABLE)
        self.address = ctypes.addressof(self.thunk)
        self._lock = threading.Lock()
        self._waiting: list[tuple[str, Taker]] = []
        _OPEN[self.number] = self

    def receive(self, key: str, taker: Taker) -> None:
        """Have a value given to a function, or nothing where the run ends before."""

        def take(value: Any, has_come: bool) -> None:
            with self._lock:
                if (key, take) in self._waiting:
                    self._waiting.remove((key, take))
            taker(value, has_come)

        with self._lock:
            self._waiting.append((key, take))
        self.meeting.receive_later(key, take)

    def close(self) -> None:
        """The run is over: nobody is to wait any more."""
        _OPEN.pop(self.number, None)
        with self._lock:
            waiting = list(self._waiting)
        for key, take in waiting:
            if self.meeting.forget(key, take):
                take(None, False)


def _text(key: Any) -> str:
    found: Any = key.contents
    return edge_of(ctypes.string_at(found.text, found.size).decode("utf-8", "replace"))


def _send(number: int | None, pointer: Any) -> None:
    """Called by kernels, on threads of the host or of plugins."""
    given = pointer.contents
    place = _OPEN.get(number or 0)
    if place is None:
        Status.set(given.status, "CANCELLED", "the run is over")
        return
    try:
        value = None if given.is_dead else adopt(_share(given.tensor))
        place.meeting.send(_text(given.key), value)
    except DrystoneError as error:
        Status.set(given.status, error.status or "INTERNAL", error.found or error.what)
    except Exception as error:
        Status.set(given.status, "INTERNAL", f"{type(error).__name__}: {error}")


def _receive(number: int | None, pointer: Any) -> None:
    given = pointer.contents
    context, done, place = given.done_context, _copied(given.done), _OPEN.get(number or 0)

    def taker(value: Any, has_come: bool) -> None:
        _tell(done, context, value, has_come)

    if place is None:
        taker(None, False)
    else:
        place.receive(_text(given.key), taker)


def _copied(function: Any) -> Any:
    """A function of a struct that lives no longer than the call."""
    return _DONE(ctypes.cast(function, _P).value or 0)


def _tell(done: Any, context: int | None, value: Any, has_come: bool) -> None:
    status, handle = _new_status(), None
    try:
        if not has_come:
            Status.set(status, "CANCELLED", "nothing will be sent: the run has ended, or failed")
        elif value is not None:
            handle = lend(np.asarray(value))
    except DrystoneError as error:
        Status.set(status, error.status or "INTERNAL", error.found or error.what)
    answer = _Done(context, status, handle, has_come and value is None)
    try:
        done(context, ctypes.byref(answer))
    finally:
        _delete_status(status)
        if handle is not None:
            _delete_tensor(handle)


def _abort(number: int | None, _status: int | None) -> None:
    place = _OPEN.get(number or 0)
    if place is not None:
        place.meeting.abort()


_TABLE: Final = (_SEND(_send), _RECEIVE(_receive), _ABORT(_abort))
