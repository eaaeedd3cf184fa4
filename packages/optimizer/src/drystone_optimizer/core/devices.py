"""Device strings of nodes, and the device types that a graph uses."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Final

from drystone_base.core.registered import ENTRY_FUNCTIONS
from drystone_base.graph import Graph
from drystone_base.graph.calls import called, called_by_proto

__all__ = [
    "DEFAULT_TYPE",
    "all_device_types",
    "body_types",
    "device_type",
    "device_types",
    "host_of",
    "is_missing",
    "types_there",
]

DEFAULT_TYPE: Final = "CPU"
_CPU: Final = frozenset({DEFAULT_TYPE})
"""Where a node runs that asks for no device, in the main graph."""


def device_types(graph: Graph, unplaced: frozenset[str] = _CPU) -> frozenset[str]:
    """Types of the devices that nodes ask for; a node that asks for none counts as ``unplaced``.

    Raises ``GraphError`` (``bad-device``) naming the node of a device that cannot be understood.
    """
    return _types(((node.device, node.name) for node in graph), unplaced)


def all_device_types(graph: Graph) -> frozenset[str]:
    """The types of the graph and of the functions that it reaches; raises as above."""
    found = device_types(graph)
    return found.union(*body_types(graph).values()) if len(graph.functions) else found


def body_types(graph: Graph) -> dict[str, frozenset[str]]:
    """The types that each reached function uses; its unplaced nodes run where it is called.

    Raises ``GraphError`` (``bad-device``).
    """
    library = graph.functions
    around: dict[str, frozenset[str]] = {}
    queue = [
        (name, _types([(node.device, node.name)], _CPU))
        for node in graph
        for name in called(node, library)
    ]
    for function, types in queue:
        known = around.get(function, frozenset())
        found = library.get(function)
        if found is None or (function in around and types <= known):
            continue
        around[function] = known | types
        for proto in found.proto.node_def:
            inner = _types([(proto.device, proto.name)], types)
            queue.extend((name, inner) for name in called_by_proto(proto, library))
    return {
        name: _types(((p.device, p.name) for p in library[name].proto.node_def), types)
        for name, types in around.items()
    }


def _types(places: Iterable[tuple[str, str]], unplaced: frozenset[str]) -> frozenset[str]:
    found: set[str] = set()
    seen: set[str] = set()
    for device, name in places:
        if device in seen:
            continue
        seen.add(device)
        stated = device_type(device, name)
        found |= {stated} if stated else unplaced
    return frozenset(found)


def device_type(device: str, node: str = "") -> str | None:
    """The type in a device string such as ``/job:a/task:0/device:GPU:1`` or ``/gpu:0``.

    None where it leaves the type open. Raises ``GraphError`` (``bad-device``).
    """
    if not device:
        return None
    from drystone_base.placement import parse_device

    return parse_device(device, node).type


def types_there() -> frozenset[str]:
    """The types of the devices that this process has: the CPU, and what plugins brought.

    What a node asks for says nothing of that: a graph that was frozen on a machine with a GPU asks
    for one everywhere.
    """
    if not ENTRY_FUNCTIONS:
        return _CPU  # no plugin registered a platform
    from drystone_base.host.device import list_platforms

    return _CPU | {str(one["type"]) for one in list_platforms() if one.get("device_count")}


def is_missing(kind: str, stated: Collection[str]) -> bool:
    """Whether it is known that there is no device of a type.

    ``stated`` are the types of the config, if it states any. A type of which no plugin registered a
    platform may be there all the same: an optimizer needs none.
    """
    if stated or not ENTRY_FUNCTIONS:
        return bool(stated) and kind not in stated
    from drystone_base.host.device import list_platforms

    counts = [one.get("device_count", 0) for one in list_platforms() if one["type"] == kind]
    return bool(counts) and not any(counts)


def host_of(device: str) -> str:
    """The first CPU of the task that a device belongs to."""
    from drystone_base.placement import parse_device

    return str(replace(parse_device(device), type=DEFAULT_TYPE, index=0))
