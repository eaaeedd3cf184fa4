"""Slices and padding. Source: TensorFlow ``array_grad.py``."""

from __future__ import annotations

from typing import Any

from drystone_base.autodiff._registry import Grads, rule, summed_to
from drystone_base.core.dtypes import INT32
from drystone_base.graph.builder import Builder
from drystone_base.graph.node import Node, Output

__all__: list[str] = []


@rule("Slice")
def _slice(b: Builder, node: Node, grads: list[Any]) -> Grads:
    x, begin = node.inputs[:2]
    first = b("Cast", begin, DstT=INT32)
    after = b("Sub", b("Sub", b.shape(x), b.shape((node, 0))), first)
    return [b("Pad", grads[0], b("Pack", [first, after], axis=1)), None, None]


def _masks(node: Node) -> dict[str, Any]:
    return {k: v for k, v in node.full_attrs().items() if k.endswith("_mask")}


@rule("StridedSlice")
def _strided_slice(b: Builder, node: Node, grads: list[Any]) -> Grads:
    x, *ends = node.inputs
    shape = b("Shape", x, out_type=b.dtype(ends[0]))
    return [b("StridedSliceGrad", shape, *ends, grads[0], **_masks(node)), None, None, None]


@rule("StridedSliceGrad")
def _strided_slice_grad(b: Builder, node: Node, grads: list[Any]) -> Grads:
    ends = node.inputs[1:4]
    return [*[None] * 4, b("StridedSlice", grads[0], *ends, **_masks(node))]


@rule("TensorStridedSliceUpdate")
def _strided_slice_update(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """What was put in may have been broadcast."""
    _, *ends, value = node.inputs
    taken = b("StridedSlice", grads[0], *ends, **_masks(node))
    kept = b(node.op, grads[0], *ends, b("ZerosLike", taken), **_masks(node))
    return [kept, None, None, None, summed_to(b, taken, value, taken)]


def _inner(b: Builder, node: Node, grad: Output) -> Output:
    """What lies inside the padding."""
    x, paddings = node.inputs[:2]
    column = b("Slice", paddings, *(b.const(v, b.dtype(paddings)) for v in ([0, 0], [-1, 1])))
    first = b("Reshape", b("Cast", column, DstT=INT32), b.const([-1], INT32))
    return b("Slice", grad, first, b.shape(x))


@rule("Pad")
def _pad(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [_inner(b, node, grads[0]), None]


@rule("PadV2")
def _pad_v2(b: Builder, node: Node, grads: list[Any]) -> Grads:
    inner = _inner(b, node, grads[0])
    sums = [b("Sum", g, b("Range", b.const(0, INT32), b("Rank", g), b.const(1, INT32)),
              keep_dims=False) for g in (grads[0], inner)]  # fmt: skip
    return [inner, None, b("Sub", *sums)]


@rule("MirrorPad")
def _mirror_pad(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [b("MirrorPadGrad", grads[0], node.inputs[1], mode=node.attr("mode")), None]


@rule("MirrorPadGrad")
def _mirror_pad_grad(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [b("MirrorPad", grads[0], node.inputs[1], mode=node.attr("mode")), None]


@rule("SpaceToBatchND")
def _space_to_batch_nd(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [b("BatchToSpaceND", grads[0], *node.inputs[1:]), None, None]


@rule("BatchToSpaceND")
def _batch_to_space_nd(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [b("SpaceToBatchND", grads[0], *node.inputs[1:]), None, None]


@rule("SpaceToBatch")
def _space_to_batch(b: Builder, node: Node, grads: list[Any]) -> Grads:
    size = node.attr("block_size")
    return [b("BatchToSpace", grads[0], node.inputs[1], block_size=size), None]


@rule("BatchToSpace")
def _batch_to_space(b: Builder, node: Node, grads: list[Any]) -> Grads:
    size = node.attr("block_size")
    return [b("SpaceToBatch", grads[0], node.inputs[1], block_size=size), None]


def _blocks(node: Node) -> dict[str, Any]:
    return {k: node.full_attrs()[k] for k in ("block_size", "data_format")}


@rule("SpaceToDepth")
def _space_to_depth(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [b("DepthToSpace", grads[0], **_blocks(node))]


@rule("DepthToSpace")
def _depth_to_space(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [b("SpaceToDepth", grads[0], **_blocks(node))]
