"""Functions that regions call stay whole: who compiles a region compiles them with it."""

from __future__ import annotations

from typing import Any

import pytest
from partitions import only

from drystone_abi.protos import FunctionDef
from drystone_base.dtypes import FLOAT32
from drystone_base.graph import Graph
from drystone_base.ops.attrs import FunctionRef
from drystone_subgraph import PartitionConfig, partition_with_report


def call(name: str) -> dict[str, Any]:
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


@pytest.mark.parametrize("called", [("outer",), ("outer", "inner"), ("inner", "outer")])
def test_what_a_region_of_a_body_calls_stays_whole(called: tuple[str, ...]) -> None:
    config = PartitionConfig((only("b", {"Neg", "Exp", "PartitionedCall"}),))
    fetches = [f"call_{name}:0" for name in called]
    after, report = partition_with_report(graph_of(*called), fetches, ["x:0"], config)
    assert [(s.where, s.nodes) for s in report.taken] == [("outer", ("z", "w"))]
    assert sorted(after.functions["inner"].ops()) == ["Exp", "Neg"]
    assert list(after.functions["outer"].ops()) == ["PartitionedCall"]
