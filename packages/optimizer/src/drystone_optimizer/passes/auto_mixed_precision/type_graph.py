"""The float32 types of a graph's nodes as vertices: what takes another type together.

A vertex is a type attribute of a node. Joined into one are the attributes of all ops on one tensor
list, and a loop's Merge with the NextIteration that it reads: no Cast fits between those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from drystone_base.core.dtypes import DType
from drystone_base.core.errors import DrystoneError
from drystone_base.graph import Node, Output
from drystone_base.ops.defs import ArgDef, find

__all__ = ["TypeGraph", "Vertex"]


@dataclass(eq=False)
class Vertex:
    """Type attributes that change together; ``kind`` is a list's name, "" if any is in none."""

    members: list[tuple[Node, str]]
    kind: str
    may_change: bool
    before: list[Vertex] = field(default_factory=list)
    after: list[Vertex] = field(default_factory=list)


class TypeGraph:
    """Vertices of a graph, and which reads from which."""

    def __init__(
        self,
        nodes: Iterable[Node],
        kind_of: Callable[[str], str],
        may_change: Callable[[Node, str], bool],
    ) -> None:
        self._of: dict[tuple[Node, str], Vertex] = {}
        self._slots: dict[Node, tuple[list[str], list[str]]] = {}
        nodes = list(nodes)
        for node in nodes:
            self._slots[node] = slots = _slots(node)
            for name in dict.fromkeys((*slots[0], *slots[1], *_list_attrs(node))):
                if name and _is_float(node, name):
                    vertex = Vertex([(node, name)], kind_of(node.op), may_change(node, name))
                    self._of[node, name] = vertex
        self._join_lists(nodes)
        self._join_loops(nodes)
        for node in nodes:
            for slot, output in enumerate(node.inputs):
                source, target = self.giving(output), self.reading(node, slot)
                if source is not None and target is not None and source is not target:
                    source.after.append(target)
                    target.before.append(source)

    @property
    def vertices(self) -> list[Vertex]:
        """Each vertex once."""
        return list(dict.fromkeys(self._of.values()))

    def reading(self, node: Node, slot: int) -> Vertex | None:
        """The vertex that says of which type an input is; None where none does."""
        names = self._slots[node][0] if node in self._slots else []
        return self._of.get((node, names[slot])) if slot < len(names) else None

    def giving(self, output: Output) -> Vertex | None:
        """The vertex that says of which type an output is; None where none does."""
        node, k = output
        names = self._slots[node][1] if node in self._slots else []
        return self._of.get((node, names[k])) if k < len(names) else None

    def _join(self, one: Vertex, other: Vertex) -> None:
        if one is other:
            return
        one.members += other.members
        one.kind = one.kind if one.kind == other.kind else ""
        one.may_change = one.may_change and other.may_change
        for member in other.members:
            self._of[member] = one

    def _carries_list(self, node: Node, slot: int, output: Output) -> bool:
        """Whether an edge is of variants, as far as one of its ends says."""
        ends = (
            (node, self._slots[node][0], slot),
            (output[0], self._slots[output[0]][1], output[1]),
        )
        return any(
            at < len(names) and _label(one, names[at]) == "variant" for one, names, at in ends
        )

    def _join_loops(self, nodes: list[Node]) -> None:
        for node in nodes:
            if node.op != "Merge":
                continue
            for source, k in node.inputs:
                one, other = self.giving((source, k)), self.giving((node, 0))
                if source.op == "NextIteration" and one is not None and other is not None:
                    self._join(one, other)

    def _join_lists(self, nodes: list[Node]) -> None:
        """Join what hands the same tensor lists on, whatever else has them in hand."""
        leader: dict[Node, Node] = {}

        def find_leader(node: Node) -> Node:
            while leader.setdefault(node, node) is not node:
                node = leader[node]
            return node

        for node in nodes:
            for slot, output in enumerate(node.inputs):
                if self._carries_list(node, slot, output):
                    leader[find_leader(node)] = find_leader(output[0])
        groups: dict[Node, list[Node]] = {}
        for node in leader:
            groups.setdefault(find_leader(node), []).append(node)
        for group in groups.values():
            found = [self._of[n, name] for n in group for name in _list_attrs(n)
                     if (n, name) in self._of]  # fmt: skip
            for vertex in found[1:]:
                self._join(found[0], vertex)
            if found and any(not _passes_lists(node) for node in group):
                found[0].may_change = False


_LISTS = "TensorList"
_PASSING = frozenset({"Identity", "Switch", "Merge", "Enter", "Exit", "NextIteration", "AddN",
                      "ZerosLike", "StopGradient", "EmptyTensorList"})  # fmt: skip


def _passes_lists(node: Node) -> bool:
    return node.op.startswith(_LISTS) or node.op in _PASSING


def _list_attrs(node: Node) -> tuple[str, ...]:
    is_list = node.op.startswith(_LISTS) or node.op == "EmptyTensorList"
    return ("element_dtype",) if is_list else ()


def _label(node: Node, name: str) -> str:
    """The dtype of an input or output that :func:`_slots` names so."""
    if name.startswith("="):
        return name[1:]
    dtype = node.attrs.get(name) if name else None
    return dtype.label if isinstance(dtype, DType) else ""


def _slots(node: Node) -> tuple[list[str], list[str]]:
    """The name of the type attribute of each input and output; ``=dtype`` where there is none."""
    definition = find(node.op)
    if definition is None:
        return [], []
    try:
        attrs = node.full_attrs()
        return _names(definition.inputs, attrs), _names(definition.outputs, attrs)
    except (DrystoneError, KeyError):
        return [], []


def _names(args: Iterable[ArgDef], attrs: dict[str, object]) -> list[str]:
    found = []
    for arg in args:
        if arg.type_attr:
            found += [arg.type_attr] * arg.count(attrs)
        else:
            found += [f"={dtype.label}" for dtype in arg.types(attrs)]
    return found


def _is_float(node: Node, name: str) -> bool:
    dtype = node.attrs.get(name)
    return isinstance(dtype, DType) and dtype.label == "float32"
