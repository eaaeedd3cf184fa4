"""The zoo's shape functions, and its kernels of TensorFlow's ops that give what these do not."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.cases_in_gate(3), pytest.mark.tests_in_gate(2)]

SHAPES = """
import json, sys
import numpy as np
from drystone_base import Graph, Session
from drystone_base.core.dtypes import FLOAT32
from drystone_base.core.errors import DrystoneError
from drystone_base.inference.inference import infer
from drystone_base.plugins import load_library

load_library(sys.argv[1], policy="allow_unverified")
graph = Graph()
x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (6,)})
y = graph.add(sys.argv[2], "y", [x])
z = graph.add("Neg", "z", [y], attrs={"T": FLOAT32})
graph.add("AddV2", "w", [z, x], attrs={"T": FLOAT32})
answer = {"shapes": [str(infer(graph).shape((y, 0))) for _ in range(2)], "values": []}
session = Session(graph)
for _ in range(2):
    try:
        answer["values"].append(session.run("w:0", {"x:0": np.ones(6, np.float32)}).tolist())
    except DrystoneError as error:
        answer["values"].append(str(error))
print(json.dumps(answer))
"""

TWINS = """
import json, sys
import numpy as np
from drystone_base import Graph, Session
from drystone_base.core.dtypes import FLOAT32, INT32
from drystone_base.core.errors import DrystoneError
from drystone_base.ops.attrs import TensorAttr
from drystone_base.plugins import load_library

load_library(sys.argv[1], policy="allow_unverified")
graph = Graph()
x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": None})
y = graph.add("Neg", "y", [x], attrs={"T": FLOAT32})
axis = graph.add("Const", "axis", attrs={"dtype": INT32, "value": TensorAttr(array=np.int32(0))})
graph.add("Split", "s", [axis, x], attrs={"T": FLOAT32, "num_split": 3})
answer = {}
for fetch in ("y:0", "s:1"):
    try:
        answer[fetch] = Session(graph).run(fetch, {"x:0": np.ones(6, np.float32)}).tolist()
    except DrystoneError as error:
        answer[fetch] = str(error)
print(json.dumps(answer))
"""

GIVEN = """
import json, sys
import numpy as np
from drystone_base import Graph, Session, SessionConfig
from drystone_base.core.dtypes import FLOAT32
from drystone_base.core.errors import DrystoneError
from drystone_base.plugins import load_library

library, apart, asks = sys.argv[1], sys.argv[2] == "process", json.loads(sys.argv[3])
load_library(library, policy="allow_unverified", **({"isolation": "process"} if apart else {}))


def answer(executor, op, given, stated):
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": stated and tuple(stated)})
    graph.add(op, "y", [x] * (2 if op == "MatMul" else 1), attrs={"T": FLOAT32})
    session = Session(graph, SessionConfig(executor=executor, optimizer="off"))
    try:
        return str(session.run("y:0", {"x:0": np.ones(given, np.float32)}).shape)
    except DrystoneError as error:
        return f"{error.code} {error}"


print(json.dumps([[answer(kind, *ask) for kind in ("native", "reference")] for ask in asks]))
"""

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(compile_library: Callable[..., Path], tmp_path: Path) -> Run:
    """Run a program with a library of the zoo in a process of its own."""

    def run(program: str, source: str, *words: str, bad: int = 0) -> Any:
        library = compile_library(source, flags=[f"-DBAD={bad}", "-pthread"])
        settings = {k: v for k, v in os.environ.items() if not k.startswith("DRYSTONE_P")}
        settings |= {"XDG_CACHE_HOME": str(tmp_path), "DRYSTONE_PLUGIN_PROBE_SECONDS": "0"}
        return subprocess.run(
            [sys.executable, "-c", program, library, *words],
            capture_output=True, text=True, env=settings, timeout=100,
        )  # fmt: skip

    return run


def shapes(run: Run, op: str) -> tuple[dict[str, Any], str]:
    """What was inferred and computed, and what was said."""
    done = run(SHAPES, "hostile_shapes.c", op)
    assert done.returncode == 0, done.stdout + done.stderr
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer, done.stderr


@pytest.mark.parametrize(
    ("op", "stated"),
    [
        ("ZooLarge", "[4611686018427387904]"),
        ("ZooProduct", "[4611686018427387904, 4611686018427387904, 4611686018427387904]"),
        ("ZooRanks", "[" + ", ".join(["1"] * 254) + "]"),
        ("ZooChanges", "[3]"),
    ],
)
def test_a_shape_that_its_kernel_does_not_give(run: Run, op: str, stated: str) -> None:
    answer, _ = shapes(run, op)
    assert f"output 0 has shape [6]; the shape function of its op says {stated}" in str(answer)


@pytest.mark.parametrize(
    ("op", "told"),
    [
        ("ZooLarger", []),
        ("ZooAsksOn", []),
        ("ZooNulls", ["input of NULL: 3", "must not be NULL", "it was deleted before"]),
        (
            "ZooPlaces",
            [
                "there is no input -1: the node has 1",
                "there is no output 1",
                "not between 0 and 254",
            ],
        ),
        ("ZooMerges", ["the rank must be 3, but is 1; its kernel took the same inputs"]),
        ("ZooKeepsShapes", ["the shape inference context is valid only in its shape function"]),
        ("ZooCodes", ["AAAA", "bytes more)"]),
        ("ZooRegisters", ["ops are registered in entry functions only"]),
        ("ZooEndless", ["made 1048576 handles"]),
        ("ZooDeletesStatus", ["it deleted a status that is the host's"]),
    ],
)
def test_what_shape_functions_ask_is_answered(run: Run, op: str, told: list[str]) -> None:
    """And the kernel, which does what it should, has the last word."""
    answer, said = shapes(run, op)
    assert answer["values"] == [[0.0] * 6] * 2
    for text in told:
        assert text in said
    assert all(len(line) < 4096 for line in said.splitlines())


@pytest.mark.parametrize(
    ("op", "status", "words"),
    [
        ("ZooShapeEnds", 0, "the process was ended by exit() while the shape function of"),
        ("ZooDescends", -signal.SIGSEGV, "SIGSEGV while the shape function of node 'y'"),
    ],
)
def test_a_shape_function_that_ends_the_process(run: Run, op: str, status: int, words: str) -> None:
    done = run(SHAPES, "hostile_shapes.c", op)
    assert done.returncode == status
    assert words in done.stderr


@pytest.mark.parametrize(
    ("bad", "found"),
    [
        (2, "output 0 must have dtype float, not int32"),
        (3, "there is no output 7: the node has"),
        (4, "it returned without setting output 0"),
        (5, "there is no input 3: the node has"),
        (7, "no tensor has that dtype and those dimensions"),
        (9, "[1099511627776] of float: 4398046511104 bytes"),
    ],
)
def test_kernels_of_ops_of_tensorflow(run: Run, bad: int, found: str) -> None:
    done = run(TWINS, "hostile_twins.c", bad=bad)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout.splitlines()[-1])
    for node, text in (("'y' (Neg)", answer["y:0"]), ("'s' (Split)", answer["s:1"])):
        assert f"node {node} failed in kernel 'ZooTwin' of" in text
        assert found in text


UNTOLD = ""
SHAPES_OF_TWINS = [
    (0, "Neg", [6], [6], "output 0 has shape [3]; op Neg gives [6] for these inputs"),
    (0, "Neg", [6], [-1], "output 0 has shape [3]; op Neg gives [6] for these inputs"),
    (0, "Neg", [2, 3], [-1, 3], "output 0 has shape [3]; op Neg gives [2, 3] for these inputs"),
    (0, "Neg", [6], None, UNTOLD),  # nothing is known of it
    (0, "MatMul", [4, 4], [-1, 4], "output 0 has shape [3]; op MatMul gives [4, 4] for"),
    (1, "Neg", [6], [6], "output 0 has shape [2, 3]; op Neg gives [6] for these inputs"),
    (1, "Neg", [2, 3], [-1, 3], UNTOLD),  # as it should be
    (8, "Neg", [6], [-1], "output 0 has shape []; op Neg gives [6] for these inputs"),
    (8, "MatMul", [4, 4], [-1, 4], "output 0 has shape []; op MatMul gives [4, 4] for"),
    (10, "Neg", [5], [-1], "output 0 has shape [10]; op Neg gives [5] for these inputs"),
    (10, "Neg", [0, 2], [-1, -1], UNTOLD),
    (10, "MatMul", [4, 4], [-1, -1], "output 0 has shape [8, 4]; op MatMul gives [4, 4] for"),
]


def rarely(*values: Any) -> Any:
    return pytest.param(*values, marks=pytest.mark.nightly)


@pytest.mark.parametrize(
    ("bad", "isolation"),
    [
        (10, "none"),
        *(rarely(bad, "none") for bad in (0, 1, 8)),
        *(rarely(bad, "process") for bad in (0, 1, 8, 10)),
    ],
)
def test_a_shape_that_ops_of_tensorflow_do_not_give(run: Run, bad: int, isolation: str) -> None:
    """Also where sizes are unknown before the run, by both executors, and apart."""
    rows = [row[1:] for row in SHAPES_OF_TWINS if row[0] == bad]
    done = run(GIVEN, "hostile_twins.c", isolation, json.dumps([row[:3] for row in rows]), bad=bad)
    assert done.returncode == 0, done.stderr
    for (op, given, _, told), answers in zip(rows, json.loads(done.stdout), strict=True):
        for answer in answers:
            if not told:
                assert answer.startswith("("), answer
                continue
            assert answer.startswith(f"plugin-kernel-failed node 'y' ({op}) failed in"), answer
            assert "kernel 'ZooTwin' of" in answer
            assert told in answer, (given, answer)


@pytest.mark.parametrize("bad", [0, 6])
def test_an_output_that_is_left_out_of_several(run: Run, bad: int) -> None:
    done = run(TWINS, "hostile_twins.c", bad=bad)
    assert done.returncode == 0, done.stderr
    assert "it returned without setting output 1" in json.loads(done.stdout.splitlines()[-1])["s:1"]
