"""Where the parts of one run meet: values that were sent, by key."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, Final

from drystone_base.state.cancellation import check_time

if TYPE_CHECKING:
    from drystone_base.state.runtime import Runtime

__all__ = ["KEY", "Aborted", "Rendezvous", "Taker", "ask_for", "asked_for"]

Taker = Callable[[Any, bool], None]
"""Is called with a value and True, or with None and False where none will come."""

KEY: Final = "rendezvous"
"""Under which the resources of a step hold its rendezvous."""
_LOOK: Final = 0.05
_ASKED_FOR: Final[set[str]] = set()


def ask_for(library: str) -> None:
    """Kernels of a plugin's file ask for the rendezvous of their run: graphs with one have it."""
    _ASKED_FOR.add(library)


def asked_for() -> Collection[str]:
    """The files of plugins whose kernels do."""
    return _ASKED_FOR


class Aborted(Exception):
    """Another part of the run has failed."""


class Rendezvous:
    """Values sent and not yet received. Safe to use from several threads.

    ``is_shared``: parts of the run are in other threads, so that it makes sense to wait. ``table``:
    the address of a ``TF_RendezvousThunk`` (``drystone/rendezvous.h``) by which the native executor
    sends and receives without Python what the table does not call UNIMPLEMENTED.
    """

    table: int | None = None

    def __init__(self, *, is_shared: bool = False) -> None:
        self.is_shared = is_shared
        self._changed = threading.Condition()
        self._values: dict[str, deque[Any]] = {}
        self._takers: dict[str, deque[Taker]] = {}
        self._aborted = False

    def send(self, key: str, value: Any) -> None:
        """Leave a value for the receiver; those of one key are received in their order."""
        with self._changed:
            taker = self._next_taker(key)
            if taker is None:
                self._values.setdefault(key, deque()).append(value)
                self._changed.notify_all()
        if taker is not None:
            taker(value, True)

    def _next_taker(self, key: str) -> Taker | None:
        takers = self._takers.get(key)
        if takers is None:
            return None
        taker = takers.popleft()
        if not takers:
            del self._takers[key]
        return taker

    def holds(self, key: str) -> bool:
        """Whether a value is there."""
        return key in self._values

    def receive(self, key: str, runtime: Runtime, what: str) -> Any:
        """Take a value, waiting until it is sent.

        Raises :class:`Aborted` when another part failed, ``KernelError`` at the deadline of the run
        or when it is cancelled.
        """
        with self._changed:
            while key not in self._values and not self._aborted:
                left = _LOOK if runtime.cancellation is not None else None
                if runtime.deadline is not None:
                    until = max(0.0, runtime.deadline - time.monotonic())
                    left = until if left is None else min(left, until)
                self._changed.wait(left)
                check_time(runtime, what)
            if self._aborted:
                raise Aborted
            return self._take(key)

    def _take(self, key: str) -> Any:
        values = self._values[key]
        value = values.popleft()
        if not values:
            del self._values[key]
        return value

    def receive_later(self, key: str, taker: Taker) -> None:
        """Have a function called with a value: at once if it is there, else when it is sent."""
        with self._changed:
            is_there, is_over = key in self._values, self._aborted
            value = self._take(key) if is_there and not is_over else None
            if not is_there and not is_over:
                self._takers.setdefault(key, deque()).append(taker)
                return
        taker(value, not is_over)

    def forget(self, key: str, taker: Taker) -> bool:
        """Take :meth:`receive_later` back; whether the function had not been called."""
        with self._changed:
            takers = self._takers.get(key, deque())
            if taker not in takers:
                return False
            takers.remove(taker)
            if not takers:
                del self._takers[key]
            return True

    def abort(self) -> None:
        """Wake everybody who waits: what they wait for will not come."""
        with self._changed:
            self._aborted = True
            takers = [taker for waiting in self._takers.values() for taker in waiting]
            self._takers.clear()
            self._changed.notify_all()
        for taker in takers:
            taker(None, False)
