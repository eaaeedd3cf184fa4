"""A failure inside functions names the functions and their callers, on both executors."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from drystone_abi.protos import FunctionDef, NodeDef
from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import FLOAT32, INT32
from drystone_base.core.errors import DrystoneError, KernelError
from drystone_base.graph import Graph
from drystone_base.ops.attrs import FunctionRef, TensorAttr, encode_attr


def node(op: str, name: str, inputs: list[str], **attrs: Any) -> NodeDef:
    proto = NodeDef(name=name, op=op, input=inputs)
    for key, value in attrs.items():
        proto.attr[key].CopyFrom(encode_attr(value))
    return proto


def function(name: str, nodes: list[NodeDef], result: str) -> FunctionDef:
    """Of one argument ``x`` and one result."""
    proto = FunctionDef()
    proto.signature.name = name
    proto.signature.input_arg.add(name="x", type=FLOAT32.number)
    proto.signature.output_arg.add(name="y", type=FLOAT32.number)
    proto.ret["y"] = result
    proto.node_def.extend(nodes)
    return proto


def call(name: str, callee: str) -> NodeDef:
    attrs = {"Tin": [FLOAT32], "Tout": [FLOAT32], "f": FunctionRef(callee, {})}
    return node("PartitionedCall", name, ["x"], **attrs)


@pytest.fixture
def graph() -> Graph:
    """x -> outer -> inner, which reshapes to two elements."""
    two = TensorAttr(array=np.array([2], np.int32))
    shape = node("Const", "shape", [], dtype=INT32, value=two)
    bad = node("Reshape", "bad", ["x", "shape:output:0"], T=FLOAT32, Tshape=INT32)
    graph = Graph()
    graph.functions.add(function("inner", [shape, bad], "bad:output:0"))
    graph.functions.add(function("outer", [call("middle", "inner")], "middle:output:0"))
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": None})
    attrs = {"Tin": [FLOAT32], "Tout": [FLOAT32], "f": FunctionRef("outer", {})}
    graph.add("PartitionedCall", "top", [(x, 0)], attrs=attrs)
    return graph


@pytest.mark.parametrize("executor", ["reference", "native"])
def test_the_stack_of_functions_is_in_the_error(graph: Graph, executor: Any) -> None:
    session = Session(graph, SessionConfig(executor=executor, optimizer="off"))
    with pytest.raises(KernelError) as caught:
        session.run("top:0", {"x:0": np.ones(3, np.float32)})
    error = caught.value
    assert error.what.startswith("node 'bad' (Reshape) failed")
    assert error.calls == [("inner", "middle"), ("outer", "top")]
    lines = [line for line in str(error).splitlines() if line.startswith("  in function")]
    assert lines == [
        "  in function 'inner', called by node 'middle'",
        "  in function 'outer', called by node 'top'",
    ]
    assert session.run("top:0", {"x:0": np.ones(2, np.float32)}).tolist() == [1, 1]


def test_long_stacks_are_cut() -> None:
    error = DrystoneError("it failed")
    error.reached_through(json.dumps([[f"f{k}", f"n{k}"] for k in range(2000)]))
    assert len(error.calls) == 2000
    lines = str(error).splitlines()
    assert len(lines) == 12
    assert lines[1] == "  in function 'f0', called by node 'n0'"
    assert lines[-2:] == [
        "  ... and 1990 functions more",
        "  in function 'f1999', called by node 'n1999'",
    ]
