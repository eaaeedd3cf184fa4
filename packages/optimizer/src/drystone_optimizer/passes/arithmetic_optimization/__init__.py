"""Arithmetic optimization: the same values by fewer or cheaper nodes. One stage per file."""

from __future__ import annotations

from typing import Final

from drystone_optimizer.context import Context
from drystone_optimizer.passes.arithmetic_optimization import (
    broadcasts,
    casts,
    common_factors,
    comparisons,
    embeddings,
    extremes,
    factor_before_layer,
    indices,
    inverses,
    inverses_apart,
    logs,
    narrow_first,
    negations,
    packs,
    powers,
    rectified_parts,
    reshapes,
    roots,
    small_first,
    squares,
    sums,
    tiles,
    transpose_into_product,
    transposes,
    unary_hoisting,
)
from drystone_optimizer.rules import Rule, apply_rules

__all__ = ["RULES", "run"]

RULES: Final[tuple[Rule, ...]] = (
    *sums.RULES,
    *transposes.RULES,
    factor_before_layer.RULE,
    transpose_into_product.RULE,
    common_factors.RULE,
    small_first.RULE,
    *inverses.RULES,
    inverses_apart.RULE,
    *casts.RULES,
    *tiles.RULES,
    reshapes.RULE,
    broadcasts.RULE,
    *negations.RULES,
    *squares.RULES,
    comparisons.RULE,
    *narrow_first.RULES,
    *unary_hoisting.RULES,
    rectified_parts.RULE,
    roots.RULE,
    powers.RULE,
    *logs.RULES,
    *extremes.RULES,
    packs.RULE,
    embeddings.RULE,
    indices.RULE,
)


def run(ctx: Context) -> None:
    """Apply all stages until none matches."""
    apply_rules(ctx, RULES)
