"""Convolutions and biases. Source: TensorFlow ``nn_grad.py``."""

from __future__ import annotations

from typing import Any, Final

from drystone_base.autodiff._registry import Grads, Rule, rule
from drystone_base.core.dtypes import INT32
from drystone_base.graph.builder import Builder
from drystone_base.graph.node import Node

__all__: list[str] = []

_FAMILIES: Final = {
    "Conv2D": ("Conv2DBackpropInput", "Conv2DBackpropFilter"),
    "DepthwiseConv2dNative": (
        "DepthwiseConv2dNativeBackpropInput", "DepthwiseConv2dNativeBackpropFilter"),
    "Conv3D": ("Conv3DBackpropInputV2", "Conv3DBackpropFilterV2"),
}  # fmt: skip
"""A convolution, and its gradients by input and by filter."""
_SHARED: Final = frozenset(
    {"strides", "use_cudnn_on_gpu", "padding", "explicit_paddings", "data_format", "dilations"}
)


def _attrs(node: Node) -> dict[str, Any]:
    return {k: v for k, v in node.full_attrs().items() if k in _SHARED}


def _rules(op: str, by_input: str, by_filter: str) -> tuple[Rule, Rule, Rule]:
    """The rules of a convolution and of its two gradients: each is linear in both inputs."""

    def forward(b: Builder, node: Node, grads: list[Any]) -> Grads:
        (x, w), g, attrs = node.inputs, grads[0], _attrs(node)
        return [
            b(by_input, b.shape(x), w, g, **attrs), b(by_filter, x, b.shape(w), g, **attrs)
        ]  # fmt: skip

    def of_input(b: Builder, node: Node, grads: list[Any]) -> Grads:
        (_, w, dy), g, attrs = node.inputs, grads[0], _attrs(node)
        return [None, b(by_filter, g, b.shape(w), dy, **attrs), b(op, g, w, **attrs)]

    def of_filter(b: Builder, node: Node, grads: list[Any]) -> Grads:
        (x, _, dy), g, attrs = node.inputs, grads[0], _attrs(node)
        return [b(by_input, b.shape(x), g, dy, **attrs), None, b(op, x, g, **attrs)]

    return forward, of_input, of_filter


for _op, (_by_input, _by_filter) in _FAMILIES.items():
    for _name, _rule in zip(
        (_op, _by_input, _by_filter), _rules(_op, _by_input, _by_filter), strict=True
    ):
        rule(_name)(_rule)


@rule("BiasAdd")
def _bias_add(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [grads[0], b("BiasAddGrad", grads[0], data_format=node.attr("data_format"))]


@rule("BiasAddV1")
def _bias_add_v1(b: Builder, _: Node, grads: list[Any]) -> Grads:
    return [grads[0], b("BiasAddGrad", grads[0])]


@rule("BiasAddGrad")
def _bias_add_grad(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """The bias for each place: in the last dimension, or in the second (NCHW)."""
    dy = node.inputs[0]
    bias = grads[0]
    if node.attr("data_format") == "NCHW":
        more = b("Sub", b("Rank", dy), b.const(2, INT32))
        ones = b("Fill", b("ExpandDims", more, b.const(0, INT32)), b.const(1, INT32))
        bias = b("Reshape", bias, b("ConcatV2", [b.shape(bias), ones], b.const(0, INT32)))
    return [b("BroadcastTo", bias, b.shape(dy))]


@rule("Dilation2D")
def _dilation(b: Builder, node: Node, grads: list[Any]) -> Grads:
    attrs = {k: node.full_attrs()[k] for k in ("strides", "rates", "padding")}
    return [b(f"Dilation2DBackprop{to}", *node.inputs, grads[0], **attrs)
            for to in ("Input", "Filter")]  # fmt: skip
