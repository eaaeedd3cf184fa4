"""Remapping: neighbours that one kernel computes together become one node.

Only where each kernel that would run them apart has a counterpart for the fused node.
"""

from __future__ import annotations

from typing import Final

from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import apply_rules
from drystone_optimizer.passes._late_rules import LateRules

__all__ = ["RULES", "run"]

RULES: Final = LateRules(__name__, (
    "bias", "squeeze", "bias_before_reshape", "batch_norm", "residual", "leaky", "activation",
    "batch_norm_ex", "hash_of_numbers", "padding", "strides",
))  # fmt: skip


def run(ctx: Context) -> None:
    """Apply all rules until none matches."""
    apply_rules(ctx, RULES)
