"""Layer fusion: what frameworks write as many ops, but mean as one layer, becomes one node.

Of ops that are drystone's own, so it comes last, and only where a plugin has a kernel for them.
"""

from __future__ import annotations

from typing import Final

from drystone_optimizer.context import Context
from drystone_optimizer.passes.layer_fusion import gelu, layer_norm
from drystone_optimizer.rules import apply_rules

__all__ = ["RULES", "run"]

RULES: Final = (layer_norm.RULE, gelu.RULE)


def run(ctx: Context) -> None:
    """Apply all rules until none matches."""
    apply_rules(ctx, RULES)
