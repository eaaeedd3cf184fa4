"""A loop of frames whose condition is false from the start is no loop: its variables come out.

The condition must follow from constants that enter, by nodes that are pure; the body goes then.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from drystone_base.core.errors import DrystoneError
from drystone_base.graph import Node, Output
from drystone_base.kernels.evaluate import evaluate
from drystone_base.ops.properties import NEXT_ITERATIONS
from drystone_base.ops.truth import truth
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.purity import is_pure

__all__ = ["run"]

_MAX_WALK: Final = 64
_ENTERS: Final = ("Enter", "RefEnter")
_EXITS: Final = ("Exit", "RefExit")


class _Frame(NamedTuple):
    inside: list[Node]
    exits: list[Node]


class _Loop(NamedTuple):
    """The nodes of a loop, and each Switch of it with the Enter of its variable."""

    frame: _Frame
    switches: dict[Node, Node]


def run(ctx: Context) -> None:
    """Take out the loops that run no iteration; inner ones go with the body around them."""
    for condition in [node for node in ctx.graph if node.op == "LoopCond"]:
        ctx.tick()
        if ctx.graph.get(condition.name) is condition:
            loop = _match(ctx, condition)
            if loop is not None:
                _apply(ctx, loop)


def _match(ctx: Context, condition: Node) -> _Loop | None:
    """The loop of a LoopCond, if that is false the first time and nothing of the loop must stay."""
    if condition in ctx.fed_nodes or not ctx.may_rewrite(condition):
        return None
    value = _first_value(ctx, condition.inputs[0])
    if value is None or value.size != 1 or truth(value):
        return None
    switches: dict[Node, Node] = {}
    for user in ctx.graph.users(condition):
        enter = _variable(user, condition)
        if enter is None:
            return None
        switches[user] = enter
    frame = _frame(ctx, list(switches.values())) if switches else None
    if frame is None or not _is_free(ctx, frame, switches):
        return None
    return _Loop(frame, switches)


def _first_value(ctx: Context, output: Output) -> Any:
    """The value of an output in the first iteration; None where it does not follow by itself."""
    held: dict[Output, Any] = {}
    stack = [output]
    for _ in range(_MAX_WALK):
        one = stack[-1]
        needed = _needed(ctx, one)
        if needed is None:
            return None
        missing = [o for o in needed if o not in held]
        if missing:
            stack.extend(missing)
            continue
        held[stack.pop()] = _value(ctx, one, [held[o] for o in needed])
        if held[one] is None or not stack:
            return held[one]
    return None


def _needed(ctx: Context, output: Output) -> list[Output] | None:
    """What the value of an output follows from; None where it does not."""
    node, slot = output
    if node in ctx.fed_nodes or slot:
        return None
    if node.op == "Const":
        return []
    if node.op in ("Merge", "Enter"):
        entering = _entering(node)
        return None if entering is None else [entering]
    return list(node.inputs) if is_pure(node) and node.inputs else None


def _value(ctx: Context, output: Output, inputs: list[Any]) -> Any:
    if not inputs:
        return ctx.constant(output)
    if output[0].op in ("Merge", "Enter"):
        return inputs[0]
    return _computed(ctx, output[0], inputs)


def _entering(node: Node) -> Output | None:
    """What a Merge gets in the first iteration, or what an Enter hands on."""
    if node.op == "Enter":
        return node.inputs[0]
    first = [o for o in node.inputs if o[0].op == "Enter"]
    rest = [o for o in node.inputs if o[0].op in NEXT_ITERATIONS]
    return first[0] if len(first) == len(rest) == 1 and len(node.inputs) == 2 else None


def _computed(ctx: Context, node: Node, inputs: list[Any]) -> Any:
    signature = ctx.signatures.of(node)
    if signature is None or len(signature.outputs or ()) != 1:
        return None
    try:
        slices = signature.input_slices
        found = evaluate(node.name, node.op, signature.attrs, inputs, slices, 1)
    except DrystoneError:  # the same failure is reported when the loop runs
        return None
    return found[0]


def _variable(switch: Node, condition: Node) -> Node | None:
    """The Enter of a loop's variable, which its Switch gets by way of a Merge."""
    if switch.op != "Switch" or switch.inputs[1] != (condition, 0) or switch.controls:
        return None
    merge, slot = switch.inputs[0]
    if merge.op != "Merge" or slot or merge.controls:
        return None
    entering = _entering(merge)
    return None if entering is None or entering[1] else entering[0]


def _is_free(ctx: Context, frame: _Frame, switches: dict[Node, Node]) -> bool:
    """Whether all that runs in the frame may go: nothing of it is kept, fed or has an effect.

    And whether all that enters is there in any case, so that what leaves is, too.
    """
    for leaving in frame.exits:
        if leaving.op != "Exit" or leaving.inputs[0][1] or leaving.inputs[0][0] not in switches:
            return False
        if leaving in ctx.fed_nodes:
            return False
    for node in frame.inside:
        if ctx.kept(node) or node in ctx.fed_nodes:
            return False
        if node.op == "Enter" and (node.controls or ctx.noticed(node.inputs[0][0])):
            return False
        if ctx.effects.level(node) == 2 and not _is_of_body(node, frame, switches):
            return False
    return True


def _frame(ctx: Context, enters: list[Node]) -> _Frame | None:
    """The nodes between the Enters and the Exits; None if there is a loop among them."""
    name = enters[0].attr("frame_name")
    stack = [n for n in ctx.graph if n.op in _ENTERS and n.attr("frame_name") == name]
    inside: dict[Node, None] = {}
    exits: dict[Node, None] = {}
    while stack:
        node = stack.pop()
        if node in inside:
            continue
        if node.op in _EXITS:
            exits[node] = None
            continue
        if node.op == "RefEnter" or (node.op == "Enter" and node.attr("frame_name") != name):
            return None
        inside[node] = None
        stack.extend(ctx.graph.users(node))
    return _Frame(list(inside), list(exits))


def _is_of_body(node: Node, frame: _Frame, switches: dict[Node, Node]) -> bool:
    """Whether a node runs in iterations only: it needs what a Switch hands to these."""
    inside, stack, seen = set(frame.inside), [node], set[Node]()
    while stack:
        one = stack.pop()
        if any(source in switches and slot == 1 for source, slot in one.inputs):
            return True
        for source in (*(s for s, _ in one.inputs if s not in switches), *one.controls):
            if source in inside and source not in seen and source.op != "Merge":
                seen.add(source)
                stack.append(source)
    return False


def _apply(ctx: Context, loop: _Loop) -> None:
    graph, inside = ctx.graph, dict.fromkeys(loop.frame.inside)
    for leaving in loop.frame.exits:
        data = loop.switches[leaving.inputs[0][0]].inputs[0]
        controls = [c for c in leaving.controls if c not in inside]
        ctx.become(leaving, "Identity", [data], {"T": ctx.dtype(data)}, controls)
    for node in inside:
        graph.set_inputs(node, ())
        graph.set_controls(node, ())
    graph.remove(loop.frame.inside)
    for node in inside:
        ctx.forget(node)
    ctx.count("dead-loop")
