"""Partitioning: one backend after another, one property after another, each on what is free.

The regions of all of them together leave the graph without a cycle: they grow in one
:class:`~drystone_subgraph.regions.grow.Field`, and the graph is changed only at the end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Container, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from drystone_abi.protos import FunctionDef
from drystone_base.core.arguments import checked
from drystone_base.core.errors import BadRequest
from drystone_base.core.gc_pause import paused_gc
from drystone_base.core.time_limits import look
from drystone_base.graph import Body, Graph, Node, Output, topological_order
from drystone_base.inference.inference import Inference, infer
from drystone_base.ops.attrs import Shape
from drystone_subgraph.contract.backend import SubgraphBackend, find_backend
from drystone_subgraph.contract.config import PartitionConfig
from drystone_subgraph.contract.failure import blamed, judged
from drystone_subgraph.contract.property import SubgraphProperty
from drystone_subgraph.contract.selector import SubgraphSelector
from drystone_subgraph.contract.subgraph import Subgraph
from drystone_subgraph.regions.connected import largest_piece
from drystone_subgraph.regions.context import wiring
from drystone_subgraph.regions.cut import Region, apply, cut
from drystone_subgraph.regions.function_bodies import with_bodies
from drystone_subgraph.regions.grow import Field
from drystone_subgraph.regions.ineligible import fixed_reasons
from drystone_subgraph.regions.prune import needed_part
from drystone_subgraph.regions.region_function import Types
from drystone_subgraph.regions.report import PartitionReport, Segment
from drystone_subgraph.regions.validate import check_created

__all__ = ["Partitioning", "partition", "partition_body", "partition_with_report"]

_OFFERS: Final = 8
"""How often a region is offered that a creator makes smaller each time."""


@checked
def partition(
    graph: Graph,
    fetches: Sequence[str],
    feeds: Sequence[str] = (),
    config: PartitionConfig | str | None = None,
    *,
    placed: bool = False,
) -> Graph:
    """The graph with regions as operators; ``graph`` itself where no backend took a node.

    ``fetches`` and ``feeds`` are tensor names; fetched names stay, and what no fetch needs goes.
    ``config`` may be the names of backends with commas between; None is what
    ``DRYSTONE_SUBGRAPH_BACKEND`` says. ``placed``: all nodes run on one device, as those of a
    session's part do; else nodes that ask for different ones are in different regions. Raises
    ``BadRequest`` (``unknown-subgraph-backend``), ``PluginError`` (``subgraph-backend-failed``,
    ``subgraph-gate-failed``).
    """
    return partition_with_report(graph, fetches, feeds, config, placed=placed)[0]


@checked
def partition_with_report(
    graph: Graph,
    fetches: Sequence[str],
    feeds: Sequence[str] = (),
    config: PartitionConfig | str | None = None,
    *,
    placed: bool = False,
) -> tuple[Graph, PartitionReport]:
    """As :func:`partition`, with every region and what became of it."""
    begin = time.perf_counter()
    config = PartitionConfig.of(config)
    chosen = [find_backend(name) for name in config.backends]
    report = PartitionReport()
    if not chosen:
        return graph, report
    with paused_gc():
        fetched = [graph.output(name) for name in fetches]
        fed = {graph.output(name) for name in feeds}
        twin, idle = needed_part(graph, fetched, fed)
        work = Partitioning(twin, "", chosen, config, report, placed, idle)
        ends = {twin[node.name] for node, _ in fetched}
        changed = work.run(ends, {(twin[node.name], k) for node, k in fed})
        if config.functions and len(graph.functions):  # others than those of the regions
            changed = with_bodies(twin, chosen, config, report, placed) or changed
        del work  # before garbage is looked for again, in all that there is
    graph = twin if changed else graph
    report.seconds = time.perf_counter() - begin
    return graph, report


def partition_body(
    body: Body, function: FunctionDef, config: PartitionConfig | str
) -> PartitionReport:
    """Partition the body of a function, in place; what ``function`` says must run keeps its name.

    Raises as :func:`partition` does.
    """
    config = PartitionConfig.of(config)
    chosen = [find_backend(name) for name in config.backends]
    report = PartitionReport()
    work = Partitioning(body.graph, function.signature.name, chosen, config, report)
    work.run({body.graph[name] for name in function.control_ret.values()}, ())
    return report


@dataclass
class Partitioning:
    """The partitioning of one graph, which it changes; ``where`` is a function's name, or "".

    ``idle``: nodes that are there, but do not run.
    """

    graph: Graph
    where: str
    backends: Sequence[SubgraphBackend]
    config: PartitionConfig
    report: PartitionReport
    placed: bool = False
    idle: Container[Node] = ()
    regions: list[Region] = field(default_factory=list)
    inference: Inference | None = None

    def run(self, fetched: Collection[Node], fed: Collection[Output]) -> bool:
        """Whether the graph was changed; fetched nodes keep their names, fed ones stay."""
        graph = self.graph
        wired = wiring(graph)
        order = wired.order
        self.types = Types(order)
        ends = {node for node, _ in fed}
        fixed = fixed_reasons(order, ends, self.config.exclude, self.types.signatures, self.idle)
        self.fetched, self.fed = fetched, fed
        self.field = Field(wired, fixed, self.placed)
        self.place = {node: k for k, node in enumerate(graph)}
        self.report.nodes += len(order)
        for backend in self.backends:
            self.lost: dict[int, str] = {}
            with blamed(backend.name, self.where, BadRequest):  # it cannot be used here
                rules = list(backend.properties())
            with blamed(backend.name, self.where):
                for rule in rules:
                    self._one(backend, rule, fixed)
        if self.config.why:
            self.report.note_taken(self.where, [backend.name for backend in self.backends])
        if self.regions:
            makers = {s.backend: None for s in self.report.taken if s.where == self.where}
            with blamed(", ".join(makers), self.where):
                apply(graph, self.regions, fetched)
            topological_order(graph)  # a cycle here would be a mistake of ours: it is told, not run
        return bool(self.regions)

    def _one(self, backend: SubgraphBackend, rule: SubgraphProperty, fixed: Sequence[str]) -> None:
        """All regions of one property."""
        selector = rule.create_subgraph_selector()
        selector.fetched = self.fetched
        rest: list[int] = []
        for numbers in self.field.regions(selector):
            begin = len(self.report.segments)
            taken = self._take(backend, rule, numbers)
            if taken:
                self.field.take(taken)
            if len(taken) < len(numbers):
                rest += sorted(set(numbers).difference(taken))
                self._lose(self.report.segments[begin:])
        self.field.next_pass(rest)
        if self.config.why:
            self._explain(backend, selector, fixed)

    def _lose(self, segments: Sequence[Segment]) -> None:
        """Note why the nodes of regions that were not taken were not."""
        for segment in segments:
            if segment.reason:
                numbers = (self.field.number[self.graph[name]] for name in segment.nodes)
                self.lost.update(dict.fromkeys(numbers, f"its region: {segment.reason}"))

    def _take(
        self, backend: SubgraphBackend, rule: SubgraphProperty, numbers: list[int]
    ) -> list[int]:
        """The nodes of a region that became an operator: all, some if it was narrowed, or none."""
        nodes, number = self.field.nodes, self.field.number
        noted = partial(Segment, backend.name, rule.name, self.where)
        members: Sequence[Node] = sorted((nodes[k] for k in numbers), key=self.place.__getitem__)
        for _ in range(_OFFERS):
            look()
            left = self._offer(backend, rule, members, noted)
            if len(left) in (0, len(members)):
                return sorted(number[node] for node in left)
            members = left
        text = f"it was narrowed {_OFFERS} times"
        self.report.segments.append(noted("refused", _names(members), reason=text))
        return []

    def _offer(
        self,
        backend: SubgraphBackend,
        rule: SubgraphProperty,
        members: Sequence[Node],
        noted: Callable[..., Segment],
    ) -> Sequence[Node]:
        """``members`` if they became an operator; some of them, to be offered next; or none."""
        segments, smallest = self.report.segments, self.config.minimum_size or rule.minimum_size
        if len(members) < smallest:
            text = f"{len(members)} nodes, fewer than {smallest}"
            segments.append(noted("too small", _names(members), reason=text))
            return ()
        subgraph, region = self._cut(backend, members)
        gate = self.config.gate
        if gate is not None and (text := judged(gate, backend.name, subgraph)):
            segments.append(noted("not worth it", subgraph.nodes, reason=text))
            return ()
        node = rule.create_subgraph_node(subgraph)
        if node is None:
            return self._narrowed(subgraph, members, noted)
        self.graph.functions.add(subgraph.made())
        check_created(node, subgraph)
        region.node = node
        self.regions.append(region)
        segments.append(noted("taken", subgraph.nodes, region.name))
        return members

    def _cut(self, backend: SubgraphBackend, members: Sequence[Node]) -> tuple[Subgraph, Region]:
        stem = f"{backend.name}_subgraph_{len(self.regions)}"
        name = self.graph.unique_name(stem)
        function = self._function_name(f"__{self.where}_{stem}" if self.where else f"__{stem}")
        return cut(
            self.graph, members, self.fetched, self.types,
            (name, function, backend.name), self._shape, self.fed,
        )  # fmt: skip

    def _narrowed(
        self, subgraph: Subgraph, members: Sequence[Node], noted: Callable[..., Segment]
    ) -> Sequence[Node]:
        """What the creator keeps of a region to which it gave no operator; nothing: it refuses."""
        reason, kept = self._why_not(subgraph, members), subgraph.kept or ()
        left = [] if reason else [node for node in members if node.name in kept]
        out = _names(members if reason else [node for node in members if node.name not in kept])
        text = reason or "the backend left them out of a region"
        self.report.segments.append(noted("refused", out, reason=text))
        return left

    def _why_not(self, subgraph: Subgraph, members: Sequence[Node]) -> str:
        """Why the creator is not given the region to which it narrowed this one; "" if it is."""
        kept, number = subgraph.kept, self.field.number
        if kept is None:
            return subgraph.refusal or "the backend refused it"
        if not kept:
            return "the backend narrowed it to nothing"
        if not kept < set(subgraph.nodes):
            return "the backend narrowed it to all of its nodes, or to others"
        chosen = {number[node] for node in members if node.name in kept}
        region = sorted(number[node] for node in members)
        if len(largest_piece(self.field.sources, region, chosen)) < len(chosen):
            return "the backend narrowed it to nodes that do not hold together"
        return ""

    def _function_name(self, stem: str) -> str:
        name, k = stem, 0
        while name in self.graph.functions:
            k += 1
            name = f"{stem}_{k}"
        return name

    def _shape(self, output: Output) -> Shape:
        """The inferred shape of an output of the graph as it was; inference runs when asked for."""
        if self.inference is None:
            fed = [o for o in self.fed if not o[0].op.startswith("Placeholder")]
            self.inference = infer(self.graph, given=dict.fromkeys(fed))
        return self.inference.shape(output)

    def _explain(
        self, backend: SubgraphBackend, selector: SubgraphSelector, fixed: Sequence[str]
    ) -> None:
        """Note for each node that is left why this backend did not take it."""
        selector.reset()
        for k, node in enumerate(self.field.nodes):
            reason = fixed[k]
            if not reason and self.field.free[k]:
                reason = self.lost.get(k) or _unselected(selector, node)
            if reason:
                self.report.why.setdefault((self.where, node.name), {})[backend.name] = reason


def _unselected(selector: SubgraphSelector, node: Node) -> str:
    """Why a node is in no region that the selector grew."""
    chosen = selector.select(node)
    selector.reset()
    return "the backend's filter dropped it" if chosen else selector.why_not(node)


def _names(nodes: Sequence[Node]) -> tuple[str, ...]:
    return tuple([node.name for node in nodes])
