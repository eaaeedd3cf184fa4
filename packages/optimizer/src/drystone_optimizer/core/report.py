"""What ran on a graph, how long it took, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

from drystone_optimizer.core.merge import Merged

__all__ = ["TOO_LATE", "Outcome", "Report", "Run", "Step"]

TOO_LATE: Final = "meta_optimizer exceeded deadline."
"""Why a pass or a plugin was skipped, or undone, when the time was over; TensorFlow's words."""

Outcome = Literal["changed", "unchanged", "failed", "skipped", "rejected"]
"""``rejected``: what it gave had another result; see ``checking.validation``."""


class Run(NamedTuple):
    """One optimizer on one graph; ``where`` is "" for the main graph, else a function's name.

    ``reason`` says why it failed or was skipped, or why its graph is used without a trial.
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
        return self._asdict()


class Step(NamedTuple):
    """One built-in pass on one graph; ``where`` as above.

    ``rewrites`` counts what was done, by name; ``numeric`` is the highest class among that.
    ``reason`` says why the pass failed, was skipped, or left alone what it might have changed.
    """

    name: str
    where: str
    iteration: int
    outcome: Outcome
    seconds: float
    nodes_before: int
    nodes_after: int
    numeric: str = "exact"
    rewrites: Mapping[str, int] = MappingProxyType({})
    reason: str = ""

    def as_json(self) -> dict[str, Any]:
        """The step as JSON-ready values."""
        return {**self._asdict(), "rewrites": dict(self.rewrites)}


class Report:
    """What ran on one graph: built-in passes, then plugins, and the toggles as decided."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.runs: list[Run] = []
        self.merged = Merged({}, ())
        self.seconds = 0.0
        self.samples = 0
        """How many samples were run before and after each pass."""

    @property
    def rejected(self) -> tuple[str, ...]:
        """What changed a result: names of passes, and of plugins after the word ``plugin``."""
        steps = (s.name for s in self.steps if s.outcome == "rejected")
        runs = (f"plugin {r.plugin}" for r in self.runs if r.outcome == "rejected")
        return tuple(dict.fromkeys((*steps, *runs)))

    @property
    def passes(self) -> Mapping[str, bool]:
        """Every toggle, user and plugins joined."""
        return self.merged.values

    def as_json(self) -> dict[str, Any]:
        """The report as JSON-ready values."""
        return {
            "seconds": self.seconds,
            "samples": self.samples,
            "rejected": list(self.rejected),
            "steps": [step.as_json() for step in self.steps],
            "runs": [run.as_json() for run in self.runs],
            "passes": dict(self.passes),
            "changes": [change.text() for change in self.merged.changes],
        }
