"""The zoo's abuse of the process, by ways of the C library that nobody thinks of first."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from test_zoo import LOAD
from test_zoo_kernels import Run, run

pytestmark = [pytest.mark.cases_in_gate(3), pytest.mark.tests_in_gate(2)]

__all__ = ["run"]

SOURCE = "hostile_process.c"


@pytest.mark.parametrize(
    ("how", "number", "words"),
    [
        (0, signal.SIGSEGV, "SIGSEGV while compute of node 'y' (op ZooCrashes) of plugin"),
        (1, signal.SIGSEGV, "SIGSEGV while compute of node 'y' (op ZooCrashes) of plugin"),
        (2, signal.SIGABRT, "SIGABRT while compute of node 'y' (op ZooCrashes) of plugin"),
        (4, signal.SIGABRT, "SIGABRT in code of plugin"),
    ],
)
def test_last_words_of_a_stack_or_a_thread(
    run: Run, how: int, number: signal.Signals, words: str
) -> None:
    """A stack that is used up leaves none for a handler: it has one of its own."""
    ended = run(("ZooCrashes", how, 6), source=SOURCE)
    assert ended.status == -number
    assert words in ended.errors
    assert "hostile_process" in ended.errors


@pytest.mark.parametrize(("op", "how"), [("ZooCrashes", 3), ("ZooCrashes", 5)])
def test_threads_that_never_end_and_libraries_closed_too_often(run: Run, op: str, how: int) -> None:
    """Libraries are never unloaded, so there is nothing that they could outlive but the process."""
    ended = run((op, how, 6), source=SOURCE, runs=3)
    assert ended.status == 0, ended.errors
    assert not any("code" in answer for answer in ended.answers)
    assert ended.seconds < 60


@pytest.mark.parametrize("how", [0, 1])
def test_done_that_is_called_too_often(run: Run, how: int) -> None:
    """The second time does nothing, nor does that of a call that is over end another."""
    ended = run(("ZooDoneTwice", how, 6), ("ZooDoneTwice", 1 - how, 6), source=SOURCE, runs=4)
    assert ended.status == 0, ended.errors
    assert not any("code" in answer for answer in ended.answers)


REGISTERED = [
    (1, None, "x%ld: float: 0"),
    (2, None, "a%ld: int = 0: 0"),
    (3, None, "x%ld: float: 0"),
    (4, None, "op ZooTwice is registered by"),
    (
        5,
        "plugin-registered-nothing",
        "the op definition builder is not valid: it was deleted before",
    ),
    (6, None, "long kernel: 0"),
    (7, None, "many kernels: 0"),
    (
        8,
        None,
        "loads itself: 9 TF_LoadLibrary: a plugin must not load another one while it is being",
    ),
    (9, None, "is registered already: kernel 'ZooPlain' of"),
    (10, "plugin-probe-exited", "it ended the process with exit status 0"),
    (11, None, "while TF_InitKernel ran it changed the working folder; that was put back"),
    (12, None, "code: 2 no code"),
]


@pytest.mark.parametrize(("bad", "code", "said"), REGISTERED)
def test_entry_functions_that_ask_for_what_is_absurd(
    compile_library: Callable[..., Path], tmp_path: Path, bad: int, code: str | None, said: str
) -> None:
    """They are answered, refused or told, and the process goes on: also after system calls of the
    library's own, whose effects are found where they are looked for."""
    library = compile_library("hostile_registration.c", flags=[f"-DBAD={bad}"])
    settings = {k: v for k, v in os.environ.items() if not k.startswith("DRYSTONE_P")}
    settings |= {"XDG_CACHE_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", LOAD, "allow_unverified", library],
        capture_output=True, text=True, env=settings, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout.splitlines()[-1])
    assert [found for found, _ in answer["errors"]] == ([code] if code else [])
    assert said in done.stderr + "".join(answer["warnings"]) + str(answer["errors"])
    assert all(len(text) < 4096 for text in answer["warnings"])


TIMES = """
import json, sys, time
from drystone_base.plugins import load_library

times = []
for library in sys.argv[1:]:
    begin = time.process_time()
    load_library(library, policy="allow_unverified")
    times.append(time.process_time() - begin)
print(json.dumps(times))
"""


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_the_time_of_registering_grows_as_what_is_registered(
    compile_library: Callable[..., Path], tmp_path: Path, kind: int
) -> None:
    """Each is looked up in a table: compared with all before, it would take 16 times as long."""
    libraries = [
        compile_library(
            "many_registrations.c",
            flags=[f"-DKIND={kind}", f"-DCOUNT={count}", f'-DNAME="Zoo{count}"'],
        )
        for count in (10, 10_000, 40_000)
    ]
    settings = {k: v for k, v in os.environ.items() if not k.startswith("DRYSTONE_P")}
    settings |= {"XDG_CACHE_HOME": str(tmp_path), "DRYSTONE_PLUGIN_PROBE_SECONDS": "0"}
    done = subprocess.run(
        [sys.executable, "-c", TIMES, *libraries],
        capture_output=True, text=True, env=settings, timeout=100,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "not registered: " not in done.stderr
    _, less, more = json.loads(done.stdout)
    assert more < max(8 * less, 1)
