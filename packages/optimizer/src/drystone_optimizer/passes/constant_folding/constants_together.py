"""Two constants of a chain of additions, or of multiplications, become one: (x + a) + b, (x a) b.

Integers wrap the same either way; floats may round differently. Left alone where the joined
constant is not finite or loses all of a factor.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from drystone_base.graph import Node, Output
from drystone_optimizer.context import Context, same_shape
from drystone_optimizer.rules import Numeric, Rule

__all__ = ["RULE"]

_ADDS: Final = ("Add", "AddV2", "Sub")
_MAX_BYTES: Final = 100 * 1024


class _Found(NamedTuple):
    inner: Node
    data: Output
    op: str
    joined: np.ndarray[Any, Any]
    numeric: Numeric


def _match(ctx: Context, node: Node) -> _Found | None:
    outer = _with_constant(ctx, node)
    if outer is None:
        return None
    (inner, slot), b = outer
    if slot or inner in ctx.fed_nodes or not ctx.only_user(inner) or inner.controls:
        return None
    if (inner.op in _ADDS) is not (node.op in _ADDS) or inner.op not in (*_ADDS, "Mul"):
        return None
    found = _with_constant(ctx, inner)
    if found is None or not ctx.may_rewrite(inner):
        return None
    data, a = found
    joined = _join(node.op, a, b)
    if joined is None or joined.nbytes > _MAX_BYTES:
        return None
    numeric = Numeric.EXACT if joined.dtype.kind in "iu" else Numeric.REASSOCIATES
    if numeric > ctx.ceiling or not same_shape(ctx.shape(data), ctx.shape((node, 0))):
        return None
    return _Found(inner, data, "Mul" if node.op == "Mul" else "AddV2", joined, numeric)


def _with_constant(ctx: Context, node: Node) -> tuple[Output, np.ndarray[Any, Any]] | None:
    """The operand that is not constant, and the constant that is added or multiplied."""
    left, right = node.inputs
    value = ctx.constant(right)
    if value is not None and ctx.constant(left) is None and value.dtype.kind in "fiu":
        with np.errstate(all="ignore"):
            return left, np.asarray(np.negative(value) if node.op == "Sub" else value)
    value = ctx.constant(left)
    if value is None or node.op == "Sub" or ctx.constant(right) is not None:
        return None
    return (right, value) if value.dtype.kind in "fiu" else None


def _join(op: str, a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> Any:
    if a.dtype != b.dtype or not (a.size and b.size):
        return None
    try:
        with np.errstate(all="ignore"):
            joined = np.asarray(a * b if op == "Mul" else a + b)
    except ValueError:
        return None  # shapes that do not go together are reported when the node runs
    if joined.dtype.kind != "f":
        return joined
    if not np.isfinite(joined).all():
        return None
    if op == "Mul" and (np.abs(joined) < np.finfo(joined.dtype).tiny).any():
        return None
    return joined


def _apply(ctx: Context, node: Node, found: _Found) -> None:
    ctx.numeric = max(ctx.numeric, found.numeric)
    inputs = (*node.inputs, *found.inner.inputs)
    constants = [o for o in inputs if o[0].op == "Const" and o[0] is not found.inner]
    controls = [c for source, _ in constants for c in source.controls]
    joined = ctx.add_constant(node, "joined", found.joined, list(dict.fromkeys(controls)))
    ctx.become(node, found.op, [found.data, joined], {"T": node.attrs["T"]})
    ctx.drop(found.inner)
    for source, _ in constants:
        ctx.drop_unused(source)


RULE: Final = Rule("constants together", (*_ADDS, "Mul"), _match, _apply)
