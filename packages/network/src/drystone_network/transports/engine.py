"""An engine of a transport: messages between this process and its peers."""

from __future__ import annotations

import ctypes as c
import itertools
import math
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, Self

import numpy as np

from drystone_base.core.errors import HostError, PluginError
from drystone_base.host.buffer import answer
from drystone_base.host.status import CODES, Status
from drystone_network.transports.c_structs import ACCEPTED, LOST, RECEIVED, SENT, Event, Options
from drystone_network.transports.registry import Carrier, find

__all__ = ["ANY", "Engine", "Happened", "Tag"]

Tag = tuple[int, int]
"""What names a message: two numbers of 64 bits."""
Array = np.ndarray[Any, Any]
ANY: Final[Tag] = (0, 0)
"""The mask of a receive that takes any tag."""

_ALL: Final = (1 << 64) - 1
_ROOM: Final = 64
_MOST: Final = 1 << 46
"""Bytes of a message that an address can lead to."""
_KINDS: Final = {ACCEPTED: "accepted", SENT: "sent", RECEIVED: "received", LOST: "lost"}


class Happened(NamedTuple):
    """What an engine tells: ``kind`` is accepted, sent, received or lost.

    ``code`` is the name of a status, ``data`` the bytes of a message, None where it failed.
    """

    kind: str
    code: str
    peer: int
    token: int
    tag: Tag
    data: Array | None
    message: str


class _Held(threading.local):
    """A status for the calls of one thread: to make one for each would take as long as the call."""

    def __init__(self) -> None:
        self.status = Status("").__enter__()


class Engine:
    """Sends and receives messages by one transport; see ``drystone/network.h``.

    ``scheme`` is that of the transport, or an address with it. ``max_message`` and
    ``unexpected_bytes`` (bytes; 0: the transport's own) bound what one message, and what messages
    nobody waits for, may take. Safe to use from several threads; one at a time is in
    :meth:`progress`. Raises ``BadRequest`` (``unknown-transport``) and ``HostError``.
    """

    def __init__(
        self, scheme: str, *, max_message: int = 0, unexpected_bytes: int = 0,
        connect_seconds: float = 10.0,
    ) -> None:  # fmt: skip
        self.carrier: Carrier = find(scheme if "://" in scheme else f"{scheme}://")
        self.fns = self.carrier.fns
        options = Options(struct_size=c.sizeof(Options), max_message=max_message)
        options.unexpected_bytes = unexpected_bytes
        options.connect_us = max(1, int(connect_seconds * 1e6))
        with Status(f"no engine of {self.carrier.scheme}:// can be opened") as status:
            handle = self.fns.open(self.carrier.struct, c.byref(options), status.pointer)
        if not handle:
            raise self._lied("open gives an engine, or a status that says why not", "neither")
        self._end = weakref.finalize(self, self.fns.close, handle)
        self.handle: int = handle
        self._progress, self._progress_of = self.fns.progress, handle
        self._held = _Held()
        self._tokens = itertools.count(1)
        self._kept: dict[int, Any] = {}
        self._events = [Event(struct_size=c.sizeof(Event)) for _ in range(_ROOM)]
        self._pointers = (c.POINTER(Event) * _ROOM)(*map(c.pointer, self._events))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return not self._end.alive

    def close(self) -> None:
        """End it: peers see it as gone. Nobody may be in :meth:`progress`."""
        self._end()
        self._kept.clear()

    def _failed(self, what: str) -> HostError:
        """The error of a call that this thread has just made."""
        status, self._held.status = self._held.status, Status("").__enter__()
        status.what = what
        try:
            status.__exit__(None, None, None)
        except HostError as error:
            return error
        return HostError(what, status="INTERNAL")

    def _is_ok(self) -> bool:
        return self._held.status.name == "OK"

    def listen(self, address: str) -> str:
        """Accept peers at an address; the one that others connect to."""
        bound = answer(
            f"{address} cannot be listened at",
            lambda buffer, status: self.fns.listen(self.handle, address.encode(), buffer, status),
        )
        found = bound.decode("utf-8", "replace")
        if not found.startswith(f"{self.carrier.scheme}://") or not found.isprintable():
            raise self._lied("listen gives the address that others connect to", repr(found[:64]))
        return found

    def connect(self, address: str) -> int:
        """The number of the peer that listens at an address."""
        with Status(f"{address} cannot be connected to") as status:
            peer: int = self.fns.connect(self.handle, address.encode(), status.pointer)
        if not peer:
            raise self._lied("connect gives a peer, or a status that says why not", "neither")
        return peer

    def disconnect(self, peer: int) -> None:
        """End a peer; its operations fail."""
        self.fns.disconnect(self.handle, peer)

    def send(self, peer: int, tag: Tag, pieces: Sequence[Any]) -> int:
        """Send a message, the bytes of contiguous buffers one after another.

        0 where it is done, else the token of the event that will say so: until then the buffers
        must not be changed. Never waits.
        """
        arrays = [np.frombuffer(piece, np.uint8) for piece in pieces if len(piece)]
        count = len(arrays)
        places = (c.c_void_p * count)(*[a.ctypes.data for a in arrays])
        sizes = (c.c_size_t * count)(*[a.nbytes for a in arrays])
        token = next(self._tokens)
        self._kept[token] = arrays
        done = self.fns.send(
            self.handle, peer, *tag, places, sizes, count, token, self._held.status.pointer
        )
        if done == 0:
            return token
        del self._kept[token]
        if done < 0:
            raise self._failed("a message cannot be sent")
        return 0

    def receive(
        self, peer: int = 0, tag: Tag = (0, 0), mask: Tag = (_ALL, _ALL), into: Array | None = None
    ) -> int:
        """Take the next message of a peer (0: of any) whose tag fits; the token of its event.

        ``into``: a contiguous array that the bytes go to; without it the event brings memory.
        """
        token = next(self._tokens)
        place, size = (None, 0) if into is None else (into.ctypes.data, into.nbytes)
        self._kept[token] = into
        self.fns.receive(
            self.handle, peer, *tag, *mask, place, size, token, self._held.status.pointer
        )
        if not self._is_ok():
            del self._kept[token]
            raise self._failed("a message cannot be received")
        return token

    def cancel(self, token: int) -> None:
        """Have an operation end, unless it is too late for that."""
        if self.fns.cancel:
            self.fns.cancel(self.handle, token)

    def wake(self) -> None:
        """Have :meth:`progress` return."""
        self.fns.wake(self.handle)

    def progress(self, seconds: float = math.inf) -> list[Happened]:
        """What has happened; waits for it, at most so long."""
        wait = -1 if math.isinf(seconds) else max(0, int(seconds * 1e6))
        count = self._progress(
            self._progress_of, wait, self._pointers, _ROOM, self._held.status.pointer
        )
        if count < 0:
            raise self._failed("an engine is broken")
        if count > _ROOM:
            raise self._lied(f"progress tells {_ROOM} events at most", f"{count} events")
        return [self._read(self._events[k]) for k in range(count)]

    def hand_events_to(self, progress: Callable[..., int], of: int) -> None:
        """Have :meth:`progress` call what handles some events itself.

        It is called as ``fns.progress`` is, with ``of`` in the place of the engine.
        """
        self._progress, self._progress_of = progress, of

    def _read(self, event: Event) -> Happened:
        kind = _KINDS.get(event.kind, "")
        code = CODES[event.code] if 0 <= event.code < len(CODES) else "UNKNOWN"
        ends = kind in ("sent", "received") and not self._is_of_others(event.token)
        if not kind or (ends and event.token not in self._kept):
            found = f"kind {event.kind} of token {event.token}"
            raise self._lied("an event is of a known kind, and of an operation under way", found)
        kept = self._kept.pop(event.token) if ends else None
        data = self._arrived(event, kept) if kind == "received" and code == "OK" else None
        text = event.message.decode("utf-8", "replace")
        tag = event.tag_high, event.tag_low
        happened = Happened(kind, code, event.peer, event.token, tag, data, text)
        c.memset(c.byref(event), 0, c.sizeof(event))  # as engines are to find it
        event.struct_size = c.sizeof(event)
        return happened

    def _is_of_others(self, token: int) -> bool:
        """Whether who handles events has given it: its tokens have the highest bit."""
        return self._progress_of != self.handle and token >> 63 == 1

    def _arrived(self, event: Event, into: Array | None) -> Array:
        """The bytes of a message, where they are."""
        most = _MOST if into is None else into.nbytes
        if event.size > most or (into is None and event.size and not event.data):
            found = f"{event.size} bytes" + ("" if event.data else ", nowhere")
            raise self._lied(f"a message has {most} bytes at most, which are there", found)
        if into is not None:
            return into.reshape(-1).view(np.uint8)[: event.size]
        return self._lent(event) if event.data else np.empty(0, np.uint8)

    def _lied(self, check: str, found: str) -> PluginError:
        """The error of a transport that does not keep to ``drystone/network.h``."""
        return PluginError(
            f"the transport {self.carrier.scheme}:// answers what cannot be",
            check=check,
            found=found,
            needed="what drystone/network.h says",
            remedy="use another transport; report this to the plugin's author",
            path=self.carrier.library,
            code="bad-transport",
        )

    def _lent(self, event: Event) -> Array:
        """The engine's memory as an array, which gives it back when it goes."""
        memory = (c.c_ubyte * event.size).from_address(event.data)
        weakref.finalize(memory, self.fns.release, event.data)
        return np.frombuffer(memory, np.uint8)
