"""The simplifications, in the order in which they are tried."""

from __future__ import annotations

from typing import Final

from drystone_optimizer.rules import Rule

__all__ = ["RULES"]

RULES: Final[tuple[Rule, ...]] = ()
