"""Convolutions that take in what follows them, and the nodes that they become."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

import numpy as np

from drystone_base.graph import Node, Output
from drystone_base.ops.own import FUSED_CONVOLUTION
from drystone_optimizer.core.context import Context

__all__ = ["CONVOLUTIONS", "become_own", "channels_are_last", "inner_layer", "scalar"]

CONVOLUTIONS: Final = {
    "Conv2D": "Conv2D",
    "_FusedConv2D": "Conv2D",
    "DepthwiseConv2dNative": "DepthwiseConv2dNative",
    "_FusedDepthwiseConv2dNative": "DepthwiseConv2dNative",
}
"""Ops, with the layer that is in them; our own op says which."""

_KEPT: Final = (
    "T", "strides", "padding", "explicit_paddings", "data_format", "dilations", "epsilon",
    "leakyrelu_alpha", "hardswish_factor",
)  # fmt: skip


def inner_layer(ctx: Context, output: Output, node: Node, users: Collection[Node]) -> Node | None:
    """The convolution that only ``users``, which end in ``node``, read; free of control edges."""
    layer, slot = output
    if slot or (layer.op not in CONVOLUTIONS and layer.op != FUSED_CONVOLUTION):
        return None
    if layer.controls or ctx.kept(layer) or layer in ctx.fed_nodes or not ctx.may_rewrite(layer):
        return None
    if node.device not in ("", layer.device) or ctx.graph.control_consumers(layer):
        return None
    if any(user not in users for user, _ in ctx.graph.consumers(layer)):
        return None
    dtype = ctx.dtype(output)
    return layer if dtype is not None and dtype.label == "float32" else None


def channels_are_last(layer: Node) -> bool:
    """Whether a vector of one number per channel broadcasts against what the layer gives."""
    return not str(layer.attr("data_format", "NHWC")).startswith("NC")


def scalar(ctx: Context, output: Output) -> float | None:
    """The value of a constant with one element."""
    value = ctx.constant(output)
    return (
        float(np.asarray(value).reshape(-1)[0]) if value is not None and value.size == 1 else None
    )


def become_own(
    ctx: Context,
    node: Node,
    layer: Node,
    x: Output,
    args: Sequence[Output],
    ops: Sequence[str],
    **more: Any,
) -> None:
    """Make ``node`` the layer of ``x``, and after all that it does ``ops`` with ``args``."""
    attrs = {name: layer.attrs[name] for name in _KEPT if name in layer.attrs}
    attrs["layer"] = CONVOLUTIONS.get(layer.op) or layer.attrs["layer"]
    attrs["fused_ops"] = [*layer.attr("fused_ops", ()), *ops]
    inputs = [x, *layer.inputs[1:], *args]
    attrs["num_args"] = len(inputs) - 2
    ctx.become(node, FUSED_CONVOLUTION, inputs, attrs | more)
    if layer.device and not node.device:
        ctx.graph.set_device(node, layer.device)
    if node is not layer:
        for source in _unread(ctx, layer):
            ctx.drop(source)


def _unread(ctx: Context, layer: Node) -> list[Node]:
    """What still hangs on the layer: the inner nodes of an activation, and at last the layer."""
    users = list(dict.fromkeys(user for user, _ in ctx.graph.consumers(layer)))
    found: list[Node] = []
    for user in users:
        found += _unread(ctx, user)
    return [*found, layer] if layer not in found else found
