"""Taking and putting elements by index. Source: TensorFlow ``array_grad.py``."""

from __future__ import annotations

from typing import Any

from drystone_base.autodiff._registry import Grads, rule
from drystone_base.autodiff._slices import Grad, IndexedSlices
from drystone_base.core.dtypes import INT32
from drystone_base.graph.builder import Builder
from drystone_base.graph.node import Node, Output

__all__ = ["rows_of", "summed"]

_ALL = [-1]


def rows_of(b: Builder, shape: Output, indices: Output, grad: Output) -> IndexedSlices:
    """The gradient of a tensor of that shape whose rows of ``indices`` were taken."""
    flat = b("Reshape", indices, b.const(_ALL, INT32))
    count = b("Reshape", b("Size", indices, out_type=INT32), b.const([1], INT32))
    inner = b("Slice", shape, b.const([1], INT32), b.const(_ALL, INT32))
    full = b("ConcatV2", [count, inner], b.const(0, INT32))
    return IndexedSlices(b("Reshape", grad, full), flat, shape)


@rule("Gather")
def _gather(b: Builder, node: Node, grads: list[Any]) -> Grads:
    x, indices = node.inputs
    return [rows_of(b, b.shape(x), indices, grads[0]), None]


@rule("GatherV2")
def _gather_v2(b: Builder, node: Node, grads: list[Any]) -> Grads:
    x, indices, axis = node.inputs
    return [_taken(b, node, x, indices, axis, grads[0]), None, None]


def _taken(b: Builder, node: Node, x: Output, indices: Output, axis: Output, grad: Output) -> Grad:
    batch = node.full_attrs()["batch_dims"]
    known = _constant(axis)
    if known == 0 and not batch:
        return rows_of(b, b.shape(x), indices, grad)
    return summed(b, x, indices, axis, grad, batch)


def _constant(output: Output) -> int | None:
    """The number that a constant node holds."""
    value = output[0].attrs.get("value") if output[0].op == "Const" else None
    return None if value is None or value.array.size != 1 else int(value.array.reshape(()))


def summed(
    b: Builder, x: Output, indices: Output, axis: Output, grad: Output, batch: int
) -> Output:
    """The gradient of what was taken along any axis, behind ``batch`` shared dimensions.

    The axis is brought to the front behind the batch, both are made one dimension whose indices
    tell examples apart, and what was taken is added up there.
    """
    zero, one = b.const(0, INT32), b.const(1, INT32)
    at = b("FloorMod", b("Cast", axis, DstT=INT32), b("Rank", x))
    lead = b.const(batch % (1 << 31) if batch >= 0 else batch, INT32)
    if batch < 0:
        lead = b("FloorMod", lead, b("Rank", indices))
    shape, taken = b.shape(x), b.shape(indices)
    count = b("Sub", b("Rank", indices), lead)
    first = _span(b, zero, lead)
    front = _order(b, [first, _span(b, at, b("Add", at, count)), _span(b, lead, at),
                       _span(b, b("Add", at, count), b("Rank", grad))])  # fmt: skip
    order = _order(b, [first, b("ExpandDims", at, zero), _span(b, lead, at),
                       _span(b, b("Add", at, one), b("Rank", x))])  # fmt: skip
    turned = b("GatherV2", shape, order, zero)
    size = b("GatherV2", shape, at, zero)
    batches = b("Prod", b("GatherV2", shape, first, zero), zero, keep_dims=False)
    shift = b("Mul", b("Range", zero, batches, one), size)
    each = b("Reshape", b("Cast", indices, DstT=INT32), b("Pack", [batches, b.const(-1, INT32)]))
    flat = b("Reshape", b("Add", each, b("ExpandDims", shift, one)), b.const(_ALL, INT32))
    inner = b("GatherV2", turned, _span(b, b("Add", lead, one), b("Rank", x)), zero)
    total = b("Prod", taken, zero, keep_dims=False)
    rows = b("Reshape", b("Transpose", grad, front),
             b("ConcatV2", [b("ExpandDims", total, zero), inner], zero))  # fmt: skip
    summed = b("UnsortedSegmentSum", rows, flat, b("Mul", batches, size))
    return b("Transpose", b("Reshape", summed, turned), b("InvertPermutation", order))


def _span(b: Builder, start: Output, end: Output) -> Output:
    return b("Range", start, end, b.const(1, INT32))


def _order(b: Builder, parts: list[Output]) -> Output:
    return b("ConcatV2", parts, b.const(0, INT32))


@rule("GatherNd")
def _gather_nd(b: Builder, node: Node, grads: list[Any]) -> Grads:
    x, indices = node.inputs
    return [b("ScatterNd", indices, grads[0], _shape(b, x, indices)), None]


@rule("ScatterNd")
def _scatter_nd(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [None, b("GatherNd", grads[0], node.inputs[0]), None]


@rule("TensorScatterUpdate")
def _scatter_update(b: Builder, node: Node, grads: list[Any]) -> Grads:
    _, indices, updates = node.inputs
    kept = b("TensorScatterUpdate", grads[0], indices, b("ZerosLike", updates))
    return [kept, None, b("GatherNd", grads[0], indices)]


@rule("TensorScatterAdd", "ScatterNdNonAliasingAdd")
def _scatter_add(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [grads[0], None, b("GatherNd", grads[0], node.inputs[1])]


@rule("TensorScatterSub")
def _scatter_sub(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [grads[0], None, b("Neg", b("GatherNd", grads[0], node.inputs[1]))]


@rule("TensorScatterMax", "TensorScatterMin")
def _scatter_extreme(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """Those that are equal share the gradient."""
    x, indices, updates = node.inputs
    y, dtype = (node, 0), b.dtype(node.inputs[0])
    kept = b("Cast", b("Equal", x, y), DstT=dtype)
    hits = b("Cast", b("Equal", updates, b("GatherNd", y, indices)), DstT=dtype)
    count = b("AddV2", kept, b("ScatterNd", indices, hits, _shape(b, x, indices)))
    share = b("RealDiv", grads[0], count)
    return [b("Mul", share, kept), None, b("Mul", b("GatherNd", share, indices), hits)]


def _shape(b: Builder, x: Output, indices: Output) -> Output:
    return b("Shape", x, out_type=b.dtype(indices))


@rule("TopK", "TopKV2")
def _top_k(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """Each value goes back to where it was, row by row."""
    x = node.inputs[0]
    zero, one = b.const(0, INT32), b.const(1, INT32)
    shape = b.shape(x)
    last = b("GatherV2", shape, b("Sub", b("Rank", x), one), zero)
    rows = b("Pack", [b.const(-1, INT32), b("Maximum", _last(b, grads[0]), one)], axis=0)
    places = b("Reshape", b("Cast", (node, 1), DstT=INT32), rows)
    count = b("GatherV2", b.shape(places), zero, zero)
    starts = b("Mul", b("Range", zero, count, one), last)
    flat = b("Reshape", b("Add", places, b("ExpandDims", starts, one)), b.const(_ALL, INT32))
    total = b("Size", x, out_type=INT32)
    values = b("Reshape", grads[0], b.const(_ALL, INT32))
    found = b("Reshape", b("UnsortedSegmentSum", values, flat, total), shape)
    return [found, *[None] * (len(node.inputs) - 1)]


def _last(b: Builder, x: Output) -> Output:
    """The size of the last dimension."""
    zero = b.const(0, INT32)
    return b("GatherV2", b.shape(x), b("Sub", b("Rank", x), b.const(1, INT32)), zero)
