"""Of three operands that broadcast, those whose result is smaller go first.

(x + a) + b becomes x + (a + b); the same for products. Integers wrap alike; floats may
round differently.
"""

from __future__ import annotations

from itertools import combinations
from typing import Final, NamedTuple

from drystone_base.graph import Node, Output
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Numeric, Rule
from drystone_optimizer.passes.arithmetic_optimization._inner import inner

__all__ = ["RULE"]

_ADDS: Final = ("Add", "AddV2")
Shape = tuple[int, ...]


class _Found(NamedTuple):
    inner: Node
    pair: tuple[Output, Output]
    last: Output
    numeric: Numeric


def _match(ctx: Context, node: Node) -> _Found | None:
    dtype = ctx.dtype((node, 0))
    if dtype is None or not (dtype.is_integer or dtype.is_floating or dtype.is_complex):
        return None
    floats = Numeric.APPROXIMATE if node.op == "Mul" else Numeric.REASSOCIATES  # leaves the range
    numeric = Numeric.EXACT if dtype.is_integer else floats
    if numeric > ctx.ceiling:
        return None
    alike = _ADDS if node.op in _ADDS else ("Mul",)
    left, right = node.inputs
    for output, other in ((left, right), (right, left)):
        first = inner(ctx, output, alike)
        if first is None or first.device != node.device:
            continue
        whole = ctx.shape(output)
        operands = (*first.inputs, other)
        for i, j in combinations(range(3), 2):
            pair, last = (operands[i], operands[j]), operands[3 - i - j]
            if whole is not None and _is_smaller(_together(ctx, pair), whole):
                return _Found(first, pair, last, numeric)
    return None


def _together(ctx: Context, pair: tuple[Output, Output]) -> Shape | None:
    """The shape of a pair's result, where it is known how the two broadcast."""
    a, b = (ctx.shape(output) for output in pair)
    if a is None or b is None:
        return None
    rank = max(len(a), len(b))
    sides = [(1,) * (rank - len(shape)) + tuple(shape) for shape in (a, b)]
    found = []
    for p, q in zip(*sides, strict=True):
        if -1 in (p, q) or (p != q and 1 not in (p, q)):
            return None
        found.append(q if p == 1 else p)
    return tuple(found)


def _is_smaller(shape: Shape | None, whole: Shape) -> bool:
    """Whether each size is the other's, or 1 where the other has more; and so it is somewhere."""
    if shape is None or len(shape) > len(whole):
        return False
    padded = (1,) * (len(whole) - len(shape)) + shape
    if any(p not in (1, q) for p, q in zip(padded, whole, strict=True)):
        return False
    return any(p == 1 and q not in (0, 1) for p, q in zip(padded, whole, strict=True))


def _apply(ctx: Context, node: Node, found: _Found) -> None:
    ctx.numeric = max(ctx.numeric, found.numeric)
    ctx.become(found.inner, found.inner.op, found.pair, {"T": node.attrs["T"]})
    ctx.become(node, node.op, [found.last, (found.inner, 0)], {"T": node.attrs["T"]})


_JOINED: Final = (*_ADDS, "Mul")
RULE: Final = Rule("reassociate-small-first", _JOINED, _match, _apply, reads=_JOINED)
