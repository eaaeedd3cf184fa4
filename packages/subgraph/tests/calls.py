"""Graphs and functions that call one another, and a library that looks at them, for tests."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from drystone_abi.protos import FunctionDef
from drystone_base.core.dtypes import FLOAT32
from drystone_base.graph import Graph
from drystone_base.ops.attrs import FunctionRef
from drystone_base.plugins import load_library

__all__ = ["call", "function", "graph_of", "seeing"]

_SOURCE: Final = Path(__file__).parent / "plugins" / "seeing.c"


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


def seeing(
    compile_library: Callable[..., Path],
    name: str = "seeing",
    size: str = "DS_SUBGRAPH_FNS_STRUCT_SIZE",
) -> ctypes.CDLL:
    """The library of ``seeing.c``, whose backend of that name says ``size`` of its functions."""
    from drystone_subgraph.c_abi import c_backend
    from drystone_subgraph.contract import backend

    path = compile_library(_SOURCE, flags=[f'-DNAME="{name}"', f"-DFNS_SIZE={size}"])
    plugin: Any = load_library(str(path), policy="allow_unverified")
    if name not in backend.backends():  # taken out after another test
        c_backend.initialise(plugin.library, "DS_InitSubgraph")
    return ctypes.CDLL(str(path))
