"""Ops that give elements other places or shapes. Source: TensorFlow ``array_grad.py``."""

from __future__ import annotations

from typing import Any

from drystone_base.autodiff._registry import Grads, reshaped, rule, summed_to
from drystone_base.core.dtypes import INT32
from drystone_base.graph.builder import Builder
from drystone_base.graph.node import Node, Output

__all__: list[str] = []


@rule("Reshape", "ExpandDims", "Squeeze")
def _reshape(b: Builder, node: Node, grads: list[Any]) -> Grads:
    back = reshaped(b, grads[0], node.inputs[0])
    return [back, *[None] * (len(node.inputs) - 1)]


@rule("Transpose")
def _transpose(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [b("Transpose", grads[0], b("InvertPermutation", node.inputs[1])), None]


@rule("Reverse", "ReverseV2")
def _reverse(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [b(node.op, grads[0], node.inputs[1]), None]


@rule("ReverseSequence")
def _reverse_sequence(b: Builder, node: Node, grads: list[Any]) -> Grads:
    dims = {k: node.full_attrs()[k] for k in ("seq_dim", "batch_dim")}
    return [b("ReverseSequence", grads[0], node.inputs[1], **dims), None]


@rule("Roll")
def _roll(b: Builder, node: Node, grads: list[Any]) -> Grads:
    _, shift, axis = node.inputs
    return [b("Roll", grads[0], b("Neg", shift), axis), None, None]


@rule("Fill")
def _fill(b: Builder, _: Node, grads: list[Any]) -> Grads:
    return [None, b("Sum", grads[0], _every_axis(b, grads[0]), keep_dims=False)]


def _every_axis(b: Builder, x: Output) -> Output:
    return b("Range", b.const(0, INT32), b("Rank", x), b.const(1, INT32))


@rule("BroadcastTo")
def _broadcast_to(b: Builder, node: Node, grads: list[Any]) -> Grads:
    x = node.inputs[0]
    return [summed_to(b, grads[0], x, (node, 0)), None]


@rule("Tile")
def _tile(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """The sum over copies: the shape with the number of copies before each dimension."""
    x, multiples = node.inputs
    copies = b("Cast", multiples, DstT=INT32)
    shape = b("Reshape", b("Pack", [copies, b.shape(x)], axis=1), b.const([-1], INT32))
    end = b("Size", shape, out_type=INT32)
    axes = b("Range", b.const(0, INT32), end, b.const(2, INT32))
    return [b("Sum", b("Reshape", grads[0], shape), axes, keep_dims=False), None]
