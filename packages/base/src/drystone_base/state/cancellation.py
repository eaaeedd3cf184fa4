"""Stopping runs from outside: cancellations, and the errors of runs that were stopped."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from drystone_base.core.errors import KernelError

if TYPE_CHECKING:
    from drystone_base.state.runtime import Runtime

__all__ = [
    "Cancellation", "Left", "cancelled", "check_time", "deadline_exceeded", "session_damaged",
    "session_stuck",
]  # fmt: skip


class Cancellation:
    """Stops runs from another thread.

    Give it to any number of runs (``session.run(..., cancellation=c)``): :meth:`cancel` ends those
    under way with ``KernelError`` (``run-cancelled``) within half a second, and later ones at once.
    It stays cancelled: make a new one for new runs. The session can be used again at once, but for
    nodes whose kernels have not returned (``session-stuck``).
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cancelled = False
        self._address: int | None = None

    def __repr__(self) -> str:
        return f"<Cancellation, {'cancelled' if self._cancelled else 'not cancelled'}>"

    def __del__(self) -> None:
        if getattr(self, "_address", None) is not None:
            from drystone_base.host.extension import extension

            extension().delete_cancellation(self._address)

    @property
    def cancelled(self) -> bool:
        """Whether :meth:`cancel` was called."""
        return self._cancelled

    def cancel(self) -> None:
        """Stop the runs that have it; returns at once."""
        with self._lock:
            self._cancelled = True
            if self._address is not None:
                from drystone_base.host.extension import extension

                extension().cancel(self._address)

    def in_host(self) -> int:
        """The address of a ``DS_Cancellation`` that goes with it."""
        from drystone_base.host.extension import extension

        with self._lock:
            if self._address is None:
                self._address = extension().new_cancellation()
                if self._cancelled:
                    extension().cancel(self._address)
            return self._address


def check_time(runtime: Runtime, what: str) -> None:
    """Raise where the run must end; ``what`` says where it is."""
    if runtime.cancellation is not None and runtime.cancellation.cancelled:
        raise cancelled(f"the run was cancelled {what}")
    if runtime.deadline is not None and time.monotonic() > runtime.deadline:
        raise deadline_exceeded(f"the run was stopped {what}")


class Left(NamedTuple):
    """A ``kernel`` that a run went on without: it ``runs`` still, or has not called done."""

    kernel: str
    runs: bool


def cancelled(what: str, left: Left | None = None) -> KernelError:
    """The error of a cancelled run; ``what`` says where, ``left`` what it went on without."""
    return KernelError(
        what,
        check="a run continues until its Cancellation is cancelled",
        found=f"cancel() was called{_and_left(left)}",
        needed="a Cancellation that is not cancelled",
        remedy="give the next run a new Cancellation",
        code="run-cancelled",
        status="CANCELLED",
    )


def deadline_exceeded(what: str, left: Left | None = None) -> KernelError:
    """The error of a run that was late; ``what`` says where, ``left`` what it went on without."""
    return KernelError(
        what,
        check="a run must end before the session's deadline",
        found=f"it was still running{_and_left(left)}",
        needed="a run that ends in time",
        remedy="raise SessionConfig(deadline=...) or look for a loop that never ends",
        code="deadline-exceeded",
        status="DEADLINE_EXCEEDED",
    )


def session_stuck(found: str) -> KernelError:
    """The error of a run that needs a node whose kernel has not returned; ``found`` names it."""
    return KernelError(
        "the session is stuck",
        check="a node runs again when its kernel has returned",
        found=found,
        needed="a kernel that returns",
        remedy="wait for it, or open a new session; a kernel that never returns ends with the "
        "process: report it to the authors of its package",
        code="session-stuck",
        status="UNAVAILABLE",
    )


def session_damaged(found: str) -> KernelError:
    """The error of a run after a kernel changed a constant; ``found`` names it."""
    return KernelError(
        "the session is damaged",
        check="constants of a model stay as they were loaded",
        found=found,
        needed="the constants as they were",
        remedy="load the model again, without the plugin: DRYSTONE_PLUGINS_DISABLE leaves one out; "
        "report it to the plugin's author",
        code="session-damaged",
        status="DATA_LOSS",
    )


def _and_left(left: Left | None) -> str:
    """What is said of a kernel that has not returned, or not called done."""
    if left is None:
        return ""
    if not left.runs:
        return f"; its {left.kernel} has not called done"
    return (
        f"; its {left.kernel} has not returned and keeps running in a thread of its own: until it "
        "has, the session refuses the node"
    )
