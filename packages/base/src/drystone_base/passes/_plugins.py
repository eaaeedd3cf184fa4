"""Passes of plugins, as passes of the process's registry."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from drystone_base.core.errors import PluginError
from drystone_base.graph import Graph
from drystone_base.host.passes import HostPass, passes, run
from drystone_base.passes._registry import registry
from drystone_base.passes._types import Grouping, Pass, PassOptions, Run

__all__ = ["sync"]

_GROUPINGS: Final = tuple(Grouping)
_known: Final[set[str]] = set()


def sync() -> None:
    """Take the passes that the host has and the registry has not.

    Raises ``PluginError`` (``already-registered``) for a name that a pass of Python has.
    """
    for found in passes():
        if found.name in _known:
            continue
        grouping = _GROUPINGS[found.grouping]
        registry().register(
            Pass(found.name, grouping, found.phase, _runner(found), frozenset(found.ops),
                 found.is_default, Path(found.library).name)
        )  # fmt: skip
        _known.add(found.name)


def _runner(found: HostPass) -> Run:
    def apply(options: PassOptions) -> bool:
        graphs = list(options.graphs())
        names = None if options.partitions is None else list(options.partitions)
        results = run(
            found.name, [graph.to_bytes() for graph in graphs], names, options.fetches,
            options.feeds, options.devices, json.dumps(dict(options.settings)),
            is_function_graph=options.is_function_graph, library=found.library,
        )  # fmt: skip
        for graph, result in zip(graphs, results, strict=True):
            if result is not None:
                _replace(graph, result, found, (*options.fetches, *options.feeds))
        return any(result is not None for result in results)

    apply.__doc__ = f"A pass of {found.library}."
    return apply


def _replace(graph: Graph, data: bytes, found: HostPass, names: Iterable[str]) -> None:
    """Put a plugin's graph in the place of what it was given, if it has what it must have."""
    after = Graph.from_bytes(data)
    lost = sorted(
        {graph.output(n)[0].name for n in names if _is_in(graph, n)} - {n.name for n in after}
    )
    if lost:
        raise PluginError(
            f"pass {found.name!r} lost nodes",
            check="a pass must keep the nodes that are fetched and fed",
            found=f"no {', '.join(map(repr, lost[:3]))} in what it gave",
            needed="every fetched and fed node, under its name",
            remedy=f'SessionConfig(passes={{"{found.name}": False}}) leaves the pass out',
            path=found.library,
            code="pass-lost-nodes",
        )
    graph.become(after)


def _is_in(graph: Graph, name: str) -> bool:
    return name in graph or name.rpartition(":")[0] in graph
