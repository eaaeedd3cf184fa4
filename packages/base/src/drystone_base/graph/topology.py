"""Orders and reachability: topological order with loops, what a set of fetches needs."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable
from typing import Final

from drystone_base.core.errors import GraphError
from drystone_base.core.time_limits import look
from drystone_base.graph.node import Node, Output
from drystone_base.ops.properties import MERGES, NEXT_ITERATIONS

__all__ = [
    "DEAD_WITH",
    "TRANSFER_OPS",
    "conditional_nodes",
    "frame_nodes",
    "frame_paths",
    "needed_nodes",
    "reachable",
    "topological_order",
    "waits_for",
]

TRANSFER_OPS: Final = frozenset({"_Send", "_Recv"})
DEAD_WITH: Final = "_dead_with"
"""The attribute of Sends and Recvs of values that may be dead; those of one name die together."""


def waits_for(node: Node, fed: Container[Output] = ()) -> list[Node]:
    """Fan-in without fed outputs and without the back edges of loops."""
    sources = [o[0] for o in node.inputs if o not in fed]
    if node.op in MERGES:
        sources = [s for s in sources if s.op not in NEXT_ITERATIONS]
    return [*sources, *node.controls]


def topological_order(nodes: Iterable[Node], *, fed: Container[Output] = ()) -> list[Node]:
    """The nodes, each after its fan-in among them; loops are cut at their back edges. Linear.

    Fed outputs make no node wait. Raises ``GraphError`` (``graph-cycle``) naming the nodes of a
    cycle that is no loop; ``OutOfTime``, as code that changes a graph step by step asks each time.
    """
    look()
    waiting = dict.fromkeys(nodes, 0)
    users: dict[Node, list[Node]] = {node: [] for node in waiting}
    for node in waiting:
        count = 0
        cut = NEXT_ITERATIONS if node.op in MERGES else ()
        for output in node.inputs:
            source = output[0]
            if source in users and source.op not in cut and not (fed and output in fed):
                users[source].append(node)
                count += 1
        for source in node.controls:
            if source in users:
                users[source].append(node)
                count += 1
        waiting[node] = count
    order = [n for n, k in waiting.items() if not k]
    for node in order:
        for user in users[node]:
            left = waiting[user] = waiting[user] - 1
            if not left:
                order.append(user)
    if len(order) < len(waiting):
        _fail_cycle({n for n, k in waiting.items() if k})
    return order


def conditional_nodes(nodes: Iterable[Node]) -> set[Node]:
    """The nodes that may be dead or belong to one iteration: inside a branch or a loop of frames.

    A branch begins at a Switch and ends at a Merge; a loop begins at an Enter and ends at an Exit.
    """
    depth: dict[Node, int] = {}
    for node in topological_order(nodes):
        outside = max((depth.get(s, 0) for s in waits_for(node)), default=0)
        depth[node] = max(0, outside + _step(node))
    return {node for node, levels in depth.items() if levels}


def frame_nodes(nodes: Iterable[Node]) -> set[Node]:
    """The nodes that belong to a loop of frames: from an Enter to the Exits, both included."""
    return {
        node for node, path in frame_paths(nodes).items() if path or node.op in ("Exit", "RefExit")
    }


def frame_paths(nodes: Iterable[Node]) -> dict[Node, tuple[str, ...]]:
    """The names of the loops of frames that each node runs in, from the outermost, in an order.

    An Enter counts as inside of the frame that it enters, an Exit as outside of the one it leaves.
    """
    paths: dict[Node, tuple[str, ...]] = {}
    for node in topological_order(nodes):
        path = max((paths.get(s, ()) for s in waits_for(node)), key=len, default=())
        if node.op in ("Enter", "RefEnter"):
            path = (*path, str(node.attr("frame_name")))
        elif node.op in ("Exit", "RefExit"):
            path = path[:-1]
        paths[node] = path
    return paths


def _step(node: Node) -> int:
    """How many branches or loops a node enters or, below zero, leaves."""
    op = node.op.removeprefix("Ref")
    sources = [source.op for source, _ in node.inputs]
    if op in ("Switch", "_SwitchN"):
        return 0 if "LoopCond" in sources else 1
    if node.op in MERGES:
        return 0 if any(s in NEXT_ITERATIONS for s in sources) else -1
    return {"Enter": 1, "Exit": -1}.get(op, 0)


def _fail_cycle(stuck: set[Node]) -> None:
    """Walk backwards among the stuck nodes until one comes up twice, then name the circle."""
    path: list[Node] = []
    node = min(stuck, key=lambda n: n.name)
    seen: dict[Node, int] = {}
    while node not in seen:
        seen[node] = len(path)
        path.append(node)
        node = next(s for s in waits_for(node) if s in stuck)
    circle = [n.name for n in reversed(path[seen[node] :])]
    shown = circle if len(circle) <= 8 else [*circle[:4], "...", *circle[-3:]]
    raise GraphError(
        f"the graph has a cycle of {len(circle)} nodes",
        check="a cycle must pass through NextIteration (a loop)",
        found=" -> ".join([*shown, shown[0]]),
        needed="a graph whose nodes can be put in order",
        remedy="the graph is corrupt: export the model again",
        code="graph-cycle",
    )


def reachable(
    targets: Iterable[Node], *, fed: Container[Output] = (), passive: Container[Node] = ()
) -> dict[Node, None]:
    """Every node that ``targets`` need, as an ordered set; fed outputs are not followed.

    Control edges from nodes in ``passive`` are not, either.
    """
    found: dict[Node, None] = {}
    stack = list(targets)
    while stack:
        node = stack.pop()
        if node in found:
            continue
        found[node] = None
        for output in node.inputs:
            source = output[0]
            if source in found or (fed and output in fed):
                continue
            stack.append(source)
        if node.controls:
            stack.extend(c for c in node.controls if c not in found and c not in passive)
    return found


def needed_nodes(targets: Iterable[Node], fed: Collection[Output]) -> dict[Node, None]:
    """The nodes that a run for ``targets`` runs, as an ordered set.

    A node with a fed output runs only where it is a target or an output that is not fed is read:
    nothing else waits for it.
    """
    return reachable(targets, fed=fed, passive={node for node, _ in fed})
