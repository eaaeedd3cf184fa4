"""Fuel: how many rewrites may be done, and which were done.

A run of the optimizer that stops after a given number of rewrites leaves a graph that hangs
together, so the first rewrite after which a result is wrong can be searched for.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Fuel", "FuelSpent", "Rewrite"]


class FuelSpent(Exception):
    """The rewrites that are allowed have been done; the graph stays as it is now."""


class Rewrite(NamedTuple):
    """One rewrite: of which pass, by which rule, where ("" for the main graph)."""

    kind: str
    """``"pass"`` (built-in), ``"plugin"`` or ``"registered"`` (of ``drystone passes``)."""
    name: str
    rule: str
    where: str
    iteration: int


class Fuel:
    """``limit``: rewrites that may be done (None: all). ``trail``: those that were."""

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit
        self.trail: list[Rewrite] = []
        self.at = Rewrite("pass", "", "", "", 0)

    def enter(self, kind: str, name: str, where: str, iteration: int = 1) -> None:
        """A pass begins."""
        self.at = Rewrite(kind, name, "", where, iteration)

    @property
    def is_spent(self) -> bool:
        """Whether nothing more may be rewritten."""
        return self.limit is not None and len(self.trail) >= self.limit

    def note(self, rule: str) -> None:
        """A rewrite was done."""
        at = self.at
        self.trail.append(Rewrite(at.kind, at.name, rule, at.where, at.iteration))

    def spend(self, rule: str) -> None:
        """A rewrite was done; raises ``FuelSpent`` when it was the last one."""
        self.note(rule)
        if self.is_spent:
            raise FuelSpent
