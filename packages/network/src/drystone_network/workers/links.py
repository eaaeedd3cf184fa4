"""The data plane of a task: values that go straight from one task to another.

Who sends connects. The one who is connected to asks for proof that the other knows the token of the
cluster before it takes anything; a connection that says anything else first is ended.
"""

from __future__ import annotations

import hmac
import os
import threading
import time
from collections.abc import Callable
from typing import Final

from drystone_base.core.errors import HostError
from drystone_network.cluster.spec import Task
from drystone_network.transports.engine import Engine, Happened
from drystone_network.workers.failures import unproven
from drystone_network.workers.plane import Plane

__all__ = ["Links"]

_CHALLENGE: Final = (1, 1)
_PROOF: Final = (1, 2)
_WELCOME: Final = (1, 3)
_PROOF_SECONDS: Final = 10.0


def _proof(token: str, challenge: bytes, name: str) -> bytes:
    return hmac.new(token.encode(), b"drystone data" + challenge + name.encode(), "sha256").digest()


class _Link:
    """A connection to another task, on which this one sends."""

    def __init__(self, peer: int) -> None:
        self.peer = peer
        self.has_answered = self.is_open = False


class Links:
    """Connections of one task with others, by which ``plane`` sends and receives values.

    ``lost(task)`` is told when the connection that a task sends on has ended. Safe to use from
    several threads.
    """

    def __init__(
        self,
        task: Task,
        address: str,
        token: str,
        lost: Callable[[Task], None],
        max_message: int = 0,
    ) -> None:
        self.task, self._token = task, token
        self._lost = lost
        self._engine = Engine(address, max_message=max_message)
        self.address = self._engine.listen(address)
        self._changed = threading.Condition()
        self._links: dict[Task, _Link] = {}
        self._sending: dict[int, tuple[Task, _Link]] = {}
        self._connecting = threading.Lock()
        self._early: dict[int, bytes] = {}  # challenges that came before `connect` returned
        self._ended_early: set[int] = set()  # peers that were lost before `connect` returned
        self._asked: dict[int, bytes] = {}  # peers that have not proved who they are
        self._known: dict[int, Task] = {}
        self._closed = False
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
                    raise unproven(task, address)
                self._changed.wait(left)

    def _connect(self, task: Task, address: str) -> _Link:
        self._ended_early.clear()
        link = _Link(self._engine.connect(address))
        with self._changed:
            if link.peer in self._ended_early:
                raise unproven(task, address)
            self._links[task] = link
            self._sending[link.peer] = task, link
            challenge = self._early.pop(link.peer, None)
        if challenge is not None and not self._answer(link.peer, challenge):
            self._end(link.peer)
        return link

    def _forget(self, task: Task, link: _Link) -> None:
        if self._links.get(task) is link:
            del self._links[task]
        self._sending.pop(link.peer, None)
        self.plane.forget(link.peer)
        self._engine.disconnect(link.peer)

    # ---- what happens --------------------------------------------------------------------------

    def _serve(self) -> None:
        while not self._closed:
            for event in self._engine.progress():
                self._handle(event)

    def _handle(self, event: Happened) -> None:
        if event.kind == "accepted":
            self._asked[event.peer] = challenge = os.urandom(32)
            self._try_send(event.peer, _CHALLENGE, challenge)
        elif event.kind == "received":
            if event.data is not None and not self._take(event):
                self._end(event.peer)
        elif event.kind == "lost":
            self._is_lost(event.peer)

    def _take(self, event: Happened) -> bool:
        """Whether a message is one that its peer may send."""
        data = b"" if event.data is None else event.data.tobytes()
        if event.peer in self._asked:
            return event.tag == _PROOF and self._prove(event.peer, data)
        if event.peer in self._known:  # what is no value, as the plane would have taken that
            return False
        if event.tag == _WELCOME:
            return self._open(event.peer)
        return event.tag == _CHALLENGE and self._answer(event.peer, data)

    def _prove(self, peer: int, answer: bytes) -> bool:
        challenge, proof, name = self._asked.pop(peer), answer[:32], answer[32:]
        text = name.decode("utf-8", "replace")
        if not hmac.compare_digest(proof, _proof(self._token, challenge, text)):
            return False
        try:
            task = self._known[peer] = Task.of_device(text)
        except (ValueError, IndexError):
            return False
        self.plane.admit(peer, self.number(task))
        self._try_send(peer, _WELCOME, b"")
        return True

    def _answer(self, peer: int, challenge: bytes) -> bool:
        name = self.task.device()
        with self._changed:
            found = self._sending.get(peer)
            if found is None:
                self._early[peer] = challenge
                return True
            if found[1].has_answered or len(challenge) != 32:
                return False
            found[1].has_answered = True
            self._try_send(peer, _PROOF, _proof(self._token, challenge, name) + name.encode())
        return True

    def _open(self, peer: int) -> bool:
        with self._changed:
            found = self._sending.get(peer)
            if found is None or not found[1].has_answered:
                return False
            found[1].is_open = True
            self.plane.route(self.number(found[0]), peer)
            self._changed.notify_all()
        return True

    def _try_send(self, peer: int, tag: tuple[int, int], data: bytes) -> None:
        try:
            self._engine.send(peer, tag, [data])
        except HostError:  # it is gone; the engine tells
            return

    def _end(self, peer: int) -> None:
        self._engine.disconnect(peer)
        self._is_lost(peer)

    def _is_lost(self, peer: int) -> None:
        asked = self._asked.pop(peer, None)
        self.plane.forget(peer)
        with self._changed:
            self._early.pop(peer, None)
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
