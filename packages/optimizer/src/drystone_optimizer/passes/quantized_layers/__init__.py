"""Quantized layers: layers of floats that stand on grids of eight bits become layers of integers.

Where a product or convolution reads a quantized tensor and quantized constant weights, it is
computed with the integers, whose sums are exact, and what it gives stays integers up to the next
layer. Off by default: values are the same in real arithmetic, but where one lies between two steps
of a grid it may fall to the other, and NaN becomes the lowest step. Turning it on asks for that; a
session whose numeric class is ``exact`` is left alone. Only where a plugin has the kernels.
"""

from __future__ import annotations

from typing import Final

from drystone_base.ops.own import FROM_GRID, QUANTIZED_LAYER, TO_GRID
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.native_kernels import of_plugins
from drystone_optimizer.core.rules import Numeric, apply_rules
from drystone_optimizer.passes.quantized_layers import chains, layers, moves

__all__ = ["RULES", "run"]

RULES: Final = (layers.RULE, chains.READERS, chains.TAKEN_OVER, moves.RULE)


def run(ctx: Context) -> None:
    """Apply all rules, sources first, until none matches."""
    if ctx.ceiling < Numeric.REASSOCIATES:
        ctx.decline("integers are rounded otherwise, and the session is to be exact")
        return
    if not {QUANTIZED_LAYER, TO_GRID, FROM_GRID} <= set(of_plugins()):
        ctx.decline("no plugin has kernels for layers of integers")
        return
    ceiling, ctx.ceiling = ctx.ceiling, Numeric.APPROXIMATE
    try:
        while apply_rules(ctx, RULES, sources_first=True):
            ctx.refresh()
    finally:
        ctx.ceiling = ceiling
