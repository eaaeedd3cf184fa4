"""Graphs and functions that call one another, for tests."""

from __future__ import annotations

from typing import Any

from drystone_abi.protos import FunctionDef
from drystone_base.dtypes import FLOAT32
from drystone_base.graph import Graph
from drystone_base.ops.attrs import FunctionRef

__all__ = ["call", "function", "graph_of"]


def call(name: str) -> dict[str, Any]:
    """Attributes of a call of a function of one value."""
    return {"Tin": [FLOAT32], "Tout": [FLOAT32], "f": FunctionRef(name, {})}


def function(name: str, op: str, **attrs: Any) -> FunctionDef:
    """``r = -op(x)``."""
    made, body = FunctionDef(), Graph()
    made.signature.name = name
    made.signature.input_arg.add(name="x", type=1)
    made.signature.output_arg.add(name="r", type=1)
    slot = "output" if op.endswith("Call") else "y"
    for node, source in (
        (body.add(op, "z", attrs=attrs), "x"),
        (body.add("Neg", "w", attrs={"T": FLOAT32}), f"z:{slot}:0"),
    ):
        proto = node.to_proto()
        proto.input.append(source)
        made.node_def.append(proto)
    made.ret["r"] = "w:y:0"
    return made


def graph_of(*called: str) -> Graph:
    """``x``, and a call with state of each of the functions; ``outer`` calls ``inner``."""
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (2,)})
    graph.functions.add(function("inner", "Exp", T=FLOAT32))
    graph.functions.add(function("outer", "PartitionedCall", **call("inner")))
    for name in called:
        graph.add("StatefulPartitionedCall", f"call_{name}", [x], attrs=call(name))
    return graph
