"""What a loop does to each element of a list goes before it: products first, then biases."""

from __future__ import annotations

from typing import Final

from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import apply_rules
from drystone_optimizer.passes.loop_optimization import biases, products

__all__ = ["run"]

_RULES: Final = (products.RULE, biases.RULE)


def run(ctx: Context) -> None:
    """Move out until nothing is left that could be."""
    apply_rules(ctx, _RULES)
