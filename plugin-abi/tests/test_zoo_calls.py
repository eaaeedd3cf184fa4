"""Kernels of the zoo that misuse the interface, or end the process: refused or told by name."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from test_zoo_kernels import Run, named, run

pytestmark = [pytest.mark.cases_in_gate(3), pytest.mark.tests_in_gate(2)]

__all__ = ["run"]


@pytest.mark.parametrize(
    ("how", "what"),
    [
        (0, "a tensor that had been deleted"),
        (1, "a tensor that had been deleted"),
        (2, "a status that had been deleted"),
        (3, "a tensor that is none"),
        (4, "a status that is the host's, or none"),
        (5, "a buffer that TF_NewBuffer has not made"),
        (6, "a status that had been deleted"),
    ],
)
def test_what_is_deleted_twice(run: Run, how: int, what: str) -> None:
    """The second time does nothing: the run fails, and the process goes on."""
    ended = run(("ZooTwice", how, 6), ("ZooGood", 0, 6), runs=3)
    assert ended.status == 0, ended.errors
    for answer in ended.answers[:3]:
        named(answer, "ZooTwice", f"it deleted {what}")
    assert all("code" not in answer for answer in ended.answers[3:])


def test_a_context_that_is_kept_leads_nowhere(run: Run) -> None:
    """A call that is over has no inputs and outputs; what is said by it is not the next call's."""
    ended = run(("ZooKeeps", 2, 6), ("ZooGood", 0, 6), wait=0.3)
    assert ended.status == 0, ended.errors
    assert not any("code" in answer for answer in ended.answers)
    assert "kept: 0 11 0" in ended.errors
    assert "a kernel failed in a call that is over" in ended.errors


@pytest.mark.parametrize(
    ("how", "found"),
    [
        (0, "output 0 has 24 bytes at an address where nothing can be read"),
        (16, "it made a tensor of memory where nothing can be read"),
    ],
)
def test_memory_that_is_not_there_is_no_output(run: Run, how: int, found: str) -> None:
    named(run(("ZooNowhere", how, 6)).answer, "ZooNowhere", found)


@pytest.mark.parametrize("how", [0, 1])
def test_bytes_that_are_no_strings(run: Run, how: int) -> None:
    answers = run(("ZooStrings", how, 6), runs=3).answers
    assert len(answers) == 3
    for answer in answers:
        named(answer, "ZooStrings", "string 1 of output 0 is none: its bytes lie where nothing")


@pytest.mark.parametrize("how", [0, 1])
def test_an_output_that_is_left_out(run: Run, how: int) -> None:
    found = "it returned without setting output 0"
    named(run(("ZooSilent", how, 6)).answer, "ZooSilent", found)


def test_long_messages_are_cut(run: Run) -> None:
    answer = run(("ZooShouts", 0, 6)).answer
    named(answer, "ZooShouts", "A... (8386560 bytes more)")
    assert len(answer["text"]) < 4096


@pytest.mark.parametrize(
    ("how", "what"),
    [
        (0, "a timer that sends signals"),
        (1, ""),  # of the run's thread, which takes none anyway
        (2, "the handler of signal 2 (Interrupt)"),
    ],
)
def test_what_it_takes_in_a_later_call_is_put_back(run: Run, how: int, what: str) -> None:
    """Kernels are looked at until one call has changed nothing; Ctrl-C, in every run."""
    ended = run(("ZooTakes", how, 6), runs=5, wait=1.2)
    assert ended.status == 0, ended.errors
    assert ended.answers[-1] == {"interrupted": True}
    told = ended.errors.count(f"in a run of its kernels it changed {what}; that was put back")
    assert told == (what != "")
    said = [line for line in ended.errors.splitlines() if line.startswith("warning: ")]
    assert told == sum("hostile_kernels" in line for line in said)


def test_a_copy_of_the_program_ends(run: Run) -> None:
    """A kernel that forks returns in the child as well: nobody goes on there."""
    ended = run(("ZooForks", 0, 6), runs=2)
    assert ended.status == 0
    assert len(ended.answers) == 2
    told = "has forked, and returned in the child, which ends: the program must not go on twice"
    assert ended.errors.count(told) == 2
    assert "compute of node 'y' (op ZooForks) of plugin" in ended.errors


ENDS = [
    (-2, -signal.SIGABRT, "SIGABRT"),
    (-1, -signal.SIGABRT, "SIGABRT"),
    (0, 0, "the process was ended by exit()"),
    (1, 0, "the process was ended by quick_exit()"),
    (2, 0, "the process was ended by _exit()"),
    (3, 0, "the process was ended by _exit()"),
    (4, 0, "the process was ended by a system call"),
    (5, -signal.SIGKILL, "the process was sent signal 9 by itself"),
    (6, -signal.SIGKILL, "the process was sent signal 9 by itself"),
    (7, -signal.SIGTERM, "the process was sent signal 15 by itself"),
    (8, -signal.SIGKILL, "the process was sent signal 9 by itself"),
    (9, -signal.SIGKILL, "the process was sent signal 9 by itself"),
    (10, -signal.SIGKILL, "the process was sent signal 9 by itself"),
    (11, 0, "the process is given to another program by exec"),
    (12, 0, "the process is given to another program by exec"),
    (13, 0, "the process is given to another program by exec"),
]


@pytest.mark.parametrize(("how", "status", "words"), ENDS)
def test_last_words_name_who_ended_the_process(run: Run, how: int, status: int, words: str) -> None:
    """Whichever function of the C library it calls for that: nobody else would say a word."""
    ended = run(("ZooEnds", how, 6))
    assert ended.status == status
    assert not ended.answers
    assert f"drystone: {words} while compute of node 'y' (op ZooEnds) of plugin" in ended.errors
    assert ended.errors.count("drystone: ") == 1


@pytest.mark.parametrize(("how", "status", "words"), [ENDS[k] for k in (2, 4, 7)])
def test_also_on_a_thread_of_its_own(run: Run, how: int, status: int, words: str) -> None:
    ended = run(("ZooEndsElsewhere", how, 6))
    assert ended.status == status
    assert f"drystone: {words} in code of plugin" in ended.errors
    assert "hostile_kernels" in ended.errors


MEDDLING = [
    "standard output",
    "standard error",
    "standard input",
    "standard output",
    "the working folder",
    "the working folder",
    "the handler of SIGINT",
    "the handler of SIGTERM",
    "a limit of resources",
    "the timer that sends signals",
    "the timer that sends signals",
]


@pytest.mark.parametrize("where", [0, 100])
def test_what_is_the_programs_is_refused_when_nobody_looks(run: Run, where: int) -> None:
    """In calls after the first ones, which are looked at, and on threads of its own."""
    cases = [("ZooMeddles", where + how, 6) for how in range(len(MEDDLING))]
    ended = run(("ZooMeddles", 0, 6), *cases, good=2, wait=1.5)
    assert ended.status == 0, ended.errors
    assert not any("code" in answer for answer in ended.answers[:-1]), ended.answers
    assert ended.answers[-1] == {"interrupted": True}
    for what in MEDDLING:
        told = f"it tried to change {what}, which is the program's; that was refused"
        assert told in ended.errors


SHAPES = """
import json, os, signal, sys, time, warnings
from drystone_base import Graph
from drystone_base.core.dtypes import FLOAT32
from drystone_base.inference.inference import infer
from drystone_base.plugins import load_library

load_library(sys.argv[1], policy="allow_unverified")
graph = Graph()
x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (3,)})
y = graph.add(sys.argv[2], "y", [x], attrs={"how": 0})
begin = time.monotonic()
print("infers", flush=True)
answer = []
for _ in range(2):
    try:
        answer.append(str(infer(graph).shape((y, 0))))
    except KeyboardInterrupt:
        answer.append("interrupted")
        break
print(json.dumps([answer, time.monotonic() - begin, os.getcwd()]))
"""


def _shapes(
    compile_library: Callable[..., Path], folder: Path, op: str, interrupt: float = 0
) -> tuple[int, list[str], str]:
    """Exit status, lines and last words of a program that infers the shape of such a node."""
    library = compile_library("hostile_kernels.c", flags=["-DEND=0", "-pthread"])
    settings = {k: v for k, v in os.environ.items() if not k.startswith("DRYSTONE_P")}
    settings |= {"XDG_CACHE_HOME": str(folder), "DRYSTONE_PLUGIN_PROBE_SECONDS": "0"}
    words = [sys.executable, "-c", SHAPES, str(library), op]
    with subprocess.Popen(
        words, stdout=-1, stderr=-1, text=True, env=settings, cwd=folder
    ) as child:
        assert child.stdout is not None
        lines = []
        if interrupt:  # else a line that comes with the first one would be lost to communicate()
            lines.append(child.stdout.readline())
            time.sleep(interrupt)
            child.send_signal(signal.SIGINT)
        output, errors = child.communicate(timeout=100)
    return child.returncode, [*lines, *output.splitlines()], errors


def test_ctrl_c_ends_a_shape_function_that_does_not(
    compile_library: Callable[..., Path], tmp_path: Path
) -> None:
    status, lines, errors = _shapes(compile_library, tmp_path, "ZooShapeHangs", 1.0)
    assert status == 0, errors
    answer, seconds, _ = json.loads(lines[-1])
    assert answer == ["interrupted"]
    assert seconds < 20


def test_a_shape_function_that_crashes_is_named(
    compile_library: Callable[..., Path], tmp_path: Path
) -> None:
    status, _, errors = _shapes(compile_library, tmp_path, "ZooShapeCrashes")
    assert status == -signal.SIGSEGV
    assert "SIGSEGV while the shape function of node 'y' (op ZooShapeCrashes) of" in errors


def test_what_a_shape_function_changes_is_put_back(
    compile_library: Callable[..., Path], tmp_path: Path
) -> None:
    status, lines, errors = _shapes(compile_library, tmp_path, "ZooShapeChanges")
    assert status == 0
    answer, _, folder = json.loads(lines[-1])
    assert answer == ["None", "None"]
    assert folder == str(tmp_path)
    for what in ("the working folder", "the handler of signal 2 (Interrupt)"):
        assert f"while a shape function ran it changed {what}; that was put back" in errors


MODEL = """
import sys
from drystone_base import Graph
from drystone_base.core.dtypes import FLOAT32
from drystone_base.plugins import load_library

load_library(sys.argv[1], policy="allow_unverified")
graph = Graph()
x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (3,)})
graph.add("ZooPrints", "y", [x], attrs={"how": 0})
with open(sys.argv[2], "wb") as file:
    file.write(graph.to_bytes())
"""


def test_what_kernels_print_leaves_json_whole(
    compile_library: Callable[..., Path], tmp_path: Path
) -> None:
    library = compile_library("hostile_kernels.c", flags=["-DEND=0", "-pthread"])
    model = tmp_path / "model.pb"
    settings = {k: v for k, v in os.environ.items() if not k.startswith("DRYSTONE_P")}
    settings |= {"XDG_CACHE_HOME": str(tmp_path), "DRYSTONE_PLUGIN_PROBE_SECONDS": "0"}
    settings["DRYSTONE_PLUGIN_POLICY"] = "allow_unverified"
    subprocess.run([sys.executable, "-c", MODEL, library, model], check=True, env=settings)
    program = (
        "import sys; from drystone_base.plugins import load_library; "
        "load_library(sys.argv.pop(1)); from drystone_base.cli import main; sys.exit(main())"
    )
    words = ["run", str(model), "--fetch", "y:0", "--json"]
    done = subprocess.run(
        [sys.executable, "-c", program, str(library), *words],
        capture_output=True, text=True, env=settings, timeout=100,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)
    assert '{"noise": 1}' in done.stderr
