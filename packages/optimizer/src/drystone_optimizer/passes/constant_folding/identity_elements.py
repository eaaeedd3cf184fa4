"""Arithmetic with 0, 1, true and false becomes its other operand, a constant, or a simpler op.

Only where the result has the shape of the operand that stays. Adding +0 turns -0 into +0, so that
is left out (or done) by numeric class; adding -0 and subtracting +0 leave every bit.
"""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple

import numpy as np

from drystone_base.graph import Node, Output
from drystone_optimizer.core.allowed import allows
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.facts import same_shape
from drystone_optimizer.core.rules import Numeric, Rule

__all__ = ["RULE"]

_ADDS: Final = ("Add", "AddV2", "BiasAdd", "BiasAddV1")
_DIVIDES: Final = ("RealDiv", "Div", "DivNoNan", "FloorDiv", "TruncateDiv")
_ROUNDS: Final = ("FloorDiv", "TruncateDiv")
_BOOL: Final = ("LogicalAnd", "LogicalOr")


class _Found(NamedTuple):
    does: Literal["keep", "neg", "reciprocal", "constant"]
    data: Output
    lost: Output
    value: Any = None
    numeric: Numeric = Numeric.EXACT


_OPS: Final = {"neg": "Neg", "reciprocal": "Reciprocal"}


def _match(ctx: Context, node: Node) -> _Found | None:
    left, right = node.inputs[:2]
    for data, other, at in ((left, right, 1), (right, left, 0)):
        value = ctx.constant(other)
        if value is None or not value.size or value.dtype.kind not in "fiubVc":
            continue
        item = value.item(0) if value.dtype.kind in "fiu" else value.reshape(-1)[0]
        if value.dtype.kind == "V" or (item and item != 1):
            continue  # first what costs least: most constants are neither 0 nor 1
        if value.size > 1 and not np.all(value == item):
            continue
        found = _judge(ctx, node.op, at, data, other, item)
        if found is None or found.numeric > ctx.ceiling:
            continue
        op = _OPS.get(found.does)
        if op is not None and not allows(op, ctx.dtype(data)):
            continue  # such as Neg of what has no sign
        if same_shape(ctx.shape(data), ctx.shape((node, 0))):
            return found
    return None


def _judge(ctx: Context, op: str, at: int, data: Output, lost: Output, item: Any) -> _Found | None:
    """What a node of that op does with ``item`` as operand ``at``."""
    dtype = ctx.dtype(data)
    floating = dtype is not None and (dtype.is_floating or dtype.is_complex)
    if op in _BOOL:
        if bool(item) is (op == "LogicalAnd"):
            return _Found("keep", data, lost)
        return _constant(ctx, data, lost, bool(item))
    if op == "Mul":
        if item == 1:
            return _Found("keep", data, lost)
        return _constant(ctx, data, lost, 0) if item == 0 and not floating else None
    if op in _ADDS or op == "Sub":
        return _zero(op, at, data, lost, item, floating)
    if op in _DIVIDES and at == 1 and item == 1 and not (floating and op in _ROUNDS):
        return _Found("keep", data, lost)
    if op == "RealDiv" and at == 0 and item == 1 and floating:
        return _Found("reciprocal", data, lost)
    return None


def _zero(op: str, at: int, data: Output, lost: Output, item: Any, floating: bool) -> _Found | None:
    if item != 0 or (op.startswith("BiasAdd") and at == 0):
        return None
    negative = floating and np.signbit(item.real)
    if op == "Sub" and at == 0:
        return _Found("neg", data, lost, None, Numeric(floating))
    exact = not floating or (negative if op != "Sub" else not negative)
    return _Found("keep", data, lost, None, Numeric.EXACT if exact else Numeric.REASSOCIATES)


def _constant(ctx: Context, data: Output, lost: Output, item: Any) -> _Found | None:
    shape, dtype = ctx.shape(data), ctx.dtype(data)
    if shape is None or dtype is None or any(d < 0 for d in shape):
        return None
    if np.prod(shape, dtype=float) * dtype.size > 1 << 16:
        return None
    return _Found("constant", data, lost, np.full(shape, item, dtype.np))


def _apply(ctx: Context, node: Node, found: _Found) -> None:
    ctx.numeric = max(ctx.numeric, found.numeric)
    if found.does == "keep":
        ctx.bypass(node, found.data, [found.lost])
    elif found.does == "constant":
        ctx.become_constant(node, found.value)
    else:
        controls = [*node.controls, *ctx.waits([found.lost])]
        ctx.become(node, _OPS[found.does], [found.data], {"T": ctx.dtype(found.data)}, controls)


RULE: Final = Rule(
    "identity-element", ("Mul", "Sub", *_ADDS, *_DIVIDES, *_BOOL), _match, _apply, reads=("Const",)
)
