"""Runs of the reference executor with a deadline: in a thread that their caller can leave.

A kernel in Python is interrupted by an exception, at its next line. One that is in a long call of
NumPy's is left behind: it goes on until that returns, with all that it holds, and its results are
forgotten. While NumPy keeps the interpreter's lock in such a call, nobody else runs.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from drystone_base.cancellation import LOOKS, cancelled, deadline_exceeded

if TYPE_CHECKING:
    from drystone_base.executor.runtime import Runtime

__all__ = ["run_aside"]

_MOMENT: Final = 0.22
"""Seconds that kernels, which look at the time themselves, have to end before they are stopped."""


class _Stopped(BaseException):
    """Ends the kernel of a run that is over. No `except Exception` catches it."""


class _Aside:
    """One run, and what came of it."""

    def __init__(self, work: Callable[[], list[Any]]) -> None:
        self._work = work
        self._done = threading.Event()
        self._values: list[Any] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._go, name="drystone run", daemon=True)
        self._thread.start()

    def _go(self) -> None:
        try:
            self._values = self._work()
        except BaseException as error:  # the caller's, whatever it is
            self._error = error
        finally:
            self._done.set()

    def wait(self, seconds: float) -> bool:
        """Whether it is done."""
        return self._done.wait(max(seconds, 0.0))

    def stop(self) -> None:
        """Interrupt it, and give it a moment."""
        ident = ctypes.c_ulong(self._thread.ident or 0)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, ctypes.py_object(_Stopped))
        self.wait(_MOMENT / 2)

    def values(self) -> list[Any]:
        """What it gave; raises what it raised."""
        if self._error is not None:
            raise self._error
        return self._values

    @property
    def was_stopped(self) -> bool:
        """Whether it has not ended, or ended because it was interrupted."""
        return not self._done.is_set() or isinstance(self._error, _Stopped)


def run_aside(work: Callable[[], list[Any]], runtime: Runtime) -> list[Any]:
    """What ``work()`` gives, if that is before the run's deadline and nobody cancels it.

    Without a thread to be had it is called here. Raises ``KernelError`` (``deadline-exceeded``,
    ``run-cancelled``).
    """
    try:
        run = _Aside(work)
    except RuntimeError:  # no thread can be made
        return work()
    try:
        while not run.wait(min(LOOKS, _left(runtime))):
            is_cancelled = runtime.cancellation is not None and runtime.cancellation.cancelled
            if is_cancelled or _left(runtime) <= 0:
                break
        else:
            return run.values()
        if run.wait(_MOMENT):
            return run.values()
    except KeyboardInterrupt:
        run.stop()
        raise
    run.stop()
    if not run.was_stopped:
        return run.values()
    if is_cancelled:
        raise cancelled(f"the run was cancelled in {runtime.at or 'a kernel'}")
    raise deadline_exceeded(f"the run was stopped at {runtime.at or 'a kernel'}")


def _left(runtime: Runtime) -> float:
    return LOOKS if runtime.deadline is None else runtime.deadline - time.monotonic()
