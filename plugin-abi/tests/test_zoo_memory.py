"""The zoo's abuse of memory: what is freed, deleted or given wrongly is found out and named."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_zoo import LOAD, child
from test_zoo_kernels import Run, named, run

pytestmark = [pytest.mark.cases_in_gate(3), pytest.mark.tests_in_gate(2)]

__all__ = ["child", "run"]

SOURCE = "hostile_memory.c"


def settings(folder: Path) -> dict[str, str]:
    """The environment of a program, without what is set for plugins."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("DRYSTONE_P")}
    return kept | {"XDG_CACHE_HOME": str(folder), "DRYSTONE_PLUGIN_PROBE_SECONDS": "0"}


@pytest.mark.parametrize(
    ("how", "where"),
    [
        (0, "in memory that it has freed"),
        (1, "in memory that it has freed"),
        (2, "on the stack of the call"),
        (3, "in memory that it has freed"),
    ],
)
def test_strings_in_memory_that_is_gone(run: Run, how: int, where: str) -> None:
    """What lies there may still be mapped, and be anything."""
    answers = run(("ZooLost", how, 6), source=SOURCE, runs=3).answers
    assert len(answers) == 3
    for answer in answers:
        named(answer, "ZooLost", f"string 0 of output 0 has its bytes {where}", file=SOURCE)


VIEWS = """
import sys
from drystone_base import Graph, Session
from drystone_base.core.dtypes import FLOAT32
from drystone_base.plugins import load_library

load_library(sys.argv[1], policy="allow_unverified")
graph = Graph()
x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (2,)})
for k in range(2):
    graph.add("ZooViews", f"y{k}", [x], attrs={"how": 1})
graph.add("ZooViews", "z", [x], attrs={"how": 0})
for value in Session(graph).run(["y0:0", "y1:0", "z:0"], {"x:0": [1, 2]}):
    print(str(value.item(), "ascii"))
"""


def test_views_become_copies(compile_library: Callable[..., Path], tmp_path: Path) -> None:
    """The library writes over the bytes of its views in the next call of the same run."""
    done = subprocess.run(
        [sys.executable, "-c", VIEWS, compile_library(SOURCE)],
        capture_output=True, text=True, env=settings(tmp_path), timeout=100,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    *both, constant = done.stdout.splitlines()
    assert sorted(text[0] for text in both) != [both[0][0]] * 2
    assert all(text == text[0] * 100 for text in both)
    assert constant == "a constant of the library's"


@pytest.mark.parametrize(
    ("how", "found"),
    [
        (0, "output 0 has 24 bytes in memory that it has freed"),
        (2, "it made a tensor of memory that it had freed"),
    ],
)
def test_a_tensor_of_freed_memory(run: Run, how: int, found: str) -> None:
    answers = run(("ZooFreed", how, 6), source=SOURCE, runs=3).answers
    assert len(answers) == 3
    for answer in answers:
        named(answer, "ZooFreed", found, file=SOURCE)


def test_memory_that_was_copied_may_be_freed(run: Run) -> None:
    """TF_NewTensor copies what is not aligned, so nothing lies in the block any more."""
    ended = run(("ZooFreed", 1, 6), source=SOURCE, runs=3)
    assert ended.status == 0, ended.errors
    assert len(ended.answers) == 3
    assert not any("code" in answer for answer in ended.answers)


@pytest.mark.parametrize(
    ("how", "what"),
    [
        (0, "it freed memory that had been freed"),
        (1, "it deleted a buffer that had been deleted"),
        (2, "it deleted a buffer that TF_NewBuffer has not made"),
    ],
)
def test_what_is_given_back_twice(run: Run, how: int, what: str) -> None:
    ended = run(("ZooFrees", how, 6), ("ZooLonger", 0, 6), source=SOURCE, runs=3)
    assert ended.status == 0, ended.errors
    for answer in ended.answers[:3]:
        named(answer, "ZooFrees", what, file=SOURCE)
    assert all("code" not in answer for answer in ended.answers[3:])


def test_an_output_of_another_shape_than_its_op_says(run: Run) -> None:
    """Memory was planned and passes were made for the other one."""
    ended = run(("ZooLonger", 1, 6), ("ZooLonger", -6, 6), ("ZooLonger", 0, 6), source=SOURCE)
    for answer, shape in zip(ended.answers, ("[7]", "[0]"), strict=False):
        found = f"output 0 has shape {shape}; the shape function of its op says [6] for these"
        named(answer, "ZooLonger", found, file=SOURCE)
    assert "code" not in ended.answers[-1]


def test_a_shape_function_that_refuses_what_its_kernel_takes(run: Run) -> None:
    """It is told once; the values are what the kernel gives."""
    ended = run(("ZooRefuses", 1, 6), source=SOURCE, runs=3)
    assert not any("code" in answer for answer in ended.answers)
    told = "nothing is good enough; its kernel took the same inputs"
    assert ended.errors.count(told) == 1
    assert "shape function of op ZooRefuses (node 'y', library " in ended.errors


def test_files_that_are_opened_and_never_closed(run: Run) -> None:
    ended = run(("ZooOpens", -9, 6), ("ZooOpens", 9, 6), source=SOURCE, runs=16)
    assert not any("code" in answer for answer in ended.answers)
    told = "files and not closed them, the last is /dev/null"
    assert ended.errors.count(told) == 1
    assert "node 'y' (op ZooOpens, kernel 'ZooOpens' of " in ended.errors


def test_files_that_are_left_open_while_it_is_loaded(
    compile_library: Callable[..., Path], child: Callable[..., Any]
) -> None:
    library = compile_library(SOURCE, flags=["-DLEAVES_OPEN=6"])
    answer = child(LOAD, "allow_unverified", library)
    assert len(answer["loaded"]) == 1
    told = "while TF_InitKernel ran it opened 6 files and left them open: /dev/null, /dev/null"
    assert [text for text in answer["warnings"] if told in text]


OPTIMIZE = """
import json, sys, warnings
from drystone_base import Graph, Session
from drystone_base.core.dtypes import FLOAT32
from drystone_base.plugins import load_library

load_library(sys.argv[1], policy="allow_unverified")
graph = Graph()
x = graph.add("Placeholder", "x", device="/device:ZOO:0", attrs={"dtype": FLOAT32, "shape": (2,)})
graph.add("Neg", "y", [x], attrs={"T": FLOAT32})
answers = []
for _ in range(2):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        value = Session(graph).run("y:0", {"x:0": [1, 2]})
    answers.append([value.tolist(), [str(w.message) for w in caught]])
print(json.dumps(answers))
"""


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (1, "gave a bad graph: it lies where nothing can be read"),
        (2, "gave a bad graph: it has 2 GiB or more"),
        (3, "gave a bad graph: it lies in memory that the plugin has freed"),
        (4, "the data_deallocator of its graph is no function"),
        (5, "it deleted a buffer that TF_NewBuffer has not made"),
        (6, "it freed memory that is the host's"),
        (7, ""),
        (8, "it deleted graph properties that had been deleted"),
        (9, "it deleted a function library that had been deleted"),
        (10, "it deleted a buffer that had been deleted"),
        (11, "it freed memory that had been freed"),
        (12, "it deleted a status that is the host's"),
        (13, "it deleted a status that is the host's"),
    ],
)
def test_an_optimizer_that_misuses_what_it_has(
    compile_library: Callable[..., Path], tmp_path: Path, bad: int, said: str
) -> None:
    """The graph goes on, with its own answer or without, and the process does."""
    library = compile_library("hostile_optimizers.c", flags=[f"-DBAD={bad}", '-DDEVICE="ZOO"'])
    done = subprocess.run(
        [sys.executable, "-c", OPTIMIZE, library],
        capture_output=True, text=True, env=settings(tmp_path), timeout=100,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    answers = json.loads(done.stdout.splitlines()[-1])
    assert [value for value, _ in answers] == [[-1, -2]] * 2
    lines = [line for line in done.stderr.splitlines() if "PluginWarning" not in line]
    told = "\n".join(lines) + "".join(text for _, texts in answers for text in texts)
    assert said in told
    assert (str(library) in told) == bool(said)
