"""Runs of the reference executor that their callers can leave, as native runs can be."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from drystone_base.core.detached import LOOKS, MOMENT, DetachedCall
from drystone_base.state.cancellation import cancelled, deadline_exceeded

if TYPE_CHECKING:
    from drystone_base.state.runtime import Runtime

__all__ = ["run_detached"]


def run_detached(work: Callable[[], list[Any]], runtime: Runtime) -> list[Any]:
    """What ``work()`` gives, if that is before the run's deadline and nothing stops it.

    Without a thread to be had it is called here. Raises ``KernelError`` (``deadline-exceeded``,
    ``run-cancelled``).
    """
    run = DetachedCall(work, "a run")
    try:
        run.start()
        while not run.wait(min(LOOKS, _left(runtime))):
            is_cancelled = runtime.cancellation is not None and runtime.cancellation.cancelled
            if is_cancelled or _left(runtime) <= 0:
                break
        else:
            return run.result()
        if run.wait(MOMENT):
            return run.result()
    except KeyboardInterrupt as error:
        run.what = f"the kernel of {runtime.place()}"
        run.interrupted(error)
        raise
    except RuntimeError:
        if run.has_begun:
            raise
        return work()  # no thread can be made
    run.stop()
    if not run.was_stopped:
        return run.result()
    if is_cancelled:
        raise cancelled(f"the run was cancelled in {runtime.place()}")
    raise deadline_exceeded(f"the run was stopped at {runtime.place()}")


def _left(runtime: Runtime) -> float:
    return LOOKS if runtime.deadline is None else runtime.deadline - time.monotonic()
