"""Losses, whose ops give their gradients as well. Source: TensorFlow ``nn_grad.py``."""

from __future__ import annotations

from typing import Any

from drystone_base.autodiff._registry import Grads, rule, summed_to
from drystone_base.core.dtypes import INT32
from drystone_base.graph.builder import Builder
from drystone_base.graph.node import Node, Output

__all__: list[str] = []


def _columns(b: Builder, x: Output) -> Output:
    return b("ExpandDims", x, b.const(-1, INT32))


def _of_logits(b: Builder, node: Node, grads: list[Any]) -> Output:
    """The gradient by logits, of the loss and of its gradient, which is softmax less labels."""
    logits = node.inputs[0]
    first = b("Mul", _columns(b, grads[0]), (node, 1))
    if _is_zero(grads[1]):
        return first
    chances = b("Softmax", logits)
    mean = b("Sum", b("Mul", grads[1], chances), b.const(1, INT32), keep_dims=True)
    return b("Add", first, b("Mul", b("Sub", grads[1], mean), chances))


def _is_zero(grad: Output) -> bool:
    """Whether these are the zeros of an output that no result depends on."""
    return grad[0].op == "Fill"


@rule("SoftmaxCrossEntropyWithLogits")
def _cross_entropy(b: Builder, node: Node, grads: list[Any]) -> Grads:
    logits, labels = node.inputs
    by_labels = b("Neg", b("Mul", _columns(b, grads[0]), b("LogSoftmax", logits)))
    if not _is_zero(grads[1]):
        by_labels = b("Sub", by_labels, grads[1])
    found = [_of_logits(b, node, grads), by_labels]
    pairs = zip(found, (logits, labels), strict=True)  # either may have been one row for all
    return [summed_to(b, grad, x, (node, 1)) for grad, x in pairs]


@rule("SparseSoftmaxCrossEntropyWithLogits")
def _sparse_cross_entropy(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [_of_logits(b, node, grads), None]


@rule("L2Loss")
def _l2_loss(b: Builder, node: Node, grads: list[Any]) -> Grads:
    return [b("Mul", node.inputs[0], grads[0])]


@rule("CTCLoss")
def _ctc_loss(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """What the op gives beside the loss: time is its first dimension, the batch its second."""
    share = b("Reshape", grads[0], b.const([1, -1, 1], INT32))
    return [b("Mul", share, (node, 1)), None, None, None]
