"""Holding back the cycle collector: for a while, in any thread, and with what a program has set."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable, Iterator

import pytest

from drystone_base.core.collector import _HOLD, no_cycle_collection


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    """The collector as a program finds it, and again afterwards."""
    left, was = _HOLD.left_of_start, gc.isenabled()
    gc.enable()
    yield
    _HOLD.left_of_start = left
    (gc.enable if was else gc.disable)()


def test_it_is_off_inside_and_on_again_after_the_outer_block() -> None:
    with no_cycle_collection():
        with no_cycle_collection():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_what_a_program_has_turned_off_stays_off() -> None:
    gc.disable()
    with no_cycle_collection():
        pass
    assert not gc.isenabled()


def test_an_error_ends_the_block() -> None:
    with pytest.raises(ValueError), no_cycle_collection():
        raise ValueError
    assert gc.isenabled()


def test_it_stays_off_while_another_thread_needs_it() -> None:
    inside, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with no_cycle_collection():
            inside.set()
            leave.wait(60)

    other = threading.Thread(target=hold)
    other.start()
    assert inside.wait(60)
    with no_cycle_collection():
        pass
    assert not gc.isenabled()
    leave.set()
    other.join()
    assert gc.isenabled()


@pytest.mark.parametrize("own", [False, True])
def test_a_fork_leaves_the_blocks_of_other_threads(own: bool) -> None:
    inside, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with no_cycle_collection():
            inside.set()
            leave.wait(60)

    def child() -> int:
        before = gc.isenabled()
        with no_cycle_collection():
            pass
        return before + 2 * gc.isenabled()

    other = threading.Thread(target=hold)
    other.start()
    assert inside.wait(60)
    if own:
        with no_cycle_collection():
            found = _in_child(child)
    else:
        found = _in_child(child)
    leave.set()
    other.join()
    assert found == (0 if own else 3)  # its own block goes on
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


def test_a_handler_of_a_signal_in_between_may_import_too() -> None:
    done = threading.Event()

    def interrupted() -> None:
        with _HOLD.lock, no_cycle_collection():  # the second is the handler's
            pass
        done.set()

    threading.Thread(target=interrupted, daemon=True).start()
    assert done.wait(30)
    assert gc.isenabled()


def test_what_the_start_makes_counts_as_old() -> None:
    _HOLD.left_of_start = 1
    with no_cycle_collection():
        made: list[list[int]] = [[k] for k in range(1000)]
    assert len(gc.get_objects(generation=0)) < len(made)
    assert gc.get_freeze_count() == 0


def test_after_the_start_what_is_made_is_young() -> None:
    _HOLD.left_of_start = 0
    with no_cycle_collection():
        made: list[list[int]] = [[k] for k in range(1000)]
        young = {id(one) for one in gc.get_objects(generation=0)}
    assert sum(id(one) in young for one in made) > 900


def test_what_a_program_has_frozen_stays_frozen() -> None:
    _HOLD.left_of_start = 1
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        with no_cycle_collection():
            pass
        assert gc.get_freeze_count() > frozen // 2
    finally:
        gc.unfreeze()
