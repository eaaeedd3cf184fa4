"""Sparse tensors as indices, values and a shape. Source: TensorFlow ``sparse_grad.py``."""

from __future__ import annotations

from typing import Any

from drystone_base.autodiff._registry import Grads, rule, summed_to
from drystone_base.core.dtypes import INT32, INT64
from drystone_base.graph.builder import Builder
from drystone_base.graph.node import Node, Output

__all__: list[str] = []


@rule("SparseTensorDenseMatMul")
def _matmul(b: Builder, node: Node, grads: list[Any]) -> Grads:
    indices, values, shape, dense = node.inputs
    g, full = grads[0], node.full_attrs()
    by_dense = b("SparseTensorDenseMatMul", indices, values, shape, g,
                 adjoint_a=not full["adjoint_a"])  # fmt: skip
    turned = b.const([1, 0], INT32)
    if full["adjoint_b"]:
        by_dense, dense = b("Transpose", by_dense, turned), b("Transpose", dense, turned)
    places = [_column(b, indices, k) for k in (0, 1)]
    rows, columns = reversed(places) if full["adjoint_a"] else places
    zero = b.const(0, INT32)
    products = b("Mul", b("GatherV2", g, rows, zero), b("GatherV2", dense, columns, zero))
    return [None, b("Sum", products, b.const(-1, INT32), keep_dims=False), None, by_dense]


def _column(b: Builder, indices: Output, k: int) -> Output:
    return b("GatherV2", indices, b.const(k, INT32), b.const(1, INT32))


@rule("SparseReorder")
def _reorder(b: Builder, node: Node, grads: list[Any]) -> Grads:
    indices, values, shape = node.inputs
    count = b("Size", values, out_type=INT32)
    numbers = b("Range", b.const(0, INT32), count, b.const(1, INT32))
    order = b.node("SparseReorder", indices, numbers, shape)
    back = b("InvertPermutation", (order, 1))
    return [None, b("GatherV2", grads[1], back, b.const(0, INT32)), None]


@rule("SparseReduceSum")
def _reduce_sum(b: Builder, node: Node, grads: list[Any]) -> Grads:
    indices, _, shape, axes = node.inputs
    return [None, _spread(b, grads[0], indices, shape, axes), None, None]


def _spread(b: Builder, sums: Output, indices: Output, shape: Output, axes: Output) -> Output:
    """For each value the sum that it is part of."""
    rank = b("Cast", b("Size", shape, out_type=INT32), DstT=INT32)
    places = b("Reshape", b("FloorMod", axes, rank), b.const([-1, 1], INT32))
    ones = b("Fill", b("Slice", b.shape(places), b.const([0], INT32), b.const([1], INT32)),
             b.const(1, INT64))  # fmt: skip
    kept = b("TensorScatterUpdate", shape, places, ones)
    least = b("Maximum", kept, b.const(1, INT64))
    scaled = b("FloorDiv", indices, b("Maximum", b("FloorDiv", shape, least), b.const(1, INT64)))
    return b("GatherNd", b("Reshape", sums, kept), scaled)


@rule("SparseSoftmax")
def _softmax(b: Builder, node: Node, grads: list[Any]) -> Grads:
    indices, _, shape = node.inputs
    y, g, last = (node, 0), grads[0], b.const([-1], INT32)
    sums = b("SparseReduceSum", indices, b("Mul", y, g), shape, last, keep_dims=True)
    return [None, b("Mul", y, b("Sub", g, _spread(b, sums, indices, shape, last))), None]


@rule("SparseTensorDenseAdd")
def _dense_add(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [None, b("GatherNd", grads[0], node.inputs[0]), None, grads[0]]


@rule("SparseDenseCwiseAdd", "SparseDenseCwiseMul", "SparseDenseCwiseDiv")
def _by_elements(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """The dense operand is broadcast to the sparse one, and met where that has values."""
    indices, values, shape, dense = node.inputs
    places = _met(b, indices, shape, dense)
    there, g = b("GatherNd", dense, places), grads[0]
    by_values = by_there = g
    if node.op == "SparseDenseCwiseMul":
        by_values, by_there = b("Mul", g, there), b("Mul", g, values)
    elif node.op == "SparseDenseCwiseDiv":
        by_values = b("RealDiv", g, there)
        by_there = b("Neg", b("Mul", by_values, b("RealDiv", values, there)))
    return [None, by_values, None,
            b("ScatterNd", places, by_there, b("Shape", dense, out_type=INT64))]  # fmt: skip


def _met(b: Builder, indices: Output, shape: Output, dense: Output) -> Output:
    """Indices into the dense operand, behind dimensions that it lacks and along those of one."""
    zero = b.const(0, INT32)
    rank = b("Size", shape, out_type=INT32)
    lacking = b("Sub", rank, b("Rank", dense))
    ones = b("Fill", b("ExpandDims", lacking, zero), b.const(1, INT64))
    full = b("ConcatV2", [ones, b("Shape", dense, out_type=INT64)], zero)
    scale = b("FloorDiv", shape, b("Maximum", full, b.const(1, INT64)))
    scaled = b("FloorDiv", indices, b("Maximum", scale, b.const(1, INT64)))
    own = b("Range", lacking, rank, b.const(1, INT32))
    return b("GatherV2", scaled, own, b.const(1, INT32))


@rule("SparseToDense")
def _to_dense(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """One index, a column of them, or rows; one value, or one for each."""
    indices, shape, values, _ = node.inputs
    rows = b("Pack", [b.const(-1, INT32), b("Size", shape, out_type=INT32)], axis=0)
    there = b("GatherNd", grads[0], b("Reshape", indices, rows))
    every = b("Sub", _total(b, grads[0]), _total(b, there))
    return [None, None, summed_to(b, there, values, there), every]


def _total(b: Builder, x: Output) -> Output:
    axes = b("Range", b.const(0, INT32), b("Rank", x), b.const(1, INT32))
    return b("Sum", x, axes, keep_dims=False)


@rule("SparseAdd")
def _add(b: Builder, node: Node, grads: list[Any]) -> Grads:
    first, _, _, second, _, _, _ = node.inputs
    given = b.node("SparseAddGrad", grads[1], first, second, (node, 0))
    return [None, (given, 0), None, None, (given, 1), None, None]


@rule("SparseSlice")
def _slice(b: Builder, node: Node, grads: list[Any]) -> Grads:
    indices, start = node.inputs[0], node.inputs[3]
    return [None, b("SparseSliceGrad", grads[1], indices, start, (node, 0)), None, None, None]


@rule("SparseFillEmptyRows")
def _fill_empty_rows(b: Builder, node: Node, grads: list[Any]) -> Grads:
    given = b.node("SparseFillEmptyRowsGrad", (node, 3), grads[1])
    return [None, (given, 0), None, (given, 1)]


@rule("SparseSparseMaximum", "SparseSparseMinimum")
def _of_two(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """Each is added to zeros where the other one has values: then both have the result's places."""
    first, x, shape, second, y, other = node.inputs
    zero = b.like(0, x)
    given, taken = (
        (b.node("SparseAdd", first, v, shape, second, w, other, zero), 1)
        for v, w in ((x, b("ZerosLike", y)), (b("ZerosLike", x), y))
    )
    wins = b("GreaterEqual" if node.op == "SparseSparseMaximum" else "LessEqual", given, taken)
    nothing = b("ZerosLike", grads[1])
    of_x = b("SelectV2", wins, grads[1], nothing)
    of_y = b("SelectV2", wins, nothing, grads[1])
    by_x, by_y = (
        (b.node("SparseAddGrad", g, first, second, (node, 0)), k)
        for k, g in enumerate((of_x, of_y))
    )
    return [None, by_x, None, None, by_y, None]
