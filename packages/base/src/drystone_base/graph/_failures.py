"""The errors of graphs that do not hang together, and of edits that would make one so."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np

from drystone_base.core.errors import BadModelFile, GraphError, near_matches
from drystone_base.core.payloads import at_node
from drystone_base.core.printable import described

if TYPE_CHECKING:
    from drystone_base.graph.node import Node

__all__ = [
    "bad_input",
    "bad_name",
    "duplicate",
    "foreign",
    "in_use",
    "missing_input",
    "not_graphdef",
]

_MOST: Final = 1 << 63


def not_graphdef(size: int, error: Exception) -> NoReturn:
    """Refuse bytes of which protobuf makes no GraphDef."""
    raise BadModelFile(
        "cannot be read",
        subject="the graph",
        check="the bytes must be a GraphDef",
        found=f"{size} bytes that protobuf refuses",
        needed="a binary GraphDef",
        remedy="check that the file is a TensorFlow graph (.pb) and complete",
        code="bad-graphdef",
        inner=error,
    ) from error


def duplicate(name: str) -> NoReturn:
    """Refuse a second node of a name."""
    raise GraphError(
        f"two nodes are named {name!r}",
        check="node names must be unique",
        found=f"{name!r} twice",
        needed="one node of each name",
        remedy="rename one of them, or export the model again",
        code="duplicate-node",
        status="ALREADY_EXISTS",
    )


def bad_name(name: str) -> NoReturn:
    """Refuse a name that no node can have."""
    raise GraphError(
        f"{name!r} is no node name",
        check="a node name must not be empty or start with '^'",
        found=repr(name),
        needed="a name",
        remedy="export the model again",
        code="bad-node-name",
    )


def missing_input(node: Node, name: str, names: Iterable[str]) -> NoReturn:
    """Refuse an input that names no node of the graph."""
    near = near_matches(name.rpartition(":")[0] or name, names)
    raise GraphError(
        f"node {node.name!r} ({node.op}) reads from a node that is not in the graph",
        details=at_node(node.name, node.op),
        check="every input must name a node of the graph",
        found=name,
        needed="a node of that name",
        remedy=f"did you mean {', '.join(near)}?"
        if near
        else "the graph is incomplete: export it again",
        code="missing-input",
    )


def bad_input(node: Node, text: str, check: str) -> NoReturn:
    """Refuse an input list that is not in order."""
    raise GraphError(
        f"node {node.name!r} ({node.op}) has a malformed input list",
        details=at_node(node.name, node.op),
        check=check,
        found=text,
        needed="data inputs, then control inputs",
        remedy="export the model again",
        code="bad-input-order",
    )


def foreign(node: Node) -> NoReturn:
    """Refuse an edge into another graph."""
    raise GraphError(
        f"node {node.name!r} belongs to another graph",
        details=at_node(node.name, node.op),
        check="edges must stay inside one graph",
        found=node.name,
        needed="a node of this graph",
        remedy="add the node to this graph first",
        code="foreign-node",
    )


def unknown(name: object, names: Collection[str]) -> NoReturn:
    """A name that no node has."""
    near = near_matches(name, names)
    raise GraphError(
        f"there is no node {described(name)}",
        check="the name must be a node of the graph",
        found=name,
        needed=f"one of {len(names)} nodes",
        remedy=f"did you mean {', '.join(near)}?" if near else "list names with `drystone inspect`",
        code="unknown-node",
        status="NOT_FOUND",
    ) from None


def in_use(node: Node, user: Node) -> NoReturn:
    """Refuse to remove a node that another one reads."""
    raise GraphError(
        f"node {node.name!r} cannot be removed",
        details=at_node(node.name, node.op),
        check="a removed node must have no fan-out",
        found=f"{user.name!r} reads it",
        needed="no consumers",
        remedy="redirect its consumers first",
        code="node-in-use",
        status="FAILED_PRECONDITION",
    )


def a_node(value: Node) -> Node:
    """The value; raises ``TypeError`` unless it is a node, before others are looked at."""
    if type(value).__name__ != "Node":
        raise TypeError(f"{type(value).__name__} is no node")
    return value


def a_text(value: str) -> str:
    """The value; raises ``TypeError`` unless it is a text."""
    if not isinstance(value, str):
        raise TypeError(f"{type(value).__name__} is no text")
    return value


def attr_values(op: str, attrs: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a new node; raises ``GraphError`` for a shape that has no such sizes."""
    for name, value in attrs.items():
        if value.__class__ is tuple or (value.__class__ is list and value):
            attr_value(op, name, value)
    return dict(attrs)


def attr_value(op: str, name: str, value: Any) -> Any:
    """The value of an attribute; raises ``GraphError`` for a shape that has no such sizes."""
    for shape in value if isinstance(value, list) else (value,):
        if isinstance(shape, tuple) and not all(map(_is_size, shape)):
            raise GraphError(
                f"attribute {name!r} of {op} is no shape",
                check="the sizes of a shape must be whole numbers",
                found=described(shape, 200),
                needed="a whole number for each dimension, -1 where it is unknown",
                remedy="write -1 for None",
                code="bad-attr",
            )
    return value


def _is_size(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        return False
    return bool(-_MOST <= value < _MOST)


def check_sets(*values: object) -> None:
    """Raise ``TypeError`` unless all (but None) tell at once whether a node is in them.

    A range compares each of its numbers with the node.
    """
    for value in values:
        if value is not None and not isinstance(value, AbstractSet):
            raise TypeError(f"{type(value).__name__} is no set")
