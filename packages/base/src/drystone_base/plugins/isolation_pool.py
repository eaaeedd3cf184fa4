"""The processes of isolated plugins: one for each library, ended and started again, not for ever.

A process that crashed, hung, took too much memory or answered nonsense is started again by the next
request. Three such failures of a library, and it is not asked any more.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeVar

from drystone_base.core.errors import PluginError
from drystone_base.plugins.isolation_limits import Limits

if TYPE_CHECKING:
    from drystone_base.plugins.isolation_process import Worker

__all__ = ["asked", "keep", "lock", "stop_workers", "worker_of"]

T = TypeVar("T")
_MOST_STRIKES: Final = 3
_STRIKES: Final = {
    "isolated-plugin-deadline": _MOST_STRIKES,
    "isolated-plugin-crashed": 1,
    "isolated-plugin-memory": 1,
    "isolated-plugin-reply": 1,
}

lock: Final = threading.RLock()
_workers: Final[dict[str, Worker]] = {}
_strikes: Final[dict[str, int]] = {}
_last_error: Final[dict[str, PluginError]] = {}


def asked(name: str, version: str, path: str, limits: Limits, request: Callable[[Worker], T]) -> T:
    """What a plugin's process answers to ``request``; raises ``PluginError``, and counts those.

    Who was ended because the caller's own time was over has not failed.
    """
    if _strikes.get(path, 0) >= _MOST_STRIKES:
        raise _last_error[path]
    try:
        return request(worker_of(name, version, path, limits))
    except PluginError as error:
        hurried = error.code == "isolated-plugin-deadline" and limits.is_over
        if error.code in _STRIKES and not hurried:
            with lock:
                _strikes[path] = _strikes.get(path, 0) + _STRIKES[error.code]
                _last_error[path] = error
        raise


def worker_of(name: str, version: str, path: str, limits: Limits) -> Worker:
    """The plugin's process: the one there is, or a new one."""
    with lock:
        worker = _workers.get(path)
        if worker is None or not worker.alive or worker.memory != limits.memory:
            from drystone_base.plugins.isolation_process import Worker

            worker = Worker(name, version, path, limits)
            keep(worker)
        return worker


def keep(worker: Worker) -> None:
    """Have a process serve its library from now on; the one before it is ended."""
    with lock:
        if not _workers:
            atexit.register(stop_workers)
        before = _workers.get(worker.path)
        _workers[worker.path] = worker
    if before is not None:
        before.end()


def stop_workers() -> None:
    """End all processes of isolated plugins, and forget how often they failed."""
    with lock:
        for worker in _workers.values():
            worker.end()
        _workers.clear()
        _strikes.clear()
        _last_error.clear()


def _forget_workers() -> None:
    """In a forked child: the processes are the parent's."""
    _workers.clear()


os.register_at_fork(after_in_child=_forget_workers)
