"""Zeros around an image become the padding of the convolution that reads it."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from drystone_base.graph import Node
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Numeric, Rule
from drystone_optimizer.passes.remapping._windows import (
    CONVOLUTIONS,
    become_windows,
    image_axes,
    integers,
    paddings_of,
)

__all__ = ["RULE", "Zeros", "zeros_around"]


class Zeros(NamedTuple):
    """The node that pads, and what the convolution pads with it."""

    pad: Node
    paddings: list[tuple[int, int]]


def zeros_around(ctx: Context, node: Node) -> Zeros | None:
    """Zeros that the convolution can add by itself."""
    pad, slot = node.inputs[0]
    if pad.op != "Pad" or slot or pad in ctx.fed_nodes or pad.controls or ctx.noticed(pad):
        return None
    if node.attr("padding") == "SAME" or not ctx.may_rewrite(pad):
        return None
    known, more = paddings_of(ctx, node), ctx.ints(pad.inputs[1])
    if known is None or more is None or len(more) != 8 or min(more) < 0:
        return None
    added = list(zip(more[::2], more[1::2], strict=True))
    if any(pair != (0, 0) for k, pair in enumerate(added) if k not in image_axes(node)):
        return None
    if not _are_finite(ctx, node):
        return None
    return Zeros(pad, [(a + c, b + d) for (a, b), (c, d) in zip(known, added, strict=True)])


def _are_finite(ctx: Context, node: Node) -> bool:
    """Whether zeros times weights are zeros: a kernel leaves padding out."""
    weights = ctx.constant(node.inputs[1])
    return weights is not None and bool(np.isfinite(weights.astype(np.float32, copy=False)).all())


def _apply(ctx: Context, node: Node, found: Zeros) -> None:
    inputs = [found.pad.inputs[0], *node.inputs[1:]]
    become_windows(ctx, node, inputs, found.paddings, integers(node, "strides"))
    ctx.drop_unused(found.pad)


RULE: Final = Rule(
    "padding", CONVOLUTIONS, zeros_around, _apply, Numeric.REASSOCIATES, reads=("Pad",)
)
