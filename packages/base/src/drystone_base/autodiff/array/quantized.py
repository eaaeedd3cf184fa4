"""Rounding to few values while training: gradients as if there were no steps.

Source: TensorFlow ``array_grad.py``, ``fake_quant_ops``.
"""

from __future__ import annotations

from typing import Any

from drystone_base.autodiff._registry import Grads, rule
from drystone_base.graph.builder import Builder
from drystone_base.graph.node import Node

__all__: list[str] = []


@rule("QuantizeAndDequantize", "QuantizeAndDequantizeV2", "QuantizeAndDequantizeV3")
def _straight_through(_b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [grads[0], *[None] * (len(node.inputs) - 1)]


@rule("QuantizeAndDequantizeV4")
def _inside(b: Builder, node: Node, grads: list[Any]) -> Grads:
    axis = node.full_attrs()["axis"]
    back = b.node("QuantizeAndDequantizeV4Grad", grads[0], *node.inputs, axis=axis)
    return [(back, k) for k in range(3)]


@rule("FakeQuantWithMinMaxArgs")
def _of_range(b: Builder, node: Node, grads: list[Any]) -> Grads:
    full = node.full_attrs()
    stated = {name: full[name] for name in ("min", "max", "num_bits", "narrow_range")}
    return [b("FakeQuantWithMinMaxArgsGradient", grads[0], node.inputs[0], **stated)]


@rule("FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel")
def _of_variables(b: Builder, node: Node, grads: list[Any]) -> Grads:
    full = node.full_attrs()
    stated = {name: full[name] for name in ("num_bits", "narrow_range")}
    back = b.node(f"{node.op}Gradient", grads[0], *node.inputs, **stated)
    return [(back, k) for k in range(3)]
