"""What ran on a graph, how long it took, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from drystone_optimizer.merge import Merged

__all__ = ["Report", "Run"]

Outcome = Literal["changed", "unchanged", "failed", "skipped"]


@dataclass(frozen=True)
class Run:
    """One optimizer on one graph; ``where`` is "" for the main graph, else a function's name.

    ``reason`` says why it failed or was skipped.
    """

    plugin: str
    version: str
    path: str
    device: str
    where: str
    outcome: Outcome
    seconds: float
    nodes_before: int
    nodes_after: int
    reason: str = ""

    def as_json(self) -> dict[str, Any]:
        """The run as JSON-ready values."""
        return dict(self.__dict__)


@dataclass
class Report:
    """All runs on one graph, in order, and the toggles as they were decided."""

    runs: list[Run] = field(default_factory=list)
    merged: Merged = field(default_factory=lambda: Merged({}, ()))
    seconds: float = 0.0

    @property
    def passes(self) -> Mapping[str, bool]:
        """Every toggle, user and plugins joined."""
        return self.merged.values

    def as_json(self) -> dict[str, Any]:
        """The report as JSON-ready values."""
        return {
            "seconds": self.seconds,
            "runs": [run.as_json() for run in self.runs],
            "passes": dict(self.passes),
            "changes": [change.text() for change in self.merged.changes],
        }
