"""The zoo at doors that nobody watches: each is shut, or who went through it is named."""

from __future__ import annotations

import signal

import pytest
from test_zoo_kernels import Run, named, run

pytestmark = pytest.mark.cases_in_gate(3)

__all__ = ["run"]

SOURCE = "hostile_doors.c"
BY_EXEC = "the process is given to another program by exec"


@pytest.mark.parametrize(
    ("end", "status", "words"),
    [
        (0, 3, "the process was ended by exit()"),
        (1, 0, BY_EXEC),
        (2, 0, BY_EXEC),
        (3, 0, BY_EXEC),
        (4, 0, BY_EXEC),
        (5, 0, BY_EXEC),
        (6, -signal.SIGKILL, "the process was sent signal 9 by itself"),
        (7, -signal.SIGKILL, "the process was sent signal 9 by itself"),
        (8, -signal.SIGKILL, "the process was sent signal 9 by itself"),
        (9, -signal.SIGABRT, "a thread of the host was ended by a system call"),
    ],
)
def test_who_ends_the_process_is_named(run: Run, end: int, status: int, words: str) -> None:
    ended = run(("ZooEndsBy", 0, 6), source=SOURCE, end=end)
    assert ended.status == status
    assert f"drystone: {words} while compute of node 'y' (op ZooEndsBy) of plugin" in ended.errors
    assert not ended.answers


def test_the_host_cannot_be_closed(run: Run) -> None:
    ended = run(("ZooLeaves", 0, 6), ("ZooLeaves", 2, 6), source=SOURCE, runs=3)
    assert ended.status == 0, ended.errors
    assert not any("code" in answer for answer in ended.answers)


def test_streams_that_are_left_locked(run: Run) -> None:
    """All others who write would wait, and so would the end of the process."""
    ended = run(("ZooLeaves", 1, 6), ("ZooLeaves", 2, 6), source=SOURCE, runs=3)
    assert ended.status == 0, ended.errors
    found = "it left a standard stream locked, which others wait for; that was unlocked"
    for answer in ended.answers[:3]:
        named(answer, "ZooLeaves", found, file=SOURCE)
    assert not any("code" in answer for answer in ended.answers[3:])
    assert ended.seconds < 60
