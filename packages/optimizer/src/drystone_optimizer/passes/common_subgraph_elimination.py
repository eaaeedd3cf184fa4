"""Common subgraph elimination: of nodes that compute the same, one stays.

Nodes are equal when op, attributes, device, inputs and control inputs are; inputs of commutative
ops count in any order. One sweep in topological order suffices: what a node reads was merged
before it, loops aside.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final

import numpy as np

from drystone_base.dtypes import DType
from drystone_base.errors import DrystoneError
from drystone_base.graph import Node
from drystone_base.graph.rewiring import merge
from drystone_base.graph.topology import NEXT_ITERATION_OPS
from drystone_base.ops.attrs import FunctionRef, Placeholder, TensorAttr
from drystone_optimizer.context import Context
from drystone_optimizer.purity import gives_reference, is_pure_op

__all__ = ["run"]

# Exchanging inputs leaves every bit. Of Maximum and Minimum the order tells which of two zeros
# wins, of a longer AddN how it rounds: those may be exchanged for integers only.
_COMMUTATIVE: Final = frozenset({
    "Add", "AddV2", "Mul", "LogicalAnd", "LogicalOr", "Equal", "NotEqual", "BitwiseAnd",
    "BitwiseOr", "BitwiseXor", "SquaredDifference",
})  # fmt: skip
_COMMUTATIVE_INTEGERS: Final = frozenset({"Maximum", "Minimum", "AddN"})
_LARGE: Final = 1 << 14
_SMALL: Final = 128
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
    seen: dict[Hashable, list[Node]] = {}
    for node in ctx.order():
        ctx.tick()
        if node.op in never or node in apart:
            continue
        try:
            outline = _outline(node)
            alike = seen.get(outline)
            if alike is None:
                seen[outline] = [node]
                continue
            twin = next((t for t in alike if _are_equal(ctx, t, node)), None)
        except (TypeError, DrystoneError):
            continue
        if twin is None:
            alike.append(node)
        elif not ctx.kept(node):
            _merge(ctx, node, twin)
        elif not ctx.kept(twin):
            alike[alike.index(twin)] = node
            _merge(ctx, twin, node)


def _apart(ctx: Context, ops: set[str]) -> set[Node]:
    """Nodes that are fed or written, or are not sure to give what equal ones do, dead together.

    Those read variables in place, and a Merge of a loop goes by its Enter; a Switch and the Merge
    of a branch do give the same.
    """
    found = set(ctx.fed_nodes)
    in_place = {op for op in ops if op.startswith(_IN_PLACE)}
    changing = {op for op in ops if gives_reference(op)}
    loops = NEXT_ITERATION_OPS & ops
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


def _merge(ctx: Context, node: Node, twin: Node) -> None:
    """Let whatever reads ``node`` read ``twin``."""
    merge(ctx.graph, node, twin)
    ctx.forget(node)
    ctx.count(f"equal {node.op}")


def _outline(node: Node) -> Hashable:
    """What equal nodes share and few others do; cheap, so attributes only of nodes without inputs.

    Of large constants a few bytes.
    """
    if node.op == "Const":
        return (node.op, node.device, node.controls, _fingerprint(node.attrs["value"]))
    op, controls = node.op, node.controls
    free = op in _COMMUTATIVE or op in _COMMUTATIVE_INTEGERS
    inputs = frozenset(node.inputs) if free else node.inputs
    return (op, node.device, inputs, frozenset(controls) if controls else controls)


def _are_equal(ctx: Context, a: Node, b: Node) -> bool:
    """Whether nodes with the same outline are equal."""
    if a.inputs != b.inputs and not (_order_is_free(a) and _sorted(a) == _sorted(b)):
        return False
    if a.op == "Const":
        return _same_stated(a, b) and _same_array(a.attrs["value"], b.attrs["value"])
    alike = ctx.signatures.of(a)
    return (alike is not None and alike is ctx.signatures.of(b)) or _stated(a) == _stated(b)


def _same_stated(a: Node, b: Node) -> bool:
    """Whether two constants state the same besides their value."""
    if len(a.attrs) == len(b.attrs) == 2:  # no more than their dtype, and what is no name is that
        return a.attrs.get("dtype") is b.attrs.get("dtype")
    return _stated(a) == _stated(b)


def _sorted(node: Node) -> list[tuple[str, int]]:
    return sorted((source.name, k) for source, k in node.inputs)


def _stated(node: Node) -> Hashable:
    """The attributes with defaults filled in; of constants all but the tensor."""
    left_out = "value" if node.op == "Const" else ""
    return tuple((n, _hashable(v)) for n, v in sorted(node.full_attrs().items())
                 if n not in _IGNORED and n != left_out)  # fmt: skip


def _order_is_free(node: Node) -> bool:
    dtype = node.attrs.get("T")
    if node.op in _COMMUTATIVE:
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


def _same_array(a: TensorAttr, b: TensorAttr) -> bool:
    """Whether tensors with the same fingerprint hold the same bits."""
    one, other = a.array, b.array
    if one is other or one.dtype == object or one.nbytes <= _SMALL:
        return True  # compared by their fingerprints
    if not (one.flags.c_contiguous and other.flags.c_contiguous):
        return one.nbytes <= _LARGE and one.tobytes() == other.tobytes()
    return bool(np.array_equal(one.reshape(-1).view(np.uint8), other.reshape(-1).view(np.uint8)))
