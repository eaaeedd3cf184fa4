"""Gradients go through operators: the default one is a call, which has one. S1-default-operator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from interpreter import Compiling
from partitions import only

import drystone_base as ds
from drystone_abi.protos import FunctionDef
from drystone_base.core.dtypes import as_dtype
from drystone_base.graph import Graph
from drystone_base.ops.attrs import FunctionRef
from drystone_subgraph import PartitionConfig, partition

FLOAT = as_dtype("float32")


VALUES = np.array([0.1, 0.5, -2], np.float32)
_F = np.exp(np.sin(VALUES) * VALUES)
SLOPE = _F * _F * (np.cos(VALUES) * VALUES + np.sin(VALUES))


def exponential() -> Graph:
    """``f(x) = exp(sin(x) * x)``: y is what a call of it gives, g its gradient."""
    graph, proto, body = Graph(), FunctionDef(), Graph()
    proto.signature.name = "f"
    proto.signature.input_arg.add(name="x", type=1)
    proto.signature.output_arg.add(name="r", type=1)
    for op, name, inputs in (
        ("Sin", "s", ["x"]), ("Mul", "m", ["s:y:0", "x"]), ("Exp", "e", ["m:z:0"]),
    ):  # fmt: skip
        made = body.add(op, name, attrs={"T": FLOAT}).to_proto()
        made.input.extend(inputs)
        proto.node_def.append(made)
    proto.ret["r"] = "e:y:0"
    graph.functions.add(proto)
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT, "shape": (3,)})
    call = {"Tin": [FLOAT], "Tout": [FLOAT], "f": FunctionRef("f", {})}
    y = graph.add("PartitionedCall", "y", [x], attrs=call)
    more = {"Tin": [FLOAT, FLOAT], "Tout": [FLOAT], "f": FunctionRef("f", {})}
    graph.add("SymbolicGradient", "g", [x, y], attrs=more)
    return graph


def test_the_gradient_of_a_partitioned_function() -> None:
    """Row D13. Called and differentiated: sin and mul in a region."""
    graph = exponential()
    after = partition(graph, ["y", "g"], ["x"], PartitionConfig((only("b", {"Sin", "Mul"}),)))
    assert "PartitionedCall" in list(after.functions["f"].ops())
    config = ds.SessionConfig(optimizer="off", subgraphs="off")
    for g in (graph, after):
        found = ds.Session(g, config).run("g:0", {"x:0": VALUES})
        np.testing.assert_allclose(found, SLOPE, rtol=1e-5)


def _wrapped(graph: Graph) -> Graph:
    """The graph with its gradient in a function of its own, which calls the function too."""
    proto = FunctionDef()
    proto.signature.name = "slope"
    proto.signature.input_arg.add(name="x", type=1)
    proto.signature.output_arg.add(name="r", type=1)
    for name, inputs in (("y", ["x"]), ("g", ["x", "y:output:0"])):
        made = graph[name].to_proto()
        made.ClearField("input")
        made.input.extend(inputs)
        proto.node_def.append(made)
    proto.ret["r"] = "g:output:0"
    graph.functions.add(proto)
    call = {"Tin": [FLOAT], "Tout": [FLOAT], "f": FunctionRef("slope", {})}
    graph.add("PartitionedCall", "inner", [graph["x"]], attrs=call)
    return graph


@pytest.mark.parametrize("executor", ["native", "reference"])
@pytest.mark.parametrize("fetch", ["g:0", "inner:0"])
def test_the_gradient_of_a_function_with_an_operator(executor: Any, fetch: str) -> None:
    """The operator computes the function; its gradient is that of what the region holds."""
    backend = Compiling({"Sin", "Mul"})
    graph = _wrapped(exponential())
    config = ds.SessionConfig(optimizer="off", subgraphs=backend.name, executor=executor)
    session = ds.Session(graph, config)
    y, slope = session.run(["y:0", fetch], {"x:0": VALUES})
    np.testing.assert_allclose(y, _F, rtol=1e-6)
    np.testing.assert_allclose(slope, SLOPE, rtol=1e-5)
    assert backend.requests, "what is called is compiled"
