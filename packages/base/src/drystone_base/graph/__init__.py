"""The graph: nodes, functions, orders, validation, and its binary and textual forms."""

from drystone_base.graph.builder import Builder
from drystone_base.graph.functions import Bodies, Body, Function, FunctionLibrary, body_to_function
from drystone_base.graph.graph import Graph, parse_tensor_name
from drystone_base.graph.node import Node, Output, held_tensor, output_name, placeholder_shape
from drystone_base.graph.pbtxt import from_text, to_text
from drystone_base.graph.topology import (
    conditional_nodes,
    needed_nodes,
    reachable,
    topological_order,
)
from drystone_base.graph.validate import validate

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
