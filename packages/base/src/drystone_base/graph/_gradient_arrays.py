"""Gradients of reductions and of ops that move elements; see ``_gradient_rules``."""

from __future__ import annotations

from drystone_base.core.dtypes import INT32
from drystone_base.graph._gradient_rules import Grads, reduced, rule
from drystone_base.graph.builder import Builder
from drystone_base.graph.node import Node, Output

__all__: list[str] = []


def _kept(b: Builder, node: Node, value: Output) -> Output:
    """A result of a reduction with its reduced dimensions as 1."""
    x, axes = node.inputs
    shape = b.shape(x)
    rank = b("Rank", x)
    turned = b("FloorMod", b("Add", b("Cast", axes, DstT=INT32), rank), rank)
    flat = b("Reshape", turned, b.const([-1], INT32))
    ones = b("Fill", b("Shape", flat, out_type=INT32), b.const(1, INT32))
    every = b("Range", b.const(0, INT32), rank, b.const(1, INT32))
    return b("Reshape", value, b("DynamicStitch", [every, flat], [shape, ones]))


@rule("Sum")
def _sum(b: Builder, node: Node, grads: list[Output]) -> Grads:
    x = node.inputs[0]
    return [b("BroadcastTo", _kept(b, node, grads[0]), b.shape(x)), None]


@rule("Mean")
def _mean(b: Builder, node: Node, grads: list[Output]) -> Grads:
    x = node.inputs[0]
    sizes = [b("Size", v, out_type=INT32) for v in (x, (node, 0))]
    count = b("Div", sizes[0], b("Maximum", sizes[1], b.const(1, INT32)))
    spread = b("BroadcastTo", _kept(b, node, grads[0]), b.shape(x))
    return [b("Div", spread, b("Cast", count, DstT=b.dtype(x))), None]


@rule("Max", "Min")
def _extreme(b: Builder, node: Node, grads: list[Output]) -> Grads:
    x = node.inputs[0]
    hit = b("Cast", b("Equal", x, _kept(b, node, (node, 0))), DstT=b.dtype(x))
    ties = b("Sum", hit, node.inputs[1], keep_dims=node.full_attrs()["keep_dims"])
    share = b("Div", hit, _kept(b, node, ties))
    return [b("Mul", share, _kept(b, node, grads[0])), None]


@rule("Transpose")
def _transpose(b: Builder, node: Node, grads: list[Output]) -> Grads:
    return [b("Transpose", grads[0], b("InvertPermutation", node.inputs[1])), None]


@rule("Pack")
def _pack(b: Builder, node: Node, grads: list[Output]) -> Grads:
    count, axis = len(node.inputs), node.full_attrs()["axis"]
    parts = b.node("Unpack", grads[0], num=count, axis=axis)
    return [(parts, k) for k in range(count)]


@rule("Unpack")
def _unpack(b: Builder, node: Node, grads: list[Output]) -> Grads:
    return [b("Pack", grads, axis=node.full_attrs()["axis"])]


@rule("Concat")
def _concat(b: Builder, node: Node, grads: list[Output]) -> Grads:
    return [None, *_parts(b, node.inputs[0], list(node.inputs[1:]), grads[0])]


@rule("ConcatV2")
def _concat_v2(b: Builder, node: Node, grads: list[Output]) -> Grads:
    return [*_parts(b, node.inputs[-1], list(node.inputs[:-1]), grads[0]), None]


def _parts(b: Builder, axis: Output, values: list[Output], g: Output) -> list[Output]:
    shapes = [b.shape(v) for v in values]
    at = b("FloorMod", b("Cast", axis, DstT=INT32), b("Rank", values[0]))
    starts = b.node("ConcatOffset", at, shapes)
    return [b("Slice", g, (starts, k), shapes[k]) for k in range(len(values))]


@rule("Split")
def _split(b: Builder, node: Node, grads: list[Output]) -> Grads:
    return [None, b("Concat", node.inputs[0], grads)]


@rule("Fill")
def _fill(b: Builder, _: Node, grads: list[Output]) -> Grads:
    every = b("Range", b.const(0, INT32), b("Rank", grads[0]), b.const(1, INT32))
    return [None, b("Sum", grads[0], every, keep_dims=False)]


@rule("Reverse", "ReverseV2")
def _reverse(b: Builder, node: Node, grads: list[Output]) -> Grads:
    return [b(node.op, grads[0], node.inputs[1]), None]


@rule("Slice")
def _slice(b: Builder, node: Node, grads: list[Output]) -> Grads:
    x, begin = node.inputs[:2]
    first = b("Cast", begin, DstT=INT32)
    after = b("Sub", b("Sub", b.shape(x), b.shape((node, 0))), first)
    return [b("Pad", grads[0], b("Pack", [first, after], axis=1)), None, None]


@rule("StridedSlice")
def _strided_slice(b: Builder, node: Node, grads: list[Output]) -> Grads:
    x, *ends = node.inputs
    masks = {k: v for k, v in node.full_attrs().items() if k.endswith("_mask")}
    shape = b("Shape", x, out_type=b.dtype(ends[0]))
    return [b("StridedSliceGrad", shape, *ends, grads[0], **masks), None, None, None]


@rule("BroadcastTo")
def _broadcast_to(b: Builder, node: Node, grads: list[Output]) -> Grads:
    x = node.inputs[0]
    axes = b.node("BroadcastGradientArgs", b.shape(x), b.shape((node, 0)))
    return [reduced(b, grads[0], x, (axes, 0)), None]
