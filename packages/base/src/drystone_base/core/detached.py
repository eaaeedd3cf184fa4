"""Work in a thread that its caller can leave: what may take long, or never return.

Python is interrupted by an exception, at its next line. What is in a long call of a library is left
behind: it goes on until that returns, with all that it holds, and its results are forgotten. While
a library keeps the interpreter's lock in such a call, no other thread runs.
"""

from __future__ import annotations

import atexit
import contextvars
import ctypes
import threading
import time
from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

from drystone_base.core.time_limits import OutOfTime, until

__all__ = ["LOOKS", "MOMENT", "DetachedCall", "compute_detached", "has_abandoned_call"]

T = TypeVar("T")

LOOKS: Final = 0.2
"""Seconds that the main thread waits for another one before it looks whether Ctrl-C was pressed.

Pressed while a wait is under way, it ends it; but just before, the interpreter's handler has run
already, and a wait without an end would not hear of it.
"""
MOMENT: Final = 0.18
"""Seconds that kernels, which look at the time themselves, have to end before they are stopped."""


class _Stopped(BaseException):
    """Ends work that is over. No `except Exception` catches it."""


class DetachedCall(Generic[T]):
    """One piece of work, and what came of it.

    It goes on in a thread of its own, in a copy of this thread's context, and is called ``what``
    where it is left.
    """

    def __init__(self, work: Callable[[], T], what: str, ends: float | None = None) -> None:
        self.what = what
        self._work, self._ends = work, ends
        self._done = threading.Event()
        self._found: list[T] = []
        self._error: BaseException | None = None
        go = contextvars.copy_context().run
        self._thread = threading.Thread(
            target=go, args=(self._go,), name="drystone run", daemon=True
        )

    def start(self) -> None:
        """Begin; raises ``RuntimeError`` where no thread can be made, and what Ctrl-C raises."""
        self._thread.start()

    def _go(self) -> None:
        try:
            with until(self._ends):
                self._found = [self._work()]
        except BaseException as error:  # the caller's, whatever it is
            self._error = error
        finally:
            del self._work
            self._done.set()

    def wait(self, seconds: float) -> bool:
        """Whether it is done."""
        return self._done.wait(max(seconds, 0.0))

    def stop(self) -> None:
        """Interrupt it, and give it a moment."""
        ident = ctypes.c_ulong(self._thread.ident or 0)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, ctypes.py_object(_Stopped))
        if not self.wait(MOMENT / 2):
            _end_without(self)

    def interrupted(self, error: KeyboardInterrupt) -> None:
        """Stop it; ``error`` says so where it was left."""
        if not self.has_begun and not self.wait(MOMENT / 2) and not self.has_begun:
            return  # nor will it
        self.stop()
        if not self.wait(0) and hasattr(error, "add_note"):
            error.add_note(f"{self.what} has not returned and keeps running in a thread of its own")

    def result(self) -> T:
        """What it gave; raises what it raised."""
        if self._error is not None:
            raise self._error
        return self._found[0]

    @property
    def has_begun(self) -> bool:
        """Whether there is a thread for it."""
        return self._thread.ident is not None

    @property
    def was_stopped(self) -> bool:
        """Whether it has not ended, or ended because it was interrupted."""
        return not self._done.is_set() or isinstance(self._error, _Stopped)


_AT_EXIT: Final = "__cxa_atexit"
_LEFT: Final[list[DetachedCall[Any]]] = []
"""What goes on though no caller waits for it; from a moment on also what has ended since."""


def _end_without(left: DetachedCall[Any]) -> None:
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


def has_abandoned_call(what: str) -> bool:
    """Whether work of that name was left that has not ended."""
    return any(one.what == what and not one.wait(0) for one in _LEFT)


def compute_detached(
    work: Callable[[], T],
    ends: float | None,
    what: str,
    is_over: Callable[[], bool] | None = None,
) -> T:
    """What ``work()`` gives, if that is before ``ends`` (``time.monotonic``; None: whenever).

    ``is_over`` may say earlier that nobody wants it. Ctrl-C ends it, too. Raises ``OutOfTime``, and
    what ``work()`` raises; they say that ``what`` has not returned, where that is so.
    """
    run = DetachedCall(work, what, ends)
    try:
        run.start()
        while not run.wait(LOOKS if ends is None else min(LOOKS, ends - time.monotonic())):
            if (ends is not None and time.monotonic() >= ends) or (is_over and is_over()):
                break
        else:
            return run.result()
    except KeyboardInterrupt as error:
        run.interrupted(error)
        raise
    except _Stopped:  # this is itself a part of work that is over
        run.stop()
        raise
    except RuntimeError:
        if run.has_begun:
            raise
        return work()  # no thread can be made
    run.stop()
    if run.was_stopped:
        raise OutOfTime(f"{what} has not returned")
    return run.result()
