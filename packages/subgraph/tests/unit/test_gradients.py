"""Gradients go through operators: the default one is a call, which has one. S1-default-operator."""

from __future__ import annotations

import numpy as np
from partitions import only

import drystone_base as ds
from drystone_abi.protos import FunctionDef
from drystone_base.dtypes import as_dtype
from drystone_base.graph import Graph
from drystone_base.ops.attrs import FunctionRef
from drystone_subgraph import PartitionConfig, partition

FLOAT = as_dtype("float32")


def test_the_gradient_of_a_partitioned_function() -> None:
    """Row D13. ``f(x) = exp(sin(x) * x)``, called and differentiated: sin and mul in a region."""
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
    after = partition(graph, ["y", "g"], ["x"], PartitionConfig((only("b", {"Sin", "Mul"}),)))
    assert "PartitionedCall" in list(after.functions["f"].ops())
    values = np.array([0.1, 0.5, -2], np.float32)
    config = ds.SessionConfig(optimizer="off", subgraphs="off")
    for g in (graph, after):
        found = ds.Session(g, config).run("g:0", {"x:0": values})
        f = np.exp(np.sin(values) * values)
        expected = f * f * (np.cos(values) * values + np.sin(values))
        np.testing.assert_allclose(found, expected, rtol=1e-5)
