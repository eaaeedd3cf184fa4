"""The zoo's kernels of TensorFlow's ops in bodies of functions, which say no shapes themselves."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from test_zoo_shapes import run

pytestmark = pytest.mark.cases_in_gate(3)

__all__ = ["run"]

PROGRAM = """
import json, sys, warnings
import numpy as np
from drystone_abi.protos import FunctionDef
from drystone_base import Graph, Session, SessionConfig
from drystone_base.core.dtypes import BOOL, FLOAT32, INT32, INT64
from drystone_base.core.errors import DrystoneError
from drystone_base.ops.attrs import FunctionRef, TensorAttr
from drystone_base.plugins import load_library

library, apart, kinds = sys.argv[1], sys.argv[2] == "process", sys.argv[3:]
load_library(library, policy="allow_unverified", **({"isolation": "process"} if apart else {}))
ONE = {"Tin": [FLOAT32], "Tout": [FLOAT32]}


def function(name, op, **attrs):
    proto = FunctionDef()
    proto.signature.name = name
    proto.signature.input_arg.add(name="a", type=1)
    proto.signature.output_arg.add(name="b", type=1)
    proto.ret["b"] = "n:output:0" if op == "PartitionedCall" else "n:y:0"
    proto.attr["_noinline"].b = True
    node = proto.node_def.add(name="n", op=op, input=["a"])
    if op == "PartitionedCall":
        node.attr["Tin"].list.type.append(1)
        node.attr["Tout"].list.type.append(1)
        node.attr["f"].func.name = attrs["calls"]
    else:
        node.attr["T"].type = 1
    return proto


def once(graph):
    proto = FunctionDef()
    proto.signature.name = "once"
    proto.signature.input_arg.add(name="k", type=3)
    proto.signature.input_arg.add(name="a", type=1)
    proto.signature.output_arg.add(name="b", type=10)
    proto.ret["b"] = "n:z:0"
    proto.node_def.add(name="n", op="Less", input=["k", "one:output:0"]).attr["T"].type = 3
    one = graph.add("Const", "one", attrs={"dtype": INT32, "value": TensorAttr(array=np.int32(1))})
    proto.node_def.append(one.to_proto())
    graph.remove(one)
    return proto


def turn(graph):
    proto = function("turn", "Neg")
    proto.signature.ClearField("input_arg")
    proto.signature.ClearField("output_arg")
    for name, dtype in (("k", 3), ("a", 1)):
        proto.signature.input_arg.add(name=name, type=dtype)
        proto.signature.output_arg.add(name=name + "_", type=dtype)
    del proto.ret["b"]
    proto.ret["k_"], proto.ret["a_"] = "next:z:0", "n:y:0"
    proto.node_def.add(name="next", op="AddV2", input=["k", "k1:output:0"]).attr["T"].type = 3
    one = graph.add("Const", "k1", attrs={"dtype": INT32, "value": TensorAttr(array=np.int32(1))})
    proto.node_def.append(one.to_proto())
    graph.remove(one)
    return proto


def build(kind, shape):
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": shape})
    graph.functions.add(function("negate", "Neg"))
    graph.functions.add(function("outer", "PartitionedCall", calls="negate"))
    graph.functions.add(function("root", "Abs"))
    if kind in ("call", "nested"):
        named = FunctionRef("negate" if kind == "call" else "outer")
        graph.add("PartitionedCall", "y", [x], attrs={**ONE, "f": named})
    elif kind == "op":
        graph.add("negate", "y", [x])
    elif kind == "If":
        p = graph.add("Placeholder", "p", attrs={"dtype": BOOL, "shape": ()})
        both = {"then_branch": FunctionRef("negate"), "else_branch": FunctionRef("root")}
        graph.add("StatelessIf", "y", [p, x], attrs={"Tcond": BOOL, **ONE, **both})
    elif kind == "While":
        for proto in (once(graph), turn(graph)):
            graph.functions.add(proto)
        first = {"dtype": INT32, "value": TensorAttr(array=np.int32(0))}
        k = graph.add("Const", "k", attrs=first)
        turns = {"body": FunctionRef("turn"), "cond": FunctionRef("once")}
        loop = graph.add("StatelessWhile", "w", [k, x], attrs={"T": [INT32, FLOAT32], **turns})
        graph.add("Identity", "y", [(loop, 1)], attrs={"T": FLOAT32})
    else:  # called with another shape as well, and by what nobody looks into
        calls = {**ONE, "f": FunctionRef("negate")}
        twice = graph.add("Tile", "t", [x, axes(graph)], attrs={"T": FLOAT32, "Tmultiples": INT32})
        first = graph.add("PartitionedCall", "c", [twice], attrs=calls)
        second = graph.add("PartitionedCall", "d", [x], attrs=calls)
        if kind == "twice":
            graph.add("ConcatV2", "y", [first, second, zero(graph)],
                      attrs={"N": 2, "T": FLOAT32, "Tidx": INT32})
        else:
            gradient = {"Tin": [FLOAT32, FLOAT32], "Tout": [FLOAT32], "f": FunctionRef("negate")}
            graph.add("SymbolicGradient", "y", [first, first], attrs=gradient)
    return graph


def zero(graph):
    return graph.add("Const", "z", attrs={"dtype": INT32, "value": TensorAttr(array=np.int32(0))})


def axes(graph):
    value = TensorAttr(array=np.array([2], np.int32))
    return graph.add("Const", "m", attrs={"dtype": INT32, "value": value})


def answer(executor, kind, shape):
    session = Session(build(kind, shape), SessionConfig(executor=executor, optimizer="off"))
    fed = {"x:0": np.ones(5, np.float32)} | ({"p:0": True} if kind == "If" else {})
    try:
        return str(session.run("y:0", fed).shape)
    except DrystoneError as error:
        return f"{error.code} {error}"


made = [[answer(e, kind, shape) for e in ("native", "reference") for shape in ((5,), (-1,))]
        for kind in kinds]
print(json.dumps(made))
"""

KINDS = ["call", "op", "nested", "If", "While"]


def answers(run: Callable[..., Any], isolation: str, kinds: list[str], bad: int) -> Any:
    done = run(PROGRAM, "hostile_twins.c", isolation, *kinds, bad=bad)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    ("isolation", "bad", "found"),
    [
        ("none", 10, "[10]"),
        pytest.param("none", 8, "[]", marks=pytest.mark.nightly),
        pytest.param("process", 10, "[10]", marks=pytest.mark.nightly),
    ],
)
def test_a_shape_that_ops_of_tensorflow_do_not_give(
    run: Callable[..., Any], isolation: str, bad: int, found: str
) -> None:
    """What the graph gives the function says what its nodes give, by both executors."""
    made = answers(run, isolation, KINDS, bad)
    assert len(made) == len(KINDS)
    for kind, rows in zip(KINDS, made, strict=True):
        assert len(rows) == 4
        for row in rows:
            assert row.startswith("plugin-kernel-failed"), (kind, row)
            assert "kernel 'ZooTwin' of" in row
            assert f"output 0 has shape {found}; op Neg gives [5] for these inputs" in row, kind


def test_functions_that_take_several_shapes_may_give_as_many(run: Callable[..., Any]) -> None:
    """And those that a gradient calls, of whose calls not all are known."""
    assert answers(run, "none", ["twice", "gradient"], 11) == [["(15,)"] * 4, ["(10,)"] * 4]
