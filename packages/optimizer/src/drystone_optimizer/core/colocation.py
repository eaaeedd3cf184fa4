"""Colocation (``_class: "loc:@NAME"``) that names nodes which are gone.

TensorFlow refuses a graph in which a node is to be where no node is. Nodes that named the same one
stay together: the first of them takes its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from drystone_base.graph import Graph, Node

__all__ = ["ATTR", "PREFIX", "renamed", "settle", "settled"]

ATTR: Final = "_class"
PREFIX: Final = "loc:@"


def settle(graph: Graph) -> bool:
    """Take colocation with nodes that are not there out of a graph; whether there was any."""
    found = False
    instead: dict[str, str] = {}
    for node in graph:
        if not node.states(ATTR):
            continue
        before = _texts(node.attrs.get(ATTR))
        after = _settled(before, node.name, graph.__contains__, instead)
        if after != before:
            found = True
            _put(graph, node, after)
    return found


def settled(graph: Graph) -> Graph:
    """The graph, and the bodies of its functions, without it; itself where there is none."""
    protos = []
    for function in graph.functions:
        names = {proto.name for proto in function.proto.node_def}
        names.update(arg.name for arg in function.proto.signature.input_arg)
        proto = _of_body(function.proto, names)
        if proto is not None:
            protos.append(proto)
    twin = graph.copy()
    if not settle(twin) and not protos:
        return graph
    twin.functions = graph.functions.copy()
    for proto in protos:
        twin.functions.add(proto, replace=True)
    return twin


def renamed(graph: Graph, node: Node, names: Mapping[str, str]) -> None:
    """Let a node that came from elsewhere be with what came from there, under the names here."""
    texts = _texts(node.attrs.get(ATTR))
    places = [text.removeprefix(PREFIX) if text.startswith(PREFIX) else None for text in texts]
    after = [
        text if place is None else PREFIX + names[place]
        for text, place in zip(texts, places, strict=True)
        if place is None or place in names
    ]
    if after != texts:
        _put(graph, node, after)


def _of_body(proto: Any, names: set[str]) -> Any:
    """The function without such colocation; None where there is none."""
    made = None
    instead: dict[str, str] = {}
    for k, node in enumerate(proto.node_def):
        if ATTR not in node.attr:
            continue
        before = _texts(node.attr[ATTR].list.s)
        after = _settled(before, node.name, names.__contains__, instead)
        if after == before:
            continue
        if made is None:
            made = type(proto)()
            made.CopyFrom(proto)
        if after:
            made.node_def[k].attr[ATTR].list.s[:] = [text.encode() for text in after]
        else:
            del made.node_def[k].attr[ATTR]
    return made


def _settled(
    texts: Iterable[str], node: str, is_there: Callable[[str], bool], instead: dict[str, str]
) -> list[str]:
    found = []
    for text in texts:
        place = text.removeprefix(PREFIX)
        if not text.startswith(PREFIX) or is_there(place):
            found.append(text)
        elif instead.setdefault(place, node) != node:
            found.append(PREFIX + instead[place])
    return list(dict.fromkeys(found))


def _texts(value: Any) -> list[str]:
    """The texts of the attribute, whatever was made of them; none where it is something else."""
    items = [value] if isinstance(value, str | bytes) else list(value or ())
    return [i.decode(errors="surrogateescape") if isinstance(i, bytes) else str(i) for i in items]


def _put(graph: Graph, node: Node, texts: list[str]) -> None:
    if texts:
        graph.set_attr(node, ATTR, texts)
    else:
        graph.remove_attr(node, ATTR)
