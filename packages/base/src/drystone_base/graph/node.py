"""A node of a graph: an op with its fan-in, its attributes and a requested device."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from drystone_abi.protos import NodeDef
from drystone_base.core.arguments import blame, explaining
from drystone_base.core.dtypes import DType
from drystone_base.core.errors import DrystoneError
from drystone_base.core.printable import plain
from drystone_base.ops.attrs import TensorAttr, decode_attr, encode_attr
from drystone_base.ops.defs import find

if TYPE_CHECKING:
    from drystone_base.graph.graph import Graph
    from drystone_base.ops.attrs import Shape

__all__ = [
    "Node",
    "Output",
    "held_tensor",
    "interned",
    "output_name",
    "parse_tensor_name",
    "placeholder_shape",
]

_DIGITS: Final = 18

Output: TypeAlias = "tuple[Node, int]"
"""One output of a node: the node and the output's index."""


@explaining("is_as_read", "to_proto")
class Node:
    """A node. Read its fields freely; change them only through the graph's editing methods.

    ``inputs`` is the data fan-in, ``controls`` the control fan-in. Attributes are decoded when
    first read. A node that came from a file and was not changed keeps its bytes, unknown fields
    included.
    """

    __slots__ = (
        "_attrs", "_content", "_proto", "changed", "controls", "device", "graph", "inputs",
        "name", "op",
    )  # fmt: skip

    def __init__(self, graph: Graph, name: str, op: str, device: str = "") -> None:
        self.graph = graph
        self.name = name
        self.op = op
        self.device = device
        self.inputs: tuple[Output, ...] = ()
        self.controls: tuple[Node, ...] = ()
        self.changed = True
        self._proto: NodeDef | None = None
        self._content: memoryview | None = None
        self._attrs: dict[str, Any] | None = {}

    def __repr__(self) -> str:
        return f"<Node {self.name!r} ({plain(self.op)})>"

    @property
    def attrs(self) -> Mapping[str, Any]:
        """The attributes that the node states itself, decoded."""
        found = self._attrs
        return self._own_attrs() if found is None else found

    def _own_attrs(self) -> dict[str, Any]:
        if self._attrs is None:
            assert self._proto is not None
            held, content = self._proto.attr, self._content
            self._attrs = {k: decode_attr(held[k], content) for k in sorted(held)}
        return self._attrs

    def attrs_for_copy(self) -> dict[str, Any] | None:
        """The attributes of a copy, not yet decoded (None) where they are not here, either.

        What lies in a file is decoded here: plans of copies share the memory that it then takes.
        """
        if self._attrs is None and self._content is not None:
            with suppress(DrystoneError):  # the caller that asks for it is told
                self._own_attrs()
        return None if self._attrs is None else dict(self._attrs)

    def states(self, name: str) -> bool:
        """Whether the node itself states an attribute; decodes none."""
        try:
            if self._attrs is None:
                assert self._proto is not None
                return name in self._proto.attr
            return name in self._attrs
        except Exception as error:
            blame(Node.states, error, self, name)

    def attr(self, name: str, default: Any = None) -> Any:
        """An attribute's value: the node's own, else the op's default, else ``default``."""
        own = self.attrs
        try:
            if name in own:
                return own[name]
        except Exception as error:
            blame(Node.attr, error, self, name)
        definition = find(self.op)
        declared = definition.attrs.get(name) if definition else None
        return declared.default if declared is not None and declared.has_default else default

    def full_attrs(self) -> dict[str, Any]:
        """All attributes, with the op definition's defaults filled in."""
        definition = find(self.op)
        if definition is None:
            return dict(self._own_attrs())
        filled = {n: a.default for n, a in definition.attrs.items() if a.has_default}
        return filled | self._own_attrs()

    def is_as_read(self, other: Node) -> bool:
        """Whether both were read from equal bytes and not changed since; quick, and never by value.

        False says nothing: nodes may be equal all the same.
        """
        mine, others = self._proto, other._proto
        if self.changed or other.changed or mine is None or others is None:
            return False
        return mine is others or (mine == others and self._content == other._content)

    def to_proto(self, into: NodeDef | None = None, inputs: Iterable[str] | None = None) -> NodeDef:
        """The node as a NodeDef; an unchanged node gives back what was read.

        ``into``: an empty message to fill. ``inputs``: how inputs are spelled, instead of as here.
        """
        proto = NodeDef() if into is None else into
        if self._proto is not None:
            proto.CopyFrom(self._proto)
        if self._content is not None and "value" in proto.attr:
            proto.attr["value"].tensor.tensor_content = bytes(self._content)
        if self.changed:
            proto.name, proto.op, proto.device = self.name, self.op, self.device
            if self._attrs is not None:
                self._encode_attrs(proto)
        elif inputs is None:
            return proto
        if self._proto is not None:
            del proto.input[:]
        if inputs is None:
            inputs = [*map(output_name, self.inputs), *("^" + c.name for c in self.controls)]
        proto.input.extend(inputs)
        return proto

    def _encode_attrs(self, proto: NodeDef) -> None:
        """Write changed attributes; one whose value is what the proto holds keeps its bytes."""
        definition = find(self.op)
        declared = definition.attrs if definition else {}
        own = self._own_attrs()
        attrs = proto.attr
        if self._proto is not None:
            for name in [n for n in attrs if n not in own]:
                del attrs[name]
        for name, value in own.items():
            if name in attrs:
                if _same(decode_attr(attrs[name]), value):
                    continue
            elif value.__class__ is DType:  # what most attributes are
                number: Any = value.number
                attrs[name].type = number
                continue
            attrs[name].CopyFrom(
                encode_attr(value, declared[name].type if name in declared else None)
            )
        if held_tensor(self) is not None:  # a quantized one was a plain integer in memory
            attrs["value"].tensor.dtype = own["dtype"].number


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, TensorAttr) or isinstance(b, TensorAttr):
        return bool(a == b)
    return type(a) is type(b) and a == b


_CONSTANTS: Final = frozenset({"Const", "HostConst"})


def held_tensor(node: Node) -> TensorAttr | None:
    """What a constant holds; None for other nodes, and for a value that is not of their dtype."""
    if node.op not in _CONSTANTS:
        return None
    attrs = node.attrs
    value, dtype = attrs.get("value"), attrs.get("dtype")
    fits = isinstance(value, TensorAttr) and isinstance(dtype, DType) and value.is_of(dtype)
    return value if fits else None


# Before this GraphDef version a placeholder's shape [] meant "not stated".
_SHAPES_MEAN_IT: Final = 24


def placeholder_shape(node: Node) -> Shape:
    """The shape that a placeholder states; None when it states none or its rank is unknown."""
    shape: Shape = node.attr("shape")
    if not isinstance(shape, tuple):  # unknown rank, or a corrupt graph
        return None
    return None if shape == () and node.graph.producer < _SHAPES_MEAN_IT else shape


def parse_tensor_name(text: str) -> tuple[str, int]:
    """Node name and output index of ``name`` or ``name:k``."""
    head, colon, tail = text.rpartition(":")
    if not colon or not tail.isdecimal():
        return text, 0
    return head, whole_number(tail)


def whole_number(digits: str) -> int:
    """The number that digits spell, or another absurdly large one: Python reads 4300 of them."""
    return int((digits.lstrip("0") or "0")[:_DIGITS])


def interned(op: str) -> str:
    """An op's name as the one text of all its nodes; ``TypeError`` for what is none.

    Python takes no text of another class, such as NumPy's.
    """
    return sys.intern(str.__str__(op))


def output_name(output: Output) -> str:
    """The GraphDef spelling of an output: ``name`` for output 0, ``name:k`` for the others."""
    node, index = output
    return f"{node.name}:{index}" if index else node.name
