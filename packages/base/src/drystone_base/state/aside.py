"""Work with a deadline: in a thread that its caller can leave.

Runs of the reference executor that have one, and large nodes that are computed while a plan is
made. A kernel in Python is interrupted by an exception, at its next line. One that is in a long
call of NumPy's is left behind: it goes on until that returns, with all that it holds, and its
results are forgotten. While NumPy keeps the interpreter's lock in such a call, nobody else runs.
"""

from __future__ import annotations

import atexit
import ctypes
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from drystone_base.core.time_limits import OutOfTime
from drystone_base.state.cancellation import LOOKS, cancelled, deadline_exceeded

if TYPE_CHECKING:
    from drystone_base.state.runtime import Runtime

__all__ = ["compute_aside", "run_aside"]

T = TypeVar("T")

_MOMENT: Final = 0.22
"""Seconds that kernels, which look at the time themselves, have to end before they are stopped."""


class _Stopped(BaseException):
    """Ends the kernel of a run that is over. No `except Exception` catches it."""


class _Aside(Generic[T]):
    """One piece of work, and what came of it."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._done = threading.Event()
        self._found: list[T] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._go, name="drystone run", daemon=True)
        self._thread.start()

    def _go(self) -> None:
        try:
            self._found = [self._work()]
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
        if not self.wait(_MOMENT / 2):
            _end_without(self)

    def result(self) -> T:
        """What it gave; raises what it raised."""
        if self._error is not None:
            raise self._error
        return self._found[0]

    @property
    def was_stopped(self) -> bool:
        """Whether it has not ended, or ended because it was interrupted."""
        return not self._done.is_set() or isinstance(self._error, _Stopped)


_AT_EXIT: Final = "__cxa_atexit"
_LEFT: Final[list[_Aside[Any]]] = []
"""What goes on though nobody waits for it; from a moment on also what has ended since."""


def _end_without(left: _Aside[Any]) -> None:
    """Let the process end while it goes on."""
    if not _LEFT:
        atexit.register(_skip_ends_of_libraries)
    _LEFT[:] = [one for one in _LEFT if not one.wait(0)] + [left]


def _skip_ends_of_libraries() -> None:
    """While something goes on the process ends without them: OpenBLAS's would wait for its threads.

    Where the C library has no ``on_exit`` they wait. Files of C are written out before.
    """
    if all(one.wait(0) for one in _LEFT):
        return
    library = ctypes.CDLL(None)
    if hasattr(library, "on_exit") and hasattr(library, _AT_EXIT):
        library.on_exit(library._exit, None)
        getattr(library, _AT_EXIT)(library.fflush, None, None)


def compute_aside(work: Callable[[], T], ends: float | None) -> T:
    """What ``work()`` gives, if that is before ``ends`` (``time.monotonic``; None: whenever).

    Ctrl-C ends it, too. Raises ``OutOfTime``, and what ``work()`` raises.
    """
    try:
        run = _Aside(work)
    except RuntimeError:  # no thread can be made
        return work()
    try:
        while not run.wait(LOOKS if ends is None else min(LOOKS, ends - time.monotonic())):
            if ends is not None and time.monotonic() >= ends:
                break
        else:
            return run.result()
    except KeyboardInterrupt:
        run.stop()
        raise
    run.stop()
    if run.was_stopped:
        raise OutOfTime
    return run.result()


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
            return run.result()
        if run.wait(_MOMENT):
            return run.result()
    except KeyboardInterrupt:
        run.stop()
        raise
    run.stop()
    if not run.was_stopped:
        return run.result()
    if is_cancelled:
        raise cancelled(f"the run was cancelled in {runtime.at or 'a kernel'}")
    raise deadline_exceeded(f"the run was stopped at {runtime.at or 'a kernel'}")


def _left(runtime: Runtime) -> float:
    return LOOKS if runtime.deadline is None else runtime.deadline - time.monotonic()
