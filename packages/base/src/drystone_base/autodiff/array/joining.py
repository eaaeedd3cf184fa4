"""Joining and taking apart. Source: TensorFlow ``array_grad.py``, ``data_flow_grad.py``."""

from __future__ import annotations

from typing import Any

from drystone_base.autodiff._registry import Grads, reshaped, rule
from drystone_base.core.dtypes import INT32
from drystone_base.graph.builder import Builder
from drystone_base.graph.node import Node, Output

__all__: list[str] = []


@rule("Pack")
def _pack(b: Builder, node: Node, grads: list[Any]) -> Grads:
    count, axis = len(node.inputs), node.full_attrs()["axis"]
    parts = b.node("Unpack", grads[0], num=count, axis=axis)
    return [(parts, k) for k in range(count)]


@rule("Unpack")
def _unpack(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [b("Pack", grads, axis=node.full_attrs()["axis"])]


@rule("Concat")
def _concat(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [None, *_parts(b, node.inputs[0], list(node.inputs[1:]), grads[0])]


@rule("ConcatV2")
def _concat_v2(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [*_parts(b, node.inputs[-1], list(node.inputs[:-1]), grads[0]), None]


def _parts(b: Builder, axis: Output, values: list[Output], g: Output) -> list[Output]:
    shapes = [b.shape(v) for v in values]
    at = b("FloorMod", b("Cast", axis, DstT=INT32), b("Rank", values[0]))
    starts = b.node("ConcatOffset", at, shapes)
    return [b("Slice", g, (starts, k), shapes[k]) for k in range(len(values))]


@rule("Split")
def _split(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [None, b("ConcatV2", grads, node.inputs[0])]


@rule("SplitV")
def _split_v(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [b("ConcatV2", grads, node.inputs[2]), None, None]


@rule("DynamicStitch", "ParallelDynamicStitch")
def _stitch(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """What a later part has put over a row is counted for both, as in TensorFlow."""
    indices = node.inputs[: len(node.inputs) // 2]
    zero = b.const(0, INT32)
    return [*[None] * len(indices), *(b("GatherV2", grads[0], i, zero) for i in indices)]


@rule("DynamicPartition")
def _partition(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """Each row gets the gradient of where it went."""
    data, parts = node.inputs
    count = node.attr("num_partitions")
    shape = b.shape(parts)
    size = b("Size", parts, out_type=INT32)
    every = b("Reshape", b("Range", b.const(0, INT32), size, b.const(1, INT32)), shape)
    went = b.node("DynamicPartition", every, parts, num_partitions=count)
    rows = b("DynamicStitch", [(went, k) for k in range(count)], grads)
    return [reshaped(b, rows, data), None]
