"""What is the program's or the machine's is refused to the zoo, whichever way it takes."""

from __future__ import annotations

import pytest
from test_zoo_kernels import Run, run

pytestmark = pytest.mark.cases_in_gate(3)

__all__ = ["run"]

BUFFERS = "how standard streams are buffered"
THREADS = "how the program's threads are scheduled"
MACHINE = "the machine"
IDENTITY = "who the process is"
CHILDREN = "children of the program"
OTHERS = "whether other programs go on"
PROCESS = [
    "the timer that sends signals",
    "a limit of resources",
    "memory of another library",
    "memory of another library",
    "the settings of malloc",
    "the locale",
    "the umask",
    "the environment",
    "the environment",
    "the environment",
    "the handler of SIGPIPE",
    "the handler of SIGCHLD",
    "standard output",
    "who the process is",
    "who the process is",
    "files of others",
    "files of others",
]
DOORS = [
    "whether the process goes on",
    "whether the process goes on",
    "whether the process goes on",
    "memory of another library",
    "memory of another library",
    "memory of another library",
    "the end of the heap",
    "which memory stays in place",
    "how the program's threads are scheduled",
    "how the program's threads are scheduled",
    "how the program's threads are scheduled",
    "how the program's threads are scheduled",
    "how standard streams are buffered",
    "the handler of a signal that ends the process",
    "the handler of SIGINT",
    "the stack of signal handlers",
    "who the process is",
    "who the process is",
    "who the process is",
    "files that were open before it was",
    "standard output",
    "standard input",
    "which signals it is sent",
    "standard output",
    "whether the process goes on",
]
MACHINE_WIDE = [
    *[BUFFERS] * 3,
    *[THREADS] * 5,
    *[MACHINE] * 7,
    *[IDENTITY] * 9,
    "standard output",
    "standard input",
    "standard input",
    "standard output",
    "the handler of SIGINT",
    "the handler of SIGINT",
    "the timer that sends signals",
    "a limit of resources",
    *[CHILDREN] * 5,
    *[OTHERS] * 2,
    *["memory of another library"] * 2,
    "the umask",
    "the working folder",
    IDENTITY,
    OTHERS,
    MACHINE,
]
WAYS = [
    ("hostile_process.c", "ZooProcess", PROCESS),  # ways that nobody thinks of first
    ("hostile_doors.c", "ZooTakesOver", DOORS),  # doors that nobody watches
    # What its siblings are refused: by older functions, of a thread, by the number of a call.
    ("hostile_machine.c", "ZooMachine", MACHINE_WIDE),
]


@pytest.mark.parametrize(("source", "op", "whats"), WAYS)
def test_what_is_not_the_plugins_is_refused(
    run: Run, source: str, op: str, whats: list[str]
) -> None:
    """In calls after the first ones, which are looked at and put back."""
    nothing = (op, 99, 6)
    cases = [(op, how, 6) for how in range(len(whats))]
    ended = run(nothing, nothing, nothing, *cases, source=source, wait=0.5)
    assert ended.status == 0, ended.errors
    assert not any("code" in answer for answer in ended.answers[:-1]), ended.answers
    assert ended.answers[-1] == {"interrupted": True}
    for what in set(whats):
        told = f"it tried to change {what}, which is the program's; that was refused"
        assert ended.errors.count(told) == 1, ended.errors
