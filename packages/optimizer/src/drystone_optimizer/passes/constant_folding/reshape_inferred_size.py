"""Reshape to sizes of which one is not constant: that one is what is left over, so it becomes -1.

Batches of unknown size are spelled so: a size taken from Shape, packed with constants.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from drystone_base.graph import Node, Output
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.purity import is_pure
from drystone_optimizer.core.rules import Rule

__all__ = ["RULE"]

_MAX_WALK: Final = 32


def _match(ctx: Context, node: Node) -> np.ndarray[Any, Any] | None:
    target = node.inputs[1]
    if target[0].op == "Const" or target in ctx.fed:
        return None
    items = ctx.shapes.items(target)
    if items is None:
        return None
    numbers = [item if known else -1 for item, known in items]
    rest = [item for item, known in items if not known]
    others = [item for item, known in items if known]
    if len(rest) != 1 or any(item < 1 for item in others):
        return None
    if not (_is_left_over(ctx, node, rest[0], others) or _is_of_its_shape(ctx, node)):
        return None
    dtype = ctx.dtype(target)
    return None if dtype is None else np.array(numbers, dtype.np)


def _is_left_over(ctx: Context, node: Node, rest: int, others: list[int]) -> bool:
    """Whether the data has one such unknown size, and as many elements for each of it."""
    shape = ctx.shape(node.inputs[0])
    if shape is None or rest >= -1 or [d for d in shape if d < 0] != [rest]:
        return False
    return math.prod(d for d in shape if d >= 0) == math.prod(others)


def _is_of_its_shape(ctx: Context, node: Node) -> bool:
    """Whether the sizes come from the shape of the data alone, so that they fit or always fail."""
    data, target = node.inputs
    stack: list[Output] = [target]
    seen: set[Node] = set()
    while stack:
        source, slot = stack.pop()
        if source in seen:
            continue
        seen.add(source)
        if source.op == "Shape" and source.inputs[0] == data and (source, slot) not in ctx.fed:
            continue
        if source in ctx.fed_nodes or len(seen) > _MAX_WALK:
            return False
        if not is_pure(source) or not (source.inputs or source.op == "Const"):
            return False
        stack.extend(source.inputs)
    return True


def _apply(ctx: Context, node: Node, numbers: np.ndarray[Any, Any]) -> None:
    target = node.inputs[1]
    controls = ctx.waits([target])
    sizes = ctx.add_constant(node, "sizes", numbers)
    ctx.graph.set_input(node, 1, sizes)
    if controls:
        ctx.graph.set_controls(node, [*node.controls, *controls])
    ctx.drop_unused(target[0])


RULE: Final = Rule("reshape-inferred-size", ("Reshape",), _match, _apply)
