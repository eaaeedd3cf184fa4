"""Arithmetic optimization: the same values by fewer or cheaper nodes. One stage per file."""

from __future__ import annotations

from typing import Final

from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import apply_rules
from drystone_optimizer.passes._late_rules import LateRules

__all__ = ["RULES", "run"]

RULES: Final = LateRules(__name__, (
    "sums", "transposes", "fold_input_scale", "transpose_into_product", "common_factors",
    "reassociate_small_first", "involutions", "involutions_across_moves", "casts", "tiles",
    "reshapes", "broadcasts",
    "negations", "squares", "comparisons", "narrow_first", "unary_hoisting", "rectified_parts",
    "roots", "powers", "logs", "extremes", "packs", "embeddings", "indices",
))  # fmt: skip


def run(ctx: Context) -> None:
    """Apply all stages until none matches."""
    apply_rules(ctx, RULES)
