"""Who watches a trial: a process between it and the loader, which leaves nothing of it behind.

The trial is its child. It ends the trial when that holds too much memory, and when it has ended
all that it has started, also what has left its process group or lost its parent. It ends with
the loader, and the trial ends with it.
"""

from __future__ import annotations

import ctypes
import os
import resource
import select
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Final, NoReturn

__all__ = ["keep"]

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_CHILD_SUBREAPER: Final = 36
_TICK_SECONDS: Final = 0.02


def keep(body: Callable[[], object], memory: int, tell: Callable[[int], object]) -> NoReturn:
    """Run ``body`` in a process of its own, of at most ``memory`` bytes, and end as that does.

    ``tell`` is called with the bytes that it held where they were too many.
    """
    control = ctypes.CDLL(None).prctl
    loader = os.getppid()
    control(_PR_SET_CHILD_SUBREAPER, 1)
    control(_PR_SET_PDEATHSIG, signal.SIGTERM)
    keeper = os.getpid()
    trial = os.fork()
    if trial == 0:
        control(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() == keeper:
            _limit(memory)
            body()
        os._exit(1)
    signal.signal(signal.SIGTERM, lambda *_: _end_all())
    if os.getppid() != loader:
        _end_all()
    status, held = _watch(trial, memory)
    if held:
        tell(held)
    _reap()
    if os.WIFSIGNALED(status):
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.kill(os.getpid(), os.WTERMSIG(status))
    os._exit(os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 1)


def _limit(memory: int) -> None:
    """Twice the memory of address space: what is asked for at once fails without being killed."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory:
        with open("/proc/self/statm", encoding="ascii") as file:
            pages = int(file.read().split()[0])
        most = pages * resource.getpagesize() + 2 * memory
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def _watch(trial: int, memory: int) -> tuple[int, int]:
    """Its status when it has ended, and the bytes that it held if it was ended for them."""
    end = select.poll()
    with suppress(OSError):  # before Linux 5.3: then it is looked at every few ms
        end.register(os.pidfd_open(trial), select.POLLIN)
    while True:
        end.poll(_TICK_SECONDS * 1000)
        found, status = os.waitpid(trial, os.WNOHANG)
        if found:
            return status, 0
        held = _held(trial)
        if memory and held > memory:
            os.kill(trial, signal.SIGKILL)
            return os.waitpid(trial, 0)[1], held


def _held(process: int) -> int:
    try:
        with open(f"/proc/{process}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * resource.getpagesize()
    except (OSError, IndexError):
        return 0


def _end_all() -> NoReturn:
    _reap()
    os._exit(1)


def _reap() -> None:
    """End every child; those of theirs that are left are ours then, and end too."""
    while True:
        for child in _children():
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _children() -> list[int]:
    own = os.getpid()
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return []
    return [int(name) for name in os.listdir("/proc") if name.isdecimal() and _parent(name) == own]


def _parent(process: str) -> int:
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            return int(file.read().rpartition(b") ")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return 0
