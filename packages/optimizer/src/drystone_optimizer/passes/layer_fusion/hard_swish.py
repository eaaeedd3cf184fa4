"""A convolution and x relu6(x + 3) / 6 after it, multiplied in whatever order.

Models whose weights were of 16 bits once have another number for the sixth.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from drystone_base.graph import Node, Output
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Numeric, Rule
from drystone_optimizer.passes.layer_fusion._layers import become_own, inner_layer, scalar

__all__ = ["RULE"]


class _Factors(NamedTuple):
    """What is multiplied, and the nodes that do it."""

    outputs: list[Output]
    inner: list[Node]


class _Found(NamedTuple):
    layer: Node
    sixth: float


def _match(ctx: Context, node: Node) -> _Found | None:
    factors = _factors(ctx, node)
    gates = [o for o in factors.outputs if o[0].op == "Relu6" and _is_inner(ctx, o[0])]
    if len(factors.outputs) != 3 or len(gates) != 1:
        return None
    rest = [output for output in factors.outputs if output != gates[0]]
    sums = gates[0][0].inputs[0][0]
    if sums.op not in ("Add", "AddV2") or not _is_inner(ctx, sums):
        return None
    for (x, sixth), (a, three) in (
        (pair, added) for pair in (rest, rest[::-1]) for added in (sums.inputs, sums.inputs[::-1])
    ):
        value = scalar(ctx, sixth)
        if x != a or scalar(ctx, three) != 3 or value is None or not 0.1 < value < 0.2:
            continue
        layer = inner_layer(ctx, x, node, (node, sums, *factors.inner))
        if layer is None or "HardSwish" in layer.attr("fused_ops", ()):
            return None
        return _Found(layer, value)
    return None


def _factors(ctx: Context, node: Node) -> _Factors:
    """The factors of ``node``, and those of one product that only it reads."""
    found = _Factors([], [])
    for output in node.inputs:
        source = output[0]
        if source.op == "Mul" and not found.inner and _is_inner(ctx, source):
            found.outputs.extend(source.inputs)
            found.inner.append(source)
        else:
            found.outputs.append(output)
    return found


def _is_inner(ctx: Context, node: Node) -> bool:
    return ctx.only_user(node) and not node.controls and node not in ctx.fed_nodes


def _apply(ctx: Context, node: Node, found: _Found) -> None:
    layer, factor = found.layer, float(np.float32(6) * np.float32(found.sixth))
    become_own(ctx, node, layer, layer.inputs[0], [], ["HardSwish"], hardswish_factor=factor)


RULE: Final = Rule(
    "hard-swish", ("Mul",), _match, _apply, Numeric.REASSOCIATES, reads=("Relu6", "Mul")
)
