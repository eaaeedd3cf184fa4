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
from drystone_base.graph import Node, topological_order
from drystone_base.ops.attrs import FunctionRef, Placeholder, TensorAttr
from drystone_optimizer.context import Context
from drystone_optimizer.purity import is_pure

__all__ = ["run"]

# Exchanging inputs leaves every bit. Of Maximum and Minimum the order tells which of two zeros
# wins, of a longer AddN how it rounds: those may be exchanged for integers only.
_COMMUTATIVE: Final = frozenset({
    "Add", "AddV2", "Mul", "LogicalAnd", "LogicalOr", "Equal", "NotEqual", "BitwiseAnd",
    "BitwiseOr", "BitwiseXor", "SquaredDifference",
})  # fmt: skip
_COMMUTATIVE_INTEGERS: Final = frozenset({"Maximum", "Minimum", "AddN"})
_LARGE: Final = 1 << 14
# Ops that write into their first input.
_IN_PLACE: Final = ("Inplace", "_ParallelConcat", "DestroyTemporary")
# Values of attributes that are not worth comparing.
_IGNORED: Final = frozenset({"_output_shapes"})


def run(ctx: Context) -> None:
    """Merge equal nodes."""
    graph = ctx.graph
    seen: dict[Hashable, list[Node]] = {}
    written = {source for node in graph if node.op.startswith(_IN_PLACE)
               for source, _ in node.inputs}  # fmt: skip
    for node in topological_order(graph):
        ctx.tick()
        if node in ctx.fed_nodes or not is_pure(node) or node in written:
            continue
        try:
            key = _key(node)
        except (TypeError, DrystoneError):
            continue
        twins = seen.setdefault(key, [])
        twin = next((t for t in twins if _same_constants(t, node)), None)
        if twin is None:
            twins.append(node)
        elif not ctx.kept(node):
            _merge(ctx, node, twin)
        elif not ctx.kept(twin):
            twins[twins.index(twin)] = node
            _merge(ctx, twin, node)


def _merge(ctx: Context, node: Node, twin: Node) -> None:
    """Let whatever reads ``node`` read ``twin``."""
    graph = ctx.graph
    for k in sorted({user.inputs[at][1] for user, at in graph.consumers(node)}):
        graph.redirect((node, k), (twin, k))
    graph.redirect_controls(node, twin)
    graph.remove(node)
    ctx.forget(node)
    ctx.count(f"equal {node.op}")


def _key(node: Node) -> Hashable:
    inputs: Any = [(source.name, k) for source, k in node.inputs]
    if _order_is_free(node):
        inputs.sort()
    controls = tuple(sorted(control.name for control in node.controls))
    attrs = tuple((n, _hashable(v)) for n, v in sorted(node.full_attrs().items())
                  if n not in _IGNORED)  # fmt: skip
    return (node.op, node.device, tuple(inputs), controls, attrs)


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
        return _fingerprint(value)
    if isinstance(value, FunctionRef):
        return (value.name, *((n, _hashable(v)) for n, v in sorted(value.attrs.items())))
    if isinstance(value, Placeholder):
        return ("placeholder", value.name)
    return (type(value).__name__, value)


def _fingerprint(value: TensorAttr) -> Hashable:
    """What equal tensors share: of large ones a few bytes, compared in full when they agree."""
    array = value.array
    head = (value.dtype.number, array.shape)
    if array.dtype == object:
        return (*head, tuple(array.reshape(-1).tolist())) if array.size < _LARGE else (id(value),)
    if array.nbytes <= _LARGE:
        return (*head, array.tobytes())
    return (*head, array.flat[:64].tobytes(), array.flat[-64:].tobytes())


def _same_constants(a: Node, b: Node) -> bool:
    if a.op != "Const":
        return True
    one, other = a.attrs["value"].array, b.attrs["value"].array
    if one.nbytes <= _LARGE:
        return True  # compared by their keys
    if one is other:
        return True
    if not (one.flags.c_contiguous and other.flags.c_contiguous):
        return False
    return bool(np.array_equal(one.reshape(-1).view(np.uint8), other.reshape(-1).view(np.uint8)))
