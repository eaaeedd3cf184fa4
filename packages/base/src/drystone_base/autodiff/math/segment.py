"""Sums and extremes of segments of rows. Source: TensorFlow ``math_grad.py``."""

from __future__ import annotations

from typing import Any

from drystone_base.autodiff._registry import Grads, rule
from drystone_base.core.dtypes import INT32
from drystone_base.graph.builder import Builder
from drystone_base.graph.node import Node, Output

__all__: list[str] = []


def _rows(b: Builder, values: Output, ids: Output) -> Output:
    return b("GatherV2", values, ids, b.const(0, INT32))


def _count_shape(b: Builder, ids: Output, like: Output) -> Output:
    """The shape of a value for each of ``ids``, as many dimensions as ``like`` has."""
    more = b("Sub", b("Rank", like), b("Rank", ids))
    ones = b("Fill", b("ExpandDims", more, b.const(0, INT32)), b.const(1, INT32))
    return b("ConcatV2", [b.shape(ids), ones], b.const(0, INT32))


@rule("SegmentSum")
def _segment_sum(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [_rows(b, grads[0], node.inputs[1]), None]


@rule("SegmentMean")
def _segment_mean(b: Builder, node: Node, grads: list[Any]) -> Grads:
    data, ids = node.inputs
    ones = b("Fill", _count_shape(b, ids, data), b.like(1, data))
    share = b("RealDiv", grads[0], b("Maximum", b("SegmentSum", ones, ids), b.like(1, data)))
    return [_rows(b, share, ids), None]


@rule("SegmentMax", "SegmentMin")
def _segment_extreme(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """Those that are equal share the gradient."""
    data, ids = node.inputs
    hit = b("Cast", b("Equal", data, _rows(b, (node, 0), ids)), DstT=b.dtype(data))
    share = b("RealDiv", grads[0], b("SegmentSum", hit, ids))
    return [b("Mul", hit, _rows(b, share, ids)), None]


def _kept_rows(b: Builder, node: Node, values: Output) -> tuple[Output, Output]:
    """Rows by segment, and which there are: rows of negative segments are left out, thus zeros."""
    ids = node.inputs[1]
    zero = b("ZerosLike", ids)
    kept = b("GreaterEqual", ids, zero)
    rows = _rows(b, values, b("Maximum", ids, zero))
    mask = b("Reshape", kept, _count_shape(b, ids, rows))
    return b("SelectV2", mask, rows, b("ZerosLike", rows)), mask


@rule("UnsortedSegmentSum")
def _unsorted_sum(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [_kept_rows(b, node, grads[0])[0], None, None]


@rule("UnsortedSegmentMax", "UnsortedSegmentMin")
def _unsorted_extreme(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """Those that are equal share the gradient."""
    data, ids, count = node.inputs
    found, mask = _kept_rows(b, node, (node, 0))
    hit = b("LogicalAnd", b("Equal", data, found), mask)
    hits = b("Cast", hit, DstT=b.dtype(data))
    share = b("RealDiv", grads[0], b("UnsortedSegmentSum", hits, ids, count))
    rows, _ = _kept_rows(b, node, share)
    return [b("SelectV2", hit, rows, b("ZerosLike", rows)), None, None]


@rule("SegmentProd", "UnsortedSegmentProd")
def _product(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """The product of the others: a quotient, and where one is 0, the product without it."""
    data, ids, *count = node.inputs
    zero, ones = b("Equal", data, b("ZerosLike", data)), b("OnesLike", data)
    total = node.op.replace("Prod", "Sum")

    def rows(values: Output) -> Output:
        return _kept_rows(b, node, values)[0] if count else _rows(b, values, ids)

    zeros = rows(b(total, b("Cast", zero, DstT=b.dtype(data)), ids, *count))
    safe = b("SelectV2", zero, ones, data)
    others = rows(b(node.op, safe, ids, *count))
    quotient = b("RealDiv", others, safe)
    alone = b("SelectV2", zero, b("LessEqual", zeros, ones), b("Less", zeros, ones))
    rest = b("SelectV2", alone, quotient, b("ZerosLike", data))
    return [b("Mul", rows(grads[0]), rest), *[None] * (1 + len(count))]


@rule("SparseSegmentSum", "SparseSegmentSumWithNumSegments")
def _sparse_sum(b: Builder, node: Node, grads: list[Any]) -> Grads:
    data, indices, ids, *count = node.inputs
    found = b("UnsortedSegmentSum", _rows(b, grads[0], ids), indices, _first(b, data))
    return [found, None, None, *[None] * len(count)]


@rule("SparseSegmentMean", "SparseSegmentSqrtN", "SparseSegmentMeanWithNumSegments",
      "SparseSegmentSqrtNWithNumSegments")  # fmt: skip
def _sparse_mean(b: Builder, node: Node, grads: list[Any]) -> Grads:
    data, indices, ids, *count = node.inputs
    op = f"{node.op.removesuffix('WithNumSegments')}Grad"
    found = b(op, grads[0], indices, ids, _first(b, data))
    return [found, None, None, *[None] * len(count)]


def _first(b: Builder, x: Output) -> Output:
    """The number of rows."""
    zero = b.const(0, INT32)
    return b("GatherV2", b.shape(x), zero, zero)


@rule("IsotonicRegression")
def _isotonic(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """The mean gradient of each segment: all of its elements have one value."""
    segments, shape = (node, 1), b.shape(grads[0])
    zero, one = b.const(0, INT32), b.const(1, INT32)
    rows, size = (b("GatherV2", shape, b.const(k, INT32), zero) for k in (0, 1))
    first = b("ExpandDims", b("Mul", b("Range", zero, rows, one), size), b.const(-1, INT32))
    flat = b.const([-1], INT32)
    ids, total = b("Reshape", b("Add", segments, first), flat), b("Mul", rows, size)
    g = b("Reshape", grads[0], flat)
    sums, counts = (b("UnsortedSegmentSum", v, ids, total) for v in (g, b("OnesLike", g)))
    means = b("Reshape", _rows(b, b("DivNoNan", sums, counts), ids), shape)
    return [b("Cast", means, DstT=b.dtype(node.inputs[0]))]
