"""Which built-in passes run, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final

from drystone_base.graph import reachable
from drystone_optimizer.core.config import OptimizerConfig
from drystone_optimizer.core.report import Report
from drystone_optimizer.passes._registry import PASSES, SHORT_ON_CPUS, BuiltIn
from drystone_optimizer.pipeline.item import Item

__all__ = ["Schedule"]

_PRUNING: Final = "disable_model_pruning"


class Schedule:
    """The passes of one call, in order: ``chosen`` are on. One that ``failed`` runs no more."""

    def __init__(self, config: OptimizerConfig, report: Report) -> None:
        self.passes = _in_order(report)
        self.chosen = _named(config) or [one for one in self.passes if _is_on(one, report)]
        self.failed: set[str] = set()
        self._listed = bool(config.optimizers)

    def all(self) -> Sequence[BuiltIn]:
        """Every pass in the order of those that run."""
        if not self._listed:
            return self.passes
        return [*self.chosen, *(one for one in self.passes if one not in self.chosen)]

    def is_due(self, one: BuiltIn, iteration: int) -> bool:
        """Whether a pass is on and due."""
        due = iteration == 1 or not one.once
        return due and one.name not in self.failed and one in self.chosen

    def prunes(self) -> bool:
        """Whether what nothing needs may go."""
        return any(one.toggle == _PRUNING for one in self.chosen)

    def reached(self, item: Item) -> AbstractSet[Any] | None:
        """The nodes to work on: those that the roots reach, unless nothing may be pruned."""
        if not self.prunes():
            return None
        return reachable([item.graph[name] for name in item.roots]).keys()


def _named(config: OptimizerConfig) -> list[BuiltIn]:
    """The passes that the config lists, in that order."""
    by_name = {one.name: one for one in PASSES}
    return [by_name[name] for name in config.optimizers if name in by_name]


def _in_order(report: Report) -> Sequence[BuiltIn]:
    """All passes; where layers are fused to ops of our own, 16 bits on CPUs come after that.

    So layers are recognized by their constants in 32 bits, and these are rounded once. What is
    quantized to 8 bits comes first.
    """
    if not report.passes["layer_fusion"]:
        return PASSES
    short = [one._replace(last=True, once=False) for one in PASSES if one.name in SHORT_ON_CPUS]
    found: list[BuiltIn] = []
    for one in PASSES:
        if one.name not in SHORT_ON_CPUS:
            found += [one, *short] if one.name == "quantized_layers" else [one]
    return found


def _is_on(one: BuiltIn, report: Report) -> bool:
    values = report.passes
    on = values[one.toggle] is not (one.toggle == _PRUNING)
    return on and (not one.needs or values[one.needs])
