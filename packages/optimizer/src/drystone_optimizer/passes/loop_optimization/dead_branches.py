"""A Switch by a constant has one output that is always dead: what that reaches goes.

A Merge that is left with one input passes that on.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from drystone_base.core.dtypes import as_dtype
from drystone_base.graph import Node, Output
from drystone_base.ops.properties import NEXT_ITERATIONS
from drystone_optimizer.core.context import Context

__all__ = ["run"]

_MERGES: Final = frozenset({"Merge", "RefMerge"})


class _Found(NamedTuple):
    """Switches with the output that is alive, what is dead, Merges with the input that is left."""

    switches: dict[Node, int]
    dead: set[Node]
    merges: dict[Node, int]


def run(ctx: Context) -> None:
    """Cut all Switches by constants; one by one where something hinders that."""
    switches = {}
    for node in ctx.graph:
        alive = _match(ctx, node) if node.op == "Switch" else None
        if alive is not None:
            switches[node] = alive
    if not switches:
        return
    found = _dead(ctx, switches)
    if found is not None:
        _apply(ctx, found)
        return
    for switch, alive in switches.items() if len(switches) > 1 else ():
        ctx.tick()
        if ctx.graph.get(switch.name) is switch:
            found = _dead(ctx, {switch: alive})
            if found is not None:
                _apply(ctx, found)


def _match(ctx: Context, switch: Node) -> int | None:
    """The output of a Switch that is alive, where that is always the same one."""
    if switch in ctx.fed_nodes or ctx.kept(switch) or not ctx.may_rewrite(switch):
        return None
    choice: Any = ctx.constant(switch.inputs[1])
    return None if choice is None or choice.size != 1 else int(bool(choice.reshape(-1)[0]))


def _dead(ctx: Context, switches: dict[Node, int]) -> _Found | None:
    """What the dead outputs reach; None where something of that must stay."""
    dead: set[Node] = set()
    merges: dict[Node, int] = {}
    gone: set[Output] = {(switch, 1 - alive) for switch, alive in switches.items()}

    def is_dead(output: Output) -> bool:
        return (output in gone or output[0] in dead) and output not in ctx.fed

    for node in ctx.order():
        waits = any(control in dead for control in node.controls)
        if node.op in _MERGES:
            lost = [k for k, o in enumerate(node.inputs) if is_dead(o)]
            forward = [k for k, (s, _) in enumerate(node.inputs) if s.op not in NEXT_ITERATIONS]
            if waits:
                return None
            if not lost:
                continue
            if node in ctx.fed_nodes:
                return None
            if set(forward) <= set(lost):
                dead.add(node)
            elif len(forward) < len(node.inputs) or len(node.inputs) != 2:
                return None  # a loop with one way in that is dead, or a Merge of many
            else:
                merges[node] = 1 - lost[0]
        elif waits or any(is_dead(output) for output in node.inputs):
            dead.add(node)
        else:
            continue
        if node in dead and (ctx.kept(node) or node in ctx.fed_nodes):
            return None
    if any(user not in dead for node in dead if node.op in NEXT_ITERATIONS
           for user, _ in ctx.graph.consumers(node)):  # fmt: skip
        return None  # a loop that is entered, but goes round no second time
    return _Found(switches, dead, merges)


def _apply(ctx: Context, found: _Found) -> None:
    graph = ctx.graph
    for merge, left in found.merges.items():
        _settle(ctx, merge, left)
    for node in found.dead:
        graph.set_inputs(node, ())
        graph.set_controls(node, ())
    graph.remove(found.dead)
    for node in found.dead:
        ctx.forget(node)
    for switch, alive in found.switches.items():
        if switch not in found.dead:
            _take(ctx, switch, alive)


def _take(ctx: Context, switch: Node, alive: int) -> None:
    """Put what a Switch passes on in the place of its output that is alive."""
    graph = ctx.graph
    data, choice = switch.inputs
    controls = [*switch.controls, *ctx.waits([choice])]
    passes = ctx.add("Identity", switch, "taken", [data], {"T": ctx.dtype(data)}, controls)
    graph.redirect((switch, alive), (passes, 0))
    graph.redirect_controls(switch, passes)
    graph.remove(switch)
    ctx.forget(switch)
    ctx.count("dead-branch")


def _settle(ctx: Context, merge: Node, left: int) -> None:
    """Let a Merge with one input left pass that on; its second output is that input's number."""
    source = merge.inputs[left]
    index = np.array(left, as_dtype("int32").np)
    at = ctx.add_constant(merge, "taken", index, [ctx.anchor(source)])
    ctx.graph.redirect((merge, 1), at)
    if ctx.kept(merge):
        types = [ctx.dtype(source), ctx.dtype(at)]
        ctx.become(merge, "IdentityN", [source, at], {"T": types})
        return
    ctx.become_identity(merge, source)
