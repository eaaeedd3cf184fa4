"""Layout optimizer: images lie in memory as the device likes them, channels last or first.

Ops with a data format take the wanted one, between transposes; ops that do not care are computed in
it as well, so that transposes between neighbours cancel. GPUs get channels first unless half of
their convolutions or more are of 16 bits; of the CPU nothing is changed unless
``cpu_layout_conversion`` says so. Most sessions have nothing to convert: they import no more than
this and ``direction``.
"""

from __future__ import annotations

from drystone_base.graph import Node, topological_order
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Numeric
from drystone_optimizer.passes.layout_optimizer.direction import Direction, directions

__all__ = ["run"]


def run(ctx: Context) -> None:
    """Convert the nodes of each kind of device, sources first."""
    if ctx.ceiling < Numeric.REASSOCIATES:
        ctx.decline("sums over images would be taken in another order")
        return
    found = directions(ctx)
    if not found:
        return
    from drystone_optimizer.passes.layout_optimizer import sensitive

    for direction in found:
        nodes = [node for node in ctx.graph if ctx.device_type(node) == direction.device]
        if any(sensitive.match(ctx, node, direction) for node in nodes):
            _convert(ctx, nodes, direction)


def _convert(ctx: Context, nodes: list[Node], direction: Direction) -> None:
    from drystone_optimizer.passes.layout_optimizer import agnostic, sensitive
    from drystone_optimizer.passes.layout_optimizer.conversion import Conversion

    conversion = Conversion(ctx, direction)
    mine = set(nodes)
    for node in topological_order(ctx.graph):
        ctx.tick()
        if node not in mine or ctx.graph.get(node.name) is not node:
            continue
        if not ctx.may_rewrite(node):
            continue
        plan = sensitive.match(ctx, node, direction)
        what = "data-format"
        if plan is None:
            plan, what = agnostic.match(conversion, node), "move-behind-transpose"
        if plan is not None and (plan.keeps_outputs or not ctx.kept(node)):
            conversion.apply(node, plan)
            ctx.count(what, Numeric.REASSOCIATES)
