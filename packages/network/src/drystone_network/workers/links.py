"""The data plane of a task: values that go straight from one task to another.

Who sends connects. The one who is connected to asks for proof that the other knows the token of the
cluster, gives proof of its own, and says by which tag it takes values; a connection that says
anything else first is ended.
"""

from __future__ import annotations

import contextlib
import hmac
import math
import os
import threading
import time
from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from drystone_base.core.errors import DrystoneError, HostError
from drystone_network.cluster.spec import Task
from drystone_network.cluster.tls import key_of
from drystone_network.transports.engine import ANY, Engine, Happened
from drystone_network.workers.failures import unproven
from drystone_network.workers.plane import Plane

__all__ = ["Links"]

_CHALLENGE: Final = (1, 1)
_PROOF: Final = (1, 2)
_WELCOME: Final = (1, 3)
_WORDS: Final = ((1 << 64) - 1, 0)
"""The mask of a receive that takes all of these."""
_PROOF_SECONDS: Final = 10.0
_MOST_STRANGERS: Final = 256
"""Peers at once that have not proved who they are."""
_MOST_SAID: Final = 1 << 16
"""Bytes of a message that is no value."""


def _proof(token: str, challenge: bytes, said: bytes) -> bytes:
    return hmac.new(key_of(token), b"drystone data" + challenge + said, "sha256").digest()


class _Stranger(NamedTuple):
    """Who has connected and been asked, and until when he may prove that he belongs here."""

    challenge: bytes
    ends: float


class _Link:
    """A connection to another task, on which this one sends."""

    def __init__(self, peer: int) -> None:
        self.peer = peer
        self.proof = b""  # that was given when it was asked for
        self.is_open = False


class Links:
    """Connections of one task with others, by which ``plane`` sends and receives values.

    ``lost(task)`` is told when the connection that a task sends on has ended, ``broken(error)``
    when the transport has failed for all. Safe to use from several threads.
    """

    def __init__(
        self,
        task: Task,
        address: str,
        token: str,
        lost: Callable[[Task], None],
        broken: Callable[[DrystoneError], None] = lambda _: None,
        max_message: int = 0,
    ) -> None:
        self.task, self._token = task, token
        self._lost, self._tell_broken = lost, broken
        self._engine = Engine(address, max_message=max_message)
        self.address = self._engine.listen(address)
        self._changed = threading.Condition()
        self._links: dict[Task, _Link] = {}
        self._sending: dict[int, tuple[Task, _Link]] = {}
        self._connecting = threading.Lock()
        self._ended_early: set[int] = set()  # peers that were lost before `connect` returned
        self._asked: dict[int, _Stranger] = {}  # in the order in which they came
        self._known: dict[int, Task] = {}
        self._closed = False
        self._failure: DrystoneError | None = None
        self._numbers: dict[Task, int] = {}
        self.plane = Plane(self._engine)
        self._thread = threading.Thread(target=self._serve, name="drystone links", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End all connections."""
        self._closed = True
        self._engine.wake()
        self._thread.join()
        self.plane.close()
        self._engine.close()

    def number(self, task: Task) -> int:
        """What the plane calls a task."""
        with self._changed:
            return self._numbers.setdefault(task, len(self._numbers))

    # ---- sending -------------------------------------------------------------------------------

    def connect(self, task: Task, address: str, ends: float | None = None) -> None:
        """Have a connection to send on, by a moment of the monotonic clock if need be.

        Raises ``HostError`` and ``BadRequest``.
        """
        if self._failure is not None:
            raise self._failure
        link = self._links.get(task)
        if link is None:
            with self._connecting:
                link = self._links.get(task) or self._connect(task, address)
        until = time.monotonic() + _PROOF_SECONDS
        until = until if ends is None else min(until, ends)
        with self._changed:
            while not link.is_open:
                left = until - time.monotonic()
                if self._links.get(task) is not link or left <= 0:
                    self._forget(task, link)
                    raise self._failure or unproven(task, address)
                self._changed.wait(left)

    def _connect(self, task: Task, address: str) -> _Link:
        self._ended_early.clear()
        link = _Link(self._engine.connect(address))
        with self._changed:
            if link.peer in self._ended_early:
                raise unproven(task, address)
            self._links[task] = link
            self._sending[link.peer] = task, link
        self._hear(link.peer)
        return link

    def _forget(self, task: Task, link: _Link) -> None:
        if self._links.get(task) is link:
            del self._links[task]
        self._sending.pop(link.peer, None)
        self.plane.forget(link.peer)
        self._engine.disconnect(link.peer)

    # ---- what happens --------------------------------------------------------------------------

    def _serve(self) -> None:
        try:
            while not self._closed:
                for event in self._engine.progress(self._end_strangers()):
                    self._handle(event)
        except DrystoneError as error:  # nothing comes any more: who waits is to know
            self._broken(error)

    def _end_strangers(self) -> float:
        """End those who have not proved who they are in time; seconds until the next one's end."""
        now = time.monotonic()
        while self._asked:
            peer, stranger = next(iter(self._asked.items()))
            if stranger.ends > now and len(self._asked) <= _MOST_STRANGERS:
                return stranger.ends - now
            self._end(peer)
        return math.inf

    def _handle(self, event: Happened) -> None:
        if event.kind == "accepted":
            stranger = _Stranger(os.urandom(32), time.monotonic() + _PROOF_SECONDS)
            self._asked[event.peer] = stranger
            self._hear(event.peer)
            self._try_send(event.peer, _CHALLENGE, stranger.challenge)
        elif event.kind == "received" and event.code in ("OK", "OUT_OF_RANGE"):
            if event.data is None or not self._take(event):
                self._end(event.peer)
            else:
                self._hear(event.peer)
        elif event.kind == "lost":
            self._is_lost(event.peer)

    def _hear(self, peer: int) -> None:
        """Take the next message of a peer that is no value; one that is larger than those ends it.

        Who may not send values yet is heard by any tag.
        """
        mask = _WORDS if peer in self._known else ANY
        with contextlib.suppress(HostError):  # it is gone; the engine tells
            self._engine.receive(peer, _CHALLENGE, mask, into=np.empty(_MOST_SAID, np.uint8))

    def _take(self, event: Happened) -> bool:
        """Whether a message is one that its peer may send."""
        data = b"" if event.data is None else event.data.tobytes()
        if event.peer in self._asked:
            return event.tag == _PROOF and self._prove(event.peer, data)
        if event.peer in self._known:  # what is no value, as the plane would have taken that
            return False
        if event.tag == _WELCOME:
            return self._open(event.peer, data)
        return event.tag == _CHALLENGE and self._answer(event.peer, data)

    def _prove(self, peer: int, answer: bytes) -> bool:
        challenge, proof, name = self._asked.pop(peer).challenge, answer[:32], answer[32:]
        if not hmac.compare_digest(proof, _proof(self._token, challenge, name)):
            return False
        try:
            task = self._known[peer] = Task.of_device(name.decode("utf-8", "replace"))
        except (ValueError, IndexError):
            return False
        self.plane.admit(peer, self.number(task))
        tag = self.plane.tag.to_bytes(8, "little")
        own = _proof(self._token, proof, self.task.device().encode() + tag)
        self._try_send(peer, _WELCOME, own + tag)
        return True

    def _answer(self, peer: int, challenge: bytes) -> bool:
        name = self.task.device().encode()
        with self._changed:
            found = self._sending.get(peer)
            if found is None or found[1].proof or len(challenge) != 32:
                return False
            found[1].proof = _proof(self._token, challenge, name)
            self._try_send(peer, _PROOF, found[1].proof + name)
        return True

    def _open(self, peer: int, welcome: bytes) -> bool:
        proof, tag = welcome[:32], welcome[32:]
        with self._changed:
            task, link = self._sending.get(peer, (self.task, None))
            if link is None or not link.proof or link.is_open or len(tag) != 8:
                return False
            own = _proof(self._token, link.proof, task.device().encode() + tag)
            if not hmac.compare_digest(proof, own):  # somebody else is at its address
                return False
            link.is_open = True
            self.plane.route(self.number(task), peer, int.from_bytes(tag, "little"))
            self._changed.notify_all()
        return True

    def _try_send(self, peer: int, tag: tuple[int, int], data: bytes) -> None:
        try:
            self._engine.send(peer, tag, [data])
        except HostError:  # it is gone; the engine tells
            return

    def _broken(self, error: DrystoneError) -> None:
        self._failure = error
        with self._changed:
            self._links.clear()
            self._changed.notify_all()
        self._tell_broken(error)

    def _end(self, peer: int) -> None:
        self._engine.disconnect(peer)
        self._is_lost(peer)

    def _is_lost(self, peer: int) -> None:
        asked = self._asked.pop(peer, None)
        self.plane.forget(peer)
        with self._changed:
            found = self._sending.pop(peer, None)
            if asked is None and found is None and peer not in self._known:
                self._ended_early.add(peer)
            if found is not None and self._links.get(found[0]) is found[1]:
                del self._links[found[0]]
            self._changed.notify_all()
        task = self._known.pop(peer, None)
        if task is None and found is not None:
            task = found[0]
        if task is not None:
            self._lost(task)
