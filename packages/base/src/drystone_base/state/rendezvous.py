"""Where the parts of one run meet: values that were sent, by key."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any, Final

from drystone_base.state.cancellation import check_time

if TYPE_CHECKING:
    from drystone_base.state.runtime import Runtime

__all__ = ["KEY", "Aborted", "Rendezvous"]

KEY: Final = "rendezvous"
"""Under which the resources of a step hold its rendezvous."""
_LOOK: Final = 0.05


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
        self._aborted = False

    def send(self, key: str, value: Any) -> None:
        """Leave a value for the receiver; those of one key are received in their order."""
        with self._changed:
            self._values.setdefault(key, deque()).append(value)
            self._changed.notify_all()

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
            values = self._values[key]
            value = values.popleft()
            if not values:
                del self._values[key]
            return value

    def abort(self) -> None:
        """Wake everybody who waits: what they wait for will not come."""
        with self._changed:
            self._aborted = True
            self._changed.notify_all()
