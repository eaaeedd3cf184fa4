"""Common subgraph elimination: of nodes that compute the same, one stays.

Nodes are equal when op, attributes, device, inputs and control inputs are; inputs of commutative
ops count in any order. One sweep in topological order suffices: what a node reads was merged
before it, loops aside.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Final

import numpy as np

from drystone_base.core.dtypes import DType
from drystone_base.core.errors import DrystoneError
from drystone_base.graph import Node, Output
from drystone_base.graph.rewiring import merge
from drystone_base.ops.attrs import FunctionRef, Placeholder, TensorAttr
from drystone_base.ops.properties import COMMUTATIVE, NEXT_ITERATIONS
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.purity import gives_reference, is_pure_op

__all__ = ["run"]

# Of Maximum and Minimum the order tells which of two zeros wins, of a longer AddN how it rounds:
# those may be exchanged for integers only.
_COMMUTATIVE_INTEGERS: Final = frozenset({"Maximum", "Minimum", "AddN"})
_LARGE: Final = 1 << 14
_SMALL: Final = 128
_FEW: Final = 8
"""So many nodes of one outline are compared one by one."""
# Ops that write into their first input.
_IN_PLACE: Final = ("Inplace", "_ParallelConcat", "DestroyTemporary")
_BRANCHES: Final = frozenset({"Switch", "Merge"})
# Attributes that say nothing about values: known shapes, and which nodes to be placed beside.
_IGNORED: Final = frozenset({"_output_shapes", "_class"})


def run(ctx: Context) -> None:
    """Merge equal nodes."""
    ops = {node.op for node in ctx.graph}
    never = {op for op in ops if not (op in _BRANCHES or is_pure_op(op))}
    apart = _apart(ctx, ops)
    seen: dict[Hashable, Node | _Alike] = {}
    merged: dict[Node, Node] = {}
    try:
        for node in ctx.order():
            ctx.tick()
            if node.op in never or node in apart:
                continue
            try:
                outline = _outline(node, merged)
                alike = seen.setdefault(outline, node)
                if alike is node:
                    continue
                if isinstance(alike, Node):  # made now: most nodes are the only one of theirs
                    alike = seen[outline] = _Alike(ctx, merged, alike)
                twin = alike.twin(node)
            except (TypeError, DrystoneError):
                continue
            if twin is None or (ctx.kept(node) and ctx.kept(twin)):
                continue
            if ctx.kept(node):
                alike.exchange(twin, node)
                node, twin = twin, node
            merged[node] = twin
            ctx.count(f"duplicate-{node.op}")
    finally:
        _merge(ctx, merged)


def _apart(ctx: Context, ops: set[str]) -> set[Node]:
    """Nodes that are fed or written, or are not sure to give what equal ones do, dead together.

    Those read variables in place, and a Merge of a loop goes by its Enter; a Switch and the Merge
    of a branch do give the same.
    """
    found = set(ctx.fed_nodes)
    in_place = {op for op in ops if op.startswith(_IN_PLACE)}
    changing = {op for op in ops if gives_reference(op)}
    loops = NEXT_ITERATIONS & ops
    if not (in_place or changing or loops):
        return found
    for node in ctx.graph:
        sources = [source for source, _ in node.inputs]
        if node.op in in_place:
            found.update(sources)
        read = {source.op for source in sources}
        if not read.isdisjoint(changing) or (node.op in _BRANCHES and not read.isdisjoint(loops)):
            found.add(node)
    return found


def _merge(ctx: Context, merged: Mapping[Node, Node]) -> None:
    """Let whatever reads one of the nodes read what it is equal to, all at once."""
    if not merged:
        return
    onto = dict(merged)
    for node, twin in merged.items():
        while twin in merged:  # a twin that need not stay was merged with one that must
            twin = merged[twin]
        onto[node] = twin
    merge(ctx.graph, onto)
    for node in onto:
        ctx.forget(node)


class _Alike:
    """Nodes of one outline, none of which is equal to another."""

    def __init__(self, ctx: Context, merged: Mapping[Node, Node], first: Node) -> None:
        self.ctx, self.merged = ctx, merged
        self.few = [first]
        self.many: dict[Hashable, Node] = {}

    def twin(self, node: Node) -> Node | None:
        """The node that is equal to this one; None, and this one is kept, where there is none."""
        for other in self.few:
            if self.are_equal(other, node):
                return other
        if len(self.few) < _FEW:
            self.few.append(node)
            return None
        other_or_node = self.many.setdefault(self.key(node), node)
        same = other_or_node is node or not self.are_equal(other_or_node, node)
        return None if same else other_or_node

    def exchange(self, twin: Node, node: Node) -> None:
        """Keep ``node`` instead of its twin."""
        if twin in self.few:
            self.few[self.few.index(twin)] = node
        else:
            self.many[self.key(twin)] = node

    def key(self, node: Node) -> Hashable:
        """What nodes have in common exactly if they are equal, or nearly so."""
        if node.op == "Const":
            return (_stated(node), _digest(node.attrs["value"]))
        inputs = _read(node, self.merged)
        return (_sorted(inputs) if _order_is_free(node) else inputs, _stated(node))

    def are_equal(self, a: Node, b: Node) -> bool:
        """Whether nodes with the same outline are equal."""
        one, other = _read(a, self.merged), _read(b, self.merged)
        if one != other and not (_order_is_free(a) and _sorted(one) == _sorted(other)):
            return False
        if a.op == "Const":
            return _same_stated(a, b) and _same_array(a.attrs["value"], b.attrs["value"])
        signatures = self.ctx.signatures
        alike = signatures.of(a)
        return (alike is not None and alike is signatures.of(b)) or _stated(a) == _stated(b)


def _read(node: Node, merged: Mapping[Node, Node]) -> tuple[Output, ...]:
    """What a node reads once equal nodes are merged."""
    inputs = node.inputs
    for source, _ in inputs:
        if source in merged:
            return tuple([(_end(source, merged), slot) for source, slot in inputs])
    return inputs


def _end(node: Node, merged: Mapping[Node, Node]) -> Node:
    while node in merged:
        node = merged[node]
    return node


def _outline(node: Node, merged: Mapping[Node, Node]) -> Hashable:
    """What equal nodes share and few others do; cheap, so attributes only of nodes without inputs.

    Of large constants a few bytes.
    """
    controls = node.controls
    if controls and merged:
        controls = tuple(dict.fromkeys([_end(c, merged) for c in controls]))
    if node.op == "Const":
        return (node.op, node.device, controls, _fingerprint(node.attrs["value"]))
    op, inputs = node.op, _read(node, merged) if merged else node.inputs
    free = op in COMMUTATIVE or op in _COMMUTATIVE_INTEGERS
    read = frozenset(inputs) if free else inputs
    return (op, node.device, read, frozenset(controls) if controls else controls)


def _same_stated(a: Node, b: Node) -> bool:
    """Whether two constants state the same besides their value."""
    if len(a.attrs) == len(b.attrs) == 2:  # no more than their dtype, and what is no name is that
        return a.attrs.get("dtype") is b.attrs.get("dtype")
    return _stated(a) == _stated(b)


def _sorted(inputs: tuple[Output, ...]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted([(source.name, k) for source, k in inputs]))


def _stated(node: Node) -> Hashable:
    """The attributes with defaults filled in; of constants all but the tensor."""
    left_out = "value" if node.op == "Const" else ""
    return tuple((n, _hashable(v)) for n, v in sorted(node.full_attrs().items())
                 if n not in _IGNORED and n != left_out)  # fmt: skip


def _order_is_free(node: Node) -> bool:
    dtype = node.attrs.get("T")
    if node.op in COMMUTATIVE:
        return isinstance(dtype, DType) and not dtype.is_object if node.op[:3] == "Add" else True
    return node.op in _COMMUTATIVE_INTEGERS and isinstance(dtype, DType) and dtype.is_integer


def _hashable(value: Any) -> Hashable:
    if isinstance(value, float):
        return ("float", value.hex())
    if isinstance(value, list):
        return ("list", *map(_hashable, value))
    if isinstance(value, TensorAttr):
        held = value.array
        return (_fingerprint(value), b"" if held.dtype == object else held.tobytes())
    if isinstance(value, FunctionRef):
        return (value.name, *((n, _hashable(v)) for n, v in sorted(value.attrs.items())))
    if isinstance(value, Placeholder):
        return ("placeholder", value.name)
    return (type(value).__name__, value)


def _fingerprint(value: TensorAttr) -> Hashable:
    """What equal tensors share: of large ones a few bytes, compared in full when they agree."""
    head = (value.dtype.number, value.shape)
    if not value.dtype.is_object and value.nbytes > _SMALL:
        return (*head, value.ends(16))
    array = value.array
    if array.dtype == object:
        return (*head, tuple(array.reshape(-1).tolist())) if array.size < _LARGE else (id(value),)
    return (*head, array.tobytes())


def _digest(value: TensorAttr) -> Hashable:
    """What equal tensors share, and different ones hardly ever."""
    from hashlib import blake2b  # which loads OpenSSL, for what few models come to

    array = value.array
    if array.dtype == object:
        return _fingerprint(value)
    return blake2b(np.ascontiguousarray(array).tobytes()).digest()


def _same_array(a: TensorAttr, b: TensorAttr) -> bool:
    """Whether tensors with the same fingerprint hold the same bits."""
    one, other = a.array, b.array
    if one is other or one.dtype == object or one.nbytes <= _SMALL:
        return True  # compared by their fingerprints
    if not (one.flags.c_contiguous and other.flags.c_contiguous):
        return one.nbytes <= _LARGE and one.tobytes() == other.tobytes()
    return bool(np.array_equal(one.reshape(-1).view(np.uint8), other.reshape(-1).view(np.uint8)))
