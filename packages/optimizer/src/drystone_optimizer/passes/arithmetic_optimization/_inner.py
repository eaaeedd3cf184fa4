"""Nodes that a rule may take along: what several stages ask of the node that they read from."""

from __future__ import annotations

from collections.abc import Container
from typing import Final

from drystone_base.graph import Node, Output
from drystone_base.ops.own import FUSES
from drystone_optimizer.core.context import Context

__all__ = ["inner", "is_elementwise", "joins_a_layer", "unseen"]

_ACTIVATIONS: Final = frozenset({"Relu", "Relu6", "LeakyRelu"})
_BEFORE: Final = frozenset({
    "Conv2D", "Conv3D", "DepthwiseConv2dNative", "MatMul", "BiasAdd", "BiasAddV1", "Add", "AddV2",
    "FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3",
})  # fmt: skip


def unseen(ctx: Context, output: Output, ops: Container[str]) -> Node | None:
    """The node of one of ``ops`` whose first output this is: not fed, without control edges."""
    node, slot = output
    if node.op not in ops or slot or node in ctx.fed_nodes or node.controls:
        return None
    return node if ctx.may_rewrite(node) else None


def inner(ctx: Context, output: Output, ops: Container[str]) -> Node | None:
    """As :func:`unseen`, and nothing else reads or waits for it."""
    node = unseen(ctx, output, ops)
    return node if node is not None and ctx.only_user(node) else None


def joins_a_layer(node: Node) -> bool:
    """Whether remapping may make an activation and what it reads one node, if it stays there."""
    return node.op in _ACTIVATIONS and node.inputs[0][0].op in _BEFORE


def is_elementwise(node: Node) -> bool:
    """Whether other element-wise work may become one node with this, or a layer does so."""
    return node.op in _BEFORE or node.op in FUSES["float32"]
