"""Large values wait on the host between an early and a late use.

``_swap_to_host`` on a node lists the inputs that are to wait there until shortly before it runs. Of
devices that are short of memory, what is held at the peak and read only later is marked so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from drystone_base.graph import Node, Output, conditional_nodes, topological_order
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.devices import DEFAULT_TYPE, host_of
from drystone_optimizer.passes.memory_optimization import SWAP_HINT
from drystone_optimizer.passes.memory_optimization.peak import FULL, Peak

__all__ = ["run"]

_LEAST: Final = 1 << 20


def run(ctx: Context, short: Mapping[str, Peak]) -> bool:
    """Swap what is marked, and what is found on devices that are short of memory.

    Whether anything was swapped; no use of a value is swapped twice.
    """
    marked = {node: _hints(node) for node in ctx.graph if node.states(SWAP_HINT)}
    order = None
    if short:
        order = topological_order(ctx.graph)
        for kind, peak in short.items():
            for node, slot in _worth_it(ctx, kind, peak, order):
                if slot not in marked.setdefault(node, []):
                    marked[node].append(slot)
    if not marked:
        return False
    inside = conditional_nodes(ctx.graph)
    place = {node: k for k, node in enumerate(order or topological_order(ctx.graph))}
    away: dict[Output, Node] = {}
    found = False
    for node, slots in marked.items():
        for slot in slots:
            why = _objection(ctx, node, slot, inside)
            if why:
                ctx.decline(why)
            else:
                _swap(ctx, node, slot, away, place)
                found = True
        if node.states(SWAP_HINT):
            ctx.graph.remove_attr(node, SWAP_HINT)
    return found


def _hints(node: Node) -> list[int]:
    found = node.attrs.get(SWAP_HINT)
    return [int(k) for k in found] if isinstance(found, list) else []


def _objection(ctx: Context, node: Node, slot: int, inside: set[Node]) -> str:
    """Why an input must not wait on the host; "" where it may."""
    if not 0 <= slot < len(node.inputs):
        return "a hint names an input that is not there"
    source, k = node.inputs[slot]
    if not ctx.is_accelerated(node) or not ctx.is_accelerated(source):
        return "a value is on the host already"
    if source.op == "Identity" and not ctx.is_accelerated(source.inputs[0][0]):
        return "a value has just come from the host"
    dtype = ctx.dtype((source, k))
    if node in inside or source in inside or not ctx.may_rewrite(node):
        return "a value belongs to a branch, a loop or a variable"
    if dtype is None or dtype.label in ("resource", "variant"):
        return "a value is no tensor of numbers"
    others = {s for s, _ in node.inputs} - {source}
    return "" if others else "nothing that comes late to wait for"


def _swap(
    ctx: Context, node: Node, slot: int, away: dict[Output, Node], place: Mapping[Node, int]
) -> None:
    """Out after it is made, in again once the latest of the node's other inputs is there."""
    output = node.inputs[slot]
    attrs = {"T": ctx.dtype(output)}
    out = away.get(output)
    if out is None:
        out = away[output] = ctx.add("Identity", output[0], "swapped_out", [output], attrs)
        ctx.graph.set_device(out, host_of(output[0].device))
    others = {s for s, _ in node.inputs if s is not output[0] and s in place}
    controls = [max(others, key=place.__getitem__)] if others else []
    back = ctx.add("Identity", node, f"swapped_in_{slot}", [(out, 0)], attrs, controls)
    ctx.graph.set_input(node, slot, (back, 0))
    ctx.count("swap-to-host")


def _worth_it(ctx: Context, kind: str, peak: Peak, order: list[Node]) -> list[tuple[Node, int]]:
    """Uses after the peak of what is held there, largest first, until enough is free."""
    if kind == DEFAULT_TYPE:
        return []
    place = {node: k for k, node in enumerate(order)}
    excess = peak.size - FULL * ctx.config.device_memory[kind]
    found: list[tuple[Node, int]] = []
    for output, size in sorted(peak.held.items(), key=lambda item: (-item[1], item[0][0].name)):
        if excess <= 0 or size < min(_LEAST, excess):
            break
        users = ctx.users(output)
        now = [user for user, _ in users if place[user] == peak.at]
        later = [(user, at) for user, at in users if place[user] > peak.at]
        if output[0] is order[peak.at] or now or not later:
            continue
        if all(ctx.device_type(user) == kind for user, _ in later):
            found += later
            excess -= size
    return found
