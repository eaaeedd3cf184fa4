"""Pausing the cycle collector: inside a block, in a fork, and with what a program has set."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable, Iterator

import pytest

from drystone_base.core.gc_pause import paused_gc


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    """The collector as a program finds it, and again afterwards."""
    was = gc.isenabled()
    gc.enable()
    yield
    (gc.enable if was else gc.disable)()


def test_it_is_off_inside_and_on_again_after_the_outer_block() -> None:
    with paused_gc():
        with paused_gc():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_what_a_program_has_turned_off_stays_off() -> None:
    gc.disable()
    with paused_gc():
        pass
    assert not gc.isenabled()


def test_an_error_ends_the_block() -> None:
    with pytest.raises(ValueError), paused_gc():
        raise ValueError
    assert gc.isenabled()


def test_a_fork_leaves_the_blocks_of_other_threads() -> None:
    inside, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with paused_gc():
            inside.set()
            leave.wait(60)

    def child() -> int:
        before = gc.isenabled()
        with paused_gc():
            pass
        return before + 2 * gc.isenabled()

    other = threading.Thread(target=hold)
    other.start()
    assert inside.wait(60)
    found = _in_child(child)
    leave.set()
    other.join()
    assert found == 3, "on, before and after a block of its own"
    assert gc.isenabled()


def _in_child(work: Callable[[], int]) -> int:
    """What ``work`` gives in a fork of this process."""
    number = os.fork()
    if number == 0:
        found = 99
        try:
            found = work()
        finally:
            os._exit(found)
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])
