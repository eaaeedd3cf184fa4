"""The zoo while it is opened and its entry functions run: what trials and hosts make of that."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_zoo import LOAD

pytestmark = [pytest.mark.cases_in_gate(3), pytest.mark.tests_in_gate(2)]

FORKED = "has forked, and returned in the child, which ends: the program must not go on twice"
LATER = "ops are registered in entry functions only, such as TF_InitKernel; this was in code of"
IN_TRIALS = [
    (2, "", FORKED),
    (3, "", FORKED),  # by a function that calls no handlers
    (4, "plugin-changed", "its contents, size, times or inode are others; it was not opened"),
    (5, "", LATER),
    (6, "", "it tried to change files of the host's, which is the program's; that was refused"),
    (
        7,
        "plugin-probe-exited",
        "the process is given to another program by exec while TF_InitKernel",
    ),
    (8, "", "it tried to change whether the process goes on, which is the program's"),
    (9, "", "it tried to change whether other programs go on, which is the program's"),
    (10, "plugin-not-opened", "zero-fill pages"),
    (12, "plugin-probe-crashed", "SIGSEGV while a constructor of plugin"),
    (13, "plugin-probe-crashed", "SIGSEGV while a constructor of plugin"),
]


@pytest.fixture
def load(compile_library: Callable[..., Path], tmp_path: Path) -> Callable[..., Any]:
    """Load one after a trial of so many seconds: errors, and what was told or printed."""

    def run(bad: int, seconds: float = 60) -> tuple[list[Any], str]:
        library = compile_library("hostile_entries.c", flags=[f"-DBAD={bad}", "-pthread"])
        copy = tmp_path / library.name  # one of them removes its file
        copy.write_bytes(library.read_bytes())
        settings = {k: v for k, v in os.environ.items() if not k.startswith("DRYSTONE_P")}
        settings |= {"XDG_CACHE_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
        settings["DRYSTONE_PLUGIN_PROBE_SECONDS"] = str(seconds)
        program = LOAD + "import time; time.sleep(0.6)\n"
        done = subprocess.run(
            [sys.executable, "-c", program, "allow_unverified", str(copy)],
            capture_output=True, text=True, env=settings, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        (line,) = (line for line in done.stdout.splitlines() if line.startswith("{"))
        answer = json.loads(line)
        assert all(str(copy) in text for _, text in answer["errors"])
        assert all(len(text) < 4096 for _, text in answer["errors"])
        return answer["errors"], done.stderr + "".join(answer["warnings"])

    return run


@pytest.mark.parametrize(("bad", "code", "found"), IN_TRIALS)
def test_they_are_refused_or_told(
    load: Callable[..., Any], bad: int, code: str, found: str
) -> None:
    """And JSON on standard output is whole, whatever files they close."""
    errors, said = load(bad)
    assert [error[0] for error in errors] == ([code] if code else [])
    assert found in said + str(errors)


@pytest.mark.parametrize("bad", [11, 14])
def test_what_takes_much_of_the_machine_is_loaded(load: Callable[..., Any], bad: int) -> None:
    """Memory for each thread, which is taken where it is used, and threads that sleep on."""
    assert load(bad)[0] == []


def test_what_prints_without_end_is_told_in_few_words(load: Callable[..., Any]) -> None:
    """The trial takes what there is of time, and no more memory; what is told of it is short."""
    ((code, text),), _ = load(1, seconds=2)
    assert code == "plugin-probe-hung"
    assert len(text) < 4096
