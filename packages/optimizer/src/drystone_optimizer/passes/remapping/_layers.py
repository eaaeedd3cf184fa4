"""Layers that can be fused with what follows, and the nodes that they become."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from drystone_base.core.dtypes import DType
from drystone_base.graph import Node, Output
from drystone_base.ops.defs import find
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.native_kernels import keeps_native

__all__ = ["FUSED", "LAYERS", "fusable", "fuse", "grow", "inner_layer", "layout_of"]

LAYERS: Final[Mapping[str, str]] = {
    "Conv2D": "_FusedConv2D",
    "Conv3D": "_FusedConv3D",
    "DepthwiseConv2dNative": "_FusedDepthwiseConv2dNative",
    "MatMul": "_FusedMatMul",
}
"""Ops of layers, and the ops that compute them with what follows."""

FUSED: Final = frozenset(LAYERS.values())
_KEPT: Final = (
    "T", "strides", "padding", "explicit_paddings", "data_format", "dilations", "transpose_a",
    "transpose_b",
)  # fmt: skip


def layout_of(layer: Node) -> str:
    """The data format of a layer; NHWC where it has none."""
    return str(layer.attr("data_format", "NHWC"))


def inner_layer(ctx: Context, output: Output, user: Node, ops: Any) -> Node | None:
    """The layer of these ops that only ``user`` reads, free of control edges.

    On the device of ``user``, unless that leaves open where it runs.
    """
    layer, slot = output
    if slot or layer.op not in ops or layer in ctx.fed_nodes or layer.controls:
        return None
    if user.device not in ("", layer.device):
        return None
    if not ctx.only_user(layer) or not ctx.may_rewrite(layer):
        return None
    return layer


def fusable(layer: Node) -> bool:
    """Whether the fused op is defined for this layer, and kernels for it are there."""
    fused = LAYERS[layer.op]
    definition = find(fused)
    dtype = layer.attrs.get("T")
    if definition is None or not isinstance(dtype, DType):
        return False
    allowed = definition.attrs["T"].allowed
    if allowed and dtype not in allowed:
        return False
    if "explicit_paddings" not in definition.attrs and layer.attr("padding") == "EXPLICIT":
        return False
    return keeps_native(layer.op, fused)


def fuse(
    ctx: Context, node: Node, layer: Node, args: Sequence[Output], op: str, **more: Any
) -> None:
    """Make ``node`` the layer and, after it, ``op`` with ``args``."""
    definition = find(LAYERS[layer.op])
    assert definition is not None
    attrs = {n: layer.attrs[n] for n in _KEPT if n in layer.attrs and n in definition.attrs}
    attrs |= {"fused_ops": [op], "num_args": len(args), **more}
    if "TArgs" in definition.attrs:
        attrs["TArgs"] = [layer.attrs["T"]] * len(args)
    _become(ctx, node, LAYERS[layer.op], layer, args, attrs)


def grow(
    ctx: Context, node: Node, layer: Node, args: Sequence[Output], op: str, **more: Any
) -> None:
    """Make ``node`` the fused ``layer`` and, after all that, ``op`` with ``args``."""
    attrs = {n: v for n, v in layer.attrs.items() if not n.startswith("_")}
    attrs["fused_ops"] = [*layer.attrs["fused_ops"], op]
    attrs["num_args"] = int(layer.attrs["num_args"]) + len(args)
    if "TArgs" in attrs:
        attrs["TArgs"] = [*attrs["TArgs"], *[layer.attrs["T"]] * len(args)]
    _become(ctx, node, layer.op, layer, args, attrs | more)


def _become(
    ctx: Context, node: Node, op: str, layer: Node, args: Sequence[Output], attrs: dict[str, Any]
) -> None:
    ctx.become(node, op, [*layer.inputs, *args], attrs)
    if layer.device and not node.device:
        ctx.graph.set_device(node, layer.device)
    ctx.drop(layer)
