"""Layer normalization, as Keras 2 writes it: rows as channels of a batch normalization.

``x`` becomes one example with a channel for each row, ``[1, rows, width, 1]``, whose batch
normalization in training, with ones and zeros for parameters, normalizes each row. The shape comes
back, then the real scale and offset follow.
"""

from __future__ import annotations

from math import prod
from typing import Final

from drystone_base.graph import Node, Output
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.regions import is_inner
from drystone_optimizer.core.rules import Numeric, Rule
from drystone_optimizer.passes.layer_fusion._norms import (
    Normalization,
    become_normalization,
    can_become,
    is_parameter_of,
)
from drystone_optimizer.passes.layer_fusion._terms import Expansion, below

__all__ = ["RULE"]

_DEEP: Final = 4  # from the Reshape back to the offset
_NORMAL: Final = 0


def _match(ctx: Context, node: Node) -> Normalization | None:
    if not can_become(ctx, node.inputs[0], ("float32", "bfloat16", "float16")):
        return None
    if not node.attr("is_training", True) or str(node.attr("data_format", "NHWC")) != "NCHW":
        return None
    if not (_is_full(ctx, node.inputs[1], 1.0) and _is_full(ctx, node.inputs[2], 0.0)):
        return None
    rows, back = node.inputs[0][0], ctx.graph.only_user(node)
    if back is None or rows.op != "Reshape" or back.op != "Reshape" or back.inputs[0] != (node, 0):
        return None
    x = rows.inputs[0]
    axes = _axes(ctx, x, rows)
    if not axes or not _comes_back(ctx, x, back):
        return None
    return _widest(ctx, node, x, axes, (node, rows, back))


def _is_full(ctx: Context, output: Output, number: float) -> bool:
    """Whether all elements are that number, of however many."""
    filled = output[0].op == "Fill"
    value = ctx.value(output[0].inputs[1] if filled else output)
    return value is not None and bool((value == number).all())


def _axes(ctx: Context, x: Output, rows: Node) -> int:
    """How many of the last dimensions of ``x`` are a row of ``[1, rows, width, 1]``; 0: none."""
    shape, held = ctx.shape(x), ctx.shape((rows, 0))
    if not shape or held is None or len(held) != 4 or (held[0], held[3]) != (1, 1):
        return 0
    for axes in range(1, len(shape) + 1):
        if min(shape[-axes:]) > 0 and prod(shape[-axes:]) == held[2]:
            return axes
    return 0


def _comes_back(ctx: Context, x: Output, back: Node) -> bool:
    """Whether the last Reshape is to the shape of ``x``."""
    target = back.inputs[1]
    if target[0].op == "Shape" and target[0].inputs[0] == x and target not in ctx.fed:
        return True
    before, after = ctx.shape(x), ctx.shape((back, 0))
    if before is None or after is None or len(before) != len(after):
        return False
    pairs = list(zip(before, after, strict=True))
    same = [a for a, b in pairs if a == b != -1]
    unequal = [b for a, b in pairs if a != b or a == -1]
    # As many elements: one unknown size is what the others leave, if none of those is 0.
    return not unequal or (len(unequal) == 1 and unequal[0] < 0 and min(same, default=1) > 0)


def _widest(
    ctx: Context, node: Node, x: Output, axes: int, inner: tuple[Node, ...]
) -> Normalization | None:
    """The normalization alone, or with as much of scale and offset as there is."""
    is_parameter, back = is_parameter_of(ctx, x, axes), inner[-1]
    if is_parameter is None:
        return None
    epsilon, found = float(node.attr("epsilon", 1e-4)), None
    for root in (back, *below(ctx, back, _DEEP)):
        terms = Expansion(ctx, {(back, 0): _NORMAL}, None, is_parameter)
        parameters = (None, None) if root is back else _parameters(terms, root)
        region = {root, *terms.nodes, *inner}
        if parameters is None or not ctx.may_rewrite(root):
            continue
        if all(is_inner(ctx, one, root, region) for one in region if one is not root):
            found = Normalization(root, x, axes, *parameters, epsilon)
    return found


def _parameters(terms: Expansion, root: Node) -> tuple[Output | None, Output | None] | None:
    """Scale and offset, if the terms are ``normal scale + offset``."""
    found = terms.of((root, 0))
    if found is None or any(by != 1 for by in found.values()):
        return None
    normal = [factors for factors in found if factors[:1] == (_NORMAL,)]
    rest = [factors for factors in found if factors not in normal]
    if len(normal) != 1 or not 1 <= len(normal[0]) <= 2 or normal[0].count(_NORMAL) != 1:
        return None
    if len(rest) > 1 or any(len(factors) != 1 for factors in rest):
        return None
    scale = terms.leaf(normal[0][1]) if len(normal[0]) == 2 else None
    return scale, terms.leaf(rest[0][0]) if rest else None


RULE: Final = Rule(
    "layer-norm-of-rows",
    ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"),
    _match,
    become_normalization,
    Numeric.REASSOCIATES,
)
