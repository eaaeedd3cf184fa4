"""Normalization. Source: TensorFlow ``nn_grad.py``."""

from __future__ import annotations

from typing import Any

from drystone_base.autodiff._registry import Grads, rule
from drystone_base.core.dtypes import FLOAT32, INT32
from drystone_base.graph.builder import Builder
from drystone_base.graph.node import Node, Output

__all__: list[str] = []


@rule("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def _batch_norm(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """By input, scale and offset; the statistics that the op gives pass no gradient on."""
    x, scale, _, mean, variance = node.inputs
    attrs = {k: node.full_attrs()[k] for k in ("epsilon", "data_format", "is_training")}
    third = [(node, 5)] if node.op == "FusedBatchNormV3" else []
    trained = attrs["is_training"]
    kept = [(node, 3), (node, 4)] if trained else [mean, variance]
    op = node.op.replace("FusedBatchNorm", "FusedBatchNormGrad")
    found = b.node(op, grads[0], x, scale, *kept, *third, **attrs)
    by_statistics: list[Output | None] = [None, None]
    if not trained:
        by_statistics = list(_of_statistics(b, node, found))
    return [(found, 0), (found, 1), (found, 2), *by_statistics]


def _of_statistics(b: Builder, node: Node, found: Node) -> tuple[Output, Output]:
    """Gradients by the given mean and variance: y = (x - mean) / sqrt(variance + ε) scale + off."""
    scale, variance = node.inputs[1], node.inputs[4]
    dtype = b.dtype(variance)
    inverse = b("Rsqrt", b("AddV2", variance, b.const(node.attr("epsilon"), dtype)))
    by_mean = b("Neg", b("Mul", (found, 2), b("Mul", scale, inverse)))
    share = b("Mul", b("Mul", scale, (found, 1)), b("Square", inverse))
    return by_mean, b("Mul", b.const(-0.5, dtype), share)


@rule("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3")
def _batch_norm_grad(b: Builder, node: Node, grads: list[Any]) -> Grads:
    """Of the gradients in training, by their formula in plain ops; statistics are part of it."""
    from drystone_base.autodiff.backward import gradients_of

    dy, x, scale = node.inputs[:3]
    given = node.inputs[3:5]
    written = _written_out(b, node, dy, x, scale, given)
    found = gradients_of(written, [dy, x, scale], list(grads[:3]), stop=[dy, x, scale, *given])
    return [*found, *[None] * (len(node.inputs) - 3)]


def _written_out(
    b: Builder, node: Node, dy: Output, x: Output, scale: Output, given: tuple[Output, ...]
) -> list[Output]:
    """Gradients by input, scale and offset of a batch norm, in float32 and in plain ops."""
    trained, first = node.attr("is_training"), node.attr("data_format").startswith("NC")
    rank = len(node.attr("data_format"))
    axes = [k for k in range(rank) if k != (1 if first else rank - 1)]
    wide = b.const([-1 if k not in axes else 1 for k in range(rank)], INT32)
    over = b.const(axes, INT32)
    grad, value = (b("Cast", v, DstT=FLOAT32) for v in (dy, x))

    def mean(v: Output) -> Output:
        return b("Mean", v, over, keep_dims=True)

    if trained:
        center = mean(value)
        spread = mean(b("Square", b("Sub", value, center)))
    else:
        center, spread = (b("Reshape", b("Cast", v, DstT=FLOAT32), wide) for v in given)
    inverse = b("Rsqrt", b("AddV2", spread, b.const(node.attr("epsilon"), FLOAT32)))
    normal = b("Mul", b("Sub", value, center), inverse)
    rate = b("Mul", b("Reshape", b("Cast", scale, DstT=FLOAT32), wide), inverse)
    by_x = grad
    if trained:
        along = b("Mul", normal, mean(b("Mul", grad, normal)))
        by_x = b("Sub", b("Sub", grad, mean(grad)), along)
    by_scale = b("Sum", b("Mul", grad, normal), over, keep_dims=False)
    by_offset = b("Sum", grad, over, keep_dims=False)
    back = [(b("Mul", rate, by_x), dy), (by_scale, scale), (by_offset, scale)]
    return [b("Cast", v, DstT=b.dtype(like)) for v, like in back]


@rule("LRN")
def _lrn(b: Builder, node: Node, grads: list[Any]) -> Grads:
    attrs = {k: node.full_attrs()[k] for k in ("depth_radius", "bias", "alpha", "beta")}
    return [b("LRNGrad", grads[0], node.inputs[0], (node, 0), **attrs)]


@rule("BatchNormWithGlobalNormalization")
def _global_normalization(b: Builder, node: Node, grads: list[Any]) -> Grads:
    x, mean, variance, _, scale = node.inputs
    attrs = {k: node.attr(k) for k in ("variance_epsilon", "scale_after_normalization")}
    given = b.node(f"{node.op}Grad", x, mean, variance, scale, grads[0], **attrs)
    return [(given, k) for k in range(5)]
