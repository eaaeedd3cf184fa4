"""What is drawn: a graph's nodes in a tree of name scopes, and the edges between them.

Constants and variables are told with the node that reads them, and nodes that only hand on to one
another in one scope share a box. A scope with too many members is cut into parts that follow the
order of the computation, so that no picture has more boxes than can be read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, TypeAlias

from drystone_base.core.errors import DrystoneError
from drystone_base.graph import Graph, Node, Output, topological_order
from drystone_base.inference.inference import Inference, infer
from drystone_base.ops.properties import VARIABLES

__all__ = ["Edge", "Group", "Leaf", "Tree", "shape_label"]

MAX_CHILDREN: Final = 40
TIMES: Final = "\N{MULTIPLICATION SIGN}"
_MAX_RUN: Final = 6
_HELD: Final = VARIABLES | {"Const"}
_HANDED_ON: Final = frozenset({"Identity", "ReadVariableOp"})
_ALONE: Final = frozenset(
    {"Placeholder", "_Arg", "_Retval", "Switch", "Merge", "Enter", "Exit", "NextIteration"}
)
_MAX_INFERRED: Final = 20_000  # nodes; shapes of larger graphs are not worth the wait


@dataclass(eq=False)
class Leaf:
    """One node, or a run of nodes of one scope that each feed only the next.

    ``constants`` says for each what the largest constant or variable is that it reads.
    """

    nodes: list[Node]
    constants: list[str]
    rank: int
    parent: Group | None = None

    @property
    def node(self) -> Node:
        """The first node."""
        return self.nodes[0]

    @property
    def name(self) -> str:
        """The last part of the first node's name."""
        return self.node.name.rpartition("/")[2]


@dataclass(eq=False)
class Group:
    """A name scope, or a part of one."""

    name: str
    path: str
    parent: Group | None = None
    children: list[Item] = field(default_factory=list)

    def leaves(self) -> Iterator[Leaf]:
        """Every node below."""
        stack: list[Item] = [self]
        while stack:
            item = stack.pop()
            if isinstance(item, Leaf):
                yield item
            else:
                stack.extend(item.children)

    @property
    def node_count(self) -> int:
        """How many nodes are below, without what is told with its readers."""
        return sum(len(leaf.nodes) for leaf in self.leaves())

    def groups(self) -> Iterator[Group]:
        """This group and every group below."""
        stack = [self]
        while stack:
            group = stack.pop()
            yield group
            stack.extend(c for c in group.children if isinstance(c, Group))

    def summary(self) -> str:
        """The ops below, most frequent first."""
        counts = Counter(n.op for leaf in self.leaves() for n in leaf.nodes).most_common()
        text = ", ".join(f"{op} {n}" if n > 1 else op for op, n in counts[:3])
        return text + (", …" if len(counts) > 3 else "")


Item: TypeAlias = Leaf | Group


@dataclass(frozen=True)
class Edge:
    """A tensor (its node and output), or an order, from one box to another."""

    source: Leaf
    target: Leaf
    tensor: Output
    label: str
    control: bool


class Tree:
    """A graph ready to be drawn."""

    def __init__(self, graph: Graph, name: str, shapes: Inference | None = None) -> None:
        if shapes is None and len(graph) <= _MAX_INFERRED:
            shapes = infer(graph)
        self.graph = graph
        self.shapes = shapes
        self.order = self._in_order()
        self.held = self._held()
        self.leaves = self._boxes()
        self.root = _grown(name, self.leaves.values())
        for _ in range(2):  # a scope that is one run is dissolved, and may then be part of another
            _dissolve_all(self.root)
            self._join_runs()
        _dissolve_all(self.root)
        for group in list(self.root.groups()):
            _cut(group)
        self.edges = list(self._connect())

    def _in_order(self) -> list[Node]:
        try:
            return topological_order(self.graph)
        except DrystoneError:  # a cycle that is no loop: draw it all the same
            return list(self.graph)

    def _held(self) -> set[Node]:
        """Constants and variables that something reads, and what only hands them on."""
        read = {source for node in self.graph for source, _ in node.inputs}
        held: set[Node] = set()
        for node in self.order:
            if node in read and (
                node.op in _HELD
                or (node.op in _HANDED_ON and all(s in held for s, _ in node.inputs))
            ):
                held.add(node)
        return held

    def _boxes(self) -> dict[Node, Leaf]:
        """A box for each node that is not held."""
        leaves = {}
        for rank, node in enumerate(n for n in self.order if n not in self.held):
            constants = [self.label(s, k) for s, k in node.inputs if s in self.held]
            leaves[node] = Leaf([node], [max(constants, key=len, default="")], rank)
        return leaves

    def _join_runs(self) -> None:
        """Put boxes of one scope together where one feeds the other and nothing else."""
        users: dict[Node, set[Node]] = {}
        for node in self.graph:
            for source in [s for s, _ in node.inputs] + list(node.controls):
                users.setdefault(source, set()).add(node)
        for node in self.order:
            before = {s for s, _ in node.inputs if s not in self.held}
            leaf = self.leaves.get(node)
            if leaf is None or len(before) != 1 or node.controls or leaf.node is not node:
                continue
            (source,) = before
            box = self.leaves[source]
            if (
                box.parent is leaf.parent
                and box is not leaf
                and box.nodes[-1] is source
                and len(users[source]) == 1
                and len(box.nodes) + len(leaf.nodes) <= _MAX_RUN
                and not {node.op, box.node.op} & _ALONE
            ):
                box.nodes += leaf.nodes
                box.constants += leaf.constants
                assert leaf.parent is not None
                leaf.parent.children.remove(leaf)
                self.leaves.update(dict.fromkeys(leaf.nodes, box))

    def edges_of(self, group: Group) -> list[Edge]:
        """The edges with an end in the group."""
        if group is self.root:
            return self.edges
        found = {id(e): e for leaf in group.leaves() for e in self._incident.get(leaf, ())}
        return list(found.values())

    @cached_property
    def _incident(self) -> dict[Leaf, list[Edge]]:
        index: dict[Leaf, list[Edge]] = {}
        for edge in self.edges:
            index.setdefault(edge.source, []).append(edge)
            index.setdefault(edge.target, []).append(edge)
        return index

    def label(self, node: Node, output: int) -> str:
        """The shape of an output as text; empty when nothing is known of it."""
        return shape_label(self.shapes.shape((node, output))) if self.shapes else ""

    def _connect(self) -> Iterator[Edge]:
        for node, leaf in self.leaves.items():
            for source, k in node.inputs:
                box = self.leaves.get(source)
                if box is not None and (box is not leaf or source is node):
                    yield Edge(box, leaf, (source, k), self.label(source, k), False)
            for source in node.controls:
                if source in self.leaves:
                    yield Edge(self.leaves[source], leaf, (source, -1), "", True)


def _scope(node: Node) -> str:
    return node.name.rpartition("/")[0]


def shape_label(shape: tuple[int, ...] | None) -> str:
    """``1×64×64×3``; unknown sizes are ``?``, a scalar is ``scalar``."""
    if shape is None:
        return ""
    return TIMES.join("?" if d < 0 else str(d) for d in shape) or "scalar"


def _grown(name: str, leaves: Iterable[Leaf]) -> Group:
    """The tree of scopes."""
    root = Group(name, "")
    scopes = {"": root}

    def scope(path: str) -> Group:
        if path not in scopes:
            above = scope(path.rpartition("/")[0])
            scopes[path] = Group(path.rpartition("/")[2], path, above)
            above.children.append(scopes[path])
        return scopes[path]

    for leaf in leaves:
        leaf.parent = scope(_scope(leaf.node))
        leaf.parent.children.append(leaf)
    return root


def _dissolve_all(root: Group) -> None:
    pending = [root]
    while pending:
        group = pending.pop()
        _dissolve(group)
        pending += [c for c in group.children if isinstance(c, Group)]


def _dissolve(group: Group) -> None:
    """Take in children that are the only one of their scope, keeping the scope in the name."""
    for place, child in enumerate(group.children):
        while isinstance(child, Group) and len(child.children) == 1:
            inner = child.children[0]
            if isinstance(inner, Group):
                inner.name = f"{child.name}/{inner.name}"
            inner.parent = group
            group.children[place] = child = inner


def _cut(group: Group) -> None:
    """Put the children of a large group into parts, in the order of the computation."""
    count = len(group.children)
    if count <= MAX_CHILDREN:
        return
    parts = min(-(-count // (MAX_CHILDREN // 2)), MAX_CHILDREN)
    group.children.sort(key=_rank)
    children, group.children = group.children, []
    for k in range(parts):
        members = children[k * count // parts : (k + 1) * count // parts]
        part = Group(f"part {k + 1} of {parts}", f"{group.path}#{k + 1}", group, members)
        for member in members:
            member.parent = part
        group.children.append(part)
        _cut(part)


def _rank(item: Item) -> float:
    if isinstance(item, Leaf):
        return item.rank
    ranks = [leaf.rank for leaf in item.leaves()]
    return sum(ranks) / len(ranks)
