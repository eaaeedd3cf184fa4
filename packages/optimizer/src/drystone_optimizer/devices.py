"""Device strings of nodes, and the device types that a graph uses."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from drystone_base.errors import GraphError
from drystone_base.graph import Graph

__all__ = ["device_type", "device_types"]

DEFAULT_TYPE: Final = "CPU"
_PART: Final = re.compile(
    r"/(?:(?P<key>job|replica|task):(?P<value>[^/:]+)"
    r"|device:(?P<type>[A-Za-z]\w*):(?P<id>\d+|\*)"
    r"|(?P<old>cpu|gpu|CPU|GPU):(?P<number>\d+|\*)"
    r"|device:\*|(?P<bare>device:(?P<only>[A-Za-z]\w*)))(?=/|$)"
)


def device_types(graph: Graph) -> frozenset[str]:
    """Types of the devices that nodes ask for; a node that asks for none counts as the host's CPU.

    Raises ``GraphError`` (``bad-device``) naming the node of a device that cannot be understood.
    """
    found: set[str] = set()
    seen: set[str] = set()
    for node in graph:
        if node.device in seen:
            continue
        seen.add(node.device)
        found.add(device_type(node.device, node.name) or DEFAULT_TYPE)
    return frozenset(found)


@lru_cache(maxsize=1024)
def device_type(device: str, node: str = "") -> str | None:
    """The type in a device string such as ``/job:a/task:0/device:GPU:1`` or ``/gpu:0``.

    None where it leaves the type open. Raises ``GraphError`` (``bad-device``).
    """
    found = None
    position = 0
    text = device if device.startswith("/") or not device else f"/{device}"
    while position < len(text):
        match = _PART.match(text, position)
        if match is None:
            raise GraphError(
                f"node {node!r} asks for a device that cannot be understood",
                check="a device is written /job:NAME/replica:N/task:N/device:TYPE:N, in parts",
                found=device,
                needed="such as /job:localhost/replica:0/task:0/device:CPU:0",
                remedy="correct the node's device, or clear it",
                code="bad-device",
            )
        kind = match["type"] or match["old"] or match["only"]
        found = kind.upper() if match["old"] else kind or found
        position = match.end()
    return found
