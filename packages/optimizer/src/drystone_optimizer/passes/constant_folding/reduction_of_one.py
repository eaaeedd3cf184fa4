"""A reduction over axes of size 1 becomes nothing, or a Squeeze where it drops them."""

from __future__ import annotations

from typing import Final, NamedTuple

from drystone_base.graph import Node
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Numeric, Rule

__all__ = ["RULES"]


class _Found(NamedTuple):
    axes: list[int]
    keeps: bool


def _match(ctx: Context, node: Node) -> _Found | None:
    axes = ctx.ints(node.inputs[1])
    if axes is None:
        return None
    keeps = bool(node.attr("keep_dims", False))
    if not axes:
        return _Found([], True)
    shape = ctx.shape(node.inputs[0])
    if shape is None or any(not -len(shape) <= k < len(shape) for k in axes):
        return None
    if any(shape[k] != 1 for k in axes):
        return None
    return _Found(sorted({k % len(shape) for k in axes}), keeps)


def _apply(ctx: Context, node: Node, found: _Found) -> None:
    data, axes = node.inputs
    if found.keeps:
        ctx.bypass(node, data, [axes])
        return
    controls = [*node.controls, *ctx.waits([axes])]
    attrs = {"T": ctx.dtype(data), "squeeze_dims": found.axes}
    ctx.become(node, "Squeeze", [data], attrs, controls)


RULES: Final = (
    Rule("reduce-size-one", ("Prod", "Max", "Min", "All", "Any"), _match, _apply),
    # A sum begins with +0, which makes +0 of -0.
    Rule("sum-of-one", ("Sum", "Mean"), _match, _apply, Numeric.REASSOCIATES),
)
