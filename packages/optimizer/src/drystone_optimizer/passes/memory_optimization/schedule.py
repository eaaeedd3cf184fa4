"""A large AddN becomes a variable to which its inputs are added as they come.

Each of them can be given up then, instead of all being held until the last is there. They are added
in the order in which they are made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from drystone_base.graph import Node, conditional_nodes, topological_order
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Numeric
from drystone_optimizer.passes.memory_optimization.peak import Peak, size_of

__all__ = ["run"]

_LEAST: Final = 3


def run(ctx: Context, short: Mapping[str, Peak]) -> None:
    """Rewrite sums on these devices of which inputs are held at the peak."""
    sums = [node for node in ctx.graph if node.op == "AddN"]
    if not sums:
        return
    inside = conditional_nodes(ctx.graph)
    place = {node: k for k, node in enumerate(topological_order(ctx.graph))}
    for node in sums:
        peak = short.get(ctx.device_type(node))
        if peak is None or node in inside or not _match(ctx, node, peak):
            continue
        order = sorted(range(len(node.inputs)), key=lambda k: place[node.inputs[k][0]])
        exact = order == sorted(order)
        if not exact and ctx.ceiling < Numeric.REASSOCIATES:
            ctx.decline("a sum would be taken in another order")
            continue
        _apply(ctx, node, order)
        ctx.count("accumulate-add-n", Numeric.EXACT if exact else Numeric.REASSOCIATES)


def _match(ctx: Context, node: Node, peak: Peak) -> bool:
    if len(node.inputs) < _LEAST or node in ctx.fed_nodes or not ctx.may_rewrite(node):
        return False
    held = sum(output in peak.held for output in node.inputs)
    return held > 1 and all(size_of(ctx, output) for output in node.inputs)


def _apply(ctx: Context, node: Node, order: list[int]) -> None:
    values, dtype = [node.inputs[k] for k in order], node.attrs["T"]
    name = f"{node.name}/accumulator"
    attrs = {"shape": ctx.shape(values[0]), "dtype": dtype, "var_name": name}
    variable = ctx.add("TemporaryVariable", node, "accumulator", (), attrs, node.controls)
    last = ctx.add("Assign", node, "assign", [(variable, 0), values[0]], {"T": dtype})
    for k, value in enumerate(values[1:], 1):
        last = ctx.add("AssignAdd", node, f"add_{k}", [(variable, 0), value], {"T": dtype}, [last])
    wanted = {"T": dtype, "var_name": name}
    ctx.become(node, "DestroyTemporaryVariable", [(variable, 0)], wanted, [last])
