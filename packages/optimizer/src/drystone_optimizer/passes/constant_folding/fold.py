"""A node whose inputs are all constants becomes a constant, by the reference kernel of its op.

Where every bit is to stay, what a plugin's kernel may round otherwise is left to that.

What the graph as it is given lets be computed, a model's scales and offsets for example, is
computed in one sweep before any rule looks: of a chain only what others read becomes a constant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np

from drystone_base.core.dtypes import DType, from_numpy
from drystone_base.graph import Node
from drystone_base.graph.rewiring import redirect
from drystone_base.kernels.evaluate import evaluate
from drystone_base.ops.properties import RESHAPES
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.native_kernels import of_plugins
from drystone_optimizer.core.purity import is_pure_op
from drystone_optimizer.core.rules import Numeric, Rule

__all__ = ["RULE", "fold_all"]

_MAX_BYTES: Final = 100 * 1024
# Computed again each time for a reason: formats that kernels choose, work of other passes.
_NEVER: Final = (
    "Quantize", "Dequantize", "FakeQuant", "Sparse", "AccumulateNV2", "Save", "Restore", "Reader",
    "Const", "ImmutableConst", "StagedRead", "MergeV2",
)  # fmt: skip
_LEFT_OUT: Final = ("Const", "NoOp", "Placeholder")

# Of one output, as large as the inputs against each other: no need to infer its shape.
_ELEMENTWISE: Final = frozenset((
    "Abs", "Add", "AddV2", "Cast", "Div", "Exp", "Maximum", "Minimum", "Mul", "Neg", "Pow",
    "RealDiv", "Reciprocal", "Relu", "Rsqrt", "Sigmoid", "Sqrt", "Square", "SquaredDifference",
    "Sub", "Tanh",
))  # fmt: skip
# Of one output, as large as their first input.
_MOVES: Final = RESHAPES | {"Identity", "Transpose"}

# Rounded once, if at all: every kernel gives these bits.
_ROUNDED_ONCE: Final = frozenset((
    "Abs", "Add", "AddV2", "Div", "Mul", "Neg", "RealDiv", "Sqrt", "Square", "Sub",
))  # fmt: skip
# Elements of inputs, as they are.
_ELEMENTS: Final = _MOVES | frozenset((
    "BroadcastTo", "Concat", "ConcatV2", "Fill", "Gather", "GatherNd", "GatherV2", "MirrorPad",
    "OnesLike", "Pack", "Pad", "PadV2", "Reverse", "ReverseV2", "Select", "SelectV2", "Slice",
    "Split", "SplitV", "StridedSlice", "Tile", "Unpack", "ZerosLike",
))  # fmt: skip
_WIDE: Final = (np.dtype(np.float32), np.dtype(np.float64))

Arrays = list[np.ndarray[Any, Any]]


def _match(ctx: Context, node: Node) -> Arrays | None:
    """The node's outputs, where they can be computed and are worth keeping."""
    for source, _ in node.inputs:
        if source.op != "Const":
            return None
    if not node.inputs or node in ctx.unfoldable or not _may_fold(node.op):
        return None
    inputs = [ctx.constant(output) for output in node.inputs]
    arrays = [value for value in inputs if value is not None]
    found = _computed(ctx, node, arrays) if len(arrays) == len(inputs) else None
    if found is None:
        ctx.unfoldable.add(node)
    return found


@lru_cache(maxsize=8192)
def _may_fold(op: str) -> bool:
    """Whether nodes of that op may be computed; constants are no variables read in place."""
    return op not in _LEFT_OUT and not op.startswith(_NEVER) and is_pure_op(op)


def _computed(ctx: Context, node: Node, arrays: Arrays) -> Arrays | None:
    """What the node gives for such inputs; None where that is too large, or not to be had."""
    signature = ctx.signatures.of(node)
    if signature is None or not (types := signature.outputs) or signature.has_objects:
        return None
    if len(types) > 1 and (ctx.kept(node) or ctx.graph.control_consumers(node)):
        return None
    if ctx.ceiling is Numeric.EXACT and not _is_the_same_everywhere(node, types, arrays):
        return None
    most = max(_MAX_BYTES, sum([a.nbytes for a in arrays]))
    if _promised(ctx, node, arrays, types) > most:
        return None
    try:
        slices = signature.input_slices
        found = evaluate(node.name, node.op, signature.attrs, arrays, slices, len(types))
    except Exception:  # the same failure is reported when the node runs
        return None
    if len(found) != len(types) or sum([v.nbytes for v in found]) > most:
        return None
    for value, wanted in zip(found, types, strict=True):
        if from_numpy(value.dtype) is not wanted.base:
            return None
    return found


def _is_the_same_everywhere(node: Node, types: Sequence[DType], arrays: Arrays) -> bool:
    """Whether the kernel that would run gives the bits of the reference kernel."""
    if node.op not in of_plugins() or node.op in _ELEMENTS:
        return True
    if node.op in _ROUNDED_ONCE:
        return all(a.dtype in _WIDE or a.dtype.kind in "iu" for a in arrays)
    kinds = {t.base.np.kind for t in types} | {a.dtype.kind for a in arrays}
    return kinds <= {"i", "u", "b"}


def _promised(ctx: Context, node: Node, arrays: Arrays, types: Sequence[DType]) -> int:
    """Bytes of the outputs as far as their shapes are known."""
    if node.op in _MOVES or (len(arrays) == 1 and node.op in _ELEMENTWISE):
        return arrays[0].size * types[0].size
    if node.op in _ELEMENTWISE:
        try:
            return np.broadcast(*arrays).size * types[0].size
        except ValueError:
            pass  # it will not be computed either
    total = 0
    for k, shape in enumerate(ctx.shapes.known(node).shapes):
        dtype = ctx.dtype((node, k))
        if shape is not None and dtype is not None and all(d >= 0 for d in shape):
            total += int(np.prod(shape, dtype=np.float64)) * dtype.size
    return total


def fold_all(ctx: Context) -> None:
    """What the rule does, all at once, to nodes of one output."""
    found: dict[Node, np.ndarray[Any, Any]] = {}
    for node in ctx.order():
        arrays = _known(ctx, node, found)
        if not arrays or node in ctx.fed_nodes or not _may_fold(node.op):
            continue
        ctx.tick()
        signature = ctx.signatures.of(node)
        if signature is None or len(signature.outputs or ()) != 1:
            continue
        values = _computed(ctx, node, arrays)
        if values is None:
            ctx.unfoldable.add(node)
        else:
            found[node] = values[0]
    if not found:
        return
    between = [node for node in found if _is_between(ctx, node, found)]
    gone = set(between)
    for node, value in found.items():
        if node not in gone:
            ctx.become_constant(node, value)
    for node in between:
        ctx.forget(node)
    ctx.graph.remove(between)
    ctx.count(RULE.name, RULE.numeric, len(found))


def _known(ctx: Context, node: Node, found: Mapping[Node, np.ndarray[Any, Any]]) -> Arrays | None:
    """The node's inputs, where all of them are constants or were computed."""
    arrays: Arrays = []
    for output in node.inputs:
        source, slot = output
        if source.op == "Const":
            value = ctx.constant(output)
        else:
            value = None if slot else found.get(source)
        if value is None:
            return None
        arrays.append(value)
    return arrays


def _is_between(ctx: Context, node: Node, found: Mapping[Node, np.ndarray[Any, Any]]) -> bool:
    """Whether only what is computed, too, reads the node, and no other node needs it."""
    if not (ctx.reached and ctx.roots) or node.controls or ctx.kept(node) or ctx.noticed(node):
        return False
    return all(u in found and node not in u.controls for u in ctx.graph.users(node))


def _apply(ctx: Context, node: Node, values: Arrays) -> None:
    if len(values) == 1:
        ctx.become_constant(node, values[0])
        return
    controls = [*node.controls, *ctx.waits(node.inputs)]
    used = ctx.used(node)
    results = [
        ctx.add_constant(node, f"folded_{k}", value, controls) if k in used else (node, k)
        for k, value in enumerate(values)
    ]
    redirect(ctx.graph, node, results)
    ctx.drop(node)


RULE: Final = Rule("folded", (), _match, _apply, no_ops=_LEFT_OUT, reads=("Const",))
