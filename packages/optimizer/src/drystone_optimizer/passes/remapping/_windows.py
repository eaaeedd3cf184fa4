"""Convolutions over images: their windows, and the paddings that their attributes stand for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from drystone_base.graph import Node, Output
from drystone_optimizer.core.context import Context
from drystone_optimizer.passes.remapping._layers import layout_of

__all__ = ["CONVOLUTIONS", "become_windows", "image_axes", "integers", "paddings_of"]

CONVOLUTIONS: Final = ("Conv2D", "_FusedConv2D")


def image_axes(layer: Node) -> tuple[int, int]:
    """The axes of height and width."""
    return (2, 3) if layout_of(layer).startswith("NC") else (1, 2)


def integers(layer: Node, name: str) -> list[int]:
    """An attribute with one entry per dimension; ones where it is left out."""
    return [int(value) for value in layer.attr(name, None) or (1, 1, 1, 1)]


def paddings_of(ctx: Context, layer: Node) -> list[tuple[int, int]] | None:
    """What is padded before and after each axis; None where that depends on the input's size."""
    kind = layer.attr("padding")
    if kind == "VALID":
        return [(0, 0)] * 4
    if kind == "EXPLICIT":
        flat = [int(value) for value in layer.attr("explicit_paddings", None) or ()]
        return list(zip(flat[::2], flat[1::2], strict=True)) if len(flat) == 8 else None
    window, strides = ctx.shape(layer.inputs[1]), integers(layer, "strides")
    if kind != "SAME" or window is None or len(window) != 4 or min(window[:2]) < 1:
        return None
    found = [(0, 0)] * 4
    for size, axis in zip(window, image_axes(layer), strict=False):
        if strides[axis] != 1:
            return None
        total = (size - 1) * integers(layer, "dilations")[axis]
        found[axis] = (total // 2, total - total // 2)
    return found


def become_windows(
    ctx: Context,
    layer: Node,
    inputs: Sequence[Output],
    paddings: Sequence[tuple[int, int]],
    strides: Sequence[int],
) -> None:
    """Give the convolution other inputs, paddings and strides."""
    attrs = {n: v for n, v in layer.attrs.items() if not n.startswith("_")}
    attrs.pop("explicit_paddings", None)
    attrs |= {"strides": list(strides), "padding": "VALID"}
    if any(pair != (0, 0) for pair in paddings):
        attrs["padding"] = "EXPLICIT"
        attrs["explicit_paddings"] = [value for pair in paddings for value in pair]
    ctx.become(layer, layer.op, inputs, attrs)
