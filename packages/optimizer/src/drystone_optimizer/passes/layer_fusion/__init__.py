"""Layer fusion: what frameworks write as many ops, but mean as one layer, becomes one node.

Of ops that are drystone's own, so it comes last, and only where a plugin has a kernel for them.
"""

from __future__ import annotations

from typing import Final

from drystone_base.ops.own import FUSED_CONVOLUTION
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.native_kernels import of_plugins
from drystone_optimizer.core.rules import apply_rules
from drystone_optimizer.passes._late_rules import LateRules

__all__ = ["CONVOLUTIONS", "RULES", "run"]

RULES: Final = LateRules(__name__, ("attention", "layer_norm", "layer_norm_of_rows", "gelu"))
CONVOLUTIONS: Final = LateRules(__name__, ("residual", "swish", "hard_swish", "slopes", "padding"))
"""Rules that make fused convolutions."""


def run(ctx: Context) -> None:
    """Apply all rules until none matches, also by what more is known once others did."""
    while apply_rules(ctx, RULES):
        ctx.refresh()
    if FUSED_CONVOLUTION in of_plugins():
        apply_rules(ctx, CONVOLUTIONS)
