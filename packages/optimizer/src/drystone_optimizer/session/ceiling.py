"""Telling kernels that results of layers may be close, where a session's ceiling says so."""

from __future__ import annotations

from typing import Final

from drystone_abi.protos import FunctionDef
from drystone_base.graph import Graph
from drystone_base.ops.properties import PRODUCTS

__all__ = ["CEILING", "with_ceiling"]

CEILING: Final = "_numeric"
"""The attribute that states it: "approximate"."""

_VALUE: Final = "approximate"
_LAYERS: Final = PRODUCTS | {
    "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum", "Conv2DBackpropInput",
    "Conv2DBackpropFilter", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2", "_FusedConv2D",
    "_FusedMatMul", "_FusedBatchMatMulV2",
}  # fmt: skip
"""Ops that units of devices compute with factors of fewer bits."""


def with_ceiling(graph: Graph) -> Graph:
    """The graph with the attribute on its layers and on those of its functions.

    It is a copy: functions of the same library may run in other sessions.
    """
    made = graph.copy()
    made.functions = graph.functions.copy()
    for node in made:
        if node.op in _LAYERS:
            made.set_attr(node, CEILING, _VALUE)
    for function in list(made.functions):
        if not _LAYERS.isdisjoint(function.ops()):
            made.functions.add(_noted(function.proto), replace=True)
    return made


def _noted(proto: FunctionDef) -> FunctionDef:
    """The function with the attribute on its layers."""
    made = FunctionDef()
    made.CopyFrom(proto)
    for node in made.node_def:
        if node.op in _LAYERS:
            node.attr[CEILING].s = _VALUE.encode()
    return made
