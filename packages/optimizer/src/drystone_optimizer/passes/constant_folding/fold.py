"""A node whose inputs are all constants becomes a constant, by the reference kernel of its op."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from drystone_base.dtypes import DType, from_numpy
from drystone_base.executor.evaluate import evaluate
from drystone_base.graph import Node
from drystone_optimizer.context import Context
from drystone_optimizer.purity import is_pure
from drystone_optimizer.rules import Rule

__all__ = ["RULE"]

_MAX_BYTES: Final = 100 * 1024
# Computed anew each time for a reason: formats that kernels choose, work of other passes.
_NEVER: Final = (
    "Quantize", "Dequantize", "FakeQuant", "Sparse", "AccumulateNV2", "Save", "Restore", "Reader",
    "Const", "ImmutableConst", "StagedRead", "MergeV2",
)  # fmt: skip

# Of one output, as large as the inputs against each other: no need to infer its shape.
_ELEMENTWISE: Final = frozenset((
    "Abs", "Add", "AddV2", "Cast", "Div", "Exp", "Maximum", "Minimum", "Mul", "Neg", "Pow",
    "RealDiv", "Reciprocal", "Relu", "Rsqrt", "Sigmoid", "Sqrt", "Square", "SquaredDifference",
    "Sub", "Tanh",
))  # fmt: skip

Arrays = list[np.ndarray[Any, Any]]


def _match(ctx: Context, node: Node) -> Arrays | None:
    """The node's outputs, where they can be computed and are worth keeping."""
    for source, _ in node.inputs:
        if source.op != "Const":
            return None
    if not node.inputs or node in ctx.unfoldable or node.op.startswith(_NEVER):
        return None
    if not is_pure(node):
        return None
    found = _computed(ctx, node)
    if found is None:
        ctx.unfoldable.add(node)
    return found


def _computed(ctx: Context, node: Node) -> Arrays | None:
    inputs = [ctx.constant(output) for output in node.inputs]
    arrays = [value for value in inputs if value is not None]
    signature = ctx.signatures.of(node)
    if len(arrays) < len(inputs) or signature is None or not (types := signature.outputs):
        return None
    if any(t.is_object for t in (*types, *signature.inputs)):
        return None
    if len(types) > 1 and (ctx.kept(node) or ctx.graph.control_consumers(node)):
        return None
    if _promised(ctx, node, arrays, types) > max(_MAX_BYTES, sum(a.nbytes for a in arrays)):
        return None
    try:
        slices = signature.input_slices
        found = evaluate(node.name, node.op, signature.attrs, arrays, slices, len(types))
    except Exception:  # the same failure is reported when the node runs
        return None
    fits = len(found) == len(types) and all(
        from_numpy(value.dtype) is wanted.base for value, wanted in zip(found, types, strict=True)
    )
    small = sum(v.nbytes for v in found) <= max(_MAX_BYTES, sum(a.nbytes for a in arrays))
    return found if fits and small else None


def _promised(ctx: Context, node: Node, arrays: Arrays, types: Sequence[DType]) -> int:
    """Bytes of the outputs as far as their shapes are known."""
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


def _apply(ctx: Context, node: Node, values: Arrays) -> None:
    if len(values) == 1:
        ctx.become_constant(node, values[0])
        return
    controls = [*node.controls, *ctx.waits(node.inputs)]
    for k, value in enumerate(values):
        if ctx.users((node, k)):
            ctx.graph.redirect((node, k), ctx.add_constant(node, f"folded_{k}", value, controls))
    ctx.drop(node)


RULE: Final = Rule("folded", (), _match, _apply, no_ops=("Const", "NoOp", "Placeholder"))
