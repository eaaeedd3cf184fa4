"""Plugins see every attribute, also those that an exporter stripped."""

from __future__ import annotations

from drystone_abi.protos import GraphDef
from drystone_base import Graph
from drystone_base.core.dtypes import FLOAT32
from drystone_optimizer.core.defaults import with_defaults


def stripped() -> Graph:
    """Shape without out_type, which is int32 by default."""
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32})
    graph.add("Shape", "s", [x], attrs={"T": FLOAT32})
    graph.add("OnlyHere", "o", [x])
    return graph


def test_defaults_are_stated() -> None:
    nodes = {
        node.name: node for node in GraphDef.FromString(with_defaults(stripped().to_bytes())).node
    }
    assert nodes["s"].attr["out_type"].type == 3
    assert nodes["x"].attr["shape"].shape.unknown_rank
    assert dict(nodes["o"].attr) == {}


def test_a_graph_that_states_all_keeps_its_bytes() -> None:
    once = with_defaults(stripped().to_bytes())
    assert with_defaults(once) is once
