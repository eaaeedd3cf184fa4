"""Nodes that can be part of no region, whoever asks, and why."""

from __future__ import annotations

from collections.abc import Container, Sequence
from fnmatch import fnmatchcase
from typing import Final

from drystone_base.errors import DrystoneError
from drystone_base.graph import Node
from drystone_base.graph.validate import Signatures
from drystone_subgraph.context import FRAME_OPS

__all__ = ["fixed_reasons"]

_ENDS: Final = frozenset(
    {"Placeholder", "PlaceholderV2", "PlaceholderWithDefault", "_Arg", "_Retval", "_DeviceArg",
     "_DeviceRetval", "_Send", "_Recv", "_HostSend", "_HostRecv"}
)  # fmt: skip


def fixed_reasons(
    nodes: Sequence[Node],
    fed: Container[Node],
    exclude: Sequence[str],
    signatures: Signatures,
) -> list[str]:
    """For each node why it can be part of no region; "" where it can."""
    return [_reason(node, fed, exclude, signatures) for node in nodes]


def _reason(
    node: Node, fed: Container[Node], exclude: Sequence[str], signatures: Signatures
) -> str:
    if node.op in FRAME_OPS:
        return "the executor itself runs control flow of frames"
    if node.op in _ENDS or node in fed:
        return "it is where values come in or go out"
    if exclude:
        for pattern in exclude:
            if node.op == pattern or fnmatchcase(node.name, pattern):
                return f"it is excluded by {pattern!r}"
    return _types(node, signatures)


def _types(node: Node, signatures: Signatures) -> str:
    try:
        found = signatures.of(node)
        if found is None or found.outputs is None:
            return "its op is unknown"
        if any(t.ref for t in found.outputs) or any(t.ref for t in found.inputs):
            return "it works on a reference to a variable"
    except (DrystoneError, KeyError):
        return "its dtypes are not known"
    return ""
