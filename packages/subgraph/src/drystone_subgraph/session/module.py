"""What this package adds to ``drystone_base.modules``: the ``partition`` stage and command.

It is imported by every process that has this package installed, so it imports next to nothing: the
rest is imported when a graph is to be partitioned.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from drystone_base.modules import Library, Module

if TYPE_CHECKING:
    from drystone_base.graph import Graph

__all__ = ["MODULE"]


def _stage(graph: Graph, fetches: Sequence[str], feeds: Sequence[str], wish: Any) -> Graph:
    """Partition what the fetches reach; ``wish`` is what ``SessionConfig.subgraphs`` says."""
    from drystone_subgraph.session.stage import partition_for_session

    return partition_for_session(graph, fetches, feeds, wish)


def _check_backend(name: str) -> None:
    """Raise ``BadRequest`` (``unknown-subgraph-backend``) unless there is one of that name."""
    from drystone_subgraph.contract.backend import find_backend

    find_backend(name)


def _initialise(library: Library, symbol: str) -> None:
    """Register the backend of a plugin."""
    from drystone_subgraph.c_abi.c_backend import initialise

    initialise(library, symbol)


def _offers(library: Library) -> list[str]:
    """The backends of a plugin."""
    from drystone_subgraph.c_abi.c_backend import offered

    return offered(library)


MODULE: Final = Module(
    "subgraph",
    ("DS_InitSubgraph",),
    _initialise,
    _offers,
    stages={"partition": _stage, "backend": _check_backend},
    commands={
        "convert": "drystone_subgraph.session.converting:convert",
        "partition": "drystone_subgraph.session.command:partition",
    },
    variables="drystone_subgraph.contract.environment:VARIABLES",
)
