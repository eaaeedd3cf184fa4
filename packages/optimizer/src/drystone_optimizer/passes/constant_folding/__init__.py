"""Constant folding: what can be computed now is, and nodes that constants make simple become so."""

from __future__ import annotations

from typing import Final

from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import apply_rules, are_new
from drystone_optimizer.passes._late_rules import LateRules

__all__ = ["RULES", "run"]

RULES: Final = LateRules(__name__, (
    "fold", "materialize_shapes", "identity_moves", "pack_of_one", "constant_into_loop",
    "switch_by_itself", "merge_of_constant", "all_axes", "reduction_of_one", "identity_reshape",
    "reshape_inferred_size",
    "identity_elements", "identity_with_broadcast", "absorbing_zeros", "division_by_constant",
    "reassociate_constants", "fold_output_scale", "identities_of_constants", "constant_terms",
    "concatenation", "merge_biases", "constant_branch", "constant_choice", "zeros_like",
    "gradient_of_same_shapes", "identity_updates", "size_of_array", "range_of_product",
))  # fmt: skip
"""What can be computed, then the simplifications, in the order in which they are tried."""


def run(ctx: Context) -> None:
    """Apply all rules, sources first, until none matches."""
    if ctx.fuel is None and are_new(ctx, RULES):
        from drystone_optimizer.passes.constant_folding.fold import fold_all

        fold_all(ctx)
    apply_rules(ctx, RULES, sources_first=True)
