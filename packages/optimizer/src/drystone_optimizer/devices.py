"""Device strings of nodes, and the device types that a graph uses."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from drystone_base.graph import Graph
from drystone_base.placement import parse_device

__all__ = ["DEFAULT_TYPE", "device_type", "device_types", "host_of", "is_accelerator"]

DEFAULT_TYPE: Final = "CPU"


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


def device_type(device: str, node: str = "") -> str | None:
    """The type in a device string such as ``/job:a/task:0/device:GPU:1`` or ``/gpu:0``.

    None where it leaves the type open. Raises ``GraphError`` (``bad-device``).
    """
    return parse_device(device, node).type


def is_accelerator(device: str, node: str = "") -> bool:
    """Whether a device string asks for something else than a CPU; raises as above."""
    return device_type(device, node) not in (None, DEFAULT_TYPE)


def host_of(device: str) -> str:
    """The first CPU of the task that a device belongs to."""
    return str(replace(parse_device(device), type=DEFAULT_TYPE, index=0))
