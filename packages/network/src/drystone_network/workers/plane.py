"""The data plane: values of runs, from the thread that has them to the one that waits for them.

``native/links`` is what does it; here is what Python asks of it. Kernels of the native executor
call it without Python, by the table of a run; those of Python call :meth:`Run.send` and
:meth:`Run.receive`.
"""

from __future__ import annotations

import ctypes as c
import math
import secrets
import weakref
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

import numpy as np

from drystone_base.core.dtypes import from_number
from drystone_base.host.status import Status
from drystone_network.transports.engine import Engine
from drystone_network.transports.registry import open_own
from drystone_network.workers.wire import array_of, bytes_of

__all__ = ["Edges", "Plane", "Run"]

Array = np.ndarray[Any, Any]
_LIBRARY: Final = "libdrystone_links.so"
_P: Final = c.c_void_p
_MOST_UNDER_WAY: Final = 256 << 20  # bytes to one task, before a sender waits
_MOST_EARLY: Final = 256 << 20  # bytes that came before their runs began
_AWAITED: Final = 1 << 16


class _Value(c.Structure):
    """``drystone_links_Value``."""

    _fields_ = [
        ("owner", c.c_void_p),
        ("dtype", c.c_int32),
        ("rank", c.c_int32),
        ("dims", c.POINTER(c.c_int64)),
        ("data", c.c_void_p),
        ("size", c.c_size_t),
    ]


_FUNCTIONS: Final[Mapping[str, tuple[Any, ...]]] = {
    "new": (_P, _P, _P, c.c_uint64, c.c_uint64, c.c_uint64),
    "close": (None, _P),
    "delete": (None, _P),
    "admit": (None, _P, c.c_uint64, c.c_int32),
    "route": (None, _P, c.c_int32, c.c_uint64, c.c_uint64),
    "forget": (None, _P, c.c_uint64),
    "edges_new": (_P,),
    "edges_add": (None, _P, c.c_char_p, c.c_int32, c.c_int32),
    "edges_delete": (None, _P),
    "begin": (_P, _P, c.c_uint64, _P, c.c_double),
    "end": (None, _P, c.c_uint64),
    "step_delete": (None, _P),
    "abort": (None, _P),
    "awaited": (None, _P, c.c_char_p, c.c_size_t),
    "table": (_P, _P),
    "send": (None, _P, c.c_char_p, c.POINTER(_Value), _P),
    "receive": (None, _P, c.c_char_p, c.POINTER(_Value)),
    "value_delete": (None, _P),
    "progress": (c.c_int32, _P, c.c_int64, _P, c.c_int32, _P),
}
"""Results and arguments of what ``native/links/links_api.h`` declares."""


@cache
def _functions() -> Mapping[str, Callable[..., Any]]:
    library = open_own(_LIBRARY)
    return {
        name: c.CFUNCTYPE(*signature)(library.symbol(f"drystone_links_{name}") or 0)
        for name, signature in _FUNCTIONS.items()
    }


def _call(name: str, *arguments: Any) -> Any:
    return _functions()[name](*arguments)


class Edges:
    """Edges of a graph to and from other tasks: keys, the other's number, and who sends."""

    def __init__(self, edges: Mapping[str, tuple[int, bool]]) -> None:
        self.handle = _call("edges_new")
        weakref.finalize(self, _functions()["edges_delete"], self.handle)
        for key, (other, sends) in edges.items():
            _call("edges_add", self.handle, key.encode(), other, sends)


class Plane:
    """Values that an engine carries between this task and others, which have numbers.

    ``tag``: the second number of the tags of values that come here. Who may not send any does not
    know it.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.tag = secrets.randbits(64)
        fns = c.cast(c.byref(engine.fns), _P)
        self.handle = _call("new", fns, engine.handle, self.tag, _MOST_UNDER_WAY, _MOST_EARLY)
        weakref.finalize(self, _functions()["delete"], self.handle)
        engine.hand_events_to(_functions()["progress"], self.handle)

    def close(self) -> None:
        """End what is under way; the engine may be closed after it."""
        _call("close", self.handle)

    def admit(self, peer: int, task: int) -> None:
        """Take values from a peer as those of a task."""
        _call("admit", self.handle, peer, task)

    def route(self, task: int, peer: int, tag: int) -> None:
        """Send values for a task to a peer, by the tag that it has said."""
        _call("route", self.handle, task, peer, tag)

    def forget(self, peer: int) -> None:
        """Neither."""
        _call("forget", self.handle, peer)

    def begin(self, step: int, edges: Edges, ends: float | None) -> Run | None:
        """Begin a run that ends at a moment of the monotonic clock; None if it is over already."""
        handle = _call("begin", self.handle, step, edges.handle, math.inf if ends is None else ends)
        return None if handle is None else Run(handle)

    def end(self, step: int) -> None:
        """Drop what comes of a run from now on."""
        _call("end", self.handle, step)


class Run:
    """A run on this task; ``table``: what the native executor sends and receives by."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self.table: int = _call("table", handle)
        weakref.finalize(self, _functions()["step_delete"], handle)

    def send(self, key: str, value: Array | None) -> None:
        """Send a value to where its edge goes.

        Raises ``HostError``: ``CANCELLED`` where the run has ended, ``UNAVAILABLE`` where the task
        is gone; ``BadRequest`` (``cannot-send``).
        """
        number, shape, data = (0, (), b"") if value is None else bytes_of(value)
        raw = np.frombuffer(data, np.uint8)
        given = _Value(None, number, len(shape), (c.c_int64 * len(shape))(*shape), raw.ctypes.data)
        given.size = raw.nbytes
        with Status("a value cannot be sent") as status:
            _call("send", self._handle, key.encode(), c.byref(given), status.pointer)

    def receive(self, key: str) -> tuple[bool, Array | None]:
        """Wait for a value; whether one came, and which. Nothing comes once the run is over."""
        found = _Value()
        _call("receive", self._handle, key.encode(), c.byref(found))
        if not found.owner:
            return False, None
        memory = (c.c_ubyte * found.size).from_address(found.data)
        weakref.finalize(memory, _functions()["value_delete"], found.owner)
        if found.dtype == 0:
            return True, None
        dims = tuple(found.dims[k] for k in range(found.rank))
        return True, array_of(np.frombuffer(memory, np.uint8), from_number(found.dtype), dims)

    def abort(self) -> None:
        """Wake everybody who waits."""
        _call("abort", self._handle)

    def awaited(self) -> list[str]:
        """Keys of values that are waited for."""
        text = c.create_string_buffer(_AWAITED)
        _call("awaited", self._handle, text, _AWAITED)
        return text.value.decode("utf-8", "replace").splitlines()
