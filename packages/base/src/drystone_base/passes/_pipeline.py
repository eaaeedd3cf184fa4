"""From an optimized graph to the graphs that are lowered: passes, placement, partitioning."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from drystone_base.core.errors import BadRequest, near_matches
from drystone_base.core.printable import plain
from drystone_base.core.registered import DEVICE_ENTRY, ENTRY_FUNCTIONS
from drystone_base.graph import Output, reachable, topological_order
from drystone_base.graph.rewiring import replace as replace_node
from drystone_base.graph.validate import definition_of, output_dtypes
from drystone_base.passes._registry import registered, run_grouping
from drystone_base.passes._types import Grouping, Pass, PassOptions
from drystone_base.placement.partitions import Partitions, whole
from drystone_base.placement.placer import Placement, place
from drystone_base.placement.splitter import home_of, partition
from drystone_base.placement.support import everywhere

if TYPE_CHECKING:
    from drystone_base.graph import Graph, Node

__all__ = ["device_names", "on_devices", "place_body", "place_for", "prepare"]

_HOME: Final = "/job:localhost/replica:0/task:0"


def device_names(config: Any) -> list[str]:
    """The devices of a session: what its config counts, and those of plugins."""
    of_plugins = _of_plugins(config)
    stated = {k: n for k, n in config.device_count.items() if k not in of_plugins}
    numbers = {kind: list(range(count)) for kind, count in ({"CPU": 1} | stated).items()}
    return [
        f"{_HOME}/device:{kind}:{index}"
        for kind, there in sorted((numbers | of_plugins).items())
        for index in there
    ]


def _of_plugins(config: Any) -> dict[str, list[int]]:
    if DEVICE_ENTRY not in ENTRY_FUNCTIONS:
        return {}
    from drystone_base.executor.plugin_devices import session_devices

    return session_devices(config.executor, config.device_count)


def prepare(
    graph: Graph,
    fetches: Sequence[str],
    feeds: Sequence[str],
    config: Any,
    devices: Sequence[str] = (),
) -> Partitions:
    """The graph of every device, as the passes leave it; ``graph`` itself is not changed.

    ``devices``: the names of those there are (none: those of the config). Where the config has one
    device the one part is the whole graph; nodes are placed if it asks for more than that. Raises
    ``GraphError``: ``pass-failed``, and what :func:`place` raises.
    """
    _check_names(config)
    remote = bool(devices)
    of_plugins = {} if remote else _of_plugins(config)
    devices = devices or device_names(config)
    splits = remote or sum(home_of(d, of_plugins) == d for d in devices) > 1
    ops = frozenset(node.op for node in graph)
    places = splits or bool(of_plugins) or _asks_for_placement(config)
    if not places and not any(_may_run(p, config, ops) for p in registered()):
        return whole(graph)
    graph = graph.copy()
    shared: dict[str, Any] = {"fetches": fetches, "feeds": feeds, "session": config}

    def run(grouping: Grouping, **what: Any) -> None:
        run_grouping(grouping, PassOptions(**shared, **what), config.passes)

    run(Grouping.PRE_PLACEMENT, graph=graph, devices=devices)
    if places:
        place_for(graph, fetches, feeds, config, devices if remote else ()).apply()
    run(Grouping.POST_PLACEMENT, graph=graph, devices=devices)
    graph = _rewritten(graph, fetches, feeds)
    run(Grouping.POST_REWRITE_FOR_EXEC, graph=graph, devices=devices)
    needed = _needed(graph, fetches, feeds) if splits else []
    parts = partition(graph, needed, of_plugins) if splits else whole(graph)
    run(Grouping.POST_PARTITIONING, partitions=parts.graphs)
    for device, part in parts.graphs.items():
        if splits:
            parts.sends[device] = [node.name for node in part if node.op == "_Send"]
    return parts


def _rewritten(graph: Graph, fetches: Sequence[str], feeds: Sequence[str]) -> Graph:
    """What a run needs, and no more; a fed node of one output is a Placeholder of its name."""
    fed = {graph.output(name) for name in feeds}
    cut = {node for node, _ in fed if len(output_dtypes(node) or ()) == 1}
    targets = [graph.output(name)[0] for name in fetches] + [node for node, _ in fed]
    kept = reachable((n for n in targets if n not in cut), fed=fed, passive=cut)
    twin = graph.copy(only={*kept, *cut}, ends=cut)
    for node in cut:
        if not node.op.startswith("Placeholder") or node.inputs:
            types = output_dtypes(node)
            assert types, "one output"
            attrs = {"dtype": types[0].base, "shape": None}
            replace_node(twin, twin[node.name], "Placeholder", [], attrs, [])
    return twin


def _check_names(config: Any) -> None:
    """Raise ``BadRequest`` (``unknown-pass``) for a switch of a pass that is not registered."""
    known = [found.name for found in registered()] if config.passes else []
    for name in config.passes:
        if name not in known:
            near = near_matches(name, known)
            raise BadRequest(
                f"SessionConfig.passes names {name!r}, and there is no such pass",
                check="a switch must be of a pass that is registered",
                found=name,
                needed=", ".join(sorted(known)),
                remedy=f"did you mean {', '.join(near)}?" if near else "see `drystone passes`",
                code="unknown-pass",
                status="NOT_FOUND",
            )


def _asks_for_placement(config: Any) -> bool:
    """Whether nodes are placed even where there is one device: to tell, or to fail."""
    return config.log_device_placement or not config.allow_soft_placement


def place_for(
    graph: Graph,
    fetches: Sequence[str],
    feeds: Sequence[str],
    config: Any,
    devices: Sequence[str] = (),
) -> Placement:
    """Where the session of ``config`` runs the nodes that the fetches need.

    ``devices``: the names of those there are (none: those of the config).
    """
    needed = _needed(graph, fetches, feeds)
    soft = config.allow_soft_placement
    there = devices or device_names(config)
    of_plugins = {} if devices else _of_plugins(config)
    supports = everywhere(["CPU"])
    if of_plugins:
        from drystone_base.placement.support import by_kernels

        supports = by_kernels(list(of_plugins))
    placed = place(graph, there, supports, soft=soft, nodes=needed)
    _tell(placed, config)
    return placed


def _tell(placed: Placement, config: Any, inside: str = "") -> None:
    """Say where nodes go and why, if the config asks for it."""
    if config.log_device_placement:
        for d in placed.decisions:
            print(plain(f"{inside}{d.node}: ({d.op}): {d.device}  {d.why}"), file=sys.stderr)


def on_devices(
    graph: Graph, fetches: Sequence[str], feeds: Sequence[str], config: Any
) -> list[str]:
    """Names of the nodes that devices of plugins run, but for those whose values are constant."""
    from drystone_base.executor.plugin_devices import device_of, types_of

    placed = place_for(graph, fetches, feeds, replace(config, log_device_placement=False)).devices
    fed = {graph.output(name)[0] for name in feeds}
    constant: set[Node] = set()
    found = []
    for node in topological_order(list(placed)):
        definition = definition_of(node)
        is_pure = definition is not None and not definition.is_stateful and node not in fed
        from_constants = bool(node.inputs) and all(source in constant for source, _ in node.inputs)
        if node.op == "Const" or (is_pure and from_constants):
            constant.add(node)
        elif types_of(node, [device_of(placed[node])]):
            found.append(node.name)
    return found


def place_body(graph: Graph, function: str, config: Any) -> list[str]:
    """Place the nodes of a function's body; the types of the devices of plugins that there are."""
    from drystone_base.placement.support import by_kernels

    types = list(_of_plugins(config))
    placed = place(graph, device_names(config), by_kernels(types), soft=True)
    _tell(placed, config, f"{function}/")
    placed.apply()
    return types


def _needed(graph: Graph, fetches: Sequence[str], feeds: Sequence[str]) -> list[Node]:
    """What the fetches reach, and the fed nodes, in the graph's order."""
    fed: list[Output] = [graph.output(name) for name in feeds]
    found = reachable((graph.output(name)[0] for name in fetches), fed=set(fed))
    found.update(dict.fromkeys(node for node, _ in fed))
    return [node for node in graph if node in found]


def _may_run(found: Pass, config: Any, ops: frozenset[str]) -> bool:
    return config.passes.get(found.name, found.is_default) is not False and found.may_apply(ops)
