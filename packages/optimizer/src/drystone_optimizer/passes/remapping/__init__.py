"""Remapping: neighbours that one kernel computes together become one node.

Only where each kernel that would run them apart has a counterpart for the fused node.
"""

from __future__ import annotations

from typing import Final

from drystone_optimizer.context import Context
from drystone_optimizer.passes.remapping import (
    activation,
    batch_norm,
    batch_norm_ex,
    bias,
    hash_of_numbers,
    leaky,
    padding,
    residual,
    squeeze,
    strides,
)
from drystone_optimizer.rules import apply_rules

__all__ = ["RULES", "run"]

RULES: Final = (
    bias.RULE,
    squeeze.RULE,
    batch_norm.RULE,
    residual.RULE,
    leaky.RULE,
    activation.RULE,
    batch_norm_ex.RULE,
    hash_of_numbers.RULE,
    padding.RULE,
    strides.RULE,
)


def run(ctx: Context) -> None:
    """Apply all rules until none matches."""
    apply_rules(ctx, RULES)
