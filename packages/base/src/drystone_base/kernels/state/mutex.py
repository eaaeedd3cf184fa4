"""Mutexes: a lock is a value, and holds its mutex until it is consumed or forgotten."""

from __future__ import annotations

import threading
import weakref
from typing import Any

from drystone_base.kernels._handles import shared_handle
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._waiting import wait_for
from drystone_base.state.variables import handle_array, resource_of


class Mutex:
    """May be held by one lock at a time. Safe to use from several threads."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.held = False
        self.changed = threading.Condition(threading.RLock())

    def release(self) -> None:
        """Let another lock have it."""
        with self.changed:
            self.held = False
            self.changed.notify()


class Lock:
    """Holds a mutex; ``release`` gives it back, once, at the latest when nothing refers to it."""

    def __init__(self, mutex: Mutex) -> None:
        self.release = weakref.finalize(self, mutex.release)


@kernel("MutexV2")
def mutex(call: Call) -> Any:
    """A handle, a scalar resource, to the mutex of that name."""
    return shared_handle(call, "mutex", Mutex, type, reference=False)


@kernel("MutexLock")
def mutex_lock(call: Call, handle: Array) -> Array:
    """A lock of the mutex, once no other holds it."""
    found = resource_of(handle, Mutex)
    with found.changed:
        wait_for(
            call,
            found.changed,
            lambda: not found.held,
            "a mutex must be free to be locked",
            lambda: f"mutex {found.name!r} is held by another lock",
        )
        found.held = True
    return handle_array(Lock(found))


@kernel("ConsumeMutexLock")
def consume_mutex_lock(call: Call, lock: Array) -> tuple[()]:
    """End a lock. (What the lock orders is before this op by control edges.)"""
    found = lock.item() if lock.ndim == 0 else lock
    if not isinstance(found, Lock):
        call.fail("the input must be a lock", found=repr(found), needed="a scalar from MutexLock")
    found.release()
    return ()
