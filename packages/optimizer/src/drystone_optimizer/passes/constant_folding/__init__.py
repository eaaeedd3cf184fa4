"""Constant folding: what can be computed now is, and nodes that constants make simple become so."""

from __future__ import annotations

from typing import Final

from drystone_optimizer.context import Context
from drystone_optimizer.passes.constant_folding import fold, known_values
from drystone_optimizer.passes.constant_folding._rules import RULES
from drystone_optimizer.rules import apply_rules

__all__ = ["run"]

_ALL: Final = (fold.RULE, known_values.RULE, *RULES)


def run(ctx: Context) -> None:
    """Apply all rules, sources first, until none matches."""
    apply_rules(ctx, _ALL, sources_first=True)
