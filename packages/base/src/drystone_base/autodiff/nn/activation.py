"""Activations and their gradients. Source: TensorFlow ``nn_grad.py``."""

from __future__ import annotations

from typing import Any, Final

from drystone_base.autodiff._registry import Grads, Rule, rule
from drystone_base.core.dtypes import INT32
from drystone_base.graph.builder import Builder
from drystone_base.graph.node import Node, Output

__all__: list[str] = []

_OF_X: Final = ("Relu", "Relu6", "Softplus", "Softsign")
_OF_Y: Final = ("Elu", "Selu")
_LINEAR: Final = ("ReluGrad", "Relu6Grad")
"""Gradients that are linear in the gradient, and by steps in the rest."""


def _rule_of(op: str, of_result: bool) -> Rule:
    def gradient(b: Builder, node: Node, grads: list[Any]) -> Grads:
        return [b(f"{op}Grad", grads[0], (node, 0) if of_result else node.inputs[0])]

    return gradient


for _op in (*_OF_X, *_OF_Y):
    rule(_op)(_rule_of(_op, _op in _OF_Y))


@rule("LeakyRelu")
def _leaky(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [b("LeakyReluGrad", grads[0], node.inputs[0], alpha=node.attr("alpha"))]


@rule("LeakyReluGrad")
def _leaky_grad(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [b("LeakyReluGrad", grads[0], node.inputs[1], alpha=node.attr("alpha")), None]


@rule(*_LINEAR)
def _linear(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [b(node.op, grads[0], node.inputs[1]), None]


@rule("SoftplusGrad")
def _softplus_grad(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """Of dy sigmoid(x)."""
    dy, x = node.inputs
    slope = b("SigmoidGrad", b("Sigmoid", x), grads[0])
    return [b("SoftplusGrad", grads[0], x), b("Mul", dy, slope)]


@rule("SoftsignGrad")
def _softsign_grad(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """Of dy / (1 + |x|)²."""
    dy, x = node.inputs
    rise = b("Add", b.like(1, x), b("Abs", x))
    slope = b("Div", b("Mul", b.like(-2, x), b("Sign", x)), b("Mul", rise, b("Square", rise)))
    return [b("SoftsignGrad", grads[0], x), b("Mul", b("Mul", grads[0], dy), slope)]


@rule("EluGrad", "SeluGrad")
def _elu_grad(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """Of dy times a step for positive results, and what the result is off by for others."""
    dy, y = node.inputs
    zeros = b("ZerosLike", y)
    slope = b("SelectV2", b("Less", y, zeros), b("Mul", grads[0], dy), zeros)
    return [b(node.op, grads[0], y), slope]


@rule("Softmax")
def _softmax(b: Builder, node: Node, grads: list[Any]) -> Grads:
    y, g = (node, 0), grads[0]
    return [b("Mul", b("Sub", g, _row_sum(b, b("Mul", g, y))), y)]


@rule("LogSoftmax")
def _log_softmax(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [b("Sub", grads[0], b("Mul", _row_sum(b, grads[0]), b("Exp", (node, 0))))]


def _row_sum(b: Builder, x: Output) -> Output:
    return b("Sum", x, b.const(-1, INT32), keep_dims=True)
