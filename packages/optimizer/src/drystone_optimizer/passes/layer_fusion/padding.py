"""Zeros around an image become the padding of the convolution that reads it.

For depthwise convolutions with what follows them, of which TensorFlow's op knows no paddings.
"""

from __future__ import annotations

from typing import Final

from drystone_base.graph import Node
from drystone_base.ops.own import FUSED_CONVOLUTION
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Numeric, Rule
from drystone_optimizer.passes.layer_fusion._layers import become_own
from drystone_optimizer.passes.remapping.padding import Zeros, zeros_around

__all__ = ["RULE"]


def _match(ctx: Context, node: Node) -> Zeros | None:
    dtype = ctx.dtype((node, 0))
    if dtype is None or dtype.label != "float32":
        return None
    return zeros_around(ctx, node)


def _apply(ctx: Context, node: Node, found: Zeros) -> None:
    flat = [value for pair in found.paddings for value in pair]
    become_own(
        ctx, node, node, found.pad.inputs[0], [], [], padding="EXPLICIT", explicit_paddings=flat
    )
    ctx.drop_unused(found.pad)


_OPS: Final = ("DepthwiseConv2dNative", "_FusedDepthwiseConv2dNative", FUSED_CONVOLUTION)
RULE: Final = Rule("padding", _OPS, _match, _apply, Numeric.REASSOCIATES, reads=("Pad",))
