"""Layout optimizer: images lie in memory as the device likes them, channels last or first.

Ops with a data format take the wanted one, between transposes; ops that do not care are computed in
it as well, so that transposes between neighbours cancel. GPUs get channels first unless half of
their convolutions or more are of 16 bits; the CPU gets what ``cpu_layout_conversion`` says, by
default channels last where a convolution gains by it. What is fetched of the CPU is computed by a
new node and brought back under its name. Most sessions have nothing to convert: they import no more
than this and ``direction``.
"""

from __future__ import annotations

from drystone_base.graph import Node, topological_order
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.devices import DEFAULT_TYPE
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
        if plan is None:
            continue
        if ctx.kept(node) and not plan.keeps_outputs:
            inner = _behind_name(ctx, node) if direction.device == DEFAULT_TYPE else None
            if inner is None:
                continue
            node = inner
        conversion.apply(node, plan)
        ctx.count(what, Numeric.REASSOCIATES)


def _behind_name(ctx: Context, node: Node) -> Node | None:
    """A new node that computes what a kept one did, which passes it on under its name.

    None for a node of several outputs, and for one that passes on what another computes.
    """
    signature = ctx.signatures.of(node)
    if node.op == "Identity" or signature is None or len(signature.outputs or ()) != 1:
        return None
    users = ctx.users((node, 0))
    inner = ctx.add(node.op, node, "inner", node.inputs, node.attrs, node.controls)
    ctx.become_identity(node, (inner, 0))
    for user, at in users:
        ctx.graph.set_input(user, at, (inner, 0))
    return inner
