"""Ragged tensors as values and row partitions. Source: TensorFlow ``ragged_*_grad``."""

from __future__ import annotations

from typing import Any

from drystone_base.autodiff._registry import Grads, reshaped, rule, summed_to
from drystone_base.core.dtypes import INT32, INT64
from drystone_base.graph.builder import Builder
from drystone_base.graph.node import Node, Output

__all__: list[str] = []


@rule("RaggedTensorToSparse")
def _to_sparse(b: Builder, node: Node, grads: list[Any]) -> Grads:
    *splits, values = node.inputs
    return [*(None for _ in splits), reshaped(b, grads[1], values)]


@rule("RaggedFillEmptyRows")
def _fill_empty_rows(b: Builder, node: Node, grads: list[Any]) -> Grads:
    given = b.node("RaggedFillEmptyRowsGrad", (node, 3), grads[1])
    return [None, (given, 0), None, (given, 1)]


@rule("RaggedGather")
def _gather(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """Which row each one is of: the rows' numbers are gathered in the same way."""
    *splits, values, indices = node.inputs
    count = _rows(b, values)
    ragged = node.full_attrs()["OUTPUT_RAGGED_RANK"]
    again = b.node("RaggedGather", splits, _numbers(b, count), indices, OUTPUT_RAGGED_RANK=ragged)
    found = b("UnsortedSegmentSum", grads[-1], (again, ragged), count)
    return [*(None for _ in splits), found, None]


@rule("RaggedTensorToTensor")
def _to_tensor(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """Where each row went: the rows' numbers are laid out in the same way, -1 for the default."""
    _, values, default, *partitions = node.inputs
    count, zero = _rows(b, values), b.const(0, INT32)
    rank = b("Sub", b("Rank", (node, 0)), b("Sub", b("Rank", values), b.const(1, INT32)))
    outer = b("Slice", b("Shape", (node, 0), out_type=INT64), b.const([0], INT32),
              b("ExpandDims", rank, zero))  # fmt: skip
    types = node.full_attrs()["row_partition_types"]
    places = b("RaggedTensorToTensor", outer, _numbers(b, count), b.const(-1, INT64), partitions,
               row_partition_types=types)  # fmt: skip
    numbers = b("Reshape", places, b.const([-1], INT32))
    inner = b("Slice", b.shape(values), b.const([1], INT32), b.const([-1], INT32))
    rows = b("Reshape", grads[0], b("ConcatV2", [b.const([-1], INT32), inner], zero))
    # Segment 0 is of the default, which is laid out where no row is.
    shifted = b("Add", numbers, b.const(1, INT64))
    sums = b("UnsortedSegmentSum", rows, shifted, b("Add", count, b.const(1, INT32)))
    first = b("GatherV2", sums, zero, zero)
    rest = b("GatherV2", sums, b("Range", b.const(1, INT32), b("Add", count, b.const(1, INT32)),
             b.const(1, INT32)), zero)  # fmt: skip
    return [None, rest, summed_to(b, first, default, first), *(None for _ in partitions)]


def _rows(b: Builder, x: Output) -> Output:
    """The size of the first dimension."""
    return b("GatherV2", b.shape(x), b.const(0, INT32), b.const(0, INT32))


def _numbers(b: Builder, count: Output) -> Output:
    numbers = b("Range", b.const(0, INT32), count, b.const(1, INT32))
    return b("Cast", numbers, DstT=INT64)
