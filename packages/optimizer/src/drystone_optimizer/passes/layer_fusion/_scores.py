"""Scores of attention: from what goes into the softmax up to the product of queries and keys."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Final

from drystone_base.graph import Node, Output
from drystone_optimizer.core.context import Context

__all__ = ["STEPS", "Scores", "scores_of"]

_DEEP: Final = 6
_MOST_MASKS: Final = 4


@dataclass
class Scores:
    """A product, what it is multiplied with, and then the masks: what they do, and where from."""

    product: Node
    scale: float = 1.0
    fill: float = 0.0
    masks: list[tuple[str, Output]] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)


STEPS: Final = ("Mul", "RealDiv", "Div", "Add", "AddV2", "SelectV2")
"""Ops that may come between a product and the softmax of scores."""


def scores_of(
    ctx: Context, output: Output, products: Collection[str], deep: int = _DEEP
) -> Scores | None:
    """The scores that the output is; None where it is computed otherwise."""
    node, slot = output
    if slot or not deep or node in ctx.fed_nodes:
        return None
    if node.op in products:
        shape = ctx.shape(output)
        return Scores(node, nodes=[node]) if shape is not None and len(shape) == 4 else None
    for inner, scale, mask in _steps(ctx, node):
        found = scores_of(ctx, inner, products, deep - 1)
        if found is not None and _add(ctx, found, node, scale, mask):
            return found
    return None


def _steps(ctx: Context, node: Node) -> Iterator[tuple[Output, float, tuple[str, Output] | None]]:
    """The ways to read a node: where scores come from, and what it does to them."""
    match node.op:
        case "Mul":
            for left, right in (node.inputs, node.inputs[::-1]):
                by = _number(ctx, right)
                if by is not None:
                    yield left, by, None
        case "RealDiv" | "Div":
            by = _number(ctx, node.inputs[1])
            if by:
                yield node.inputs[0], 1 / by, None
        case "Add" | "AddV2":
            for left, right in (node.inputs, node.inputs[::-1]):
                yield left, 1.0, ("Add", right)
        case "SelectV2":
            if _number(ctx, node.inputs[2]) is not None:
                yield node.inputs[1], 1.0, ("Select", node.inputs[0])


def _number(ctx: Context, output: Output) -> float | None:
    value = ctx.constant(output)
    if value is None or value.size != 1 or value.ndim > 4 or value.dtype.kind != "f":
        return None
    return float(value.reshape(()))


def _add(
    ctx: Context, found: Scores, node: Node, scale: float, mask: tuple[str, Output] | None
) -> bool:
    """Whether the step fits after what was found; then it is noted there."""
    if mask is None:
        if found.masks:
            return False
        found.scale *= scale
        found.nodes.append(node)
        return True
    kind, output = mask
    inside = [node]
    if kind == "Select":
        fill = _number(ctx, node.inputs[2]) or 0.0
        if any(other == "Select" for other, _ in found.masks) and fill != found.fill:
            return False
        output, more = _without_ones(ctx, output, found.nodes)
        inside += more
        found.fill = fill
    if len(found.masks) == _MOST_MASKS or not _fits(ctx, found.product, output):
        return False
    found.masks.append((kind, output))
    found.nodes += inside
    return True


def _without_ones(ctx: Context, mask: Output, scores: list[Node]) -> tuple[Output, list[Node]]:
    """A mask that is joined to one of the scores' shape, all true, as Keras does, by itself."""
    node = mask[0]
    if node.op == "LogicalAnd":
        for one, other in (node.inputs, node.inputs[::-1]):
            full, dims = one[0], one[0].inputs[0][0] if one[0].inputs else one[0]
            if full.op != "Fill" or dims.op != "Shape" or dims.inputs[0][0] not in scores:
                continue
            value = ctx.constant(full.inputs[1])
            if value is not None and value.dtype.kind == "b" and bool(value.reshape(())):
                return other, [node, full, dims]
    return mask, []


def _fits(ctx: Context, product: Node, mask: Output) -> bool:
    """Whether a mask makes no more queries or keys of the scores by broadcasting them."""
    shape, scores = ctx.shape(mask), ctx.shape((product, 0))
    if shape is None or scores is None or len(shape) > 4:
        return False
    ends = zip(reversed(shape), reversed(scores[2:]), strict=False)
    return all(size == 1 or (size == held and size != -1) for size, held in ends)
