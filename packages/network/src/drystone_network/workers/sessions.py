"""The sessions that clients have opened at a task, and how they end when a client has gone."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from drystone_base.core.errors import BadRequest
from drystone_network.cluster.spec import Task

__all__ = ["Sessions"]

Registered = TypeVar("Registered")

_MOST: Final = 256
_IDLE: Final = 600.0
"""Seconds after which a session may have to make room for a new one."""


class Sessions(Generic[Registered]):
    """What is registered in each session, by its handle; safe to use from several threads.

    A client that is killed closes nothing. So where there are as many sessions as there may be, a
    new one takes the place of the one that was used longest ago, if that is ten minutes or more.
    """

    def __init__(self, task: Task, clock: Callable[[], float] = time.monotonic) -> None:
        self._task = task
        self._clock = clock
        self._lock = threading.Lock()
        self._known: dict[str, dict[int, Registered]] = {}
        self._used: dict[str, float] = {}  # the one that was used longest ago comes first

    def open(self) -> str:
        """The name of a new session; raises ``BadRequest`` (``too-many-sessions``)."""
        name = secrets.token_hex(8)
        with self._lock:
            if len(self._known) >= _MOST:
                self._make_room()
            self._known[name] = {}
            self._used[name] = self._clock()
        return name

    def find(self, name: str) -> dict[int, Registered]:
        """What is registered in a session; raises ``BadRequest`` (``session-lost``)."""
        with self._lock:
            found = self._known.get(name)
            if found is not None:
                del self._used[name]
                self._used[name] = self._clock()
                return found
        raise BadRequest(
            f"{self._task} does not know the session",
            check="a session is opened before it is used",
            found="one that was closed, made room for others, or is of before the task's start",
            needed="a session of this task",
            remedy="open the session again, and restore its variables from a checkpoint",
            code="session-lost",
            status="ABORTED",
        )

    def register(self, name: str, what: Registered) -> int:
        """Its handle in the session."""
        known = self.find(name)
        with self._lock:
            handle = len(known) + 1
            known[handle] = what
        return handle

    def close(self, name: str) -> None:
        """Forget a session; to do so again does nothing."""
        with self._lock:
            self._known.pop(name, None)
            self._used.pop(name, None)

    def _make_room(self) -> None:
        oldest = next(iter(self._used))
        idle = self._clock() - self._used[oldest]
        if idle < _IDLE:
            raise BadRequest(
                f"{self._task} opens no more sessions",
                check=f"a task has at most {_MOST} sessions that were used in the last ten minutes",
                found=len(self._known),
                needed="fewer",
                remedy="close sessions that are not used",
                code="too-many-sessions",
                status="RESOURCE_EXHAUSTED",
            )
        del self._known[oldest], self._used[oldest]
