"""The graph: nodes, functions, orders, validation, and its binary and textual forms.

Building a graph by hand and its textual form are imported when they are asked for.
"""

from typing import TYPE_CHECKING

from drystone_base.core.lazy_names import lazy_names
from drystone_base.graph.functions import Bodies, Body, Function, FunctionLibrary, body_to_function
from drystone_base.graph.graph import Graph, parse_tensor_name
from drystone_base.graph.node import Node, Output, held_tensor, output_name, placeholder_shape
from drystone_base.graph.topology import (
    conditional_nodes,
    needed_nodes,
    reachable,
    topological_order,
)
from drystone_base.graph.validate import validate

if TYPE_CHECKING:
    from drystone_base.graph.builder import Builder
    from drystone_base.graph.pbtxt import from_text, to_text

__all__ = [
    "Bodies",
    "Body",
    "Builder",
    "Function",
    "FunctionLibrary",
    "Graph",
    "Node",
    "Output",
    "body_to_function",
    "conditional_nodes",
    "from_text",
    "held_tensor",
    "needed_nodes",
    "output_name",
    "parse_tensor_name",
    "placeholder_shape",
    "reachable",
    "to_text",
    "topological_order",
    "validate",
]

__getattr__, __dir__ = lazy_names(
    __name__, {"Builder": ".builder", "from_text": ".pbtxt", "to_text": ".pbtxt"}, __all__
)
