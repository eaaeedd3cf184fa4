"""Preparing a run so that its caller can leave: at the deadline, when it is cancelled, by Ctrl-C.

Passes compare, scale and copy constants as large as a model, each in one call of NumPy's, which
looks at no clock. So it is done in a thread of its own where somebody may want to leave.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeVar

from drystone_base.core import time_limits
from drystone_base.core.gc_pause import paused_gc
from drystone_base.core.time_limits import OutOfTime, until

if TYPE_CHECKING:
    from drystone_base.graph import Graph
    from drystone_base.state.cancellation import Cancellation

__all__ = ["prepared_for_ctrl_c", "prepared_in_time"]

T = TypeVar("T")

_LARGE: Final = 1 << 26
"""Bytes of constants with which a plan may take longer than Ctrl-C should."""
_WHAT: Final = "what makes the plan of a run"


def prepared_in_time(
    work: Callable[[], T], ends: float | None, cancellation: Cancellation | None = None
) -> T:
    """What ``work()`` gives, which prepares a run that must be done by then.

    Raises what it raises, and ``KernelError`` (``deadline-exceeded``, ``run-cancelled``).
    """
    if ends is None and cancellation is None:
        with paused_gc():
            return work()
    from drystone_base.core.detached import compute_detached
    from drystone_base.state.cancellation import cancelled, deadline_exceeded

    is_over = None if cancellation is None else lambda: cancellation.cancelled
    try:
        with paused_gc(), until(ends):
            return compute_detached(work, ends, _WHAT, is_over)
    except OutOfTime:
        if is_over is not None and is_over():
            raise cancelled("the run was cancelled while its plan was made") from None
        raise deadline_exceeded("the run was stopped while its plan was made") from None


def prepared_for_ctrl_c(work: Callable[[], T], graph: Graph) -> T:
    """What ``work()`` gives; the main thread, which hears of Ctrl-C, only waits for large ones."""
    if threading.current_thread() is not threading.main_thread() or not _is_large(graph):
        return work()
    from drystone_base.core.detached import compute_detached

    return compute_detached(work, time_limits.ends(), _WHAT)


def _is_large(graph: Graph) -> bool:
    from drystone_base.ops.attrs import TensorAttr  # which is of protobuf, as the graph is

    left = _LARGE
    for node in graph:
        if node.op == "Const":
            value = node.attrs.get("value")
            left -= value.nbytes if isinstance(value, TensorAttr) else 0
            if left < 0:
                return True
    return False
