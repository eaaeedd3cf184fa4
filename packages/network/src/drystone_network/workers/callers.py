"""Threads that wait for answers, kept from call to call: to start one takes as long as a call."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Final

__all__ = ["CALLERS", "Callers"]

_MOST_IDLE: Final = 64


class Callers:
    """Runs calls that wait, each on a thread of its own; nothing waits for them at the end."""

    def __init__(self) -> None:
        self._forget()
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        """Begin without threads, as the child of a fork does."""
        self._lock = threading.Lock()
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._idle = 0

    def run(self, job: Callable[[], None]) -> None:
        """Have a thread do it; ``job`` raises nothing."""
        with self._lock:
            is_new = self._idle == 0
            if not is_new:
                self._idle -= 1
        self._jobs.put(job)
        if is_new:
            threading.Thread(target=self._work, name="drystone call", daemon=True).start()

    def _work(self) -> None:
        while True:
            self._jobs.get()()
            with self._lock:
                if self._idle >= _MOST_IDLE:
                    return
                self._idle += 1


CALLERS: Final = Callers()
