"""Pooling. Source: TensorFlow ``nn_grad.py``."""

from __future__ import annotations

from typing import Any, Final

from drystone_base.autodiff._registry import Grads, rule
from drystone_base.core.dtypes import INT64
from drystone_base.graph.builder import Builder
from drystone_base.graph.node import Node

__all__: list[str] = []

_SHARED: Final = frozenset({"ksize", "strides", "padding", "explicit_paddings", "data_format"})


def _attrs(node: Node, *left_out: str) -> dict[str, Any]:
    every = node.full_attrs().items()
    return {k: v for k, v in every if k in _SHARED and k not in left_out}


@rule("MaxPool", "MaxPool3D")
def _max_pool(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [b(f"{node.op}Grad", node.inputs[0], (node, 0), grads[0], **_attrs(node))]


@rule("MaxPoolV2")
def _max_pool_v2(b: Builder, node: Node, grads: list[Any]) -> Grads:
    x, ksize, strides = node.inputs
    grad = b("MaxPoolGradV2", x, (node, 0), grads[0], ksize, strides, **_attrs(node))
    return [grad, None, None]


@rule("MaxPoolWithArgmax")
def _max_pool_with_argmax(b: Builder, node: Node, grads: list[Any]) -> Grads:
    attrs = _attrs(node) | {"include_batch_in_index": node.attr("include_batch_in_index")}
    return [b("MaxPoolGradWithArgmax", node.inputs[0], grads[0], (node, 1), **attrs)]


@rule("MaxPoolGrad", "MaxPool3DGrad")
def _max_pool_grad(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """Linear in the gradient; which element is the largest does not change."""
    x, y, _ = node.inputs
    attrs = _attrs(node, "explicit_paddings")
    return [None, None, b(f"{node.op}Grad", x, y, grads[0], **attrs)]


@rule("MaxPoolGradV2")
def _max_pool_grad_v2(b: Builder, node: Node, grads: list[Any]) -> Grads:
    x, y, _, ksize, strides = node.inputs
    given = b("MaxPoolGradGradV2", x, y, grads[0], ksize, strides, **_attrs(node))
    return [None, None, given, None, None]


@rule("MaxPoolGradGrad", "MaxPool3DGradGrad")
def _max_pool_grad_grad(b: Builder, node: Node, grads: list[Any]) -> Grads:
    x, y, _ = node.inputs
    op = node.op.removesuffix("Grad")
    return [None, None, b(op, x, y, grads[0], **_attrs(node))]


@rule("AvgPool", "AvgPool3D")
def _avg_pool(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [b(f"{node.op}Grad", b.shape(node.inputs[0]), grads[0], **_attrs(node))]


@rule("AvgPoolGrad", "AvgPool3DGrad")
def _avg_pool_grad(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [None, b(node.op.removesuffix("Grad"), grads[0], **_attrs(node))]


@rule("FractionalMaxPool")
def _fractional_max(b: Builder, node: Node, grads: list[Any]) -> Grads:
    places = (node, 1), (node, 2)
    overlapping = node.full_attrs()["overlapping"]
    return [b("FractionalMaxPoolGrad", node.inputs[0], (node, 0), grads[0], *places,
              overlapping=overlapping)]  # fmt: skip


@rule("FractionalAvgPool")
def _fractional_average(b: Builder, node: Node, grads: list[Any]) -> Grads:
    shape = b("Shape", node.inputs[0], out_type=INT64)
    overlapping = node.full_attrs()["overlapping"]
    return [b("FractionalAvgPoolGrad", shape, grads[0], (node, 1), (node, 2),
              overlapping=overlapping)]  # fmt: skip
