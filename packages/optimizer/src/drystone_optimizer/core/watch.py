"""What looks over the shoulder of the meta-optimizer: a limit of rewrites, a check of results."""

from __future__ import annotations

from typing import Final, NamedTuple, Protocol

from drystone_base.graph import Graph
from drystone_optimizer.core.fuel import Fuel
from drystone_optimizer.core.rules import Numeric

__all__ = ["CHANGED_RESULT", "Checks", "Watch"]

CHANGED_RESULT: Final = "pass-changed-result"
"""The code of the error that a check of results raises."""


class Checks(Protocol):
    """Holds a graph against the one before; see ``checking.validation.Validator``."""

    def begin(self, graph: Graph) -> None:
        """Hold what follows against this graph."""

    def check(self, name: str, numeric: Numeric, graph: Graph) -> None:
        """Raise unless the graph gives what the one before gave."""


class Watch(NamedTuple):
    """``fuel`` limits and lists rewrites, ``checks`` are made after each pass."""

    fuel: Fuel | None = None
    checks: Checks | None = None

    @property
    def is_over(self) -> bool:
        """Whether no rewrite may follow."""
        return self.fuel is not None and self.fuel.is_spent
