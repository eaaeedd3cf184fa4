"""The simplifications, in the order in which they are tried."""

from __future__ import annotations

from typing import Final

from drystone_optimizer.passes.constant_folding import (
    concatenation,
    constant_branch,
    constant_choice,
    constant_terms,
    constants_together,
    division_by_constant,
    factor_into_weights,
    gradient_of_same_shapes,
    neutral_elements,
    pack_of_one,
    reduction_of_one,
    reshape_to_the_rest,
    same_reshape,
    still_moves,
    zeros_like,
)
from drystone_optimizer.rules import Rule

__all__ = ["RULES"]

RULES: Final[tuple[Rule, ...]] = (
    still_moves.RULE,
    pack_of_one.RULE,
    *reduction_of_one.RULES,
    same_reshape.RULE,
    reshape_to_the_rest.RULE,
    neutral_elements.RULE,
    division_by_constant.RULE,
    constants_together.RULE,
    factor_into_weights.RULE,
    constant_terms.RULE,
    *concatenation.RULES,
    constant_branch.RULE,
    constant_choice.RULE,
    zeros_like.RULE,
    gradient_of_same_shapes.RULE,
)
