"""What the ceiling of numeric classes tells kernels: attributes of layers, in functions, too."""

from __future__ import annotations

import pytest
from google.protobuf import text_format

from drystone_abi.protos import FunctionDef
from drystone_base import Graph, as_dtype
from drystone_base.ops.attrs import FunctionRef
from drystone_optimizer import OptimizerConfig
from drystone_optimizer.session.ceiling import CEILING
from drystone_optimizer.session.stage import optimize_for_session

FLOAT32 = as_dtype("float32")
SQUARED = """
signature { name: "squared"
            input_arg { name: "x" type: DT_FLOAT } output_arg { name: "y" type: DT_FLOAT } }
node_def { name: "m" op: "MatMul" input: "x" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
ret { key: "y" value: "m:product:0" }
attr { key: "_noinline" value { b: true } }
"""  # fmt: skip


def layers() -> Graph:
    """A product, and a call of a function with one."""
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (3, 3)})
    graph.functions.add(text_format.Parse(SQUARED, FunctionDef()))
    product = graph.add("MatMul", "product", [x, x], attrs={"T": FLOAT32})
    attrs = {"Tin": [FLOAT32], "Tout": [FLOAT32], "f": FunctionRef("squared", {})}
    graph.add("PartitionedCall", "call", [product], attrs=attrs)
    graph.add("Relu", "y", [graph["call"]], attrs={"T": FLOAT32})
    return graph


@pytest.mark.parametrize("ceiling", ["exact", "reassociates", "approximate"])
def test_layers_say_what_the_ceiling_is(ceiling: str) -> None:
    """Issue 33: TF32 by the session's numeric ceiling."""
    graph = layers()
    before = graph.to_bytes()
    config = OptimizerConfig(numeric=ceiling, min_graph_nodes=-1)
    after = optimize_for_session(graph, ["y:0"], ["x:0"], config)
    is_close = ceiling == "approximate"
    assert after["product"].attrs.get(CEILING) == ("approximate" if is_close else None)
    assert CEILING not in after["y"].attrs
    (node,) = next(f for f in after.functions if f.name.startswith("squared")).proto.node_def
    assert (CEILING in node.attr) == is_close
    assert graph.to_bytes() == before
