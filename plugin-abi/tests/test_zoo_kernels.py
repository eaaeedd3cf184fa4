"""Kernels of the zoo: what they do wrong is found out, named, and ended where it has no end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.cases_in_gate(3), pytest.mark.tests_in_gate(2)]

PROGRAM = """
import json, os, signal, sys, time, warnings
import numpy as np
from drystone_base import Graph, Session, SessionConfig
from drystone_base.core.dtypes import FLOAT32
from drystone_base.core.errors import DrystoneError
from drystone_base.ops.attrs import TensorAttr
from drystone_base.plugins import load_library

library, cases, more = sys.argv[1], *map(json.loads, sys.argv[2:])
load_library(library, policy="allow_unverified")


def session_of(op, how, size):
    graph = Graph()
    x = np.arange(size, dtype=np.float32)
    if more.get("constant"):
        given = graph.add("Const", "x", attrs={"dtype": FLOAT32, "value": TensorAttr(array=x)})
    else:
        given = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (size,)})
    graph.add(op, "y", [given], attrs={"how": how})
    feeds = {} if more.get("constant") else {"x:0": x}
    set_up = SessionConfig(deadline=more.get("deadline"), executor=more.get("executor", "native"))
    return Session(graph, config=set_up), feeds


for case in cases:
    session, feeds = session_of(*case)
    for _ in range(more.get("good", 0)):
        session.run("y:0", feeds)
    for _ in range(more.get("runs", 1)):
        begin = time.monotonic()
        answer = {}
        print("runs", flush=True)
        try:
            session.run("y:0", feeds)
        except DrystoneError as error:
            answer = {"code": error.code, "text": str(error), "status": error.status}
        except KeyboardInterrupt as error:
            answer = {"code": "interrupted", "text": " ".join(getattr(error, "__notes__", ()))}
        print(json.dumps(answer | {"seconds": time.monotonic() - begin}), flush=True)
if "wait" in more:
    time.sleep(more["wait"])
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)
        print(json.dumps({"interrupted": False}))
    except KeyboardInterrupt:
        print(json.dumps({"interrupted": True}))
"""


class Ended:
    """What a program answered, wrote to standard error, how it ended and how long it took."""

    def __init__(self, answers: list[Any], errors: str, status: int, seconds: float) -> None:
        self.answers, self.errors, self.status, self.seconds = answers, errors, status, seconds

    @property
    def answer(self) -> dict[str, Any]:
        """The only one; the process ended well."""
        assert self.status == 0, self.errors
        (answer,) = self.answers
        assert isinstance(answer, dict)
        return answer


Run = Callable[..., Ended]


@pytest.fixture
def run(tmp_path: Path, compile_library: Callable[..., Path]) -> Run:
    """Run ops of the zoo, each with its `how` and the size of its input, in a process of its own.

    It is interrupted after so many seconds.
    """

    def run(
        *cases: tuple[str, int, int],
        interrupt: float = 0,
        end: int = 0,
        source: str = "hostile_kernels.c",
        **more: Any,
    ) -> Ended:
        library = compile_library(source, flags=[f"-DEND={end}", "-pthread"])
        settings = {k: v for k, v in os.environ.items() if not k.startswith("DRYSTONE_P")}
        settings |= {"XDG_CACHE_HOME": str(tmp_path), "DRYSTONE_PLUGIN_PROBE_SECONDS": "0"}
        words = [sys.executable, "-c", PROGRAM, str(library), json.dumps(cases)]
        begin = time.monotonic()
        with subprocess.Popen(
            [*words, json.dumps(more)], stdout=-1, stderr=-1, text=True, env=settings,
            start_new_session=True,
        ) as child:  # fmt: skip
            lines = []
            if interrupt:
                assert child.stdout is not None
                lines.append(child.stdout.readline())
                time.sleep(interrupt)
                child.send_signal(signal.SIGINT)
            output, errors = child.communicate(timeout=100)
        answers = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        return Ended(answers, errors, child.returncode, time.monotonic() - begin)

    return run


def named(
    answer: dict[str, Any],
    op: str,
    found: str,
    code: str = "plugin-kernel-failed",
    file: str = "hostile_kernels.c",
) -> None:
    """The error names node, op, kernel and file, and says what was found."""
    assert answer["code"] == code, answer
    for part in (found, "'y'", op, file.partition(".")[0]):
        assert part in answer["text"]


def test_what_is_written_beside_memory(run: Run) -> None:
    """The run fails, and the process goes on."""
    beside = [("ZooPast", 1), ("ZooPast", 60), ("ZooBefore", 1), ("ZooBefore", 40)]
    cases = [(op, how, size) for op, how in beside for size in (1, 6, 1000, 100_000)]
    ended = run(*cases, *(("ZooTemporary", how, 6) for how in (0, 1, 2)))
    assert ended.status == 0
    for (op, _, size), answer in zip(cases, ended.answers, strict=False):
        where = "beyond the end" if op == "ZooPast" else "before the beginning"
        named(answer, op, f"it wrote {where} of memory of {4 * size} bytes that it was given")
    for answer in ended.answers[len(cases) :]:
        named(answer, "ZooTemporary", "it wrote beyond the end of memory of 24 bytes")


@pytest.mark.parametrize(("op", "how"), [("ZooPast", 160), ("ZooBefore", 64)])
def test_what_is_written_far_outside_ends_the_process(run: Run, op: str, how: int) -> None:
    ended = run((op, how, 6))
    assert ended.status == -signal.SIGABRT
    assert "wrote so far outside of memory that it was given" in ended.errors
    assert f"compute of node 'y' (op {op}) of plugin" in ended.errors


def test_a_flood_is_named_whoever_finds_it(run: Run) -> None:
    ended = run(("ZooPast", 8192, 6))
    assert ended.status < 0
    assert "compute of node 'y' (op ZooPast) of plugin" in ended.errors


def test_a_kernel_that_writes_to_a_feed(run: Run) -> None:
    ended = run(*(("ZooInput", how, size) for size, how in ((6, 0), (6, 5), (100_000, 77_777))))
    assert len(ended.answers) == 3
    for answer in ended.answers:
        named(answer, "ZooInput", "input 0 has other bytes after the call than before")


def test_a_constant_that_was_written_to_damages_the_session(run: Run) -> None:
    """No run takes wrong values for the model's."""
    ended = run(("ZooInput", 3, 6), constant=True, runs=2)
    first, second = ended.answers
    named(first, "ZooInput", "it is a constant of the model")
    named(second, "ZooInput", "input 0 has other bytes", "session-damaged")
    assert second["status"] == "DATA_LOSS"


@pytest.mark.parametrize("op", ["ZooWritesLater", "ZooWhenDone"])
def test_outputs_that_are_written_to_after_the_call(run: Run, op: str) -> None:
    """Some calls of it are looked at, more and more seldom; what they gave was a copy."""
    failed = [answer for answer in run((op, 0, 6), runs=64).answers if "code" in answer]
    assert 0 < len(failed) <= 6
    for answer in failed:
        named(answer, op, "memory of output 0 of an earlier call was written to after that call")


def test_a_constant_that_a_thread_writes_to_damages_the_session(run: Run) -> None:
    answers = run(("ZooWritesLater", 1, 6), constant=True, runs=64).answers
    named(answers[-1], "ZooWritesLater", "input 0", "session-damaged")
    assert any("a constant of the model" in answer.get("text", "") for answer in answers[:-1])


def test_good_kernels_are_let_alone(run: Run) -> None:
    cases = [("ZooGood", 0, size) for size in (1, 100_000)]
    for constant in (True, False):
        ended = run(*cases, constant=constant, good=40)
        assert not any("code" in answer for answer in ended.answers)


def test_registering_from_a_kernel_is_refused(run: Run) -> None:
    """On its own thread, too: nothing is registered in the name of the host program."""
    ended = run(("ZooLate", 0, 6), ("ZooLate", 1, 6))
    whens = ("while compute of node 'y' (op ZooLate) of", "in code of")
    for answer, when in zip(ended.answers, whens, strict=True):
        for kind in ("op: 9", "kernel: 9", "are registered in entry functions only"):
            named(answer, "ZooLate", kind)
        assert answer["text"].count(f"this was {when}") == 2


def test_a_deadline_ends_a_kernel_that_does_not(run: Run) -> None:
    """The plan must be made in that time, too, on a machine that does much else."""
    ended = run(("ZooNever", 0, 6), ("ZooSleeps", 0, 6), deadline=5.0)
    never, sleeps = ended.answers
    both = "has not called done", "was not done after"  # whoever looks at the clock first
    named(never, "ZooNever", next(t for t in both if t in never["text"]), "deadline-exceeded")
    named(sleeps, "ZooSleeps", "has not returned", "deadline-exceeded")
    assert max(never["seconds"], sleeps["seconds"]) < 20


@pytest.mark.parametrize("op", ["ZooNever", "ZooSleeps", "ZooCreates"])
def test_ctrl_c_ends_a_kernel_that_does_not(run: Run, op: str) -> None:
    ended = run((op, 0, 6), interrupt=1.0)
    assert ended.answer["code"] == "interrupted"
    assert ended.answer["seconds"] < 20


@pytest.mark.parametrize("executor", ["native", "reference"])
def test_ctrl_c_ends_one_that_was_always_brief(run: Run, executor: str) -> None:
    """Runs beside plugins are on a thread that can be left, however short they were."""
    ended = run(("ZooLater", 40, 6), good=40, interrupt=1.0, executor=executor)
    assert ended.answer["seconds"] < 20
    named(ended.answer, "ZooLater", "has not returned", "interrupted")


def test_a_delete_function_that_hangs_is_left(run: Run) -> None:
    ended = run(("ZooDeletes", 0, 6), ("ZooDeletes", 0, 7))
    assert "code" not in ended.answers[0]
    assert "its delete function has not returned for 5 s" in ended.errors
    assert "hostile_kernels" in ended.errors
    assert ended.seconds < 60


@pytest.mark.parametrize("end", [1, 2])
def test_the_end_of_the_process_is_bounded(run: Run, end: int) -> None:
    ended = run(("ZooGood", 0, 6), end=end)
    assert "code" not in ended.answer
    assert "has not returned for 4 s while the process ends; it ends without it" in ended.errors
    assert "hostile_kernels" in ended.errors
    assert ended.seconds < 60
