"""Colocation: which nodes must share a device, and what together they ask for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NoReturn

from drystone_base.core import dtypes
from drystone_base.core.errors import GraphError
from drystone_base.graph import Graph, Node
from drystone_base.graph.deadness import Deadness, Either, Predicate, Round
from drystone_base.graph.validate import Signatures
from drystone_base.ops.properties import MERGES, NEXT_ITERATIONS
from drystone_base.placement.device import Device, parse_device
from drystone_base.placement.inspection import Makers
from drystone_base.placement.support import Supports

__all__ = ["Group", "find_groups"]

_PREFIX: Final = "loc:@"
_ENTERS: Final = frozenset({"Enter", "RefEnter"})


class Group:
    """Nodes that share a device.

    ``asked`` is what they demand together, ``types`` the device types that have kernels for all of
    them, with the sum of priorities. ``asking`` is the first node that demands something. ``maker``
    is the node of a call's function that makes a resource on a device that it states.
    """

    __slots__ = ("asked", "asking", "nodes", "types")

    def __init__(self, node: Node, supports: Supports, maker: Node | None = None) -> None:
        self.nodes = [node]
        self.asking: Node | None = node if node.device else maker
        asking = self.asking or node
        self.asked = parse_device(asking.device, asking.name)
        self.types = dict(supports(node))

    def join(self, other: Group, why: str, *, soft: bool) -> None:
        """Take the nodes of another group in; raises ``GraphError`` (``cannot-colocate``)."""
        asked = self.asked.merged(other.asked)
        if asked is None and soft:
            asked = self.asked.anywhere().merged(other.asked.anywhere())
        if asked is None:
            _conflict(self, other, why)
        types = {k: p + other.types[k] for k, p in self.types.items() if k in other.types}
        if not types:
            _no_type(self, other, why)
        self.asked, self.types = asked, types
        self.asking = self.asking or other.asking
        self.nodes += other.nodes


def find_groups(
    graph: Graph, nodes: Sequence[Node], supports: Supports, *, soft: bool
) -> dict[Node, Group]:
    """The group of each of ``nodes``: by ``_class``, by reference edges and by resource edges.

    What goes into a loop of frames, around it and out of it is one group, value by value. Raises
    ``GraphError``: ``cannot-colocate`` naming two nodes, ``bad-device``. A call that states no
    device goes where its function makes resources.
    """
    makers = Makers(graph)
    groups = {node: Group(node, supports, makers.of(node)) for node in nodes}
    for a, b, why in _pairs(graph, nodes):
        first, second = groups.get(a), groups.get(b)
        if first is second or first is None or second is None:
            continue
        if len(first.nodes) < len(second.nodes):
            first, second = second, first
        first.join(second, why, soft=soft)
        for node in second.nodes:
            groups[node] = first
    return groups


def _pairs(graph: Graph, nodes: Sequence[Node]) -> Iterator[tuple[Node, Node, str]]:
    """Pairs of nodes that must share a device, with the reason."""
    named: dict[str, Node] = {}
    for node in nodes:
        for text in node.attrs.get("_class") or ():
            name = _text(text)
            if not name.startswith(_PREFIX):
                continue
            name = name.removeprefix(_PREFIX)
            other = graph.get(name) or named.setdefault(name, node)
            if other is not node:
                yield node, other, f"colocation {_PREFIX}{name}"
    signatures = Signatures()
    kept = _not_sent(nodes)
    for node in nodes:
        for source, why in _shared(node, signatures):
            yield node, source, why
        for source in (*(s for s, _ in node.inputs), *node.controls):
            if source in kept or node.op in ("Exit", "RefExit"):
                yield node, source, f"the loop of {source.name}"
        if node.op in MERGES and any(s.op in NEXT_ITERATIONS for s, _ in node.inputs):
            for source, _ in node.inputs:
                yield node, source, f"the loop of {node.name}"


def _not_sent(nodes: Sequence[Node]) -> set[Node]:
    """Nodes whose values must stay on their device.

    They are there in some rounds of a loop only, or after its body: a value is sent, dead or alive,
    in every round, or in every one that the condition lets begin. Of a loop that may be entered in
    part nothing is sent.
    """
    deadness = Deadness(nodes)
    conditions = Counter(deadness.frames[n] for n in nodes if n.op == "LoopCond")
    entered: dict[tuple[str, ...], Predicate] = {}
    for node in nodes:
        if node.op in _ENTERS:
            path = deadness.frames[node]
            if entered.setdefault(path, deadness.of(node)) != deadness.of(node):
                conditions[path] = 0
    found = set()
    for node in nodes:
        path = deadness.frames[node]
        once = node.op in _ENTERS and not node.attr("is_constant")
        odd = any(conditions[path[:k]] != 1 for k in range(1, len(path) + 1))
        late = node.op == "ControlTrigger" or node.op in NEXT_ITERATIONS  # after the body
        if once or odd or late or any(map(_comes_alone, deadness.of(node))):
            found.add(node)
    return found


def _comes_alone(part: object) -> bool:
    """Whether a part of a predicate is that one value of a loop has come round."""
    if isinstance(part, Either):
        return any(_comes_alone(p) for parts in part.of for p in parts)
    return isinstance(part, Round) and part.variable is not None


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _shared(node: Node, signatures: Signatures) -> Iterator[tuple[Node, str]]:
    """Sources of references and resources.

    What only reads a reference stays with it, too: sent to another device, the value would be the
    one from before the updates that the reader waits for.
    """
    for source, index in node.inputs:
        signature = signatures.of(source)
        given = signature.outputs if signature is not None else None
        if given is None or index >= len(given):
            continue
        if given[index].ref:
            yield source, f"the reference {source.name}:{index}"
        elif given[index].base is dtypes.RESOURCE:
            yield source, f"the resource {source.name}:{index}"


def _conflict(a: Group, b: Group, why: str) -> NoReturn:
    first, second = a.asking or a.nodes[0], b.asking or b.nodes[0]
    raise GraphError(
        f"nodes {first.name!r} and {second.name!r} cannot share a device",
        check=f"nodes joined by {why} must run on one device",
        found=f"{first.device or Device()} and {second.device or Device()}",
        needed="devices that do not contradict each other",
        remedy="correct the device of one of them, or SessionConfig(allow_soft_placement=True)",
        code="cannot-colocate",
    )


def _no_type(a: Group, b: Group, why: str) -> NoReturn:
    first, second = a.nodes[0], b.nodes[0]
    raise GraphError(
        f"nodes {first.name!r} and {second.name!r} cannot share a device",
        check=f"one type of device must have kernels for all nodes joined by {why}",
        found=f"{first.op}: {_listed(a)}; {second.op}: {_listed(b)}",
        needed="a type that both have kernels for",
        remedy="install a plugin with the missing kernel, or drop the colocation",
        code="cannot-colocate",
    )


def _listed(group: Group) -> str:
    return ", ".join(group.types) or "none"
