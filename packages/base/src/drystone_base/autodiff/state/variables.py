"""Reading variables: the gradient of a handle is that of what it refers to.

Source: TensorFlow ``resource_variable_ops.py``.
"""

from __future__ import annotations

from typing import Any

from drystone_base.autodiff._registry import Grads, rule
from drystone_base.autodiff.array.gather import rows_of, summed
from drystone_base.core.dtypes import INT32
from drystone_base.graph.builder import Builder
from drystone_base.graph.node import Node

__all__: list[str] = []


@rule("ReadVariableOp", slices=True)
def _read(_b: Builder, _node: Node, grads: list[Any]) -> Grads:
    return [grads[0]]


@rule("ResourceGather")
def _gather(b: Builder, node: Node, grads: list[Any]) -> Grads:
    handle, indices = node.inputs
    batch = node.full_attrs()["batch_dims"]
    if batch:
        value = b("ReadVariableOp", handle, dtype=node.attr("dtype"))
        return [summed(b, value, indices, b.const(batch, INT32), grads[0], batch), None]
    shape = b("VariableShape", handle, out_type=INT32)
    return [rows_of(b, shape, indices, grads[0]), None]


@rule("ResourceGatherNd")
def _gather_nd(b: Builder, node: Node, grads: list[Any]) -> Grads:
    handle, indices = node.inputs
    shape = b("VariableShape", handle, out_type=b.dtype(indices))
    return [b("ScatterNd", indices, grads[0], shape), None]
