"""The simplifications, in the order in which they are tried."""

from __future__ import annotations

from typing import Final

from drystone_optimizer.passes.constant_folding import (
    absorbing_zeros,
    all_axes,
    biases_together,
    concatenation,
    constant_branch,
    constant_choice,
    constant_into_loop,
    constant_terms,
    constants_together,
    division_by_constant,
    factor_into_weights,
    gradient_of_same_shapes,
    identities_of_constants,
    merge_of_constant,
    neutral_and_larger,
    neutral_elements,
    pack_of_one,
    range_of_product,
    reduction_of_one,
    reshape_to_the_rest,
    same_reshape,
    size_of_array,
    still_moves,
    switch_by_itself,
    updates_of_nothing,
    zeros_like,
)
from drystone_optimizer.rules import Rule

__all__ = ["RULES"]

RULES: Final[tuple[Rule, ...]] = (
    still_moves.RULE,
    pack_of_one.RULE,
    constant_into_loop.RULE,
    switch_by_itself.RULE,
    merge_of_constant.RULE,
    all_axes.RULE,
    *reduction_of_one.RULES,
    same_reshape.RULE,
    reshape_to_the_rest.RULE,
    neutral_elements.RULE,
    neutral_and_larger.RULE,
    absorbing_zeros.RULE,
    division_by_constant.RULE,
    constants_together.RULE,
    factor_into_weights.RULE,
    identities_of_constants.RULE,
    constant_terms.RULE,
    *concatenation.RULES,
    biases_together.RULE,
    constant_branch.RULE,
    constant_choice.RULE,
    zeros_like.RULE,
    gradient_of_same_shapes.RULE,
    updates_of_nothing.RULE,
    size_of_array.RULE,
    range_of_product.RULE,
)
