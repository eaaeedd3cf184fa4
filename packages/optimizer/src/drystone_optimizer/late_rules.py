"""The rules of a pass, whose modules are imported when a graph first has an op that they are for.

Most graphs have few ops, and importing every rule takes longer than optimizing a small model. So
``passes/_index.py`` says which module has rules for which ops. ``ci/scripts/families_index.py``
writes it from what the modules hold, and a test compares the two.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Final

from drystone_optimizer.passes._index import INDEX
from drystone_optimizer.rules import Rule

__all__ = ["ANY", "LateRules", "index", "rules_of"]

ANY: Final = "*"
"""In the index: a module with a rule that is not for certain ops only."""
_PASSES: Final = "drystone_optimizer.passes."


class LateRules:
    """The rules of modules of ``package``, in this order: ``RULES`` of each, or ``RULE``.

    Other modules than these are not imported for them.
    """

    def __init__(self, package: str, names: tuple[str, ...]) -> None:
        self.modules = tuple(f"{package}.{name}" for name in names)

    def __iter__(self) -> Iterator[Rule]:
        for module in self.modules:
            yield from rules_of(module)

    def of(self, op: str) -> Iterator[Rule]:
        """The rules that may be for ``op``, in their order."""
        for module in self.modules:
            ops = index().get(module)
            if ops is None or op in ops or ANY in ops:
                yield from rules_of(module)


@cache
def rules_of(module: str) -> tuple[Rule, ...]:
    """The rules that a module holds."""
    found = import_module(module)
    rules: tuple[Rule, ...] = found.RULES if hasattr(found, "RULES") else (found.RULE,)
    return rules


@cache
def index() -> dict[str, frozenset[str]]:
    """The ops of each module that has rules, as the index says."""
    found: dict[str, list[str]] = {}
    ops: list[str] = []
    for line in INDEX.splitlines():
        words = line.split()
        if words and not line.startswith(" "):
            ops = found[_PASSES + words.pop(0)] = []
        ops += words
    return {module: frozenset(words) for module, words in found.items()}
