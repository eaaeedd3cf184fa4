"""The rules of a pass, whose modules are imported when a graph first has an op that they are for.

Most graphs have few ops, and importing every rule takes longer than optimizing a small model. So
``passes/_index.py`` says which module has rules for which ops, and, after ``<``, what their nodes
must read for that. ``ci/scripts/families_index.py`` writes it from what the modules hold, and a
test compares the two.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, cached_property
from importlib import import_module
from typing import Final, NamedTuple

from drystone_optimizer.core.rules import Rule
from drystone_optimizer.passes._index import INDEX

__all__ = ["ANY", "LateRules", "Line", "index", "rules_of"]

ANY: Final = "*"
"""In the index: a module with a rule that is not for certain ops only."""
_PASSES: Final = "drystone_optimizer.passes."


class LateRules:
    """The rules of modules of ``package``, in this order: ``RULES`` of each, or ``RULE``.

    Other modules than these are not imported for them.
    """

    def __init__(self, package: str, names: tuple[str, ...]) -> None:
        self.modules = tuple(f"{package}.{name}" for name in names)
        self._lines_of: dict[str, list[Line]] = {}

    def __iter__(self) -> Iterator[Rule]:
        for module in self.modules:
            yield from rules_of(module)

    @cached_property
    def lines(self) -> list[Line]:
        """What the index says of these modules; one that it lacks may be for anything."""
        found: list[Line] = []
        for module in self.modules:
            anything = Line(module, frozenset((ANY,)), frozenset())
            found += index().get(module, [anything])
        return found

    @cached_property
    def ops(self) -> frozenset[str]:
        """The ops that the index names for these modules."""
        return frozenset().union(*[line.ops for line in self.lines]) - {ANY}

    def of_any(self) -> Iterator[Rule]:
        """The rules of modules of which some are not for certain ops only."""
        for module in dict.fromkeys([line.module for line in self.lines if ANY in line.ops]):
            yield from rules_of(module)

    def of(self, op: str, reads: frozenset[str]) -> Iterator[Rule]:
        """The rules that may be for nodes of ``op`` that read such ops, in their order."""
        lines = self._lines_of.get(op)
        if lines is None:
            lines = [line for line in self.lines if op in line.ops or ANY in line.ops]
            self._lines_of[op] = lines
        found = [one.module for one in lines if not one.reads or not one.reads.isdisjoint(reads)]
        for module in dict.fromkeys(found):
            yield from rules_of(module)


class Line(NamedTuple):
    """Ops that a module has rules for, and what their nodes must read one of, if anything."""

    module: str
    ops: frozenset[str]
    reads: frozenset[str]


@cache
def rules_of(module: str) -> tuple[Rule, ...]:
    """The rules that a module holds."""
    found = import_module(module)
    rules: tuple[Rule, ...] = found.RULES if hasattr(found, "RULES") else (found.RULE,)
    return rules


@cache
def index() -> dict[str, list[Line]]:
    """The ops of each module that has rules, as the index says."""
    found: dict[str, list[Line]] = {}
    for text in INDEX.replace("\n  ", " ").split("\n"):
        if text:
            named, _, read = text.partition(" < ")
            name, *ops = named.split()
            module = _PASSES + name
            line = Line(module, frozenset(ops), frozenset(read.split()))
            found.setdefault(module, []).append(line)
    return found
