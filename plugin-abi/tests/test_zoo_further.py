"""The zoo at second names of what is shut, at functions of the program, and at rare ends."""

from __future__ import annotations

import signal

import pytest
from test_zoo_kernels import Run, run

pytestmark = pytest.mark.cases_in_gate(3)

__all__ = ["run"]

SOURCE = "hostile_further.c"
NOTHING = 99
OUTPUT, ERROR, INTERRUPT = "standard output", "standard error", "the handler of SIGINT"
LIMIT, IDENTITY, MEMORY = "a limit of resources", "who the process is", "memory of another library"
FURTHER = {
    0: OUTPUT,
    1: ERROR,
    2: OUTPUT,
    3: INTERRUPT,
    4: INTERRUPT,
    5: INTERRUPT,
    6: OUTPUT,
    7: OUTPUT,
    8: OUTPUT,
    **dict.fromkeys(range(10, 14), LIMIT),
    **dict.fromkeys(range(20, 32), IDENTITY),
    **dict.fromkeys(range(40, 44), MEMORY),
    50: "the machine",
    51: "the machine",
    52: "the machine",
    53: "the handler of a signal that ends the process",
    54: OUTPUT,
    55: ERROR,
    56: OUTPUT,
    57: "the stack of signal handlers",
    58: "whether the process goes on",
    59: "the timer that sends signals",
    60: "files of others",
    61: "how the program's threads are scheduled",
}
"""What each `how` of ZooFurther is refused."""


def test_what_is_not_the_plugins_is_refused_under_any_name(run: Run) -> None:
    cases = [("ZooFurther", how, 1024) for how in (NOTHING, NOTHING, NOTHING, *FURTHER)]
    ended = run(*cases, source=SOURCE, wait=0.5)
    assert ended.status == 0, ended.errors
    assert len(ended.answers) == len(cases) + 1
    could = [c[1] for c, a in zip(cases, ended.answers, strict=False) if "code" in a]
    assert could == []
    assert ended.answers[-1] == {"interrupted": True}
    for what in set(FURTHER.values()):
        told = f"it tried to change {what}, which is the program's; that was refused"
        assert ended.errors.count(told) == 1, (what, ended.errors)


OF_PROGRAMS = [
    "DS_SetOptimizerServices",
    "DS_SetOpServices",
    "DS_SetOpList",
    "DS_SetLogSink",
    "DS_ShutdownDevices",
    "DS_PrepareEnd",
    "DS_CleanupFilesystems",
    "DS_FreeKeptMemory",
    "DS_SetCapsuleFunctions",
    "DS_SetAttention",
    "DS_RegisterFilesystems",
    "DS_OpenLibraryWithout",
    "DS_VouchForLibrary",
    "DS_InitLibrary",
    "DS_ShutdownDevices",  # found by dlsym
]


def test_functions_of_the_program_are_refused(run: Run) -> None:
    """By them it would vouch for itself, or take away what the program offers other plugins."""
    cases = [("ZooEmbeds", how, 6) for how in range(len(OF_PROGRAMS))]
    ended = run(*cases, source=SOURCE)
    assert ended.status == 0, ended.errors
    assert len(ended.answers) == len(cases)
    assert not any("code" in answer for answer in ended.answers), ended.answers
    for name in set(OF_PROGRAMS):
        told = f"it called {name}, which is for the program that embeds the host; that was refused"
        assert ended.errors.count(told) == 1, (name, ended.errors)


@pytest.mark.parametrize(
    ("how", "number"),
    [
        (0, signal.SIGSEGV),  # with all signals blocked
        (1, signal.SIGBUS),
        (2, signal.SIGILL),
        (3, signal.SIGFPE),
        (4, signal.SIGABRT),
        (5, signal.SIGTRAP),
        (6, signal.SIGSYS),
        (8, signal.SIGSEGV),  # a function at 0
    ],
)
def test_rare_ends_are_named(run: Run, how: int, number: int) -> None:
    ended = run(("ZooCrashesSo", how, 6), source=SOURCE)
    assert ended.status == -number
    assert "while compute of node 'y' (op ZooCrashesSo) of plugin" in ended.errors
    assert "hostile_further" in ended.errors


def test_a_fork_by_its_second_name_does_not_go_on_twice(run: Run) -> None:
    ended = run(("ZooCrashesSo", 7, 6), source=SOURCE)
    assert ended.status == 0, ended.errors
    assert len(ended.answers) == 1
    assert "has forked, and returned in the child, which ends" in ended.errors
