"""Arithmetic optimization: the same values by fewer or cheaper nodes. One stage per file."""

from __future__ import annotations

from typing import Final

from drystone_optimizer.context import Context
from drystone_optimizer.passes.arithmetic_optimization import (
    casts,
    comparisons,
    factor_before_layer,
    inverses,
    logs,
    negations,
    packs,
    powers,
    rectified_parts,
    reshapes,
    roots,
    squares,
    sums,
    transpose_into_product,
    transposes,
)
from drystone_optimizer.rules import Rule, apply_rules

__all__ = ["RULES", "run"]

RULES: Final[tuple[Rule, ...]] = (
    *sums.RULES,
    *transposes.RULES,
    factor_before_layer.RULE,
    transpose_into_product.RULE,
    *inverses.RULES,
    *casts.RULES,
    reshapes.RULE,
    *negations.RULES,
    *squares.RULES,
    comparisons.RULE,
    rectified_parts.RULE,
    roots.RULE,
    powers.RULE,
    *logs.RULES,
    packs.RULE,
)


def run(ctx: Context) -> None:
    """Apply all stages until none matches."""
    apply_rules(ctx, RULES)
