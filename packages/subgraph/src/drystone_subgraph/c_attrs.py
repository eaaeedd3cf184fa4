"""Attributes that a backend in C has for an operator: what of them can be put on it."""

from __future__ import annotations

from typing import Any, Final

from google.protobuf.message import DecodeError

from drystone_abi.protos import AttrValue, NodeDef
from drystone_base.errors import DrystoneError
from drystone_base.executor.calling import OPERATOR_ATTR
from drystone_base.ops.attrs import decode_attr
from drystone_subgraph.subgraph import BACKEND_ATTR

__all__ = ["BadAttrsError", "operator_attrs"]

_TAKEN: Final = frozenset({BACKEND_ATTR, OPERATOR_ATTR, "_class", "_kernel", "_output_shapes"})
"""What the host itself reads on nodes."""

_NOT_PLAIN: Final = frozenset({None, "tensor", "func", "placeholder"})


class BadAttrsError(Exception):
    """Attributes that no operator can have; the text says why."""


def operator_attrs(data: bytes) -> dict[str, Any]:
    """The attributes of a serialised NodeDef, by name; raises ``BadAttrsError``."""
    try:
        node = NodeDef.FromString(data)
    except DecodeError as error:
        raise BadAttrsError("they are no serialised NodeDef") from error
    return {name: _value(name, node.attr[name]) for name in sorted(node.attr)}


def _value(name: str, proto: AttrValue) -> Any:
    if not name.startswith("_") or not name.strip("_") or name.startswith("__"):
        raise BadAttrsError(f"{name!r} does not begin with one underscore")
    if name in _TAKEN:
        raise BadAttrsError(f"{name!r} is the host's own")
    if proto.WhichOneof("value") in _NOT_PLAIN or proto.list.tensor or proto.list.func:
        raise BadAttrsError(f"{name!r} is no string, number, type or shape, and no list of these")
    try:
        return decode_attr(proto)
    except DrystoneError as error:
        raise BadAttrsError(f"{name!r}: {error.what}: {error.found}") from error
