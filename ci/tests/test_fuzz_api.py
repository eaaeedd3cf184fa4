"""The fuzzer of public functions tells what is in order from what is not."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from unittest.mock import patch

import pytest

from ci.scripts.fuzz_api import Findings, Lines
from ci.scripts.fuzz_api_child import attempt
from ci.scripts.fuzz_api_command import judge
from ci.scripts.fuzz_api_targets import targets
from ci.scripts.fuzz_api_waiting import Silence

ds = pytest.importorskip("drystone_base", reason="drystone is not installed")


def raising(error: BaseException) -> None:
    raise error


def test_results_errors_and_wrong_calls_are_in_order() -> None:
    assert attempt(lambda: 3) == ""
    assert attempt(lambda: raising(ds.BadRequest("what"))) == ""
    assert attempt(lambda: ds.load()) == ""
    assert attempt(lambda: ds.load("x", no_such_keyword=1)) == ""


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (TypeError("'int' object is not iterable"), "TypeError"),
        (RecursionError("x"), "RecursionError"),
        (SystemExit(3), "SystemExit"),
        (ds.DrystoneError("x", code="internal"), "[internal]"),
    ],
)
def test_anything_else_is_a_finding(error: BaseException, said: str) -> None:
    assert attempt(lambda: raising(error)).startswith(said)


def test_ends_of_commands_are_judged() -> None:
    assert judge(2, b"", b"error: no such thing [bad-request]") == ""
    assert "ValueError" in judge(1, b"", b"Traceback (most recent call last):\nValueError: x")
    assert "exit code -11" in judge(-11, b"", b"")
    assert "escape" in judge(2, b"\x1b[31m", b"")


def test_a_line_that_came_with_another_is_told_before_the_silence() -> None:
    ours, theirs = os.pipe()
    os.write(theirs, b"one\ntwo\nth")
    with open(ours, "rb", buffering=0) as stream:
        lines = Lines(stream)
        assert [lines.next(0.01) for _ in range(3)] == ["one\n", "two\n", None]
        os.close(theirs)
        assert lines.next(0.01) == ""


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at in /proc")
@pytest.mark.parametrize("code", ["input()", "while True: pass"])
def test_who_waits_or_computes_hangs(code: str) -> None:
    command = [sys.executable, "-c", f"print(1, flush=True)\n{code}"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        silence, said = Silence(child.pid), False
        deadline = time.monotonic() + 60
        while not said and time.monotonic() < deadline:
            time.sleep(0.2)
            said = silence.is_hang(0.2)
        child.kill()
    assert said


def test_who_is_not_let_run_does_not_hang() -> None:
    silence = Silence(os.getpgrp())
    with patch.object(silence, "_load", side_effect=[(5.0, True), (5.1, True), (9.0, True)]):
        assert [silence.is_hang(10) for _ in range(3)] == [False, False, True]


def test_a_kind_is_told_once() -> None:
    findings = Findings()
    for name in ("a", "b"):
        findings.add({"at": 1, "name": name, "arguments": "", "wrong": "KeyError: 'x' at f.py:3"})
    (kind,) = findings.kinds.values()
    assert kind["times"] == 2


def test_every_package_is_reached(tmp_path: Path) -> None:
    names = {target.name for target in targets(tmp_path)}
    assert {
        "drystone_base.load",
        "drystone_base.Graph.add",
        "drystone_base.Model.run",
        "drystone_base.plugins.configure",
        "drystone_optimizer.OptimizerConfig",
        "drystone_subgraph.partition",
        "drystone_filesystem.gfile.copy",
        "drystone_fs_s3.store",
    } <= names
