"""What was partitioned: every region, what became of it, and why nodes stayed outside."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["PartitionReport", "Segment"]

Outcome = Literal["taken", "refused", "too small", "not worth it"]


@dataclass(frozen=True)
class Segment:
    """A region that a selector grew. ``where`` is "" for the main graph, else a function's name.

    ``node`` is the operator that stands for it, "" where it was not taken; ``reason`` says why not.
    """

    backend: str
    property: str
    where: str
    outcome: Outcome
    nodes: tuple[str, ...]
    node: str = ""
    reason: str = ""

    def as_json(self) -> dict[str, Any]:
        """The segment as JSON-ready values."""
        return {**self.__dict__, "nodes": list(self.nodes)}


@dataclass
class PartitionReport:
    """``nodes``: how many there were. ``why``: by ``(where, node)``, why each backend left it."""

    nodes: int = 0
    seconds: float = 0.0
    segments: list[Segment] = field(default_factory=list)
    why: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)

    @property
    def taken(self) -> list[Segment]:
        """The regions that became operators."""
        return [s for s in self.segments if s.outcome == "taken"]

    def backend_of(self, node: str, where: str = "") -> str:
        """Who took a node; "" for nobody."""
        return next((s.backend for s in self.taken if s.where == where and node in s.nodes), "")

    def reasons(self) -> dict[str, Counter[str]]:
        """By backend, how many nodes were left for which reason (with ``why``)."""
        found: dict[str, Counter[str]] = {}
        for reasons in self.why.values():
            for backend, reason in reasons.items():
                found.setdefault(backend, Counter())[reason] += 1
        return found

    def as_json(self) -> dict[str, Any]:
        """The report as JSON-ready values."""
        return {
            "nodes": self.nodes,
            "seconds": self.seconds,
            "segments": [s.as_json() for s in self.segments],
            "why": [
                {"where": where, "node": node, "reasons": reasons}
                for (where, node), reasons in self.why.items()
            ],
        }
