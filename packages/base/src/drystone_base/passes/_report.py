"""What running a grouping did."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["GroupingReport", "PassRun"]


@dataclass
class PassRun:
    """One pass: how long it took in seconds, nodes before and after, or why it was skipped."""

    name: str
    phase: int
    seconds: float = 0.0
    nodes_before: int = 0
    nodes_after: int = 0
    changed: bool = False
    skipped: str = ""


@dataclass
class GroupingReport:
    """The passes of one grouping, in the order in which they ran."""

    grouping: str
    passes: list[PassRun] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        """Whether a pass changed something."""
        return any(run.changed for run in self.passes)

    def as_json(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return asdict(self)
