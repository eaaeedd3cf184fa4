"""The constants of a chain of additions, or of multiplications, become one: (x + a) + b, (x a) b.

A chain is joined at once, whichever of its nodes is looked at, and all of it at its end.

Integers wrap the same either way; floats may round differently. Left alone where the joined
constant is not finite or loses all of a factor.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from drystone_base.graph import Node, Output
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.facts import same_shape
from drystone_optimizer.core.rules import Numeric, Rule
from drystone_optimizer.passes.constant_folding._joining import MOST_BYTES, join

__all__ = ["RULE"]

_ADDS: Final = ("Add", "AddV2", "Sub")


class _Found(NamedTuple):
    chain: list[Node]
    data: Output
    op: str
    joined: np.ndarray[Any, Any]
    numeric: Numeric


def _match(ctx: Context, node: Node) -> _Found | None:
    pair = _pair(ctx, node)
    if pair is None:
        return None
    found, longer = pair, _longer(ctx, pair._replace(chain=list(pair.chain)))
    while longer is not None:
        found, longer = longer, _longer(ctx, longer)
    # Where a constant is larger than the data, the first two may go together nevertheless.
    for one in [found] if found is pair else [found, pair]:
        if same_shape(ctx.shape(one.data), ctx.shape((one.chain[-1], 0))):
            return one
    return None


def _pair(ctx: Context, node: Node) -> _Found | None:
    """A node and the one that it reads from."""
    outer = _with_constant(ctx, node)
    if outer is None:
        return None
    (inner, slot), b = outer
    if slot or not _goes_with(node, inner) or inner in ctx.fed_nodes or inner.controls:
        return None
    if not ctx.only_user(inner):
        return None
    found = _with_constant(ctx, inner)
    if found is None or not ctx.may_rewrite(inner):
        return None
    data, a = found
    joined = join(node.op, a, b)
    if joined is None or joined.nbytes > MOST_BYTES:
        return None
    numeric = Numeric.EXACT if joined.dtype.kind in "iu" else Numeric.REASSOCIATES
    if numeric > ctx.ceiling:
        return None
    return _Found([inner, node], data, "Mul" if node.op == "Mul" else "AddV2", joined, numeric)


def _longer(ctx: Context, found: _Found) -> _Found | None:
    """The chain with the node that reads its last one, where that adds or multiplies, too."""
    last = found.chain[-1]
    user = ctx.graph.only_user(last)
    if user is None or last.controls or last in ctx.fed_nodes or not _goes_with(last, user):
        return None
    if not ctx.only_user(last) or not ctx.may_rewrite(user):
        return None
    read = _with_constant(ctx, user)
    if read is None or read[0] != (last, 0):
        return None
    joined = join(user.op, found.joined, read[1])
    if joined is None or joined.nbytes > MOST_BYTES:
        return None
    found.chain.append(user)
    return found._replace(joined=joined)


def _goes_with(one: Node, other: Node) -> bool:
    if one.op == "Mul":
        return other.op == "Mul"
    return other.op in _ADDS


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


def _apply(ctx: Context, node: Node, found: _Found) -> None:
    ctx.numeric = max(ctx.numeric, found.numeric)
    *inner, last = found.chain
    assert node in found.chain
    constants = [o for n in found.chain for o in n.inputs if o[0].op == "Const"]
    controls = dict.fromkeys(c for held, _ in constants for c in held.controls)
    joined = ctx.add_constant(last, "joined", found.joined, list(controls))
    ctx.become(last, found.op, [found.data, joined], {"T": last.attrs["T"]})
    for one in reversed(inner):
        ctx.drop(one)
    for source, _ in constants:
        ctx.drop_unused(source)


_JOINED: Final = (*_ADDS, "Mul")
RULE: Final = Rule("reassociate-constants", _JOINED, _match, _apply, reads=_JOINED)
