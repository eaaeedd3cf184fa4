"""What kernels may reach beyond their inputs: resources, the step, functions, random numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from drystone_base.files.access import Access
from drystone_base.state.variables import ResourceManager, Step

if TYPE_CHECKING:
    from drystone_base.executor.record import Record
    from drystone_base.graph import FunctionLibrary
    from drystone_base.ops.attrs import FunctionRef
    from drystone_base.state.cancellation import Cancellation

__all__ = ["Invoke", "Runtime"]

Arrays: TypeAlias = Sequence[np.ndarray[Any, Any]]
Invoke: TypeAlias = "Callable[[Runtime, FunctionRef, Arrays], list[np.ndarray[Any, Any]]]"


class _Node(Protocol):
    @property
    def node(self) -> str:
        """Its name."""

    @property
    def op(self) -> str:
        """Its op."""

    @property
    def kernel(self) -> Any:
        """What computes it; one of a plugin says so by ``origin``."""


class Runtime:
    """The surroundings of one step. Kernels see it as ``call.runtime``.

    ``resources`` lives as long as the session, ``step`` as long as the run. ``seeds`` counts the
    calls of each stateful random node, so that a session repeats itself from the same seed.
    ``deadline`` is the ``time.monotonic()`` instant at which the run is stopped,
    ``cancellation`` what may stop it before. ``record``
    takes a note of every node. ``access`` is what kernels ask before they open a file.
    ``producer`` is the version of TensorFlow's graph format that the graph was written with.
    """

    __slots__ = (
        "_invoke", "access", "at", "cancellation", "deadline", "producer", "record", "resources",
        "seeds", "step",
    )  # fmt: skip

    def __init__(
        self,
        resources: ResourceManager,
        invoke: Invoke,
        seeds: dict[str, Any] | None = None,
        step: Step | None = None,
        deadline: float | None = None,
        record: Record | None = None,
        access: Access | None = None,
        producer: int = 0,
        cancellation: Cancellation | None = None,
    ) -> None:
        self.resources = resources
        self.step = step or Step()
        self.seeds = seeds if seeds is not None else {}
        self.deadline = deadline
        self.record = record
        self.access = access or Access.nothing()
        self.producer = producer
        self.cancellation = cancellation
        self.at: _Node | None = None  # the one whose kernel runs
        self._invoke = invoke

    def place(self) -> str:
        """The node whose kernel runs, for messages."""
        if self.at is None:
            return "a kernel"
        origin = getattr(self.at.kernel, "origin", "")
        return f"node {self.at.node!r} ({self.at.op}{origin and f', {origin}'})"

    @property
    def library(self) -> FunctionLibrary:
        """The functions that :meth:`invoke` finds."""
        found: FunctionLibrary = self._invoke.library  # type: ignore[attr-defined]
        return found

    def invoke(
        self, function: FunctionRef, args: Sequence[np.ndarray[Any, Any]]
    ) -> list[np.ndarray[Any, Any]]:
        """Run a function of the graph's library and return its outputs."""
        return self._invoke(self, function, args)
