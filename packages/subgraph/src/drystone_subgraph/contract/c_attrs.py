"""Attributes of operators, as a backend in C writes and reads them: serialised NodeDefs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from google.protobuf.message import DecodeError

from drystone_abi.protos import AttrValue, NodeDef
from drystone_base.core.errors import DrystoneError
from drystone_base.graph import Graph
from drystone_base.ops.attrs import decode_attr
from drystone_subgraph.contract.subgraph import HOST_ATTRS

__all__ = ["BadAttrsError", "operator_attrs", "written_attrs"]

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


def written_attrs(attrs: Mapping[str, Any]) -> bytes | None:
    """A serialised NodeDef with these attributes; None where there are none."""
    if not attrs:
        return None
    proto = Graph().add("NoOp", "operator", attrs=attrs).to_proto()
    return NodeDef(attr=proto.attr).SerializeToString(deterministic=True)


def _value(name: str, proto: AttrValue) -> Any:
    if not name.startswith("_") or not name.strip("_") or name.startswith("__"):
        raise BadAttrsError(f"{name!r} does not begin with one underscore")
    if name in HOST_ATTRS:
        raise BadAttrsError(f"{name!r} is the host's own")
    if proto.WhichOneof("value") in _NOT_PLAIN or proto.list.tensor or proto.list.func:
        raise BadAttrsError(f"{name!r} is no string, number, type or shape, and no list of these")
    try:
        return decode_attr(proto)
    except DrystoneError as error:
        raise BadAttrsError(f"{name!r}: {error.what}: {error.found}") from error
