"""How inputs and attributes are drawn, by family; and by name where many ops call them alike."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache

from parity.draft import Drawer, Rule
from parity.drawers import axes_of, axis_of, scalar

__all__ = ["named_drawers", "rule_of"]


@cache
def _rules() -> dict[str, Rule]:
    found: dict[str, Rule] = {}
    for module in pkgutil.iter_modules(__path__):
        for names, rule in importlib.import_module(f"parity.rules.{module.name}").RULES.items():
            for name in names.split():
                if name in found:
                    raise ValueError(f"two rules for {name}")
                found[name] = rule
    return found


def rule_of(op: str) -> Rule:
    """The rule of an op, or the empty rule."""
    return _rules().get(op, Rule())


@cache
def named_drawers() -> Mapping[str, Drawer]:
    """Drawers for inputs that mean the same in every op."""
    return {
        "reduction_indices": lambda d: axes_of("input" if "input" in d else "inputs")(d),
        "dimension": axis_of("input"),
        "num_segments": scalar(0, 8),
    }
