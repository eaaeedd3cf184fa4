"""Edits of many edges at once, which keep the index of fan-out right as those of the graph do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from drystone_base.graph.graph import Graph
from drystone_base.graph.node import Node, Output, interned

__all__ = ["contract", "forget_colocation", "merge", "redirect", "replace", "splice_out"]

_CLASS: Final = "_class"


def replace(
    graph: Graph,
    node: Node,
    op: str,
    inputs: Sequence[Output],
    attrs: Mapping[str, Any],
    controls: Sequence[Node] | None = None,
) -> None:
    """Give ``node`` another op, attributes and fan-in at once; None keeps what it waits for."""
    node.op, node._attrs = interned(op), dict(attrs)
    waits = node.controls if controls is None else list(dict.fromkeys(controls))
    graph._connect(node, inputs, waits)


def merge(graph: Graph, onto: Mapping[Node, Node]) -> None:
    """Let what reads or waits for a node here do so with the node that it is mapped to.

    The nodes go, but not their twins. Each reader gets its new fan-in once.
    """
    for user in dict.fromkeys(user for node in onto for user in graph.users(node)):
        if user in onto:
            continue
        inputs = [(onto[o[0]], o[1]) if o[0] in onto else o for o in user.inputs]
        controls = dict.fromkeys([onto.get(c, c) for c in user.controls])
        graph._connect(user, inputs, list(controls))
    graph.remove(onto)


def redirect(graph: Graph, node: Node, results: Sequence[Output]) -> None:
    """Let what reads an output of ``node`` read the result of that number, all at once."""
    for user in [user for user in graph.users(node) if user.inputs]:
        inputs = [results[o[1]] if o[0] is node else o for o in user.inputs]
        if inputs != list(user.inputs):
            graph._connect(user, inputs, user.controls)


def splice_out(graph: Graph, onward: Mapping[Node, Output]) -> None:
    """Remove nodes of one output; what reads one reads what it stands for here instead.

    That may be the output of another one. No node may wait for them. One sweep over the graph.
    """
    journal = graph.journal
    ends: dict[Node, Output] = {}
    for node in graph._nodes.values():
        if node in onward:
            continue
        for source, _ in node.inputs:
            if source in onward:
                node.inputs = tuple([_end(o, onward, ends) for o in node.inputs])
                node.changed = True
                if journal is not None:
                    journal.append(node)
                break
    if journal is not None:
        journal.extend(dict.fromkeys([end[0] for end in ends.values()]))
    for node in onward:
        del graph._nodes[node.name]
        node.inputs, node.controls, node.changed = (), (), True
    graph._fan_out = None


def _end(output: Output, onward: Mapping[Node, Output], ends: dict[Node, Output]) -> Output:
    """What an output stands for in the end; ``ends`` has what was found so far."""
    path: list[Node] = []
    end = output
    while end[0] in onward:
        known = ends.get(end[0])
        if known is not None:
            end = known
            break
        path.append(end[0])
        end = onward[end[0]]
    for node in path:
        ends[node] = end
    return end


def contract(graph: Graph, operators: Mapping[Node, Node], moved: Mapping[Output, Output]) -> None:
    """Put operators in the place of nodes, which go, but stay as they are: they keep their fan-in.

    What reads an output of theirs reads what it is in ``moved`` instead, and what waits for
    one waits for its operator. One sweep over the graph.
    """
    journal = graph.journal
    for node in graph._nodes.values():
        if node in operators:
            continue
        inputs, controls = node.inputs, node.controls
        for source, _ in inputs:
            if source in operators:
                node.inputs = tuple([moved[o] if o[0] in operators else o for o in inputs])
                break
        if controls and not operators.keys().isdisjoint(controls):
            node.controls = tuple(dict.fromkeys([operators.get(c, c) for c in controls]))
        if node.inputs is not inputs or node.controls is not controls:
            node.changed = True
            if journal is not None:
                journal.append(node)
    for node in operators:
        del graph._nodes[node.name]
    graph._fan_out = None


def forget_colocation(graph: Graph, gone: Iterable[str]) -> None:
    """Let no node be placed with a node of one of these names, which are gone."""
    places = {f"loc:@{name}" for name in gone}
    for node in graph:
        if not node.states(_CLASS):
            continue
        named = node.attrs[_CLASS]
        left = [name for name in named if name not in places]
        if len(left) < len(named):
            graph.set_attr(node, _CLASS, left) if left else graph.remove_attr(node, _CLASS)
