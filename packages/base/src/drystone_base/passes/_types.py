"""What passes are, and what they are told."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from drystone_base.graph import FunctionLibrary, Graph

__all__ = ["Grouping", "Pass", "PassOptions", "PassWarning"]

Run: TypeAlias = "Callable[[PassOptions], object]"
"""Edits the graphs of the options in place; True: it changed something, False: nothing."""

ALWAYS: Final[frozenset[str]] = frozenset()


class PassWarning(UserWarning):
    """What a pass did does not count; the graph was left unchanged."""


class Grouping(StrEnum):
    """Where a session runs passes, in this order (TensorFlow's ``OptimizationPassRegistry``)."""

    PRE_PLACEMENT = "PRE_PLACEMENT"
    """Before nodes get their devices."""
    POST_PLACEMENT = "POST_PLACEMENT"
    """After nodes got their devices."""
    POST_REWRITE_FOR_EXEC = "POST_REWRITE_FOR_EXEC"
    """After what the fetches do not reach was cut off."""
    POST_PARTITIONING = "POST_PARTITIONING"
    """After the graph was split: one graph per device."""


@dataclass
class PassOptions:
    """What a pass works on; it edits ``graph``, or the graphs of ``partitions``, in place.

    ``graph`` is None after partitioning, ``partitions`` (device to graph) before it; no pass may
    add or remove a partition. ``fetches`` and ``feeds``: tensor names, which must go on naming the
    same values. ``devices``: names of the devices (None after partitioning). ``session``: what the
    session's config says. ``settings``: what it says for this pass alone. ``cost_model``: seconds
    by node name, where they were measured. ``is_function_graph``: whether the graph is the body of
    a function.
    """

    graph: Graph | None = None
    partitions: dict[str, Graph] | None = None
    fetches: Sequence[str] = ()
    feeds: Sequence[str] = ()
    devices: Sequence[str] | None = None
    session: Any = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    cost_model: Mapping[str, float] | None = None
    is_function_graph: bool = False

    @property
    def library(self) -> FunctionLibrary:
        """The functions that the graphs may call."""
        return next(self.graphs()).functions

    def graphs(self) -> Iterator[Graph]:
        """The graph, or the graph of every partition."""
        if self.graph is not None:
            yield self.graph
        else:
            yield from (self.partitions or {}).values()


@dataclass(frozen=True)
class Pass:
    """A registered pass.

    ``ops``: it has nothing to do in a graph without one of them (empty: it always looks).
    ``is_default``: whether sessions run it unless they are told otherwise.
    """

    name: str
    grouping: Grouping
    phase: int
    run: Run = field(compare=False)
    ops: frozenset[str] = ALWAYS
    is_default: bool = True
    origin: str = "the program"

    @property
    def summary(self) -> str:
        """The first line of its docstring."""
        return (self.run.__doc__ or "").strip().partition("\n")[0]

    def may_apply(self, ops: frozenset[str]) -> bool:
        """Whether a graph with these ops can have something to do for it."""
        return not self.ops or not self.ops.isdisjoint(ops)
