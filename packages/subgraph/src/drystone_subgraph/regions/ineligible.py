"""Nodes that can be part of no region, for any backend, and why."""

from __future__ import annotations

from collections.abc import Container, Sequence
from fnmatch import fnmatchcase
from typing import Final

from drystone_base.core.errors import DrystoneError
from drystone_base.graph import Node
from drystone_base.graph.validate import Signature, Signatures
from drystone_base.ops.properties import CHANNELS, CONTROL_FLOW, FUNCTION_ENDS, PLACEHOLDERS

__all__ = ["fixed_reasons"]

_ENDS: Final = PLACEHOLDERS | FUNCTION_ENDS | CHANNELS
_END: Final = "it is where values come in or go out"
_FRAMES: Final = "the executor itself runs control flow of frames"
_ROLES: Final = dict.fromkeys(_ENDS, _END) | dict.fromkeys(CONTROL_FLOW, _FRAMES)


def fixed_reasons(
    nodes: Sequence[Node],
    fed: Container[Node],
    exclude: Sequence[str],
    signatures: Signatures,
    idle: Container[Node] = (),
) -> list[str]:
    """For each node why it can be part of no region; "" where it can. ``idle`` nodes do not run."""
    known: dict[Signature | None, str] = {None: "its op is unknown"}
    found: list[str] = []
    for node in nodes:
        reason = _ROLES.get(node.op, "")
        if not reason and node in fed:
            reason = _END
        if not reason and node in idle:
            reason = "no fetch needs it"
        if not reason and exclude:
            reason = _excluded(node, exclude)
        found.append(reason or _types(node, signatures, known))
    return found


def _excluded(node: Node, exclude: Sequence[str]) -> str:
    for pattern in exclude:
        if node.op == pattern or fnmatchcase(node.name, pattern):
            return f"it is excluded by {pattern!r}"
    return ""


def _types(node: Node, signatures: Signatures, known: dict[Signature | None, str]) -> str:
    """What is wrong with a node's dtypes; ``known``: the answers for signatures seen before."""
    try:
        found = signatures.of(node)
        reason = known.get(found)
        if reason is None:
            assert found is not None, "that is known"
            reason = known[found] = _of_signature(found)
    except (DrystoneError, KeyError):
        return "its dtypes are not known"
    return reason


def _of_signature(found: Signature) -> str:
    if found.outputs is None:
        return "its op is unknown"
    if any(t.ref for t in found.outputs) or any(t.ref for t in found.inputs):
        return "it works on a reference to a variable"
    return ""
