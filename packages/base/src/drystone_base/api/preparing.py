"""From a graph, fetches and feeds to what a session runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from drystone_base.api.feeds import Feed
from drystone_base.api.prepared import Prepared, Split
from drystone_base.api.remote import Remote, Target
from drystone_base.core.environment import SUBGRAPH_BACKEND
from drystone_base.core.errors import BadRequest, DrystoneError, GraphError, near_matches
from drystone_base.core.installed import declared
from drystone_base.core.made_by import Makers, makers, name_makers
from drystone_base.core.printable import warn
from drystone_base.core.registered import DEVICE_ENTRY, ENTRY_FUNCTIONS, ISOLATED_KERNELS, PASSES
from drystone_base.executor.functions import FunctionCaller, call_function
from drystone_base.executor.libraries import check_libraries
from drystone_base.executor.plan import Plan, lower
from drystone_base.executor.programs import encode_plan, program_of
from drystone_base.graph import (
    Graph,
    Node,
    Output,
    output_name,
    parse_tensor_name,
    placeholder_shape,
)
from drystone_base.graph.pages import let_go_of_files
from drystone_base.graph.validate import output_dtypes
from drystone_base.ops.defs import find

if TYPE_CHECKING:
    from drystone_base.api.cached_plans import CachedPlans
    from drystone_base.api.config import SessionConfig
    from drystone_base.api.session_graph import SessionGraph
    from drystone_base.executor.native import Program
    from drystone_base.files.access import Access
    from drystone_base.placement import Decision, Partitions

__all__ = ["Preparing"]

_Made = TypeVar("_Made")


class Load(Protocol):
    """What has the native executor take a program."""

    def __call__(
        self,
        feeds: list[Feed],
        has_value: list[bool],
        program: Program,
        caller: FunctionCaller | None,
        *,
        copies: bool,
    ) -> Prepared: ...


class Preparing:
    """One signature of a session's graph, on its way to a plan; raises as ``Session.run`` does."""

    def __init__(
        self,
        source: SessionGraph,
        config: SessionConfig,
        access: Access,
        target: Target | None = None,
    ) -> None:
        self.source, self.config, self.target = source, config, target
        self.makers = Makers()
        self.graph = source.graph()
        source.source.check()  # passes read constants
        # Of a cluster's graph, the tasks say what may be opened there.
        self.opens_libraries = target is None and check_libraries(self.graph, access)

    def lowered(
        self, fetches: list[str], feeds: list[str], load: Load, plans: CachedPlans | None
    ) -> Prepared | Split | Remote:
        """What runs the signature: by the reference executor, or what ``load`` makes of a program.

        ``plans`` takes the plan if it can.
        """
        return self._made_or_unplugged(lambda: self._lowered(fetches, feeds, load, plans))

    def _lowered(
        self, fetches: list[str], feeds: list[str], load: Load, plans: CachedPlans | None
    ) -> Prepared | Split | Remote:
        described = self._describe_feeds(feeds)
        for name in fetches:
            self._find(name, "fetch")
        parts = self._graphs(fetches, feeds, self.config)
        let_go_of_files(self.graph)  # the optimizer has read what it folds
        if self.target is not None:
            return Remote(described, self.target.load(parts, fetches, described))
        if len(parts.graphs) > 1:
            return self._lower_parts(parts, fetches, described, load)
        (graph,) = parts.graphs.values()
        rows = [(f.name, f.dtype.number, f.shape) for f in described]
        keep = None
        if plans is not None and not self.opens_libraries:  # a plan that is found is not checked
            keep = partial(plans.keep, fetches, feeds, rows)
        return self._lower_graph(graph, fetches, described, (), load, keep)

    def _made_or_unplugged(self, make: Callable[[], _Made]) -> _Made:
        """What ``make`` makes; once more without optimizers of plugins where that fails.

        Then a warning names those that had changed the graph.
        """
        with makers() as self.makers:
            try:
                return make()
            except DrystoneError as error:
                if not self.makers.plugins:
                    raise
                name_makers(error, self.makers.nodes)
                first, blamed = error, self.makers.plugins
        from drystone_base.modules import stage

        for without in stage("unplugged"):
            config = without(self.config.optimizer)
            self.config = replace(self.config, optimizer=config)
        with makers() as self.makers:
            made = make()  # its own error is the graph's, not theirs
        _warn_of(blamed, first)
        return made

    def standalone(self, fetches: Sequence[str], feeds: Sequence[str]) -> bytes:
        """The bytes of a PlanDef that holds all that it needs."""
        return self._made_or_unplugged(lambda: self._standalone(fetches, feeds))

    def _standalone(self, fetches: Sequence[str], feeds: Sequence[str]) -> bytes:
        described = self._describe_feeds(feeds)
        there = self._plugin_devices()
        config = self.config = replace(self.config, device_count=dict.fromkeys(there, 0))
        self.target = None
        (graph,) = self._graphs(list(fetches), list(feeds), config).graphs.values()
        plan = self._plan_of(graph, fetches, described, (), native=True)
        caller = FunctionCaller(graph.functions)
        encoded = encode_plan(plan, [f.dtype for f in described], caller, alone=True)
        return encoded.plan.SerializeToString()

    def placement(self, fetches: Sequence[str], feeds: Sequence[str]) -> list[Decision]:
        """Where each node that the fetches need runs, and why."""
        from drystone_base.passes import place_for

        graph = self._optimize(list(fetches), list(feeds))
        return place_for(graph, fetches, feeds, self.config, self._devices()).decisions

    def _lower_parts(
        self, parts: Partitions, fetches: list[str], feeds: list[Feed], load: Load
    ) -> Split:
        """One plan for each device: what it fetches, and what it must send to others."""
        from drystone_base.placement.parts import Part

        made = []
        for device, graph in parts.graphs.items():
            fetched = [k for k, name in enumerate(fetches) if name.split(":")[0] in graph]
            fed = [k for k, feed in enumerate(feeds) if parse_tensor_name(feed.name)[0] in graph]
            own = [fetches[k] for k in fetched], [feeds[k] for k in fed]
            sends = [graph[name] for name in parts.sends[device]]
            plan = self._lower_graph(graph, *own, sends, load, None)
            made.append(Part(device, plan, tuple(fed), tuple(fetched)))
        return Split(made, feeds)

    def _plan_of(
        self, graph: Graph, fetches: Sequence[str], feeds: Sequence[Feed], targets: Sequence[Node],
        *, native: bool,
    ) -> Plan:  # fmt: skip
        found = [self._find(name, "fetch") for name in fetches]
        outputs = [(graph[f[0].name], f[1]) for f in found if isinstance(f, tuple)]
        wanted = [*(graph[f.name] for f in found if isinstance(f, Node)), *targets]
        fed = [(graph[name], k) for name, k in (parse_tensor_name(f.name) for f in feeds)]
        plan = lower(
            graph, outputs, wanted, fed, call_function=call_function, native=native,
            device_types=self._plugin_devices() if native else (),
        )  # fmt: skip
        plan.made_by = self.makers.nodes
        if native and any(feed.shape and feed.shape[0] < 0 for feed in feeds):
            from drystone_base.executor.micro_batches import batch_layout_of

            described = {output: (f.dtype, f.shape) for output, f in zip(fed, feeds, strict=True)}
            plan.examples = batch_layout_of(graph, outputs, wanted, described)
        return plan

    def _caller_for(self, graph: Graph, feeds: Sequence[Feed]) -> FunctionCaller:
        """What runs the graph's functions; of its own where kernels are held to shapes."""
        if not _holds_shapes():
            return self.source.caller() if graph is self.graph else FunctionCaller(graph.functions)
        from drystone_base.executor.stated_shapes import GivenToFunctions

        caller = FunctionCaller(graph.functions)
        named = (parse_tensor_name(feed.name) for feed in feeds)
        caller.given = GivenToFunctions(graph, [(graph[name], k) for name, k in named])
        return caller

    def _lower_graph(
        self,
        graph: Graph,
        fetches: list[str],
        feeds: list[Feed],
        targets: Sequence[Node],
        load: Load,
        keep: Callable[..., object] | None,
    ) -> Prepared:
        is_native = self.config.executor == "native"
        plan = self._plan_of(graph, fetches, feeds, targets, native=is_native)
        copies = any(_may_keep(i.op) for i in plan.instructions if i.op)
        caller = self._caller_for(graph, feeds)
        has_value = [isinstance(self._find(name, "fetch"), tuple) for name in fetches]
        if not is_native:
            return Prepared(feeds, has_value, copies, caller, plan)
        if self._plugin_devices():
            from drystone_base.passes import place_body

            caller.place = partial(place_body, config=self.config)
        encoded = encode_plan(
            plan, [f.dtype for f in feeds], caller, stays=self.config.fetches_on_devices
        )
        program = program_of(encoded, self.makers.nodes)
        made = load(feeds, has_value, program, caller, copies=copies)
        if keep is not None:
            keep(encoded, has_value=has_value, copies=copies)
        return made

    def _optimize(self, fetches: list[str], feeds: list[str]) -> Graph:
        """The graph as the installed modules optimize it for these fetches, once per signature."""
        graph = self.source.seeded()
        if any(node.op == "Stack" for node in graph):
            from drystone_base.executor._stacks import with_resource_stacks

            asked = {graph.output(name)[0] for name in (*fetches, *feeds)}
            graph = with_resource_stacks(graph, asked)
        if self.config.optimizer == "off":
            return graph
        from drystone_base.modules import stage

        kept = [*fetches, *self._on_devices(graph, fetches, feeds)]
        for optimize in stage("optimize" if self._has_no_backend() else "simplify", "optimize"):
            graph = optimize(graph, kept, feeds, self.config.optimizer)
        return graph

    def _on_devices(self, graph: Graph, fetches: list[str], feeds: list[str]) -> list[str]:
        """Nodes that devices of plugins run, which stay as they are.

        What optimizers would make of them has kernels for the CPU.
        """
        if not self._plugin_devices():
            return []
        from drystone_base.passes import on_devices

        return on_devices(graph, fetches, feeds, self.config)

    def _has_no_backend(self) -> bool:
        """Whether no backend is offered a region of the graph."""
        asked = self.config.subgraphs
        return asked == "off" or (asked is None and not SUBGRAPH_BACKEND.value())

    def _graphs(self, fetches: list[str], feeds: list[str], config: SessionConfig) -> Partitions:
        """The graph of every device: optimized, passed, placed and split."""
        from drystone_base.placement.partitions import whole

        graph = self._optimize(fetches, feeds)
        wanted = config.passes or config.device_count or PASSES or declared("drystone.passes")
        wanted = wanted or self.target is not None or bool(self._plugin_devices(config))
        if not (wanted or config.log_device_placement or not config.allow_soft_placement):
            return self._partition(whole(graph), fetches, feeds)
        from drystone_base.passes import prepare

        return self._partition(
            prepare(graph, fetches, feeds, config, self._devices()), fetches, feeds
        )

    def _plugin_devices(self, config: SessionConfig | None = None) -> dict[str, list[int]]:
        """The devices of plugins for plans of this process, by type."""
        if self.target is not None or DEVICE_ENTRY not in ENTRY_FUNCTIONS:
            return {}
        from drystone_base.executor.plugin_devices import session_devices

        config = config or self.config
        return session_devices(config.executor, config.device_count)

    def _devices(self) -> list[str]:
        """Those of the session's target; none without one."""
        return [] if self.target is None else self.target.devices

    def _partition(self, parts: Partitions, fetches: list[str], feeds: list[str]) -> Partitions:
        """The graphs with regions as operators of the backends that the config asks for."""
        off, config = self._has_no_backend(), self.config
        if off and not config.passes:
            return parts
        from drystone_base.passes.partitioning import fuse_parts, has_operators, partition_parts

        if off and not has_operators(parts):
            return parts
        partition_parts(parts, fetches, feeds, config.subgraphs)
        if not off and config.optimizer != "off":
            fuse_parts(parts, fetches, feeds, config.optimizer)
        return parts

    def _find(self, name: str, role: str) -> Output | Node:
        """The output or node that a feed or fetch names; raises ``BadRequest``."""
        try:
            node, index = self.graph.output(name)
        except GraphError as error:
            near = near_matches(name.split(":")[0], (n.name for n in self.graph))
            raise BadRequest(
                f"{role} {name!r} is not in the graph",
                check=f"a {role} must name a tensor of the graph as node:k",
                found=name,
                needed="the name of a node, with an output index",
                remedy=f"did you mean {', '.join(near)}?"
                if near
                else "`drystone inspect` lists names",
                code=f"unknown-{role}",
                status="NOT_FOUND",
            ) from error
        types = output_dtypes(node)
        if types is not None and not types and name == node.name and role == "fetch":
            return node
        if types is not None and index >= len(types):
            raise BadRequest(
                f"{role} {name!r} is not an output that its node has",
                check="the output index must be below the number of outputs",
                found=index,
                needed=f"{node.op} has {len(types)} outputs",
                remedy="`drystone inspect` lists nodes and their outputs",
                code=f"unknown-{role}",
                status="NOT_FOUND",
            )
        return (node, index)

    def _describe_feeds(self, names: Sequence[str]) -> list[Feed]:
        described = [self._describe_feed(name) for name in names]
        if len({f.name for f in described}) < len(described):
            raise BadRequest(
                "a tensor is fed twice",
                check="a tensor may be fed once",
                found=", ".join(names),
                needed="different tensors",
                remedy="leave one of the two out: 'x' and 'x:0' are one tensor",
                code="duplicate-feed",
            )
        return described

    def _describe_feed(self, name: str) -> Feed:
        found = self._find(name, "feed")
        assert isinstance(found, tuple)
        node, index = found
        types = output_dtypes(node)
        if types is None:
            raise BadRequest(
                f"feed {name!r} has no known dtype",
                check="a fed tensor must have a dtype",
                found=f"op {node.op!r} is unknown",
                needed="an op with a definition",
                remedy="feed the output of another node, or register the op",
                code="unknown-feed",
            )
        shape = placeholder_shape(node) if node.op.startswith("Placeholder") else None
        return Feed(output_name(found), types[index].base, shape)


def _warn_of(plugins: Sequence[str], error: DrystoneError) -> None:
    from drystone_base.plugins._manager import PluginWarning

    several = len(plugins) > 1
    text = (
        f"the graph that {'optimizers' if several else 'the optimizer'} of "
        f"plugin{'s' if several else ''} {', '.join(plugins)} changed cannot be run; it runs "
        f"without {'them' if several else 'it'}: {error.render()}"
    )
    warn(text, PluginWarning, stacklevel=6)


def _may_keep(op: str) -> bool:
    """Whether a value that goes into the op may be held after the run: in a variable, a queue."""
    definition = find(op)
    return definition is None or (definition.is_stateful and not definition.keeps_no_input)


def _holds_shapes() -> bool:
    """Whether there may be kernels that are held to the shapes that are known."""
    if ISOLATED_KERNELS or not ENTRY_FUNCTIONS:
        return bool(ISOLATED_KERNELS)
    from drystone_base.host.library import all_are_vouched_for

    return not all_are_vouched_for()
