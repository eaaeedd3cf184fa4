"""Clusters: regions that can be compiled as one, marked by an attribute."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from drystone_base.core import dtypes
from drystone_base.core.dtypes import DType
from drystone_base.graph import Graph, Node
from drystone_base.graph.contraction import Contraction
from drystone_base.graph.deadness import Deadness, Predicate
from drystone_base.graph.validate import Signatures
from drystone_base.ops.defs import find
from drystone_base.ops.properties import CHANNELS, PLACEHOLDERS, VARIABLE_WRITES
from drystone_base.passes._bodies import with_bodies
from drystone_base.passes._clusters import CALL, CLUSTER, needed_nodes
from drystone_base.passes._registry import graph_pass
from drystone_base.passes._types import Grouping, PassOptions

__all__ = ["mark_for_compilation"]

_MUST: Final = "_XlaMustCompile"
_MAY: Final = "_XlaCompile"
_SCOPE: Final = "_XlaScope"
_FREE: Final = frozenset({"Const", "Identity"})
"""What a compiler makes disappear: it does not count for the size of a cluster."""
_READS: Final = frozenset({"ReadVariableOp", "ResourceGather", "ResourceGatherNd", "VariableShape"})
_NEVER: Final = PLACEHOLDERS | CHANNELS | frozenset({
    "_Arg", "_Retval", "Switch", "_SwitchN", "Merge", "Enter", "Exit", "NextIteration",
    "LoopCond", "ControlTrigger", "NoOp", "Abort", "CheckNumerics", "Assert", "ImmutableConst",
})  # fmt: skip
_OPAQUE: Final = frozenset({dtypes.STRING, dtypes.VARIANT})


@graph_pass(Grouping.POST_REWRITE_FOR_EXEC, 10, name="MarkForCompilationPass", is_default=False)
@with_bodies
def mark_for_compilation(options: PassOptions) -> bool:
    """Mark regions that can be compiled as one with the attribute ``_cluster`` (exact).

    Settings: ``min_size`` (4; constants and identities do not count), ``max_size`` (no limit),
    ``ops`` (only these), ``exclude`` (not these), ``fuel`` (at most so many clusters). A region has
    no cycle with the rest, runs on one device, its nodes are dead together, and no variable is read
    after it was written in it. Nodes say ``_XlaCompile=False`` to stay out, ``_XlaMustCompile`` to
    be in a cluster of any size, ``_XlaScope`` with whom they may be. A graph that is marked already
    is left alone. Source: TensorFlow's ``MarkForCompilationPass``.
    """
    assert options.graph is not None
    if any(node.states(CLUSTER) or node.states(CALL) for node in options.graph):
        return False
    needed, _ = needed_nodes(options)
    fed = {options.graph.output(name)[0] for name in options.feeds}
    finder = _Finder(options.graph, needed, fed, options.settings)
    if not finder.sizes:
        return False
    finder.grow()
    return _mark(options.graph, finder, options.settings)


def _mark(graph: Graph, finder: _Finder, settings: Mapping[str, Any]) -> bool:
    least, fuel = settings.get("min_size", 4), settings.get("fuel")
    marked = 0
    for nodes in finder.regions.regions():
        if nodes[0] not in finder.sizes:
            continue
        size = sum(node.op not in _FREE for node in nodes)
        if size < least and not (size and any(node.attr(_MUST) for node in nodes)):
            continue
        if fuel is not None and marked >= fuel:
            break
        for node in nodes:
            graph.set_attr(node, CLUSTER, f"cluster_{marked}")
        marked += 1
    return marked > 0


class _Cluster:
    """What is known of a region while it grows."""

    __slots__ = ("device", "reads", "scope", "size", "when", "writes")

    def __init__(self, node: Node, when: Any, reads: int, writes: int) -> None:
        self.size, self.device, self.when = 1, node.device, when
        self.scope = node.attr(_SCOPE)
        self.reads, self.writes = reads, writes

    def fits(self, other: _Cluster) -> bool:
        """Whether the two may be one, but for cycles and size."""
        if self.when != other.when or not _agree(self.device, other.device):
            return False
        if not _agree(self.scope, other.scope):
            return False
        return not (self.writes & other.reads or other.writes & self.reads)

    def take(self, other: _Cluster) -> None:
        """Be both."""
        self.size += other.size
        self.device, self.scope = self.device or other.device, self.scope or other.scope
        self.reads, self.writes = self.reads | other.reads, self.writes | other.writes


def _agree(a: Any, b: Any) -> bool:
    return not a or not b or a == b


class _Finder:
    """Grows clusters by joining nodes along edges, as long as that makes no cycle."""

    def __init__(
        self, graph: Graph, needed: Collection[Node], fed: Collection[Node],
        settings: Mapping[str, Any],
    ) -> None:  # fmt: skip
        self.settings, self.signatures = settings, Signatures()
        self.most = settings.get("max_size") or len(graph)
        only, never = settings.get("ops"), frozenset(settings.get("exclude", ()))
        self.sizes: dict[Node, _Cluster] = {}
        found = [
            node for node in graph
            if node in needed and node not in fed and node.op not in never
            and (only is None or node.op in only) and self.may_be_inside(node)
        ]  # fmt: skip
        if not found:
            return
        ordered = [node for node in graph if node in needed]
        self.regions = Contraction(ordered)
        deadness = Deadness(ordered)
        if any(deadness.of_output((node, 0)) for node in fed if node in needed):
            return  # it is there although what it is computed from may be dead
        writes, after = self._writes_before()
        for node in found:
            when: tuple[Predicate, Any] = (deadness.of(node), deadness.frames[node])
            reads = after.get(node, 0) if node.op in _READS | VARIABLE_WRITES else 0
            self.sizes[node] = _Cluster(node, when, reads, writes.get(node, 0))

    def may_be_inside(self, node: Node) -> bool:
        """Whether a node can be compiled at all: no state, no references, nothing opaque."""
        if node.op in _NEVER or node.attr(_MAY) is False:
            return False
        definition, signature = find(node.op), self.signatures.of(node)
        if definition is None or signature is None or signature.outputs is None:
            return False
        if definition.is_stateful and node.op not in _READS | VARIABLE_WRITES:
            return False
        if any(a.type in ("func", "list(func)") for a in definition.attrs.values()):
            return False
        return all(map(_is_plain, (*signature.outputs, *signature.inputs)))

    def _writes_before(self) -> tuple[dict[Node, int], dict[Node, int]]:
        """A bit for each node that writes a variable; for each node, the bits before it."""
        bits: dict[Node, int] = {}
        before: dict[Node, int] = {}
        if not any(node.op in VARIABLE_WRITES for node in self.regions.nodes):
            return bits, before
        for node in self.regions.nodes:
            found = 0
            for source in (*(s for s, _ in node.inputs), *node.controls):
                found |= before.get(source, 0) | bits.get(source, 0)
            before[node] = found
            if node.op in VARIABLE_WRITES:
                bits[node] = 1 << len(bits)
        return bits, before

    def grow(self) -> None:
        """Join along edges, from the first node to the last, until nothing more can be joined."""
        edges = [
            (source, node)
            for node in self.regions.nodes
            if node in self.sizes
            for source in (*(s for s, _ in node.inputs), *node.controls)
            if source in self.sizes
        ]
        while edges:
            left = [edge for edge in edges if not self._joined(*edge)]
            if len(left) == len(edges):
                return
            edges = left

    def _joined(self, a: Node, b: Node) -> bool:
        first, second = self.regions.region(a), self.regions.region(b)
        if first is second:
            return True
        one, other = self.sizes[first], self.sizes[second]
        if one.size + other.size > self.most or not one.fits(other):
            return False
        if not self.regions.join(a, b):
            return False
        one.take(other)
        self.sizes[self.regions.region(a)] = one
        return True


def _is_plain(dtype: DType) -> bool:
    return not dtype.ref and dtype not in _OPAQUE
