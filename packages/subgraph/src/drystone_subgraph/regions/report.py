"""What was partitioned: every region, what became of it, and why nodes stayed outside."""

from __future__ import annotations

from collections.abc import Sequence
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
    """``nodes``: how many there were.

    ``why`` (if the config asks for it): by ``(where, node)``, why each backend left it; all nodes
    are there.
    """

    nodes: int = 0
    seconds: float = 0.0
    segments: list[Segment] = field(default_factory=list)
    why: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)

    @property
    def taken(self) -> list[Segment]:
        """The regions that became operators."""
        return [s for s in self.segments if s.outcome == "taken"]

    def takers(self) -> dict[tuple[str, str], Segment]:
        """By ``(where, node)``, the region that holds a node that was taken."""
        return {(s.where, node): s for s in self.taken for node in s.nodes}

    def left(self) -> dict[tuple[str, str], list[str]]:
        """By backend and reason, the nodes that were left (with ``why``); most nodes first."""
        found: dict[tuple[str, str], list[str]] = {}
        for (_, node), reasons in self.why.items():
            for pair in reasons.items():
                found.setdefault(pair, []).append(node)
        return dict(sorted(found.items(), key=lambda item: -len(item[1])))

    def note_taken(self, where: str, backends: Sequence[str]) -> None:
        """Add to ``why`` that a node was taken, for backends that come after who took it."""
        for segment in self.taken:
            if segment.where != where:
                continue
            later = backends[backends.index(segment.backend) + 1 :]
            for node in segment.nodes:
                reasons = self.why.setdefault((where, node), {})
                reasons.pop(segment.backend, None)
                reasons.update(dict.fromkeys(later, f"{segment.backend!r} took it"))

    def forget(self, where: str) -> None:
        """Leave a function out: what was done to it was undone."""
        self.segments = [s for s in self.segments if s.where != where]
        self.why = {key: reasons for key, reasons in self.why.items() if key[0] != where}

    def as_json(self) -> dict[str, Any]:
        """The report as JSON-ready values."""
        takers = self.takers()
        return {
            "nodes": self.nodes,
            "seconds": self.seconds,
            "segments": [s.as_json() for s in self.segments],
            "why": [
                {
                    "where": where,
                    "node": node,
                    "taken_by": takers[where, node].backend if (where, node) in takers else "",
                    "reasons": reasons,
                }
                for (where, node), reasons in self.why.items()
            ],
        }
