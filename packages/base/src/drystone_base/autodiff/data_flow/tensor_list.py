"""Lists of tensors: the gradient of a list is a list. Source: TensorFlow ``list_ops.py``."""

from __future__ import annotations

from typing import Any

from drystone_base.autodiff._registry import Grads, rule, zeros
from drystone_base.autodiff.backward import passes
from drystone_base.core.dtypes import INT32, INT64
from drystone_base.graph.builder import Builder
from drystone_base.graph.node import Node, Output

__all__: list[str] = []


def _smooth(node: Node) -> bool:
    return passes(node.attr("element_dtype"))


def _none(node: Node) -> Grads:
    return [None] * len(node.inputs)


def _row_shape(b: Builder, x: Output) -> Output:
    """The shape of one of a tensor's rows."""
    return b("Slice", b.shape(x), b.const([1], INT32), b.const([-1], INT32))


def _kind(node: Node) -> dict[str, Any]:
    return {"element_dtype": node.attr("element_dtype")}


@rule("TensorListPushBack")
def _push(b: Builder, node: Node, grads: list[Any]) -> Grads:
    if not _smooth(node):
        return _none(node)
    popped = b.node("TensorListPopBack", grads[0], b.shape(node.inputs[1]), **_kind(node))
    return [(popped, 0), (popped, 1)]


@rule("TensorListPopBack")
def _pop(b: Builder, node: Node, grads: list[Any]) -> Grads:
    if not _smooth(node):
        return _none(node)
    rest = b("ZerosLike", (node, 0)) if grads[0] is None else grads[0]
    return [b("TensorListPushBack", rest, grads[1], **_kind(node)), None]


@rule("TensorListGetItem")
def _get(b: Builder, node: Node, grads: list[Any]) -> Grads:
    if not _smooth(node):
        return _none(node)
    held, index, _ = node.inputs
    shape = b("TensorListElementShape", held, shape_type=INT32)
    blank = b("TensorListReserve", shape, b("TensorListLength", held), **_kind(node))
    return [b("TensorListSetItem", blank, index, grads[0], **_kind(node)), None, None]


@rule("TensorListSetItem")
def _set(b: Builder, node: Node, grads: list[Any]) -> Grads:
    if not _smooth(node):
        return _none(node)
    _, index, item = node.inputs
    rest = b("TensorListSetItem", grads[0], index, zeros(b, item), **_kind(node))
    return [rest, None, b("TensorListGetItem", grads[0], index, b.shape(item), **_kind(node))]


@rule("TensorListFromTensor")
def _from_tensor(b: Builder, node: Node, grads: list[Any]) -> Grads:
    if not _smooth(node):
        return _none(node)
    shape = _row_shape(b, node.inputs[0])
    return [b("TensorListStack", grads[0], shape, **_kind(node)), None]


@rule("TensorListStack")
def _stack(b: Builder, node: Node, grads: list[Any]) -> Grads:
    if not _smooth(node):
        return _none(node)
    return [b("TensorListFromTensor", grads[0], _row_shape(b, grads[0]), **_kind(node)), None]


@rule("TensorListConcat", "TensorListConcatV2")
def _concat(b: Builder, node: Node, grads: list[Any]) -> Grads:
    if not _smooth(node):
        return _none(node)
    rows = _row_shape(b, grads[0])
    shape = b("ConcatV2", [b.const([-1], INT32), rows], b.const(0, INT32))
    parts = b("TensorListSplit", grads[0], shape, (node, 1), **_kind(node))
    return [parts, *[None] * (len(node.inputs) - 1)]


@rule("TensorListSplit")
def _split(b: Builder, node: Node, grads: list[Any]) -> Grads:
    if not _smooth(node):
        return _none(node)
    tensor, _, lengths = node.inputs
    shape = b("ConcatV2", [b.const([-1], INT32), _row_shape(b, tensor)], b.const(0, INT32))
    sizes = b("Cast", lengths, DstT=INT64)
    return [b("TensorListConcatV2", grads[0], shape, sizes, **_kind(node)), None, None]


@rule("TensorListGather")
def _gather(b: Builder, node: Node, grads: list[Any]) -> Grads:
    if not _smooth(node):
        return _none(node)
    held, indices, _ = node.inputs
    shape, count = _row_shape(b, grads[0]), b("TensorListLength", held)
    return [b("TensorListScatterV2", grads[0], indices, shape, count, **_kind(node)), None, None]


@rule("TensorListScatter", "TensorListScatterV2")
def _scatter(b: Builder, node: Node, grads: list[Any]) -> Grads:
    if not _smooth(node):
        return _none(node)
    tensor, indices = node.inputs[:2]
    shape = _row_shape(b, tensor)
    back = b("TensorListGather", grads[0], indices, shape, **_kind(node))
    return [back, *[None] * (len(node.inputs) - 1)]


@rule("TensorListScatterIntoExistingList")
def _scatter_into(b: Builder, node: Node, grads: list[Any]) -> Grads:
    if not _smooth(node):
        return _none(node)
    _, tensor, indices = node.inputs
    back = b("TensorListGather", grads[0], indices, _row_shape(b, tensor), **_kind(node))
    blank = zeros(b, tensor)
    rest = b("TensorListScatterIntoExistingList", grads[0], blank, indices, **_kind(node))
    return [rest, back, None]


@rule("TensorListResize")
def _resize(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [b("TensorListResize", grads[0], b("TensorListLength", node.inputs[0])), None]
