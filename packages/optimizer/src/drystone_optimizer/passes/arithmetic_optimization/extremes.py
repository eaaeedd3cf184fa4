"""The largest of f(x) is f of the largest x where f never falls; of the least where it never rises.

Only along axes that are known to have elements: of none, the largest is minus infinity, whatever
f makes of that. An index of the largest is that of f(x) only where f is one to one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

from drystone_base.graph import Node
from drystone_base.ops.properties import FALLING, ONE_TO_ONE, PARTLY_FALLING, PARTLY_RISING, RISING
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Numeric, Rule
from drystone_optimizer.passes.arithmetic_optimization._inner import inner, joins_a_layer

__all__ = ["RULES"]

_OTHER: Final = {"Max": "Min", "Min": "Max", "ArgMax": "ArgMin", "ArgMin": "ArgMax"}


class _Found(NamedTuple):
    function: Node
    op: str


_Match: TypeAlias = "Callable[[Context, Node], _Found | None]"


def _has_elements(ctx: Context, node: Node) -> bool:
    axes, shape = ctx.ints(node.inputs[1]), ctx.shape(node.inputs[0])
    if axes is None or shape is None or any(not -len(shape) <= k < len(shape) for k in axes):
        return False
    return all(shape[k] > 0 for k in axes)


def _match_in(ops: frozenset[str], falling: frozenset[str]) -> _Match:
    def match(ctx: Context, node: Node) -> _Found | None:
        function = inner(ctx, node.inputs[0], ops | falling)
        if function is None or joins_a_layer(function):
            return None
        if not _has_elements(ctx, node):
            return None
        return _Found(function, _OTHER[node.op] if function.op in falling else node.op)

    return match


def _apply(ctx: Context, node: Node, found: _Found) -> None:
    function = found.function
    attrs = {n: v for n, v in node.attrs.items() if not n.startswith("_")}
    own = {n: v for n, v in function.attrs.items() if not n.startswith("_")}
    inputs = [function.inputs[0], *node.inputs[1:]]
    extreme = ctx.add(found.op, node, "extreme", inputs, attrs)
    ctx.become(node, function.op, [(extreme, 0)], own)
    ctx.drop_unused(function)


def _match_index(ctx: Context, node: Node) -> _Found | None:
    function = inner(ctx, node.inputs[0], ("Neg",))
    dtype = ctx.dtype(node.inputs[0])
    if function is None or dtype is None or not dtype.is_floating or not _has_elements(ctx, node):
        return None
    return _Found(function, _OTHER[node.op])


def _match_index_of_rounded(ctx: Context, node: Node) -> _Found | None:
    function = inner(ctx, node.inputs[0], ONE_TO_ONE)
    if function is None or not _has_elements(ctx, node):
        return None
    return _Found(function, node.op)


def _apply_index(ctx: Context, node: Node, found: _Found) -> None:
    attrs = {n: v for n, v in node.attrs.items() if not n.startswith("_")}
    ctx.become(node, found.op, [found.function.inputs[0], *node.inputs[1:]], attrs)
    ctx.drop_unused(found.function)


def _match_pool(ctx: Context, node: Node) -> _Found | None:
    function = inner(ctx, node.inputs[0], RISING)
    if function is None or joins_a_layer(function):
        return None
    return _Found(function, node.op)


_REDUCE: Final = ("Max", "Min")
_INDEX: Final = ("ArgMax", "ArgMin")
RULES: Final = (
    Rule("reduce-of-monotone", _REDUCE, _match_in(RISING, FALLING), _apply,
         Numeric.REASSOCIATES, reads=(*RISING, *FALLING)),
    Rule("reduce-of-partial-monotone", _REDUCE, _match_in(PARTLY_RISING, PARTLY_FALLING), _apply,
         Numeric.APPROXIMATE, reads=(*PARTLY_RISING, *PARTLY_FALLING)),
    Rule("pool-of-monotone", ("MaxPool",), _match_pool, _apply, Numeric.APPROXIMATE,
         reads=tuple(RISING)),
    Rule("argmax-of-negation", _INDEX, _match_index, _apply_index, reads=("Neg",)),
    Rule("argmax-of-monotone", _INDEX, _match_index_of_rounded, _apply_index,
         Numeric.APPROXIMATE, reads=tuple(ONE_TO_ONE)),
)  # fmt: skip
