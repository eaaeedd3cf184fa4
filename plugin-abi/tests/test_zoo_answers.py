"""Optimizers whose answers are graphs that hold together, and are wrong all the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_zoo import OPTIMIZE, child

pytestmark = pytest.mark.cases_in_gate(3)

__all__ = ["child"]

ABS_FOR_NEG = 'replace_name(graph, "\\x12\\x03Neg", "\\x12\\x03" "Abs", optimized)'
# Of the placeholder's shape (field 2 of TensorShapeProto.Dim): 2 becomes 3.
ANOTHER_SHAPE = 'replace_name(graph, "\\x12\\x02\\x08\\x02", "\\x12\\x02\\x08\\x03", optimized)'
SUM_FOR_SQUARES = 'replace_name(graph, "\\x12\\x06Square", "\\x12\\x06" "L2Loss", optimized)'
NO_KERNEL_INSIDE = 'replace_name(graph, "\\x12\\x06Square", "\\x12\\x06" "Nobody", optimized)'
NO_DEVICE_INSIDE = 'replace_name(graph, "/device:ZOO", "/dev:ice:ZO", optimized)'
ANOTHER_RESULT = 'replace_name(graph, "\\x12\\x07_Retval", "\\x12\\x07" "Rsqrt__", optimized)'
NO_KERNEL = 'replace_name(graph, "\\x12\\x03Neg", "\\x12\\x03" "Ask", optimized)'


@pytest.fixture
def answering(compile_library: Callable[..., Path]) -> Callable[[str], Path]:
    """Build one that does this to a graph."""

    def build(body: str) -> Path:
        flags = ['-DDEVICE="ZOO"', f"-DOPTIMIZE={body}"]
        return compile_library("optimizer_variants.c", flags=flags)

    return build


@pytest.mark.parametrize(
    ("body", "code", "found"),
    [
        (ABS_FOR_NEG, "pass-changed-result", "found: y:0: 2 of 2 values differ: "),
        (ANOTHER_SHAPE, "optimizer-changed-shape", "'y:0' has shape [3] now"),
        (NO_KERNEL, "optimizer-unknown-op", "node 'y' has op 'Ask'"),
    ],
)
def test_a_wrong_answer_is_dropped_by_name(
    answering: Callable[[str], Path], child: Callable[..., Any], body: str, code: str, found: str
) -> None:
    path = answering(body)
    answer = child(OPTIMIZE, "", path)
    assert answer["value"] == [-1, -2]
    (text,) = [text for text in answer["warnings"] if str(path) in text]
    assert f"({path}) did not optimize the graph" in text
    assert code in text
    assert found in text


def test_who_wants_no_runs_before_the_first_turns_them_off(
    answering: Callable[[str], Path], child: Callable[..., Any]
) -> None:
    off = "import os\nos.environ['DRYSTONE_VERIFY_PLUGINS'] = 'off'\n" + OPTIMIZE
    assert child(off, "", answering(ABS_FOR_NEG))["value"] == [1, 2]


FUNCTIONS = """
import json, sys, warnings
import numpy as np
from drystone_abi.protos import FunctionDef
from drystone_base import Graph, Session
from drystone_base.core.dtypes import FLOAT32, INT32
from drystone_base.ops.attrs import FunctionRef, TensorAttr
from drystone_base.plugins import load_library

load_library(sys.argv[2], policy="allow_unverified")


def function(name):
    proto = FunctionDef()
    proto.signature.name = name
    proto.signature.input_arg.add(name="a", type=1)
    proto.signature.output_arg.add(name="b", type=1)
    proto.ret["b"] = "n:y:0"
    proto.attr["_noinline"].b = True
    node = proto.node_def.add(name="n", op="Square", input=["a"], device="/device:ZOO:0")
    node.attr["T"].type = 1
    return proto


def calls(kind, x, graph):
    one = {"Tin": [FLOAT32], "Tout": [FLOAT32]}
    if kind == "call":
        return graph.add("PartitionedCall", "y", [x], attrs={**one, "f": FunctionRef("square")})
    graph.functions.add(function("other"))
    first = {"dtype": INT32, "value": TensorAttr(array=np.int32(0))}
    which = graph.add("Const", "which", attrs=first)
    both = [FunctionRef("square"), FunctionRef("other")]
    return graph.add("Case", "y", [which, x], attrs={**one, "branches": both})


answer = {}
for kind in ("call", "Case"):
    graph = Graph()
    graph.functions.add(function("square"))
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (2,)})
    calls(kind, x, graph)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        value = Session(graph).run("y:0", {"x:0": [1, 2]})
    answer[kind] = {"value": value.tolist(), "warnings": [str(w.message) for w in caught]}
print(json.dumps(answer))
"""


@pytest.mark.parametrize("verify", ["unsigned", "off"])
@pytest.mark.parametrize(
    ("body", "code", "found"),
    [
        (SUM_FOR_SQUARES, "optimizer-changed-shape", "'b_RetVal' has shape [] now in function"),
        (NO_KERNEL_INSIDE, "optimizer-unknown-op", "node 'n' has op 'Nobody'"),
        (NO_DEVICE_INSIDE, "bad-device", "found: /dev:ice:ZO:0"),
        (ANOTHER_RESULT, "optimizer-unknown-op", "node 'b_RetVal' has op 'Rsqrt__'"),
    ],
)
def test_a_wrong_body_is_dropped_by_name(
    answering: Callable[[str], Path],
    child: Callable[..., Any],
    body: str,
    code: str,
    found: str,
    verify: str,
) -> None:
    """Of a function that is not inlined: the graph around it says what it is given."""
    path = answering(body)
    set_up = f"import os\nos.environ['DRYSTONE_VERIFY_PLUGINS'] = {verify!r}\n"
    for answer in child(set_up + FUNCTIONS, "", path).values():
        assert answer["value"] == [1, 4]
        (text,) = [text for text in answer["warnings"] if str(path) in text]
        assert f"({path}) did not optimize function " in text
        assert code in text
        assert found in text
