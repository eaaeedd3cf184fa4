"""The graph of a session: as it was read, and with the session's seed; or that of a closed one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from drystone_base.core.errors import BadRequest
from drystone_base.loaders._source import GraphSource

if TYPE_CHECKING:
    from drystone_base.executor.functions import FunctionCaller
    from drystone_base.graph import Graph

__all__ = ["SessionGraph", "closed_source", "refuse_closed"]


class SessionGraph:
    """Where a session's graph is from, and what is made of it once for all plans.

    Each is made when it is first asked for, and raises as reading the graph does.
    """

    def __init__(self, source: GraphSource, seed: int | None) -> None:
        self.source = source
        self._seed = seed
        self._caller: FunctionCaller | None = None
        self._producer: int | None = None
        self._seeded: Graph | None = None

    def graph(self) -> Graph:
        """The graph, for who does not edit it."""
        return self.source.graph()

    def producer(self) -> int:
        """The GraphDef version that the graph's writer stated: each run asks."""
        if self._producer is None:
            self._producer = self.graph().producer
        return self._producer

    def caller(self) -> FunctionCaller:
        """What runs functions of the graph."""
        if self._caller is None:
            from drystone_base.executor.functions import FunctionCaller

            self._caller = FunctionCaller(self.graph().functions)
        return self._caller

    def seeded(self) -> Graph:
        """The graph, in which the session's seed has given random nodes theirs."""
        if self._seed is None:
            return self.graph()
        if self._seeded is None:
            from drystone_base.api.seeding import with_seeds

            self._seeded = with_seeds(self.graph(), self._seed)
        return self._seeded


def closed_source() -> GraphSource:
    """What a closed session has in place of its graph's source."""
    return GraphSource(refuse_closed)


def refuse_closed() -> NoReturn:
    """Raise ``BadRequest`` (``model-closed``): something is asked of a session that is closed."""
    raise BadRequest(
        "the model or session is closed",
        check="a model can be used until it is closed",
        found="close() was called, or its `with` block has ended",
        needed="one that is open",
        remedy="load the model again, or use it before it is closed",
        code="model-closed",
        status="FAILED_PRECONDITION",
    )
