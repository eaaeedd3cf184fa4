"""Who watches a plugin's process: one between it and the loader, which leaves nothing of it behind.

The plugin's process, a trial or the worker of an isolated plugin, is its child. When that has
ended, it ends all that the child has started, also what has left its process group or lost its
parent. It ends with the loader or when that terminates it, and its child ends with it. Signals that
the child sends to its process group do not reach it; where the child ends it by its number, the
loader finds what is left by a mark in the environment.
"""

from __future__ import annotations

import ctypes
import os
import resource
import secrets
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Final, NoReturn

__all__ = ["end_marked", "keep", "marked"]

_MARK: Final = "KEPT_BY_DRYSTONE"

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_CHILD_SUBREAPER: Final = 36
_TICK_SECONDS: Final = 0.02
_SLOW_TICK_SECONDS: Final = 1.0
_AWAITED: Final = (signal.SIGCHLD, signal.SIGTERM)


def keep(
    body: Callable[[], object],
    memory: int,
    tell: Callable[[int], object] | None = None,
    files: tuple[int, ...] = (),
) -> NoReturn:
    """Run ``body`` in a process of its own, of at most ``memory`` bytes, and end as that does.

    ``tell`` is called with the bytes that it held where they were too many; without it, the caller
    watches that. ``files`` are open in that process only.
    """
    control = ctypes.CDLL(None).prctl
    loader, keeper = os.getppid(), os.getpid()
    control(_PR_SET_CHILD_SUBREAPER, 1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # who ignores it cannot wait for anybody
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _AWAITED)
    leader = _group()
    child = os.fork()
    if child == 0:
        os.setpgid(0, leader)
        control(_PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if os.getppid() == keeper:
            _limit(memory)
            body()
        os._exit(1)
    with suppress(OSError):
        os.setpgid(child, leader)
    os.kill(leader, signal.SIGKILL)
    for file in files:
        os.close(file)
    status, held = _watch(child, loader, memory if tell else 0)
    if held and tell:
        tell(held)
    _reap()
    if os.WIFSIGNALED(status):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with suppress(OSError):  # for SIGKILL nothing can be set
            signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.kill(keeper, os.WTERMSIG(status))
    os._exit(os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 1)


def _group() -> int:
    """The leader of a new process group, which waits: who leads one could begin no session."""
    leader = os.fork()
    if leader == 0:
        while True:
            signal.pause()
    os.setpgid(leader, leader)
    return leader


def marked() -> dict[str, str]:
    """What tells a process of a plugin, and those that it starts, in their environment."""
    return {_MARK: secrets.token_hex(16)}


def end_marked(environment: dict[str, str]) -> None:
    """End all processes that have the mark: their keeper was killed."""
    mark = f"{_MARK}={environment[_MARK]}".encode()
    while found := [int(name) for name in os.listdir("/proc") if _is_marked(name, mark)]:
        for process in found:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


def _is_marked(process: str, mark: bytes) -> bool:
    if not process.isdecimal() or int(process) == os.getpid():
        return False
    try:
        with open(f"/proc/{process}/environ", "rb") as file:
            return mark in file.read().split(b"\0")
    except OSError:
        return False


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


def _watch(child: int, loader: int, memory: int) -> tuple[int, int]:
    """Its status when it has ended, and the bytes that it held if it was ended for them.

    The loader's death is asked for: a signal at it would come at the end of the thread, too, that
    has started this process.
    """
    tick = _TICK_SECONDS if memory else _SLOW_TICK_SECONDS
    while True:
        found = signal.sigtimedwait(_AWAITED, tick)
        if os.getppid() != loader or (found and found.si_signo == signal.SIGTERM):
            _reap()
            os._exit(1)
        if (status := _ended(child)) is not None:
            return status, 0
        held = _held(child) if memory else 0
        if held > memory:
            os.kill(child, signal.SIGKILL)
            return os.waitpid(child, 0)[1], held


def _ended(child: int) -> int | None:
    """The child's status if it has ended. Orphans that have ended are let go."""
    while True:
        found, status = os.waitpid(-1, os.WNOHANG)
        if found in (0, child):
            return status if found else None


def _held(process: int) -> int:
    try:
        with open(f"/proc/{process}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * resource.getpagesize()
    except (OSError, IndexError):
        return 0


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
