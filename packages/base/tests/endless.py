"""Graphs whose loops go on while a fed flag holds: nothing in them runs in Python."""

from __future__ import annotations

import numpy as np

from drystone_abi.protos import FunctionDef
from drystone_base.core.dtypes import BOOL, FLOAT32
from drystone_base.graph import Graph
from drystone_base.ops.attrs import FunctionRef, TensorAttr, encode_attr

__all__ = ["KINDS", "endless"]

KINDS = ("functional", "frames", "kernels")


def endless(kind: str) -> Graph:
    """A graph: fetch ``out:0``, feed ``flag:0``."""
    graph = Graph()
    flag = graph.add("Placeholder", "flag", attrs={"dtype": BOOL, "shape": ()})
    if kind == "frames":
        _frames(graph, (flag, 0))
        return graph
    attrs = {"T": [BOOL, FLOAT32], "cond": _function(graph, "cond"), "body": _function(graph, kind)}
    x = graph.add(
        "Const", "x", attrs={"dtype": FLOAT32, "value": TensorAttr(array=np.ones(3, np.float32))}
    )
    loop = graph.add("While", "loop", [flag, x], attrs=attrs)
    graph.add("Identity", "out", [(loop, 1)], attrs={"T": FLOAT32})
    return graph


def _function(graph: Graph, name: str) -> FunctionRef:
    proto = FunctionDef()
    proto.signature.name = name
    for arg, dtype in (("flag", BOOL), ("x", FLOAT32)):
        proto.signature.input_arg.add(name=arg, type=dtype.number)
    proto.signature.output_arg.add(name="flag_out", type=BOOL.number)
    proto.ret["flag_out"] = "flag"
    if name != "cond":
        proto.signature.output_arg.add(name="x_out", type=FLOAT32.number)
        proto.ret["x_out"] = "x"
    if name == "kernels":
        node = proto.node_def.add(name="tanh", op="Tanh", input=["x"])
        node.attr["T"].CopyFrom(encode_attr(FLOAT32))
        proto.ret["x_out"] = "tanh:y:0"
    graph.functions.add(proto)
    return FunctionRef(name, {})


def _frames(graph: Graph, flag: tuple[object, int]) -> None:
    frame = {"T": BOOL, "frame_name": "frame", "is_constant": False}
    enter = graph.add("Enter", "enter", [flag], attrs=frame)  # type: ignore[list-item]
    merge = graph.add("Merge", "merge", [enter, enter], attrs={"T": BOOL, "N": 2})
    test = graph.add("LoopCond", "test", [merge])
    switch = graph.add("Switch", "switch", [merge, test], attrs={"T": BOOL})
    back = graph.add("NextIteration", "next", [(switch, 1)], attrs={"T": BOOL})
    graph.set_input(merge, 1, (back, 0))
    graph.add("Exit", "out", [(switch, 0)], attrs={"T": BOOL})
