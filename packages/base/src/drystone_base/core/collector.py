"""Holding back Python's cycle collector while much is made that stays: modules, graphs, plans.

The collector looks through all that is alive again and again while it grows. In a process that
loads a small model this took a seventh of the time to its first answer, and freed next to nothing.
"""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

__all__ = ["no_cycle_collection"]

_AT_START: Final = 8
"""Blocks of a process, the outer ones, that count as its start: the imports, and a first model."""


class _Hold:
    """How many blocks hold the collector back, in all threads, and whether it was on before."""

    def __init__(self) -> None:
        self.lock = threading.RLock()  # a signal's handler may import, too, in between
        self.blocks = 0
        self.own: Final = threading.local()  # its `blocks` are the thread's
        self.was_enabled = False
        self.left_of_start = _AT_START

    def take(self) -> None:
        with self.lock:
            if not self.blocks:
                self.was_enabled = gc.isenabled()
                gc.disable()
            self.blocks += 1
            self.own.blocks = getattr(self.own, "blocks", 0) + 1

    def give_back(self) -> None:
        with self.lock:
            self.own.blocks -= 1
            self.blocks -= 1
            if self.blocks or not self.was_enabled:
                return
            if self.left_of_start:
                self.left_of_start -= 1
                _count_as_old()
            gc.enable()

    def after_fork(self) -> None:
        """Leave the blocks of threads that the new process does not have."""
        self.lock = threading.RLock()
        held, self.blocks = self.blocks, getattr(self.own, "blocks", 0)
        if held and not self.blocks and self.was_enabled:
            gc.enable()


def _count_as_old() -> None:
    """Put all that is alive where the collector looks last, which takes no time.

    Else it would look through all that was made as soon as the caller makes an object. Only for
    what a process makes once: what is put there does not bring the next look any nearer, so that
    a program that loads models again and again would hold on to those it has dropped. What the
    program has frozen itself stays frozen.
    """
    if not gc.get_freeze_count():
        gc.freeze()
        gc.unfreeze()


_HOLD: Final = _Hold()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_HOLD.after_fork)


@contextmanager
def no_cycle_collection() -> Iterator[None]:
    """Hold back the cycle collector while objects are made that all survive; may be nested."""
    _HOLD.take()
    try:
        yield
    finally:
        _HOLD.give_back()
