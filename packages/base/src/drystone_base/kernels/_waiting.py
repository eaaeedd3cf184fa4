"""Waiting for another step: what an op does that needs what only another run can bring.

With a deadline an op waits until then; other threads that run the session may bring what it needs.
Without one nothing says whether another thread is there, so the op fails at once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

from drystone_base.core.errors import KernelError
from drystone_base.core.payloads import at_node
from drystone_base.kernels._registry import Call
from drystone_base.state.cancellation import cancelled

__all__ = ["wait_for"]

_LOOK: Final = 0.05
"""Seconds between looks at whether the run was cancelled."""


def wait_for(
    call: Call,
    changed: threading.Condition,
    ready: Callable[[], object],
    check: str,
    found: Callable[[], str],
) -> None:
    """Return once ``ready()`` holds; ``changed``, held by the caller, is notified of changes.

    Raises ``KernelError`` (``queue-would-block``, DEADLINE_EXCEEDED) at the session's deadline, at
    once where there is none; ``run-cancelled`` when the run is cancelled.
    """
    deadline = call.runtime.deadline
    if ready():
        return
    if deadline is not None and _waited(call, changed, ready, deadline):
        return
    raise KernelError(
        f"node {call.node!r} ({call.op}) would wait for ever"
        if deadline is None
        else f"node {call.node!r} ({call.op}) waited until the session's deadline",
        details=at_node(call.node, call.op),
        check=check,
        found=found(),
        needed="another step that brings it, before this one or beside it",
        remedy="run that step first, or in another thread of a session with a deadline: "
        "SessionConfig(deadline=SECONDS)",
        code="queue-would-block",
        status="DEADLINE_EXCEEDED",
    )


def _waited(
    call: Call, changed: threading.Condition, ready: Callable[[], object], deadline: float
) -> bool:
    """Wait until the deadline; whether it is ready then."""
    stop = call.runtime.cancellation
    while (left := deadline - time.monotonic()) > 0:
        if changed.wait_for(ready, left if stop is None else min(left, _LOOK)):
            return True
        if stop is not None and stop.cancelled:
            raise cancelled(f"the run was cancelled while node {call.node!r} ({call.op}) waited")
    return bool(ready())
