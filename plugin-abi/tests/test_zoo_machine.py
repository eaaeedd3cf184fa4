"""The zoo at what is the machine's, at rare ways to what is shut elsewhere, and at the end."""

from __future__ import annotations

import signal

import pytest
from test_zoo_kernels import Run, run

pytestmark = pytest.mark.cases_in_gate(3)

__all__ = ["run"]

SOURCE = "hostile_machine.c"


def test_what_a_kernel_leaves_of_its_thread(run: Run) -> None:
    """Locale, rounding, traps, numbers of the x87, registers of MMX, the direction of copies."""
    nothing = ("ZooLeavesBehind", 99, 6)
    cases = [one for how in range(6) for one in (("ZooLeavesBehind", how, 6), ("ZooFinds", 0, 6))]
    ended = run(nothing, nothing, nothing, ("ZooFinds", 0, 6), *cases, source=SOURCE)
    assert ended.status == 0, ended.errors
    assert not any("code" in answer for answer in ended.answers), ended.answers


@pytest.mark.parametrize("how", [1, 2, 3, 4])
def test_calls_of_the_host_at_the_end(run: Run, how: int) -> None:
    """By atexit, by a destructor, on a thread that never ends, at the end of the main thread."""
    ended = run(("ZooLast", how, 6), source=SOURCE, runs=3)
    assert ended.status == 0, ended.errors
    assert not any("code" in answer for answer in ended.answers)
    assert ended.seconds < 60


def test_the_end_of_a_thread_that_fails_is_named(run: Run) -> None:
    ended = run(("ZooLast", 5, 6), source=SOURCE)
    assert ended.status in (0, -signal.SIGABRT)
    assert ended.status == 0 or "hostile_machine" in ended.errors
